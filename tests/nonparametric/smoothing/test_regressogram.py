"""Regressogram: hand sums, SciPy's binned statistics, lines in bins, empty bins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binned_statistic

from verulam.base import DataError
from verulam.nonparametric import Regressogram
from verulam.nonparametric._smoothing.regressogram import BinEngine, nearest_bins


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 6, size=(90, 2))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.normal(size=90)


def test_bins_by_hand():
    """A bin includes its lower edge, and the origin may lie anywhere."""
    bins = Regressogram(bandwidth=2.0, origin=0.0).fit([[0.5], [1.5], [2.0]], [1.0, 2.0, 7.0])
    assert_allclose(bins.predict([[0.0], [1.99], [2.0], [3.9]]), [1.5, 1.5, 7.0, 7.0])
    moved = Regressogram(bandwidth=2.0, origin=-99.0).fit([[0.5], [1.5], [2.0]], [1.0, 2.0, 7.0])
    assert_allclose(moved.predict([[0.5], [1.0]]), [1.0, 4.5])


def test_against_binned_means(data):
    X, y = data
    x = X[:, 0]
    bins = Regressogram(bandwidth=0.5, origin=0.0).fit(X[:, :1], y)
    means = binned_statistic(x, y, bins=np.arange(0, 6.5, 0.5)).statistic
    centres = np.arange(0.25, 6.0, 0.5)
    full = np.isfinite(means)
    assert_allclose(bins.predict(centres[full, None]), means[full])
    assert bins.training_smooth().effective_degrees == pytest.approx(full.sum())


def test_lines_in_bins_are_least_squares(data):
    X, y = data
    x = X[:, 0]
    bins = Regressogram(bandwidth=1.5, origin=0.0, degree=1).fit(X[:, :1], y)
    members = (x >= 1.5) & (x < 3.0)
    line = np.polyfit(x[members], y[members], 1)
    assert_allclose(bins.predict([[1.6], [2.9]]), np.polyval(line, [1.6, 2.9]))


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("columns", [1, 2])
def test_leaving_out_equals_fitting_again(data, degree, columns):
    X, y = data
    X = X[:, :columns]
    smoother = Regressogram(bandwidth=2.0, origin=0.0, degree=degree).fit(X, y)
    smooth, matrix = smoother.training_smooth(), smoother.weights(X)
    assert_allclose(smooth.fitted, matrix @ y)
    assert_allclose(smooth.leverage, np.diag(matrix))
    for row in (0, 30, 77):
        again = Regressogram(bandwidth=2.0, origin=0.0, degree=degree)
        again.fit(np.delete(X, row, axis=0), np.delete(y, row))
        assert_allclose(smooth.leave_one_out[row], again.predict(X[[row]])[0])


def test_empty_bins():
    X, y = [[0.5], [0.6], [5.5]], [1.0, 3.0, 9.0]
    filled = Regressogram(bandwidth=1.0, origin=0.0).fit(X, y)
    assert_allclose(filled.predict([[1.5], [4.5], [-80.0], [80.0]]), [2.0, 9.0, 2.0, 9.0])
    silent = Regressogram(bandwidth=1.0, origin=0.0, empty="nan").fit(X, y)
    assert np.isnan(silent.predict([[1.5]])).all()


def test_lonely_points_are_left_to_the_nearest_bin():
    engine = BinEngine(
        np.array([[0.5], [1.5], [1.7]]), np.array([1.0, 4.0, 6.0]), 1.0, np.zeros(1), 1
    )
    assert_allclose(engine.training().leave_one_out, [5.0, 6.0, 4.0])


def test_nearest_bins():
    bins = np.array([[0.0], [3.0], [9.0]])
    assert nearest_bins(np.array([[1.0], [7.0]]), bins).tolist() == [0, 2]
    assert nearest_bins(bins, bins, skip_own=True).tolist() == [1, 0, 1]


def test_bins_of_several_inputs(data):
    X, y = data
    bins = Regressogram(bandwidth=[2.0, 3.0], origin=[0.0, 0.0]).fit(X, y)
    members = (X[:, 0] < 2.0) & (X[:, 1] >= 3.0)
    assert_allclose(bins.predict([[1.0, 4.0]]), y[members].mean())


def test_finer_bins_follow_the_data(data):
    X, y = data
    errors = [
        Regressogram(bandwidth=width).fit(X[:, :1], y).training_smooth().training_error
        for width in (6.1, 1.5, 0.01)
    ]
    assert errors[0] == pytest.approx(y.var())
    assert errors[0] > errors[1] > errors[2]
    fitted = Regressogram().fit(X[:, :1], y)
    assert 0.1 < fitted.bandwidth_ < 3.0


def test_bad_origin(data):
    X, y = data
    with pytest.raises(DataError, match=r"origin is .*one for each of the 2 columns"):
        Regressogram(origin=[0.0, 1.0, 2.0]).fit(X, y)
