"""Boosting seen from the training rows: their weights and their margins, round by round."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    DataError,
    Kind,
    check_is_fitted,
    checked_arguments,
)
from verulam.ensemble._boosting.adaboost import AdaBoostClassifier, reweighted
from verulam.ensemble._members.members import TARGETS

FloatArray = NDArray[np.float64]
BOOSTED = Kind("an `AdaBoostClassifier`", lambda value: isinstance(value, AdaBoostClassifier))


@dataclass(frozen=True, eq=False)
class MarginTrace:
    """Margins of rows after each member.

    Attributes
    ----------
    margins : ndarray of shape (n_members, n_rows)
        Share of the votes for the true class less the largest share of another, from -1 to 1.
    """

    margins: FloatArray

    @property
    def smallest(self) -> FloatArray:
        """The smallest margin after each member."""
        return self.margins.min(axis=1)

    def cumulative(self, member: int = -1) -> tuple[FloatArray, FloatArray]:
        """Return margins in order, and the share of rows with no larger one, after a member."""
        ordered = np.sort(self.margins[member])
        return ordered, np.arange(1, len(ordered) + 1) / len(ordered)


@checked_arguments(model=BOOSTED, y=TARGETS)
def margin_trace(model: AdaBoostClassifier, X: Any, y: ArrayLike) -> MarginTrace:
    r"""Return how sure a boosted ensemble is of the truth, after each of its members.

    Parameters
    ----------
    model
        A fitted `AdaBoostClassifier`.
    X
        Inputs.
    y
        True labels.

    Notes
    -----
    .. math:: m(x, r) = \frac{\sum_j w_j\, d_{jr} - \max_{i \ne r} \sum_j w_j\, d_{ji}}
                             {\sum_j |w_j|}

    Boosting goes on to raise margins after the last training error is gone, which is why it may
    go on to improve. See Alpaydin 17.7.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import AdaBoostClassifier, margin_trace
    >>> iris = dataset("iris")
    >>> rows = iris.target_values != "setosa"
    >>> boost = AdaBoostClassifier(n_estimators=30)
    >>> table, labels = iris.inputs[rows], iris.target_values[rows]
    >>> trace = margin_trace(boost.fit(table, labels), table, labels)
    >>> trace.smallest[[0, 9, 29]].round(2)
    array([-1.  , -0.11,  0.02])
    """
    codes = _codes(model, y)
    rows = np.arange(len(codes))
    margins = []
    for votes in model.staged_votes(X):
        if len(votes) != len(codes):
            raise DataError(f"X has {len(votes)} rows and y {len(codes)}; they must be as many.")
        truth = votes[rows, codes]
        others = votes.copy()
        others[rows, codes] = -np.inf
        margins.append(truth - others.max(axis=1))
    return MarginTrace(np.array(margins))


@checked_arguments(model=BOOSTED, y=TARGETS)
def boosting_weights(model: AdaBoostClassifier, X: Any, y: ArrayLike) -> FloatArray:
    """Return the weights that the training rows had in each round, and would have in the next.

    Parameters
    ----------
    model
        A fitted `AdaBoostClassifier`.
    X
        Training inputs.
    y
        Training labels.

    Returns
    -------
    ndarray of shape (n_members + 1, n_rows)
        Weights that sum to 1 in each round.

    Notes
    -----
    With the weights of the next round, a member's error is one half. See Alpaydin 17.7 and
    Bartkowiak 7.7 (fig. 7.2).

    Examples
    --------
    >>> from verulam.ensemble import AdaBoostClassifier, boosting_weights
    >>> rows, labels = [[1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 0]
    >>> boost = AdaBoostClassifier(n_estimators=2).fit(rows, labels)
    >>> boosting_weights(boost, rows, labels)[:2].round(3)
    array([[0.2  , 0.2  , 0.2  , 0.2  , 0.2  ],
           [0.125, 0.125, 0.5  , 0.125, 0.125]])
    """
    codes = _codes(model, y)
    table = model._checked(X)
    if model._is_plain:
        table = np.asarray(table, dtype=np.float64)
    weights = np.full(len(codes), 1.0 / len(codes))
    path = [weights]
    for learner, vote in zip(model.estimators_, model.votes_, strict=True):
        weights = reweighted(weights, model._codes(learner, table) == codes, float(vote))
        path.append(weights)
    return np.array(path)


def _codes(model: AdaBoostClassifier, y: ArrayLike) -> NDArray[np.intp]:
    check_is_fitted(model)
    labels = np.asarray(y)
    codes = np.clip(np.searchsorted(model.classes_, labels), 0, len(model.classes_) - 1)
    if (model.classes_[codes] != labels).any():
        raise DataError(f"y holds labels other than the classes {list(model.classes_)}.")
    return codes
