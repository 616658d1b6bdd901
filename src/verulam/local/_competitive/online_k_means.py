"""Online k-means: rows arrive one by one, and the nearest unit moves towards each."""

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin
from sklearn.cluster import kmeans_plusplus

from verulam.base import (
    RANDOM_STATE,
    DataError,
    DataWarning,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
    map_rows,
    validate_data,
    warn_caller,
)
from verulam.local._competitive.competition_loops import k_means_pass
from verulam.numerics import Schedule, constant

#: Share of what conscience remembers that one step replaces, times the number of units.
CONSCIENCE_STEP = 0.05
#: Squares of larger numbers leave the range of float64.
LARGEST_UNIT = 1e150
#: Directions in which rows vary by less than this share of the most are no directions.
LEAST_VARIATION = 1e-12


@dataclass(frozen=True)
class Whitening:
    """A linear map to coordinates that are uncorrelated and vary by one, and the way back.

    Attributes
    ----------
    mean : ndarray of shape (n_columns,)
        Where coordinates begin.
    forward : ndarray of shape (n_columns, n_directions)
        From deviations to coordinates; directions without variation are left out.
    backward : ndarray of shape (n_directions, n_columns)
        From coordinates to deviations.
    """

    mean: np.ndarray
    forward: np.ndarray
    backward: np.ndarray

    def whiten(self, X: np.ndarray) -> np.ndarray:
        """Return the coordinates of rows, whose distances are those of Mahalanobis."""
        return np.ascontiguousarray((X - self.mean) @ self.forward)

    def colour(self, Z: np.ndarray) -> np.ndarray:
        """Return the rows at these coordinates."""
        return self.mean + Z @ self.backward


def whitening(X: np.ndarray) -> Whitening:
    """Return the whitening of rows by their principal components."""
    mean = X.mean(axis=0)
    deviations = X - mean
    # Columns in very different units would drown one another's directions in rounding.
    scale = np.sqrt(np.einsum("ij,ij->j", deviations, deviations) / len(X))
    scale = np.where(scale > 1e-14 * np.abs(mean), scale, 0.0)
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    standard = deviations * inverse
    values, vectors = np.linalg.eigh(standard.T @ standard / len(X))
    varying = values > LEAST_VARIATION * max(float(values[-1]), np.finfo(float).tiny)
    roots, vectors = np.sqrt(values[varying]), vectors[:, varying]
    return Whitening(
        mean,
        inverse[:, None] * vectors / roots,
        (roots[:, None] * vectors.T) * scale,
    )


def units_of(init: Any, n_units: int, n_columns: int) -> np.ndarray:
    """Return the first units that an array holds, or raise with the shape that it should have."""
    try:
        units = np.array(init, dtype=np.float64)
    except (TypeError, ValueError):
        units = np.empty(0)
    if units.shape != (n_units, n_columns) or not np.isfinite(units).all():
        raise DataError(
            f"init has shape {np.shape(units)}; expected {n_units} rows of {n_columns} finite "
            "numbers, one row for each unit and a column for each input."
        )
    return units


def first_units(
    init: Any, rows: np.ndarray, n_units: int, name: str, random: np.random.Generator
) -> np.ndarray:
    """Return rows that units start at, or the array that holds where they start."""
    if not isinstance(init, str):
        return units_of(init, n_units, rows.shape[1])
    if n_units > len(rows):
        raise DataError(
            f"{name}={n_units} is more than the data has: n_samples={len(rows)}; choose "
            f"{name} from 1 to {len(rows)}, or pass an array as init."
        )
    if init == "random":
        return rows[random.choice(len(rows), n_units, replace=False)]
    if not np.ptp(rows, axis=0).any():
        return rows[:n_units]
    return kmeans_plusplus(rows, n_units, random_state=int(random.integers(2**31)))[0]


def warn_of_dead_units(wins: np.ndarray, cure: str) -> None:
    """Say which units have not won a single row."""
    dead = np.flatnonzero(wins == 0)
    if len(dead):
        names = ", ".join(map(str, dead[:10])) + (", ..." if len(dead) > 10 else "")
        warn_caller(
            f"{len(dead)} of {len(wins)} units won no row in the last pass (dead units: {names}); "
            f"{cure}.",
            DataWarning,
        )


