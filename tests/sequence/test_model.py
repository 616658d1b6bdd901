"""The model as a value: shared emissions, groups of sequences, states taken."""

import numpy as np
from numpy.testing import assert_allclose

from verulam.sequence import GaussianEmission, HiddenMarkovModel
from verulam.sequence import _model as module
from verulam.sequence._model import by_emission, expected_sums, updated

X = [np.random.default_rng(seed).normal(size=20) for seed in range(8)]
LEARNER = HiddenMarkovModel.from_parameters(
    [0.6, 0.4],
    [[0.7, 0.3], [0.2, 0.8]],
    GaussianEmission(means=[[0.0], [1.0]], covariances=[[1.0], [2.0]]),
)


def test_groups_do_not_matter(monkeypatch):
    sequences = LEARNER._read(X, None)
    whole = expected_sums(LEARNER.model_, sequences)
    monkeypatch.setattr(module, "GROUP_STEPS", 50)
    parts = expected_sums(LEARNER.model_, sequences)
    assert_allclose(parts.log_likelihood, whole.log_likelihood)
    assert_allclose(parts.visits, whole.visits)
    assert_allclose(whole.visits.sum(), 160)
    assert_allclose(whole.firsts.sum(), 8)
    assert_allclose(whole.transitions.sums.sum(), 152)
    assert_allclose(updated(parts).transitions.matrix, updated(whole).transitions.matrix)


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
