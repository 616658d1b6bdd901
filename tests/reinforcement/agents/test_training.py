"""Training: stopping, going on, progress, files, Gymnasium's worlds, and comparisons."""

import json
from typing import ClassVar

import numpy as np
import pytest

from verulam.base import DataError, whole_trainings
from verulam.numerics import Schedule, inverse
from verulam.reinforcement import (
    Agent,
    EpsilonGreedy,
    FittedQ,
    GradientSarsa,
    GridWorld,
    LinearValues,
    MarkovDecisionProcess,
    ProcessEnvironment,
    QLearning,
    RadialBasis,
    Sarsa,
    Softmax,
    Spaces,
    TDPrediction,
    TrainingRun,
    linear_program,
    load_agent,
    record_transitions,
    save_agent,
    train,
    try_policy,
    value_iteration,
)

WORLD = GridWorld("S..G", goal_reward=1.0, slip=0.2, discount=0.9)


def test_training_that_goes_on_is_training_at_one_go():
    tables = []
    for parts in ((100,), (30, 70)):
        agent = Sarsa(random_state=0, trace_decay=0.5)
        world = ProcessEnvironment(WORLD.process, random_state=1)
        for part in parts:
            train(agent, world, episodes=part)
        tables.append(agent.table_)
    np.testing.assert_array_equal(*tables)
    assert agent.n_episodes_ == 100


@pytest.mark.parametrize("engine", ["auto", "python"])
def test_where_training_stops(engine):
    run = train(QLearning(random_state=0), WORLD.process, steps=57, engine=engine, random_state=0)
    assert isinstance(run, TrainingRun)
    assert run.n_steps == 57
    run = train(
        QLearning(random_state=0), WORLD.process, episodes=9, max_steps=2, engine=engine,
    )  # fmt: skip
    assert run.n_episodes == 9
    assert (run.lengths == 2).all()
    assert (run.returns == 0).all()


def test_many_steps_keep_to_the_memory_that_one_block_takes():
    """Blocks of random numbers are drawn as they are used up."""
    agent = QLearning(random_state=0)
    run = train(agent, WORLD.process, steps=300_000, random_state=0)
    assert run.n_steps == agent.n_steps_ == 300_000
    assert len(agent.lots._numbers) < 100_000
    assert agent.visits_.sum() == 300_000


def test_progress_is_told_and_a_stop_keeps_what_was_learned():
    told = []
    train(QLearning(random_state=0), WORLD.process, episodes=5, engine="python",
          progress=lambda *done: told.append(done))  # fmt: skip
    assert [episodes for episodes, _ in told] == [1, 2, 3, 4, 5]

    def stop(episodes, steps):
        if episodes >= 3:
            raise KeyboardInterrupt

    for engine in ("auto", "python"):
        agent = QLearning(random_state=0)
        run = train(agent, WORLD.process, episodes=50_000, engine=engine, progress=stop)
        assert run.interrupted
        assert 3 <= run.n_episodes < 50_000
        assert agent.n_episodes_ >= 3
        with whole_trainings(), pytest.raises(KeyboardInterrupt):
            train(agent, WORLD.process, episodes=50_000, engine=engine, progress=stop)
    train(QLearning(random_state=0), WORLD.process, episodes=2, progress=True)


@pytest.mark.parametrize(
    "agent",
    [
        QLearning(learning_rate=inverse(1.0, 0.6), exploration=Softmax(0.5), random_state=0),
        Sarsa(trace_decay=0.4, exploration=EpsilonGreedy(inverse(1.0), clock="visits")),
        TDPrediction(behaviour=[1, 1, 1, 1], random_state=1),
    ],
)
def test_an_agent_comes_back_from_its_file_and_goes_on(agent, tmp_path):
    train(agent, WORLD.process, episodes=20, random_state=0)
    save_agent(agent, tmp_path / "agent.npz")
    again = load_agent(tmp_path / "agent.npz")
    assert type(again) is type(agent)
    for learner in (agent, again):
        train(learner, WORLD.process, episodes=20, random_state=5)
    np.testing.assert_array_equal(agent.table_, again.table_)
    assert again.n_episodes_ == 40


def test_files_that_hold_no_agent_are_refused(tmp_path):
    path = tmp_path / "agent.npz"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(DataError, match="is no file of an agent"):
        load_agent(path)
    agent = QLearning(random_state=0).start(Spaces.of(WORLD.process))
    save_agent(agent, path)
    with np.load(path) as stored:
        arrays = dict(stored)
    np.savez(path, **{**arrays, "table": np.zeros((9, 4))})
    with pytest.raises(DataError, match="table has another shape than the spaces"):
        load_agent(path)
    header = json.loads(str(arrays["header"]))
    np.savez(path, **{**arrays, "header": np.array(json.dumps({**header, "kind": "os.system"}))})
    with pytest.raises(DataError, match="holds no agent"):
        load_agent(path)
    with pytest.raises(DataError, match="start the agent first"):
        save_agent(FittedQ(), path)
    mine = QLearning(learning_rate=Schedule("mine", lambda step: 0.1, True, False))
    with pytest.raises(DataError, match="schedule of your own"):
        save_agent(mine.start(Spaces.of(WORLD.process)), path)


def test_policies_are_tried_without_learning():
    best = value_iteration(WORLD.process)
    for policy in (best.policy, np.eye(4)[best.policy], lambda state: int(best.policy[state])):
        run = try_policy(policy, WORLD.process, episodes=400, random_state=0)
        mean, error = run.discounted_returns.mean(), run.discounted_returns.std() / 20
        assert abs(mean - best.values[0]) < 4 * error
    with pytest.raises(DataError, match="policy must hold whole numbers from 0 to 3"):
        try_policy([9] * 4, WORLD.process, episodes=1)


