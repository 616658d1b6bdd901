"""Cutting the line: far boundaries, ends of supports, integers, heavy tails."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.decision import KnownDensities, Partition
from verulam.decision._class_density import as_class_density
from verulam.decision._line import bulk_points, cut_line, line_masses


def densities(*distributions):
    return [as_class_density(each) for each in distributions]


def test_boundary_far_beyond_the_bulk_is_found():
    # Nearly equal variances: the second root of the quadratic lies 200 deviations away.
    found = KnownDensities(None, [stats.norm(0, 1), stats.norm(2, 1.01)]).regions()
    a, b = 1 - 1 / 1.01**2, 4 / 1.01**2
    roots = np.sort(np.roots([a / 2, b / 2, -2 / 1.01**2 - np.log(1.01)]))
    assert_allclose(found.boundaries, roots, rtol=1e-9)
    assert found.labels.tolist() == [1, 0, 1]


def test_ends_of_supports_are_exact_and_gaps_have_no_decision():
    found = KnownDensities(None, [stats.uniform(0, 1), stats.uniform(2, 1)]).regions()
    assert found.boundaries.tolist() == [0, 1, 2, 3]
    assert found.labels.tolist() == [None, 0, None, 1, None]


def test_heavy_tails_have_no_boundaries_made_of_rounding():
    found = KnownDensities(None, [stats.cauchy(0, 1), stats.cauchy(2, 1)]).regions()
    assert_allclose(found.boundaries, [1.0])


def test_integers_are_cut_halfway():
    pair = densities(stats.poisson(3), stats.poisson(7))
    found = cut_line(lambda x: np.where(x >= 5, "many", "few"), pair)
    assert found.boundaries.tolist() == [4.5]
    assert_allclose(np.diff(bulk_points(pair)), 1)


@pytest.mark.parametrize("boundary", [4.5, 4.2, 5.0])
def test_masses_of_integers_follow_the_piece_above(boundary):
    pair = densities(stats.poisson(3), stats.poisson(7))
    masses = line_masses(Partition([boundary], ["a", "b"]), np.array([0, 1]), pair)
    assert_allclose(masses[0], [stats.poisson(3).cdf(4), stats.poisson(7).cdf(4)])
    assert_allclose(masses.sum(axis=0), 1)
