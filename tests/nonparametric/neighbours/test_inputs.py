"""Checks of what functions are given: tables, columns, labels, weights, numbers."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.base import DataError
from verulam.nonparametric import (
    KNeighborsClassifier,
    NaiveDensity,
    RunningMean,
    ball_volume,
    bias_variance,
    density_on_grid,
    dimensionality,
    growing_count,
    neighbour_risk,
    plug_in_bandwidth,
    required_sample_size,
    select_bandwidth,
    select_neighbour_count,
    shrinking_width,
    voronoi_pairs,
)
from verulam.nonparametric._neighbours.inputs import (
    check_at_least,
    checked_cases,
    checked_column,
    checked_counts,
    checked_rows,
)

X = np.random.default_rng(0).normal(size=(8, 2))
Y = np.arange(8) % 2
GAP = np.where(np.eye(8, 2) == 1, np.nan, X)


def test_what_is_right_passes():
    assert checked_rows(X.tolist()).flags["C_CONTIGUOUS"]
    rows, codes, classes = checked_cases(X, np.where(Y, "up", "down"))
    assert len(rows) == 8
    assert_array_equal(codes, Y)
    assert_array_equal(classes, ["down", "up"])
    assert_array_equal(checked_counts(None, 3), np.ones(3))
    assert len(checked_column([1e308, 1e308])) == 2


@pytest.mark.parametrize("weights", [[1.0], [-1.0, 1.0], [np.nan, 1.0]])
def test_weights_are_one_number_for_each_row(weights):
    with pytest.raises(DataError, match="weights must be 2 finite numbers of at least 0"):
        checked_counts(weights, 2)


def test_weights_are_not_all_zero():
    with pytest.raises(DataError, match="all are zero"):
        checked_counts([0.0, 0.0], 2)


@pytest.mark.parametrize("value", [0, np.nan])
def test_least_values(value):
    with pytest.raises(DataError, match="step must be at least 1, not"):
        check_at_least(value, 1, "step")


@pytest.mark.parametrize(
    "call",
    [
        lambda: select_bandwidth(GAP),
        lambda: select_neighbour_count(GAP, Y, 3),
        lambda: dimensionality(GAP),
        lambda: voronoi_pairs(GAP),
        lambda: plug_in_bandwidth(GAP[:, 1]),
        lambda: density_on_grid(GAP[:, 1]),
    ],
)
def test_gaps_are_refused_by_every_function(call):
    with pytest.raises(ValueError, match="contains NaN"):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: select_bandwidth(X, []), "bandwidths is empty"),
        (lambda: select_bandwidth(X, [0.0, 1.0]), "bandwidths must be positive; the least is 0"),
        (lambda: select_neighbour_count(X, Y, 0), "most must be at least 1, not 0"),
        (lambda: select_neighbour_count(X, Y[:3], 2), "y has 3 labels, but X has 8 rows"),
        (lambda: density_on_grid(X[:, 0], weights=-Y), "weights must be 8 finite numbers"),
        (lambda: ball_volume(-1), "n_columns must be at least 0"),
        (lambda: shrinking_width(0), "n_rows must be at least 1"),
        (lambda: growing_count(0), "n_rows must be at least 1"),
        (lambda: neighbour_risk(counts=(0,), sizes=(10,)), "counts must be at least 1"),
        (lambda: neighbour_risk(-1.0), "distance must be at least 0"),
        (lambda: NaiveDensity().fit(X[:, :1]).cumulative([np.nan]), "values contains NaN"),
        (
            lambda: bias_variance(RunningMean(), "bandwidth", [1.0], len, X, noise=-1.0),
            "noise must be at least 0",
        ),
        (
            lambda: bias_variance(RunningMean(), "bandwidth", [], len, X, noise=1.0),
            "values is empty",
        ),
        (
            lambda: KNeighborsClassifier(metric="precomputed").fit(-np.ones((8, 8)), Y),
            "X has negative entries; metric='precomputed' takes distances",
        ),
        (
            lambda: KNeighborsClassifier(metric=lambda a, b: np.nan).fit(X, Y).predict(X),
            "must return a number for every pair of rows",
        ),
    ],
)
def test_messages_name_the_argument(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_more_rows_than_numbers_can_tell():
    assert required_sample_size(400) == np.inf
    assert required_sample_size(50) == pytest.approx(2.477e40, rel=1e-3)
