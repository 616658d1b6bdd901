"""Stumps: the cut of one column with the least weighted error, found exactly."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from verulam.base import (
    Classifier,
    DataError,
    check_is_fitted,
    check_weights,
    checked_fit,
    encode_classes,
    validate_data,
)
from verulam.ensemble._boosting.stump_loops import best_cut_of_classes, extreme_cuts
from verulam.numerics import announced

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Stump:
    """A cut of one column.

    Attributes
    ----------
    column
        Position of the column; -1 where all rows get the same class.
    threshold
        Rows up to it are on the left.
    left, right
        Position of the class on either side.
    """

    column: int
    threshold: float
    left: int
    right: int

    def codes(self, inputs: FloatArray) -> NDArray[np.intp]:
        """Return the position of the class of each row."""
        if self.column < 0:
            return np.full(len(inputs), self.left, dtype=np.intp)
        return np.where(inputs[:, self.column] > self.threshold, self.right, self.left)


class SortedColumns:
    """Columns sorted once, so that every stump is found in one pass over the rows."""

    def __init__(self, inputs: FloatArray, codes: NDArray[Any], n_classes: int) -> None:
        columns = np.ascontiguousarray(inputs.T)
        self.order = np.argsort(columns, axis=1, kind="stable").astype(np.int32)
        self.ranked = np.take_along_axis(columns, self.order, axis=1)
        self.codes = codes.astype(np.int64)
        self.n_classes = n_classes
        self._signs = np.where(self.codes == 1, 1.0, -1.0)
        n_rows = len(codes)
        self._buffers = np.empty(n_classes), np.empty(n_rows), np.empty(n_rows, dtype=np.int64)

    def best(self, weights: FloatArray) -> Stump:
        """Return the stump with the least weight of rows that it gets wrong."""
        totals = np.bincount(self.codes, weights, minlength=self.n_classes)
        alone = int(totals.argmax())
        margin = 1e-12 * float(totals.sum())
        if self.n_classes == 2:
            low, low_column, low_rank, high, high_column, high_rank = extreme_cuts(
                self.order, self.ranked, self._signs * weights, margin
            )
            right_way = totals[0] + low <= totals[1] - high + margin
            column, rank = (low_column, low_rank) if right_way else (high_column, high_rank)
            left, right = (0, 1) if right_way else (1, 0)
            if column < 0 or totals.min() < min(totals[0] + low, totals[1] - high) - margin:
                return Stump(-1, 0.0, alone, alone)
        else:
            column, rank, left, right = best_cut_of_classes(
                self.order, self.ranked, self.codes, weights, *self._buffers, margin
            )
        if column < 0:
            return Stump(-1, 0.0, alone, alone)
        below, above = self.ranked[column, rank], self.ranked[column, rank + 1]
        middle = below + 0.5 * (above - below)
        # Between neighbouring numbers of floating point there is no middle.
        threshold = middle if below <= middle < above else below
        return Stump(int(column), float(threshold), int(left), int(right))


class DecisionStump(Classifier):
    r"""Decide by one cut of one column, the best there is.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    stump_ : Stump
        The cut.

    Notes
    -----
    Of all columns, thresholds and pairs of classes the one with the least weighted error

    .. math:: \epsilon = \sum_t p^t\, 1(y^t \ne r^t)

    is found exactly, in one pass over each sorted column. A tree of one level, which is grown by
    entropy or the Gini index, may have a larger error. See Alpaydin 17.7.

    Examples
    --------
    >>> from verulam.ensemble import DecisionStump
    >>> stump = DecisionStump().fit([[1.0], [2.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    >>> stump.stump_.threshold, stump.predict([[2.9], [3.1]]).tolist()
    (3.0, ['a', 'b'])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _complexity = 2
    _interpretability = 3

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Two answers cannot tell three classes apart.
        tags.classifier_tags.poor_score = True
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the best cut."""
        inputs = validate_data(self, X, dtype=np.float64, any_size=True)
        codes, self.classes_ = encode_classes(self, y)
        if len(codes) != len(inputs):
            raise DataError(f"X has {len(inputs)} rows and y {len(codes)}; they must be as many.")
        weights = check_weights(sample_weight, inputs)
        if weights is None:
            weights = np.ones(len(inputs))
        if not weights.sum() > 0:
            raise DataError("sample_weight is zero in all rows; one row or more must count.")
        # Rows of no weight take no part, not even as neighbours of a threshold.
        rows = np.flatnonzero(weights > 0)
        with announced("verulam.ensemble"):
            columns = SortedColumns(inputs[rows], codes[rows], len(self.classes_))
            self.stump_ = columns.best(weights[rows])
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class on the row's side of the cut."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, any_size=True, reset=False)
        return self.classes_[self.stump_.codes(inputs)]
