"""Intervals over rows and over groups of rows."""

import numpy as np
import pytest
from scipy.stats import t

from verulam.experiment._final.interval import bootstrap_in_groups, rate_in_groups
from verulam.statistics import rate_interval


def test_without_groups_the_interval_is_that_of_a_rate():
    found, expected = rate_in_groups(np.arange(20) < 3, None), rate_interval(3, 20)
    assert (found.low, found.high) == (expected.low, expected.high)


def test_equal_groups_have_the_t_interval_of_their_means():
    rng = np.random.default_rng(0)
    counted = rng.random((12, 5)) < rng.random((12, 1))
    means = counted.mean(axis=1)
    reach = t.ppf(0.975, 11) * means.std(ddof=1) / np.sqrt(12)
    found = rate_in_groups(counted.ravel(), np.repeat(np.arange(12), 5))
    assert found.low == pytest.approx(means.mean() - reach)
    assert found.high == pytest.approx(means.mean() + reach)


def test_no_error_in_a_few_groups_is_not_certain():
    found = rate_in_groups(np.zeros(60, dtype=bool), np.repeat(np.arange(6), 10))
    assert (found.low, found.high) == (0.0, rate_interval(0, 6).high)


def test_a_single_group_has_no_interval():
    groups = np.zeros(8, dtype=np.intp)
    assert rate_in_groups(np.arange(8) < 2, groups).low is None
    found = bootstrap_in_groups(lambda rows: float(rows.mean()), 8, groups, seed=0)
    assert (found.low, found.high, found.method) == (None, None, "")


def test_groups_are_drawn_as_a_whole():
    groups, seen = np.array([0, 1, 0, 2, 2, 2]), []
    bootstrap_in_groups(lambda rows: seen.append(rows) or 0.0, 6, groups, seed=0)
    for rows in seen:
        counts = np.bincount(rows, minlength=6)
        assert counts[0] == counts[2]
        assert counts[3] == counts[4] == counts[5]
