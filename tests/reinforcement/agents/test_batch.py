"""Batches and models: fitted values by any regressor, counts, plans and imagined steps."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from verulam.base import DataError
from verulam.numerics import inverse
from verulam.reinforcement import (
    Dyna,
    EpsilonGreedy,
    FittedQ,
    GridWorld,
    ModelLearner,
    OneHot,
    QLearning,
    Spaces,
    Transition,
    evaluate_policy,
    record_transitions,
    train,
    try_policy,
    value_iteration,
)

WORLD = GridWorld("S.G\n..P", goal_reward=10.0, pit_reward=-10.0, slip=0.3, discount=0.8)
ACTIVE = ~WORLD.process.terminal


@pytest.fixture(scope="module")
def log():
    return record_transitions(None, WORLD.process, steps=4000, random_state=0)


@pytest.fixture(scope="module")
def counted(log):
    return ModelLearner().start(Spaces.of(WORLD.process)).learn_from(log).plan()


def test_counts_come_to_the_truth(counted):
    process = counted.process()
    rows = np.repeat(ACTIVE, 4)
    truth = WORLD.process.transitions.toarray()[rows]
    np.testing.assert_allclose(process.transitions.toarray()[rows], truth, atol=0.12)
    np.testing.assert_allclose(process.rewards[ACTIVE], WORLD.process.rewards[ACTIVE], atol=1.5)
    # Certainty equivalence: the plan is that of the counted process.
    np.testing.assert_allclose(counted.values(), value_iteration(process).values, atol=1e-4)
    best = value_iteration(WORLD.process)
    # What the plan of the counts is worth in truth.
    worth = evaluate_policy(WORLD.process, counted.policy())
    np.testing.assert_allclose(worth[ACTIVE], best.values[ACTIVE], atol=0.3)


@pytest.mark.parametrize(
    "regressor", [None, LinearRegression(fit_intercept=False), DecisionTreeRegressor()]
)
def test_fitted_values_with_a_table_are_those_of_the_counted_process(log, counted, regressor):
    agent = FittedQ(regressor, n_fits=80).start(Spaces.of(WORLD.process)).learn_from(log)
    best = value_iteration(counted.process()).action_values
    np.testing.assert_allclose(agent.values()[ACTIVE], best[ACTIVE], atol=1e-3)
    assert agent.changes_[-1] < 1e-3 < agent.changes_[0]


def test_fitted_sarsa_and_states_learn_the_policy_that_acted(log, counted):
    process = counted.process()
    uniform = evaluate_policy(process, np.full((6, 4), 0.25))
    states = FittedQ(target="td", n_fits=80).start(Spaces.of(WORLD.process)).learn_from(log)
    np.testing.assert_allclose(states.values()[ACTIVE, 0], uniform[ACTIVE], atol=0.3)
    pairs = FittedQ(target="sarsa", n_fits=80).start(Spaces.of(WORLD.process)).learn_from(log)
    np.testing.assert_allclose(pairs.values()[ACTIVE].mean(axis=1), uniform[ACTIVE], atol=0.5)


def test_fitted_values_learn_while_acting():
    agent = FittedQ(
        KNeighborsRegressor(1), coding=OneHot(6), n_fits=15, epsilon=0.3, refit_every=40,
        random_state=0,
    )  # fmt: skip
    train(agent, WORLD.process, episodes=120, random_state=0)
    tried = try_policy(agent, WORLD.process, episodes=300, max_steps=100, random_state=1)
    chance = try_policy(np.full((6, 4), 0.25), WORLD.process, episodes=300, random_state=1)
    assert tried.returns.mean() > chance.returns.mean() + 5


def test_fits_that_diverge_say_so():
    log = [Transition(np.array([1.0]), 0, 1.0, np.array([2.0]))] * 5
    agent = FittedQ(LinearRegression(fit_intercept=False), discount=0.99, n_fits=200)
    agent.start(Spaces(None, 1, state_size=1))
    with pytest.raises(DataError, match="fitting diverged"):
        agent.learn_from(log)


def test_pairs_never_tried_stay_or_tempt():
    spaces = Spaces(2, 2, discount=0.5)
    agent = ModelLearner().start(spaces)
    agent.learn(Transition(0, 0, 1.0, 1, True))
    assert agent.values().tolist() == [1.0, 0.0]
    tempted = ModelLearner(optimistic_value=8.0).start(spaces)
    tempted.learn(Transition(0, 0, 1.0, 1, True))
    assert tempted.values()[0] == pytest.approx(8.0)
    assert tempted.policy()[0] == 1
    shy = ModelLearner(prior=1.0).start(spaces)
    shy.learn(Transition(0, 0, 1.0, 1, True))
    assert shy.process().transitions.toarray()[0].tolist() == [0.5, 0.5]


def test_imagined_steps_need_fewer_real_ones():
    world = GridWorld("S....\n.###.\n....G", goal_reward=1.0, discount=0.95)
    steps = {}
    for name, agent in {
        "real": QLearning(learning_rate=0.5, random_state=0),
        "imagined": Dyna(n_planning=30, learning_rate=0.5, random_state=0),
    }.items():
        steps[name] = train(agent, world.process, episodes=15, random_state=0).n_steps
    assert steps["imagined"] < 0.8 * steps["real"]


def test_imagined_steps_come_to_the_best_values_in_a_world_of_chance():
    agent = Dyna(
        n_planning=5, n_outcomes=64, learning_rate=inverse(1.0, 0.7),
        exploration=EpsilonGreedy(0.5), random_state=0,
    )  # fmt: skip
    train(agent, WORLD.process, episodes=2000, random_state=0)
    best = value_iteration(WORLD.process)
    assert np.abs(agent.values() - best.action_values)[ACTIVE].max() < 2.0
    without = Dyna(n_planning=0, random_state=3)
    plain = QLearning(random_state=3)
    train(without, WORLD.process, episodes=1, random_state=0)
    train(plain, WORLD.process, episodes=1, random_state=0)
    assert without.n_steps_ > 0
    assert plain.n_steps_ > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FittedQ(target="v").start(Spaces.of(WORLD.process)), "target is 'v'"),
        (lambda: FittedQ(3).start(Spaces.of(WORLD.process)), "regressor must have fit"),
        (lambda: FittedQ().start(Spaces(3, 2)), "discount is None"),
        (lambda: FittedQ().start(Spaces.of(WORLD.process)).action_values(0), "nothing has been"),
        (lambda: ModelLearner().start(Spaces(None, 2, discount=0.9)), "counts numbered states"),
        (lambda: ModelLearner(plan_every=0).start(Spaces.of(WORLD.process)), "plan_every is 0"),
        (lambda: Dyna(n_planning=-1).start(Spaces.of(WORLD.process)), "n_planning is -1"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
