"""The model as a value: initial probabilities, transition matrices, shared emissions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.sequence import (
    GaussianEmission,
    HiddenMarkovModel,
    HMMParameters,
    HMMParts,
    InitialProbabilities,
    TransitionMatrix,
    Transitions,
)
from verulam.sequence._model.parameters import TransitionSums, by_emission

X = [np.random.default_rng(seed).normal(size=20) for seed in range(8)]
LEARNER = HiddenMarkovModel.from_parameters(
    [0.6, 0.4],
    [[0.7, 0.3], [0.2, 0.8]],
    GaussianEmission(means=[[0.0], [1.0]], covariances=[[1.0], [2.0]]),
)


def test_shares_of_emissions():
    assert_allclose(by_emission(np.array([[0.2, 0.3, 0.5]]), np.array([0, 1, 0])), [[0.7, 0.3]])


def test_taken_states_keep_their_parameters():
    swapped = LEARNER.model_.take(np.array([1, 0]))
    assert_allclose(swapped.initial, [0.4, 0.6])
    assert_allclose(swapped.transitions.matrix, [[0.8, 0.2], [0.3, 0.7]])
    sequences = LEARNER._read(X, None)
    assert_allclose(
        swapped.smooth(sequences).log_likelihoods, LEARNER.model_.smooth(sequences).log_likelihoods
    )


def test_a_state_that_cannot_be_first_stays_so():
    part = InitialProbabilities(prior=1.0)
    assert_allclose(part.update(np.array([1.0, 0.0]), np.array([3.0, 2.0])), [1.0, 0.0])


def test_starts_favour_staying_among_all_transitions():
    matrix = TransitionMatrix().start(4, np.random.default_rng(0)).matrix
    assert_allclose(matrix.sum(axis=1), 1.0)
    assert (np.diag(matrix) == matrix.max(axis=1)).all()


def test_priors_are_pseudo_counts():
    part = TransitionMatrix(prior=[[1.0, 0.0], [0.0, 2.0]], stay_prior=0.5)
    old = Transitions.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    new = part.update(old, TransitionSums(np.array([1.0, 1.0, 1.0, 1.0])))
    assert_allclose(new.matrix, [[2.5 / 3.5, 1 / 3.5], [1 / 4.5, 3.5 / 4.5]])
    assert_allclose(part.log_prior(new), 1.5 * np.log(2.5 / 3.5) + 2.5 * np.log(3.5 / 4.5))
    assert part.n_parameters(new) == 2


def test_taking_states_keeps_rows_distributions():
    part = TransitionMatrix("cyclic")
    moves = part.start(4, np.random.default_rng(0))
    taken = part.take(moves, np.array([0, 1, 3]))
    assert_allclose(taken.matrix.sum(axis=1), 1.0)
    assert_array_equal(taken.matrix[1], [0, 1, 0])


def test_a_mask_of_ones_own_keeps_its_zeros():
    mask = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    series = np.random.default_rng(0).normal(size=60) + np.tile(np.repeat([0.0, 3.0, 6.0], 4), 5)
    model = HiddenMarkovModel(3, transitions=TransitionMatrix(mask), max_iter=300, random_state=0)
    model.fit(series)
    assert_allclose(InitialProbabilities().start(3, TransitionMatrix(mask)), np.full(3, 1 / 3))
    assert (model.transitions_[~mask] == 0).all()
    assert_allclose(model.transitions_.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jump": -1}, "jump of TransitionMatrix must be a whole number of at least 0"),
        ({"jump": 1.5}, "jump of TransitionMatrix must be a whole number"),
        ({"prior": -1.0}, "prior of TransitionMatrix must be at least zero"),
        ({"stay_prior": np.nan}, "stay_prior of TransitionMatrix must be a number"),
    ],
)
def test_amounts_are_checked(options, message):
    with pytest.raises(DataError, match=message):
        TransitionMatrix(**options)
    with pytest.raises(DataError, match="prior of InitialProbabilities"):
        InitialProbabilities(prior=-1.0)


def test_parts_and_parameters_make_a_model():
    emission = GaussianEmission(means=[[0.0], [1.0]], covariances=[[1.0], [2.0]])
    parts = HMMParts(InitialProbabilities(), TransitionMatrix(), emission)
    moves = Transitions.from_matrix([[0.7, 0.3], [0.2, 0.8]])
    states = emission.with_start_values(emission.ready(2, 1))
    model = HMMParameters(parts, np.array([0.6, 0.4]), moves, states)
    sequences = LEARNER._read(X, None)
    assert_allclose(model.smooth(sequences).log_likelihoods, LEARNER.score_sequences(X))
    # One first state, a transition out of each state, two means and two variances.
    assert (model.n_states, model.n_parameters) == (2, 1 + 2 + 4)
