"""Shrinking regions: counts over volumes, and estimates that converge."""

import numpy as np
import pytest

from verulam.nonparametric import (
    Convergence,
    KernelDensity,
    convergence,
    growing_count,
    region_density,
    shrinking_width,
)


def test_count_over_volume_converges():
    X = np.random.default_rng(0).normal(size=(200_000, 2))

    def disc(rows):
        return (rows**2).sum(axis=1) < 0.2**2

    density = region_density(X, disc, np.pi * 0.2**2)
    assert density == pytest.approx(1 / (2 * np.pi), rel=0.05)
    with pytest.raises(ValueError, match="volume must be above 0"):
        region_density(X, disc, 0.0)


def test_schedules():
    assert shrinking_width(100, 2.0) == 0.2
    assert [growing_count(n) for n in (1, 4, 100)] == [1, 2, 10]


@pytest.mark.parametrize("n_columns", [1, 2, 5])
def test_volumes_shrink_with_the_root_of_the_rows(n_columns):
    for n_rows in (1, 16, 40_000):
        volume = shrinking_width(n_rows, 3.0, n_columns) ** n_columns
        assert volume == pytest.approx(3.0**n_columns / np.sqrt(n_rows))
    with pytest.raises(ValueError, match="n_columns must be at least 1"):
        shrinking_width(10, 1.0, 0)


def test_windows_of_shrinking_volume_converge_in_two_columns():
    rng, queries = np.random.default_rng(0), np.array([[0.0, 0.0], [1.0, -1.0]])
    truth, errors = np.exp(-0.5 * (queries**2).sum(axis=1)) / (2 * np.pi), []
    for n_rows in (16, 16_384):
        width = shrinking_width(n_rows, 2.0, n_columns=2)
        density = KernelDensity(bandwidth=width).fit(rng.normal(size=(n_rows, 2)))
        errors.append(np.abs(np.exp(density.score_samples(queries)) / truth - 1.0).max())
    assert errors[1] < 0.1 < errors[0]


def test_both_estimates_converge():
    errors = convergence((16, 1024, 65_536))
    assert np.all(np.diff(errors.window_errors) < 0)
    assert errors.neighbour_errors[-1] < 0.2 * errors.neighbour_errors[0]


def test_errors_have_one_entry_for_each_size():
    errors = convergence((16, 400))
    assert isinstance(errors, Convergence)
    assert errors.n_rows == (16, 400)
    assert errors.window_errors.shape == errors.neighbour_errors.shape == (2,)
    assert errors.neighbour_errors[1] < errors.neighbour_errors[0]
