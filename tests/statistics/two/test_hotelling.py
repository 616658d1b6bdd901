"""Hotelling's paired test: statsmodels, identities, and singular covariances."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.multivariate import test_mvmean as their_hotelling

from verulam.base import DataError
from verulam.statistics import adjust_p_values, cv_t_test, hotelling_test
from verulam.statistics._two.hotelling import varying_subspace

RNG = np.random.default_rng(10)
FIRST, SECOND = RNG.normal(size=(10, 3)), RNG.normal([0.5, 0, 0], size=(10, 3))


def test_matches_statsmodels():
    result = hotelling_test(FIRST, SECOND)
    expected = their_hotelling(FIRST - SECOND)
    assert_allclose(result.statistic, expected.t2)
    assert_allclose(result.p_value, expected.pvalue)
    assert result.degrees_of_freedom == (3, 9)


def test_one_measure_is_the_squared_t():
    result = hotelling_test(FIRST[:, 0], SECOND[:, 0])
    t = cv_t_test(FIRST[:, 0], SECOND[:, 0])
    assert_allclose(result.statistic, t.statistic**2)
    assert_allclose(result.p_value, t.p_value)


def test_critical_value_of_two_measures_and_ten_folds():
    result = hotelling_test(FIRST[:, :2], SECOND[:, :2])
    assert result.critical_value == pytest.approx(10.03, abs=0.005)


def test_direction_is_that_of_fishers_discriminant():
    differences = FIRST - SECOND
    direction = hotelling_test(FIRST, SECOND).details["direction"].to_numpy()
    expected = np.linalg.solve(np.cov(differences.T), differences.mean(axis=0))
    assert_allclose(direction, expected)
    # No other combination of the measures has a larger t.
    best = stats.ttest_1samp(differences @ direction, 0).statistic ** 2
    assert_allclose(best, hotelling_test(FIRST, SECOND).statistic)
    for _ in range(50):
        other = differences @ RNG.normal(size=3)
        assert stats.ttest_1samp(other, 0).statistic ** 2 <= best + 1e-9


def test_invariant_to_scales_and_mixtures():
    mixture = RNG.normal(size=(3, 3))
    assert_allclose(
        hotelling_test(FIRST @ mixture, SECOND @ mixture).p_value,
        hotelling_test(FIRST, SECOND).p_value,
    )


def test_single_measures_follow():
    table = hotelling_test(FIRST, SECOND, names=["a", "b", "c"]).table
    raw = stats.ttest_rel(FIRST, SECOND).pvalue
    assert_allclose(table["p_value"], raw)
    assert_allclose(table["adjusted_p"], adjust_p_values(raw))
    assert list(table.index) == ["a", "b", "c"]


def test_names_come_from_a_frame():
    frame = pd.DataFrame(FIRST, columns=["tp", "fp", "fn"])
    assert list(hotelling_test(frame, SECOND).table.index) == ["tp", "fp", "fn"]
    with pytest.raises(DataError, match="names has 1 entries for 3 measures"):
        hotelling_test(FIRST, SECOND, names=["x"])


def confusion_counts(rng, error):
    """Return [tp, fp, fn, tn] of ten folds with fifty positives and fifty negatives each."""
    tp, tn = rng.binomial(50, 1 - error[0], 10), rng.binomial(50, 1 - error[1], 10)
    return np.column_stack([tp, 50 - tn, 50 - tp, tn]).astype(float)


def test_dependent_counts_are_compared_where_they_vary():
    rng = np.random.default_rng(0)
    first, second = confusion_counts(rng, (0.1, 0.2)), confusion_counts(rng, (0.2, 0.1))
    four = hotelling_test(first, second, names=["tp", "fp", "fn", "tn"])
    two = hotelling_test(first[:, [0, 3]], second[:, [0, 3]])
    assert_allclose(four.statistic, two.statistic)
    assert_allclose(four.p_value, two.p_value)
    assert "vary in 2 directions only" in str(four.caveats)


def test_vectors_see_what_the_error_hides():
    """Equal error rates made of different errors."""
    rng = np.random.default_rng(1)
    first, second = confusion_counts(rng, (0.1, 0.3)), confusion_counts(rng, (0.3, 0.1))
    assert hotelling_test(first, second).reject
    errors = first[:, 1] + first[:, 2], second[:, 1] + second[:, 2]
    assert not cv_t_test(*errors).reject


def test_more_measures_than_splits_are_shrunk():
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(2, 6, 8))
    result = hotelling_test(first, second)
    assert "shrunken" in result.name
    assert "6 splits cannot estimate the covariance of 8 measures" in str(result.caveats)
    assert 1 / 64 <= result.p_value <= 1
    # The smallest p-value of six splits is 2/64; a clear difference reaches it.
    assert hotelling_test(first + 50, second).p_value == pytest.approx(2 / 64)


def test_shrunken_test_holds_its_level():
    rng = np.random.default_rng(3)
    rejected = [hotelling_test(*rng.normal(size=(2, 8, 10))).reject for _ in range(300)]
    assert np.mean(rejected) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_random_signs_when_there_are_many_splits():
    rng = np.random.default_rng(4)
    first, second = rng.normal(size=(2, 16, 20))
    assert (
        hotelling_test(first, second, random_state=1).p_value
        == hotelling_test(first, second, random_state=1).p_value
    )


def test_as_few_splits_as_the_exact_test_allows():
    """One more split than measures: F has one degree of freedom below, and is still exact."""
    first = np.array([[0.1], [0.3]])
    second = np.array([[0.2], [0.25]])
    result = hotelling_test(first, second)
    assert_allclose(result.p_value, stats.ttest_rel(first[:, 0], second[:, 0]).pvalue)
    differences = np.random.default_rng(0).normal(size=(3, 2))
    result = hotelling_test(differences, 0 * differences)
    mean, inverse = differences.mean(axis=0), np.linalg.inv(np.cov(differences.T))
    square = 3 * mean @ inverse @ mean
    assert_allclose(result.statistic, square)
    assert_allclose(result.p_value, stats.f.sf(square / 4, 2, 1))


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_do_not_hide_a_measure(unit):
    """Bytes beside error rates: the difference is in the rates alone."""
    first, second = np.random.default_rng(0).normal(size=(2, 12, 2))
    second[:, 0] += 2
    plain = hotelling_test(first, second)
    other = hotelling_test(first * [1, unit], second * [1, unit])
    assert other.statistic == pytest.approx(plain.statistic)
    assert other.p_value == pytest.approx(plain.p_value)
    direction = plain.details["direction"].to_numpy() / [1, unit]
    assert other.details["direction"].to_numpy() == pytest.approx(direction)


def test_a_difference_that_varies_by_rounding_alone_is_constant():
    errors = np.array([0.1, 0.2, 0.15, 0.3, 0.25, 0.12])
    with pytest.raises(DataError, match="No measure varies over the splits"):
        hotelling_test(errors[:, None], errors[:, None] + 0.1)
    # One that is constant beside one that varies: what is left is how the signs fall.
    other = np.column_stack([errors + 0.1, errors[::-1]])
    assert hotelling_test(np.column_stack([errors, errors]), other).p_value >= 1 / 32


@pytest.mark.parametrize(("off", "inside"), [(0.5e-8, True), (4e-8, False)])
def test_a_mean_beside_the_varying_directions_is_told_from_rounding(off, inside):
    along = np.repeat([-1.0, 1.0], 200)[:, None] * np.array([1.0, 1.0])
    aside = off * np.array([1.0, -1.0])
    space = varying_subspace(along + aside, (along + aside).mean(axis=0))
    assert space.basis.shape == (2, 1)
    # Along the basis the rows have a standard deviation of 1.4, whatever their number.
    assert space.holds_mean is inside
