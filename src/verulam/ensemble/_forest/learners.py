"""Random forests for classes and for numbers."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.class_weight import compute_class_weight

from verulam.base import (
    Classifier,
    DataError,
    DataWarning,
    Regressor,
    Seed,
    StrOptions,
    check_is_fitted,
    checked_fit,
    encode_classes,
    numeric_targets,
)
from verulam.ensemble._forest.base import SHARED_CONSTRAINTS, ForestLearner
from verulam.ensemble._forest.importance import Losses
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor, read_rows


class RandomForestClassifier(ForestLearner, Classifier):
    r"""Let trees vote, each grown on other rows and with few columns to choose from at a node.

    Columns of pandas dtype ``category`` or ``bool`` are split by their categories, numbers by
    thresholds, and missing values are welcome in both.

    Parameters
    ----------
    n_estimators
        Number of trees.
    criterion
        What splits make small: the index "gini", or "entropy", which is also called "log_loss".
    max_features
        Columns tried at each node, drawn at random: a number, a share, "sqrt" or "log2"; None
        tries all. Columns that are constant in the node do not count.
    max_depth
        Largest number of tests on a path.
    min_samples_split
        Fewest rows, or smallest share, of a node that is split.
    min_samples_leaf
        Fewest rows, or smallest share, of a branch.
    bootstrap
        Whether rows are drawn with replacement.
    max_samples
        Rows that are drawn for a tree: a number, or a share of all; None draws as many as there
        are.
    oob_score
        Whether to judge the forest by the rows that are not drawn for a tree.
    class_weight
        Weights by class, "balanced", or "balanced_subsample", in the rows of each tree.
    unseen
        What to do with a category that was not there in training: "error", or "missing".
    n_jobs
        Threads that grow and ask trees; None for one, -1 for all cores. They do not change the
        result.
    random_state
        Seed of the draws of rows and columns.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    forest_ : Forest
        The trees, as arrays.
    schema_ : TableSchema
        Columns and categories found in training.
    estimators_ : list of DecisionTreeClassifier
        The trees one by one, to be read or exported.
    feature_importances_ : ndarray of shape (n_columns,)
        Share of each column in the total decrease of the impurity, averaged over the trees.
    estimators_samples_ : list of ndarray
        Rows that each tree was grown on.
    evaluations_ : float
        Trees that a prediction asks.
    oob_score_ : float
        Only with `oob_score`, the accuracy on rows by the trees that have not seen them.
    oob_errors_ : ndarray of shape (n_estimators,)
        Only with `oob_score`, the error of the first trees on such rows, as trees are added.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        Only with `oob_score`, what those trees say of each row; NaN where there are none.

    Notes
    -----
    The trees are grown in full, and their class shares are averaged. See Breiman
    (2001), Random forests; Alpaydin 9.7 and 17.6. Thresholds are exact as long as a column has at
    most 65,535 different numbers; beyond that, numbers next to each other share a code.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import RandomForestClassifier
    >>> titanic = dataset("titanic")
    >>> forest = RandomForestClassifier(oob_score=True, random_state=0)
    >>> round(forest.fit(titanic.inputs, titanic.target_values).oob_score_, 3)
    0.799
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED_CONSTRAINTS,
        "criterion": [StrOptions({"gini", "entropy", "log_loss"})],
        "class_weight": [dict, StrOptions({"balanced", "balanced_subsample"}), None],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_features: int | float | str | None = "sqrt",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        unseen: str = "error",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.class_weight = class_weight
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.random_state = random_state

    _skipped_checks: ClassVar[dict[str, str]] = {
        **ForestLearner._skipped_checks,
        "check_class_weight_classifiers": (
            "the leaves of trees that are grown in full are pure, whatever the weights"
        ),
    }

    @classmethod
    def _example_learners(cls) -> list["RandomForestClassifier"]:
        return [
            cls(10),
            cls(5, oob_score=True, max_samples=0.8, class_weight="balanced"),
            cls(5, criterion="entropy"),
        ]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees."""
        self.schema_, rows = read_rows(self, X)
        codes, self.classes_ = encode_classes(self, y)
        check_consistent_length(rows, codes)
        weights, used = self._usable_weights(sample_weight, rows)
        rows, codes = rows[used], codes[used]
        n_classes = len(self.classes_)
        if (codes == codes[0]).all():
            label = self.classes_[codes[0]]
            warnings.warn(
                f"y has one class, {label!s}: every tree is a single leaf.",
                DataWarning,
                stacklevel=3,
            )
        reweigh = None
        if self.class_weight == "balanced_subsample":

            def reweigh(drawn: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.float64]:
                present = np.repeat(codes[drawn], counts)
                return self._class_weights(present, "balanced")[codes[drawn]]

        elif self.class_weight is not None:
            by_class = self._class_weights(codes, self.class_weight)[codes]
            weights = by_class if weights is None else weights * by_class
        votes = np.zeros((len(rows), n_classes))
        right, judged, errors = np.zeros(len(rows), bool), np.zeros(len(rows), bool), []

        def judge(aside: NDArray[np.intp], shares: NDArray[np.float64]) -> None:
            votes[aside] += shares
            judged[aside] = True
            right[aside] = votes[aside].argmax(axis=1) == codes[aside]
            n_judged = np.count_nonzero(judged)
            errors.append(1.0 - np.count_nonzero(right) / n_judged if n_judged else np.nan)

        self._grow(rows, codes, weights, n_classes, judge, reweigh)
        _forget(self, "oob_errors_", "oob_score_", "oob_decision_function_")
        if self.oob_score:
            totals = votes.sum(axis=1, keepdims=True)
            self.oob_errors_ = np.array(errors)
            self.oob_score_ = float(1.0 - errors[-1])
            with np.errstate(invalid="ignore"):
                self.oob_decision_function_ = votes / totals
        return self

    def _class_weights(self, codes: NDArray[Any], class_weight: Any) -> NDArray[np.float64]:
        """Return the weight of each class, 1 for classes that are not among the codes."""
        weights, present = np.ones(len(self.classes_)), np.unique(codes)
        labels = self.classes_[present]
        weights[present] = compute_class_weight(
            class_weight, classes=labels, y=self.classes_[codes]
        )
        if not (np.isfinite(weights) & (weights > 0)).all():
            raise DataError(
                f"class_weight={class_weight!r} must give each class a positive weight."
            )
        return weights

    @property
    def estimators_(self) -> list[DecisionTreeClassifier]:
        """The trees one by one."""
        check_is_fitted(self)
        return [self._member(number) for number in range(len(self.forest_))]

    def _member(self, number: int) -> DecisionTreeClassifier:
        criterion = "gini" if self.criterion == "gini" else "entropy"
        tree = DecisionTreeClassifier(
            criterion=criterion, max_features=self.max_features, unseen=self.unseen
        )
        tree.classes_ = self.classes_
        return self._as_member(tree, number)

    def _losses(self, y: ArrayLike) -> Losses:
        labels = np.asarray(y)

        def losses(shares: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.float64]:
            return (self.classes_[shares.argmax(axis=1)] != labels[rows]).astype(np.float64)

        return losses

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the class shares in each row's leaves, averaged over the trees."""
        return self._averages(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of the largest mean share."""
        shares = self._averages(X)
        return self.classes_[shares.argmax(axis=1)]


class RandomForestRegressor(ForestLearner, Regressor):
    r"""Average trees, each grown on other rows, with some columns to choose from at a node.

    Columns of pandas dtype ``category`` or ``bool`` are split by their categories, numbers by
    thresholds, and missing values are welcome in both.

    Parameters
    ----------
    n_estimators
        Number of trees.
    criterion
        What splits make small: the "squared_error".
    max_features
        Columns tried at each node, drawn at random: a number, a share, "sqrt" or "log2"; None
        tries all. Columns that are constant in the node do not count.
    max_depth
        Largest number of tests on a path.
    min_samples_split
        Fewest rows, or smallest share, of a node that is split.
    min_samples_leaf
        Fewest rows, or smallest share, of a branch.
    bootstrap
        Whether rows are drawn with replacement.
    max_samples
        Rows that are drawn for a tree: a number, or a share of all; None draws as many as there
        are.
    oob_score
        Whether to judge the forest by the rows that are not drawn for a tree.
    unseen
        What to do with a category that was not there in training: "error", or "missing".
    n_jobs
        Threads that grow and ask trees; None for one, -1 for all cores. They do not change the
        result.
    random_state
        Seed of the draws of rows and columns.

    Attributes
    ----------
    forest_ : Forest
        The trees, as arrays.
    schema_ : TableSchema
        Columns and categories found in training.
    estimators_ : list of DecisionTreeRegressor
        The trees one by one, to be read or exported.
    feature_importances_ : ndarray of shape (n_columns,)
        Share of each column in the total decrease of the error, averaged over the trees.
    estimators_samples_ : list of ndarray
        Rows that each tree was grown on.
    evaluations_ : float
        Trees that a prediction asks.
    oob_score_ : float
        Only with `oob_score`, the coefficient of determination on rows by the trees that have not
        seen them.
    oob_errors_ : ndarray of shape (n_estimators,)
        Only with `oob_score`, the mean squared error of the first trees on such rows, as trees are
        added.
    oob_prediction_ : ndarray of shape (n_rows,)
        Only with `oob_score`, what those trees say of each row; NaN where there are none.

    Notes
    -----
    The trees are grown in full, and their means are averaged. See Breiman
    (2001), Random forests; Alpaydin 9.7 and 17.6.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from verulam.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(max_features=0.3, oob_score=True, random_state=0)
    >>> round(forest.fit(X, y).oob_score_, 2)
    0.43
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED_CONSTRAINTS,
        "criterion": [StrOptions({"squared_error"})],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_features: int | float | str | None = 1.0,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        unseen: str = "error",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["RandomForestRegressor"]:
        return [cls(10), cls(5, oob_score=True, max_features="sqrt", max_samples=0.8)]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees."""
        self.schema_, rows = read_rows(self, X)
        targets = numeric_targets(self, y)
        check_consistent_length(rows, targets)
        with np.errstate(over="ignore"):
            widest = np.square(targets.max() - targets.min()) * len(targets)
        if not np.isfinite(widest):
            raise DataError("y is too large for its squares: divide it by a power of ten.")
        weights, used = self._usable_weights(sample_weight, rows)
        rows, targets = rows[used], targets[used]
        centre, errors = float(targets.mean()), []
        deviations = targets - centre
        totals, counts = np.zeros(len(rows)), np.zeros(len(rows))
        losses = np.zeros(len(rows))

        def judge(aside: NDArray[np.intp], means: NDArray[np.float64]) -> None:
            totals[aside] += means[:, 0]
            counts[aside] += 1.0
            losses[aside] = (totals[aside] / counts[aside] - deviations[aside]) ** 2
            n_judged = np.count_nonzero(counts)
            errors.append(losses.sum() / n_judged if n_judged else np.nan)

        self._grow(rows, deviations, weights, 0, judge)
        self.forest_.values[:] += centre
        _forget(self, "oob_errors_", "oob_score_", "oob_prediction_")
        if self.oob_score:
            judged = counts > 0
            self.oob_errors_ = np.array(errors)
            with np.errstate(invalid="ignore"):
                self.oob_prediction_ = totals / counts + centre
            spread = deviations[judged].var() if judged.any() else np.nan
            self.oob_score_ = float(1.0 - errors[-1] / spread) if spread > 0 else float("nan")
        return self

    @property
    def estimators_(self) -> list[DecisionTreeRegressor]:
        """The trees one by one."""
        check_is_fitted(self)
        return [self._member(number) for number in range(len(self.forest_))]

    def _member(self, number: int) -> DecisionTreeRegressor:
        tree = DecisionTreeRegressor(max_features=self.max_features, unseen=self.unseen)
        tree.linear_leaves_ = None
        return self._as_member(tree, number)

    def _losses(self, y: ArrayLike) -> Losses:
        targets = numeric_targets(self, y)

        def losses(means: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.float64]:
            return (means[:, 0] - targets[rows]) ** 2

        return losses

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the mean of each row's leaves."""
        return self._averages(X)[:, 0]


def _forget(forest: Any, *names: str) -> None:
    """Remove what an earlier fit may have left."""
    for name in names:
        vars(forest).pop(name, None)
