"""Markov decision processes whose tables are known: states, actions, transitions, rewards."""

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
from verulam.reinforcement._processes.tables import (
    action_tables,
    distinct_names,
    entry_numbers,
    published_outcomes,
    reachable_outcomes,
    summed,
)


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
        tables = action_tables(transitions)
        n_actions, n_states = len(tables), tables[0].shape[0]
        stacked = sp.csr_array(sp.vstack(tables, format="csr"))
        order = np.arange(n_actions * n_states).reshape(n_actions, n_states).T.ravel()
        table = sp.csr_array(stacked[order])
        table.sort_indices()
        state_names = distinct_names("states", states, n_states)
        action_names = distinct_names("actions", actions, n_actions)
        if start is None:
            start = np.full(n_states, 1.0 / n_states)
        return cls(
            table,
            entry_numbers("rewards", rewards, table, n_states, n_actions),
            float(check_number("discount", discount, 0.0, 1.0)),
            check_distribution("start", start, n_states),
            state_names,
            action_names,
            None if noise is None else entry_numbers("noise", noise, table, n_states, n_actions),
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
        table = summed(shares, rows, successors, shape)
        means = summed(shares * rewards, rows, successors, shape).data
        safe = np.where(table.data > 0, table.data, 1.0)
        spread = None
        if noise is not None:
            deviations = np.asarray(noise, dtype=np.float64)
            spread = np.sqrt(summed(shares * deviations**2, rows, successors, shape).data / safe)
        if start is None:
            start = np.full(n_states, 1.0 / n_states)
        return cls(
            table, means / safe, discount, check_distribution("start", start, n_states),
            distinct_names("states", states, n_states),
            distinct_names("actions", actions, n_actions), spread,
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
        reachable = reachable_outcomes(step, start, actions)
        return cls.from_outcomes(
            reachable.outcomes, len(reachable.start), len(reachable.actions), discount,
            start=reachable.start, states=reachable.states, actions=reachable.actions,
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
        published = published_outcomes(environment)
        return cls.from_outcomes(
            published.outcomes, len(published.start), len(published.actions), discount,
            start=published.start,
        )  # fmt: skip


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
