"""Dynamic networks: a slice that repeats, with arcs from one to the next."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, Seed
from verulam.graphical._inference.answers import MostProbable, Posterior
from verulam.graphical._network.conditionals import Conditional, NoisyOr, SoftmaxTable, Table
from verulam.graphical._network.network import BayesianNetwork

#: What stands before the name of a parent in the slice before.
BEFORE = "previous "


class DynamicNetwork:
    r"""A Bayesian network over time: a first slice, and one that repeats.

    Parameters
    ----------
    first
        Conditionals of the nodes in the first slice.
    later
        Conditionals of the same nodes in every later one. A parent in the slice before is named
        with ``"previous "`` in front: ``"previous rain"``.

    Notes
    -----
    Unrolled over T slices it is an ordinary network, whose nodes are named ``"rain 0"``,
    ``"rain 1"``, ... (Alpaydin 15.11, figure 15.8).

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.graphical import DynamicNetwork, Table
    >>> two = ("no", "yes")
    >>> days = DynamicNetwork(
    ...     {"rain": Table(two, [0.5, 0.5]),
    ...      "umbrella": Table(two, [[0.8, 0.2], [0.1, 0.9]], ("rain",))},
    ...     {"rain": Table(two, [[0.7, 0.3], [0.3, 0.7]], ("previous rain",)),
    ...      "umbrella": Table(two, [[0.8, 0.2], [0.1, 0.9]], ("rain",))},
    ... )
    >>> seen = pd.DataFrame({"umbrella": ["yes", "yes"]})
    >>> print(days.filter(seen, "rain").round(3))
          no    yes
    0  0.182  0.818
    1  0.117  0.883
    """

    def __init__(self, first: Mapping[str, Conditional], later: Mapping[str, Conditional]) -> None:
        if set(first) != set(later):
            odd = sorted(set(first) ^ set(later))
            raise DataError(f"first and later must have the same nodes, and {odd[0]!r} is in one.")
        for name in first:
            if first[name].states != later[name].states:
                raise DataError(f"first and later name the states of {name!r} differently.")
        self.first, self.later = dict(first), dict(later)
        for parents in (c.parents for c in self.first.values()):
            if any(parent.startswith(BEFORE) for parent in parents):
                raise DataError("first: the first slice has none before it.")
        self._unrolled = lru_cache(maxsize=8)(self._unroll)
        self.unroll(2)  # wrong parents and tables are refused here

    def __getstate__(self) -> dict[str, Any]:
        return {"first": self.first, "later": self.later}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["first"], state["later"])  # type: ignore[misc]

    @property
    def states(self) -> dict[str, tuple[Any, ...]]:
        """Labels of the states of each node."""
        return {name: conditional.states for name, conditional in self.first.items()}

    def unroll(self, n_slices: int) -> BayesianNetwork:
        """Return the network of a number of slices.

        Parameters
        ----------
        n_slices
            How many.
        """
        if not isinstance(n_slices, int | np.integer) or n_slices < 1:
            raise DataError(f"n_slices: expected a whole number of at least 1, not {n_slices!r}.")
        return self._unrolled(int(n_slices))

    def _unroll(self, n_slices: int) -> BayesianNetwork:
        conditionals: dict[str, Conditional] = {}
        for t in range(n_slices):
            for name, conditional in (self.later if t else self.first).items():
                parents = {parent: _at(parent, t) for parent in conditional.parents}
                conditionals[f"{name} {t}"] = _renamed(conditional, parents)
        return BayesianNetwork(conditionals)

    def filter(self, table: pd.DataFrame, target: str) -> pd.DataFrame:
        """Return the distribution of a node in each slice, given all that was seen up to it.

        Parameters
        ----------
        table
            A row for each slice, a column for each observed node; missing cells were not seen.
        target
            The node.
        """
        n_slices = self._check(table, target)
        row = self._row(table)
        # Row t has what was seen up to slice t: all of them are asked in one call.
        rows = pd.DataFrame([row] * n_slices)
        for name in rows.columns:
            seen_at = int(name.rpartition(" ")[2])
            rows[name] = rows[name].astype(object)
            rows.loc[: seen_at - 1, name] = None
        answers = self.unroll(n_slices).posteriors(rows, [f"{target} {t}" for t in range(n_slices)])
        parts = [answers[f"{target} {t}"].iloc[t].to_numpy() for t in range(n_slices)]
        return pd.DataFrame(parts, index=table.index, columns=list(self.states[target]))

    def smooth(self, table: pd.DataFrame, target: str) -> pd.DataFrame:
        """Return the distribution of a node in each slice, given all that was seen.

        Parameters
        ----------
        table
            As for `filter`.
        target
            The node.
        """
        n_slices = self._check(table, target)
        rows = pd.DataFrame([self._row(table)])
        names = [f"{target} {t}" for t in range(n_slices)]
        answers = self.unroll(n_slices).posteriors(rows, names)
        parts = [answers[name].iloc[0].to_numpy() for name in names]
        return pd.DataFrame(parts, index=table.index, columns=list(self.states[target]))

    def explain(self, table: pd.DataFrame) -> tuple[pd.DataFrame, MostProbable]:
        """Return the most probable states of all nodes in all slices, as a table and a record.

        Parameters
        ----------
        table
            As for `filter`.
        """
        n_slices = self._check(table, None)
        best = self.unroll(n_slices).explain(self._row(table))
        columns = {
            name: [best.states[f"{name} {t}"] for t in range(n_slices)] for name in self.first
        }
        return pd.DataFrame(columns, index=table.index), best

    def query(
        self,
        target: str,
        at: int,
        table: pd.DataFrame | None = None,
        *,
        n_slices: int | None = None,
    ) -> Posterior:
        """Return the distribution of a node in one slice, which may lie in the future.

        Parameters
        ----------
        target
            The node.
        at
            Number of the slice, from 0.
        table
            What was seen, as for `filter`.
        n_slices
            How many to unroll; None for as many as are needed.
        """
        length = 0 if table is None else self._check(table, target)
        needed = max(length, at + 1, n_slices or 1)
        evidence = {} if table is None else self._row(table)
        return self.unroll(needed).query(f"{target} {at}", evidence)

    def sample(self, n_slices: int, *, random_state: Seed = None) -> pd.DataFrame:
        """Draw one history: a row for each slice.

        Parameters
        ----------
        n_slices
            How many slices.
        random_state
            Seed.
        """
        row = self.unroll(n_slices).sample(1, random_state=random_state).iloc[0]
        columns = {name: [row[f"{name} {t}"] for t in range(n_slices)] for name in self.first}
        return pd.DataFrame(columns)

    def _check(self, table: Any, target: str | None) -> int:
        if not isinstance(table, pd.DataFrame) or len(table) == 0:
            raise DataError("table: expected a DataFrame with a row for each slice.")
        for name in (*table.columns, *(() if target is None else (target,))):
            if name not in self.first:
                raise DataError(f"There is no node {name!r}; there are {', '.join(self.first)}.")
        return len(table)

    def _row(self, table: pd.DataFrame) -> dict[str, Any]:
        """Return what was seen in all slices as evidence of the unrolled network."""
        return {
            f"{name} {t}": value
            for name in table.columns
            for t, value in enumerate(table[name])
            if not pd.isna(value)
        }


def _at(parent: str, slice_number: int) -> str:
    if parent.startswith(BEFORE):
        return f"{parent.removeprefix(BEFORE)} {slice_number - 1}"
    return f"{parent} {slice_number}"


def _renamed(conditional: Conditional, names: Mapping[str, str]) -> Conditional:
    if isinstance(conditional, Table):
        return replace(conditional, parents=tuple(names[p] for p in conditional.parents))
    if isinstance(conditional, NoisyOr):
        return replace(conditional, causes={names[p]: v for p, v in conditional.causes.items()})
    assert isinstance(conditional, SoftmaxTable)
    return replace(conditional, weights={names[p]: v for p, v in conditional.weights.items()})


def from_hidden_markov(
    start: ArrayLike,
    transition: ArrayLike,
    emission: ArrayLike,
    *,
    states: Sequence[Any] | None = None,
    symbols: Sequence[Any] | None = None,
) -> DynamicNetwork:
    """Return a hidden Markov model as a dynamic network of the nodes ``state`` and ``symbol``.

    Parameters
    ----------
    start
        Probability of each state at first.
    transition
        Probability of each state after each state, one row for each of the latter.
    emission
        Probability of each symbol in each state, one row for each state.
    states, symbols
        Labels; 0, 1, ... unless they are given.

    Notes
    -----
    Alpaydin 15.9, figure 15.5: sum-product on it is the forward-backward algorithm, and
    max-product is Viterbi's.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.graphical import from_hidden_markov
    >>> model = from_hidden_markov([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], [[0.9, 0.1], [0.2, 0.8]])
    >>> path, _ = model.explain(pd.DataFrame({"symbol": [0, 1, 1]}))
    >>> path["state"].tolist()
    [0, 1, 1]
    """
    a, b = np.asarray(transition, dtype=np.float64), np.asarray(emission, dtype=np.float64)
    pi = np.asarray(start, dtype=np.float64)
    if a.ndim != 2 or b.ndim != 2 or a.shape != (len(pi), len(pi)) or len(b) != len(pi):
        raise DataError(
            f"start, transition and emission have the shapes {pi.shape}, {a.shape} and {b.shape}; "
            "expected (n,), (n, n) and (n, m)."
        )
    labels = tuple(range(len(pi))) if states is None else tuple(states)
    signs = tuple(range(b.shape[1])) if symbols is None else tuple(symbols)
    symbol = Table(signs, b, ("state",))
    return DynamicNetwork(
        {"state": Table(labels, pi), "symbol": symbol},
        {"state": Table(labels, a, (f"{BEFORE}state",)), "symbol": symbol},
    )
