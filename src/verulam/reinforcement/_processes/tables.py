"""Tables of a process from what people have: arrays, functions of states, Gymnasium's own."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.reinforcement._checks import check_array

#: States that a function may lead to.
MOST_STATES = 5_000_000


class Outcomes(NamedTuple):
    """What can happen: tuples of state, action, next state, probability and reward, and names."""

    outcomes: list[tuple[Any, ...]]
    start: NDArray[np.float64]
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]


def reachable_outcomes(
    step: Callable[[Any, Any], Iterable[tuple[float, Any, float]]],
    start: Any,
    actions: Sequence[Hashable] | Callable[[Any], Sequence[Hashable]],
) -> Outcomes:
    """Return what can happen in all states that a function leads to from some.

    Parameters
    ----------
    step, start, actions
        As `MarkovDecisionProcess.from_function` takes them.
    """
    for name, value in (("start", start), ("actions", actions)):
        if isinstance(value, str) or not (callable(value) or isinstance(value, Iterable)):
            raise DataError(f"{name} is {value!r}; expected a list, such as [{value!r}].")
    offered = actions if callable(actions) else lambda _: actions
    codes: dict[Hashable, int] = {}
    for state in start:
        codes.setdefault(state, len(codes))
    if not codes:
        raise DataError("start is empty; expected at least one state.")
    n_starts, waiting = len(codes), deque(codes)
    action_codes: dict[Hashable, int] = {}
    outcomes: list[tuple[int, int, int, float, float]] = []
    ends = []
    while waiting:
        state = waiting.popleft()
        code = codes[state]
        choices = list(offered(state))
        if not choices:
            ends.append(code)
        for action in choices:
            action_code = action_codes.setdefault(action, len(action_codes))
            for share, successor, reward in _step_outcomes(step, state, action):
                if successor not in codes:
                    codes[successor] = len(codes)
                    waiting.append(successor)
                outcomes.append((code, action_code, codes[successor], share, reward))
        if len(codes) > MOST_STATES:
            raise DataError(f"step leads to more than {MOST_STATES:,} states.")
    action_codes = action_codes or {0: 0}
    outcomes += [(code, a, code, 1.0, 0.0) for code in ends for a in range(len(action_codes))]
    first = np.zeros(len(codes))
    first[:n_starts] = 1.0 / n_starts
    return Outcomes(outcomes, first, tuple(codes), tuple(action_codes))


def published_outcomes(environment: Any) -> Outcomes:
    """Return what can happen in a Gymnasium environment that publishes its table as ``P``.

    Parameters
    ----------
    environment
        The environment.
    """
    inner = getattr(environment, "unwrapped", environment)
    table = getattr(inner, "P", None)
    if not isinstance(table, dict) or not table:
        raise DataError(
            f"environment: {type(inner).__name__} publishes no table P of its transitions; "
            "train an agent on it instead, or estimate a process with ModelLearner."
        )
    n_states, n_actions = len(table), len(next(iter(table.values())))
    rows = [
        (state, action, successor, share, reward, done)
        for state, choices in table.items()
        for action, results in choices.items()
        for share, successor, reward, done in results
    ]
    ends = {successor for *_, successor, _, _, done in rows if done}
    # A state that is also entered without an end needs a copy in which the episode stays over.
    shared = {successor for *_, successor, _, _, done in rows if not done} & ends
    end = n_states
    outcomes = [
        (s, a, end if done and successor in shared else successor, share, reward)
        for s, a, successor, share, reward, done in rows
        if s not in ends or s in shared
    ]
    n_all = n_states + bool(shared)
    finals = (ends - shared) | ({end} if shared else set())
    outcomes += [(s, a, s, 1.0, 0.0) for s in finals for a in range(n_actions)]
    first = np.zeros(n_all)
    known = getattr(inner, "initial_state_distrib", None)
    first[:n_states] = np.full(n_states, 1.0 / n_states) if known is None else known
    return Outcomes(outcomes, first, tuple(range(n_all)), tuple(range(n_actions)))


def _step_outcomes(step: Any, state: Any, action: Any) -> list[tuple[float, Any, float]]:
    """Return what a user's function gives for a state and an action, or refuse it."""
    answer = step(state, action)
    try:
        rows = [(share, successor, reward) for share, successor, reward in answer]
        for _, successor, _ in rows:
            hash(successor)
    except (TypeError, ValueError):
        raise DataError(
            f"step returned {answer!r} for state {state!r} and action {action!r}; expected a list "
            "of tuples (probability, next state, reward) with states that can be keys."
        ) from None
    return rows


def action_tables(transitions: Any) -> list[sp.csr_array]:
    """Return one sparse table of transitions for each action, or refuse what is none."""
    if isinstance(transitions, np.ndarray) and transitions.dtype != object:
        check_array("transitions", transitions, (None, None, None))
    try:
        tables = [sp.csr_array(table, dtype=np.float64) for table in transitions]
    except (TypeError, ValueError):
        raise DataError(
            "transitions: expected an array of shape (n_actions, n_states, n_states) or a list of "
            "sparse matrices."
        ) from None
    if not tables or not tables[0].shape[0]:
        raise DataError("transitions is empty; expected at least one action and one state.")
    for number, table in enumerate(tables):
        if table.shape != (tables[0].shape[0],) * 2:
            raise DataError(
                f"transitions: the table of action {number} has shape {table.shape}; expected a "
                "square of the number of states."
            )
        table.eliminate_zeros()
    return tables


def entry_numbers(
    name: str, values: Any, table: sp.csr_array, n_states: int, n_actions: int
) -> NDArray[np.float64]:
    """Return one number for each entry of the table from numbers in any of three shapes."""
    if isinstance(values, list | tuple) and values and sp.issparse(values[0]):
        values = np.stack([part.toarray() for part in values])
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    try:
        dense = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} holds something else than numbers.") from None
    if not np.isfinite(dense).all():
        raise DataError(f"{name} has a value that is missing or infinite.")
    if dense.shape == (n_states,):
        return dense[rows // n_actions]
    if dense.shape == (n_states, n_actions):
        return dense.ravel()[rows]
    if dense.shape == (n_actions, n_states, n_states):
        return dense[rows % n_actions, rows // n_actions, table.indices]
    raise DataError(
        f"{name} has shape {dense.shape}; expected ({n_states},), ({n_states}, {n_actions}) or "
        f"({n_actions}, {n_states}, {n_states})."
    )


def distinct_names(
    name: str, values: Sequence[Hashable] | None, count: int
) -> tuple[Hashable, ...]:
    """Return so many names, all different; numbers where there are none."""
    names = tuple(range(count)) if values is None else tuple(values)
    if len(names) != count or len(set(names)) != count:
        raise DataError(f"{name} must hold {count} different names; got {len(names)}.")
    return names


def summed(
    values: NDArray[np.float64], rows: NDArray[np.int64], columns: NDArray[np.int64], shape: Any
) -> sp.csr_array:
    """Return a table in which the values of one place are added up."""
    table = sp.csr_array(sp.coo_array((values, (rows, columns)), shape=shape))
    table.sum_duplicates()
    return table
