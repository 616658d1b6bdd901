"""Neighbourhoods: terms of local polynomials, and one point more."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.nonparametric import WINDOWS
from verulam.nonparametric._smoothing.neighbourhoods import (
    Neighbourhood,
    count_terms,
    polynomial_terms,
)


@pytest.mark.parametrize(("n_columns", "degree"), [(1, 0), (1, 3), (2, 2), (3, 2), (4, 1)])
def test_terms_are_counted(n_columns, degree):
    offsets = np.ones((2, n_columns))
    made = 0 if degree == 0 else polynomial_terms(offsets, degree).shape[1]
    assert count_terms(n_columns, degree) == made + 1


def test_terms_of_a_batch_are_those_of_its_rows():
    offsets = np.random.default_rng(0).normal(size=(3, 4, 2))
    batch = polynomial_terms(offsets, 2)
    assert_array_equal(batch[1], polynomial_terms(offsets[1], 2))
    assert_array_equal(batch[..., 2], offsets[..., 0] ** 2)


def test_room_for_a_point_to_leave_out():
    assert Neighbourhood(WINDOWS["tophat"], n_neighbors=4).with_one_more().n_neighbors == 5
    fixed = Neighbourhood(WINDOWS["tophat"], bandwidth=1.0)
    assert fixed.with_one_more() is fixed
