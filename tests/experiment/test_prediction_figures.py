"""Pictures of predictions."""

from dataclasses import replace

from verulam.experiment import analyse
from verulam.experiment._prediction_figures import (
    confusion_figures,
    overlap_figures,
    threshold_figures,
)


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


def test_three_classes_have_no_thresholds(two):
    assert list(threshold_figures(analyse(two))) == []


def test_confusion_is_that_of_the_best_where_a_baseline_is_recommended(two):
    analysis = analyse(two)
    said = replace(analysis.answer, recommended="majority class")
    (figure,) = confusion_figures(replace(analysis, answer=said))
    assert figure.title.startswith("Confusion matrix of parametric.NaiveBayes on ")


def test_confusion_is_that_of_the_recommended(two):
    analysis = analyse(two)
    (figure,) = confusion_figures(analysis)
    assert figure.title == f"Confusion matrix of {analysis.recommended} on iris"


def test_two_learners_need_no_picture_of_shared_errors(two, several):
    assert list(overlap_figures(analyse(two))) == []
    assert list(overlap_figures(analyse(several))) == []


def test_shared_errors_of_three(factors):
    (figure,) = overlap_figures(analyse(factors))
    assert figure.title == "Shared errors on breast_cancer"
    assert "differ most" in figure.caption
    assert "majority class" not in figure.svg
