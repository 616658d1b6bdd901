"""Tails, critical values and the tables of the text."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics._core.tails import (
    normality,
    symmetric_interval,
    symmetric_p_values,
    symmetric_tail,
    upper_tail,
)


@pytest.mark.parametrize(
    ("distribution", "share", "printed"),
    [
        (stats.norm(), 0.025, 1.96),
        (stats.norm(), 0.005, 2.58),
        (stats.norm(), 0.05, 1.64),
        (stats.t(9), 0.05, 1.83),
        (stats.t(29), 0.05, 1.70),
        (stats.t(9), 0.025, 2.26),
        (stats.t(29), 0.025, 2.05),
        (stats.t(5), 0.025, 2.57),
        (stats.chi2(1), 0.05, 3.84),
        (stats.f(10, 5), 0.05, 4.74),
        (stats.f(4, 45), 0.05, 2.58),
    ],
)
def test_critical_values_of_the_text(distribution, share, printed):
    assert upper_tail(0.0, distribution, share).critical_value == pytest.approx(printed, abs=0.006)


def test_both_sides_and_one_side():
    assert_allclose(symmetric_p_values(1.96, stats.norm, "two-sided"), 0.05, atol=1e-4)
    assert_allclose(symmetric_p_values([1.0, -1.0], stats.norm, "greater"), [0.158655, 0.841345],
                    atol=1e-6)  # fmt: skip
    less = symmetric_tail(-2.0, stats.norm, "less", 0.05)
    assert less.critical_value == pytest.approx(-1.6449, abs=1e-4)
    assert less.p_value == pytest.approx(stats.norm.cdf(-2))


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_interval_is_dual_to_the_test(alternative):
    for estimate in np.linspace(-0.6, 0.6, 25):
        interval = symmetric_interval(estimate, 0.2, stats.t(7), alternative, 0.95, "t")
        p_value = symmetric_p_values(estimate / 0.2, stats.t(7), alternative)
        assert (0.0 not in interval) == (p_value < 0.05)


def test_normality_is_asked_only_where_it_can_be():
    rng = np.random.default_rng(0)
    assert normality(rng.normal(size=50), "values").holds
    assert normality(rng.exponential(size=50), "values").holds is False
    assert normality(np.array([1.0, 2.0]), "values").holds is None
    assert normality(np.ones(9), "values").holds is None


@pytest.mark.parametrize("unit", [2.0**-200, 2.0**200, 1e-100, 1e100])
def test_normality_does_not_depend_on_the_unit(unit):
    values = np.array([0.1, 0.5, 0.2, 0.9, 0.4, 0.35])
    assert normality(values * unit, "values") == normality(values, "values")
