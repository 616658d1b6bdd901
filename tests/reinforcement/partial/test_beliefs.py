"""Beliefs: Bayes' rule by hand, the forward filter of a chain, worlds and their windows."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.reinforcement import (
    BeliefValues,
    GridWorld,
    PartialEnvironment,
    PartiallyObservableProcess,
    QLearning,
    belief_action_values,
    classic_tiger,
    fully_observed,
    solve_exactly,
    tiger,
    train,
    try_policy,
    value_iteration,
)
from verulam.sequence import CategoricalEmission, HiddenMarkovModel


def random_process(seed=0, n_states=4, n_actions=2, n_seen=3, discount=0.9):
    random = np.random.default_rng(seed)
    return PartiallyObservableProcess(
        random.dirichlet(np.ones(n_states), size=(n_actions, n_states)),
        random.dirichlet(np.ones(n_seen), size=(n_actions, n_states)),
        random.normal(size=(n_states, n_actions)),
        discount,
    )


def test_hearing_the_tiger_is_bayes_rule_by_hand():
    for p in (0.1, 0.5, 0.8):
        updated = tiger().update([p, 1 - p], "sense", "hear left")
        assert updated[0] == pytest.approx(0.7 * p / (0.7 * p + 0.3 * (1 - p)))
    restless = tiger(stay=0.2).update([0.6, 0.4], "sense", "hear right")
    moved = 0.2 * 0.6 + 0.8 * 0.4
    assert restless[0] == pytest.approx(0.3 * moved / (0.3 * moved + 0.7 * (1 - moved)))


def test_beliefs_are_the_forward_filter_of_a_hidden_chain():
    process = random_process(n_actions=1)
    observations = np.random.default_rng(1).integers(3, size=20)
    beliefs = process.filter([0] * 20, observations.tolist())
    # Messages of the chain, in plain NumPy.
    message = process.start
    for place, seen in enumerate(observations):
        message = (message @ process.transitions[0]) * process.observation_shares[0, :, seen]
        message = message / message.sum()
        np.testing.assert_allclose(beliefs[place], message)


def test_beliefs_are_what_sequence_filters():
    process = random_process(n_actions=1)
    observations = np.random.default_rng(1).integers(3, size=20)
    model = HiddenMarkovModel.from_parameters(
        # The chain's first state is already one step on.
        process.start @ process.transitions[0],
        process.transitions[0],
        CategoricalEmission(probabilities=process.observation_shares[0]),
    )
    filtered = model.filter(observations)
    np.testing.assert_allclose(process.filter([0] * 20, observations.tolist()), filtered, atol=1e-9)


def test_probabilities_of_what_will_be_seen():
    process = random_process()
    belief = np.array([0.1, 0.2, 0.3, 0.4])
    shares = process.observation_probabilities(belief, 1)
    expected = belief @ process.transitions[1] @ process.observation_shares[1]
    np.testing.assert_allclose(shares, expected)
    mean = sum(share * process.update(belief, 1, seen) for seen, share in enumerate(shares))
    np.testing.assert_allclose(mean, belief @ process.transitions[1])


def test_full_observation_is_the_process_itself():
    world = GridWorld("S.G", goal_reward=10.0, slip=0.2, discount=0.5)
    process = fully_observed(world.process)
    values = solve_exactly(process, 12)[-1]
    best = value_iteration(world.process, tol=1e-12).values
    np.testing.assert_allclose(values.values(np.eye(3)), best, atol=0.01)
    for state in range(3):
        belief = process.update([1 / 3] * 3, 0, state)
        np.testing.assert_allclose(belief, np.eye(3)[state])
    underlying = tiger(discount=0.9).underlying()
    assert underlying.states[-1] == "end"
    np.testing.assert_allclose(value_iteration(underlying).values, [90.0, 80.0, 0.0])


def test_weights_of_four_and_six_tenths():
    """Alpaydin 18.7.1: .4 times the value in one state plus .6 times that in the other."""
    table = np.array([[10.0, 0.0, 1.0], [-5.0, 3.0, 1.0]])
    values = belief_action_values(tiger(), [0.4, 0.6], state_action_values=table)
    assert isinstance(values, BeliefValues)
    np.testing.assert_allclose(values.weighted, [0.4 * 10 - 0.6 * 5, 0.6 * 3, 1.0])
    np.testing.assert_allclose(values.most_likely, [-5.0, 3.0, 1.0])
    assert np.isnan(values.planned).all()


def test_values_that_seeing_would_give_bound_the_exact_ones():
    process = classic_tiger()
    exact = solve_exactly(process)[-1]
    for p in np.linspace(0, 1, 11):
        values = belief_action_values(process, [p, 1 - p], later=exact)
        assert values.weighted.max() >= exact.value([p, 1 - p])
        # Equation 18.24 holds for the best values.
        assert values.planned.max() == pytest.approx(exact.value([p, 1 - p]), abs=1e-4)


def test_worlds_follow_the_tables():
    world = PartialEnvironment(tiger(), random_state=0)
    heard = []
    for _ in range(3000):
        world.reset()
        hidden = world.hidden_state
        _, reward, over, _, info = world.step(2)
        assert (reward, over) == (-1.0, False)
        heard.append(info["observation"] == hidden)
        assert world.step(hidden)[1:3] == (-100.0, True)
    assert np.mean(heard) == pytest.approx(0.7, abs=0.03)


def test_windows_are_numbered_without_gaps_or_doubles():
    world = PartialEnvironment(classic_tiger(), window=2, random_state=0)
    assert world.n_states == 1 + 6 + 36
    seen = {}
    world.reset()
    for _ in range(2000):
        state = world.step(int(world.chance.next() * 3))[0]
        name = tuple(world.history[-2:])
        assert seen.setdefault(state, name) == name
        assert 0 < state < world.n_states
    assert len(set(seen.values())) == len(seen) > 30


def test_longer_windows_come_closer_to_the_best_value():
    """A table over windows learns to listen; more memory listens better."""
    process = tiger(rewards=[[-100.0, 10.0], [10.0, -100.0]], accuracy=0.85)
    returns = []
    for window in (1, 3):
        agent = QLearning(learning_rate=0.05, random_state=0, discount=1.0, initial_value=5.0)
        train(agent, PartialEnvironment(process, window=window, random_state=1), steps=12_000)
        tried = try_policy(
            agent, PartialEnvironment(process, window=window, random_state=2), episodes=500,
            max_steps=50,
        )  # fmt: skip
        returns.append(tried.returns.mean())
    best = solve_exactly(process, 12)[-1].value([0.5, 0.5])
    assert returns[0] < returns[1] < best + 1.0
    assert returns[1] > best - 3.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tiger(accuracy=1.2), "accuracy is 1.2"),
        (lambda: tiger(rewards=[1.0]), "rewards has shape"),
        (lambda: tiger().update([0.5, 0.6], "sense", "hear left"), "belief must hold prob"),
        (lambda: tiger().update([0.5, 0.5], "wait", "hear left"), "action is 'wait'; expected one"),
        (lambda: tiger().update([0.5, 0.5], "sense", "smell"), "observation is 'smell'"),
        (lambda: tiger(accuracy=1.0).update([1, 0], "sense", "hear right"), "has probability 0"),
        (lambda: tiger().filter([0], []), "1 actions, but 0 observations"),
        (lambda: PartialEnvironment(tiger(), window=0), "window is 0"),
        (lambda: PartialEnvironment(tiger()).step(0), "reset the environment"),
        (
            lambda: PartiallyObservableProcess([[[0.5, 0.4], [0, 1]]], [[[1], [1]]], [[0], [0]]),
            "transitions: the probabilities of state 0 with action 0 sum to 0.9",
        ),
        (
            lambda: PartiallyObservableProcess([[[1.0]]], [[[0.5, 0.6]]], [[0]]),
            "observation_shares: the probabilities of state 0 with action 0",
        ),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
