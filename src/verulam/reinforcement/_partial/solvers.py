"""Exact and point-based values of partially observable processes, and acting by them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, Seed, generator, warn_caller
from verulam.reinforcement._checks import (
    check_array,
    check_count,
    check_distribution,
    check_number,
    check_type,
)
from verulam.reinforcement._partial.alpha_vectors import AlphaVectors, after_action
from verulam.reinforcement._partial.process import PartiallyObservableProcess
from verulam.reinforcement._processes.planning import bellman_action_values, value_iteration


def solve_exactly(
    process: PartiallyObservableProcess,
    horizon: int | None = None,
    *,
    tol: float = 1e-6,
    max_iter: int = 2000,
    max_vectors: int = 100_000,
) -> list[AlphaVectors]:
    r"""Return the best values over beliefs with 1, 2, ... steps to go, as linear functions.

    Parameters
    ----------
    process
        The process.
    horizon
        Steps to go; None goes on until values settle, for a discount below 1, and returns the last
        stage alone.
    tol
        Largest change of a value between the last two stages.
    max_iter
        Most stages without a horizon.
    max_vectors
        Most vectors before pruning.

    Returns
    -------
    list of AlphaVectors
        Stage k is at position k - 1.

    Notes
    -----
    With one step to go each action has one vector, its rewards. Each further stage adds for every
    action its reward to the discounted value `after_action`, and prunes what is nowhere best. An
    action that ends the episode has no future. See Alpaydin 18.7.2, and Cassandra, Littman and
    Zhang (1997).

    Examples
    --------
    >>> from verulam.reinforcement import solve_exactly, tiger
    >>> stages = solve_exactly(tiger(), 2)
    >>> stages[1].breaks().round(4).tolist()
    [0.2703, 0.318, 0.6562, 0.707]
    """
    check_type("process", process, PartiallyObservableProcess)
    check_count("max_vectors", max_vectors)
    if horizon is None and process.discount == 1.0:
        raise DataError("horizon is None, which needs a discount below 1; give a number of steps.")
    steps = max_iter if horizon is None else check_count("horizon", horizon)
    check_number("tol", tol, 0.0)
    stages: list[AlphaVectors] = []
    for step in range(steps):
        stage = _next_stage(process, stages[-1] if stages else None, max_vectors, step + 1)
        if horizon is None:
            settled = bool(stages) and _largest_change(stages[-1], stage) <= tol
            stages = [stage]
            if settled:
                return stages
        else:
            stages.append(stage)
    if horizon is None:
        warn_caller(
            f"values still changed after {max_iter} stages; raise max_iter.", ConvergenceWarning
        )
    return stages


def _next_stage(
    process: PartiallyObservableProcess, later: AlphaVectors | None, max_vectors: int, step: int
) -> AlphaVectors:
    parts, codes = [], []
    for action in range(process.n_actions):
        reward = process.rewards[:, action]
        if later is None or process.ending[action]:
            rows = reward[None]
        else:
            try:
                future = after_action(process, later, action, max_vectors=max_vectors)
            except DataError as error:
                raise DataError(f"horizon: with {step} steps to go {error}") from None
            rows = reward + process.discount * future.vectors
        parts.append(rows)
        codes += [action] * len(rows)
    return AlphaVectors(np.concatenate(parts), np.asarray(codes, dtype=np.int64)).pruned()


def _largest_change(before: AlphaVectors, after: AlphaVectors) -> float:
    """Return the largest difference of two value functions, in which each vector has a twin."""
    # V - W is at most the largest over vectors of V of the smallest distance to a vector of W.
    gaps = np.abs(after.vectors[:, None] - before.vectors[None]).max(axis=2)
    return float(max(gaps.min(axis=1).max(), gaps.min(axis=0).max()))


def point_based_values(
    process: PartiallyObservableProcess,
    *,
    n_beliefs: int = 200,
    horizon: int | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: Seed = None,
) -> AlphaVectors:
    r"""Return values over beliefs that are exact backups at some of them: a bound from below.

    Parameters
    ----------
    process
        The process.
    n_beliefs
        Beliefs at which values are backed up; they are met by acting at random from the start.
    horizon
        Steps to go; None until values settle, for a discount below 1.
    tol
        Largest change of a value at the beliefs.
    max_iter
        Most backups.
    random_state
        Seed.

    Notes
    -----
    Each belief keeps one vector, so that there are never more vectors than beliefs. Without a
    horizon values begin at :math:`\min r / (1 - \gamma)`, below all others, and rise. See Pineau,
    Gordon and Thrun (2003).

    Examples
    --------
    >>> from verulam.reinforcement import classic_tiger, point_based_values
    >>> values = point_based_values(classic_tiger(), n_beliefs=50, random_state=0)
    >>> round(values.value([0.5, 0.5]), 2)
    19.37
    """
    check_type("process", process, PartiallyObservableProcess)
    check_count("n_beliefs", n_beliefs)
    if horizon is None and process.discount == 1.0:
        raise DataError("horizon is None, which needs a discount below 1; give a number of steps.")
    beliefs = reachable_beliefs(process, n_beliefs, random_state=random_state)
    steps = (
        check_count("max_iter", max_iter) if horizon is None else check_count("horizon", horizon)
    )
    # Worth no less, whatever is done: from there every backup is a bound from below, and rises.
    lowest = 0.0 if horizon is not None else float(process.rewards.min()) / (1.0 - process.discount)
    current = AlphaVectors(np.full((1, process.n_states), lowest), np.array([-1]))
    values = current.values(beliefs)
    for _ in range(steps):
        current = _point_backup(process, beliefs, current)
        updated = current.values(beliefs)
        settled = np.abs(updated - values).max() <= tol
        values = updated
        if horizon is None and settled:
            break
    return current


def _point_backup(
    process: PartiallyObservableProcess, beliefs: NDArray[np.float64], later: AlphaVectors
) -> AlphaVectors:
    best = np.full(len(beliefs), -np.inf)
    vectors = np.zeros_like(beliefs)
    actions = np.zeros(len(beliefs), dtype=np.int64)
    for action in range(process.n_actions):
        rows = np.tile(process.rewards[:, action], (len(beliefs), 1))
        if not process.ending[action]:
            for table in process.joint[action]:
                projected = later.vectors @ table.T
                # Every belief takes the vector that is best after this observation.
                rows += process.discount * projected[np.argmax(beliefs @ projected.T, axis=1)]
        values = np.einsum("bs,bs->b", beliefs, rows)
        better = values > best
        best[better], vectors[better], actions[better] = values[better], rows[better], action
    _, first = np.unique(np.round(vectors, 10), axis=0, return_index=True)
    return AlphaVectors(vectors[np.sort(first)], actions[np.sort(first)])


def reachable_beliefs(
    process: PartiallyObservableProcess, n_beliefs: int, *, random_state: Seed = None
) -> NDArray[np.float64]:
    """Return different beliefs that acting at random from the start can lead to.

    Parameters
    ----------
    process
        The process.
    n_beliefs
        Most beliefs; the first is that of the start.
    random_state
        Seed.

    Examples
    --------
    >>> from verulam.reinforcement import classic_tiger, reachable_beliefs
    >>> reachable_beliefs(classic_tiger(), 3, random_state=0).shape
    (3, 2)
    """
    check_type("process", process, PartiallyObservableProcess)
    check_count("n_beliefs", n_beliefs)
    random = generator(random_state)
    rows = [process.start]
    seen = {tuple(np.round(process.start, 9))}
    belief = process.start
    # A process may have fewer beliefs that differ; the search for more of them ends.
    for _ in range(50 * n_beliefs):
        if len(rows) == n_beliefs:
            break
        action = int(random.integers(process.n_actions))
        shares = np.einsum("s,ost->o", belief, process.joint[action])
        code = int(random.choice(len(shares), p=shares / shares.sum()))
        following = belief @ process.joint[action, code]
        belief = process.start if process.ending[action] else following / following.sum()
        # Plans are made for the start: what lies near it must not be left for ever.
        if random.random() < 0.1:
            belief = process.start
        name = tuple(np.round(belief, 9))
        if name not in seen:
            seen.add(name)
            rows.append(belief)
    return np.asarray(rows)


@dataclass(frozen=True, eq=False)
class BeliefValues:
    """Values of actions for a belief, by three ways to act.

    Attributes
    ----------
    most_likely : ndarray of shape (n_actions,)
        Values in the state that is most likely, as if it were certain.
    weighted : ndarray of shape (n_actions,)
        Mean over states of the values that seeing them would give: never too low.
    planned : ndarray of shape (n_actions,)
        Values with what is known of later beliefs, or NaN without.
    """

    most_likely: NDArray[np.float64]
    weighted: NDArray[np.float64]
    planned: NDArray[np.float64]


def belief_action_values(
    process: PartiallyObservableProcess,
    belief: ArrayLike,
    *,
    state_action_values: ArrayLike | None = None,
    later: AlphaVectors | None = None,
) -> BeliefValues:
    r"""Return what each action is worth for a belief: by the likeliest state, by weights, by plan.

    Parameters
    ----------
    process
        The process.
    belief
        Probability of each state.
    state_action_values
        Values by state and action of an agent that sees the state; None computes the best ones.
    later
        Values of the beliefs that follow; None leaves out the plan.

    Notes
    -----
    With belief .4 and .6 the value of an action is .4 times that in the first state plus .6 times
    that in the second. The plan is :math:`Q(b, a) = E[r] + \gamma \sum_o P(o \mid b, a) V(b_o)`.
    See Alpaydin 18.7.1, equation 18.24.

    Examples
    --------
    >>> from verulam.reinforcement import belief_action_values, tiger
    >>> table = [[-100.0, 90.0, -1.0], [80.0, -100.0, -1.0]]
    >>> values = belief_action_values(tiger(), [0.4, 0.6], state_action_values=table)
    >>> values.weighted.round(6).tolist(), values.most_likely.tolist()
    ([8.0, -24.0, -1.0], [80.0, -100.0, -1.0])
    """
    check_type("process", process, PartiallyObservableProcess)
    shares = check_distribution("belief", belief, process.n_states)
    if state_action_values is None:
        underlying = process.underlying()
        plan = value_iteration(underlying)
        state_action_values = bellman_action_values(underlying, plan.values)[: process.n_states]
    table = check_array(
        "state_action_values", state_action_values, (process.n_states, process.n_actions)
    )
    planned = np.full(process.n_actions, np.nan)
    if later is not None:
        planned = shares @ process.rewards
        for action in np.flatnonzero(~process.ending):
            parts = np.einsum("s,ost->ot", shares, process.joint[action])
            planned[action] += process.discount * (parts @ later.vectors.T).max(axis=1).sum()
    return BeliefValues(table[int(np.argmax(shares))], shares @ table, planned)


def value_of_information(
    process: PartiallyObservableProcess, belief: ArrayLike, later: AlphaVectors, action: Any
) -> float:
    """Return how much better one can do after an action's observation than without it.

    Parameters
    ----------
    process
        The process.
    belief
        Probability of each state.
    later
        Values of beliefs when what is to be done is chosen.
    action
        Name or number of the action that gathers information; its reward is not counted.

    Notes
    -----
    The comparison is with the same action whose observation nobody sees, so that it is never
    negative. What sensing costs is to be set against it. See Alpaydin 18.7.2.

    Examples
    --------
    >>> from verulam.reinforcement import solve_exactly, tiger, value_of_information
    >>> process = tiger()
    >>> doors = solve_exactly(process, 1)[0]
    >>> round(value_of_information(process, [0.5, 0.5], doors, "sense"), 6)
    30.5
    """
    check_type("later", later, AlphaVectors)
    shares = check_distribution("belief", belief, process.n_states)
    code = process.action_code(action)
    seen = np.einsum("s,ost->ot", shares, process.joint[code])
    informed = (seen @ later.vectors.T).max(axis=1).sum()
    return float(process.discount * (informed - (seen.sum(axis=0) @ later.vectors.T).max()))
