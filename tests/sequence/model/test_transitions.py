"""Transitions: forms of storage, topologies, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.sequence import Transitions, cyclic, left_to_right
from verulam.sequence._model.transitions import check_distribution
from verulam.sequence._recursions.inference_loops import DENSE, DIAGONALS, EDGES


def test_left_to_right_has_the_printed_zeros():
    mask = left_to_right(4, jump=2)
    assert not np.tril(mask, -1).any()
    assert not mask[0, 3]
    assert mask.sum() == 9


def test_cyclic_returns_to_the_first_state():
    mask = cyclic(5)
    assert mask[4, 0]
    assert mask.sum() == 10


def test_matrix_goes_there_and_back():
    matrix = np.array([[0.2, 0.8, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]])
    assert_array_equal(Transitions.from_matrix(matrix).matrix, matrix)


def test_the_quickest_form_is_chosen():
    random = np.random.default_rng(0)
    scattered = random.random((60, 60)) < 0.05
    assert Transitions.from_matrix(np.ones((20, 20))).kind == DENSE
    assert Transitions.from_matrix(np.ones((20, 20)), left_to_right(20)).kind == DIAGONALS
    assert Transitions.from_matrix(np.ones((60, 60)), scattered).kind == EDGES


def test_rows_without_counts_keep_their_weights():
    moves = Transitions.from_matrix([[0.5, 0.5], [0.1, 0.9]])
    assert_allclose(moves.normalised(np.array([1.0, 3.0, 0.0, 0.0])), [0.25, 0.75, 0.1, 0.9])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.5, 0.5]], "shape"),
        ([[0.5, 0.6], [0.5, 0.5]], "row 0 of transitions sums to 1.1"),
        ([[1.5, -0.5], [0.5, 0.5]], "no probabilities"),
    ],
)
def test_rows_must_be_distributions(values, message):
    with pytest.raises(DataError, match=message):
        check_distribution(values, "transitions", (2, 2))
