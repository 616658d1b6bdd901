"""The model as a value: shared emissions, states taken."""

import numpy as np
from numpy.testing import assert_allclose

from verulam.sequence import GaussianEmission, HiddenMarkovModel
from verulam.sequence._model.parameters import by_emission

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
