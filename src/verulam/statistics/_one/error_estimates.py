"""The error of a classifier on learnt rows, by cross-validation and on rows set aside."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

from verulam.base import DataError, Seed, generator
from verulam.statistics._core.intervals import rate_interval
from verulam.statistics._core.result import ConfidenceInterval


@dataclass(frozen=True, eq=False)
class ErrorEstimates:
    """Three estimates of the error of each of some classifiers.

    Attributes
    ----------
    resubstitution, cross_validation, test
        Error rates by name of the classifier: on the rows that it learnt from, on parts of them
        left out in turn, and on rows that were set aside before.
    n_train, n_test
        Rows learnt from and rows set aside.
    n_splits
        Parts of the cross-validation.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.statistics import ErrorEstimates
    >>> rates = [pd.Series({"tree": rate}) for rate in (0.0, 0.2, 0.25)]
    >>> print(ErrorEstimates(*rates, n_train=80, n_test=20, n_splits=10))
          resubstitution  cross-validation  test set
    tree             0.0               0.2      0.25
    """

    resubstitution: pd.Series
    cross_validation: pd.Series
    test: pd.Series
    n_train: int
    n_test: int
    n_splits: int

    @property
    def optimism(self) -> pd.Series:
        """What resubstitution hides: error by cross-validation minus that on learnt rows."""
        return self.cross_validation - self.resubstitution

    def test_interval(self, name: str, confidence: float = 0.95) -> ConfidenceInterval:
        """Return an interval of the error on the test set, whose rows are independent."""
        wrong = round(float(self.test[name]) * self.n_test)
        return rate_interval(wrong, self.n_test, confidence=confidence)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each classifier and a column for each estimate."""
        return pd.DataFrame(
            {
                "resubstitution": self.resubstitution,
                "cross-validation": self.cross_validation,
                "test set": self.test,
            }
        )

    def __str__(self) -> str:
        return self.to_frame().round(3).to_string()


def error_estimates(
    learners: Any,
    X: Any,
    y: ArrayLike,
    *,
    test_fraction: float = 0.3,
    n_splits: int = 10,
    random_state: Seed = None,
) -> ErrorEstimates:
    r"""Return the error of classifiers on learnt rows, by cross-validation and on a test set.

    Parameters
    ----------
    learners
        A classifier, or a dictionary of several by name.
    X, y
        Rows and their classes.
    test_fraction
        Share of the rows that is set aside as the test set, the same for all classifiers.
    n_splits
        Parts of the other rows, each of which is left out once; the same for all classifiers.
    random_state
        Seed of the test set and of the parts.

    Notes
    -----
    .. math:: \frac{1}{n} \sum_t 1(\hat{y}(x^t) \ne y^t)

    over three sets of rows: those that the classifier learnt from (resubstitution: too small, of
    one nearest neighbour always 0), the same rows with the class that a classifier gave which had
    not learnt from them (cross-validation: a little too large, for it learnt from fewer), and
    rows that had no part in training (test set: no bias, but of the fewest rows). Classes have the
    same shares in all parts. See Bartkowiak's programme, IV.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from verulam.statistics import error_estimates
    >>> X, y = load_iris(return_X_y=True)
    >>> nearest = {f"{k} nearest": KNeighborsClassifier(k) for k in (1, 15)}
    >>> print(error_estimates(nearest, X[:, :2], y, random_state=0))
                resubstitution  cross-validation  test set
    1 nearest            0.057             0.257     0.244
    15 nearest           0.162             0.200     0.289
    """
    named = learners if isinstance(learners, Mapping) else {type(learners).__name__: learners}
    targets = np.asarray(y)
    _check(named, targets, test_fraction, n_splits)
    seed = int(generator(random_state).integers(2**31))
    train, test = train_test_split(
        np.arange(len(targets)), test_size=test_fraction, stratify=targets, random_state=seed
    )
    splits = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
    rates = np.array(
        [_three_rates(learner, X, targets, train, test, splits) for learner in named.values()]
    )
    learnt, held_out, unseen = (pd.Series(column, index=list(named)) for column in rates.T)
    return ErrorEstimates(learnt, held_out, unseen, len(train), len(test), n_splits)


def _three_rates(
    learner: Any,
    X: Any,
    targets: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    splits: StratifiedKFold,
) -> tuple[float, float, float]:
    known, unseen = _rows(X, train), _rows(X, test)
    fitted = clone(learner).fit(known, targets[train])
    held_out = cross_val_predict(learner, known, targets[train], cv=splits)
    return (
        float(np.mean(fitted.predict(known) != targets[train])),
        float(np.mean(held_out != targets[train])),
        float(np.mean(fitted.predict(unseen) != targets[test])),
    )


def _rows(X: Any, positions: np.ndarray) -> Any:
    return X.iloc[positions] if isinstance(X, pd.DataFrame) else np.asarray(X)[positions]


def _check(
    learners: Mapping[Any, Any], targets: np.ndarray, test_fraction: float, n_splits: int
) -> None:
    for name, learner in learners.items():
        if not is_classifier(learner):
            raise DataError(f"learners must be classifiers, but {name!r} is none.")
    if not learners:
        raise DataError("learners is empty; give a classifier, or a dictionary of some.")
    if targets.ndim != 1:
        raise DataError(f"y must have one class for each row, but its shape is {targets.shape}.")
    if not 0.0 < test_fraction < 1.0:
        raise DataError(f"test_fraction must be between 0 and 1, but is {test_fraction}.")
    if n_splits < 2:
        raise DataError(f"n_splits must be 2 or more, but is {n_splits}.")
    label, smallest = min(zip(*np.unique(targets, return_counts=True), strict=True), key=_size)
    left = int(smallest - round(test_fraction * smallest))
    if left < n_splits:
        raise DataError(
            f"y has {smallest} rows of the class {label!s}, of which about {left} are left to "
            f"learn from: too few for n_splits={n_splits} parts. Take fewer parts, or a smaller "
            "test_fraction."
        )


def _size(label_and_count: tuple[Any, int]) -> int:
    return label_and_count[1]
