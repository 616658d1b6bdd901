"""HistogramDensity: NumPy's histogram, integrals of one, empty cells."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import kstest

from verulam.nonparametric import HistogramDensity

RNG = np.random.default_rng(0)
LINE = RNG.normal(size=(300, 1))


def density(learner, X):
    return np.exp(learner.score_samples(X))


def test_heights_are_numpys():
    heights, edges = np.histogram(LINE, bins=np.arange(-4.75, 5.0, 0.5), density=True)
    learner = HistogramDensity(bin_width=0.5, origin=0.25).fit(LINE)
    assert_allclose(density(learner, 0.5 * (edges[1:] + edges[:-1])[:, None]), heights)


@pytest.mark.parametrize("interpolate", [False, True])
def test_integral_is_one_and_samples_follow(interpolate):
    learner = HistogramDensity(interpolate=interpolate).fit(LINE)
    grid = np.linspace(-9.0, 9.0, 90_001)
    heights = density(learner, grid[:, None])
    assert np.trapezoid(heights, grid) == pytest.approx(1.0, abs=1e-3)
    drawn = learner.sample(2000, random_state=0)[:, 0]
    cumulative = np.cumsum(heights) * (grid[1] - grid[0])
    assert kstest(drawn, lambda x: np.interp(x, grid, cumulative)).pvalue > 0.01


def test_interpolation_joins_the_centres_of_cells():
    steps = HistogramDensity(bin_width=1.0).fit(LINE)
    lines = HistogramDensity(bin_width=1.0, interpolate=True).fit(LINE)
    centres = np.array([[-0.5], [0.5]])
    assert_allclose(density(lines, centres), density(steps, centres))
    assert density(lines, [[0.0]])[0] == pytest.approx(density(steps, centres).mean())


def test_cells_in_the_plane():
    X = np.array([[0.1, 0.1], [0.9, 0.9], [1.5, 0.5], [0.5, 7.5]])
    learner = HistogramDensity(bin_width=1.0).fit(X)
    assert_allclose(density(learner, [[0.5, 0.5], [1.1, 0.1], [3.0, 3.0]]), [0.5, 0.25, 0.0])
    both = HistogramDensity(bin_width=1.0, interpolate=True).fit(X)
    assert density(both, [[1.0, 0.5]])[0] == pytest.approx(0.5 * (0.5 + 0.25))
    assert len(learner.cells_) == 3


def test_empty_cells_and_queries_outside_have_no_density():
    learner = HistogramDensity(bin_width=0.1).fit([[0.0], [5.0]])
    assert learner.score_samples([[2.0]])[0] == -np.inf
    assert learner.score_samples([[1e9]])[0] == -np.inf


def test_bad_input():
    with pytest.raises(ValueError, match="'bin_width' parameter"):
        HistogramDensity(bin_width=-1.0).fit(LINE)
    with pytest.raises(ValueError, match="X has 17 columns and 16 is the most"):
        HistogramDensity(interpolate=True).fit(np.zeros((5, 17)))
    with pytest.raises(ValueError, match="all weights are zero"):
        HistogramDensity().fit(LINE, sample_weight=np.zeros(300))


@pytest.mark.parametrize("interpolate", [False, True])
def test_cumulative_and_quantile_are_the_integral_and_its_inverse(interpolate):
    X = np.random.default_rng(0).normal(size=(60, 1))
    density = HistogramDensity(bin_width=0.7, origin=0.2, interpolate=interpolate).fit(X)
    grid = np.linspace(-5, 5, 20_001)
    heights = np.exp(density.score_samples(grid[:, None]))
    sums = np.cumsum(heights) * (grid[1] - grid[0])
    assert_allclose(density.cumulative(grid), sums, atol=2e-3)
    shares = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    assert_allclose(density.cumulative(density.quantile(shares)), shares, atol=1e-9)
    with pytest.raises(ValueError, match="shares must lie between 0 and 1"):
        density.quantile([np.nan])
