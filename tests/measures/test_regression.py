"""Errors of numbers: worked values, scikit-learn, identities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics

from verulam.base import DataError, DataWarning
from verulam.measures import (
    epsilon_error,
    half_sum_of_squares,
    max_error,
    mean_absolute_error,
    mean_epsilon_error,
    mean_squared_error,
    median_absolute_error,
    r2,
    relative_square_error,
    root_mean_squared_error,
)

TRUE, PREDICTED = [1.0, 2.0, 4.0, 5.0], [1.5, 2.0, 2.0, 6.0]


def test_worked_values():
    assert half_sum_of_squares(TRUE, PREDICTED) == 0.5 * (0.25 + 4 + 1)
    assert relative_square_error(TRUE, PREDICTED) == 5.25 / 10
    assert r2(TRUE, PREDICTED) == 1 - 5.25 / 10
    assert epsilon_error(TRUE, PREDICTED, epsilon=0.5) == 1.5 + 0.5
    assert mean_epsilon_error(TRUE, PREDICTED, epsilon=0.5) == 0.5
    assert epsilon_error(TRUE, PREDICTED, epsilon=0) == 3.5
    assert max_error(TRUE, PREDICTED) == 2.0
    assert median_absolute_error(TRUE, PREDICTED) == 0.75
    assert max_error(TRUE, PREDICTED, sample_weight=[1, 1, 0, 1]) == 1.0


def test_the_mean_has_relative_error_one():
    assert_allclose(relative_square_error(TRUE, np.full(4, 3.0)), 1.0)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_matches_scikit_learn(outputs, weighted):
    rng = np.random.default_rng(outputs)
    true, predicted = rng.normal(size=(2, 50, outputs))
    options = {"sample_weight": rng.uniform(size=50) if weighted else None}
    for ours, theirs in [
        (mean_squared_error, metrics.mean_squared_error),
        (mean_absolute_error, metrics.mean_absolute_error),
        (median_absolute_error, metrics.median_absolute_error),
        (r2, metrics.r2_score),
    ]:
        assert_allclose(ours(true, predicted, **options), theirs(true, predicted, **options))
    assert_allclose(
        root_mean_squared_error(true, predicted, **options) ** 2,
        mean_squared_error(true, predicted, **options),
    )


def test_weights_repeat_rows():
    weight = [1, 2, 0, 3]
    repeated = np.repeat(TRUE, weight), np.repeat(PREDICTED, weight)
    for function in (half_sum_of_squares, epsilon_error, mean_epsilon_error, mean_squared_error):
        assert_allclose(function(TRUE, PREDICTED, sample_weight=weight), function(*repeated))


def test_constant_target_is_undefined():
    with pytest.warns(DataWarning, match="relative square error is undefined"):
        assert np.isnan(r2([2, 2], [2, 3]))
    assert relative_square_error([2, 2], [2, 3], zero_division=1.0) == 1.0


def test_epsilon_must_not_be_negative():
    with pytest.raises(DataError, match="epsilon must not be negative"):
        epsilon_error(TRUE, PREDICTED, epsilon=-1)
