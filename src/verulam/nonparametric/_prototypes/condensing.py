"""Hart's condensing: the few rows that decide as all of them do."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from verulam.base import RANDOM_STATE, DataError, Interval, Seed, generator
from verulam.nonparametric._neighbours.inputs import check_at_least, checked_cases
from verulam.nonparametric._prototypes.base import PrototypeClassifier
from verulam.nonparametric._prototypes.condensing_loops import TILE, hart_pass, toggle_search

#: Most rows for which all distances are held, by the methods that need them.
MOST_ROWS = 8_000


@dataclass(frozen=True)
class CondensedSet:
    """The rows that Hart's rule stores.

    Attributes
    ----------
    rows : ndarray
        Stored rows in the order in which they were stored; a row may appear several times where
        more than one neighbour votes.
    n_passes : int
        Passes over the data; the last one stored nothing.
    """

    rows: np.ndarray
    n_passes: int


def condense(
    X: ArrayLike, y: ArrayLike, *, n_neighbors: int = 1, random_state: Seed = None
) -> CondensedSet:
    r"""Return a subset that classifies all rows as they are labelled, by Hart's passes.

    Parameters
    ----------
    X
        One row per case.
    y
        Their labels.
    n_neighbors
        Stored rows that vote.
    random_state
        Seed of the order in which rows are visited; the subset depends on it.

    Notes
    -----
    A row that the stored ones misclassify is stored; passes end when nothing was. Identical rows
    with different labels cannot all be right: each is stored at most `n_neighbors` times, so
    that passes end. The subset is consistent with all rows, as Hart asks. Implementations that
    condense one class at a time against the smallest, in a single pass, store fewer rows and do
    not classify the others as they are labelled. See Alpaydin 8.5 (figure 8.6), Bartkowiak 4.5.1.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(20.0)[:, None]
    >>> subset = condense(X, X[:, 0] > 9.5, random_state=0)
    >>> sorted(subset.rows.tolist()), subset.n_passes
    ([4, 8, 11, 19], 2)
    """
    inputs, codes, _ = checked_cases(X, y)
    check_at_least(n_neighbors, 1, "n_neighbors")
    order = generator(random_state).permutation(len(inputs))
    return hart_passes(inputs, codes, order, n_neighbors)


def hart_passes(
    inputs: np.ndarray, codes: np.ndarray, order: np.ndarray, n_neighbors: int
) -> CondensedSet:
    """Return what passes over the rows in an order store, until a pass stores nothing."""
    n_rows, n_columns = inputs.shape
    tiles, labels = np.zeros((4, n_columns, TILE)), np.zeros(4 * TILE, dtype=np.int64)
    stored = np.empty(n_rows * n_neighbors, dtype=np.int64)
    known = (
        np.full((n_rows, n_neighbors), np.inf),
        np.full((n_rows, n_neighbors), -1),
        np.zeros(n_rows, dtype=np.int64),
        np.zeros(n_rows, dtype=np.int64),
        np.empty(TILE),
    )
    count, n_passes, n_before = 0, 0, -1
    while count > n_before:
        n_before, n_passes, turn = count, n_passes + 1, 0
        while turn < n_rows:
            turn, count = hart_pass(inputs, codes, order, turn, count, tiles, labels, stored, known)
            if turn < n_rows:
                # Twice the room each time: all copies together cost no more than what is stored.
                tiles = np.concatenate([tiles, np.zeros_like(tiles)])
                labels = np.concatenate([labels, np.zeros_like(labels)])
    return CondensedSet(stored[:count].copy(), n_passes)


def drop_needless(X: ArrayLike, y: ArrayLike, rows: ArrayLike) -> np.ndarray:
    """Return the stored rows without those that all rows can do without, tried one by one.

    Parameters
    ----------
    X
        One row per case.
    y
        Their labels.
    rows
        Stored rows, for one neighbour, such as `condense` returns.

    Notes
    -----
    The last stored goes first. See Alpaydin 8, exercise 6.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(20.0)[:, None]
    >>> drop_needless(X, X[:, 0] > 9.5, [9, 10, 5, 14])
    array([ 9, 10])
    """
    inputs, codes, _ = checked_cases(X, y)
    prototypes = np.asarray(rows, dtype=np.intp)
    if not len(prototypes) or prototypes.min() < 0 or prototypes.max() >= len(inputs):
        raise DataError(f"rows must be at least one number from 0 to {len(inputs) - 1}.")
    if len(inputs) * len(prototypes) > MOST_ROWS**2:
        raise DataError(f"prune=True holds all distances; {len(inputs)} rows are too many.")
    table = cdist(inputs, inputs[prototypes])
    right = codes[prototypes[table.argmin(axis=1)]] == codes
    alive = np.ones(len(prototypes), dtype=bool)
    for place in range(len(prototypes) - 1, -1, -1):
        if alive.sum() == 1:
            break
        alive[place] = False
        nearest = np.flatnonzero(alive)[table[:, alive].argmin(axis=1)]
        if np.any((codes[prototypes[nearest]] != codes) & right):
            alive[place] = True
    return prototypes[alive]


class CondensedNeighbours(PrototypeClassifier):
    r"""Nearest neighbours among the few rows that Hart's rule stores.

    Parameters
    ----------
    n_neighbors
        Stored rows that vote.
    prune
        Try afterwards to remove stored rows, for one neighbour.
    random_state
        Seed of the order in which rows are visited.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    rows_ : ndarray
        Stored rows of the training data.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        The stored rows themselves.
    codes_ : ndarray of shape (n_prototypes,)
        Class of each, as a position in `classes_`.
    n_passes_ : int
        Passes over the data.

    Notes
    -----
    With one neighbour, every training row is classified as it is labelled, but for identical
    rows with different labels. See `condense` for the rule.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import CondensedNeighbours
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> y = X[:, 0] > 0
    >>> classifier = CondensedNeighbours(random_state=0).fit(X, y)
    >>> len(classifier.rows_), classifier.score(X, y)
    (43, 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "prune": ["boolean"],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self, *, n_neighbors: int = 1, prune: bool = False, random_state: Seed = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.prune = prune
        self.random_state = random_state

    def _select(self, inputs: np.ndarray, codes: np.ndarray) -> np.ndarray:
        if self.prune and self.n_neighbors > 1:
            raise DataError("prune=True is for n_neighbors=1.")
        subset = condense(
            inputs, codes, n_neighbors=self.n_neighbors, random_state=self.random_state
        )
        self.n_passes_ = subset.n_passes
        return drop_needless(inputs, codes, subset.rows) if self.prune else subset.rows


class PenalisedNeighbours(PrototypeClassifier):
    r"""Nearest neighbour among the rows that are worth their price.

    Parameters
    ----------
    alpha
        The price :math:`\lambda` of a stored row, in errors.
    n_init
        Searches: the first starts from Hart's subset, the others from random ones.
    random_state
        Seed of orders and starts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    rows_ : ndarray
        Stored rows of the training data, in order.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        The stored rows themselves.
    codes_ : ndarray of shape (n_prototypes,)
        Class of each, as a position in `classes_`.
    cost_ : float
        Training errors plus `alpha` for each stored row.

    Notes
    -----
    See `search_subset` for what is minimised, Alpaydin 8.5 (8.17). Large penalties store one row
    for each class that pays for itself.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import PenalisedNeighbours
    >>> X = np.arange(20.0)[:, None]
    >>> classifier = PenalisedNeighbours(random_state=0).fit(X, X[:, 0] > 9.5)
    >>> len(classifier.rows_), classifier.cost_
    (2, 2.0)
    """

    n_neighbors = 1
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(self, *, alpha: float = 1.0, n_init: int = 4, random_state: Seed = None) -> None:
        self.alpha = alpha
        self.n_init = n_init
        self.random_state = random_state

    def _select(self, inputs: np.ndarray, codes: np.ndarray) -> np.ndarray:
        subset = search_subset(
            inputs, codes, self.alpha, n_init=self.n_init, random_state=self.random_state
        )
        self.cost_ = subset.cost
        return subset.rows


@dataclass(frozen=True)
class SubsetChoice:
    """A subset found by penalised search.

    Attributes
    ----------
    rows : ndarray
        Rows of the subset, in order.
    cost : float
        Errors plus `alpha` for each row.
    """

    rows: np.ndarray
    cost: float


def search_subset(
    X: ArrayLike,
    y: ArrayLike,
    alpha: float,
    *,
    n_init: int = 4,
    random_state: Seed = None,
) -> SubsetChoice:
    r"""Return a subset that trades errors for size, found by adding and removing single rows.

    Parameters
    ----------
    X
        One row per case.
    y
        Their labels.
    alpha
        The price :math:`\lambda` of a stored row, in errors.
    n_init
        Searches: the first starts from Hart's subset, the others from random ones.
    random_state
        Seed of orders and starts.

    Notes
    -----
    .. math:: E'(Z \mid X) = E(X \mid Z) + \lambda |Z|

    with :math:`E` the number of rows that the nearest of :math:`Z` misclassifies. See Alpaydin
    8.5 (8.17).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(20.0)[:, None]
    >>> subset = search_subset(X, X[:, 0] > 9.5, alpha=0.5, random_state=0)
    >>> len(subset.rows), subset.cost
    (2, 1.0)
    """
    inputs, codes, _ = checked_cases(X, y)
    check_at_least(n_init, 1, "n_init")
    if len(inputs) > MOST_ROWS:
        raise DataError(f"X has {len(inputs)} rows; the search holds all distances of {MOST_ROWS}.")
    if not alpha > 0:
        raise DataError(f"alpha must be above 0, not {alpha}.")
    table = cdist(inputs, inputs)
    chance = generator(random_state)
    best = SubsetChoice(np.arange(0), np.inf)
    for start in range(n_init):
        members = np.zeros(len(inputs), dtype=bool)
        if start == 0:
            members[condense(inputs, codes, random_state=chance).rows] = True
        else:
            members[chance.choice(len(inputs), size=max(1, len(inputs) // 10))] = True
        order = chance.permutation(len(inputs))
        scratch = np.empty((2, len(inputs)), dtype=np.int64)
        cost = toggle_search(table, codes, members, order, float(alpha), *scratch)
        if cost < best.cost:
            best = SubsetChoice(np.flatnonzero(members), float(cost))
    return best
