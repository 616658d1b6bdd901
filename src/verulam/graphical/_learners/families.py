"""What both learners share: columns as states, counts of families, and the network from them."""

from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from verulam.base import (
    Additive,
    Chunk,
    DataError,
    Interval,
    MemorySource,
    StrOptions,
    as_frame,
    check_is_fitted,
    check_weights,
    clone,
    nearest_names,
    validate_data,
)
from verulam.graphical._graph import DirectedGraph, as_graph
from verulam.graphical._learning.counts import (
    ClassCounts,
    DistinctRows,
    Scope,
    Scopes,
    distinct_rows,
    frequencies,
)
from verulam.graphical._learning.levels import Levels, encode_levels, read_levels
from verulam.graphical._learning.search import LearnedStructure, complete_rows, search_codes
from verulam.graphical._learning.trees import pair_scopes, tree_parents
from verulam.graphical._network.conditionals import Table
from verulam.graphical._network.network import BayesianNetwork

#: What `_parameter_constraints` says of the parameters that both learners have.
CONSTRAINTS: dict[str, Any] = {
    "alpha": [Interval(Real, 0, None, closed="left")],
    "n_bins": [Interval(Integral, 2, None, closed="left"), None],
    "criterion": [StrOptions({"bic", "bde", "aic", "k2"})],
    "max_parents": [Interval(Integral, 1, None, closed="left")],
    "required": [list, tuple, None],
    "forbidden": [list, tuple, None],
    "unseen": [StrOptions({"error", "skip"})],
}
#: Graphs that may stand for a structure.
GRAPHS: list[Any] = [BayesianNetwork, DirectedGraph, dict, list, tuple]


