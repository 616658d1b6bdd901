"""Fuzzy k-means: rows belong to several clusters, each to some degree."""

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin

from verulam.base import (
    RANDOM_STATE,
    Chunk,
    Interval,
    ManyPasses,
    MemorySource,
    Seed,
    Source,
    StrOptions,
    Transformer,
    check_is_fitted,
    generator,
    validate_data,
)
from verulam.cluster._seeding import (
    array_of_starts,
    check_enough_rows,
    check_width,
    plus_plus_rows,
    random_rows,
    sample_size,
    survey,
)

#: So far drawn starts are moved towards the mean of all rows.
_PULL = 0.05
#: Beyond this exponent, powers of the memberships of many clusters underflow.
_MOST_FUZZINESS = 100


@dataclass(frozen=True)
class FuzzySums:
    """Sums over the rows, by cluster, as deviations from the centres of the pass.

    Attributes
    ----------
    centres : ndarray of shape (n_clusters, n_columns)
        Where deviations are taken from.
    weight : ndarray of shape (n_clusters,)
        Sum of the memberships to the power of the fuzziness.
    deviations : ndarray of shape (n_clusters, n_columns)
        Sum of the deviations, times those powers.
    error
        Sum of the squared distances, times those powers.
    sharpness
        Sum over the rows of their squared memberships.
    total
        Total weight of the rows.
    """

    centres: np.ndarray
    weight: np.ndarray
    deviations: np.ndarray
    error: float
    sharpness: float
    total: float

    def __add__(self, other: "FuzzySums") -> "FuzzySums":
        return FuzzySums(
            self.centres,
            self.weight + other.weight,
            self.deviations + other.deviations,
            self.error + other.error,
            self.sharpness + other.sharpness,
            self.total + other.total,
        )


def memberships_of(squares: np.ndarray, fuzziness: float) -> np.ndarray:
    """Return how far rows belong to each centre, by their squared distances.

    Parameters
    ----------
    squares : ndarray of shape (n_rows, n_clusters)
        Squared distances.
    fuzziness
        Exponent above 1.

    Examples
    --------
    >>> import numpy as np
    >>> memberships_of(np.array([[1.0, 4.0], [0.0, 9.0], [5.0, 5.0]]), 2.0)
    array([[0.8, 0.2],
           [1. , 0. ],
           [0.5, 0.5]])
    """
    nearest = squares.min(axis=1, keepdims=True)
    # Relative to the nearest centre the powers are at most 1, whatever the units and the exponent.
    closeness = np.divide(nearest, squares, out=np.ones_like(squares), where=squares > 0)
    closeness **= 1.0 / (fuzziness - 1.0)
    return closeness / closeness.sum(axis=1, keepdims=True)


def fuzzy_sums(chunk: Chunk, centres: np.ndarray, fuzziness: float) -> FuzzySums:
    """Return the sums of one chunk around some centres: one pass."""
    X = chunk.inputs
    check_width(X, centres, "init")
    squares = cdist(X, centres, "sqeuclidean")
    shares = memberships_of(squares, fuzziness)
    sharpness = np.einsum("tk,tk->t", shares, shares)
    powers, weights = shares**fuzziness, np.ones(len(X))
    if chunk.weights is not None:
        weights = chunk.weights
        powers *= weights[:, None]
    weight = powers.sum(axis=0)
    # From a middle that lies among the rows, the products lose no digits far from zero.
    middle = centres.mean(axis=0)
    deviations = powers.T @ (X - middle) - weight[:, None] * (centres - middle)
    return FuzzySums(
        centres,
        weight,
        deviations,
        float(np.vdot(powers, squares)),
        float(sharpness @ weights),
        float(weights.sum()),
    )


