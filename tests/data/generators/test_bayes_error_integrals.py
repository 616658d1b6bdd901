"""The mass under the larger of several normal densities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from verulam.data._generators.bayes_error_integrals import envelope_mass, quadrature_nodes


@pytest.mark.parametrize("seed", range(5))
def test_matches_integration(seed):
    random = np.random.default_rng(seed)
    heights = random.uniform(0.1, 1, size=(3, 4))
    means = random.normal(scale=2, size=(3, 4))
    deviations = random.uniform(0.3, 2, size=4)
    grid = np.linspace(-40, 40, 400_001)[:, None]
    expected = [
        np.trapezoid((height * norm.pdf(grid, mean, deviations)).max(axis=1), grid[:, 0])
        for height, mean in zip(heights, means, strict=True)
    ]
    assert_allclose(envelope_mass(heights, means, deviations), expected, atol=1e-7)


def test_one_inside_of_the_other():
    # The wide one is the larger on both sides of the narrow one.
    mass = envelope_mass(np.array([[1.0, 1.0]]), np.array([[0.0, 0.0]]), np.array([1.0, 3.0]))
    cut = np.sqrt(2 * np.log(3) / (1 - 1 / 9))
    expected = 1 - 2 * norm.sf(cut) + 2 * norm.sf(cut / 3)
    assert_allclose(mass, expected, rtol=1e-12)


def test_densities_that_never_cross():
    mass = envelope_mass(np.array([[0.1, 1.0]]), np.array([[0.0, 0.0]]), np.array([1.0, 1.0]))
    assert_allclose(mass, 1.0)


def test_nodes_integrate_polynomials_and_normals():
    nodes, weights = quadrature_nodes(np.array([0.0, 3.0]), np.array([1.0, 0.5]))
    assert_allclose(weights @ norm.pdf(nodes, 3.0, 0.5), 1.0, rtol=1e-12)
