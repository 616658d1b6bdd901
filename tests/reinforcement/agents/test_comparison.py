"""Agents beside one another: seeds as blocks, rewards as results, paired tests."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.reinforcement import (
    AgentComparison,
    EpsilonGreedy,
    GridWorld,
    ProcessEnvironment,
    QLearning,
    Sarsa,
    compare_agents,
)

WORLD = GridWorld("S..G", goal_reward=1.0, slip=0.2, discount=0.9)


@pytest.fixture(scope="module")
def comparison():
    lazy = Sarsa(learning_rate=0.01, exploration=EpsilonGreedy(0.9))
    keen = QLearning(learning_rate=0.5)
    worlds = {
        name: GridWorld(text, step_reward=-1.0, discount=0.95).process
        for name, text in (
            ("short", "S...G"),
            ("long", "S......G"),
            ("square", "S..\n...\n..G"),
        )
    }
    return compare_agents({"lazy": lazy, "keen": keen}, worlds, seeds=8, episodes=30)


def test_rewards_by_block(comparison):
    assert isinstance(comparison, AgentComparison)
    assert comparison.rewards.shape == (24, 2)
    assert comparison.curves["long", "keen"].shape == (8, 30)
    block = comparison.rewards.loc["long"].iloc[0]
    assert block["keen"] == pytest.approx(comparison.curves["long", "keen"][0].mean())
    assert (comparison.means["keen"] > comparison.means["lazy"]).all()


def test_differences_are_tested_within_blocks(comparison):
    for result in comparison.tests.values():
        assert result.p_value == pytest.approx(2 / 2**8)
    assert comparison.over_environments.p_value == pytest.approx(2 / 2**3)
    assert comparison.pairs("long").table["reject"].all()


def test_the_same_seeds_give_the_same_rewards(comparison):
    worlds = {"short": GridWorld("S...G", step_reward=-1.0, discount=0.95).process}
    agents = {"keen": QLearning(learning_rate=0.5), "again": QLearning(learning_rate=0.5)}
    other = compare_agents(agents, worlds, seeds=8, episodes=30)
    expected = comparison.rewards.loc["short"]["keen"]
    np.testing.assert_array_equal(other.rewards["keen"], expected)
    np.testing.assert_array_equal(other.rewards["again"], expected)
    assert other.tests["short"] is None
    assert agents["keen"].spaces is None


def test_three_agents_and_the_policy_that_is_learned():
    agents = {
        "fast": QLearning(learning_rate=0.5),
        "slow": QLearning(learning_rate=0.01),
        "random": Sarsa(learning_rate=1e-6, exploration=EpsilonGreedy(1.0)),
    }
    worlds = {"corridor": lambda: ProcessEnvironment(GridWorld("S...G").process)}
    told = []
    comparison = compare_agents(
        agents, worlds, seeds=[3, 4, 5, 6], episodes=15, response="policy", max_steps=60,
        test_episodes=3, progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert comparison.tests["corridor"] is None or "Friedman" in comparison.tests["corridor"].name
    assert told[-1] == (12, 12)
    assert (comparison.rewards["fast"] == 1.0).all()
    with pytest.raises(DataError, match="environment is 'sea'"):
        comparison.pairs("sea")


def test_what_is_compared_must_have_names():
    for call, message in (
        (lambda: compare_agents({}, {"a": WORLD.process}), "agents must be a dictionary"),
        (lambda: compare_agents({"a": 3}, {"a": WORLD.process}), "'a' is of type int"),
        (
            lambda: compare_agents({"a": QLearning()}, {"a": WORLD.process}, seeds=[]),
            "seeds is",
        ),
    ):
        with pytest.raises(DataError, match=message):
            call()
