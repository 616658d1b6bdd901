"""Multiclass discrimination from two-class trainers: one versus rest, and one versus one."""

from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags, get_tags

from verulam.base import (
    Classifier,
    DataError,
    HasMethods,
    MetaEstimatorMixin,
    StrOptions,
    check_classification_targets,
    check_is_fitted,
    checked_fit_with_parts,
    clone,
    validate_data,
)
from verulam.linear._descent.squared_error import MinimumSquaredError


class _FromTwoClasses(MetaEstimatorMixin, Classifier):
    """What both ways of building on two-class trainers share."""

    estimator: Any
    reject_label: Any
    _skipped_checks: ClassVar[dict[str, str]] = {}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._estimator()).input_tags.sparse
        return tags

    def _estimator(self) -> Any:
        return MinimumSquaredError() if self.estimator is None else self.estimator

    def _read(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, np.ndarray]:
        inputs, targets = validate_data(
            self, X, y, accept_sparse="csr" if self.__sklearn_tags__().input_tags.sparse else False
        )
        check_classification_targets(targets)
        self.classes_ = np.unique(targets)
        if len(self.classes_) < 2:
            raise DataError(f"y has only one class ({self.classes_[0]}); two are needed.")
        return inputs, targets

    def _checked(self, X: ArrayLike) -> Any:
        check_is_fitted(self)
        sparse = "csr" if self.__sklearn_tags__().input_tags.sparse else False
        return validate_data(self, X, accept_sparse=sparse, reset=False)

    def _labels(self, codes: np.ndarray, certain: np.ndarray) -> np.ndarray:
        """Return the labels, or the reject label where a choice is not certain."""
        labels = self.classes_[codes]
        if certain.all():
            return labels
        return np.where(certain, labels.astype(object), self.reject_label)


class OneVersusRest(_FromTwoClasses):
    r"""Separate each class from all others by a two-class trainer.

    Parameters
    ----------
    estimator
        Two-class trainer with a `decision_function`; None takes `MinimumSquaredError`.
    rule
        "argmax" takes the class with the largest discriminant; "distance" that on whose positive
        side the row lies farthest from the plane, whatever the lengths of the weights; "strict"
        only a class that alone is positive, and rejects the rest.
    reject_label
        What strict prediction returns where no class, or more than one, is positive.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    estimators_ : list
        The fitted trainers, one for each class.

    Notes
    -----
    .. math:: \arg\max_i g_i(x), \qquad\text{or}\qquad \arg\max_i g_i(x) / \|w_i\|

    The largest discriminant belongs to the class whose plane is farthest only where all weights
    are of similar length; where trainers make some longer than others, "distance" divides by it.
    The regions of both are convex. See Alpaydin 10.3.2 (10.6-10.8).

    Examples
    --------
    >>> from verulam.linear import LogisticDiscriminant, OneVersusRest
    >>> rows = [[0.0], [1.0], [5.0], [6.0], [10.0], [11.0]]
    >>> names = ["a", "a", "b", "b", "c", "c"]
    >>> machine = OneVersusRest(LogisticDiscriminant(), rule="strict").fit(rows, names)
    >>> machine.predict([[0.5], [3.0], [10.5]]).tolist()
    ['a', 'reject', 'c']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "decision_function"]), None],
        "rule": [StrOptions({"argmax", "distance", "strict"})],
        "reject_label": "no_validation",
    }

    def __init__(
        self, estimator: Any = None, *, rule: str = "argmax", reject_label: Any = "reject"
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.reject_label = reject_label

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train one trainer for each class, or one in all where there are two."""
        inputs, targets = self._read(X, y)
        # Of two classes the discriminant of the first is minus that of the second.
        positives = self.classes_ if len(self.classes_) > 2 else self.classes_[1:]
        self.estimators_ = [
            clone(self._estimator()).fit(inputs, (targets == label).astype(np.int64))
            for label in positives
        ]
        if self.rule == "distance":
            self._lengths = self._weight_lengths()
        return self

    def _weight_lengths(self) -> np.ndarray:
        if not all(hasattr(estimator, "coef_") for estimator in self.estimators_):
            raise DataError(
                f'rule="distance" needs planes with weights, but {type(self._estimator()).__name__}'
                " has no coef_; take a linear estimator, or another rule."
            )
        lengths = [float(np.linalg.norm(estimator.coef_)) for estimator in self.estimators_]
        # Weights of zero describe no plane, and their discriminant is a constant.
        return np.array([length if length > 0.0 else 1.0 for length in lengths])

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the discriminant of each class; for two classes that of the second.

        With the rule "distance" it is the signed distance from the plane of each class.
        """
        values = self._values(self._checked(X))
        return values if len(self.classes_) > 2 else values[:, 1]

    def _values(self, inputs: Any) -> np.ndarray:
        values = np.column_stack(
            [estimator.decision_function(inputs) for estimator in self.estimators_]
        )
        if self.rule == "distance":
            values = values / self._lengths
        return values if len(self.classes_) > 2 else np.column_stack([-values, values])

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of each row, or the reject label."""
        values = self._values(self._checked(X))
        alone = (values > 0).sum(axis=1) == 1
        certain = alone if self.rule == "strict" else np.ones(len(values), dtype=bool)
        return self._labels(values.argmax(axis=1), certain)


