"""Measures of classes and probabilities: formulas, scikit-learn, averages, zero denominators."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics

from verulam.base import DataError, DataWarning
from verulam.measures import (
    accuracy,
    balanced_accuracy,
    brier,
    error,
    f_score,
    fp_rate,
    kappa,
    log_loss,
    matthews,
    precision,
    risk,
    specificity,
    tp_rate,
)

COUNTS = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [40, 10, 5, 45], axis=0).T


@pytest.fixture(params=[2, 4])
def problem(request):
    rng = np.random.default_rng(request.param)
    true = rng.integers(0, request.param, 300)
    predicted = np.where(rng.uniform(size=300) < 0.6, true, rng.integers(0, request.param, 300))
    return true, predicted, rng.uniform(size=300)


def test_two_class_formulas():
    true, predicted = COUNTS
    assert_allclose(error(true, predicted), 15 / 100)
    assert_allclose(accuracy(true, predicted), 85 / 100)
    assert_allclose(tp_rate(true, predicted), 40 / 50)
    assert_allclose(fp_rate(true, predicted), 5 / 50)
    assert_allclose(precision(true, predicted), 40 / 45)
    assert_allclose(specificity(true, predicted), 45 / 50)
    assert_allclose(f_score(true, predicted), 2 * 40 / (2 * 40 + 10 + 5))
    assert_allclose(tp_rate(true, predicted, positive=0), specificity(true, predicted))


@pytest.mark.parametrize("weighted", [False, True])
def test_unaveraged_measures_match_scikit_learn(problem, weighted):
    true, predicted, weight = problem
    options = {"sample_weight": weight if weighted else None}
    for ours, theirs in [
        (accuracy, metrics.accuracy_score),
        (balanced_accuracy, metrics.balanced_accuracy_score),
        (kappa, metrics.cohen_kappa_score),
        (matthews, metrics.matthews_corrcoef),
    ]:
        assert_allclose(ours(true, predicted, **options), theirs(true, predicted, **options))
    assert_allclose(
        error(true, predicted, **options), metrics.zero_one_loss(true, predicted, **options)
    )


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("weighted", [False, True])
def test_averages_match_scikit_learn(problem, average, weighted):
    true, predicted, weight = problem
    options = {"average": average, "sample_weight": weight if weighted else None}
    assert_allclose(
        tp_rate(true, predicted, **options), metrics.recall_score(true, predicted, **options)
    )
    assert_allclose(
        precision(true, predicted, **options), metrics.precision_score(true, predicted, **options)
    )
    assert_allclose(
        f_score(true, predicted, beta=2.0, **options),
        metrics.fbeta_score(true, predicted, beta=2.0, **options),
    )
    assert_allclose(
        specificity(true, predicted, **options), 1 - fp_rate(true, predicted, **options)
    )


def test_default_average_is_macro_beyond_two_classes():
    true, predicted = [0, 0, 1, 2], [0, 1, 1, 2]
    assert tp_rate(true, predicted) == pytest.approx((0.5 + 1 + 1) / 3)
    assert tp_rate(true, predicted, positive=0) == 0.5
    with pytest.raises(ValueError, match="average must be one of"):
        tp_rate(true, predicted, average="median")


@pytest.mark.parametrize(
    ("function", "true", "predicted"),
    [
        (tp_rate, [0, 0], [0, 1]),
        (fp_rate, [1, 1], [0, 1]),
        (specificity, [1, 1], [0, 1]),
        (precision, [0, 1], [0, 0]),
        (f_score, [0, 0], [0, 0]),
        (kappa, [1, 1], [1, 1]),
        (matthews, [0, 1], [0, 0]),
        (matthews, [1, 1, 1], [1, 1, 1]),
    ],
)
def test_zero_denominators_are_never_silent(function, true, predicted):
    labels = [0, 1]
    with pytest.warns(DataWarning, match="undefined"):
        assert np.isnan(function(true, predicted, labels=labels))
    assert function(true, predicted, labels=labels, zero_division=0.0) == 0.0


def test_undefined_classes_are_left_out_of_the_average():
    with pytest.warns(DataWarning, match="tp_rate is undefined"):
        value = balanced_accuracy([0, 0, 1], [0, 1, 1], labels=[0, 1, 2])
    assert value == pytest.approx((0.5 + 1.0) / 2)


def test_zero_one_loss_gives_the_error(problem):
    true, predicted, weight = problem
    classes = len(np.unique(true))
    loss = 1 - np.eye(classes)
    assert_allclose(
        risk(true, predicted, loss=loss, sample_weight=weight),
        error(true, predicted, sample_weight=weight),
    )


def test_names_of_a_loss_table_count_whatever_the_order_of_the_labels():
    loss = pd.DataFrame([[0, 7], [2, 0]], index=["b", "a"], columns=["b", "a"])
    assert risk(["a", "b", "a"], ["b", "a", "a"], loss=loss, labels=["a", "b"]) == 3.0


def test_risk_rows_are_actions():
    # Choosing a for a true b costs 7, the other error 2.
    loss = pd.DataFrame([[0, 7], [2, 0], [1, 1]], index=["a", "b", "?"], columns=["a", "b"])
    true, taken = ["a", "b", "b", "a"], ["b", "a", "?", "a"]
    assert risk(true, taken, loss=loss) == (2 + 7 + 1 + 0) / 4
    assert risk([0, 1], [-1, 1], loss=[[0, 1], [1, 0], [0.3, 0.3]], actions=[0, 1, -1]) == 0.15


@pytest.mark.parametrize("classes", [2, 3])
def test_probability_scores_match_scikit_learn(classes):
    rng = np.random.default_rng(classes)
    table = rng.dirichlet(np.ones(classes), 100)
    true, weight = rng.integers(0, classes, 100), rng.uniform(size=100)
    for sample_weight in (None, weight):
        assert_allclose(
            log_loss(true, table, sample_weight=sample_weight),
            metrics.log_loss(true, table, sample_weight=sample_weight),
        )
        assert_allclose(
            brier(true, table, sample_weight=sample_weight),
            metrics.brier_score_loss(true, table, sample_weight=sample_weight, scale_by_half=False),
        )


def test_probabilities_of_one_column_and_of_named_columns():
    true = np.array(["no", "yes", "yes"])
    chance = np.array([0.2, 0.9, 0.4])
    assert_allclose(log_loss(true, chance), -np.log([0.8, 0.9, 0.4]).mean())
    swapped = np.column_stack([chance, 1 - chance])
    assert_allclose(log_loss(true, swapped, labels=["yes", "no"]), log_loss(true, chance))
    assert brier([1, 0], [[0.0, 1.0], [0.0, 1.0]]) == 1.0
    assert np.isfinite(log_loss([0, 1], [[0.0, 1.0], [0.5, 0.5]]))


def test_beta_must_be_positive():
    with pytest.raises(DataError, match="beta must be positive"):
        f_score([0, 1], [0, 1], beta=0)
