"""Shrinking regions: counts over volumes, and estimates that converge."""

import numpy as np
import pytest

from verulam.nonparametric import convergence, growing_count, region_density, shrinking_width


def test_count_over_volume_converges():
    X = np.random.default_rng(0).normal(size=(200_000, 2))

    def disc(rows):
        return (rows**2).sum(axis=1) < 0.2**2

    found = region_density(X, disc, np.pi * 0.2**2)
    assert found == pytest.approx(1 / (2 * np.pi), rel=0.05)
    with pytest.raises(ValueError, match="volume must be above 0"):
        region_density(X, disc, 0.0)


def test_schedules():
    assert shrinking_width(100, 2.0) == 0.2
    assert [growing_count(n) for n in (1, 4, 100)] == [1, 2, 10]


def test_both_estimates_converge():
    found = convergence((16, 1024, 65_536))
    assert np.all(np.diff(found.window_errors) < 0)
    assert found.neighbour_errors[-1] < 0.2 * found.neighbour_errors[0]
