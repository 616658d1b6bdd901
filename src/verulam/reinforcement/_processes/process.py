"""Markov decision processes whose tables are known: states, actions, transitions, rewards."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, unknown_name
from verulam.reinforcement._checks import (
    SUM_TOLERANCE,
    check_array,
    check_codes,
    check_distribution,
    check_number,
)

#: States that a function may lead to.
MOST_STATES = 5_000_000


@dataclass(frozen=True, eq=False)
class MarkovDecisionProcess:
    r"""States, actions, :math:`P(s' \mid s, a)` and rewards, in sparse rows by state and action.

    Build one with `from_arrays`, `from_function` or `from_gymnasium`.

    Attributes
    ----------
    transitions : csr_array of shape (n_states * n_actions, n_states)
        Row ``s * n_actions + a`` holds :math:`P(\cdot \mid s, a)`; the row of an action that a
        state does not offer is empty.
    outcome_rewards : ndarray
        Mean reward of each entry of `transitions`.
    discount
        :math:`\gamma`, what a reward one step later is worth.
    start : ndarray of shape (n_states,)
        Distribution of the first state.
    states, actions
        Names.
    noise : ndarray
        Standard deviation of the normal noise in the reward of each entry; None without any.

    Notes
    -----
    A terminal state is absorbing: every action leads back to it, with reward 0. See Alpaydin 18.3.

    Examples
    --------
    >>> from verulam.reinforcement import MarkovDecisionProcess
    >>> moves = [[[0.9, 0.1], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]
    >>> process = MarkovDecisionProcess.from_arrays(moves, [[0.0, 1.0], [0.0, 0.0]], discount=0.9)
    >>> process
    MarkovDecisionProcess(2 states, 2 actions, 5 transitions, discount 0.9)
    >>> process.terminal.tolist(), process.rewards.tolist()
    ([False, True], [[0.0, 1.0], [0.0, 0.0]])
    """

    transitions: sp.csr_array
    outcome_rewards: NDArray[np.float64]
    discount: float
    start: NDArray[np.float64]
    states: tuple[Any, ...]
    actions: tuple[Any, ...]
    noise: NDArray[np.float64] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_number("discount", self.discount, 0.0, 1.0)
        table = self.transitions
        if table.nnz < np.iinfo(np.int32).max:
            # Half the memory that a sweep has to walk through.
            table.indptr, table.indices = (
                part.astype(np.int32, copy=False) for part in (table.indptr, table.indices)
            )
        self._check_rows()
        check_distribution("start", self.start, self.n_states)
        if not np.isfinite(self.outcome_rewards).all():
            raise DataError("rewards has a value that is missing or infinite.")

    def __repr__(self) -> str:
        return (
            f"MarkovDecisionProcess({self.n_states:,} states, {self.n_actions} actions, "
            f"{self.transitions.nnz:,} transitions, discount {self.discount:g})"
        )

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.states)

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return len(self.actions)

    @cached_property
    def available(self) -> NDArray[np.bool_]:
        """Which actions each state offers."""
        return (np.diff(self.transitions.indptr) > 0).reshape(self.n_states, self.n_actions)

    @cached_property
    def rewards(self) -> NDArray[np.float64]:
        r"""Expected rewards :math:`E[r \mid s, a]`; 0 where a state does not offer the action."""
        weighted = self.transitions.data * self.outcome_rewards
        sums = np.add.reduceat(np.append(weighted, 0.0), self.transitions.indptr[:-1])
        sums[np.diff(self.transitions.indptr) == 0] = 0.0
        return sums.reshape(self.n_states, self.n_actions)

    @cached_property
    def terminal(self) -> NDArray[np.bool_]:
        """Which states are absorbing without reward."""
        table = self.transitions
        owners = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr)) // self.n_actions
        leaves = (table.indices != owners) | (self.outcome_rewards != 0)
        if self.noise is not None:
            leaves |= self.noise != 0
        active = np.zeros(self.n_states, dtype=bool)
        active[owners[leaves]] = True
        return ~active

    def state_code(self, state: Hashable) -> int:
        """Return the position of a state by its name."""
        try:
            return self._codes[state]
        except (KeyError, TypeError):
            raise unknown_name("state", str(state), [str(name) for name in self.states]) from None

    @cached_property
    def _codes(self) -> dict[Hashable, int]:
        return {name: code for code, name in enumerate(self.states)}

    def _check_rows(self) -> None:
        table = self.transitions
        lengths = np.diff(table.indptr)
        if len(table.data) and not (np.isfinite(table.data).all() and table.data.min() >= 0):
            place = int(np.flatnonzero(~(np.isfinite(table.data) & (table.data >= 0)))[0])
            row = int(np.searchsorted(table.indptr, place, side="right")) - 1
            raise DataError(
                f"transitions: {self._row_name(row)} has the probability {table.data[place]:g}."
            )
        sums = np.asarray(table.sum(axis=1)).ravel()
        wrong = np.flatnonzero((np.abs(sums - 1.0) > SUM_TOLERANCE) & (lengths > 0))
        if len(wrong):
            raise DataError(
                f"transitions: the probabilities of {self._row_name(int(wrong[0]))} sum to "
                f"{sums[wrong[0]]:.6g}, not 1."
            )
        idle = np.flatnonzero(~self.available.any(axis=1))
        if len(idle):
            raise DataError(f"transitions: state {self.states[idle[0]]!r} offers no action.")

    def _row_name(self, row: int) -> str:
        state, action = divmod(row, self.n_actions)
        return f"state {self.states[state]!r} with action {self.actions[action]!r}"

    def check_ends(self) -> None:
        """Refuse a discount of 1 where a state cannot reach a terminal one."""
        if self.discount < 1.0:
            return
        if not self.terminal.any():
            raise DataError(
                "discount is 1, but no state is absorbing without reward, so that returns have no "
                "bound; give a discount below 1 or a terminal state."
            )
        lost = np.flatnonzero(~self.reaches(self.terminal))
        if len(lost):
            raise DataError(
                f"discount is 1, but state {self.states[lost[0]]!r} cannot reach a terminal state; "
                "give a discount below 1."
            )

    def reaches(self, goals: ArrayLike) -> NDArray[np.bool_]:
        """Return which states can come to one of some states by any actions.

        Parameters
        ----------
        goals : array of shape (n_states,)
            True for the states to come to.
        """
        reached = np.array(goals, dtype=bool)
        if reached.shape != (self.n_states,):
            raise DataError(f"goals has shape {reached.shape}; expected one flag for each state.")
        coo = self.transitions.tocoo()
        links = coo.data > 0
        ones = np.ones(int(links.sum()), dtype=np.int8)
        rows, columns = coo.row[links] // self.n_actions, coo.col[links]
        backward = sp.csr_array((ones, (columns, rows)), shape=(self.n_states, self.n_states))
        frontier = np.flatnonzero(reached)
        while len(frontier):
            spans = [
                backward.indices[backward.indptr[s] : backward.indptr[s + 1]] for s in frontier
            ]
            before = np.unique(np.concatenate(spans))
            frontier = before[~reached[before]]
            reached[frontier] = True
        return reached

    def with_discount(self, discount: float) -> "MarkovDecisionProcess":
        """Return the same process with another discount."""
        return MarkovDecisionProcess(
            self.transitions, self.outcome_rewards, discount, self.start, self.states, self.actions,
            self.noise,
        )  # fmt: skip

    def under(self, policy: ArrayLike) -> tuple[sp.csr_array, NDArray[np.float64]]:
        r"""Return :math:`P_\pi` and :math:`R_\pi`, the chain of states when a policy acts.

        Parameters
        ----------
        policy
            One action for each state, or a table of probabilities by state and action.
        """
        shares = policy_table(self, policy)
        rows = np.repeat(np.arange(self.n_states), self.n_actions)
        columns = np.arange(self.n_states * self.n_actions)
        weights = shares.ravel()
        used = weights > 0
        shape = (self.n_states, len(columns))
        choice = sp.csr_array((weights[used], (rows[used], columns[used])), shape=shape)
        rewards = np.asarray(choice @ self.rewards.ravel())
        return sp.csr_array(choice @ self.transitions), rewards

    @classmethod
    def from_arrays(
        cls,
        transitions: Any,
        rewards: Any,
        discount: float,
        *,
        start: ArrayLike | None = None,
        states: Sequence[Hashable] | None = None,
        actions: Sequence[Hashable] | None = None,
        noise: Any = None,
    ) -> "MarkovDecisionProcess":
        """Return a process from tables.

        Parameters
        ----------
        transitions
            An array of shape (n_actions, n_states, n_states), or one sparse matrix per action. A
            row of zeros says that the state does not offer the action.
        rewards
            Of shape (n_states,), (n_states, n_actions) or (n_actions, n_states, n_states).
        discount
            From 0 to 1.
        start
            Distribution of the first state; None for all states alike.
        states, actions
            Names; None for numbers.
        noise
            Standard deviations of the rewards, shaped as `rewards` may be.
        """
        tables = _action_tables(transitions)
        n_actions, n_states = len(tables), tables[0].shape[0]
        stacked = sp.csr_array(sp.vstack(tables, format="csr"))
        order = np.arange(n_actions * n_states).reshape(n_actions, n_states).T.ravel()
        table = sp.csr_array(stacked[order])
        table.sort_indices()
        state_names = _names("states", states, n_states)
        action_names = _names("actions", actions, n_actions)
        if start is None:
            start = np.full(n_states, 1.0 / n_states)
        return cls(
            table,
            _outcomes("rewards", rewards, table, n_states, n_actions),
            float(check_number("discount", discount, 0.0, 1.0)),
            check_distribution("start", start, n_states),
            state_names,
            action_names,
            None if noise is None else _outcomes("noise", noise, table, n_states, n_actions),
        )

    @classmethod
    def from_outcomes(
        cls,
        outcomes: Iterable[tuple[Any, ...]],
        n_states: int,
        n_actions: int,
        discount: float,
        *,
        start: ArrayLike | None = None,
        states: Sequence[Hashable] | None = None,
        actions: Sequence[Hashable] | None = None,
        noise: ArrayLike | None = None,
    ) -> "MarkovDecisionProcess":
        """Return a process from a list of what can happen; outcomes of one kind are joined.

        Parameters
        ----------
        outcomes
            Tuples of state, action, next state, probability and reward.
        n_states, n_actions
            How many there are.
        discount
            From 0 to 1.
        start
            Distribution of the first state; None for all states alike.
        states, actions
            Names; None for numbers.
        noise
            Standard deviation of the reward of each outcome.
        """
        try:
            columns = np.asarray(list(outcomes), dtype=np.float64)
        except (TypeError, ValueError):
            columns = np.empty(0)
        if columns.ndim != 2 or columns.shape[1] != 5:
            raise DataError(
                "outcomes: expected tuples of state, action, next state, probability and reward, "
                "at least one."
            )
        check_codes("outcomes: states", columns[:, 0], n_states)
        check_codes("outcomes: actions", columns[:, 1], n_actions)
        check_codes("outcomes: next states", columns[:, 2], n_states)
        rows = (columns[:, 0] * n_actions + columns[:, 1]).astype(np.int64)
        successors, shares, rewards = columns[:, 2].astype(np.int64), columns[:, 3], columns[:, 4]
        shape = (n_states * n_actions, n_states)
        table = _summed(shares, rows, successors, shape)
        means = _summed(shares * rewards, rows, successors, shape).data
        safe = np.where(table.data > 0, table.data, 1.0)
        spread = None
        if noise is not None:
            deviations = np.asarray(noise, dtype=np.float64)
            spread = np.sqrt(_summed(shares * deviations**2, rows, successors, shape).data / safe)
        if start is None:
            start = np.full(n_states, 1.0 / n_states)
        return cls(
            table, means / safe, discount, check_distribution("start", start, n_states),
            _names("states", states, n_states), _names("actions", actions, n_actions), spread,
        )  # fmt: skip

    @classmethod
    def from_function(
        cls,
        step: Callable[[Any, Any], Iterable[tuple[float, Any, float]]],
        start: Any,
        actions: Sequence[Hashable] | Callable[[Any], Sequence[Hashable]],
        discount: float,
    ) -> "MarkovDecisionProcess":
        """Return the process of all states that can be reached from some.

        Parameters
        ----------
        step
            Function of a state and an action: tuples of probability, next state and reward.
        start
            List of first states, all as likely.
        actions
            All actions, or a function of the state that lists what it offers; a state that offers
            none is terminal.
        discount
            From 0 to 1.

        Examples
        --------
        >>> walk = MarkovDecisionProcess.from_function(
        ...     lambda s, a: [(1.0, s + a, float(s + a == 3))], [0],
        ...     lambda s: [] if s == 3 else [1, -1] if s else [1], discount=0.9,
        ... )
        >>> walk.states, walk.terminal.tolist()
        ((0, 1, 2, 3), [False, False, False, True])
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
        return cls.from_outcomes(
            outcomes, len(codes), len(action_codes), discount,
            start=first, states=tuple(codes), actions=tuple(action_codes),
        )  # fmt: skip

    @classmethod
    def from_gymnasium(cls, environment: Any, discount: float) -> "MarkovDecisionProcess":
        """Return the process of a Gymnasium environment that publishes its table as ``P``.

        Parameters
        ----------
        environment
            Such as ``gymnasium.make("FrozenLake-v1")``.
        discount
            From 0 to 1; environments do not say.

        Notes
        -----
        States where episodes end become terminal, whatever the table says of actions there.
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
        return cls.from_outcomes(outcomes, n_all, n_actions, discount, start=first)


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


def policy_table(process: MarkovDecisionProcess, policy: Any) -> NDArray[np.float64]:
    """Return the probabilities of a policy by state and action.

    Parameters
    ----------
    process
        The process in which it acts.
    policy
        One action for each state, or a table of probabilities by state and action.
    """
    try:
        values = np.asarray(policy, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("policy holds something else than numbers.") from None
    shape = (process.n_states, process.n_actions)
    if values.shape == shape[:1]:
        codes = values.astype(np.int64)
        if (codes != values).any() or codes.min() < 0 or codes.max() >= process.n_actions:
            raise DataError(f"policy must hold whole numbers from 0 to {process.n_actions - 1}.")
        table = np.zeros(shape)
        table[np.arange(process.n_states), codes] = 1.0
    else:
        if values.ndim < 2:
            raise DataError(
                f"policy has shape {values.shape}; expected an action for each of the {shape[0]} "
                f"states, or probabilities of shape {shape}."
            )
        table = check_array("policy", values, shape)
        wrong = np.flatnonzero((table < 0).any(axis=1) | (np.abs(table.sum(axis=1) - 1.0) > 1e-6))
        if len(wrong):
            raise DataError(
                f"policy: the probabilities of state {process.states[wrong[0]]!r} do not sum to 1."
            )
    impossible = np.argwhere((table > 0) & ~process.available)
    if len(impossible):
        state, action = impossible[0]
        raise DataError(
            f"policy takes action {process.actions[action]!r} in state {process.states[state]!r}, "
            "which does not offer it."
        )
    return table


def _action_tables(transitions: Any) -> list[sp.csr_array]:
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


def _outcomes(
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


def _names(name: str, values: Sequence[Hashable] | None, count: int) -> tuple[Hashable, ...]:
    names = tuple(range(count)) if values is None else tuple(values)
    if len(names) != count or len(set(names)) != count:
        raise DataError(f"{name} must hold {count} different names; got {len(names)}.")
    return names


def _summed(
    values: NDArray[np.float64], rows: NDArray[np.int64], columns: NDArray[np.int64], shape: Any
) -> sp.csr_array:
    table = sp.csr_array(sp.coo_array((values, (rows, columns)), shape=shape))
    table.sum_duplicates()
    return table