class NetworkLearner(Additive):
    """Mixin: tables of a network are counts of families, which add up over chunks of rows."""

    structure: Any
    alpha: float
    n_bins: int | None
    criterion: str
    max_parents: int
    required: Any
    forbidden: Any
    unseen: str
    levels_: tuple[Levels, ...]
    network_: BayesianNetwork
    #: The structure that is a tree of pairs.
    _tree: ClassVar[str]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _target(self) -> str | None:
        """Name of the class's node, or None for a density."""
        return None

    def _open(self, X: Any, y: Any, sample_weight: Any) -> Any:
        if hasattr(X, "__dask_graph__"):
            # States are read off the first rows, so that all blocks count the same ones.
            parts = X.partitions if hasattr(X, "partitions") else X.blocks
            first = next((rows for rows in (part.compute() for part in parts) if len(rows)), None)
            if first is not None:
                self.levels_ = read_levels(first, self.n_bins)
        return super()._open(X, y, sample_weight)

    def _unfitted(self) -> Any:
        learner = clone(self)
        if hasattr(self, "levels_"):
            learner.levels_ = self.levels_
            learner._shares_levels = True
        return learner

    def _total(self, source: Any, parameters: Any) -> Any:
        if isinstance(source, MemorySource) or not hasattr(source, "inputs"):
            # A stream's states are known only once its first chunk has been read.
            return source.total(partial(self._statistics, parameters=parameters))
        return super()._total(source, parameters)

    def _prepare(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Chunk:
        if reset and not getattr(self, "_shares_levels", False):
            table = self._check_table(X, reset)
            weights = check_weights(sample_weight, table)
            self.levels_ = read_levels(table, self.n_bins, weights)
        return super()._prepare(X, y, sample_weight, reset)

    def _check_table(self, X: Any, reset: bool) -> Any:
        """Return the table after the checks of its kind, names and width."""
        if isinstance(X, pd.DataFrame):
            frame = as_frame(X)
            validate_data(self, frame, reset=reset, skip_check_array=True)
            if len(frame) == 0:
                raise DataError("Found array with 0 sample(s): X has no rows.")
            return frame
        return validate_data(
            self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite="allow-nan"
        )

    def _check_inputs(self, X: Any, reset: bool) -> np.ndarray:
        table = self._check_table(X, reset)
        return encode_levels(
            table, self.levels_, unseen="error" if self.unseen == "error" else "missing"
        )

    def _encode(self, X: Any) -> np.ndarray:
        """Return the state numbers of rows to predict."""
        check_is_fitted(self)
        return self._check_inputs(X, reset=False)

    @property
    def _names(self) -> list[str]:
        return [level.name for level in self.levels_]

    @property
    def _sizes(self) -> list[int]:
        return [len(level.labels) for level in self.levels_]

    def _given_graph(self) -> DirectedGraph:
        """Return the graph that `structure` is, after a check of its nodes."""
        graph = as_graph(self.structure)
        for node in graph.nodes:
            if node not in (*self._names, self._target):
                nearest = nearest_names(str(node), self._names)
                raise DataError(
                    f"structure has the node {node!r}, which is no column. Nearest: "
                    f"{', '.join(nearest)}."
                )
        absent = [name for name in self._names if name not in graph.nodes]
        return DirectedGraph({**graph.parents, **dict.fromkeys(absent, ())})

    def _scopes(self) -> Scopes | None:
        """Return the tables to be counted, or None where a search needs the rows."""
        n_columns = len(self.levels_)
        if self.structure == "search":
            return None
        if isinstance(self.structure, str) and self.structure == self._tree:
            scopes: Sequence[Scope] = ((), *pair_scopes(n_columns))
        elif isinstance(self.structure, str):
            scopes = ((), *((j,) for j in range(n_columns)))
        else:
            graph = self._given_graph()
            scopes = [self._scope(graph, node) for node in graph.nodes]
        return Scopes.over(scopes, self._sizes)

    def _scope(self, graph: DirectedGraph, node: str) -> Scope:
        """Return the columns of a node's family, the class left out."""
        places = {name: place for place, name in enumerate(self._names)}
        family = (*graph.parents[node], node)
        return tuple(places[name] for name in family if name != self._target)

    def _count(self, chunk: Chunk, n_classes: int) -> ClassCounts | DistinctRows:
        scopes = self._scopes()
        if scopes is not None:
            return scopes.count(chunk.inputs, chunk.targets, chunk.weights, n_classes)
        n_rows = len(chunk)
        targets = np.zeros(n_rows, dtype=np.int64) if chunk.targets is None else chunk.targets
        weights = np.ones(n_rows) if chunk.weights is None else chunk.weights
        rows = np.column_stack([targets, chunk.inputs])
        return distinct_rows(np.bincount(targets, weights, n_classes), rows, weights)

    def _learn_network(
        self, statistics: ClassCounts | DistinctRows, labels: tuple[Any, ...]
    ) -> BayesianNetwork:
        """Return the network that the counts give: its graph first, then its tables."""
        scopes = self._scopes()
        self.search_: LearnedStructure | None = None
        if isinstance(statistics, DistinctRows) or scopes is None:
            assert isinstance(statistics, DistinctRows)
            return self._searched(statistics, labels)
        tables = scopes.tables(statistics.counts)
        if not isinstance(self.structure, str):
            graph = self._given_graph()
        else:
            parents: Sequence[int] = [-1] * len(self.levels_)
            if self.structure == self._tree:
                parents = tree_parents(tables, len(self.levels_))
            graph = self._below_class(parents)
        return self._network(graph, tables, labels)

    def _below_class(self, parents: Sequence[int]) -> DirectedGraph:
        """Return the graph in which columns have the class, if there is one, and a column above."""
        head = () if self._target is None else (self._target,)
        names = self._names
        listed: dict[str, tuple[str, ...]] = {} if self._target is None else {self._target: ()}
        for name, parent in zip(names, parents, strict=True):
            listed[name] = head if parent < 0 else (*head, names[parent])
        return DirectedGraph(listed)

    def _searched(self, rows: DistinctRows, labels: tuple[Any, ...]) -> BayesianNetwork:
        names = self._names if self._target is None else [self._target, *self._names]
        sizes = self._sizes if self._target is None else [len(labels), *self._sizes]
        codes = rows.rows[:, 1:] if self._target is None else rows.rows
        whole, weights = complete_rows(codes, names, rows.weights)
        self.search_ = search_codes(
            names, sizes, whole, weights, score=self.criterion, max_parents=self.max_parents,
            required=self.required or (), forbidden=self.forbidden or (),
        )  # fmt: skip
        graph = self.search_.graph
        scopes = Scopes.over([self._scope(graph, node) for node in graph.nodes], self._sizes)
        inputs = np.ascontiguousarray(rows.rows[:, 1:])
        counts = scopes.count(inputs, rows.rows[:, 0], rows.weights, len(rows.weight))
        return self._network(graph, scopes.tables(counts.counts), labels)

    def _network(
        self, graph: DirectedGraph, tables: Mapping[Scope, np.ndarray], labels: tuple[Any, ...]
    ) -> BayesianNetwork:
        states = {level.name: level.labels for level in self.levels_}
        conditionals = {}
        for node in graph.nodes:
            scope = self._scope(graph, node)
            # Pairs are counted once, in the order of the columns.
            counts = tables[scope] if scope in tables else tables[scope[::-1]].swapaxes(1, 2)
            family = (*graph.parents[node], node)
            if self._target in family:
                counts = np.moveaxis(counts, 0, family.index(self._target))
            else:
                counts = counts.sum(axis=0)
            # The shares of the classes need no smoothing: each of them has been seen.
            alone = node == self._target and not graph.parents[node]
            table = frequencies(counts, 0.0 if alone else self.alpha)
            own_states = labels if node == self._target else states[node]
            conditionals[node] = Table(own_states, table, graph.parents[node])
        return BayesianNetwork(conditionals)

    def _node_codes(self, codes: np.ndarray) -> np.ndarray:
        """Return the columns in the order of the network's nodes, the class not observed."""
        places = {name: place for place, name in enumerate(self._names)}
        result = np.full((len(codes), len(self.network_.nodes)), -1, dtype=np.int32)
        for k, node in enumerate(self.network_.nodes):
            if node != self._target:
                result[:, k] = codes[:, places[node]]
        return result
