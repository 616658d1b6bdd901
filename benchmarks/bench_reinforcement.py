"""Planning beside pymdptoolbox and SciPy, and learning beside a loop of Python over Gymnasium.

A sweep is timed, not a whole call: the toolbox spends most of one on checks in its constructor.
The peers' values are asserted to be ours, and those of the loop over Gymnasium to be the very same
numbers: it meets the same lots.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._timing import Race, alone, close, print_races, race
from verulam.base import generator
from verulam.reinforcement import (
    EpsilonGreedy,
    GridWorld,
    MarkovDecisionProcess,
    ProcessEnvironment,
    QLearning,
    train,
)
from verulam.reinforcement._processes.planning import _loop_table
from verulam.reinforcement._processes.planning_loops import sweep

#: Sides of the square grids: 10^4 and 10^6 states.
SIDES = (100, 1000)
#: Steps of learning, enough to meet the goal a few times; after so many an episode is broken off.
STEPS, MAX_STEPS = 50_000, 200


def run() -> None:
    """Print races of sweeps and of steps."""
    print_races("Value iteration, one sweep", [r for side in SIDES for r in _sweeps(side)])
    print_races(f"Q learning on FrozenLake 8x8, {STEPS:,} steps", _steps())
    lake = _lake_process()
    long = partial(train, QLearning(discount=0.99, random_state=0), lake, steps=10_000_000)
    print(alone("Q learning, 10^7 steps in one compiled loop", long))


def slippery_grid(side: int) -> MarkovDecisionProcess:
    """Return a square grid with slips, without the loops of `GridWorld` over its cells."""
    cells = np.arange(side * side).reshape(side, side)
    padded = np.pad(cells, 1, mode="edge")
    around = [padded[:-2, 1:-1], padded[1:-1, 2:], padded[2:, 1:-1], padded[1:-1, :-2]]
    goal, tables = side * side - 1, []
    for action in range(4):
        rows, columns, shares = [], [], []
        for turn, share in ((0, 0.8), (1, 0.1), (3, 0.1)):
            rows.append(cells.ravel()[:-1])
            columns.append(around[(action + turn) % 4].ravel()[:-1])
            shares.append(np.full(goal, share))
        entries = (np.append(shares, 1.0), (np.append(rows, goal), np.append(columns, goal)))
        tables.append(sp.csr_array(entries, shape=(goal + 1, goal + 1)))
    rewards = np.full((goal + 1, 4), -1.0)
    rewards[goal] = 0.0
    return MarkovDecisionProcess.from_arrays(tables, rewards, 0.99)


def _sweeps(side: int) -> list[Race]:
    process = slippery_grid(side)
    policy = np.zeros(process.n_states, dtype=np.int64)
    n_actions = np.int64(process.n_actions)
    # Values as they are half way, where a sweep does what most sweeps do.
    values = np.zeros(process.n_states)
    for _ in range(50):
        sweep(*_loop_table(process), values, values, policy, n_actions)
    updated = np.empty_like(values)

    def ours() -> np.ndarray:
        sweep(*_loop_table(process), values, updated, policy, n_actions)
        return updated

    stacked = sp.csr_array(process.transitions)

    def by_scipy() -> np.ndarray:
        table = process.rewards + process.discount * (stacked @ values).reshape(-1, 4)
        return table.max(axis=1)

    work = f"{process.n_states:,} states, 4 actions, 3 outcomes"
    races = [race(work, ours, "scipy.sparse", by_scipy, same=close(1e-7, 1e-9))]
    toolbox = _toolbox(process, values)
    if toolbox is not None:

        def same(one: np.ndarray, other: tuple) -> None:
            close(1e-7, 1e-9)(one, other[1])

        races.append(race(work, ours, "pymdptoolbox", toolbox, same=same))
    return races


def _toolbox(process: MarkovDecisionProcess, values: np.ndarray) -> Any:
    """Return the toolbox's own sweep, on an object made without its slow constructor."""
    try:
        from mdptoolbox.mdp import MDP
    except ImportError:
        print("  pymdptoolbox is not installed")
        return None
    peer = MDP.__new__(MDP)
    peer.S, peer.A, peer.discount, peer.V = process.n_states, process.n_actions, 0.99, values
    peer.P = tuple(
        sp.csr_matrix(process.transitions[np.arange(action, 4 * process.n_states, 4)])
        for action in range(4)
    )
    peer.R = tuple(np.ascontiguousarray(process.rewards[:, action]) for action in range(4))
    return partial(peer._bellmanOperator, values)


