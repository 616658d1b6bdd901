"""Transitions with tables behind them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, DataWarning
from verulam.sequence import (
    ChainTransitions,
    GaussianEmission,
    HiddenMarkovModel,
    semi_markov_model,
)
from verulam.sequence._chains.structured_transitions import StructuredTransitions, shares


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


def test_unused_ages_are_no_news_but_unused_regimes_are():
    beats = np.tile([0.0, 0.0, 5.0], 20) + 0.1 * np.sin(np.arange(60.0))
    used = GaussianEmission(means=[[0.0], [5.0]], covariances=[[1.0], [1.0]])
    assert semi_markov_model(2, 5, used).fit(beats).converged_
    far = GaussianEmission(means=[[0.0], [5.0], [900.0]], covariances=np.ones((3, 1)))
    with pytest.warns(DataWarning, match=r"no data, counted from 0: \[2\]"):
        semi_markov_model(3, 5, far).fit(beats)