def nearest_units(X: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return the number of the nearest unit of each row, the first of equals."""

    def nearest(rows: np.ndarray) -> np.ndarray:
        return cdist(rows, units, "sqeuclidean").argmin(axis=1)

    return map_rows(nearest, X, (len(X),), np.int64)


class OnlineKMeans(ClassNamePrefixFeaturesOutMixin, ClusterMixin, Transformer):
    r"""Let units compete for rows that come one by one: the nearest moves towards each.

    Parameters
    ----------
    n_clusters
        Number of units.
    learning_rate
        Step size: "count" for one over the number of rows that a unit has won, which keeps it at
        their mean; a number; or a `verulam.numerics.Schedule` of the steps.
    mode
        "online" moves a unit after each row, "batch" after a pass, by the sum of its steps.
    momentum
        Share of a unit's last change in the next.
    conscience
        Strength with which units that have won too often hold back, in units of the mean variance
        of the columns; 0 for none. It works online, row by row.
    metric
        "euclidean", or "mahalanobis" for distances in units of the covariance of the rows.
    init
        Where units start: "k-means++" and "random" draw rows, the first ones far from one
        another; an array of shape (n_clusters, n_features) holds the units.
    max_iter
        Most passes over the rows, each in a new random order.
    tol
        Passes end when no unit moves farther in one than this share of the deviation of the rows.
    shuffle
        Whether passes have random orders; without, rows are taken as they stand.
    random_state
        Seed of the start and of the orders.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The units.
    counts_ : ndarray of shape (n_clusters,)
        Rows that each unit has won since the start.
    wins_ : ndarray of shape (n_clusters,)
        Rows that it won in the last pass.
    dead_units_ : ndarray
        Units that won none of them.
    labels_ : ndarray of shape (n_samples,)
        Nearest unit of each row.
    inertia_ : float
        Sum of the squared distances of the rows from their units.
    whitening_ : Whitening or None
        The coordinates that distances are measured in, for Mahalanobis's.
    n_iter_ : int
        Passes made.
    n_steps_ : int
        Rows learned from.

    Notes
    -----
    .. math:: i = \arg\min_l \|x^t - m_l\|, \qquad \Delta m_i = \eta\, (x^t - m_i)

    is a step down the reconstruction error :math:`\frac12\|x^t - m_i\|^2` of one row. A unit that
    starts far from all rows never wins. With conscience [desieno1988]_ the winner is the unit with
    the least :math:`\|x^t - m_l\|^2 - c\,(1 - k p_l)`, where :math:`p_l` is its share of the recent
    wins. See Alpaydin 12.2.1, SIT1305 V.

    .. [desieno1988] D. DeSieno, "Adding a conscience mechanism to competitive learning", IEEE
       International Conference on Neural Networks, 117-124, 1988.

    Examples
    --------
    >>> from verulam.local import OnlineKMeans
    >>> X = [[0.0, 0.0], [10.0, 8.0], [2.0, 0.0], [12.0, 8.0]]
    >>> learner = OnlineKMeans(2, init=X[:2], shuffle=False, max_iter=1).fit(X)
    >>> learner.cluster_centers_
    array([[ 1.,  0.],
           [11.,  8.]])
    >>> learner.wins_
    array([2, 2])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [
            StrOptions({"count"}),
            Interval(Real, 0, 1, closed="right"),
            Schedule,
        ],
        "mode": [StrOptions({"online", "batch"})],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "conscience": [Interval(Real, 0, None, closed="left")],
        "metric": [StrOptions({"euclidean", "mahalanobis"})],
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        learning_rate: Any = "count",
        mode: str = "online",
        momentum: float = 0.0,
        conscience: float = 0.0,
        metric: str = "euclidean",
        init: Any = "k-means++",
        max_iter: int = 20,
        tol: float = 1e-3,
        shuffle: bool = True,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.learning_rate = learning_rate
        self.mode = mode
        self.momentum = momentum
        self.conscience = conscience
        self.metric = metric
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["OnlineKMeans"]:
        return [
            cls(n_clusters=3),
            cls(n_clusters=3, learning_rate=0.1, momentum=0.2, conscience=0.5),
            cls(n_clusters=3, mode="batch", metric="mahalanobis", init="random"),
        ]

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from the rows in several passes.

        Parameters
        ----------
        X
            Rows.
        y
            Not used.
        """
        rows = validate_data(self, X, dtype=np.float64, order="C")
        random = generator(self.random_state)
        Z = self._begin(rows, random)
        spread = np.sqrt(self._variance * Z.shape[1]) or 1.0
        self.n_iter_ = 0
        moves = np.inf
        while self.n_iter_ < self.max_iter and moves > self.tol * spread:
            order = random.permutation(len(Z)) if self.shuffle else np.arange(len(Z))
            before = self._units.copy()
            self._learn(Z, order)
            moves = np.sqrt(np.square(self._units - before).sum(axis=0).max())
            self.n_iter_ += 1
        self._conclude(rows)
        warn_of_dead_units(self.wins_, "start from rows, or set conscience above zero")
        return self

    @checked_fit
    def partial_fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from further rows once, in their order; rates go on where they were.

        Parameters
        ----------
        X
            Rows; those of the first call also start the units.
        y
            Not used.
        """
        first = not hasattr(self, "n_steps_")
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=first)
        Z = self._begin(rows, generator(self.random_state)) if first else self._measured(rows)
        self._learn(Z, np.arange(len(Z)))
        self.n_iter_ = 1 if first else self.n_iter_ + 1
        self._conclude(rows)
        return self

    def _begin(self, rows: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Start the units and return the rows as they are measured."""
        if self.mode == "batch" and self.conscience > 0:
            raise DataError(
                f"conscience={self.conscience!r} holds units back row by row; set mode='online', "
                "or conscience=0."
            )
        self.whitening_ = whitening(rows) if self.metric == "mahalanobis" else None
        Z = self._measured(rows)
        init = self.init
        if self.whitening_ is not None and not isinstance(init, str):
            init = self._measured(first_units(init, rows, self.n_clusters, "n_clusters", random))
        units = first_units(init, Z, self.n_clusters, "n_clusters", random)
        self._units = np.ascontiguousarray(units.T)
        self._variance = float(Z.var(axis=0).mean()) if Z.size else 0.0
        self._velocity = np.zeros_like(self._units)
        self._shares = np.full(self.n_clusters, 1.0 / self.n_clusters)
        self.counts_ = np.zeros(self.n_clusters)
        self.n_steps_ = 0
        return Z

    def _measured(self, rows: np.ndarray) -> np.ndarray:
        return rows if self.whitening_ is None else self.whitening_.whiten(rows)

    def _learn(self, Z: np.ndarray, order: np.ndarray) -> None:
        wins = np.zeros(self.n_clusters, dtype=np.int64)
        if self.mode == "batch":
            self._batch_step(Z, wins)
        else:
            k_means_pass(
                Z, order, self._rates(self.n_steps_ + 1, len(order)), self._units, self.counts_,
                self._velocity, float(self.momentum), self._shares,
                float(self.conscience) * self._variance,
                min(0.5, CONSCIENCE_STEP / self.n_clusters), wins,
            )  # fmt: skip
            self.n_steps_ += len(order)
        if not np.abs(self._units).max() < LARGEST_UNIT:
            if not np.abs(Z).max() < LARGEST_UNIT:
                raise DataError(
                    f"X has numbers of {LARGEST_UNIT:g} and more, too large for distances; bring "
                    "its columns to one scale first."
                )
            raise DataError(
                f"learning_rate={self.learning_rate!r} made units infinite; choose a smaller "
                'number, or "count".'
            )
        self.wins_ = wins

    def _rates(self, first: int, count: int) -> np.ndarray:
        if isinstance(self.learning_rate, str):
            return np.empty(0)
        rate = self.learning_rate
        return (rate if isinstance(rate, Schedule) else constant(rate)).table(first, count)

    def _batch_step(self, Z: np.ndarray, wins: np.ndarray) -> None:
        """Move the units by the sum of the steps that a pass would make from where they are."""
        units = self._units.T
        labels = cdist(Z, units, "sqeuclidean").argmin(axis=1)
        wins += np.bincount(labels, minlength=len(wins))
        steps = np.zeros_like(units)
        np.add.at(steps, labels, Z - units[labels])
        self.n_steps_ += 1
        rates = self._rates(self.n_steps_, 1)
        scale = rates[0] if len(rates) else 1.0 / np.maximum(wins, 1)[:, None]
        change = scale * steps + self.momentum * self._velocity.T
        with np.errstate(over="ignore", invalid="ignore"):
            self._units = np.ascontiguousarray((units + change).T)
        self._velocity = np.ascontiguousarray(change.T)
        self.counts_ = self.counts_ + wins

    def _conclude(self, rows: np.ndarray) -> None:
        units = self._units.T
        self.cluster_centers_ = (
            units.copy() if self.whitening_ is None else self.whitening_.colour(units)
        )
        self.dead_units_ = np.flatnonzero(self.wins_ == 0)
        Z = self._measured(rows)
        self.labels_ = nearest_units(Z, units)
        self.inertia_ = float(np.square(Z - units[self.labels_]).sum())
        self._n_features_out = self.n_clusters

    def _rows(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        return self._measured(validate_data(self, X, dtype=np.float64, order="C", reset=False))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the number of the nearest unit of each row."""
        Z = self._rows(X)
        return nearest_units(Z, self._units.T)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the distance of each row from each unit."""
        Z = self._rows(X)
        measure: Any = partial(cdist, XB=self._units.T)
        return map_rows(measure, Z, (len(Z), self.n_clusters))
