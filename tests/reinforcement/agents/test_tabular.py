"""Agents with tables: the printed numbers, limits, traces, and two ways to the same numbers."""

from itertools import pairwise

import numpy as np
import pytest

from verulam.base import DataError
from verulam.numerics import inverse
from verulam.reinforcement import (
    EpsilonGreedy,
    GridWorld,
    ProcessEnvironment,
    QLearning,
    Sarsa,
    Softmax,
    Spaces,
    TDPrediction,
    Transition,
    TransitionLog,
    bellman_action_values,
    cliff_world,
    evaluate_policy,
    record_transitions,
    train,
    try_policy,
    value_iteration,
)
from verulam.reinforcement._agents.protocol import cumulative_shares

STOCHASTIC = GridWorld(
    "....G\n.#..P\nS....", goal_reward=100.0, pit_reward=-100.0, slip=0.5, noise=6.0, discount=0.9
)
SMALL = GridWorld("S.G\n..P", goal_reward=10.0, pit_reward=-10.0, slip=0.3, discount=0.8)


@pytest.mark.parametrize(
    "agent",
    [
        lambda: QLearning(random_state=3),
        lambda: QLearning(random_state=3, trace_decay=0.7, ties="first"),
        lambda: QLearning(random_state=3, trace_decay=0.7, updating="offline"),
        lambda: Sarsa(random_state=3),
        lambda: Sarsa(random_state=3, trace_decay=0.8, traces="accumulating"),
        lambda: Sarsa(random_state=3, trace_decay=0.5, updating="offline"),
        lambda: QLearning(
            random_state=3, exploration=Softmax(5.0), learning_rate=inverse(1.0, 0.7)
        ),
        lambda: Sarsa(
            random_state=3,
            exploration=EpsilonGreedy(inverse(1.0), clock="visits"),
            learning_rate=inverse(1.0),
            rate_clock="episodes",
        ),
        lambda: TDPrediction(random_state=3, trace_decay=0.4),
    ],
)
def test_one_seed_gives_the_same_numbers_from_python_and_in_one_compiled_loop(agent):
    results = []
    for engine in ("auto", "python"):
        learner = agent()
        world = ProcessEnvironment(STOCHASTIC.process, random_state=5)
        first = train(learner, world, episodes=40, max_steps=30, engine=engine)
        second = train(learner, world, steps=300, max_steps=30, engine=engine)
        results.append(
            [
                learner.table_,
                learner.visits_,
                learner.state_visits_,
                first.returns,
                first.discounted_returns,
                first.lengths,
                second.returns,
            ]
        )
    for compiled, stepped in zip(*results, strict=True):
        np.testing.assert_array_equal(compiled, stepped)
    assert results[0][1].sum() > 500


def backed_up(path, table=None):
    """Return a table of the deterministic rule after one walk along a path of states."""
    agent = QLearning(learning_rate=1.0, discount=0.9)
    agent.start(Spaces(6, 6))
    if table is not None:
        agent.table_[:] = table
    for state, successor in pairwise(path):
        # An action is named by the state that it leads to.
        over = successor == 5
        agent.learn(Transition(state, successor, 100.0 if over else 0.0, successor, over))
    return agent.table_


def test_values_of_figure_18_4_rise_and_never_fall():
    """The marked transition goes from 0 to 1; path A is longer than path B."""
    way_a, way_b = [0, 1, 2, 3, 5], [0, 1, 5]
    table = None
    for _ in range(3):
        table = backed_up(way_a, table)
    # After path A alone: 81 two steps from the end, 72.9 before it.
    table = backed_up(way_a, table)
    assert table[1, 2] == pytest.approx(81.0)
    assert table[0, 1] == pytest.approx(72.9)
    risen = backed_up(way_b, backed_up(way_b, table))
    assert risen[0, 1] == pytest.approx(90.0)
    assert (risen >= table).all()
    # B first: 90, and A does not change it.
    first = backed_up(way_b, backed_up(way_b))
    assert first[0, 1] == pytest.approx(90.0)
    for _ in range(5):
        first = backed_up(way_a, first)
    assert first[0, 1] == pytest.approx(90.0)


def test_deterministic_values_never_fall_while_learning():
    world = GridWorld("S..\n.#.\n..G", goal_reward=100.0, discount=0.9)
    agent = QLearning(learning_rate=1.0, exploration=EpsilonGreedy(0.5), random_state=0)
    source = ProcessEnvironment(world.process, random_state=0)
    before = 0.0
    for _ in range(60):
        train(agent, source, episodes=1)
        assert (agent.table_ >= before).all()
        before = agent.table_.copy()
    np.testing.assert_allclose(agent.values(), value_iteration(world.process).action_values)


