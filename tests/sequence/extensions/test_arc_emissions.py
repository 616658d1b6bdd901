"""Arc emission: equal to the sum over paths of states, and learned with one shared matrix."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import ArcTransitions, CategoricalEmission, arc_model

MATRIX = np.array([[0.7, 0.3], [0.4, 0.6]])
FIRST = np.array([0.8, 0.2])
TABLE = np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4], [0.2, 0.8]])


@pytest.mark.filterwarnings("ignore:StructuredModel had not converged")
def test_likelihood_is_that_of_the_arcs():
    symbols = [0, 1, 1, 0, 0]
    emission = CategoricalEmission(probabilities=TABLE)
    model = arc_model(FIRST, MATRIX, emission, max_iter=1).fit(symbols)
    total = 0.0
    for path in product(range(2), repeat=len(symbols) + 1):
        joint = FIRST[path[0]]
        for symbol, i, j in zip(symbols, path, path[1:], strict=False):
            joint *= MATRIX[i, j] * TABLE[2 * i + j, symbol]
        total += joint
    assert_allclose(model.objective_curve_[0], np.log(total))


def test_states_that_show_the_same_on_all_arcs_are_plain():
    """Where b depends on the end of the arc alone, this is a plain model one step later."""
    from verulam.sequence import HiddenMarkovModel

    symbols = [0, 1, 1, 0, 0, 1]
    by_state = np.array([[0.9, 0.1], [0.3, 0.7]])
    emission = CategoricalEmission(probabilities=by_state)
    arcs = arc_model(FIRST, MATRIX, emission, shared_emissions=[0, 1, 0, 1])
    plain = HiddenMarkovModel.from_parameters(FIRST @ MATRIX, MATRIX, emission)
    assert_allclose(arcs.fit(symbols).objective_curve_[0], plain.score(symbols))


def test_the_matrix_is_shared_by_all_arcs():
    part = ArcTransitions(MATRIX)
    moves = part.start(4, np.random.default_rng(0))
    sums = np.random.default_rng(0).random(len(moves.weights))
    whole = np.zeros((4, 4))
    whole[moves.sources, moves.targets] = sums
    counts = whole.sum(axis=0).reshape(2, 2)
    assert_allclose(part.updated_tables(moves, sums)[0], counts / counts.sum(axis=1, keepdims=True))


@pytest.mark.filterwarnings("ignore:StructuredModel had not converged")
def test_log_likelihood_never_falls():
    symbols = np.random.default_rng(1).integers(2, size=60)
    emission = CategoricalEmission(probabilities=TABLE)
    model = arc_model(FIRST, MATRIX, emission, max_iter=30).fit(symbols)
    assert np.diff(model.objective_curve_).min() > -1e-9


def test_bad_input():
    with pytest.raises(DataError, match=r"row 0 of matrix of ArcTransitions sums to 1\.1"):
        arc_model(FIRST, [[0.5, 0.6], [0.5, 0.5]], CategoricalEmission())
    with pytest.raises(DataError, match="one number per arc: 4"):
        arc_model(FIRST, MATRIX, CategoricalEmission(), shared_emissions=[0, 1])
