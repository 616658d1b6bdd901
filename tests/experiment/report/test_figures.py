"""Which pictures a study has."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from verulam.experiment import LearnerChoice, analyse, compare
from verulam.experiment._report.figures import (
    confusion_figures,
    figures,
    overlap_figures,
    threshold_figures,
)
from verulam.measures import roc


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
    (critical,) = (figure for figure in found if figure.leading)
    assert critical.title == "Critical differences"
    assert "naive Bayes" in critical.svg
    assert "parametric." not in critical.svg
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


class Labels(ClassifierMixin, BaseEstimator):
    """Says which class, and no more."""

    def fit(self, X, y):
        self.classes_ = sorted(set(y))
        self.limit_ = float(X.iloc[:, 0].mean())
        return self

    def predict(self, X):
        return [self.classes_[int(value > self.limit_)] for value in X.iloc[:, 0]]


def test_curves_of_two_classes_name_the_positive_one(factors):
    found = list(threshold_figures(analyse(factors)))
    assert [figure.title.partition(" on")[0] for figure in found] == [
        "ROC curves",
        "Precision and recall",
        "Calibration",
    ]
    assert all("malignant" in figure.caption for figure in found)
    assert [figure.folded for figure in found] == [False, True, True]
    assert "area 0.9" in found[0].svg


def test_weighted_learners_do_not_set_the_scale_of_calibration():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=300)})
    frame["y"] = np.where(random.random(300) < 1 / (1 + np.exp(3.5 - frame["x"])), "yes", "no")
    comparison = compare(
        frame, ["logistic regression", "logistic regression (balanced)"], target="y",
        resampling="3-fold", progress=False,
    )  # fmt: skip
    *_, calibration = threshold_figures(comparison.analysis)
    assert "left out: logistic regression (balanced)." in calibration.caption
    assert "balanced" not in calibration.svg


def test_labels_in_brackets_do_not_say_who_is_weighted():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=120)})
    frame["y"] = np.where(random.random(120) < 1 / (1 + np.exp(-frame["x"])), "yes", "no")
    learners = [
        LearnerChoice("naive bayes", label="bayes (balanced)"),
        LearnerChoice("logistic regression", label="logit (strong)", parameters={"alpha": 100.0}),
        LearnerChoice("logistic regression (balanced)", factors={"alpha": [2.0]}),
        LearnerChoice("logistic regression", label="fair", decision="balanced"),
    ]
    comparison = compare(frame, learners, target="y", resampling="2-fold", progress=False)
    *_, calibration = threshold_figures(comparison.analysis)
    left_out = "left out: logistic regression (balanced) (alpha=2.0), fair."
    assert calibration.caption.endswith(left_out)
    assert "bayes (balanced)" in calibration.svg
    assert "logit (strong)" in calibration.svg


def test_three_classes_have_no_thresholds(two):
    assert list(threshold_figures(analyse(two))) == []


def test_confusion_is_that_of_the_best_where_a_baseline_is_recommended(two):
    analysis = analyse(two)
    said = replace(analysis.answer, recommended="majority class")
    (figure,) = confusion_figures(replace(analysis, answer=said))
    assert figure.title.startswith("Confusion matrix of naive Bayes on ")


def test_confusion_is_that_of_the_recommended(two):
    analysis = analyse(two)
    (figure,) = confusion_figures(analysis)
    assert figure.title == "Confusion matrix of naive Bayes on iris"


def test_two_learners_need_no_picture_of_shared_errors(two, several):
    assert list(overlap_figures(analyse(two))) == []
    assert list(overlap_figures(analyse(several))) == []


def test_shared_errors_of_three(factors):
    (figure,) = overlap_figures(analyse(factors))
    assert figure.title == "Shared errors on breast_cancer"
    assert "Most different are" in figure.caption
    assert "majority class" not in figure.svg


def test_scores_have_curves_but_no_calibration(make_results):
    """A support vector machine gives no probabilities, a rule of one's own only labels."""
    learners = [
        LearnerChoice("naive bayes"),
        LearnerChoice("support vector machine", label="margin"),
        LearnerChoice(Labels(), label="labels"),
    ]
    found = analyse(make_results(learners, ["breast_cancer"], resampling="2-fold"))
    curves, _, calibration = threshold_figures(found)
    assert "margin (area 0.9" in curves.svg
    assert "By scores that are no probabilities: margin." in curves.caption
    assert "Only labels, and so no curve: labels." in curves.caption
    assert "margin" not in calibration.svg
    pooled = found.predictions.pooled("breast_cancer", "margin")
    truth = pooled.targets == pooled.classes[1]
    assert f"{roc(truth, pooled.support()).area:.3f}" in curves.svg
