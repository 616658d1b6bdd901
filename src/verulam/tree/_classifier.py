"""Classification trees: ID3, C4.5, CART and what lies between them."""

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from verulam.base import (
    Classifier,
    DataError,
    Interval,
    StrOptions,
    checked_fit,
    encode_classes,
)
from verulam.tree._base import (
    TreeLearner,
    usable_weights,
    warn_of_one_class,
    weights_by_class,
)
from verulam.tree._export.text import class_text
from verulam.tree._growing.assemble import Growth
from verulam.tree._options import (
    PLAIN_CLASSIFIER,
    PRESETS,
    SHARED_CONSTRAINTS,
    Options,
    count_checks,
    make_parameters,
    resolve,
)
from verulam.tree._pruning import (
    PruningPath,
    cost_complexity,
    pessimistic_errors,
    prune_where,
    reach_counts,
)
from verulam.tree._structure.encoding import read_rows
from verulam.tree._structure.tree import TreeStructure


class DecisionTreeClassifier(TreeLearner, Classifier):
    r"""Decide by a tree of tests on single columns, grown on a table as it is.

    Columns of pandas dtype ``category`` or ``bool`` are split by their categories, numbers by
    thresholds, and missing values are welcome in both.

    Parameters
    ----------
    preset
        "id3", "c4.5" or "cart": fills in `criterion`, `categories`, `missing`, `pruning` and
        `min_samples_leaf` where they are None. Without one, the tree is grown by the Gini index
        with two-way splits, and not pruned.
    criterion
        "gini", "entropy" (information gain), "gain_ratio", "misclassification", "risk" under
        `loss`, or a function of class probabilities (last axis) that is largest for equal ones.
    categories
        "subset" divides categories into two sets, "n_way" gives each its branch.
    missing
        "learned" sends missing values where they reduce the impurity most, "fractional" divides
        them among the branches, in training and prediction.
    max_depth
        Largest number of tests on a path.
    max_leaf_nodes
        Largest number of leaves; the most useful splits are kept.
    min_samples_split
        Fewest rows, or smallest share of all rows, of a node that may be split.
    min_samples_leaf
        Fewest rows, or smallest share, of a branch (of at least two, in n-way splits).
    impurity_threshold
        Nodes of smaller impurity are leaves (:math:`\theta_I`).
    purity_threshold
        Nodes whose largest class has at least this share are leaves (:math:`\theta_p`).
    min_impurity_decrease
        Smallest decrease of impurity, weighted by the node's share of all rows, of a split.
    max_features
        Columns tried at each node, drawn at random: a number, a share, "sqrt" or "log2".
    pruning
        "none"; "reduced_error" on rows set aside; "cost_complexity"; or "pessimistic", by
        C4.5's upper bounds on the errors.
    pruning_fraction
        Share of the rows that "reduced_error" sets aside.
    pruning_confidence
        Confidence of the pessimistic bounds; smaller prunes more.
    ccp_alpha
        Cost of a leaf for "cost_complexity", in units of the error rate (or risk); None
        chooses it by cross-validation.
    pruning_folds
        Folds of that cross-validation.
    class_weight
        Weights by class, or "balanced".
    loss
        Loss of deciding for each class (row) where the truth is each class (column), in the
        order of the sorted labels: `predict` takes the decision of least risk.
    unseen
        What to do with a category that was not there in training: "error", or "missing".
    random_state
        Seed of `max_features`, of the rows set aside and of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    tree_ : TreeStructure
        The tree.
    schema_ : TableSchema
        Columns and categories found in training.
    ccp_alpha_ : float or None
        The cost of a leaf that was used.
    n_leaves_grown_ : int
        Leaves before pruning.
    feature_importances_ : ndarray of shape (n_columns,)
        Share of each column in the total decrease of the impurity.

    Notes
    -----
    A node is split where the impurity after the split, averaged over its branches,
    :math:`\sum_j (N_j / N)\, I(p_j)`, is least; candidates for thresholds are the midpoints of
    neighbouring values between which the class changes. See Alpaydin 9.2.1 (fig. 9.3), 9.3.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.tree import DecisionTreeClassifier
    >>> buys = dataset("buys_computer")
    >>> tree = DecisionTreeClassifier(preset="id3").fit(buys.inputs, buys.target_values)
    >>> print(tree.export_text())
    age = middle_aged: yes (4)
    age = senior
    |   credit_rating = excellent: no (2)
    |   credit_rating = fair: yes (3)
    age = youth
    |   student = no: no (3)
    |   student = yes: yes (2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED_CONSTRAINTS,
        "preset": [StrOptions(set(PRESETS)), None],
        "criterion": [
            StrOptions({"gini", "entropy", "gain_ratio", "misclassification", "risk"}),
            callable,
            None,
        ],
        "impurity_threshold": [Interval(Real, 0.0, None, closed="left")],
        "purity_threshold": [Interval(Real, 0.0, 1.0, closed="right")],
        "pruning": [
            StrOptions({"none", "reduced_error", "cost_complexity", "pessimistic"}),
            None,
        ],
        "pruning_confidence": [Interval(Real, 0.0, 0.5, closed="right")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "loss": ["array-like", None],
    }

    def __init__(
        self,
        *,
        preset: str | None = None,
        criterion: str | Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
        categories: str | None = None,
        missing: str | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float | None = None,
        impurity_threshold: float = 0.0,
        purity_threshold: float = 1.0,
        min_impurity_decrease: float = 0.0,
        max_features: int | float | str | None = None,
        pruning: str | None = None,
        pruning_fraction: float = 1 / 3,
        pruning_confidence: float = 0.25,
        ccp_alpha: float | None = None,
        pruning_folds: int = 10,
        class_weight: Mapping[Any, float] | str | None = None,
        loss: ArrayLike | None = None,
        unseen: str = "error",
        random_state: Any = None,
    ) -> None:
        self.preset = preset
        self.criterion = criterion
        self.categories = categories
        self.missing = missing
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.impurity_threshold = impurity_threshold
        self.purity_threshold = purity_threshold
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.pruning = pruning
        self.pruning_fraction = pruning_fraction
        self.pruning_confidence = pruning_confidence
        self.ccp_alpha = ccp_alpha
        self.pruning_folds = pruning_folds
        self.class_weight = class_weight
        self.loss = loss
        self.unseen = unseen
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["DecisionTreeClassifier"]:
        return [cls(), cls(preset="id3"), cls(preset="c4.5"), cls(preset="cart", pruning_folds=3)]

    @property
    def _skipped_checks(self) -> dict[str, str]:  # type: ignore[override] # depends on pruning
        options, skipped = resolve(self, PLAIN_CLASSIFIER), {}
        if options.pruning != "pessimistic":
            pure = "the leaves of a tree that is hardly pruned are pure, whatever the weights"
            skipped["check_class_weight_classifiers"] = pure
        return {**skipped, **count_checks(options.min_samples_leaf)}

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree and prune it."""
        self.schema_, rows = read_rows(self, X)
        codes, self.classes_ = encode_classes(self, y)
        if len(rows) != len(codes):  # the check looks at much else, which takes long
            check_consistent_length(rows, codes)
        weights, used = usable_weights(sample_weight, rows)
        rows, codes = rows[used], codes[used]
        if self.class_weight is not None:
            by_class = weights_by_class(self.class_weight, self.classes_[codes])
            weights = by_class if weights is None else weights * by_class
        if (codes == codes[0]).all():
            warn_of_one_class(self.classes_[codes[0]])
        options = resolve(self, PLAIN_CLASSIFIER)
        self._grow_and_prune(rows, codes, weights, options)
        if options.pruning == "pessimistic":
            self.tree_ = self._pessimistic(self.tree_)
        return self

    def _loss_matrix(self) -> NDArray[np.float64]:
        """Return the losses, those of 0 and 1 if none were given."""
        n_classes = len(self.classes_)
        if self.loss is None:
            return 1.0 - np.eye(n_classes)
        matrix = np.asarray(self.loss, dtype=np.float64)
        if matrix.shape != (n_classes, n_classes):
            raise DataError(
                f"loss has shape {matrix.shape}; with {n_classes} classes it must have shape "
                f"({n_classes}, {n_classes}): decisions in rows, classes in columns."
            )
        if not np.isfinite(matrix).all() or (matrix < 0).any():
            raise DataError("loss must hold finite numbers of at least 0.")
        return matrix

    def _grown(
        self,
        rows: NDArray[np.float64],
        codes: NDArray[np.intp],
        weights: NDArray[np.float64] | None,
        training: Any,
        options: Options,
        random: np.random.Generator,
    ) -> Growth:
        weights = None if weights is None else weights[training]
        rows, codes = np.ascontiguousarray(rows[training]), codes[training]
        loss = self._loss_matrix()
        parameters = make_parameters(self, options, rows, len(self.classes_), weights, loss)
        codes = codes.astype(np.int64, copy=False)
        return self._grow(rows, codes, weights, options, parameters, random)

    def _node_risks(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the loss of the best decision for class weights in each row."""
        return (values @ self._loss_matrix().T).min(axis=1)

    def _reduced(
        self,
        structure: TreeStructure,
        rows: NDArray[np.float64],
        codes: NDArray[np.intp],
        weights: NDArray[np.float64] | None,
    ) -> TreeStructure:
        """Return the tree pruned where a leaf is no worse on other rows."""
        indicators = np.zeros((len(rows), len(self.classes_)))
        indicators[np.arange(len(rows)), codes] = 1.0 if weights is None else weights
        reached = reach_counts(structure, rows, indicators)
        # What a node decides was learned on the growing rows; its losses are counted on the others.
        decisions = self._decide(structure.values)
        losses = (reached * self._loss_matrix()[decisions]).sum(axis=1)
        return prune_where(structure, losses, tol=1e-12)

    def _pessimistic(self, structure: TreeStructure) -> TreeStructure:
        largest = structure.values.max(axis=1)
        errors = np.where(structure.weight > 0, structure.weight - largest, 0.0)
        # C4.5 replaces a subtree by a leaf that it estimates to make up to a tenth of an error
        # more.
        bounds = pessimistic_errors(structure.weight, errors, self.pruning_confidence)
        return prune_where(structure, bounds, tol=0.1)

    def _path(self, structure: TreeStructure) -> PruningPath:
        risks = np.where(structure.weight > 0, self._node_risks(structure.values), 0.0)
        return cost_complexity(structure, risks / structure.weight[0])

    def _losses(
        self, structure: TreeStructure, rows: NDArray[np.float64], target: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        values = structure.average(rows, _shares(structure.values))
        return self._loss_matrix()[self._decide(values), target]

    def prune(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Prune the fitted tree by reduced error on a pruning set of its own (Alpaydin 9.3)."""
        rows = self._encode(X)
        codes = self._known_codes(y)
        check_consistent_length(rows, codes)
        self.tree_ = self._reduced(self.tree_, rows, codes, None)
        return self

    def _known_codes(self, y: ArrayLike) -> NDArray[np.intp]:
        labels = np.asarray(y)
        codes = np.searchsorted(self.classes_, labels)
        # An unknown label may be sorted in behind the last class; the comparison below tells.
        codes = np.minimum(codes, len(self.classes_) - 1)
        unknown = self.classes_[codes] != labels
        if unknown.any():
            raise DataError(
                f"y has the class {_plain(labels[unknown][0])!r}, which was not there in training."
            )
        return codes

    def _decide(self, values: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the position of the class of least risk, for class weights in each row."""
        if self.loss is None:
            return np.argmax(values, axis=1)
        return np.argmin(values @ self._loss_matrix().T, axis=1)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the shares of the classes in each row's leaf."""
        rows = self._encode(X)
        return self.tree_.average(rows, _shares(self.tree_.values))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row, or with `loss` that of least risk."""
        rows = self._encode(X)
        if self.tree_.fractional:
            return self._answers(self.tree_, rows)
        leaves, values = self.tree_.apply(rows), self.tree_.values
        if len(rows) < len(values):
            return self.classes_[self._decide(values[leaves])]
        # Where there are more rows than nodes, the nodes decide, and rows look their decision up.
        return self.classes_[self._decide(values)][leaves]

    def _answers(self, structure: TreeStructure, rows: NDArray[np.float64]) -> NDArray[Any]:
        return self.classes_[self._decide(structure.average(rows, _shares(structure.values)))]

    def leaf_text(self, node: int) -> str:
        """Return the decision of a node in words, with the weight behind it."""
        values = self.tree_.values[node]
        decision = int(self._decide(values[None])[0])
        if self.tree_.weight[node] == 0:
            return f"{self.classes_[decision]} (0)"
        return class_text(values, self.classes_, decision)


def _plain(label: Any) -> Any:
    """Return a label as Python shows it."""
    return label.item() if isinstance(label, np.generic) else label


def _shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values / values.sum(axis=1, keepdims=True)
