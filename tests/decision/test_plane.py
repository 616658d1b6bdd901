"""Integrals over two inputs: closed forms, whatever the direction of the boundary."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.decision import ClassDensity, KnownDensities


@pytest.mark.parametrize("angle", [0.0, 0.6, np.pi / 2, 2.1])
def test_two_round_normals_err_like_two_on_the_line(angle):
    mean = 2 * np.array([np.cos(angle), np.sin(angle)])
    model = KnownDensities(
        None, [stats.multivariate_normal([0, 0]), stats.multivariate_normal(mean)]
    )
    assert_allclose(model.bayes_error(), stats.norm.cdf(-1), atol=1e-5)


def test_any_rule_with_edges_along_the_axes():
    model = KnownDensities(
        [0.3, 0.7], [stats.multivariate_normal([0, 0]), stats.multivariate_normal([2, 1])]
    )
    found = model.outcome_of(lambda x: ((x[..., 0] > 1) & (x[..., 1] > 0.5)).astype(int))
    first = stats.norm.sf(1) * stats.norm.sf(0.5)
    second = stats.norm.sf(-1) * stats.norm.sf(-0.5)
    assert_allclose(found.error, 0.3 * first + 0.7 * (1 - second), atol=1e-5)


def test_quadratic_boundary_agrees_with_simulation():
    model = KnownDensities(
        [0.6, 0.4],
        [
            stats.multivariate_normal([0, 0], [[1, 0.5], [0.5, 2]]),
            stats.multivariate_normal([1, 1], [[9, 0], [0, 1]]),
        ],
    )
    simulated = model.simulated_error(size=200_000, random_state=0)
    assert abs(model.bayes_error() - simulated.value) < 4 * simulated.standard_error
    assert simulated.standard_error < 1e-3


def test_box_of_uniform_density_inside_another():
    outer = ClassDensity(
        lambda x: np.full(len(x), -np.log(16.0)), support=[(0, 4)] * 2, dimensions=2
    )
    inner = ClassDensity(lambda x: np.zeros(len(x)), support=[(1, 2), (2, 3)], dimensions=2)
    # Inside the small box the small class is chosen, and the large one errs by its share.
    assert_allclose(KnownDensities(None, [outer, inner]).bayes_error(), 0.5 / 16, atol=1e-4)


def test_endless_support_is_refused():
    flat = stats.multivariate_t([0, 0])
    with pytest.raises(ValueError, match=r"normal densities or a finite support; use simulated"):
        KnownDensities(None, [flat, flat]).bayes_error()


def test_scales_too_far_apart_are_refused():
    model = KnownDensities(
        None, [stats.multivariate_normal([0, 0], 1e-6), stats.multivariate_normal([0, 0], 1e6)]
    )
    with pytest.raises(ValueError, match="quadrature over two inputs fails; use simulated_error"):
        model.bayes_error()