def test_q_learning_is_the_recursion_in_numpy():
    log = record_transitions(None, SMALL.process, steps=400, random_state=0)
    agent = QLearning(learning_rate=0.3).start(Spaces.of(SMALL.process)).learn_from(log)
    table = np.zeros((6, 4))
    rows = zip(log.states, log.actions, log.rewards, log.next_states, log.terminated, strict=True)
    for state, action, reward, successor, over in rows:
        target = reward + 0.8 * (0.0 if over else table[successor].max())
        table[state, action] += 0.3 * (target - table[state, action])
    np.testing.assert_allclose(agent.table_, table, rtol=1e-12)


def traced(log, n_actions, discount, decay, rate, *, accumulating, rule, offline=False):
    """Run the textbook's loops over all pairs, figure 18.8, with a table of traces."""
    table, traces, waiting = (np.zeros((6, n_actions)) for _ in range(3))
    for place in range(len(log)):
        state, action, reward = log.states[place], log.actions[place], log.rewards[place]
        successor, over = log.next_states[place], log.terminated[place]
        if rule == "q" and table[state, action] < table[state].max():
            traces[:] = 0.0
        if rule == "sarsa":
            ahead = 0.0 if over else table[successor, log.actions[place + 1]]
        else:
            ahead = 0.0 if over else table[successor].max()
        error = reward + discount * ahead - table[state, action]
        traces[state, action] = traces[state, action] + 1.0 if accumulating else 1.0
        (waiting if offline else table)[:] += rate * error * traces
        traces *= discount * decay
        if over or log.truncated[place]:
            traces[:] = 0.0
            table += waiting
            waiting[:] = 0.0
    return table


@pytest.mark.parametrize("offline", [False, True])
@pytest.mark.parametrize("accumulating", [False, True])
@pytest.mark.parametrize(("kind", "rule"), [(Sarsa, "sarsa"), (QLearning, "q")])
def test_traces_are_the_loops_over_all_pairs(kind, rule, accumulating, offline):
    log = record_transitions(None, SMALL.process, steps=300, random_state=1)
    last = np.flatnonzero(log.terminated)[-1] + 1
    log = TransitionLog(*(getattr(log, name)[:last] for name in log.__dataclass_fields__))
    agent = kind(
        learning_rate=0.2, trace_decay=0.6,
        traces="accumulating" if accumulating else "replacing",
        updating="offline" if offline else "online",
    ).start(Spaces.of(SMALL.process))  # fmt: skip
    agent.learn_from(log)
    expected = traced(log, 4, 0.8, 0.6, 0.2, accumulating=accumulating, rule=rule, offline=offline)
    np.testing.assert_allclose(agent.table_, expected, atol=1e-7)


@pytest.mark.parametrize("kind", [QLearning, Sarsa, TDPrediction])
def test_no_trace_is_the_one_step_rule_bit_for_bit(kind):
    tables = []
    for options in ({}, {"trace_decay": 0.0, "traces": "accumulating"}):
        agent = kind(random_state=1, **options)
        train(agent, STOCHASTIC.process, episodes=50, random_state=2)
        tables.append(agent.table_)
    # Traces that fade at once take the way of traces, and come to the same.
    agent = kind(random_state=1, trace_decay=1e-300)
    train(agent, STOCHASTIC.process, episodes=50, random_state=2)
    np.testing.assert_array_equal(tables[0], tables[1])
    np.testing.assert_array_equal(tables[0], agent.table_)


def test_eligibility_of_a_pair_over_time():
    """Figure 18.7: 1 at a visit, then falling by the discount times the decay."""
    agent = Sarsa(trace_decay=0.5, discount=0.8).start(Spaces(3, 1))
    seen = []
    for state in (0, 1, 0, 2, 1):
        agent.learn(Transition(state, 0, 0.0, 1))
        seen.append(agent.eligibility_[0] / 0.4)
    np.testing.assert_allclose(seen, [1.0, 0.4, 1.0, 0.4, 0.16])
    agent = Sarsa(trace_decay=0.5, discount=0.8, traces="accumulating").start(Spaces(3, 1))
    for state in (0, 1, 0):
        agent.learn(Transition(state, 0, 0.0, 1))
    assert agent.eligibility_[0] / 0.4 == pytest.approx(1.16)