def test_transitions_are_recorded_by_a_policy_or_at_random():
    log = record_transitions([1, 1, 1, 1], WORLD.process, steps=30, random_state=0)
    assert len(log) == 30
    assert (log.actions == 1).all()
    uniform = record_transitions(None, WORLD.process, steps=2000, random_state=0)
    np.testing.assert_allclose(np.bincount(uniform.actions) / 2000, 0.25, atol=0.04)
    ends = np.flatnonzero(uniform.terminated)
    assert (uniform.next_states[ends] == 3).all()
    assert (uniform.states[ends[:-1] + 1] == 0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train("agent", WORLD.process, episodes=1), "agent is of type str"),
        (lambda: train(QLearning(), WORLD.process), "give episodes or steps"),
        (lambda: train(QLearning(), WORLD.process, episodes=0), "episodes is 0"),
        (lambda: train(QLearning(), "world", episodes=1), "environment is of type str"),
        (lambda: train(QLearning(), WORLD.process, episodes=1, engine="gpu"), "engine is 'gpu'"),
        (lambda: train(QLearning(discount=0.9).start(Spaces(9, 4)), WORLD.process, episodes=1),
         "started for 9 states and 4 actions, environment has 4 and 4"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_an_agent_of_ones_own():
    class Eastward(Agent):
        def act(self, state):
            return 1

        def learn(self, transition):
            self.last = transition

        def policy(self):
            return [1] * 4

        def values(self):
            return [0.0] * 4

    agent = Eastward()
    assert train(agent, WORLD.process, episodes=2).n_episodes == 2
    assert agent.last.terminated


@pytest.fixture(scope="module")
def gymnasium():
    return pytest.importorskip("gymnasium")


def test_a_table_becomes_a_process(gymnasium):
    lake = gymnasium.make("FrozenLake-v1", is_slippery=True)
    process = MarkovDecisionProcess.from_gymnasium(lake, 1.0)
    assert process.terminal.sum() == 5
    # The best policy comes to the goal with probability 14 / 17.
    assert value_iteration(process, tol=1e-12).values[0] == pytest.approx(14 / 17, abs=1e-6)
    assert linear_program(process)[0] == pytest.approx(14 / 17, abs=1e-6)
    cliff = MarkovDecisionProcess.from_gymnasium(gymnasium.make("CliffWalking-v1"), 1.0)
    assert value_iteration(cliff).values[36] == -13.0


def test_an_end_in_a_state_that_is_also_passed_through():
    class Table:
        """From 0 one may stop in 1 with reward 5, or go on through it to 2 with reward 9."""

        P: ClassVar = {
            0: {0: [(1.0, 1, 5.0, True)], 1: [(1.0, 1, 0.0, False)]},
            1: {0: [(1.0, 2, 9.0, True)], 1: [(1.0, 1, 0.0, False)]},
            2: {0: [(1.0, 0, 3.0, False)], 1: [(1.0, 0, 3.0, False)]},
        }

    process = MarkovDecisionProcess.from_gymnasium(Table(), 0.5)
    assert process.n_states == 4
    plan = value_iteration(process)
    # 2 is entered by an end alone, so that what it says of actions does not count.
    assert plan.values.tolist() == [5.0, 9.0, 0.0, 0.0]
    assert plan.action_values[0].tolist() == [5.0, 4.5]


def test_steps_of_a_process_are_those_of_gymnasium(gymnasium):
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    world = ProcessEnvironment(MarkovDecisionProcess.from_gymnasium(lake, 0.9), random_state=0)
    lake.reset(seed=0)
    world.reset()
    for action in (2, 2, 1, 1, 1, 2):
        ours, theirs = world.step(action), lake.step(action)
        assert ours[:3] == (int(theirs[0]), float(theirs[1]), bool(theirs[2]))


def test_agents_learn_from_gymnasium_as_from_its_process(gymnasium):
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    process = MarkovDecisionProcess.from_gymnasium(lake, 0.9)
    runs = []
    for world in (lake, ProcessEnvironment(process, random_state=0)):
        agent = QLearning(discount=0.9, exploration=EpsilonGreedy(0.8), random_state=0)
        runs.append((train(agent, world, episodes=300), agent.table_))
    # Nothing in this world is left to chance, so that both go the same way.
    np.testing.assert_array_equal(runs[0][0].returns, runs[1][0].returns)
    np.testing.assert_array_equal(runs[0][1], runs[1][1])


def test_vectors_and_time_limits(gymnasium):
    car = gymnasium.make("MountainCar-v0", max_episode_steps=50)
    agent = GradientSarsa(
        LinearValues(RadialBasis.over([-1.2, -0.07], [0.6, 0.07], 4)), discount=1.0
    )
    run = train(agent, car, episodes=2)
    assert run.lengths.tolist() == [50, 50]
    assert agent.n_episodes_ == 2


def test_what_cannot_be_used_says_what_is_possible(gymnasium):
    pendulum = gymnasium.make("Pendulum-v1")
    with pytest.raises(DataError, match="finite number of actions: wrap it so that it offers"):
        train(QLearning(discount=0.9), pendulum, episodes=1)
    with pytest.raises(DataError, match="publishes no table P"):
        MarkovDecisionProcess.from_gymnasium(pendulum, 0.9)
    pole = gymnasium.make("CartPole-v1")
    with pytest.raises(DataError, match="put a coding between"):
        train(QLearning(discount=0.9), pole, episodes=1)
