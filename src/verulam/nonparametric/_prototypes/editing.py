"""Editing: training rows that would mislead are dropped before neighbours vote."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError, HasMethods, Interval, clone
from verulam.nonparametric._neighbours.index import NeighbourIndex, check_neighbour_count
from verulam.nonparametric._prototypes.base import PrototypeClassifier
from verulam.nonparametric._voting.votes import class_shares, winning_class


class EditedNeighbours(PrototypeClassifier):
    r"""Nearest neighbours among the rows that lie on the side of their own class.

    Parameters
    ----------
    n_neighbors
        Neighbours that vote, in editing and afterwards.
    rule
        None for Wilson's editing: a row goes if its nearest others misclassify it. A classifier
        drops what it misclassifies after it was fitted to all rows: the rows on the wrong side
        of its boundary.
    repeats
        How often editing is done, each time on what is left; it stops where nothing goes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    rows_ : ndarray
        Kept rows of the training data, in order.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        The kept rows themselves.
    codes_ : ndarray of shape (n_prototypes,)
        Class of each, as a position in `classes_`.
    n_dropped_ : int
        Rows that were dropped.

    Notes
    -----
    Editing removes overlap, condensing what lies far from the boundary; edit first. See
    Bartkowiak 4.4 [wilson1972]_.

    References
    ----------
    .. [wilson1972] D. L. Wilson, "Asymptotic properties of nearest neighbor rules using edited
       data", IEEE Transactions on Systems, Man, and Cybernetics 2, 1972.

    Examples
    --------
    >>> from verulam.nonparametric import EditedNeighbours
    >>> X, y = [[0.0], [1.0], [2.0], [1.4], [8.0], [9.0], [10.0]], list("aaabbbb")
    >>> EditedNeighbours().fit(X, y).rows_
    array([0, 1, 2, 4, 5, 6])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "rule": [HasMethods(["fit", "predict"]), None],
        "repeats": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, *, n_neighbors: int = 3, rule: Any = None, repeats: int = 1) -> None:
        self.n_neighbors = n_neighbors
        self.rule = rule
        self.repeats = repeats

    def _select(self, inputs: np.ndarray, codes: np.ndarray) -> np.ndarray:
        kept = np.arange(len(inputs))
        if self.rule is None:
            check_neighbour_count(self.n_neighbors + 1, len(inputs), "the other rows")
        for _ in range(self.repeats):
            right = self._is_right(inputs[kept], codes[kept])
            if right.all() or len(kept[right]) <= self.n_neighbors:
                break
            kept = kept[right]
        self.n_dropped_ = len(inputs) - len(kept)
        if not len(kept):
            raise DataError("Every row is on the wrong side of the rule; nothing would be left.")
        return kept

    def _is_right(self, inputs: np.ndarray, codes: np.ndarray) -> np.ndarray:
        if self.rule is not None:
            return clone(self.rule).fit(inputs, codes).predict(inputs) == codes
        return wilson_keeps(inputs, codes, self.n_neighbors)


def wilson_keeps(inputs: np.ndarray, codes: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Tell which rows their nearest others classify as they are labelled.

    Parameters
    ----------
    inputs
        One row per case.
    codes
        Their classes, as numbers from 0.
    n_neighbors
        Others that vote; a tie goes to the first class.
    """
    neighbours = codes[NeighbourIndex(inputs).query_others(n_neighbors).rows]
    n_classes = int(codes.max()) + 1
    shares = class_shares(neighbours, None, n_classes)
    counts = np.bincount(codes, minlength=n_classes)
    return winning_class(shares, neighbours, counts, "first") == codes
