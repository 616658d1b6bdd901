"""Logistic transitions: gradients by finite differences, every answer by every path of states."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, check_grad
from scipy.stats import norm

from verulam.base import DataError
from verulam.sequence import (
    GaussianEmission,
    HiddenMarkovModel,
    LogisticTransitions,
    read_sequences,
)
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


INITIAL, MEANS = np.array([0.5, 0.2, 0.3]), np.array([0.0, 1.0, 3.0])
GAUSSIAN = GaussianEmission(means=MEANS[:, None], covariances=np.ones((3, 1)), fixed=("means",))
WEIGHTS = np.random.default_rng(1).normal(size=(3, 3, 3))
VALUES = [np.array([0.2, 1.1, 2.5, 0.4]), np.array([3.0, 0.5, 1.4])]
INPUTS = [RANDOM.normal(size=(4, 2)), RANDOM.normal(size=(3, 2))]
CONVENTIONS = pytest.mark.parametrize("inputs_at", ["source", "target"])


def model_of(inputs_at):
    part = LogisticTransitions(weights=WEIGHTS, inputs_at=inputs_at)
    return HiddenMarkovModel.from_parameters(INITIAL, part, GAUSSIAN)


def chance_of_path(path, inputs, inputs_at, weights=WEIGHTS):
    """Return P(Q), with P(q_t+1 | q_t, x_t) as the text has it, or with x_t+1 in its place."""
    chance = INITIAL[path[0]]
    for t in range(len(path) - 1):
        known = inputs[t] if inputs_at == "source" else inputs[t + 1]
        scores = np.exp(weights[path[t], 0] + known @ weights[path[t], 1:])
        chance *= scores[path[t + 1]] / scores.sum()
    return chance


def all_paths(values, inputs, inputs_at):
    """Return each path with P(Q) and P(O, Q), the inputs as long as the path."""
    for path in product(range(3), repeat=len(inputs)):
        chance = chance_of_path(path, inputs, inputs_at)
        seen = path[: len(values)]
        yield np.array(path), chance, chance * norm.pdf(values, MEANS[list(seen)]).prod()


def shares_of_states(values, inputs, inputs_at):
    shares = np.zeros((len(inputs), 3))
    for path, _, joint in all_paths(values, inputs, inputs_at):
        shares[np.arange(len(path)), path] += joint
    return shares / shares[0].sum()


@CONVENTIONS
def test_likelihoods_and_posteriors_count_every_path(inputs_at):
    model = model_of(inputs_at)
    smoothed = model.smooth(VALUES, inputs=INPUTS)
    starts = [0, 4, 7]
    for s, (values, inputs) in enumerate(zip(VALUES, INPUTS, strict=True)):
        paths = list(all_paths(values, inputs, inputs_at))
        total = sum(joint for _, _, joint in paths)
        assert_allclose(model.score(values, inputs=inputs), np.log(total))
        assert_allclose(
            model.predict_proba(values, inputs=inputs), shares_of_states(values, inputs, inputs_at)
        )
        for t in range(1, len(values)):
            pairs = np.zeros((3, 3))
            for path, _, joint in paths:
                pairs[path[t - 1], path[t]] += joint / total
            assert_allclose(smoothed.transition_sums[starts[s] + t], pairs, atol=1e-12)
    together = model.score_sequences(VALUES, inputs=INPUTS)
    alone = [model.score(*pair[:1], inputs=pair[1]) for pair in zip(VALUES, INPUTS, strict=True)]
    assert_allclose(together, alone)


@CONVENTIONS
def test_paths_are_those_of_enumeration(inputs_at):
    model, values, inputs = model_of(inputs_at), VALUES[0], INPUTS[0]
    paths = list(all_paths(values, inputs, inputs_at))
    best = max(paths, key=lambda entry: entry[2])
    assert_array_equal(model.predict(values, inputs=inputs), best[0])
    assert_allclose(model.best_path(values, inputs=inputs).log_probabilities, np.log(best[2]))
    for path, chance, joint in paths[::7]:
        probabilities = model.path_probabilities(values, path, inputs=inputs)
        assert_allclose(probabilities.path, np.log(chance))
        assert_allclose(probabilities.joint, np.log(joint))


@CONVENTIONS
def test_filters_know_the_steps_so_far(inputs_at):
    model, online = model_of(inputs_at), model_of(inputs_at).online()
    values, inputs = VALUES[0], INPUTS[0]
    filtered = model.filter(values, inputs=inputs)
    for t in range(len(values)):
        expected = shares_of_states(values[: t + 1], inputs[: t + 1], inputs_at)[-1]
        assert_allclose(filtered[t], expected)
        assert_allclose(online.update(values[t], inputs[t]), expected)
    assert_allclose(online.log_likelihood, model.score(values, inputs=inputs))


@CONVENTIONS
def test_forecasts_move_by_the_inputs_of_their_convention(inputs_at):
    model, values, inputs = model_of(inputs_at), VALUES[1], INPUTS[1]
    ahead = np.array([[2.0, -1.0], [-2.0, 0.5]])
    forecast = model.forecast(values, 2, inputs=inputs, inputs_ahead=ahead)
    expected = shares_of_states(values, np.vstack([inputs, ahead]), inputs_at)[-2:]
    assert_allclose(forecast.states, expected)
    assert_allclose(forecast.expected[:, 0], expected @ MEANS)
    with pytest.raises(DataError, match="inputs_ahead has 1 columns, but inputs has 2"):
        model.forecast(values, 2, inputs=inputs, inputs_ahead=ahead[:, :1])


def test_one_step_needs_no_inputs_ahead_where_its_source_is_known():
    values, inputs = VALUES[0], INPUTS[0]
    longer = np.vstack([inputs, [[9.0, 9.0]]])
    forecast = model_of("source").forecast(values, inputs=inputs)
    assert_allclose(forecast.states, shares_of_states(values, longer, "source")[-1:])
    with pytest.raises(DataError, match="forecast needs inputs_ahead"):
        model_of("source").forecast(values, 2, inputs=inputs)
    with pytest.raises(DataError, match="forecast needs inputs_ahead"):
        model_of("target").forecast(values, inputs=inputs)


@CONVENTIONS
def test_drawn_states_have_the_chances_of_their_paths(inputs_at):
    model, inputs = model_of(inputs_at), 2.0 * INPUTS[1]
    drawn = np.array(model.sample(3, 4000, inputs=inputs, random_state=0).states)
    posterior = np.array(
        [model.sample_states(VALUES[1], inputs=inputs, random_state=s) for s in range(2000)]
    )
    paths = list(all_paths(VALUES[1], inputs, inputs_at))
    total = sum(joint for _, _, joint in paths)
    for path, chance, joint in paths:
        assert_allclose((drawn == path).all(axis=1).mean(), chance, atol=0.03)
        assert_allclose((posterior == path).all(axis=1).mean(), joint / total, atol=0.04)


@pytest.mark.filterwarnings("ignore:HiddenMarkovModel had not converged")
@CONVENTIONS
def test_a_pass_fits_the_expected_log_chance_of_the_paths(inputs_at):
    model = model_of(inputs_at)
    learner = HiddenMarkovModel(3, max_iter=1).fit_from(model.model_, VALUES, inputs=INPUTS)

    def objective(flat):
        weights, total = flat.reshape(WEIGHTS.shape), -0.5e-3 * (flat**2).sum()
        for values, inputs in zip(VALUES, INPUTS, strict=True):
            paths = list(all_paths(values, inputs, inputs_at))
            whole = sum(joint for _, _, joint in paths)
            for path, _, joint in paths:
                chance = chance_of_path(path, inputs, inputs_at, weights)
                total += joint / whole * np.log(chance)
        return total

    before, after = WEIGHTS.ravel(), learner.transitions_.weights.ravel()
    assert objective(after) > objective(before)
    slopes = approx_fprime(after, objective), approx_fprime(before, objective)
    assert np.abs(slopes[0]).max() < 2e-3 < 0.05 * np.abs(slopes[1]).max()


@CONVENTIONS
def test_the_convention_of_the_data_is_the_more_likely_one(inputs_at):
    x = np.random.default_rng(2).choice([-1.0, 1.0], size=(400, 1))
    weights = np.zeros((2, 2, 2))
    weights[:, 1, 1] = 4.0
    part = LogisticTransitions(weights=weights, inputs_at=inputs_at)
    emission = GaussianEmission(means=[[0.0], [2.0]], covariances=np.ones((2, 1)))
    truth = HiddenMarkovModel.from_parameters([0.5, 0.5], part, emission)
    y = truth.sample(400, inputs=x, random_state=0).observations[0]
    scores = {
        name: HiddenMarkovModel(
            2, transitions=LogisticTransitions(inputs_at=name), tol=1e-4, random_state=0
        )
        .fit(y, inputs=x)
        .score(y, inputs=x)
        for name in ("source", "target")
    }
    assert max(scores, key=scores.get) == inputs_at
    assert np.ptp(list(scores.values())) > 20.0


def test_matrices_follow_the_inputs():
    weights = np.zeros((2, 2, 2))
    weights[:, 1, 1] = 2.0
    sequences = read_sequences(np.zeros(3), inputs=[-1.0, 0.0, 1.0])
    source, target = (
        LogisticTransitions(inputs_at=name).prepared(LogisticWeights(weights), sequences).matrices
        for name in ("source", "target")
    )
    assert_allclose(source.sum(axis=2), 1.0)
    assert_allclose(target[:, 0, 1], 1 / (1 + np.exp([2.0, 0.0, -2.0])))
    assert_allclose(source[1:], target[:-1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs_at": "before"}, r"inputs_at .* is 'before'; expected 'source' .* or 'target'"),
        ({"weights": np.zeros((3, 2))}, r"weights of LogisticTransitions has shape \(3, 2\)"),
        ({"weights": np.zeros((2, 2, 2))}, r"expected \(3, number of inputs \+ 1, 3\)"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(DataError, match=message):
        HiddenMarkovModel.from_parameters(INITIAL, LogisticTransitions(**options), GAUSSIAN)


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
