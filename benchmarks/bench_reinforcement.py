"""Planning beside pymdptoolbox and SciPy, and learning beside a loop of Python over Gymnasium.

A sweep is timed, not a whole call: the toolbox spends most of one on checks in its constructor.
The peers' values are asserted to be ours.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._timing import Race, alone, close, print_races, race
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
#: Steps of learning for each way; the slower ways are timed on fewer.
STEPS, SLOW_STEPS = 1_000_000, 5_000


def run() -> None:
    """Print races of sweeps and of steps."""
    print_races("Value iteration, one sweep", [r for side in SIDES for r in _sweeps(side)])
    print_races("Q learning on FrozenLake 8x8, a thousand steps", _steps())
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


def _lake_process() -> MarkovDecisionProcess:
    try:
        import gymnasium
    except ImportError:
        return GridWorld("S.......\n........\n.......G", slip=0.5, discount=0.99).process
    lake = gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=True)
    return MarkovDecisionProcess.from_gymnasium(lake, 0.99)


def _steps() -> list[Race]:
    try:
        import gymnasium
    except ImportError:
        print("  gymnasium is not installed")
        return []
    lake = gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=True)
    process = _lake_process()
    rule = EpsilonGreedy(0.1)
    ours = QLearning(discount=0.99, exploration=rule, random_state=0)
    world = ProcessEnvironment(process, random_state=0)
    by_ours = partial(train, ours, world, steps=STEPS)
    by_python = partial(plain_q_learning, lake, SLOW_STEPS)
    stepped = QLearning(discount=0.99, exploration=rule, random_state=0)
    by_protocol = partial(train, stepped, lake, steps=SLOW_STEPS)
    races = []
    for peer, theirs in (("plain Python", by_python), ("our agent, step by step", by_protocol)):
        timed = race("8x8, slippery", by_ours, peer, theirs, same=partial(_are_values, ours))
        per_thousand = 1000 / STEPS, 1000 / SLOW_STEPS
        races.append(
            Race(timed.work, timed.ours * per_thousand[0], peer, timed.theirs * per_thousand[1])
        )
    return races


def _are_values(agent: QLearning, _: Any, theirs: Any) -> bool:
    """Look at both tables: steps are drawn apart, but every value is a chance of the goal."""
    tables = [agent.table_, *([theirs] if isinstance(theirs, np.ndarray) else [])]
    inside = [np.all((table >= 0.0) & (table <= 1.0)) for table in tables]
    return bool(all(inside)) and bool(agent.table_.max() > 0.0)


def plain_q_learning(environment: Any, steps: int) -> np.ndarray:
    """Learn as textbooks write it: a table, a dice and the environment's own steps."""
    random = np.random.default_rng(0)
    table = np.zeros((environment.observation_space.n, environment.action_space.n))
    state, _ = environment.reset(seed=0)
    for _ in range(steps):
        if random.random() < 0.1:
            action = int(random.integers(table.shape[1]))
        else:
            row = table[state]
            action = int(random.choice(np.flatnonzero(row == row.max())))
        following, reward, over, cut, _ = environment.step(action)
        target = reward + 0.99 * table[following].max() * (not over)
        table[state, action] += 0.1 * (target - table[state, action])
        state = environment.reset()[0] if over or cut else following
    return table
