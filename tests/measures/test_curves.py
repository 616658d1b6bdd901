"""Curves: agreement with scikit-learn, ties, weights, flipping."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics

from verulam.measures import (
    PrecisionRecallCurve,
    SensitivitySpecificityCurve,
    precision_recall,
    roc,
    sensitivity_specificity,
)


@pytest.fixture(params=[None, "weighted"])
def problem(request):
    rng = np.random.default_rng(3)
    true = rng.integers(0, 2, 150)
    # One decimal makes many ties.
    scores = np.round(rng.normal(size=150) + true, 1)
    weight = None if request.param is None else rng.integers(0, 3, 150).astype(float)
    return true, scores, weight


def test_roc_matches_scikit_learn(problem):
    true, scores, weight = problem
    curve = roc(true, scores, sample_weight=weight)
    fp, tp, thresholds = metrics.roc_curve(
        true, scores, sample_weight=weight, drop_intermediate=False
    )
    # scikit-learn drops rows of weight zero; here their thresholds repeat a point.
    shared = np.isin(curve.thresholds, thresholds)
    assert_allclose(curve.fp_rate[shared], fp)
    assert_allclose(curve.tp_rate[shared], tp)
    assert_allclose(curve.area, metrics.roc_auc_score(true, scores, sample_weight=weight))


def test_precision_recall_matches_scikit_learn(problem):
    true, scores, weight = problem
    curve = precision_recall(true, scores, sample_weight=weight)
    precision, recall, thresholds = metrics.precision_recall_curve(
        true, scores, sample_weight=weight
    )
    shared = np.isin(curve.thresholds, thresholds)
    assert_allclose(curve.precision[shared], precision[:-1][::-1])
    assert_allclose(curve.recall[shared], recall[:-1][::-1])
    assert_allclose(curve.area, metrics.average_precision_score(true, scores, sample_weight=weight))
    assert curve.precision[-1] == pytest.approx(curve.prevalence)


def test_area_is_the_mann_whitney_probability(problem):
    true, scores, _ = problem
    above = scores[true == 1][:, None] - scores[true == 0][None]
    assert_allclose(roc(true, scores).area, np.mean((above > 0) + 0.5 * (above == 0)))


def test_flipping_is_negating_the_scores(problem):
    true, scores, weight = problem
    flipped = roc(true, -scores, sample_weight=weight).flipped()
    straight = roc(true, scores, sample_weight=weight)
    assert_allclose(flipped.fp_rate, straight.fp_rate, atol=1e-12)
    assert_allclose(flipped.tp_rate, straight.tp_rate, atol=1e-12)
    assert_array_equal(flipped.thresholds, straight.thresholds)
    assert_allclose(straight.flipped().area, 1 - straight.area)


def test_point_at_a_threshold_counts_decisions(problem):
    true, scores, _ = problem
    for threshold in (-9.0, 0.05, 0.5, 9.0):
        called = scores >= threshold
        expected = called[true == 0].mean(), called[true == 1].mean()
        assert_allclose(roc(true, scores).at(threshold), expected)


def test_sensitivity_specificity(problem):
    true, scores, _ = problem
    curve = sensitivity_specificity(true, scores)
    straight = roc(true, scores)
    assert_allclose(curve.area, straight.area)
    best = straight.at(curve.best_threshold())
    assert best[1] - best[0] == pytest.approx((straight.tp_rate - straight.fp_rate).max())
    assert list(curve.to_frame()) == ["sensitivity", "specificity", "threshold"]


def test_named_positive_and_table_of_scores():
    true = np.array(["b", "a", "c", "a", "b"])
    table = np.random.default_rng(0).uniform(size=(5, 3))
    curve = roc(true, table, positive="a", labels=["a", "b", "c"])
    assert_allclose(curve.area, roc(true == "a", table[:, 0]).area)
    assert roc(["no", "yes"], [0.1, 0.9]).area == 1.0
    assert roc(["no", "yes"], [0.1, 0.9], positive="no").area == 0.0


def test_records_of_the_curves():
    labels, scores = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    retrieval = precision_recall(labels, scores)
    assert isinstance(retrieval, PrecisionRecallCurve)
    assert retrieval.prevalence == 0.5
    assert len(retrieval.to_frame()) == len(retrieval.recall)
    screening = sensitivity_specificity(labels, scores)
    assert isinstance(screening, SensitivitySpecificityCurve)
    assert screening.area == pytest.approx(0.75)