def _frozen_lake() -> Any:
    """Return Gymnasium's slippery lake, outcomes that lead to one state summed; None without it.

    It is the same world, with as many outcomes or fewer, in the order that a process keeps.
    """
    try:
        import gymnasium
    except ImportError:
        print("  gymnasium is not installed")
        return None
    lake = gymnasium.make(
        "FrozenLake-v1", map_name="8x8", is_slippery=True, max_episode_steps=MAX_STEPS
    )
    for moves in lake.unwrapped.P.values():
        for action, outcomes in moves.items():
            shares: dict[tuple, float] = {}
            for share, *outcome in sorted(outcomes, key=lambda each: each[1]):
                shares[tuple(outcome)] = shares.get(tuple(outcome), 0.0) + share
            moves[action] = [(share, *outcome) for outcome, share in shares.items()]
    return lake


def _lake_process() -> MarkovDecisionProcess:
    lake = _frozen_lake()
    if lake is None:
        return GridWorld("S.......\n........\n.......G", slip=0.5, discount=0.99).process
    return MarkovDecisionProcess.from_gymnasium(lake, 0.99)


def _steps() -> list[Race]:
    lake = _frozen_lake()
    if lake is None:
        return []
    process = MarkovDecisionProcess.from_gymnasium(lake, 0.99)

    def agent() -> QLearning:
        return QLearning(discount=0.99, exploration=EpsilonGreedy(0.1), random_state=0)

    def world() -> ProcessEnvironment:
        return ProcessEnvironment(process, random_state=0)

    def by_ours() -> np.ndarray:
        learner = agent()
        train(learner, world(), steps=STEPS, max_steps=MAX_STEPS)
        return learner.table_

    def by_protocol() -> np.ndarray:
        learner = agent()
        lake.unwrapped.np_random = generator(0).spawn(2)[0]
        train(learner, lake, steps=STEPS)
        return learner.table_

    def by_python() -> np.ndarray:
        lake.unwrapped.np_random = generator(0).spawn(2)[0]
        return plain_q_learning(lake, STEPS, generator(0))

    work = "8x8, slippery"
    return [
        race(work, by_ours, "plain Python", by_python, same=_same_table),
        race(work, by_ours, "our agent, step by step", by_protocol, same=_same_table),
    ]


def _same_table(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether two tables are the same to the last bit, and more than the zeros of the start."""
    return bool((ours == theirs).all()) and np.count_nonzero(ours) > ours.size // 4


def plain_q_learning(environment: Any, steps: int, random: np.random.Generator) -> np.ndarray:
    """Learn as textbooks write it: a table, a dice and the environment's own steps."""
    table = np.zeros((environment.observation_space.n, environment.action_space.n))
    n_actions = table.shape[1]
    state, _ = environment.reset()
    for _ in range(steps):
        explores, lot = random.random() < 0.1, random.random()
        if explores:
            action = int(lot * n_actions)
        else:
            row = table[state]
            best = np.flatnonzero(row == row.max())
            action = int(best[int(lot * len(best))])
        following, reward, over, cut, _ = environment.step(action)
        target = reward + 0.99 * table[following].max() * (not over)
        table[state, action] += 0.1 * (target - table[state, action])
        state = environment.reset()[0] if over or cut else following
    return table
