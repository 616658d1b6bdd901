"""Adaptive resonance: a new unit wherever no unit is near enough to a row."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin
from sklearn.utils import Tags

from verulam.base import (
    RANDOM_STATE,
    DataError,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
    map_rows,
    validate_data,
)
from verulam.local._competitive.competition_loops import resonance_pass
from verulam.local._competitive.online_k_means import nearest_units

#: Ways to compare, by their number in the compiled loop.
KINDS = {"distance": 0, "product": 1, "overlap": 2}
#: Units that there is room for at first.
FIRST_CAPACITY = 64


class AdaptiveResonance(ClusterMixin, Transformer):
    r"""Cluster rows as they come, with a new unit for each that no unit covers.

    Parameters
    ----------
    vigilance
        How near a unit must be to a row that it learns from. For distances it is the radius of a
        unit: 0 makes a unit of every different row, infinity one unit of all. For products and
        overlaps it is the least similarity: 1 asks for equality.
    learning_rate
        Part of the way to a row that its unit goes; 0 leaves units where they began, which is the
        leader algorithm.
    similarity
        "distance" of Euclid; "product" of rows and units that are scaled to length one; "overlap"
        of rows as fuzzy sets, with inputs from 0 to 1: ART1 where they are 0 or 1 and
        `learning_rate` is 1.
    max_iter
        Passes over the rows.
    shuffle
        Whether rows come in random orders; units depend on the order.
    random_state
        Seed of the orders.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_units, n_features)
        The units, in the order in which they were added.
    wins_ : ndarray of shape (n_units,)
        Rows of the last pass that each learned from.
    labels_ : ndarray of shape (n_samples,)
        Unit of each row.
    n_iter_ : int
        Passes made.
    n_clusters_ : int
        Number of units.

    Notes
    -----
    .. math:: m_{k+1} \leftarrow x^t \;\mathrm{if}\; b_i > \rho, \qquad
              \Delta m_i = \eta\,(x^t - m_i) \;\mathrm{otherwise}, \qquad
              b_i = \min_l \|m_l - x^t\|

    The vigilance :math:`\rho` bounds the distance of a row from its unit at the time; with the
    reconstruction error :math:`\frac12\|x - m\|^2` that is an error of at most :math:`\rho^2/2`,
    where Alpaydin prints its square. The form by overlap is that of fuzzy ART [carpenter1991]_. See
    Alpaydin 12.2.2, SIT1305 V.

    .. [carpenter1991] G. A. Carpenter, S. Grossberg and D. B. Rosen, "Fuzzy ART: fast stable
       learning and categorization of analog patterns by an adaptive resonance system", Neural
       Networks 4, 759-771, 1991.

    Examples
    --------
    >>> from verulam.local import AdaptiveResonance
    >>> learner = AdaptiveResonance(vigilance=1.0, learning_rate=0.5, shuffle=False)
    >>> learner.fit([[0.0], [5.0], [1.0], [5.5]]).cluster_centers_.ravel()
    array([0.5 , 5.25])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "vigilance": [Interval(Real, -1, np.inf, closed="both")],
        "learning_rate": [Interval(Real, 0, 1, closed="both")],
        "similarity": [StrOptions(set(KINDS))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        vigilance: float = 1.0,
        *,
        learning_rate: float = 0.1,
        similarity: str = "distance",
        max_iter: int = 1,
        shuffle: bool = True,
        random_state: Seed = None,
    ) -> None:
        self.vigilance = vigilance
        self.learning_rate = learning_rate
        self.similarity = similarity
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["AdaptiveResonance"]:
        return [cls(2.0), cls(0.9, similarity="product", max_iter=2)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.similarity == "overlap"
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from the rows, in random orders or as they stand.

        Parameters
        ----------
        X
            Rows.
        y
            Not used.
        """
        self._check_vigilance()
        rows = self._comparable(X, reset=True)
        random = generator(self.random_state)
        self._units = np.empty((rows.shape[1], min(len(rows), FIRST_CAPACITY)))
        self._count = 0
        for _ in range(self.max_iter):
            self._learn(rows[random.permutation(len(rows))] if self.shuffle else rows)
        self.n_iter_ = self.max_iter
        self._conclude(rows)
        return self

    @checked_fit
    def partial_fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from further rows once, in their order.

        Parameters
        ----------
        X
            Rows.
        y
            Not used.
        """
        self._check_vigilance()
        first = not hasattr(self, "cluster_centers_")
        rows = self._comparable(X, reset=first)
        if first:
            self._units = np.empty((rows.shape[1], min(len(rows), FIRST_CAPACITY)))
            self._count = 0
        self._learn(rows)
        self.n_iter_ = 1 if first else self.n_iter_ + 1
        self._conclude(rows)
        return self

    def _check_vigilance(self) -> None:
        bounds = {"distance": (0.0, np.inf), "product": (-1.0, 1.0), "overlap": (0.0, 1.0)}
        low, high = bounds[self.similarity]
        if not low <= self.vigilance <= high:
            raise DataError(
                f"vigilance={self.vigilance!r} with similarity={self.similarity!r}; expected a "
                f"number from {low:g} to {high:g}."
            )

    def _comparable(self, X: ArrayLike, *, reset: bool) -> np.ndarray:
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=reset)
        if self.similarity == "product":
            # Rounding leaves lengths a few units in the last place off one.
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            if not lengths.all():
                row = int(np.flatnonzero(lengths == 0)[0])
                raise DataError(
                    f"X: row {row} (counted from 0) is all zeros and has no direction; "
                    'similarity="product" compares directions.'
                )
            return np.ascontiguousarray(rows / lengths[:, None])
        if self.similarity == "overlap" and not ((rows >= 0) & (rows <= 1)).all():
            raise DataError(
                f"Negative values in data, or values above 1: X runs from {rows.min():.6g} to "
                f'{rows.max():.6g}; similarity="overlap" takes inputs from 0 to 1.'
            )
        return rows

    def _learn(self, rows: np.ndarray) -> None:
        wins = np.zeros(len(rows) + self._count, dtype=np.int64)
        vigilance = float(self.vigilance)
        if self.similarity != "distance":
            # A row may fall short of its own copy by rounding.
            vigilance -= 1e-12
        step = 0
        while True:
            step, self._count = resonance_pass(
                rows, step, self._units, self._count, vigilance, float(self.learning_rate),
                KINDS[self.similarity], np.empty(self._units.shape[1]), wins,
            )  # fmt: skip
            if step == len(rows):
                break
            spare = np.empty_like(self._units)
            self._units = np.ascontiguousarray(np.hstack([self._units, spare]))
        self.wins_ = wins[: self._count]

    def _conclude(self, rows: np.ndarray) -> None:
        self.cluster_centers_ = np.ascontiguousarray(self._units[:, : self._count].T)
        self.n_clusters_ = self._count
        self.labels_ = self._nearest(rows)

    def _values(self, rows: np.ndarray) -> np.ndarray:
        if self.similarity == "product":
            return rows @ self.cluster_centers_.T
        units = self.cluster_centers_
        shared = np.stack([np.minimum(rows, unit).sum(axis=1) for unit in units], axis=1)
        return shared / (1e-3 + units.sum(axis=1))

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        if self.similarity == "distance":
            return nearest_units(rows, self.cluster_centers_)
        return map_rows(lambda part: self._values(part).argmax(axis=1), rows, (len(rows),), int)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the most similar unit of each row, near enough or not."""
        check_is_fitted(self)
        return self._nearest(self._comparable(X, reset=False))

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return a column for each unit, 1 where it is the row's and 0 elsewhere."""
        labels = self.predict(X)
        return (labels[:, None] == np.arange(self.n_clusters_)).astype(np.float64)