class FuzzyKMeans(ManyPasses, ClassNamePrefixFeaturesOutMixin, ClusterMixin, Transformer):
    r"""Divide rows among means so that rows between two clusters belong to both.

    Parameters
    ----------
    n_clusters
        Number of clusters.
    fuzziness
        Exponent :math:`q` of the memberships, above 1 and at most 100: near 1 they are those of
        k-means, and all alike where it is large.
    init
        Where passes start: near rows far from one another ("k-means++"), or near any ("random");
        an array of shape (n_clusters, n_features) holds the first centres.
    n_init
        Number of starts, the best of which is taken; first centres are used once.
    max_iter
        Most passes over the data.
    tol
        Stop when a pass lowers the error by no more than this share of it.
    random_state
        Seed of the starts.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means of the clusters, weighted by the memberships.
    labels_ : ndarray of shape (n_samples,)
        The cluster that each row belongs to most, where the data is in memory.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        How far each row belongs to each, where the data is in memory.
    partition_coefficient_ : float
        Mean sum of the squared memberships: 1 where each row is in one cluster, ``1 / n_clusters``
        where all belong to all alike.
    inertia_ : float
        Sum of the squared distances, times the powers of the memberships.
    objective_curve_ : list of float
        That error for one row, pass by pass, with a minus sign; it never falls.
    n_iter_ : int
        Number of passes.
    converged_ : bool
        Whether the last pass met `tol`.

    Notes
    -----
    .. math:: E = \sum_t \sum_i (u_i^t)^q \|x^t - m_i\|^2, \qquad \sum_i u_i^t = 1, \qquad
              u_i^t \propto \|x^t - m_i\|^{-2/(q-1)}, \qquad
              m_i = \frac{\sum_t (u_i^t)^q x^t}{\sum_t (u_i^t)^q}

    Neither step can raise :math:`E` [bezdek1981]_; with :math:`q` near 1 it is that of
    Alpaydin 12.1. A pass is a sum over the rows: memory, streams
    and Dask give the same clusters. Unlike the responsibilities of a mixture, memberships know no
    shape and no size of a cluster.

    References
    ----------
    .. [bezdek1981] J. C. Bezdek, *Pattern Recognition with Fuzzy Objective Function Algorithms*,
       Plenum, 1981.

    Examples
    --------
    >>> from verulam.cluster import FuzzyKMeans
    >>> rows = [[0.0], [1.0], [5.0], [9.0], [10.0]]
    >>> fuzzy = FuzzyKMeans(n_clusters=2, init=[[0.0], [10.0]]).fit(rows)
    >>> fuzzy.cluster_centers_.round(2).ravel()
    array([1.01, 8.99])
    >>> fuzzy.memberships_[1:4].round(2)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "fuzziness": [Interval(Real, 1, _MOST_FUZZINESS, closed="right")],
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        fuzziness: float = 2.0,
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.fuzziness = fuzziness
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["FuzzyKMeans"]:
        return [cls(n_clusters=3), cls(n_clusters=2, fuzziness=1.5, init="random", n_init=2)]

    @property
    def memberships_(self) -> np.ndarray:
        """How far each row of training belongs to each cluster, where the data was in memory."""
        memberships = vars(self).get("_memberships")
        if memberships is None:
            raise AttributeError(
                "memberships_ and labels_ are there after fit on data in memory; use predict_proba."
            )
        return memberships

    @property
    def labels_(self) -> np.ndarray:
        """The cluster that each row of training belongs to most."""
        return self.memberships_.argmax(axis=1)

    def _learn(self, source: Source) -> None:
        starts = self._starts(source)
        runs = [self._run(source, start) for start in self._steps(starts, "start", len(starts))]
        best = self._conclude(runs)
        # The sums of the last pass are those of the centres before it.
        sums = self._total(source, best.parameters)
        self.inertia_ = sums.error
        self.partition_coefficient_ = sums.sharpness / sums.total
        self._memberships = None
        if isinstance(source, MemorySource):
            self._memberships = self._shares(source.data.inputs)

    def _starts(self, source: Source) -> list[np.ndarray]:
        if isinstance(source, MemorySource):
            check_enough_rows(self.n_clusters, len(source.data), "n_clusters")
        if not isinstance(self.init, str):
            return [array_of_starts(self.init, self.n_clusters, "init")]
        random = generator(self.random_state)
        seed = int(random.integers(2**31))
        view = source.total(partial(survey, seed=seed, most=sample_size(self.n_clusters)))
        draw = plus_plus_rows if self.init == "k-means++" else random_rows
        rows, weights = view.sample.rows, view.sample.weights
        middle = np.average(rows, axis=0, weights=weights)
        starts = [draw(rows, weights, self.n_clusters, random) for _ in range(self.n_init)]
        # A row at a centre belongs to it alone, and holds it there where memberships are vague.
        return [start + _PULL * (middle - start) for start in starts]

    def _statistics(self, chunk: Chunk, parameters: np.ndarray) -> FuzzySums:
        return fuzzy_sums(chunk, parameters, self.fuzziness)

    def _update(self, statistics: FuzzySums) -> np.ndarray:
        weight = np.where(statistics.weight > 0, statistics.weight, 1.0)
        return statistics.centres + statistics.deviations / weight[:, None]

    def _objective(self, statistics: FuzzySums) -> float:
        return -statistics.error / statistics.total

    def _least_gain(self, statistics: FuzzySums) -> float:
        return -max(self.tol, 1e-14) * self._objective(statistics)

    def _store(self, parameters: np.ndarray) -> None:
        self.cluster_centers_ = parameters
        self._n_features_out = len(parameters)

    def _shares(self, X: np.ndarray) -> np.ndarray:
        return memberships_of(cdist(X, self.cluster_centers_, "sqeuclidean"), self.fuzziness)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return how far each row belongs to each cluster."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return self._shares(rows)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the cluster that each row belongs to most."""
        return self.predict_proba(X).argmax(axis=1)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return how far each row belongs to each cluster, as new columns."""
        return self.predict_proba(X)
