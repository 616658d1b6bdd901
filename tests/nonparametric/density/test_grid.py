"""Densities on a grid by convolution: the direct sum, statsmodels, one million points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.nonparametric import GridDensity, KernelDensity, density_on_grid
from verulam.nonparametric._density.grid import linear_counts

VALUES = np.random.default_rng(0).gamma(2.0, size=3000)


@pytest.mark.parametrize("window", ["gaussian", "epanechnikov", "tricube"])
def test_agrees_with_the_direct_sum(window):
    grid = density_on_grid(VALUES, 0.3, kernel=window, n_points=200)
    direct = KernelDensity(kernel=window, bandwidth=0.3).fit(VALUES[:, None])
    expected = np.exp(direct.score_samples(grid.points[:, None]))
    assert_allclose(grid.density, expected, atol=3e-4 * expected.max())


@pytest.mark.parametrize("window", ["gaussian", "epanechnikov", "tophat", "exponential"])
@pytest.mark.parametrize("adaptive", [0.0, 0.5])
@pytest.mark.parametrize("bounds", [None, (0.0, None), (None, 12.0), (0.0, 12.0)])
def test_grids_of_bounded_and_adaptive_densities(window, adaptive, bounds):
    if window in {"tophat", "exponential"} and adaptive:
        pytest.skip("the same path as for the others")
    values = np.minimum(VALUES[:500], 11.0)[:, None]
    support = None if bounds is None else [bounds]
    model = KernelDensity(kernel=window, bandwidth=1.1, adaptive=adaptive, support=support)
    model.fit(values, sample_weight=np.arange(1, 501))
    grid = model.on_grid(400)
    expected = np.exp(model.score_samples(grid.points[:, None]))
    # A box jumps, and a bin is shared between two points of the grid.
    error = {"tophat": 0.05, "exponential": 2e-3}.get(window, 1e-3)
    assert_allclose(grid.density, expected, atol=error * expected.max())
    if bounds == (0.0, 12.0):
        assert np.trapezoid(grid.density, grid.points) == pytest.approx(1.0, abs=5e-3)
        assert grid.points[0] == 0.0


def test_a_bounded_narrow_strip_has_many_images():
    values = np.random.default_rng(0).uniform(size=(200, 1))
    model = KernelDensity(bandwidth=3.0, support=[(0.0, 1.0)]).fit(values)
    assert_allclose(model.on_grid(50).density, 1.0, rtol=1e-3)
    with pytest.raises(ValueError, match="n_points must be at least 2"):
        model.on_grid(1)
    narrow = KernelDensity(bandwidth=1e-9, support=[(0.0, 1.0)]).fit([[0.0], [0.5], [1.0]])
    heights = narrow.on_grid(3).density * 1e-9 * np.sqrt(2.0 * np.pi)
    # Half of the windows at both bounds is mirrored.
    assert_allclose(heights, np.array([2.0, 1.0, 2.0]) / 3.0)


def test_agrees_with_statsmodels():
    kde = pytest.importorskip("statsmodels.nonparametric.kde").KDEUnivariate(VALUES)
    kde.fit(kernel="gau", fft=True, bw=0.2)
    grid = density_on_grid(VALUES, 0.2)
    ours = np.interp(kde.support, grid.points, grid.density)
    assert_allclose(ours, kde.density, atol=2e-3)


def test_weights_and_default_width():
    weights = np.arange(1.0, 3001.0)
    grid = density_on_grid(VALUES, weights=weights)
    assert np.trapezoid(grid.density, grid.points) == pytest.approx(1.0, abs=2e-3)
    direct = KernelDensity(bandwidth=grid.bandwidth).fit(VALUES[:, None], sample_weight=weights)
    expected = np.exp(direct.score_samples(grid.points[:, None]))
    assert_allclose(grid.density, expected, atol=1e-3 * expected.max())


def test_a_million_values():
    grid = density_on_grid(np.random.default_rng(1).normal(size=10**6))
    normal = np.exp(-0.5 * grid.points**2) / np.sqrt(2 * np.pi)
    assert_allclose(grid.density, normal, atol=0.01)


def test_compiled_binning_equals_its_python_source():
    arguments = (VALUES[:200], np.ones(200), 0.0, 0.25, 80)
    counts = linear_counts(*arguments)
    assert_allclose(counts, linear_counts.py_func(*arguments))
    assert counts.sum() == pytest.approx(200)


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([[1.0]], {}, "one column"),
        ([np.nan, 1.0], {}, "NaN or infinity"),
        ([2.0, 2.0], {}, "all values are the same"),
        ([1.0, 2.0], {"bandwidth": -1.0}, "bandwidth must be above 0"),
        ([1.0, 2.0], {"n_points": 1}, "n_points must be at least 2"),
    ],
)
def test_bad_input(values, options, message):
    with pytest.raises(ValueError, match=message):
        density_on_grid(values, **options)


def test_a_grid_is_evenly_spaced_and_three_bandwidths_wider_than_the_data():
    grid = density_on_grid(VALUES, 0.5, n_points=50)
    assert isinstance(grid, GridDensity)
    assert grid.bandwidth == 0.5
    assert_allclose(np.diff(grid.points), np.ptp(grid.points) / 49)
    assert_allclose(grid.points[[0, -1]], [VALUES.min() - 1.5, VALUES.max() + 1.5])
