"""What forests of classes and of numbers share: growing, walking, importance, proximity."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import Tags

from verulam.base import (
    RANDOM_STATE,
    DataError,
    InSteps,
    Interval,
    Options,
    Seed,
    StrOptions,
    TableSchema,
    check_is_fitted,
    check_weights,
    generator,
    spawn_seeds,
)
from verulam.ensemble._forest.coding import code_table
from verulam.ensemble._forest.forest import Forest
from verulam.ensemble._forest.growth import (
    BOTTOMLESS,
    ForestTask,
    draw_rows,
    grow_trees,
    join_trees,
)
from verulam.ensemble._forest.importance import (
    ColumnImportance,
    Losses,
    increases_by_shuffling,
    increases_out_of_bag,
)
from verulam.ensemble._forest.search_loops import ENTROPY, GINI, SQUARED_ERROR
from verulam.ensemble._members.members import MemberOutputs
from verulam.numerics import announced
from verulam.tree import category_counts, encode_rows

#: Sums of weights below this have squares that floating point can hold.
LARGEST_WEIGHT = 1e100

#: Names of criteria, as scikit-learn has them, and their codes.
CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "log_loss": ENTROPY,
    "squared_error": SQUARED_ERROR,
}

SHARED_CONSTRAINTS: dict[str, Any] = {
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="right"),
        StrOptions({"sqrt", "log2"}),
        None,
    ],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="neither"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="neither"),
    ],
    "bootstrap": ["boolean"],
    "max_samples": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="right"),
        None,
    ],
    "oob_score": ["boolean"],
    "unseen": [StrOptions({"error", "missing"})],
    "n_jobs": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1}), None],
    "random_state": RANDOM_STATE,
}


class ForestLearner(InSteps, ABC):
    """A forest of either sort; the classes add what its leaves say."""

    n_estimators: int
    criterion: str
    max_features: int | float | str | None
    max_depth: int | None
    min_samples_split: float
    min_samples_leaf: float
    bootstrap: bool
    max_samples: int | float | None
    oob_score: bool
    unseen: str
    n_jobs: int | None
    random_state: Seed
    schema_: TableSchema
    forest_: Forest
    n_features_in_: int
    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_sample_weight_equivalence_on_dense_data": (
            "rows are drawn for each tree, and a row that is there twice is drawn otherwise than "
            "one of twice the weight"
        )
    }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc] # of the estimator beside it
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    def _check_loaded(self) -> None:
        """Refuse a file in which categories have other codes than the forest has room for."""
        if not np.array_equal(category_counts(self.schema_), self.forest_.n_categories):
            raise DataError("The forest and the columns of the learner do not fit together.")

    @property
    def _threads(self) -> int:
        return 1 if self.n_jobs is None else max(self.n_jobs, 0)

    def _usable_weights(
        self, sample_weight: Any, rows: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.intp] | slice]:
        """Return the weights of the rows that weigh anything, and which rows those are."""
        weights = check_weights(sample_weight, rows)
        if weights is None:
            return None, slice(None)
        used = np.flatnonzero(weights > 0)
        if len(used) == 0:
            raise DataError("sample_weight is zero for every row; at least one must be positive.")
        weights = weights[used]
        if not weights.sum() * len(weights) < LARGEST_WEIGHT:
            raise DataError(
                f"sample_weight adds up to {weights.sum():.3g}; divide it by a power of ten."
            )
        return weights, used

    def _grow(
        self,
        rows: NDArray[np.float64],
        target: NDArray[Any],
        weights: NDArray[np.float64] | None,
        n_classes: int,
        judge: Callable[[NDArray[np.intp], NDArray[np.float64]], None],
        reweigh: Any = None,
    ) -> None:
        """Store the forest; tell `judge` what each tree says of the rows out of its bag."""
        self._seeds = spawn_seeds(self.random_state, self.n_estimators)
        self._n_rows, self.evaluations_ = len(rows), float(self.n_estimators)
        n_categories = category_counts(self.schema_)
        gaps = np.isnan(rows.min(axis=0))
        marks = tuple(gaps.tolist()) if gaps.any() else ()
        with announced("verulam.ensemble"):
            task = self._task(rows, target, weights, n_classes, reweigh)
            grown = grow_trees(task, list(self._seeds), self._threads)
            trees = self._steps(grown, "tree", self.n_estimators)
            self.forest_ = join_trees(
                trees, self.n_estimators, n_categories, marks, of_classes=n_classes > 0
            )
            if self.oob_score:
                for number, aside in enumerate(self._rows_aside()):
                    leaves = self.forest_.starts[number] + self.forest_.leaves(number, rows[aside])
                    judge(aside, self.forest_.values[leaves])

    def _task(
        self,
        rows: NDArray[np.float64],
        target: NDArray[Any],
        weights: NDArray[np.float64] | None,
        n_classes: int,
        reweigh: Any,
    ) -> ForestTask:
        """Return what all trees have in common."""
        return ForestTask(
            table=code_table(
                rows, category_counts(self.schema_), self._threads, self.schema_.names
            ),
            target=target,
            weights=weights,
            n_classes=n_classes,
            criterion=CRITERIA[self.criterion],
            n_drawn=self._n_drawn(),
            bootstrap=self.bootstrap,
            max_features=_feature_count(self.max_features, rows.shape[1]),
            max_depth=BOTTOMLESS if self.max_depth is None else int(self.max_depth),
            min_split=_row_count(self.min_samples_split, len(rows)),
            min_leaf=_row_count(self.min_samples_leaf, len(rows)),
            reweigh=reweigh,
        )

    def _n_drawn(self) -> int:
        if self.max_samples is None:
            return self._n_rows
        drawn = _row_count(self.max_samples, self._n_rows)
        if not self.bootstrap and drawn > self._n_rows:
            raise DataError(
                f"max_samples={self.max_samples}: without bootstrap at most the {self._n_rows} "
                "rows of the table can be drawn."
            )
        return drawn

    def _rows_aside(self) -> Iterator[NDArray[np.intp]]:
        """Yield the rows that each tree has not seen."""
        drawn = self._n_drawn()
        for seed in self._seeds:
            counts = draw_rows(seed, self._n_rows, drawn, bootstrap=self.bootstrap)
            yield np.flatnonzero(counts == 0)

    @property
    def estimators_samples_(self) -> list[NDArray[np.intp]]:
        """The rows that each tree was grown on, repeated as they were drawn."""
        check_is_fitted(self)
        drawn = self._n_drawn()
        counts = (draw_rows(s, self._n_rows, drawn, bootstrap=self.bootstrap) for s in self._seeds)
        return [np.repeat(np.arange(self._n_rows), count) for count in counts]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in the total decrease of the impurity, averaged over the trees."""
        check_is_fitted(self)
        return self.forest_.importances()

    @abstractmethod
    def _losses(self, y: ArrayLike) -> Losses:
        """Return what measures the loss of leaves' values on rows of some targets."""

    def _as_member(self, tree: Any, number: int) -> Any:
        """Return a tree learner with one of the trees, as if it had been fitted."""
        tree.schema_, tree.tree_ = self.schema_, self.forest_.tree(number)
        tree.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            tree.feature_names_in_ = self.feature_names_in_
        tree.n_leaves_grown_, tree.ccp_alpha_ = tree.tree_.n_leaves, None
        return tree

    def _encode(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return encode_rows(self, X, self.schema_, unseen=self.unseen)

    def _averages(self, X: Any) -> NDArray[np.float64]:
        rows = self._encode(X)
        return self.forest_.average(rows, self._threads)

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the number of the leaf that each row reaches, in each tree."""
        rows = self._encode(X)
        return self.forest_.apply(rows, self._threads)

    def proximity(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the share of the trees in which two rows are in the same leaf.

        Parameters
        ----------
        X
            Rows.
        Y
            Other rows; None compares those of X with one another.
        """
        first = self._leaf_indicators(X)
        second = first if Y is None else self._leaf_indicators(Y)
        return (first @ second.T).toarray() / len(self.forest_)

    def _leaf_indicators(self, X: ArrayLike) -> Any:
        """Return rows by nodes of all trees, with 1 for the leaves of each row."""
        nodes = self.apply(X) + self.forest_.starts[:-1]
        ends = np.arange(nodes.shape[0] + 1) * nodes.shape[1]
        shape = (len(nodes), len(self.forest_.steps))
        return sparse.csr_matrix((np.ones(nodes.size), nodes.ravel(), ends), shape=shape)

    def member_outputs(self, X: ArrayLike) -> MemberOutputs:
        """Return what each tree says about each row."""
        nodes = self.apply(X).T + self.forest_.starts[:-1, None]
        names = tuple(f"tree {number + 1}" for number in range(len(self.forest_)))
        return MemberOutputs(self.forest_.values[nodes], names, getattr(self, "classes_", None))

    def oob_importance(
        self, X: ArrayLike, y: ArrayLike, random_state: Seed = None
    ) -> ColumnImportance:
        """Return by how much each tree's loss out of its bag grows when a column is shuffled.

        Parameters
        ----------
        X, y
            The rows that the forest was grown on, in the same order.
        random_state
            Seed of the shuffles.
        """
        rows, losses = self._encode(X), self._losses(y)
        if len(rows) != self._n_rows:
            raise DataError(
                f"X has {len(rows)} rows, but the forest was grown on {self._n_rows}: rows out of "
                "the bag are known for those alone."
            )
        if not self.bootstrap and self._n_drawn() == self._n_rows:
            raise DataError("No row is out of a bag: the forest was grown with bootstrap=False.")
        increases = increases_out_of_bag(
            self.forest_, rows, self._rows_aside(), losses, generator(random_state)
        )
        return ColumnImportance(self.schema_.names, increases)

    def permutation_importance(
        self, X: ArrayLike, y: ArrayLike, n_repeats: int = 5, random_state: Seed = None
    ) -> ColumnImportance:
        """Return by how much the loss of the forest grows when a column is shuffled.

        Parameters
        ----------
        X, y
            Rows, best those that the forest has not seen.
        n_repeats
            Shuffles of each column.
        random_state
            Seed of the shuffles.
        """
        if not _is_count(n_repeats):
            raise DataError(f"n_repeats={n_repeats!r} must be a whole number of at least 1.")
        rows, losses = self._encode(X), self._losses(y)
        increases = increases_by_shuffling(
            self.forest_, rows, losses, int(n_repeats), generator(random_state), self._threads
        )
        return ColumnImportance(self.schema_.names, increases)


def _is_count(number: Any) -> bool:
    return isinstance(number, Integral) and int(number) >= 1


def _row_count(count_or_share: Any, n_rows: int) -> int:
    """Return the number of rows that a number, or a share of all rows, stands for."""
    if isinstance(count_or_share, Integral):
        return int(count_or_share)
    return max(1, int(np.ceil(count_or_share * n_rows)))


def _feature_count(max_features: Any, n_columns: int) -> int:
    """Return the number of columns that `max_features` stands for."""
    if max_features is None:
        return n_columns
    if isinstance(max_features, str):
        return max(1, int({"sqrt": np.sqrt, "log2": np.log2}[max_features](n_columns)))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_columns)
    return max(1, int(max_features * n_columns))
