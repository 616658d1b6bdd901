"""Forward and backward variables against their definitions, by counting every path."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import (
    CategoricalEmission,
    ForwardBackward,
    GaussianEmission,
    HiddenMarkovModel,
    LogisticTransitions,
    Transitions,
    VaryingTransitions,
    forward_backward,
    left_to_right,
)

N_STEPS, N_STATES = 5, 3
RANDOM = np.random.default_rng(0)
INITIAL = RANDOM.dirichlet(np.ones(N_STATES))
MATRICES = RANDOM.dirichlet(np.ones(N_STATES), (N_STEPS, N_STATES))
SHOWN = RANDOM.random((N_STEPS, N_STATES))
LEFT_TO_RIGHT = left_to_right(N_STATES) * MATRICES[0]
LEFT_TO_RIGHT /= LEFT_TO_RIGHT.sum(axis=1, keepdims=True)
CASES = {
    "dense": (Transitions.from_matrix(MATRICES[0]), np.repeat(MATRICES[:1], N_STEPS, axis=0)),
    "edges": (
        Transitions.from_matrix(LEFT_TO_RIGHT, form="edges"),
        np.repeat(LEFT_TO_RIGHT[None], N_STEPS, axis=0),
    ),
    "varying": (VaryingTransitions(MATRICES), MATRICES),
}
SYMBOLS = HiddenMarkovModel.from_parameters(
    [0.6, 0.4],
    [[0.7, 0.3], [0.2, 0.8]],
    CategoricalEmission(probabilities=[[0.9, 0.1], [0.3, 0.7]]),
)


def chances_of_runs(matrices, first, last, entry=None):
    """Return the runs of states over some steps, and the chance of each with what it shows.

    Without `entry` a run begins with the initial probabilities; with it, it goes on from there.
    """
    for run in product(range(N_STATES), repeat=last - first):
        chance, before = 1.0, entry
        for t, state in zip(range(first, last), run, strict=True):
            move = INITIAL[state] if before is None else matrices[t][before, state]
            chance *= move * SHOWN[t, state]
            before = state
        yield run, chance


@pytest.mark.parametrize("name", CASES)
def test_variables_are_what_they_are_defined_as(name):
    transitions, matrices = CASES[name]
    both = forward_backward(np.log(SHOWN), INITIAL, transitions, pairs=True)
    whole = list(chances_of_runs(matrices, 0, N_STEPS))
    total = sum(chance for _, chance in whole)
    for t, state in product(range(N_STEPS), range(N_STATES)):
        so_far = chances_of_runs(matrices, 0, t + 1)
        alpha = sum(chance for run, chance in so_far if run[-1] == state)
        beta = sum(chance for _, chance in chances_of_runs(matrices, t + 1, N_STEPS, state))
        assert_allclose(both.alpha[t, state], alpha)
        assert_allclose(both.beta[t, state], beta)
        here = sum(chance for run, chance in whole if run[t] == state)
        assert_allclose(both.gamma[t, state], here / total)
    assert both.xi.shape == (N_STEPS - 1, N_STATES, N_STATES)
    for t, i, j in np.ndindex(both.xi.shape):
        pairs = sum(chance for run, chance in whole if run[t : t + 2] == (i, j))
        assert_allclose(both.xi[t, i, j], pairs / total, atol=1e-15)


@pytest.mark.parametrize("name", CASES)
def test_identities(name):
    transitions, matrices = CASES[name]
    both = forward_backward(np.log(SHOWN), INITIAL, transitions)
    likelihood = sum(chance for _, chance in chances_of_runs(matrices, 0, N_STEPS))
    assert_allclose(both.alpha[-1].sum(), likelihood)
    assert_allclose((both.alpha * both.beta).sum(axis=1), np.full(N_STEPS, likelihood))
    assert_allclose(both.log_likelihood, np.log(likelihood))
    assert_allclose(-np.log(both.scales).sum(), np.log(likelihood))
    assert both.xi is None


@pytest.mark.parametrize("name", CASES)
def test_scaled_variables_follow_the_recursion_of_the_text(name):
    transitions, matrices = CASES[name]
    both = forward_backward(np.log(SHOWN), INITIAL, transitions)
    alpha = INITIAL * SHOWN[0]
    for t in range(N_STEPS):
        if t:
            alpha = (both.scaled_alpha[t - 1] @ matrices[t]) * SHOWN[t]
        assert_allclose(both.scales[t], 1 / alpha.sum())
        assert_allclose(both.scaled_alpha[t], both.scales[t] * alpha)
    beta = np.ones(N_STATES)
    for t in reversed(range(N_STEPS)):
        if t < N_STEPS - 1:
            beta = matrices[t + 1] @ (SHOWN[t + 1] * both.scaled_beta[t + 1])
        assert_allclose(both.scaled_beta[t], both.scales[t] * beta)


def test_a_model_answers_for_each_of_its_sequences():
    X = [[0, 1, 1, 0], [1, 0]]
    records = SYMBOLS.forward_backward(X, pairs=True)
    smoothed = SYMBOLS.smooth(X)
    assert all(isinstance(record, ForwardBackward) for record in records)
    assert_allclose([record.log_likelihood for record in records], SYMBOLS.score_sequences(X))
    assert_allclose(np.vstack([record.gamma for record in records]), smoothed.probabilities)
    assert_allclose(
        sum(record.xi.sum(axis=0) for record in records).ravel(), smoothed.transition_sums
    )
    assert_allclose(records[0].scaled_alpha, SYMBOLS.filter(X[0]))
    by_lengths = SYMBOLS.forward_backward([0, 1, 1, 0, 1, 0], lengths=[4, 2])
    assert_allclose(by_lengths[1].log_beta, records[1].log_beta)
    assert_allclose(SYMBOLS.forward_backward(X[1]).log_alpha, records[1].log_alpha)


@pytest.mark.parametrize("inputs_at", ["source", "target"])
def test_inputs_move_the_variables(inputs_at):
    random = np.random.default_rng(1)
    part = LogisticTransitions(weights=random.normal(size=(2, 2, 2)), inputs_at=inputs_at)
    emission = GaussianEmission(means=[[0.0], [1.0]], covariances=np.ones((2, 1)))
    model = HiddenMarkovModel.from_parameters([0.5, 0.5], part, emission)
    X, inputs = [random.normal(size=4), random.normal(size=3)], [random.normal(size=4), [1, 0, 2]]
    records = model.forward_backward(X, inputs=inputs)
    expected = model.smooth(X, inputs=inputs).probabilities
    assert_allclose(np.vstack([record.gamma for record in records]), expected)


def test_long_sequences_do_not_underflow():
    X = np.tile([0, 1, 1], 20_000)
    both = SYMBOLS.forward_backward(X)
    assert_allclose(both.log_likelihood, SYMBOLS.score(X))
    assert_allclose(both.scaled_alpha, SYMBOLS.filter(X), atol=1e-9)
    assert_allclose(both.gamma, SYMBOLS.predict_proba(X), atol=1e-9)
    assert np.isfinite(both.scaled_beta).all()
    products = both.log_alpha + both.log_beta
    assert_allclose(np.logaddexp(*products.T), both.log_likelihood)


def test_what_cannot_be_is_refused():
    moves = Transitions.from_matrix(np.eye(2))
    with pytest.raises(DataError, match=r"logarithms has shape \(1, 3\); expected .* 2 columns"):
        forward_backward(np.zeros((1, 3)), [0.5, 0.5], moves)
    with pytest.raises(DataError, match="initial"):
        forward_backward(np.zeros((1, 2)), [0.5, 0.2], moves)
    with pytest.raises(DataError, match="impossible from step 1"):
        forward_backward([[0.0, -np.inf], [-np.inf, 0.0]], [0.5, 0.5], moves)
    with pytest.raises(DataError, match="transitions has 5 matrices, but logarithms has 4 steps"):
        forward_backward(np.log(SHOWN[1:]), INITIAL, VaryingTransitions(MATRICES))
    certain = CategoricalEmission(probabilities=[[1.0, 0.0], [0.0, 1.0]])
    model = HiddenMarkovModel.from_parameters([1.0, 0.0], np.eye(2), certain)
    with pytest.raises(DataError, match="impossible under the model from step 1"):
        model.forward_backward([0, 1])
