"""Agents compared over environments: seeds as blocks, rewards as results, paired tests."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, spawn_seeds
from verulam.reinforcement._agents.protocol import Agent
from verulam.reinforcement._agents.training import train, try_policy
from verulam.reinforcement._checks import check_count, check_option
from verulam.statistics import Comparisons, TestResult, friedman_test, wilcoxon_holm, wilcoxon_test

RESPONSES = ("training", "policy")


@dataclass(frozen=True, eq=False)
class AgentComparison:
    """Rewards of agents in environments, with tests.

    Attributes
    ----------
    rewards : DataFrame
        One row for each block, by environment and seed; one column for each agent.
    curves : dict
        By environment and agent, returns by seed and episode while learning.
    tests : dict
        By environment, whether agents differ: Wilcoxon's test for two, Friedman's for more; None
        where the rewards cannot tell, such as those of a single agent.
    over_environments
        The same test on means of environments, for claims about others like them; None for fewer
        than three.
    """

    rewards: pd.DataFrame
    curves: dict[tuple[str, str], np.ndarray]
    tests: dict[str, TestResult | None]
    over_environments: TestResult | None

    @property
    def means(self) -> pd.DataFrame:
        """Mean reward by environment and agent."""
        return self.rewards.groupby(level="environment", sort=False).mean()

    def pairs(self, environment: str) -> Comparisons:
        """Return all pairs of agents in an environment, by signed rank tests after Holm.

        Parameters
        ----------
        environment
            Its name.
        """
        if environment not in self.tests:
            names = ", ".join(map(repr, self.tests))
            raise DataError(f"environment is {environment!r}; expected one of {names}.")
        return wilcoxon_holm(self.rewards.loc[environment], greater_is_better=True)


def compare_agents(
    agents: Mapping[str, Agent],
    environments: Mapping[str, Any],
    *,
    seeds: int | Sequence[int] = 10,
    episodes: int = 100,
    max_steps: int = 10_000,
    response: str = "training",
    test_episodes: int = 20,
    alpha: float = 0.05,
    progress: Callable[[int, int], object] | None = None,
) -> AgentComparison:
    """Train every agent in every environment with the same seeds, and test who gets more.

    Parameters
    ----------
    agents
        Agents by name; each run takes a copy that knows nothing yet.
    environments
        Processes or worlds by name, or functions without arguments that make one.
    seeds
        How many blocks, or their seeds. A block is one world's chance and one agent's, the same
        for all agents.
    episodes
        Episodes of training.
    max_steps
        Steps after which an episode is broken off.
    response
        "training" takes the mean return while learning, "policy" that of the policy learned.
    test_episodes
        Episodes in which a policy is tried.
    alpha
        Level of the tests.
    progress
        Function that is called with runs done and runs in all.

    Notes
    -----
    Seeds are blocks: agents meet the same draws, and differences within blocks are tested. See
    Alpaydin 19.10 and chapter 19, exercise 10.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, QLearning, Sarsa, compare_agents
    >>> comparison = compare_agents(
    ...     {"Q": QLearning(learning_rate=0.5), "Sarsa": Sarsa(learning_rate=0.1)},
    ...     {"corridor": GridWorld("S......G", step_reward=-1.0).process}, seeds=8, episodes=20,
    ... )
    >>> comparison.means.columns.tolist(), comparison.rewards.shape
    (['Q', 'Sarsa'], (8, 2))
    """
    _check_named("agents", agents, Agent)
    _check_named("environments", environments, None)
    check_option("response", response, RESPONSES)
    check_count("episodes", episodes)
    blocks = spawn_seeds(0, check_count("seeds", seeds)) if isinstance(seeds, int) else list(seeds)
    if not blocks:
        raise DataError("seeds is empty; expected at least one.")
    rows: dict[tuple[str, int], dict[str, float]] = {}
    curves: dict[tuple[str, str], np.ndarray] = {}
    total, done = len(agents) * len(environments) * len(blocks), 0
    for place, world in environments.items():
        for name, agent in agents.items():
            returns = []
            for seed in blocks:
                reward, curve = _one_run(
                    agent, world, int(seed), episodes, max_steps, response, test_episodes
                )
                rows.setdefault((place, int(seed)), {})[name] = reward
                returns.append(curve)
                done += 1
                if progress is not None:
                    progress(done, total)
            curves[place, name] = np.asarray(returns)
    index = pd.MultiIndex.from_tuples(list(rows), names=["environment", "seed"])
    rewards = pd.DataFrame(list(rows.values()), index=index, columns=list(agents))
    tests = {place: _test(pd.DataFrame(rewards.loc[place]), alpha) for place in environments}
    means = rewards.groupby(level="environment", sort=False).mean()
    over = _test(means, alpha) if len(means) > 2 else None
    return AgentComparison(rewards, curves, tests, over)


def _one_run(
    agent: Agent, world: Any, seed: int, episodes: int, max_steps: int, response: str, tests: int
) -> tuple[float, np.ndarray]:
    agent_seed, world_seed, test_seed = spawn_seeds(seed, 3)
    learner = deepcopy(agent)
    learner.spaces = None
    learner.random_state = agent_seed
    makes_worlds = callable(world) and not hasattr(world, "step")
    environment = world() if makes_worlds else deepcopy(world)
    if hasattr(environment, "reset"):
        environment.reset(seed=world_seed)
    run = train(
        learner, environment, episodes=episodes, max_steps=max_steps, random_state=world_seed
    )
    if response == "training":
        return float(run.returns.mean()), run.returns
    tried = try_policy(
        learner, environment, episodes=tests, max_steps=max_steps, random_state=test_seed
    )
    return float(tried.returns.mean()), run.returns


def _test(table: pd.DataFrame, alpha: float) -> TestResult | None:
    values = table.to_numpy()
    same = bool((values == values[:, :1]).all())
    if table.shape[1] < 2 or len(table) < 2 or same:
        return None
    if table.shape[1] == 2:
        return wilcoxon_test(values[:, 0], values[:, 1], alpha=alpha)
    return friedman_test(table, greater_is_better=True, alpha=alpha)


def _check_named(name: str, values: Any, kind: type | None) -> None:
    if not isinstance(values, Mapping) or not values:
        raise DataError(f"{name} must be a dictionary from names to {name}, with at least one.")
    for key, value in values.items():
        if kind is not None and not isinstance(value, kind):
            raise DataError(f"{name}: {key!r} is of type {type(value).__name__}, not an agent.")
