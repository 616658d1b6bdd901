"""Dynamic networks: a slice that repeats, with arcs from one to the next."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, Seed
from verulam.graphical._factor import Factor, FactorModel
from verulam.graphical._inference.answers import MostProbable, Posterior
from verulam.graphical._inference.junction_tree import MOST_ENTRIES, JunctionTree, plan_tree
from verulam.graphical._network.asking import row_marginals
from verulam.graphical._network.conditionals import Conditional, NoisyOr, SoftmaxTable, Table
from verulam.graphical._network.network import BayesianNetwork
from verulam.graphical._network.rows import encode_rows

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
    ``"rain 1"``, ... (Alpaydin 15.11, figure 15.8). `filter` passes messages from slice to slice
    instead. The time of all questions is in proportion to the number of slices.

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
        if self._trees is not None:
            return self._frame(self._trees.filter(table, target), table, target)
        # Row t has what was seen up to slice t: all of them are asked in one call.
        rows = pd.DataFrame([self._row(table)] * n_slices)
        for name in rows.columns:
            seen_at = int(name.rpartition(" ")[2])
            rows[name] = rows[name].astype(object)
            rows.loc[: seen_at - 1, name] = None
        answers = self.unroll(n_slices).posteriors(rows, [f"{target} {t}" for t in range(n_slices)])
        parts = [answers[f"{target} {t}"].iloc[t].to_numpy() for t in range(n_slices)]
        return self._frame(parts, table, target)

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
        network = self.unroll(n_slices)
        codes, _ = encode_rows(network.model, pd.DataFrame([self._row(table)]))
        marginals, log_evidence = row_marginals(network, codes, MOST_ENTRIES, None)
        if log_evidence[0] == -np.inf:
            raise DataError("The table has probability zero: it cannot occur under this network.")
        offsets, positions = network.model.offsets, network.model.positions
        first = [offsets[positions[f"{target} {t}"]] for t in range(n_slices)]
        states = np.arange(len(self.states[target]))
        return self._frame(marginals[0, np.add.outer(first, states)], table, target)

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
        if not isinstance(at, int | np.integer) or at < 0:
            raise DataError(f"at: expected the number of a slice, from 0, not {at!r}.")
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

    @cached_property
    def _trees(self) -> "SliceTrees | None":
        return SliceTrees.compile(self.first, self.later)

    def _frame(self, parts: Any, table: pd.DataFrame, target: str) -> pd.DataFrame:
        return pd.DataFrame(parts, index=table.index, columns=list(self.states[target]))

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


@dataclass(frozen=True, eq=False)
class SliceTrees:
    r"""A dynamic network as two small trees, through which messages pass from slice to slice.

    Attributes
    ----------
    first
        Tree of the first slice.
    later
        Tree of a later slice with those nodes of the slice before that it depends on.
    interface
        These nodes.

    Notes
    -----
    Given the interface :math:`I_t`, what came before tells nothing of what follows. With
    :math:`e_t` what is seen in slice t, :math:`\alpha_t(I_t) = P(I_t \mid e_0, \dots, e_t)` comes
    from :math:`\alpha_{t-1}` by one slice (Murphy 2002), so that time grows in proportion to the
    number of slices.
    """

    first: JunctionTree
    later: JunctionTree
    interface: tuple[str, ...]

    @classmethod
    def compile(
        cls, first: Mapping[str, Conditional], later: Mapping[str, Conditional]
    ) -> "SliceTrees | None":
        """Build the trees, or return None where their tables would be too large."""
        states = {name: conditional.states for name, conditional in first.items()}
        parents = dict.fromkeys(p for c in later.values() for p in c.parents)
        before = tuple(name for name in parents if name.startswith(BEFORE))
        interface = tuple(name.removeprefix(BEFORE) for name in before)
        earlier = {name: states[name.removeprefix(BEFORE)] for name in before}
        models = (
            _slice_model(first, states, [interface]),
            _slice_model(later, earlier | states, [interface, before]),
        )
        if any(plan_tree(model).n_entries > MOST_ENTRIES for model in models):
            return None
        return cls(JunctionTree.compile(models[0]), JunctionTree.compile(models[1]), interface)

    def filter(self, table: pd.DataFrame, target: str) -> np.ndarray:
        """Return the distribution of a node in each slice, given all up to it."""
        parts = []
        for tree, codes, factors in self._forward(table):
            parts.append(_marginal(tree, codes, factors, target))
        return np.array(parts)

    def _forward(
        self, table: pd.DataFrame
    ) -> Iterator[tuple[JunctionTree, np.ndarray, list[Factor]]]:
        """Yield the tree of each slice, what is seen in it, and the message of those before."""
        tree, alpha = self.first, list[Factor]()
        codes = encode_rows(tree.model, table)[0]
        for row in range(len(codes)):
            if row == 1:
                tree = self.later
                codes = encode_rows(tree.model, table)[0]
            seen = codes[row : row + 1]
            if tree.posteriors(seen, alpha)[1][0] == -np.inf:
                raise DataError(
                    f"Row {table.index[row]} of the table has probability zero after those before "
                    "it: it cannot occur under this network."
                )
            yield tree, seen, alpha
            message = _joint(tree, seen, alpha, self.interface)
            alpha = [replace(message, variables=tuple(BEFORE + n for n in self.interface))]


def _slice_model(
    conditionals: Mapping[str, Conditional],
    states: Mapping[str, tuple],
    together: list[tuple[str, ...]],
) -> FactorModel:
    """Return the factors of one slice, with ones that hold nodes together in a clique."""
    factors = []
    for name, conditional in conditionals.items():
        labels = [states[parent] for parent in conditional.parents]
        values = conditional.table(labels, name)
        factors.append(Factor((*conditional.parents, name), values, (*labels, states[name])))
    for names in together:
        labels = [states[name] for name in names]
        factors.append(Factor(names, np.ones([len(part) for part in labels]), tuple(labels)))
    return FactorModel(states, tuple(factors))


def _marginal(
    tree: JunctionTree, codes: np.ndarray, factors: list[Factor], target: str
) -> np.ndarray:
    place = tree.model.positions[target]
    marginals = tree.posteriors(codes, factors, target)[0]
    return marginals[0, tree.model.offsets[place] : tree.model.offsets[place + 1]]


def _joint(
    tree: JunctionTree, codes: np.ndarray, factors: list[Factor], names: tuple[str, ...]
) -> Factor:
    """Return the joint distribution of nodes that share a clique."""
    joint = tree.clique_posterior(tree.home(names), codes[0], factors)
    return joint.marginal(names).normalise()


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
