"""NaiveDensity: counts in a cube whose full side is the width."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.nonparametric import NaiveDensity, NearestNeighbourDensity

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_counts_by_the_definition(n_columns):
    X, queries = RNG.normal(size=(2, 200, n_columns))
    learner = NaiveDensity(bandwidth=1.2).fit(X)
    inside = (np.abs(queries[:, None] - X) <= 0.6).all(axis=2).sum(axis=1)
    assert_array_equal(learner.counts(queries), inside)
    with np.errstate(divide="ignore"):
        expected = np.log(inside / (200 * 1.2**n_columns))
    assert_allclose(learner.score_samples(queries), expected)


def test_the_boundary_is_inside():
    for n_columns in (1, 2):
        learner = NaiveDensity(bandwidth=1.0).fit(np.zeros((1, n_columns)))
        assert learner.counts(np.full((1, n_columns), 0.5))[0] == 1
        assert learner.counts(np.full((1, n_columns), 0.5001))[0] == 0


def test_integral_is_one():
    learner = NaiveDensity(bandwidth=0.7).fit(RNG.normal(size=(50, 1)))
    grid = np.linspace(-6, 6, 120_001)
    total = np.trapezoid(np.exp(learner.score_samples(grid[:, None])), grid)
    assert total == pytest.approx(1.0, abs=1e-3)
    assert np.abs(learner.sample(500, random_state=0)).max() < 6


def test_neighbour_density_is_naive_with_twice_the_reach():
    X = RNG.normal(size=(50, 1))
    neighbours = NearestNeighbourDensity(n_neighbors=7).fit(X)
    reach = neighbours.reaches([[0.3]])[0]
    naive = NaiveDensity(bandwidth=2 * reach * (1 + 1e-12)).fit(X)
    assert naive.counts([[0.3]])[0] == 7
    assert_allclose(naive.score_samples([[0.3]]), neighbours.score_samples([[0.3]]))


@pytest.mark.parametrize("bandwidth", [0.0, -1.0])
def test_bad_bandwidths(bandwidth):
    with pytest.raises(ValueError, match="'bandwidth' parameter"):
        NaiveDensity(bandwidth=bandwidth).fit(np.zeros((3, 1)))


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    for n_columns in (1, 2):
        X, counts = rng.normal(size=(40, n_columns)), rng.integers(0, 4, size=40)
        weighted = NaiveDensity(bandwidth=1.5).fit(X, sample_weight=counts)
        repeated = NaiveDensity(bandwidth=1.5).fit(np.repeat(X, counts, axis=0))
        assert_allclose(weighted.score_samples(X), repeated.score_samples(X))
    with pytest.raises(ValueError, match="all weights are zero"):
        NaiveDensity().fit(X, sample_weight=np.zeros(40))


def test_cumulative_and_quantile_are_the_integral_and_its_inverse():
    density = NaiveDensity(bandwidth=1.0).fit(np.random.default_rng(0).normal(size=(60, 1)))
    grid = np.linspace(-5, 5, 20_001)
    heights = np.exp(density.score_samples(grid[:, None]))
    sums = np.cumsum(heights) * (grid[1] - grid[0])
    assert_allclose(density.cumulative(grid), sums, atol=2e-3)
    shares = np.array([0.1, 0.5, 0.9])
    assert_allclose(density.cumulative(density.quantile(shares)), shares, atol=1e-9)
    with pytest.raises(ValueError, match="cumulative needs one column; X had 2"):
        NaiveDensity().fit(np.ones((3, 2))).cumulative([0.0])
