"""Running median: its definition, pandas, groups of windows, bands by order."""

import numba
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom

from verulam.nonparametric import RunningMedian
from verulam.nonparametric._smoothing.running_median import (
    median_depths,
    running_limits,
    window_limits,
)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 5, size=(100, 2))
    return X, np.sin(X[:, 0]) + 0.2 * rng.normal(size=100)


@pytest.mark.parametrize("columns", [1, 2])
def test_running_median_by_its_definition(data, columns):
    X, y = data
    X = X[:, :columns]
    smoother = RunningMedian(bandwidth=0.6).fit(X, y)
    smooth = smoother.training_smooth()
    for row in range(0, 100, 7):
        inside = np.linalg.norm(X - X[row], axis=1) < 0.6
        assert_allclose(smooth.fitted[row], np.median(y[inside]))
        inside[row] = False
        if inside.any():
            assert_allclose(smooth.leave_one_out[row], np.median(y[inside]))


def test_running_median_of_a_time_series(data):
    _, y = data
    time = np.arange(100.0)[:, None]
    ours = RunningMedian(bandwidth=5.5).fit(time, y).predict(time)
    assert_allclose(ours, pd.Series(y).rolling(11, center=True, min_periods=1).median())


def test_median_ignores_a_wild_target():
    time, y = np.arange(30.0)[:, None], np.ones(30)
    y[15] = 1e6
    assert_allclose(RunningMedian(bandwidth=3.0).fit(time, y).predict(time), 1.0)


def test_median_is_no_weighted_mean(data):
    X, y = data
    smoother = RunningMedian(bandwidth=1.0).fit(X, y)
    assert not hasattr(smoother, "weights")


def test_medians_in_groups_equal_medians_at_once():
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 50, size=9000).astype(float)
    starts = np.arange(9000) - rng.integers(0, 2)
    starts = np.maximum(starts - 30, 0)
    stops = np.minimum(np.arange(9000) + 31, 9000)
    middle = (np.arange(100) - 1) // 2
    medians = window_limits(targets, starts, stops, np.full(9000, -1), middle).mean(axis=0)
    expected = pd.Series(targets).rolling(61, center=True, min_periods=1).median()
    inner = slice(40, -40)
    straight = [np.median(targets[a:b]) for a, b in zip(starts, stops, strict=True)]
    assert_array_equal(medians, straight)
    assert np.abs(medians[inner] - expected[inner]).max() <= 50


def test_windows_between_the_points_are_empty():
    smoother = RunningMedian(bandwidth=0.1, empty="nan").fit([[0.0], [1.0]], [1.0, 2.0])
    assert_array_equal(np.isnan(smoother.predict([[0.0], [0.4], [1.05]])), [False, True, False])
    smoother = RunningMedian(bandwidth=0.1).fit([[0.0], [1.0]], [1.0, 2.0])
    assert_allclose(smoother.predict([[0.4], [0.6]]), [1.0, 2.0])


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_loop_equals_its_python_source():
    rng = np.random.default_rng(0)
    ranks, ordered = rng.permutation(40), np.sort(rng.normal(size=40))
    starts, stops = np.arange(0, 36), np.arange(4, 40)
    skipped = np.arange(1, 37)
    arguments = (ranks, ordered, starts, stops, skipped, np.array([-1, -1, -1, 0, 1]))
    answers = []
    for run in (running_limits, running_limits.py_func):
        answers.append(np.empty((2, len(arguments[2]))))
        run(*arguments, np.zeros(len(arguments[0]) + 1, dtype=np.intp), answers[-1])
    assert_array_equal(*answers)


@pytest.mark.parametrize("columns", [1, 2])
def test_band_by_its_definition(data, columns):
    X, y = data
    X = X[:, :columns]
    band = RunningMedian(bandwidth=0.6).fit(X, y).predict_band(X[:20], level=0.9)
    for row in range(20):
        inside = np.sort(y[np.linalg.norm(X - X[row], axis=1) < 0.6])
        assert band.counts[row] == len(inside)
        beyond = [k for k in range(len(inside)) if 2 * binom.cdf(k, len(inside), 0.5) <= 0.1]
        if not beyond:
            assert (band.lower[row], band.upper[row]) == (-np.inf, np.inf)
            assert band.levels[row] == 1.0
            continue
        assert band.lower[row] == inside[beyond[-1]]
        assert band.upper[row] == inside[-1 - beyond[-1]]
        assert band.levels[row] == pytest.approx(1 - 2 * binom.cdf(beyond[-1], len(inside), 0.5))


def test_ranks_are_those_of_tables():
    """Of 20 values the 6th to the 15th enclose the median at 95%, of 10 the 2nd to the 9th."""
    depths = median_depths(100, 0.95)
    assert_array_equal(depths[[5, 6, 8, 9, 10, 20, 100]], [-1, 0, 0, 1, 1, 5, 39])


def test_band_covers_as_often_as_it_says():
    """Cauchy noise has no variance, and the order of the targets does not mind."""
    rng = np.random.default_rng(0)
    X = np.linspace(0.0, 1.0, 15)[:, None]
    hits, joint, levels = [], [], []
    for _ in range(300):
        smoother = RunningMedian(bandwidth=9.0).fit(X, rng.standard_cauchy(15))
        band = smoother.predict_band([[0.5]], level=0.9)
        hits.append(band.lower[0] <= 0.0 <= band.upper[0])
        levels.append(band.levels[0])
        wide = smoother.predict_band([[0.5]] * 3, level=0.9, coverage="rows")
        joint.append(wide.lower[0] <= band.lower[0] and wide.upper[0] >= band.upper[0])
    assert levels[0] >= 0.9
    assert np.mean(hits) == pytest.approx(levels[0], abs=0.05)
    assert all(joint)


def test_band_where_windows_are_empty_or_asked_in_vain():
    smoother = RunningMedian(bandwidth=0.1).fit([[0.0], [1.0]], [1.0, 2.0])
    band = smoother.predict_band([[0.5]])
    assert (band.counts[0], band.lower[0], band.upper[0]) == (0, -np.inf, np.inf)
    with pytest.raises(ValueError, match=r"coverage='curve' is for weighted means"):
        smoother.predict_band([[0.5]], coverage="curve")
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        smoother.predict_band([[0.5]], level=95)
    with pytest.raises(ValueError, match="level must be between 0 and 1, but got 'a'"):
        smoother.predict_band([[0.5]], level="a")
