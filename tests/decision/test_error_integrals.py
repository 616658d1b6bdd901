"""Error integrals: regions of one input, masses of integers, closed forms over two inputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.decision import ClassDensity, KnownDensities, Partition
from verulam.decision._class_density import as_class_density
from verulam.decision._error_integrals import bulk_points, cut_line, line_masses


def densities(*distributions):
    return [as_class_density(distribution) for distribution in distributions]


def test_boundary_far_beyond_the_bulk_is_found():
    # Nearly equal variances: the second root of the quadratic lies 200 deviations away.
    regions = KnownDensities(None, [stats.norm(0, 1), stats.norm(2, 1.01)]).regions()
    a, b = 1 - 1 / 1.01**2, 4 / 1.01**2
    roots = np.sort(np.roots([a / 2, b / 2, -2 / 1.01**2 - np.log(1.01)]))
    assert_allclose(regions.boundaries, roots, rtol=1e-9)
    assert regions.labels.tolist() == [1, 0, 1]


def test_ends_of_supports_are_exact_and_gaps_have_no_decision():
    regions = KnownDensities(None, [stats.uniform(0, 1), stats.uniform(2, 1)]).regions()
    assert regions.boundaries.tolist() == [0, 1, 2, 3]
    assert regions.labels.tolist() == [None, 0, None, 1, None]


def test_heavy_tails_have_no_boundaries_made_of_rounding():
    regions = KnownDensities(None, [stats.cauchy(0, 1), stats.cauchy(2, 1)]).regions()
    assert_allclose(regions.boundaries, [1.0])


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_boundaries_keep_their_place_in_any_unit(unit):
    """The search for the second boundary goes as far as the spread of the classes says."""
    model = KnownDensities(None, [stats.norm(0, unit), stats.norm(2 * unit, 1.01 * unit)])
    usual = KnownDensities(None, [stats.norm(0, 1), stats.norm(2, 1.01)]).regions()
    assert_allclose(model.regions().boundaries, unit * usual.boundaries, rtol=1e-9)
    tails = KnownDensities(None, [stats.cauchy(0, unit), stats.cauchy(2 * unit, unit)]).regions()
    assert_allclose(tails.boundaries, [unit])


def test_integers_are_cut_halfway():
    pair = densities(stats.poisson(3), stats.poisson(7))
    regions = cut_line(lambda x: np.where(x >= 5, "many", "few"), pair)
    assert regions.boundaries.tolist() == [4.5]
    assert_allclose(np.diff(bulk_points(pair)), 1)


@pytest.mark.parametrize("boundary", [4.5, 4.2, 5.0])
def test_masses_of_integers_follow_the_piece_above(boundary):
    pair = densities(stats.poisson(3), stats.poisson(7))
    masses = line_masses(Partition([boundary], ["a", "b"]), np.array([0, 1]), pair)
    assert_allclose(masses[0], [stats.poisson(3).cdf(4), stats.poisson(7).cdf(4)])
    assert_allclose(masses.sum(axis=0), 1)


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
    outcome = model.outcome_of(lambda x: ((x[..., 0] > 1) & (x[..., 1] > 0.5)).astype(int))
    first = stats.norm.sf(1) * stats.norm.sf(0.5)
    second = stats.norm.sf(-1) * stats.norm.sf(-0.5)
    assert_allclose(outcome.error, 0.3 * first + 0.7 * (1 - second), atol=1e-5)


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
