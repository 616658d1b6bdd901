"""Which pictures a study has."""

import pytest

from verulam.experiment import LearnerChoice, analyse
from verulam.experiment._report.figures import figures


def titles(results):
    return [figure.title for figure in figures(analyse(results))]


def test_two_classes_with_factors_and_shares(factors):
    assert titles(factors) == [
        "How good is each",
        "The difference that matters most",
        "Who may be the best",
        "Scores on breast_cancer",
        "Ranges on breast_cancer",
        "Response against cost",
        "Response against seconds to predict",
        "Response against bytes of the model",
        "ROC curves on breast_cancer",
        "Precision and recall on breast_cancer",
        "Calibration on breast_cancer",
        "Confusion matrix of k-nearest neighbours (n_neighbors=15) on breast_cancer",
        "Shared errors on breast_cancer",
        "Learning curves on breast_cancer",
        "k-nearest neighbours: n_neighbors",
    ]


def test_several_data_sets(several):
    found = figures(analyse(several))
    assert [figure.title for figure in found][:2] == [
        "Critical differences",
        "Mean response on each data set",
    ]
    assert not any("ROC" in figure.title for figure in found)
    folded = {figure.title for figure in found if figure.folded}
    assert "Scores on iris" in folded


def test_numbers_have_no_confusion(make_results):
    learners = [LearnerChoice("mean predictor"), LearnerChoice("ridge regression")]
    found = titles(make_results(learners, ["stackloss"], resampling="3-fold"))
    assert found[3:6] == ["Scores on stackloss", "Ranges on stackloss", "Response against cost"]
    assert not any("Confusion" in title or "ROC" in title for title in found)


def test_the_evidence_leads(two, several):
    leading = [figure.title for figure in figures(analyse(two)) if figure.leading]
    assert leading == [
        "How good is each",
        "The difference that matters most",
        "Who may be the best",
    ]
    found = figures(analyse(several))
    assert [figure.title for figure in found if figure.leading] == ["Critical differences"]
    folded = {figure.title for figure in found if figure.folded}
    assert {f"Intervals on {data}" for data in ("iris", "wine", "penguins")} <= folded


def test_no_evidence_no_picture_of_it(make_results):
    learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    once = make_results(learners, resampling="holdout", measures=["kappa"])
    assert analyse(once).evidence == {}
    assert "How good is each" not in titles(once)
    alone = titles(make_results([LearnerChoice("naive bayes")], resampling="2x3-fold"))
    assert "How good is each" in alone
    assert "The difference that matters most" not in alone


def test_far_baselines_are_left_out_and_said(factors):
    captions = {figure.title: figure.caption for figure in figures(analyse(factors))}
    assert "Far off and left out: majority class." in captions["Scores on breast_cancer"]


@pytest.mark.parametrize("name", ["two", "several"])
def test_only_shaded_tables_bring_their_own_white(name, request):
    for figure in figures(analyse(request.getfixturevalue(name))):
        assert figure.on_white == figure.title.startswith(
            ("Confusion", "Shared errors", "Response surface")
        )
        assert ("currentColor" in figure.svg) != figure.on_white
