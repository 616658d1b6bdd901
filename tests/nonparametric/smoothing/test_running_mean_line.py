"""Running mean and line: hand sums, scikit-learn, pandas, least squares in the window."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.neighbors import RadiusNeighborsRegressor

from verulam.base import DataError
from verulam.nonparametric import RunningLine, RunningMean, RunningMedian


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 5, size=(100, 2))
    return X, np.sin(X[:, 0]) + 0.2 * rng.normal(size=100)


def test_running_mean_by_hand():
    """Points at distance h are outside: |u| < 1."""
    smoother = RunningMean(bandwidth=2.0).fit([[1], [2], [3], [4]], [1.0, 5.0, 3.0, 7.0])
    assert_allclose(smoother.predict([[2], [3.5], [5.9]]), [3.0, 5.0, 7.0])


@pytest.mark.parametrize("columns", [1, 2])
def test_running_mean_against_scikit_learn(data, columns):
    X, y = data
    ours = RunningMean(bandwidth=0.9).fit(X[:, :columns], y)
    theirs = RadiusNeighborsRegressor(0.9).fit(X[:, :columns], y)
    assert_allclose(ours.predict(X[:, :columns]), theirs.predict(X[:, :columns]))


def test_trailing_mean_is_that_of_a_time_series(data):
    _, y = data
    time = np.arange(100.0)[:, None]
    ours = RunningMean(bandwidth=7.0, side="past").fit(time, y).predict(time)
    assert_allclose(ours, pd.Series(y).rolling(7, min_periods=1).mean())


def test_centred_mean_is_that_of_a_time_series(data):
    _, y = data
    time = np.arange(100.0)[:, None]
    ours = RunningMean(bandwidth=3.5).fit(time, y).predict(time)
    assert_allclose(ours, pd.Series(y).rolling(7, center=True, min_periods=1).mean())


def test_past_needs_a_time(data):
    X, y = data
    for smoother in (RunningMean(bandwidth=1.0, side="past"), RunningMedian(side="past")):
        with pytest.raises(DataError, match="side='past' is for one input"):
            smoother.fit(X, y)


def test_running_line_is_least_squares_in_the_window(data):
    X, y = data
    x = X[:, 0]
    line = RunningLine(bandwidth=0.8).fit(X[:, :1], y)
    inside = np.abs(x - 2.0) < 0.8
    expected = np.polyval(np.polyfit(x[inside], y[inside], 1), 2.0)
    assert_allclose(line.predict([[2.0]]), expected)
    by_count = RunningLine(n_neighbors=12).fit(X[:, :1], y)
    nearest = np.argsort(np.abs(x - 2.0))[:12]
    expected = np.polyval(np.polyfit(x[nearest], y[nearest], 1), 2.0)
    assert_allclose(by_count.predict([[2.0]]), expected)


def test_running_line_keeps_straight_lines(data):
    X, _ = data
    for line in (RunningLine(bandwidth=0.7), RunningLine(n_neighbors=9), RunningLine()):
        fitted = line.fit(X[:, :1], 2 * X[:, 0] - 1)
        assert_allclose(fitted.predict(X[:, :1]), 2 * X[:, 0] - 1)


def test_running_line_with_too_many_neighbours(data):
    X, y = data
    with pytest.raises(DataError, match="n_neighbors is larger"):
        RunningLine(n_neighbors=101).fit(X, y)
