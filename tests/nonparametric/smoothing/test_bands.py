"""Simultaneous bands: factors by theory, and coverage by simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import f as fisher
from scipy.stats import t as student

from verulam.base import DataError, UnknownNameError
from verulam.nonparametric import (
    Band,
    KernelSmoother,
    LocalPolynomial,
    Loess,
    Regressogram,
    RunningMean,
    SmoothingSpline,
)
from verulam.nonparametric._smoothing.bands import joint_factor, path_length, tube_factor

X = np.sort(np.random.default_rng(0).uniform(0, 6, 100))[:, None]
Y = np.sin(X[:, 0]) + 0.3 * np.random.default_rng(1).normal(size=100)


def largest_errors(smoother, degrees, grid, n_draws=2000):
    """Return draws of the largest standardised error along a grid, in plain NumPy."""
    rng = np.random.default_rng(2)
    weights = smoother.weights(grid)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    noise = rng.normal(size=(100, n_draws))
    return np.abs(weights @ noise).max(axis=0) / np.sqrt(rng.chisquare(degrees, n_draws) / degrees)


@pytest.mark.parametrize(
    "smoother",
    [
        KernelSmoother(bandwidth=0.3),
        LocalPolynomial(bandwidth=0.5),
        Loess(span=0.3, n_iter=0),
        SmoothingSpline(alpha=0.02),
    ],
)
def test_tube_covers_whole_curves_as_promised(smoother):
    smoother.fit(X, Y)
    band = smoother.predict_band(X, coverage="curve")
    grid = np.linspace(X.min(), X.max(), 600)[:, None]
    largest = largest_errors(smoother, band.degrees_of_freedom, grid)
    assert np.mean(largest < band.factor) == pytest.approx(0.95, abs=0.015)
    assert np.mean(largest < smoother.predict_band(X).factor) < 0.7


@pytest.mark.parametrize("smoother", [RunningMean(bandwidth=0.5), Regressogram(bandwidth=0.7)])
def test_windows_with_edges_are_on_the_safe_side(smoother):
    smoother.fit(X, Y)
    band = smoother.predict_band(X, coverage="curve")
    grid = np.linspace(X.min(), X.max(), 600)[:, None]
    assert np.mean(largest_errors(smoother, band.degrees_of_freedom, grid) < band.factor) > 0.95


def test_rows_are_covered_together():
    rng = np.random.default_rng(0)
    inputs = rng.uniform(size=(100, 2))
    smoother = LocalPolynomial(bandwidth=0.4).fit(inputs, rng.normal(size=100))
    band = smoother.predict_band(inputs, coverage="rows")
    largest = largest_errors(smoother, band.degrees_of_freedom, inputs)
    assert np.mean(largest < band.factor) == pytest.approx(0.95, abs=0.015)
    assert_allclose(band.upper - band.values, band.factor * band.standard_errors)
    again = smoother.predict_band(inputs, coverage="rows", random_state=0)
    assert again.factor == band.factor


def test_one_row_is_pointwise():
    smoother = KernelSmoother(bandwidth=0.3).fit(X, Y)
    pointwise = smoother.predict_band([[3.0]])
    joint = smoother.predict_band([[3.0]], coverage="rows")
    assert joint.factor == pytest.approx(pointwise.factor, abs=0.06)
    assert tube_factor(0.0, 0.95, 30.0) == pytest.approx(student.ppf(0.975, 30.0))


def test_straight_lines_have_the_band_of_scheffe():
    """A line from minus to plus infinity turns by half a circle, less the ends of the tube."""
    line = LocalPolynomial(bandwidth=1e6, degree=1).fit(X, Y)
    length = path_length(line.weights, -1e4, 1e4)
    assert length == pytest.approx(np.pi, abs=0.01)
    exact = np.sqrt(2 * fisher.ppf(0.95, 2, 98))
    without_ends = np.sqrt(98 * (0.05 ** (-2 / 98) - 1))
    assert without_ends == pytest.approx(exact)
    assert exact < tube_factor(length, 0.95, 98.0) < 1.1 * exact


def test_blocks_do_not_change_the_answer(monkeypatch):
    smoother = KernelSmoother(bandwidth=0.4).fit(X, Y)
    length = path_length(smoother.weights, 0.0, 6.0)
    monkeypatch.setattr("verulam.nonparametric._smoothing.bands.BLOCK_NUMBERS", 100 * 37)
    assert path_length(smoother.weights, 0.0, 6.0) == pytest.approx(length)
    factor = joint_factor(smoother.weights, X, 0.95, 80.0, 0)
    assert factor == pytest.approx(joint_factor(smoother.weights, X, 0.95, 80.0, 1), abs=0.08)


def test_refusals():
    two = np.column_stack([X, X**2])
    smoother = KernelSmoother(bandwidth=1.0).fit(two, Y)
    with pytest.raises(DataError, match="coverage='curve' needs one input; X has 2 columns"):
        smoother.predict_band(two, coverage="curve")
    with pytest.raises(UnknownNameError, match="Unknown coverage 'all'"):
        smoother.predict_band(two, coverage="all")
    assert path_length(smoother.weights, 1.0, 1.0) == 0.0


def test_limits_lie_a_factor_of_errors_around_the_values():
    band = Band.around(np.array([1.0, 2.0]), np.array([0.5, 0.1]), 1.5, 9.0, 2.0, "rows")
    assert_allclose(band.lower, [0.0, 1.8])
    assert_allclose(band.upper, [2.0, 2.2])
    assert (band.noise, band.degrees_of_freedom, band.coverage) == (1.5, 9.0, "rows")
    smooth = KernelSmoother(bandwidth=0.4).fit(X, Y).predict_band(X)
    assert isinstance(smooth, Band)
    assert_allclose(smooth.upper - smooth.values, smooth.factor * smooth.standard_errors)