class PairwiseClassifier(_FromTwoClasses):
    r"""Separate every two classes by a trainer that sees only their rows.

    Parameters
    ----------
    estimator
        Two-class trainer with a `decision_function`; None takes `MinimumSquaredError`.
    rule
        "votes" takes the class that wins most often, of several the one with the largest sum of
        discriminants; "relaxed" the class with the largest sum, which lets a discriminant that
        is large far from its own two classes decide; "strict" only a class that wins against all
        others, and rejects the rest.
    reject_label
        What strict prediction returns where no class wins against all others.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    pairs_ : list of tuple
        Positions of the two classes of each trainer.
    estimators_ : list
        The fitted trainers, :math:`K(K-1)/2` of them.

    Notes
    -----
    .. math:: g_{ij}(x) > 0 \text{ for all } j \ne i, \qquad\text{or}\qquad
              \arg\max_i \sum_{j \ne i} g_{ij}(x), \qquad g_{ji} = -g_{ij}

    Classes may be pairwise separable where none can be separated from all the rest. See Alpaydin
    10.4 (10.9-10.10).

    Examples
    --------
    >>> from verulam.linear import OneVersusRest, PairwiseClassifier, Perceptron
    >>> rows, names = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]], list("aabbcc")
    >>> PairwiseClassifier(Perceptron(random_state=0)).fit(rows, names).score(rows, names)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "decision_function"]), None],
        "rule": [StrOptions({"votes", "relaxed", "strict"})],
        "reject_label": "no_validation",
    }

    def __init__(
        self, estimator: Any = None, *, rule: str = "votes", reject_label: Any = "reject"
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.reject_label = reject_label

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train one trainer for every two classes."""
        inputs, targets = self._read(X, y)
        self.pairs_ = list(combinations(range(len(self.classes_)), 2))
        self.estimators_ = []
        for first, second in self.pairs_:
            rows = np.flatnonzero(np.isin(targets, self.classes_[[first, second]]))
            positive = (targets[rows] == self.classes_[first]).astype(np.int64)
            self.estimators_.append(clone(self._estimator()).fit(inputs[rows], positive))
        return self

    def pairwise(self, X: ArrayLike) -> np.ndarray:
        r"""Return :math:`g_{ij}` of each row, antisymmetric in the classes.

        Returns
        -------
        ndarray of shape (n_rows, n_classes, n_classes)
        """
        inputs = self._checked(X)
        n_classes = len(self.classes_)
        table = np.zeros((inputs.shape[0], n_classes, n_classes))
        for (first, second), estimator in zip(self.pairs_, self.estimators_, strict=True):
            values = estimator.decision_function(inputs)
            table[:, first, second] = values
            table[:, second, first] = -values
        return table

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return what each class is chosen by; for two classes that of the second.

        It is the sum of a class's discriminants; with votes the number of its wins, and a part of
        the sum that is too small to outweigh a win.
        """
        values = self._support(self.pairwise(X))
        return values if len(self.classes_) > 2 else values[:, 1]

    def _support(self, table: np.ndarray) -> np.ndarray:
        sums = table.sum(axis=2)
        if self.rule != "votes" or len(self.classes_) == 2:
            return sums
        # Below 1/3 in size, sums break ties between numbers of wins but never outweigh a win.
        return (table > 0).sum(axis=2) + sums / (3.0 * (np.abs(sums) + 1.0))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of each row, or the reject label."""
        table = self.pairwise(X)
        if self.rule != "strict":
            winners = self._support(table).argmax(axis=1)
            return self._labels(winners, np.ones(len(table), dtype=bool))
        wins = (table > 0).sum(axis=2)
        certain = wins.max(axis=1) == len(self.classes_) - 1
        return self._labels(wins.argmax(axis=1), certain)
