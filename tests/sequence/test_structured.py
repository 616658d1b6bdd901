"""Transitions with tables behind them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import ChainTransitions, HiddenMarkovModel
from verulam.sequence._structured import StructuredTransitions, shares


def test_tables_are_kept_beside_the_matrix():
    matrix = np.array([[0.5, 0.5], [0.0, 1.0]])
    moves = StructuredTransitions.from_tables(matrix, (matrix[0], matrix[1]))
    assert_allclose(moves.matrix, matrix)
    assert len(moves.weights) == 3
    assert_allclose(moves.tables[0], [0.5, 0.5])


def test_rows_without_counts_keep_what_they_were():
    old = np.array([[0.2, 0.8], [0.3, 0.7]])
    assert_allclose(shares(np.array([[1.0, 3.0], [0.0, 0.0]]), old), [[0.25, 0.75], [0.3, 0.7]])


def test_a_structure_says_how_many_states_it_has():
    with pytest.raises(DataError, match="n_states is 3, but ChainTransitions has 4 states"):
        HiddenMarkovModel(3, transitions=ChainTransitions((2, 2))).fit(np.arange(9.0))
    part = ChainTransitions((2, 2))
    with pytest.raises(DataError, match="cannot be removed"):
        part.take(part.start(4, np.random.default_rng(0)), np.arange(2))
