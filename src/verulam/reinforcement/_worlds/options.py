"""Hierarchies: policies of subtasks as actions that take several steps, shared between problems."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import splu

from verulam.base import DataError, Seed, generator
from verulam.reinforcement._agents.training import TrainingRun
from verulam.reinforcement._checks import check_count, check_number, check_type
from verulam.reinforcement._processes.environment import ProcessEnvironment
from verulam.reinforcement._processes.planning import Plan, value_iteration
from verulam.reinforcement._processes.process import MarkovDecisionProcess, policy_table


@dataclass(frozen=True, eq=False)
class Option:
    """A subtask: where it can be begun, what it does, and where it ends.

    Attributes
    ----------
    policy : ndarray of shape (n_states,)
        Action of each state while it goes on.
    inside : ndarray of shape (n_states,)
        States where it can be begun and goes on; it ends when it leaves them.
    """

    policy: NDArray[np.int64]
    inside: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class OptionModel:
    """What an option does as a whole.

    Attributes
    ----------
    rewards : ndarray of shape (n_states,)
        Discounted reward until it ends, 0 where it cannot be begun.
    arrivals : csr_array of shape (n_states, n_states)
        Discounted probability of each state that it ends in.
    """

    rewards: NDArray[np.float64]
    arrivals: sp.csr_array


def subtask(process: MarkovDecisionProcess, inside: ArrayLike, exit_state: int) -> Option:
    """Return the option that leads through some states to one at their edge, as soon as it can.

    Parameters
    ----------
    process
        The process, whose rewards do not count.
    inside
        True for the states of the subtask.
    exit_state
        Number of the state to reach, outside of them.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, subtask
    >>> process = GridWorld("...G").process
    >>> subtask(process, [True, True, False, False], 2).policy[:2].tolist()
    [1, 1]
    """
    check_type("process", process, MarkovDecisionProcess)
    within = np.asarray(inside, dtype=bool)
    if within.shape != (process.n_states,):
        raise DataError(f"inside has shape {within.shape}; expected one flag for each state.")
    target = check_count("exit_state", exit_state, 0)
    if target >= process.n_states or within[target]:
        raise DataError(f"exit_state is {target}; expected a state outside of the subtask.")
    within &= ~process.terminal
    # Reward 1 for the way out, nothing elsewhere, and no way on from outside: the discount makes
    # the way short.
    coo = process.transitions.tocoo()
    owners = coo.row // process.n_actions
    held = within[owners]
    outcomes = np.column_stack(
        [owners, coo.row % process.n_actions, coo.col, coo.data, coo.col == target]
    )[held]
    outside = np.flatnonzero(~within)
    pairs = [(state, action) for state in outside for action in range(process.n_actions)]
    ends = [(state, action, state, 1.0, 0.0) for state, action in pairs]
    inner = MarkovDecisionProcess.from_outcomes(
        [*map(tuple, outcomes), *ends], process.n_states, process.n_actions,
        min(process.discount, 0.99), states=process.states, actions=process.actions,
    )  # fmt: skip
    lost = np.flatnonzero(within & ~inner.reaches(np.arange(process.n_states) == target))
    if len(lost):
        raise DataError(
            f"inside: state {process.states[lost[0]]!r} cannot come to the exit "
            f"{process.states[target]!r} without leaving the subtask."
        )
    return Option(value_iteration(inner).policy, within)


def option_model(process: MarkovDecisionProcess, option: Option) -> OptionModel:
    r"""Return the discounted reward and the arrivals of an option, by solving its equations.

    Parameters
    ----------
    process
        The process.
    option
        The option.

    Notes
    -----
    Inside, :math:`r_o = r_\pi + \gamma P_\pi r_o` and
    :math:`F = \gamma P_\pi^{out} + \gamma P_\pi^{in} F`. See Sutton, Precup and Singh (1999).

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, option_model, subtask
    >>> process = GridWorld("...G", goal_reward=1.0).process
    >>> model = option_model(process, subtask(process, [True, True, True, False], 3))
    >>> model.rewards.round(2).tolist()
    [0.81, 0.9, 1.0, 0.0]
    """
    check_type("option", option, Option)
    inside = np.flatnonzero(option.inside)
    safe = np.where(option.inside, option.policy, process.available.argmax(axis=1))
    moves, rewards = process.under(policy_table(process, safe))
    gone = process.discount * moves
    system = sp.csc_array(sp.eye_array(len(inside)) - gone[inside][:, inside])
    solver = splu(system)
    outward = gone[inside].tolil()
    outward[:, inside] = 0.0
    totals = np.zeros(process.n_states)
    totals[inside] = solver.solve(rewards[inside])
    arrivals = np.zeros((process.n_states, process.n_states))
    arrivals[inside] = solver.solve(outward.toarray())
    arrivals[np.abs(arrivals) < 1e-14] = 0.0
    return OptionModel(totals, sp.csr_array(arrivals))


def plan_with_options(
    process: MarkovDecisionProcess,
    options: Mapping[str, Option],
    *,
    primitive: bool = False,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> Plan:
    """Plan with options as actions, alone or beside the process's own.

    Parameters
    ----------
    process
        The process.
    options
        Options by name.
    primitive
        Whether the actions of the process can be taken, too; the plan is then the best of all.
    tol
        Largest change of the last sweep.
    max_iter
        Most sweeps.

    Returns
    -------
    Plan
        Its policy numbers the options in their order, then the actions.

    Notes
    -----
    Values travel a whole subtask in one sweep, so that fewer are needed; with options alone the
    plan may miss the best values. See Alpaydin 18.8.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, plan_with_options, subtask
    >>> process = GridWorld("...G", goal_reward=1.0).process
    >>> options = {"to the goal": subtask(process, [True, True, True, False], 3)}
    >>> plan_with_options(process, options).values.round(2).tolist()
    [0.81, 0.9, 1.0, 0.0]
    """
    check_type("process", process, MarkovDecisionProcess)
    if not isinstance(options, Mapping) or not options:
        raise DataError("options must be a dictionary from names to options, with at least one.")
    check_number("tol", tol, 0.0)
    models = [(option_model(process, option), option.inside) for option in options.values()]
    values = np.zeros(process.n_states)
    residuals: list[float] = []
    settled, policy = 0, np.full(process.n_states, -1)
    table = np.empty((process.n_states, 0))
    while len(residuals) < max_iter:
        columns = [
            np.where(inside, model.rewards + model.arrivals @ values, -np.inf)
            for model, inside in models
        ]
        if primitive:
            future = (process.transitions @ values).reshape(process.rewards.shape)
            primitive_values = np.where(
                process.available, process.rewards + process.discount * future, -np.inf
            )
            columns += list(primitive_values.T)
        table = np.column_stack(columns)
        # Where nothing can be begun, nothing more is got.
        idle = ~np.isfinite(table).any(axis=1) | process.terminal
        updated = np.where(idle, 0.0, table.max(axis=1))
        choice = table.argmax(axis=1)
        residuals.append(float(np.abs(updated - values).max()))
        if (choice != policy).any():
            settled = len(residuals)
        values, policy = updated, choice
        if residuals[-1] <= tol:
            break
    return Plan(values, policy, table, np.asarray(residuals), settled, residuals[-1] <= tol)


def learn_with_options(
    process: MarkovDecisionProcess,
    options: Mapping[str, Option],
    *,
    episodes: int,
    learning_rate: float = 0.25,
    epsilon: float = 0.1,
    max_steps: int = 10_000,
    random_state: Seed = None,
) -> tuple[NDArray[np.float64], TrainingRun]:
    r"""Learn values of options by Q learning, a whole option as one step.

    Parameters
    ----------
    process
        The process to act in.
    options
        Options by name; the actions of the process can be taken, too.
    episodes
        Number of episodes.
    learning_rate
        :math:`\eta`.
    epsilon
        Probability of an option or action at random.
    max_steps
        Steps after which an episode is broken off.
    random_state
        Seed.

    Returns
    -------
    values : ndarray of shape (n_states, n_options + n_actions)
        Values of options and actions.
    run : TrainingRun
        What came of the episodes.

    Notes
    -----
    After k steps with the discounted reward R,
    :math:`Q(s, o) \leftarrow Q(s, o) + \eta (R + \gamma^k \max Q(s', \cdot) - Q(s, o))`. See
    Alpaydin 18.8, and Sutton, Precup and Singh (1999).

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, learn_with_options, subtask
    >>> process = GridWorld("S..G", goal_reward=1.0).process
    >>> options = {"to the goal": subtask(process, [True, True, True, False], 3)}
    >>> values, run = learn_with_options(process, options, episodes=60, random_state=0)
    >>> run.n_episodes, bool(run.lengths[-20:].mean() < 6)
    (60, True)
    """
    check_type("process", process, MarkovDecisionProcess)
    check_count("episodes", episodes)
    rate = check_number("learning_rate", learning_rate, 0.0, 1.0, open_low=True)
    check_number("epsilon", epsilon, 0.0, 1.0)
    random = generator(random_state)
    world = ProcessEnvironment(process, random_state=random.spawn(1)[0])
    listed = list(options.values())
    offered = np.column_stack([*(option.inside for option in listed), process.available])
    values = np.zeros(offered.shape)
    rows: list[tuple[float, float, int]] = []
    for _ in range(episodes):
        state, _ = world.reset()
        total, worth, weight, length, over = 0.0, 0.0, 1.0, 0, bool(process.terminal[state])
        while not over and length < max_steps:
            choice = _explored(values[state], offered[state], epsilon, random)
            option = listed[choice] if choice < len(listed) else None
            # Discounted from the first step of the option; `worth` is from that of the episode.
            start, gain, fade = state, 0.0, 1.0
            while True:
                action = choice - len(listed) if option is None else int(option.policy[state])
                state, reward, over, _, _ = world.step(action)
                gain += fade * reward
                fade *= process.discount
                total, worth, length = total + reward, worth + weight * reward, length + 1
                weight *= process.discount
                if over or option is None or not option.inside[state] or length >= max_steps:
                    break
            ahead = 0.0 if over else values[state][offered[state]].max()
            values[start, choice] += rate * (gain + fade * ahead - values[start, choice])
        rows.append((total, worth, length))
    totals, worths, lengths = (np.asarray(column) for column in zip(*rows, strict=True))
    run = TrainingRun(totals, worths, lengths.astype(np.int64), int(lengths.sum()))
    return np.where(offered, values, -np.inf), run


def _explored(
    values: NDArray[np.float64], offered: NDArray[np.bool_], epsilon: float, random: Any
) -> int:
    choices = np.flatnonzero(offered)
    if random.random() >= epsilon:
        choices = choices[values[choices] == values[choices].max()]
    return int(choices[random.integers(len(choices))])
