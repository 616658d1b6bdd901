"""Pictures of predictions."""

from dataclasses import replace

from sklearn.base import BaseEstimator, ClassifierMixin

from verulam.experiment import LearnerChoice, analyse
from verulam.experiment._report.prediction_figures import (
    confusion_figures,
    overlap_figures,
    threshold_figures,
)
from verulam.measures import roc


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
    assert f"{roc(truth, pooled.for_second_class).area:.3f}" in curves.svg
