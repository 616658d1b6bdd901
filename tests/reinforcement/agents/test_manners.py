"""Agents have scikit-learn's manners: parameters, clones and a repr; and files of functions."""

import numpy as np
import pytest

from verulam.base import DataError, clone
from verulam.numerics import inverse
from verulam.reinforcement import (
    WORLDS,
    Cells,
    Dyna,
    EpsilonGreedy,
    FittedQ,
    GradientQLearning,
    GradientSarsa,
    GradientTD,
    GridWorld,
    Identity,
    JointLinear,
    LinearValues,
    ModelLearner,
    NetworkValues,
    OneHot,
    QLearning,
    RadialBasis,
    RandomAgent,
    Sarsa,
    Spaces,
    TDPrediction,
    Tiles,
    load_agent,
    named_world,
    save_agent,
    train,
    try_policy,
    value_iteration,
)

WORLD = GridWorld("S..G", goal_reward=1.0, slip=0.2, discount=0.9)
AGENTS = [
    QLearning(learning_rate=inverse(1.0), exploration=EpsilonGreedy(0.3)),
    Sarsa(trace_decay=0.5),
    TDPrediction(behaviour=[1, 1, 1, 1]),
    Dyna(n_planning=3),
    ModelLearner(epsilon=0.2),
    FittedQ(n_fits=3),
    GradientSarsa(LinearValues(OneHot(4))),
    GradientQLearning(NetworkValues(OneHot(4), n_units=3, random_state=0)),
    GradientTD(LinearValues(RadialBasis([[0.0], [2.0]], 1.0))),
    RandomAgent(),
]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: type(agent).__name__)
def test_a_clone_has_the_parameters_and_nothing_of_what_was_learned(agent):
    agent = clone(agent).set_params(random_state=0)
    copies = [clone(agent) for _ in range(2)]
    train(agent, WORLD.process, episodes=5, random_state=1)
    copies.append(clone(agent))
    for copy in copies:
        assert type(copy) is type(agent)
        assert copy.spaces is None
        assert copy.get_params(deep=False).keys() == agent.get_params(deep=False).keys()
        train(copy, WORLD.process, episodes=5, random_state=1)
        np.testing.assert_array_equal(copy.values(), agent.values())


def test_parameters_are_set_by_name_also_within_parts():
    agent = GradientSarsa(NetworkValues(Identity(1), n_units=4))
    assert agent.set_params(trace_decay=0.5, approximator__n_units=7) is agent
    assert agent.approximator.n_units == 7
    assert agent.trace_decay == 0.5
    assert repr(QLearning(learning_rate=0.5)) == "QLearning(learning_rate=0.5)"
    assert repr(OneHot(3)) == "OneHot(n_states=3)"
    with pytest.raises(ValueError, match="Invalid parameter 'rate'"):
        QLearning().set_params(rate=1)


@pytest.mark.parametrize(
    "coding", [Cells([0.0], [4.0], 3), Tiles([0.0], [4.0], 2), RadialBasis.over([0.0], [4.0], 3)]
)
def test_codings_are_copied_with_their_parameters(coding):
    again = clone(coding)
    assert again is not coding
    np.testing.assert_array_equal(again([1.3]), coding([1.3]))
    rebuilt = type(coding)(**coding.get_params())
    np.testing.assert_array_equal(rebuilt([1.3]), coding([1.3]))


@pytest.mark.parametrize(
    "approximator",
    [
        None,
        LinearValues(OneHot(4)),
        LinearValues(RadialBasis.over([0.0], [3.0], 3)),
        LinearValues(Tiles([0.0], [3.0], 2, n_tilings=3)),
        LinearValues(Cells([0.0], [3.0], 2)),
        NetworkValues(Identity(1), n_units=3, random_state=2),
    ],
)
@pytest.mark.parametrize("kind", [GradientSarsa, GradientQLearning, GradientTD])
def test_an_agent_with_a_function_comes_back_from_its_file_and_goes_on(
    kind, approximator, tmp_path
):
    agent = kind(clone(approximator, safe=False), learning_rate=inverse(0.2), random_state=0)
    train(agent, WORLD.process, episodes=5, random_state=0)
    save_agent(agent, tmp_path / "agent.npz")
    again = load_agent(tmp_path / "agent.npz")
    assert type(again) is kind
    for learner in (agent, again):
        train(learner, WORLD.process, episodes=5, random_state=5)
    np.testing.assert_array_equal(again.values(), agent.values())
    assert (again.n_episodes_, again.n_steps_) == (agent.n_episodes_, agent.n_steps_)


def test_functions_of_ones_own_have_no_place_in_a_file(tmp_path):
    joint = JointLinear(lambda state, action: [state, action, 1.0], 3)
    agent = GradientSarsa(joint).start(Spaces.of(WORLD.process))
    with pytest.raises(DataError, match="approximator is of type JointLinear"):
        save_agent(agent, tmp_path / "agent.npz")
    agent = GradientTD(behaviour=lambda state: 1).start(Spaces.of(WORLD.process))
    with pytest.raises(DataError, match="behaviour is of type function"):
        save_agent(agent, tmp_path / "agent.npz")
    assert not (tmp_path / "agent.npz").exists()


def test_the_agent_of_chance_takes_what_is_offered_and_learns_nothing():
    offered = np.array([[True, False, True], [True, True, True]])
    agent = RandomAgent(random_state=0).start(Spaces(2, 3, offered))
    assert {agent.act(0) for _ in range(50)} == {0, 2}
    assert {agent.act(1) for _ in range(50)} == {0, 1, 2}
    np.testing.assert_array_equal(agent.policy(), [[0.5, 0.0, 0.5], [1 / 3, 1 / 3, 1 / 3]])
    assert not agent.values().any()
    vectors = RandomAgent(random_state=0).start(Spaces(None, 2, state_size=3))
    assert {vectors.policy()(np.zeros(3)) for _ in range(30)} == {0, 1}


def test_named_worlds_have_the_values_of_their_sources():
    assert list(WORLDS) == sorted(WORLDS)
    grid, maze = named_world("Small grid"), named_world("maze")
    values = value_iteration(grid.process).values
    assert values[grid.process.state_code((2, 0))] == pytest.approx(0.705, abs=5e-4)
    # Sutton and Barto, section 8.2: the shortest way through the maze has 14 steps.
    tried = try_policy(value_iteration(maze.process).policy, maze.process, episodes=1)
    assert tried.lengths.tolist() == [14]
    with pytest.raises(LookupError, match="Unknown world 'mase'"):
        named_world("mase")