def test_q_from_uniform_behaviour_is_the_best():
    """Behaviour and estimation policies differ: the log was made by nobody's best policy."""
    log = record_transitions(None, SMALL.process, steps=60_000, random_state=0)
    agent = QLearning(learning_rate=inverse(1.0, 0.7)).start(Spaces.of(SMALL.process))
    agent.learn_from(log)
    best = value_iteration(SMALL.process)
    active = ~SMALL.process.terminal
    np.testing.assert_allclose(agent.values()[active], best.action_values[active], atol=0.4)
    np.testing.assert_array_equal(agent.policy()[active], best.policy[active])


def test_q_learning_approaches_value_iteration_from_any_start():
    best = value_iteration(STOCHASTIC.process).action_values
    active = ~STOCHASTIC.process.terminal
    for initial in (0.0, 80.0):
        agent = QLearning(
            learning_rate=inverse(1.0, 0.7), exploration=EpsilonGreedy(0.5),
            initial_value=initial, random_state=0,
        )  # fmt: skip
        train(agent, STOCHASTIC.process, steps=1_500_000, random_state=1)
        # Rewards are 100 and -100; the rarest pair is met some thousand times.
        assert np.abs(agent.values() - best)[active].max() < 6.0
        assert np.abs(agent.values() - best)[active].mean() < 1.0


def test_sarsa_learns_what_it_does_and_in_the_limit_the_best():
    process = SMALL.process
    active = ~process.terminal
    best = value_iteration(process)
    soft = Sarsa(learning_rate=inverse(1.0, 0.7), exploration=EpsilonGreedy(0.4), random_state=0)
    train(soft, process, steps=600_000, random_state=1)
    # The values of the policy that explores, found by solving its equations.
    greedy = np.eye(4)[soft.policy()]
    values = evaluate_policy(process, 0.6 * greedy + 0.1)
    table = bellman_action_values(process, values)
    np.testing.assert_allclose(soft.values()[active], table[active], atol=0.4)
    assert (soft.values()[active] < best.action_values[active]).all()
    glie = Sarsa(
        learning_rate=inverse(1.0, 0.7),
        exploration=EpsilonGreedy(inverse(1.0, 0.5), clock="visits"),
        random_state=0,
    )
    train(glie, process, steps=600_000, random_state=1)
    np.testing.assert_allclose(glie.values()[active].max(axis=1), best.values[active], atol=0.15)


def test_on_the_cliff_sarsa_keeps_away_from_the_edge():
    process = cliff_world().process
    start = process.state_code((3, 0))
    runs = {}
    for kind in (QLearning, Sarsa):
        agent = kind(learning_rate=0.5, random_state=0)
        runs[kind] = train(agent, process, episodes=600, random_state=0).returns[300:].mean()
        tried = try_policy(agent, process, episodes=1, max_steps=100)
        runs[kind, "length"] = tried.lengths[0]
    assert runs[QLearning, "length"] == 13
    assert runs[Sarsa, "length"] > 13
    assert runs[Sarsa] > runs[QLearning] + 5
    assert value_iteration(process).values[start] == -13.0


@pytest.mark.parametrize("updating", ["online", "offline"])
@pytest.mark.parametrize("decay", [0.0, 0.7])
def test_temporal_differences_come_to_the_values_of_the_policy_that_acts(decay, updating):
    agent = TDPrediction(
        learning_rate=inverse(1.0, 0.7), trace_decay=decay, updating=updating, random_state=0
    )
    train(agent, SMALL.process, episodes=30_000, random_state=0)
    expected = evaluate_policy(SMALL.process, agent.policy())
    np.testing.assert_allclose(agent.values(), expected, atol=0.15)
    assert (value_iteration(SMALL.process).values[:2] > expected[:2] + 0.5).all()


def test_full_traces_offline_are_monte_carlo():
    """TD(1) with accumulating traces, offline: returns of every visit, at the first rate."""
    process = GridWorld("S.G", goal_reward=10.0, slip=0.4, discount=0.8).process
    log = record_transitions(None, process, steps=200, random_state=0)
    last = int(np.flatnonzero(log.terminated)[0]) + 1
    log = TransitionLog(*(getattr(log, name)[:last] for name in log.__dataclass_fields__))
    agent = TDPrediction(
        learning_rate=0.1, trace_decay=1.0, traces="accumulating", updating="offline"
    ).start(Spaces.of(process))
    agent.learn_from(log)
    expected = np.zeros(3)
    for place in range(last):
        rewards = log.rewards[place:]
        value = rewards @ 0.8 ** np.arange(len(rewards))
        expected[log.states[place]] += 0.1 * value
    np.testing.assert_allclose(agent.values(), expected, atol=1e-9)


