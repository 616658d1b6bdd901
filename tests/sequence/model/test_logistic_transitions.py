"""Logistic transitions: gradients by finite differences, one matrix per step."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad

from verulam.base import DataError
from verulam.sequence import HiddenMarkovModel, LogisticTransitions, read_sequences
from verulam.sequence._model.logistic_transitions import LogisticWeights, logistic_loss

RANDOM = np.random.default_rng(0)


def test_gradient():
    rows = np.hstack([np.ones((15, 1)), RANDOM.normal(size=(15, 2))])
    shares = RANDOM.dirichlet(np.ones(3), 15)
    error = check_grad(
        lambda flat: logistic_loss(flat, rows, shares, 0.3)[0],
        lambda flat: logistic_loss(flat, rows, shares, 0.3)[1],
        RANDOM.normal(size=9),
    )
    assert error < 1e-5


def test_matrices_follow_the_inputs():
    weights = np.zeros((2, 2, 2))
    weights[:, 1, 1] = 2.0
    sequences = read_sequences(np.zeros(3), inputs=[-1.0, 0.0, 1.0])
    matrices = LogisticTransitions().prepared(LogisticWeights(weights), sequences).matrices
    assert_allclose(matrices.sum(axis=2), 1.0)
    assert_allclose(matrices[:, 0, 1], 1 / (1 + np.exp([2.0, 0.0, -2.0])))


def test_parameters_are_counted_and_taken():
    part = LogisticTransitions()
    weights = LogisticWeights(RANDOM.normal(size=(3, 2, 3)))
    assert part.n_parameters(weights) == 12
    assert part.take(weights, np.array([0, 2])).weights.shape == (2, 2, 2)
    assert part.log_prior(weights) < 0


@pytest.mark.parametrize("penalty", [-1.0, np.inf, np.nan])
def test_impossible_penalties_are_refused(penalty):
    with pytest.raises(DataError, match="penalty must be a number of at least 0"):
        LogisticTransitions(penalty=penalty)


def test_other_inputs_are_refused():
    x = np.repeat([-1.0, 1.0], 20)
    model = HiddenMarkovModel(2, transitions=LogisticTransitions(), random_state=0)
    model.fit(x + np.tile([0.1, -0.1], 20), inputs=x)
    with pytest.raises(DataError, match="inputs has 2 columns, but the model has learned from 1"):
        model.predict(x, inputs=np.column_stack([x, x]))
