"""The range of normal variables against SciPy's integral and what is known of two variables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics._datasets.studentised_range import range_quantile, range_tail


@pytest.mark.parametrize("count", [2, 3, 10, 50])
def test_tails_are_those_of_scipy(count):
    q = np.array([0.0, 0.5, 2.0, 4.0, 6.0])
    assert_allclose(range_tail(q, count), stats.studentized_range.sf(q, count, np.inf), atol=1e-12)


def test_the_range_of_two_is_a_difference_of_normals():
    """However far in the tail: (X - Y) / sqrt 2 is standard normal."""
    q = np.array([1.0, 8.0, 14.0])
    assert_allclose(range_tail(q, 2), 2 * stats.norm.sf(q / np.sqrt(2)), rtol=1e-12)


@pytest.mark.parametrize(("alpha", "count", "known"), [(0.05, 3, 3.314), (0.01, 10, 5.157)])
def test_quantiles_are_those_of_printed_tables(alpha, count, known):
    assert range_quantile(alpha, count) == pytest.approx(known, abs=1e-3)
    assert range_tail(range_quantile(alpha, count), count) == pytest.approx(alpha, rel=1e-10)
