"""Planning in a known process: Bellman's operators, value iteration, policy iteration."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.sparse.linalg import spsolve
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, Seed, generator, warn_caller
from verulam.reinforcement._checks import (
    check_array,
    check_count,
    check_number,
    check_option,
    check_type,
)
from verulam.reinforcement._processes.planning_loops import policy_sweep, sweep
from verulam.reinforcement._processes.process import MarkovDecisionProcess, policy_table

#: Changes of values below this share of their size are rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Plan:
    """Values and policy that planning came to.

    Attributes
    ----------
    values : ndarray of shape (n_states,)
        Value of each state under the best policy.
    policy : ndarray of shape (n_states,)
        Best action of each state, the first of several.
    action_values : ndarray of shape (n_states, n_actions)
        Value of each action, minus infinity where a state does not offer it.
    residuals : ndarray
        Largest change of a value in each sweep, or in each improvement of the policy.
    policy_settled_at
        Number of the last sweep that changed the policy, counted from 1; 0 if none did.
    converged
        Whether the last change was within the tolerance.
    """

    values: NDArray[np.float64]
    policy: NDArray[np.int64]
    action_values: NDArray[np.float64]
    residuals: NDArray[np.float64]
    policy_settled_at: int
    converged: bool

    @property
    def n_iter(self) -> int:
        """Number of sweeps or improvements."""
        return len(self.residuals)


@dataclass(frozen=True, eq=False)
class HorizonPlan:
    """Values and policies for a number of steps that is known.

    Attributes
    ----------
    values : ndarray of shape (horizon + 1, n_states)
        Row k holds the best values with k steps to go.
    policies : ndarray of shape (horizon, n_states)
        Row k - 1 holds the best actions with k steps to go.
    """

    values: NDArray[np.float64]
    policies: NDArray[np.int64]


def bellman_action_values(process: MarkovDecisionProcess, values: ArrayLike) -> NDArray[np.float64]:
    r"""Return :math:`Q(s, a) = E[r \mid s, a] + \gamma \sum_{s'} P(s' \mid s, a) V(s')`.

    Parameters
    ----------
    process
        The process.
    values
        Value of each state.

    Notes
    -----
    Minus infinity where a state does not offer an action. See Alpaydin 18.4, equations 18.5-18.7.

    Examples
    --------
    >>> from verulam.reinforcement import MarkovDecisionProcess, bellman_action_values
    >>> moves = [[[0.9, 0.1], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]
    >>> process = MarkovDecisionProcess.from_arrays(moves, [[0.0, 1.0], [0.0, 0.0]], discount=0.5)
    >>> bellman_action_values(process, [2.0, 0.0]).tolist()
    [[0.9, 1.0], [0.0, 0.0]]
    """
    vector = _values_of(process, values)
    future = (process.transitions @ vector).reshape(process.rewards.shape)
    return np.where(process.available, process.rewards + process.discount * future, -np.inf)


def bellman_backup(process: MarkovDecisionProcess, values: ArrayLike) -> NDArray[np.float64]:
    r"""Return :math:`\max_a Q(s, a)`, the values one step of planning later.

    Parameters
    ----------
    process
        The process.
    values
        Value of each state.

    Examples
    --------
    >>> from verulam.reinforcement import MarkovDecisionProcess, bellman_backup
    >>> moves = [[[0.9, 0.1], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]
    >>> process = MarkovDecisionProcess.from_arrays(moves, [[0.0, 1.0], [0.0, 0.0]], discount=0.5)
    >>> bellman_backup(process, [4.0, 0.0]).tolist()
    [1.8, 0.0]
    """
    return bellman_action_values(process, values).max(axis=1)


def bellman_residual(process: MarkovDecisionProcess, values: ArrayLike) -> float:
    """Return the largest amount by which values miss Bellman's equation; 0 for the best ones.

    Parameters
    ----------
    process
        The process.
    values
        Value of each state.

    Examples
    --------
    >>> from verulam.reinforcement import MarkovDecisionProcess, bellman_residual
    >>> process = MarkovDecisionProcess.from_arrays([[[1.0]]], [[1.0]], discount=0.5)
    >>> bellman_residual(process, [0.0]), bellman_residual(process, [2.0])
    (1.0, 0.0)
    """
    return float(np.abs(bellman_backup(process, values) - np.asarray(values)).max())


def greedy_policy(
    process: MarkovDecisionProcess,
    values: ArrayLike,
    *,
    ties: str = "first",
    random_state: Seed = None,
) -> NDArray[Any]:
    r"""Return the policy :math:`\arg\max_a Q(s, a)`.

    Parameters
    ----------
    process
        The process.
    values
        Values of states (one step is looked ahead) or a table of those of actions.
    ties
        Of actions that are as good: "first" takes the first, "random" one by chance, "share"
        returns a table of probabilities that gives all of them the same.
    random_state
        Seed for ties at random.

    Notes
    -----
    Values that differ by rounding alone are ties. See Alpaydin 18.4, equations 18.8-18.9.

    Examples
    --------
    >>> from verulam.reinforcement import MarkovDecisionProcess, greedy_policy
    >>> moves = [[[0.9, 0.1], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]
    >>> process = MarkovDecisionProcess.from_arrays(moves, [[0.0, 1.0], [0.0, 0.0]], discount=0.5)
    >>> greedy_policy(process, [4.0, 0.0]).tolist()
    [0, 0]
    >>> greedy_policy(process, [4.0, 0.0], ties="share").tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    check_type("process", process, MarkovDecisionProcess)
    check_option("ties", ties, ("first", "random", "share"))
    if np.ndim(values) == 2:
        table = np.array(values, dtype=np.float64)
        if table.shape != process.available.shape:
            raise DataError(f"values has shape {table.shape}; expected {process.available.shape}.")
        table[~process.available] = -np.inf
    else:
        table = bellman_action_values(process, values)
    best = table.max(axis=1, keepdims=True)
    tied = table >= best - ROUNDING * np.maximum(1.0, np.abs(best))
    if ties == "share":
        return tied / tied.sum(axis=1, keepdims=True)
    if ties == "first":
        return tied.argmax(axis=1).astype(np.int64)
    lots = generator(random_state).random(tied.shape)
    return np.where(tied, lots, -1.0).argmax(axis=1).astype(np.int64)


def value_iteration(
    process: MarkovDecisionProcess,
    *,
    sweeps: str = "synchronous",
    tol: float = 1e-8,
    max_iter: int = 100_000,
    initial: ArrayLike | None = None,
) -> Plan:
    r"""Sweep over the states until no value changes by more than a tolerance.

    Parameters
    ----------
    process
        The process.
    sweeps
        "synchronous" computes all values from those of the sweep before, "in place" from the
        newest ones.
    tol
        Largest change :math:`\delta` of the last sweep.
    max_iter
        Most sweeps.
    initial
        Values to begin with; None for zeros.

    Notes
    -----
    With :math:`\gamma < 1` the values are within :math:`\delta \gamma / (1 - \gamma)` of the best
    ones. The policy is often settled long before; the record says when. See Alpaydin 18.4.1,
    figure 18.2.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, value_iteration
    >>> world = GridWorld("S..G", goal_reward=100.0, discount=0.9)
    >>> value_iteration(world.process).values.round(1).tolist()
    [81.0, 90.0, 100.0, 0.0]
    """
    check_type("process", process, MarkovDecisionProcess)
    check_option("sweeps", sweeps, ("synchronous", "in place"))
    tol = check_number("tol", tol, 0.0)
    check_count("max_iter", max_iter)
    process.check_ends()
    values = np.zeros(process.n_states) if initial is None else _values_of(process, initial).copy()
    # In place a sweep reads and writes one array, so that news travels far within a sweep.
    other = values if sweeps == "in place" else np.empty_like(values)
    table = _loop_table(process)
    policy = np.full(process.n_states, -1, dtype=np.int64)
    residuals: list[float] = []
    settled = 0
    while len(residuals) < max_iter:
        change, moved = sweep(*(*table, values, other, policy, np.int64(process.n_actions)))
        values, other = other, values
        residuals.append(change)
        # The first sweep chooses among rewards alone, from no policy at all.
        settled = len(residuals) if moved and len(residuals) > 1 else settled
        if not change > tol:  # NaN, too, ends it: values that diverge would sweep for ever
            break
    return _finished(process, values, residuals, settled, tol, "value iteration")


def policy_iteration(
    process: MarkovDecisionProcess,
    *,
    evaluation: str = "modified",
    n_sweeps: int = 20,
    tol: float = 1e-8,
    max_iter: int = 10_000,
    initial: ArrayLike | None = None,
) -> Plan:
    r"""Evaluate a policy, improve it, and go on until it is stable.

    Parameters
    ----------
    process
        The process.
    evaluation
        "exact" solves :math:`(I - \gamma P_\pi) V = R_\pi`, "modified" sweeps over the states some
        times by the policy, which is quicker where there are many.
    n_sweeps
        Sweeps of each modified evaluation.
    tol
        Largest change of a value in the last improvement of the modified form.
    max_iter
        Most improvements.
    initial
        Policy to begin with, an action for each state; None for the greedy one of values of 0.

    Notes
    -----
    See Alpaydin 18.4.2, figure 18.3; the modified form is that of Puterman and Shin (1978).

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, policy_iteration
    >>> world = GridWorld("S..G", goal_reward=100.0, discount=0.9)
    >>> policy_iteration(world.process).values.round(1).tolist()
    [81.0, 90.0, 100.0, 0.0]
    """
    check_type("process", process, MarkovDecisionProcess)
    check_option("evaluation", evaluation, ("modified", "exact"))
    check_count("n_sweeps", n_sweeps, 0)
    tol = check_number("tol", tol, 0.0)
    check_count("max_iter", max_iter)
    process.check_ends()
    if evaluation == "exact":
        return _exact_policy_iteration(process, max_iter, initial)
    table = _loop_table(process)
    values = np.zeros(process.n_states)
    policy = np.full(process.n_states, -1, dtype=np.int64)
    if initial is not None:
        policy = policy_table(process, initial).argmax(axis=1)
        values = evaluate_policy(process, policy)
    first_rows = np.arange(process.n_states) * process.n_actions
    residuals: list[float] = []
    settled = 0
    while len(residuals) < max_iter:
        # One sweep of value iteration both improves the policy and begins its evaluation.
        change, moved = sweep(*(*table, values, values, policy, np.int64(process.n_actions)))
        residuals.append(change)
        settled = len(residuals) if moved and len(residuals) > 1 else settled
        if not change > tol:
            break
        rows = first_rows + policy
        for _ in range(n_sweeps):
            if not policy_sweep(*(*table, values, rows)) > tol:
                break
    return _finished(process, values, residuals, settled, tol, "policy iteration")


def _exact_policy_iteration(process: MarkovDecisionProcess, max_iter: int, initial: Any) -> Plan:
    policy = (
        _ending_policy(process)
        if initial is None
        else policy_table(process, initial).argmax(axis=1)
    )
    values = evaluate_policy(process, policy)
    residuals: list[float] = []
    settled = 0
    while len(residuals) < max_iter:
        table = bellman_action_values(process, values)
        rows = np.arange(process.n_states)
        # An action is exchanged only for a better one: ties would let policies go round in circles.
        gains = table.max(axis=1) - table[rows, policy]
        better = gains > 1e-10 * np.maximum(1.0, np.abs(values))
        if not better.any():
            residuals.append(0.0)
            break
        policy = np.where(better, table.argmax(axis=1), policy)
        before, values = values, evaluate_policy(process, policy)
        residuals.append(float(np.abs(values - before).max()))
        settled = len(residuals)
    return _finished(process, values, residuals, settled, 0.0, "policy iteration")


def _ending_policy(process: MarkovDecisionProcess) -> NDArray[np.int64]:
    """Return a policy to begin with, which comes to an end where nothing discounts the future."""
    policy = process.available.argmax(axis=1).astype(np.int64)
    if process.discount < 1.0:
        return policy
    # Nearer states first: each takes an action that may lead one step closer to an end.
    reached = process.terminal.copy()
    while not reached.all():
        closer = (process.transitions @ reached.astype(np.float64)).reshape(process.available.shape)
        fresh = ~reached & (closer > 0).any(axis=1)
        policy[fresh] = closer[fresh].argmax(axis=1)
        reached |= fresh
    return policy


def evaluate_policy(
    process: MarkovDecisionProcess,
    policy: ArrayLike,
    *,
    method: str = "solve",
    tol: float = 1e-10,
    max_iter: int = 100_000,
) -> NDArray[np.float64]:
    r"""Return the value of each state when a policy acts: :math:`(I - \gamma P_\pi) V = R_\pi`.

    Parameters
    ----------
    process
        The process.
    policy
        One action for each state, or a table of probabilities by state and action.
    method
        "solve" solves the equations, "iterate" sweeps until the values settle.
    tol
        Largest change of the last sweep.
    max_iter
        Most sweeps.

    Notes
    -----
    Values of actions follow by `bellman_action_values`. See Alpaydin figure 18.3.

    Examples
    --------
    >>> from verulam.reinforcement import MarkovDecisionProcess, evaluate_policy
    >>> process = MarkovDecisionProcess.from_arrays([[[1.0]]], [[1.0]], discount=0.75)
    >>> evaluate_policy(process, [0]).tolist()
    [4.0]
    """
    check_type("process", process, MarkovDecisionProcess)
    check_option("method", method, ("solve", "iterate"))
    moves, rewards = process.under(policy)
    # Ends are worth 0; without their rows the equations have one solution at a discount of 1, too.
    active = np.flatnonzero(~process.terminal)
    values = np.zeros(process.n_states)
    if not len(active):
        return values
    moves, rewards = sp.csr_array(moves[active][:, active]), rewards[active]
    if method == "solve":
        system = sp.csc_array(sp.eye_array(len(active)) - process.discount * moves)
        if process.discount == 1.0:
            _check_policy_ends(process, policy)
        values[active] = np.atleast_1d(spsolve(system, rewards))
        return values
    for _ in range(max_iter):
        before = values[active]
        values[active] = rewards + process.discount * (moves @ before)
        if not np.abs(values[active] - before).max() > tol:
            return values
    warn_caller(f"evaluation did not settle in {max_iter} sweeps.", ConvergenceWarning)
    return values


def _check_policy_ends(process: MarkovDecisionProcess, policy: ArrayLike) -> None:
    moves, _ = process.under(policy)
    reached = process.terminal.copy()
    for _ in range(process.n_states):
        more = reached | (moves @ reached.astype(np.float64) > 0)
        if (more == reached).all():
            break
        reached = more
    if not reached.all():
        state = process.states[int(np.argmin(reached))]
        raise DataError(
            f"policy never ends from state {state!r}, and a discount of 1 gives its returns no "
            "bound; evaluate it with a discount below 1."
        )


def finite_horizon(process: MarkovDecisionProcess, horizon: int) -> HorizonPlan:
    r"""Return the best values and actions with 0, 1, ... steps to go.

    Parameters
    ----------
    process
        The process; its discount counts, and may be 1 whether or not episodes end.
    horizon
        Number of steps T.

    Notes
    -----
    The return is :math:`\sum_{i=1}^{T} \gamma^{i-1} r_{t+i}`. See Alpaydin 18.3.

    Examples
    --------
    >>> from verulam.reinforcement import MarkovDecisionProcess, finite_horizon
    >>> process = MarkovDecisionProcess.from_arrays([[[1.0]]], [[1.0]], discount=1.0)
    >>> finite_horizon(process, 3).values.ravel().tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    check_type("process", process, MarkovDecisionProcess)
    check_count("horizon", horizon, 0)
    values = np.zeros((horizon + 1, process.n_states))
    policies = np.zeros((horizon, process.n_states), dtype=np.int64)
    for step in range(horizon):
        table = bellman_action_values(process, values[step])
        values[step + 1], policies[step] = table.max(axis=1), table.argmax(axis=1)
    return HorizonPlan(values, policies)


def linear_program(process: MarkovDecisionProcess) -> NDArray[np.float64]:
    r"""Return the best values by linear programming, an independent way to the same numbers.

    Parameters
    ----------
    process
        The process.

    Notes
    -----
    The best values are the smallest that meet
    :math:`V(s) \ge E[r \mid s, a] + \gamma \sum_{s'} P(s' \mid s, a) V(s')` for all actions. See
    Puterman (1994), section 6.9.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, linear_program
    >>> world = GridWorld("S..G", goal_reward=100.0, discount=0.9)
    >>> linear_program(world.process).round(1).tolist()
    [81.0, 90.0, 100.0, 0.0]
    """
    check_type("process", process, MarkovDecisionProcess)
    process.check_ends()
    # A constraint for each action on offer; ends have none, and are held at 0 by their bounds.
    owners = np.repeat(np.arange(process.n_states), process.n_actions)
    rows = np.flatnonzero(process.available.ravel() & ~process.terminal[owners])
    picks = sp.csr_array(
        (np.ones(len(rows)), (np.arange(len(rows)), owners[rows])),
        shape=(len(rows), process.n_states),
    )
    excess: Any = process.discount * process.transitions[rows] - picks
    bounds: Any = [(0.0, 0.0) if terminal else (None, None) for terminal in process.terminal]
    result: Any = linprog(
        np.ones(process.n_states),
        A_ub=excess,
        b_ub=-process.rewards.ravel()[rows],
        bounds=bounds,
    )
    if result.x is None:
        raise DataError(f"process: the linear program has no solution ({result.message}).")
    return result.x


def _loop_table(process: MarkovDecisionProcess) -> Any:
    table = process.transitions
    return (table.indptr, table.indices, table.data, process.rewards.ravel(), process.discount)


def _values_of(process: Any, values: ArrayLike) -> NDArray[np.float64]:
    check_type("process", process, MarkovDecisionProcess)
    return check_array("values", values, (process.n_states,))


def _finished(
    process: MarkovDecisionProcess,
    values: NDArray[np.float64],
    residuals: list[float],
    settled: int,
    tol: float,
    method: str,
) -> Plan:
    converged = bool(residuals[-1] <= tol)
    if not converged:
        warn_caller(
            f"{method} stopped after {len(residuals)} iterations while values still changed by "
            f"{residuals[-1]:.3g}; raise max_iter, or look for rewards without end.",
            ConvergenceWarning,
        )
    table = (
        bellman_action_values(process, values)
        if np.isfinite(values).all()
        else np.full(process.available.shape, np.nan)
    )
    policy = np.argmax(table, axis=1).astype(np.int64)
    return Plan(values, policy, table, np.asarray(residuals), settled, converged)
