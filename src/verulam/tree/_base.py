"""Univariate decision trees: what classification and regression trees have in common."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.class_weight import compute_sample_weight

from verulam.base import (
    DataError,
    DataWarning,
    TableSchema,
    check_is_fitted,
    check_weights,
    clone,
    generator,
    is_classifier,
)
from verulam.numerics import announced
from verulam.tree._export.text import branch_label, column_name, condition_text, tree_text
from verulam.tree._growing.assemble import Growth
from verulam.tree._growing.general import grow_generally
from verulam.tree._growing.growth_parameters import ENTROPY, GINI, VARIANCE, GrowthParameters
from verulam.tree._growing.presorted import grow, make_sample
from verulam.tree._levels.grow import grow_by_levels
from verulam.tree._levels.layouts import lay_out
from verulam.tree._levels.search import make_level_sample
from verulam.tree._options import Options
from verulam.tree._pruning import (
    PruningPath,
    best_first,
    beyond_leaves,
    choose_alpha,
    prune_to_alpha,
)
from verulam.tree._structure.encoding import category_counts, encode_rows
from verulam.tree._structure.tree import LEAF, NUMERIC, SUBSET, Path, TreeStructure, collapse, paths
from verulam.tree._structure.validation_rows import split_rows

#: Ways of pruning that draw rows at random.
DRAWING_PRUNING = ("reduced_error", "cost_complexity")
#: Stands for a generator of which no number counts: fresh entropy takes as long as a small tree.
_UNUSED = np.random.default_rng(0)
#: Sums of weights below this have squares that floating point can hold.
LARGEST_WEIGHT = 1e100


class TreeLearner(ABC):
    """Growing, walking and reading of a tree; the classes add what is done in its leaves."""

    tree_: TreeStructure
    schema_: TableSchema
    unseen: str
    max_leaf_nodes: int | None
    max_features: int | float | str | None
    ccp_alpha: float | None
    ccp_alpha_: float | None
    pruning_folds: int
    pruning_fraction: float
    n_leaves_grown_: int
    random_state: Any
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc] # of the estimator beside it
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    def _check_loaded(self) -> None:
        """Refuse a file in which categories have other codes than the tree has room for."""
        if not hasattr(self, "tree_"):  # the file of an ensemble holds unfitted ones, too
            return
        if not np.array_equal(category_counts(self.schema_), self.tree_.n_categories):
            raise DataError("The tree and the columns of the learner do not fit together.")

    def _encode(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return encode_rows(self, X, self.schema_, unseen=self.unseen)

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the number of the leaf that each row reaches."""
        return self.tree_.apply(self._encode(X))

    def decision_path(self, X: ArrayLike) -> Any:
        """Return a sparse matrix of rows and nodes, with 1 for each node that a row passes."""
        leaves = self.apply(X)
        rows, nodes = [np.arange(len(leaves))], [leaves]
        # From the leaves up to the root, all rows one level at a time.
        while (nodes[-1] > 0).any():
            below = nodes[-1] > 0
            rows.append(rows[-1][below])
            nodes.append(self.tree_.parent[nodes[-1][below]])
        row, node = np.concatenate(rows), np.concatenate(nodes)
        shape = (len(leaves), len(self.tree_))
        return sparse.csr_matrix((np.ones(len(row), dtype=np.int64), (row, node)), shape=shape)

    def get_depth(self) -> int:
        """Return the largest number of tests on the way to a leaf."""
        check_is_fitted(self)
        return int(self.tree_.depths().max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def get_n_parameters(self) -> int:
        """Return how many numbers the tests have learned.

        A threshold is two, with its column; a subset is the column and a side for each category;
        an n-way test is the column alone.
        """
        check_is_fitted(self)
        structure = self.tree_
        kind = structure.kind
        subsets = structure.n_categories[structure.column[kind == SUBSET]]
        return int((kind != LEAF).sum() + (kind == NUMERIC).sum() + subsets.sum())

    def get_size(self) -> int:
        """Return the complexity of the tree: its nodes, and the parameters of their tests."""
        return self.get_n_parameters() + len(self.tree_)

    def paths(self, *, merged: bool = True) -> Iterator[Path]:
        """Yield every leaf with the conditions that lead to it."""
        check_is_fitted(self)
        return paths(self.tree_, merged=merged)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in the total decrease of the impurity."""
        check_is_fitted(self)
        structure = self.tree_
        inner = structure.kind != LEAF
        gains = (structure.gain * structure.weight)[inner]
        totals = np.bincount(structure.column[inner], gains, minlength=self.n_features_in_)
        return totals / max(totals.sum(), np.finfo(float).tiny)

    @property
    def depth_importances_(self) -> NDArray[np.float64]:
        """Importance of each column by where it is first used: 1 at the root, 1/2 below, ..."""
        check_is_fitted(self)
        depths, importances = self.tree_.depths(), np.zeros(self.n_features_in_)
        for node in np.flatnonzero(self.tree_.kind != LEAF):
            column = self.tree_.column[node]
            importances[column] = max(importances[column], 0.5 ** int(depths[node]))
        return importances

    @property
    def used_features_(self) -> NDArray[np.intp]:
        """Positions of the columns that the tree looks at."""
        check_is_fitted(self)
        return np.unique(self.tree_.column[self.tree_.kind != LEAF]).astype(np.intp)

    def growth(self) -> pd.DataFrame:
        """Return the splits in the order of their weighted gain, each below its parent.

        One row for each step from the root alone to the whole tree: the node that is split, its
        depth, the column, what its first child accepts, rows, gain, and the leaves afterwards.
        """
        check_is_fitted(self)
        structure, depths = self.tree_, self.tree_.depths()
        steps, n_leaves = [], 1
        for node in best_first(structure):
            n_leaves += int(structure.n_children[node]) - 1
            steps.append(
                {
                    "node": node,
                    "depth": int(depths[node]),
                    "column": self.schema_.names[structure.column[node]],
                    "test": condition_text(structure, node, 0, self.schema_),
                    "rows": int(structure.n_rows[node]),
                    "gain": float(structure.gain[node]),
                    "leaves": n_leaves,
                }
            )
        names = ["node", "depth", "column", "test", "rows", "gain", "leaves"]
        frame = pd.DataFrame(steps, columns=names)
        return frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="step"))

    def stage(self, step: int) -> TreeStructure:
        """Return the tree as it was after so many steps of `growth`."""
        check_is_fitted(self)
        order = best_first(self.tree_)
        if not 0 <= step <= len(order):
            raise DataError(f"step={step} is not one of the tree's: 0 to {len(order)}.")
        return collapse(self.tree_, self._not_split_yet(order[:step]))

    def _not_split_yet(self, split: list[int]) -> NDArray[np.bool_]:
        """Return the inner nodes that are leaves as long as only some are split."""
        to_leaf = self.tree_.kind != LEAF
        to_leaf[split] = False
        return to_leaf

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """Yield the predictions of the root alone, and after each step of `growth`."""
        rows = self._encode(X)
        order = best_first(self.tree_)
        for step in range(len(order) + 1):
            to_leaf = self._not_split_yet(order[:step])
            yield self._stage_answers(collapse(self.tree_, to_leaf), to_leaf, rows)

    def _stage_answers(
        self, structure: TreeStructure, to_leaf: NDArray[np.bool_], rows: NDArray[np.float64]
    ) -> NDArray[Any]:
        """Return what the tree answers where the marked nodes are leaves."""
        return self._answers(structure, rows)

    def export_text(self, *, max_depth: int | None = None) -> str:
        """Return the tree as indented lines."""
        check_is_fitted(self)
        return tree_text(self.tree_, self.schema_, self.leaf_text, max_depth=max_depth)

    def cost_complexity_pruning_path(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> PruningPath:
        """Return the costs of a leaf at which the tree grown on the data changes."""
        unpruned = clone(self).set_params(pruning="none").fit(X, y, sample_weight)
        return unpruned._path(unpruned.tree_)

    def node_text(self, node: int) -> str:
        """Return the column that an inner node looks at."""
        return column_name(self.schema_, self.tree_.column[node])

    def branch_text(self, node: int) -> str:
        """Return the answer that leads from a node's parent to it."""
        return branch_label(self.tree_, node, self.schema_)

    @abstractmethod
    def leaf_text(self, node: int) -> str:
        """Return the answer of a node in words."""

    @abstractmethod
    def _answers(self, structure: TreeStructure, rows: NDArray[np.float64]) -> NDArray[Any]:
        """Return what a tree answers to encoded rows."""

    @abstractmethod
    def _losses(
        self, structure: TreeStructure, rows: NDArray[np.float64], target: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return the loss of a tree's answer to each encoded row."""

    @abstractmethod
    def _path(self, structure: TreeStructure) -> PruningPath:
        """Return the sequence of pruned trees."""

    @abstractmethod
    def _grown(
        self,
        rows: NDArray[np.float64],
        target: NDArray[Any],
        weights: NDArray[np.float64] | None,
        training: Any,
        options: Options,
        random: np.random.Generator,
    ) -> Growth:
        """Return the tree grown on those of the encoded rows that `training` indexes."""

    @abstractmethod
    def _reduced(
        self,
        structure: TreeStructure,
        rows: NDArray[np.float64],
        target: NDArray[Any],
        weights: NDArray[np.float64] | None,
    ) -> TreeStructure:
        """Return the tree pruned where a leaf is no worse on other rows."""

    def _grow_and_prune(
        self,
        rows: NDArray[np.float64],
        target: NDArray[Any],
        weights: NDArray[np.float64] | None,
        options: Options,
    ) -> None:
        """Store the tree, pruned by a set of its own or the cost of leaves.

        What is done in the leaves alone is left to the classes.
        """
        # NaN spreads through a minimum: one pass without a matrix of booleans.
        gaps = np.isnan(rows.min(axis=0))
        if gaps.any():
            warn_of_empty_columns(self.schema_, rows, stacklevel=5)
        # One generator for the whole of a fit: every use advances it.
        random = generator(self._seed(options))
        growing: Any = slice(None)
        if options.pruning == "reduced_error":
            growing, aside = split_rows(
                target, self.pruning_fraction, random, stratified=is_classifier(self)
            )
        growth = self._grown(rows, target, weights, growing, options, random)
        self.n_leaves_grown_, self.ccp_alpha_ = growth.structure.n_leaves, None
        self.tree_ = self._settled(
            growth, rows[growing], target[growing], _rows_of(weights, growing)
        )
        if gaps.any():
            self.tree_ = replace(self.tree_, gaps=tuple(gaps.tolist()))
        if options.pruning == "reduced_error":
            self.tree_ = self._reduced(
                self.tree_, rows[aside], target[aside], _rows_of(weights, aside)
            )
        elif options.pruning == "cost_complexity":
            self.tree_ = self._cut_back(self.tree_, rows, target, weights, options, random)

    def _seed(self, options: Options) -> Any:
        """Return `random_state`, or what is quicker to start from where nothing is drawn."""
        drawn = self.max_features is not None or options.pruning in DRAWING_PRUNING
        return self.random_state if drawn or self.random_state is not None else _UNUSED

    def _settled(
        self,
        growth: Growth,
        rows: NDArray[np.float64],
        target: NDArray[Any],
        weights: NDArray[np.float64] | None,
    ) -> TreeStructure:
        """Return a grown tree once its leaves have what they need beside their values."""
        return growth.structure

    def _cut_back(
        self,
        structure: TreeStructure,
        rows: NDArray[np.float64],
        target: NDArray[Any],
        weights: NDArray[np.float64] | None,
        options: Options,
        random: np.random.Generator,
    ) -> TreeStructure:
        """Return the tree pruned to `ccp_alpha`, or to the one that cross-validation finds best."""

        def grow_on(training: NDArray[np.intp]) -> tuple[TreeStructure, PruningPath]:
            tree = self._grown(rows, target, weights, training, options, random).structure
            return tree, self._path(tree)

        def losses(tree: TreeStructure, validation: NDArray[np.intp]) -> NDArray[np.float64]:
            lost = self._losses(tree, rows[validation], target[validation])
            return lost if weights is None else lost * weights[validation]

        path = self._path(structure)
        self.ccp_alpha_ = self.ccp_alpha
        if self.ccp_alpha_ is None:
            self.ccp_alpha_ = choose_alpha(
                path,
                grow_on,
                losses,
                target,
                self.pruning_folds,
                random,
                stratified=is_classifier(self),
            )
        return prune_to_alpha(structure, path, self.ccp_alpha_)

    def _grow(
        self,
        rows: NDArray[np.float64],
        target: NDArray[Any],
        weights: NDArray[np.float64] | None,
        options: Options,
        parameters: GrowthParameters,
        random_state: Any,
    ) -> Growth:
        """Return the tree grown on encoded rows, limited to the allowed number of leaves.

        There are three growers: by levels, the quickest, which does the usual; over presorted
        columns, for categories and the other compiled criteria; and a general one, for parts of
        rows (C4.5) and for criteria that are any function.
        """
        seed = int(generator(random_state).integers(2**63))
        counts = category_counts(self.schema_)
        with announced("verulam.tree"):
            if is_plain(options, parameters) and not counts.any():
                n_classes = 0 if parameters.criterion == VARIANCE else parameters.n_classes
                level_sample = make_level_sample(lay_out(rows), target, n_classes, weights)
                growth = grow_by_levels(level_sample, parameters, seed)
            else:
                sample = make_sample(rows, counts, target, weights, n_way=parameters.n_way)
                # Orders that all nodes share need whole rows, and loops a compiled impurity.
                if callable(options.criterion):
                    growth = grow_generally(sample, parameters, seed, options.criterion)
                elif parameters.fractional:
                    growth = grow_generally(sample, parameters, seed)
                else:
                    growth = grow(sample, parameters, seed)
        if self.max_leaf_nodes is None:
            return growth
        return growth.collapsed(beyond_leaves(growth.structure, self.max_leaf_nodes))


def is_plain(options: Options, parameters: GrowthParameters) -> bool:
    """Tell whether rows stay whole, and Gini index, entropy or variance alone judge splits."""
    quick = parameters.criterion in (GINI, ENTROPY, VARIANCE)
    special = callable(options.criterion) or parameters.gain_ratio or parameters.fractional
    return quick and not special


def _rows_of(weights: NDArray[np.float64] | None, rows: Any) -> NDArray[np.float64] | None:
    return None if weights is None else weights[rows]


def usable_weights(
    sample_weight: Any, rows: NDArray[np.float64]
) -> tuple[NDArray[np.float64] | None, NDArray[np.intp] | slice]:
    """Return the weights of the rows that weigh anything, and which rows those are."""
    weights = check_weights(sample_weight, rows)
    if weights is None:
        return None, slice(None)
    used = np.flatnonzero(weights > 0)
    if len(used) == 0:
        raise DataError("sample_weight is zero for every row; at least one must be positive.")
    weights = weights[used]
    if not weights.sum() < LARGEST_WEIGHT:
        raise DataError(
            f"sample_weight adds up to {weights.sum():.3g}; divide it by a power of ten."
        )
    # Unit weights take the loops for whole counts, which are quicker.
    if (weights == 1.0).all():
        return None, used
    return weights, used


def weights_by_class(class_weight: Any, labels: NDArray[Any]) -> NDArray[np.float64]:
    """Return the weight of each row's class, which must be positive."""
    weights = compute_sample_weight(class_weight, labels)
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise DataError(f"class_weight={class_weight!r} must give each class a positive weight.")
    return weights


def warn_of_one_class(label: Any) -> None:
    """Warn of a target without anything to tell apart."""
    plain = label.item() if isinstance(label, np.generic) else label
    warnings.warn(
        f"y has one class, {plain!r}: the tree is a single leaf.", DataWarning, stacklevel=4
    )


def warn_of_empty_columns(
    schema: TableSchema, rows: NDArray[np.float64], stacklevel: int = 4
) -> None:
    """Warn of columns without any value, which no split can use."""
    empty = np.isnan(rows).all(axis=0) if np.isnan(rows[0]).any() else np.zeros(1, dtype=bool)
    if empty.any():
        names = [
            repr(name) if isinstance(name := schema.names[column], str) else f"column {name}"
            for column in np.flatnonzero(empty)
        ]
        warnings.warn(
            f"All values are missing in {', '.join(names[:8])}: such columns cannot be split on.",
            DataWarning,
            stacklevel=stacklevel,
        )