def test_actions_that_a_state_does_not_offer_are_never_taken():
    spaces = Spaces(2, 3, np.array([[True, False, True], [False, True, False]]), discount=0.9)
    agent = QLearning(exploration=EpsilonGreedy(1.0), random_state=0).start(spaces)
    assert {agent.act(0) for _ in range(100)} == {0, 2}
    assert {agent.act(1) for _ in range(20)} == {1}
    assert agent.policy()[1] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_rate": 0.0}, "learning_rate is 0.0; expected a number above 0"),
        ({"learning_rate": 1.5}, "learning_rate is 1.5; expected a number above 0 and at most 1"),
        ({"learning_rate": inverse(2.0)}, "a schedule that begins with 2.0, outside of its range"),
        ({"learning_rate": "fast"}, "learning_rate is 'fast'"),
        ({"trace_decay": 1.5}, "trace_decay is 1.5"),
        ({"traces": "dutch"}, "traces is 'dutch'"),
        ({"updating": "never"}, "updating is 'never'"),
        ({"rate_clock": "days"}, "rate_clock is 'days'"),
        ({"discount": -1.0}, "discount is -1.0"),
        ({"exploration": "often"}, "exploration is of type str; expected"),
        ({"initial_value": np.nan}, "initial_value is nan"),
        ({"ties": "last"}, "ties is 'last'"),
    ],
)
def test_wrong_arguments_are_named_when_training_begins(options, message):
    with pytest.raises(DataError, match=message):
        train(QLearning(**options), SMALL.process, episodes=1)


def test_logs_and_policies_of_the_wrong_shape_are_refused():
    agent = QLearning(discount=0.9).start(Spaces(2, 2))
    with pytest.raises(DataError, match="states must hold whole numbers from 0 to 1"):
        agent.learn_from([Transition(5, 0, 0.0, 1)])
    with pytest.raises(DataError, match="rewards has a value that is missing"):
        agent.learn_from([Transition(0, 0, np.nan, 1)])
    with pytest.raises(DataError, match="transitions is empty"):
        agent.learn_from([])
    with pytest.raises(DataError, match="start the agent first"):
        QLearning().act(0)
    with pytest.raises(DataError, match="behaviour must have an action"):
        TDPrediction(behaviour=[0, 0, 0], discount=0.9).start(Spaces(2, 2))
    with pytest.raises(DataError, match="discount is None"):
        QLearning().start(Spaces(2, 2))
    with pytest.raises(DataError, match="a vector of 4 numbers"):
        QLearning(discount=0.9).start(Spaces(None, 2, state_size=4))


def test_behaviour_is_an_action_or_shares_of_actions_for_each_state():
    shares = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    learned = []
    for behaviour in ([1, 0, 0], shares):
        agent = TDPrediction(behaviour=behaviour, discount=0.9, random_state=0).start(Spaces(3, 2))
        assert [agent.act(state) for state in range(3)] == [1, 0, 0]
        agent.learn_from([Transition(0, 1, 2.0, 1), Transition(1, 0, 1.0, 2)])
        learned.append(agent.values())
    np.testing.assert_array_equal(*learned)


def test_draws_never_land_behind_the_last_action_that_has_a_share():
    shares = np.array([[0.1] * 10 + [0.0], [0.5, 0.0, 0.5] + [0.0] * 8])
    sums = cumulative_shares(shares)
    almost_one = np.nextafter(1.0, 0.0)
    assert [int(np.searchsorted(row, almost_one, side="right")) for row in sums] == [9, 2]
    assert (sums[:, -1] == 2.0).all()


@pytest.mark.parametrize("engine", ["auto", "python"])
@pytest.mark.parametrize(
    ("kind", "rate"), [(QLearning, 1.0), (Sarsa, 0.5), (Sarsa, 1.0), (TDPrediction, 0.5)]
)
def test_traces_that_diverge_say_so(engine, kind, rate):
    """Values of 10 and less cannot be learned to be 2e8, 1e41, 1e274 or missing."""
    world = GridWorld("S...\n.##.\n...G", slip=0.2, goal_reward=10, discount=0.99)
    agent = kind(learning_rate=rate, trace_decay=1.0, traces="accumulating", random_state=0)
    with pytest.raises(DataError, match=r"learning diverged: after .* steps a value is"):
        train(agent, world.process, episodes=300, random_state=0, engine=engine)


def test_values_as_large_as_rewards_are_no_divergence():
    world = GridWorld("S...G", goal_reward=1e30, discount=0.99)
    agent = Sarsa(trace_decay=0.9, traces="accumulating", random_state=0)
    train(agent, world.process, episodes=50, random_state=0)
    assert 1e28 < np.abs(agent.values()).max() <= 1e30
    # What is there already counts, too, where a world of small rewards follows.
    train(agent, GridWorld("S...G", goal_reward=1.0, discount=0.99).process, episodes=5)
