"""Regression trees: a number, or a linear model, in every leaf."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from verulam.base import (
    DataError,
    Interval,
    Regressor,
    StrOptions,
    checked_fit,
    numeric_targets,
)
from verulam.tree._base import TreeLearner, usable_weights
from verulam.tree._export.text import column_name
from verulam.tree._growing.assemble import Growth
from verulam.tree._growing.lazy_memory import empty_pages
from verulam.tree._linear_leaves import LinearLeaves, fit_linear_leaves
from verulam.tree._options import (
    NUMERIC_CRITERIA,
    PLAIN_REGRESSOR,
    SHARED_CONSTRAINTS,
    Options,
    count_checks,
    make_parameters,
    resolve,
)
from verulam.tree._pruning import (
    PruningPath,
    cost_complexity,
    no_better_than_leaves,
    reach_counts,
)
from verulam.tree._structure.encoding import read_rows
from verulam.tree._structure.tree import TreeStructure, collapse, surviving


class DecisionTreeRegressor(TreeLearner, Regressor):
    r"""Predict a number by a tree of tests on single columns, grown on a table as it is.

    Columns of pandas dtype ``category`` or ``bool`` are split by their categories, numbers by
    thresholds, and missing values are welcome in both.

    Parameters
    ----------
    criterion
        "squared_error" with means in the leaves; "absolute_error" with medians; "worst_error",
        the largest residual, with midranges, which make it smallest; or "worst_error_of_mean",
        the same around means.
    leaf_model
        "constant", or "linear" for a least-squares model of the numeric columns in each leaf;
        the tree is then cut back to where one model does as well as those below it. `pruning` may
        be "none" or "reduced_error" with it, and `missing` "learned".
    error_threshold
        Nodes of smaller error are leaves (:math:`\theta_r`): of mean squared, mean absolute or
        largest error, by `criterion`.
    categories
        "subset" divides categories into two sets, "n_way" gives each its branch.
    missing
        "learned" sends missing values where they reduce the error most, "fractional" divides
        them among the branches, in training and prediction. None is "learned".
    max_depth
        Largest number of tests on a path.
    max_leaf_nodes
        Largest number of leaves; the most useful splits are kept.
    min_samples_split
        Fewest rows, or smallest share of all rows, of a node that may be split.
    min_samples_leaf
        Fewest rows, or smallest share, of a branch. None is 1, or 5 with linear leaves.
    min_impurity_decrease
        Smallest decrease of the error, weighted by the node's share of all rows, of a split.
    max_features
        Columns tried at each node, drawn at random: a number, a share, "sqrt" or "log2".
    pruning
        "none", "reduced_error" on rows set aside, or "cost_complexity". None is "none".
    pruning_fraction
        Share of the rows that "reduced_error" sets aside.
    ccp_alpha
        Cost of a leaf for "cost_complexity", in units of the error; None chooses it by
        cross-validation.
    pruning_folds
        Folds of that cross-validation.
    unseen
        What to do with a category that was not there in training: "error", or "missing".
    random_state
        Seed of `max_features`, of the rows set aside and of the folds.

    Attributes
    ----------
    tree_ : TreeStructure
        The tree.
    schema_ : TableSchema
        Columns and categories found in training.
    linear_leaves_ : LinearLeaves or None
        The linear models, if asked for.
    ccp_alpha_ : float or None
        The cost of a leaf that was used.
    n_leaves_grown_ : int
        Leaves before pruning.
    feature_importances_ : ndarray of shape (n_columns,)
        Share of each column in the total decrease of the error.

    Notes
    -----
    A node predicts :math:`g_m`, the mean of its targets, with error
    :math:`E_m = \sum_t (r^t - g_m)^2 / N_m`, and the split of least error after it is taken;
    see Alpaydin 9.2.2 (9.9-9.14), (9.15) for the worst error and (9.16) for linear leaves. With
    either worst error, no residual of a training row exceeds `error_threshold`.

    Examples
    --------
    >>> from verulam.tree import DecisionTreeRegressor
    >>> X = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> tree = DecisionTreeRegressor(error_threshold=0.5).fit(X, [1, 1, 1, 5, 5, 6])
    >>> print(tree.export_text())
    column 0 <= 5: 1 (3)
    column 0 > 5: 5.33333 (3)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED_CONSTRAINTS,
        "criterion": [StrOptions(set(NUMERIC_CRITERIA))],
        "leaf_model": [StrOptions({"constant", "linear"})],
        "error_threshold": [Interval(Real, 0.0, None, closed="left")],
        "pruning": [StrOptions({"none", "reduced_error", "cost_complexity"}), None],
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        leaf_model: str = "constant",
        error_threshold: float = 0.0,
        categories: str | None = None,
        missing: str | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float | None = None,
        min_impurity_decrease: float = 0.0,
        max_features: int | float | str | None = None,
        pruning: str | None = None,
        pruning_fraction: float = 1 / 3,
        ccp_alpha: float | None = None,
        pruning_folds: int = 10,
        unseen: str = "error",
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.leaf_model = leaf_model
        self.error_threshold = error_threshold
        self.categories = categories
        self.missing = missing
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.pruning = pruning
        self.pruning_fraction = pruning_fraction
        self.ccp_alpha = ccp_alpha
        self.pruning_folds = pruning_folds
        self.unseen = unseen
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["DecisionTreeRegressor"]:
        return [cls(), cls(criterion="absolute_error", max_depth=4), cls(leaf_model="linear")]

    @property
    def _skipped_checks(self) -> dict[str, str]:  # type: ignore[override] # depends on the leaves
        return count_checks(5 if self.leaf_model == "linear" else 1)

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree and prune it."""
        self.schema_, rows = read_rows(self, X)
        targets = numeric_targets(self, y)
        if len(rows) != len(targets):  # the check looks at much else, which takes long
            check_consistent_length(rows, targets)
        with np.errstate(over="ignore"):
            widest = np.square(targets.max() - targets.min())
        if not np.isfinite(widest):
            raise DataError("y is too large for its squares: divide it by a power of ten.")
        weights, used = usable_weights(sample_weight, rows)
        rows, targets = rows[used], targets[used]
        options = resolve(self, PLAIN_REGRESSOR)
        self._check_leaf_model(options)
        self._grow_and_prune(rows, targets, weights, options)
        return self

    def _check_leaf_model(self, options: Options) -> None:
        """Refuse what linear leaves cannot do, rather than leave them out."""
        if self.leaf_model != "linear":
            return
        if options.pruning == "cost_complexity":
            raise DataError(
                "pruning='cost_complexity' is for constant leaves; leaf_model='linear' is cut back "
                "by an estimate of its own, and accepts 'none' or 'reduced_error'."
            )
        if options.missing == "fractional":
            raise DataError(
                "missing='fractional' divides rows among leaves; leaf_model='linear' needs each "
                "row in one leaf: use missing='learned'."
            )

    def _settled(
        self,
        growth: Growth,
        rows: NDArray[np.float64],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
    ) -> TreeStructure:
        self.linear_leaves_: LinearLeaves | None = None
        if self.leaf_model == "constant":
            return growth.structure
        growth, self.linear_leaves_ = fit_linear_leaves(
            growth, rows, targets, weights, self.error_threshold
        )
        return growth.structure

    def _grown(
        self,
        rows: NDArray[np.float64],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
        training: Any,
        options: Options,
        random: np.random.Generator,
    ) -> Growth:
        weights = None if weights is None else weights[training]
        rows, targets = np.ascontiguousarray(rows[training]), targets[training]
        if self.leaf_model == "linear" and self.min_samples_leaf is None:
            options = Options(**{**vars(options), "min_samples_leaf": 5})
        parameters = make_parameters(self, options, rows, 1, weights)
        # Around their mean, sums of squares lose no digits.
        centre = float(targets.mean())
        deviations = np.subtract(targets, centre, out=empty_pages(len(targets)))
        growth = self._grow(rows, deviations, weights, options, parameters, random)
        growth.structure.values[:] += centre
        return growth

    def _losses(
        self,
        structure: TreeStructure,
        rows: NDArray[np.float64],
        target: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        return self._loss(self._answers(structure, rows), target)

    def _loss(
        self, answers: NDArray[np.float64], targets: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        residuals = np.abs(answers - targets)
        return residuals if self.criterion == "absolute_error" else residuals**2

    def _reduced(
        self,
        structure: TreeStructure,
        rows: NDArray[np.float64],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
    ) -> TreeStructure:
        """Return the tree pruned where a leaf is no worse on other rows."""
        weights = np.ones(len(rows)) if weights is None else weights
        linear = self.linear_leaves_
        if linear is None and self.criterion != "absolute_error":
            # Sums of 1, r and r^2 over the rows that pass a node give its squared error around any
            # value, so that one walk down the tree is enough for all nodes.
            powers = weights[:, None] * np.vander(targets, 3, increasing=True)
            weight, total, squares = reach_counts(structure, rows, powers).T
            values = structure.values[:, 0]
            losses = squares - 2 * values * total + values**2 * weight
        else:
            losses = self._losses_of_nodes(structure, rows, targets, weights)
        tol = 1e-9 * max(losses[0], 1e-300)
        to_leaf = no_better_than_leaves(structure, losses, tol=tol)
        if linear is not None:
            self.linear_leaves_ = linear.of_nodes(surviving(structure, to_leaf))
        return collapse(structure, to_leaf)

    def _losses_of_nodes(
        self,
        structure: TreeStructure,
        rows: NDArray[np.float64],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the loss that each node would have as a leaf, on the rows that pass it."""
        losses = np.zeros(len(structure))
        nodes, passing = structure.apply(rows), np.arange(len(rows))
        while len(nodes):
            if self.linear_leaves_ is None:
                answers = structure.values[nodes, 0]
            else:
                answers = self.linear_leaves_.predict(rows[passing], nodes)
            # No sums of powers give absolute errors or those of linear leaves: all rows go up from
            # their leaves, one level at a time.
            np.add.at(losses, nodes, weights[passing] * self._loss(answers, targets[passing]))
            above = structure.parent[nodes]
            nodes, passing = above[above >= 0], passing[above >= 0]
        return losses

    def _path(self, structure: TreeStructure) -> PruningPath:
        costs = structure.impurity * structure.weight / structure.weight[0]
        return cost_complexity(structure, costs)

    def prune(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Prune the fitted tree by reduced error on a pruning set of its own (Alpaydin 9.3)."""
        rows, targets = self._encode(X), numeric_targets(self, y)
        check_consistent_length(rows, targets)
        self.tree_ = self._reduced(self.tree_, rows, targets, None)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the number, or the value of the linear model, of each row's leaf."""
        rows = self._encode(X)
        if self.linear_leaves_ is not None:
            return self.linear_leaves_.predict(rows, self.tree_.apply(rows))
        return self._answers(self.tree_, rows)

    def _answers(self, structure: TreeStructure, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return structure.average(rows, structure.values)[:, 0]

    def _stage_answers(
        self, structure: TreeStructure, to_leaf: NDArray[np.bool_], rows: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        if self.linear_leaves_ is None:
            return self._answers(structure, rows)
        models = self.linear_leaves_.of_nodes(surviving(self.tree_, to_leaf))
        return models.predict(rows, structure.apply(rows))

    def leaf_text(self, node: int) -> str:
        """Return the prediction of a node in words, with the weight behind it."""
        weight = f"{self.tree_.weight[node]:.6g}"
        if self.linear_leaves_ is None:
            return f"{self.tree_.values[node, 0]:.6g} ({weight})"
        leaves = self.linear_leaves_
        terms = [
            f"{slope:+.4g} {column_name(self.schema_, column)}"
            for column, slope in zip(leaves.columns, leaves.weights[node], strict=True)
            if slope
        ]
        return f"{' '.join([f'{leaves.intercepts[node]:.4g}', *terms])} ({weight})"
