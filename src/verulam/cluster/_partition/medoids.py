"""k-medoids: clusters around rows, by swaps of all kinds (PAM) or of random ones (CLARANS)."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist, squareform
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin
from sklearn.exceptions import ConvergenceWarning

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
    validate_data,
    warn_caller,
)
from verulam.cluster._hierarchy.merge_tree import METRICS, checked_rows, condensed_distances
from verulam.cluster._partition.medoids_loops import (
    eager_swaps,
    leaving_costs,
    nearest_two,
    swap_changes,
)
from verulam.cluster._seeding import check_enough_rows, warn_of_equal_rows


@dataclass(frozen=True)
class Medoids:
    """Rows that clusters are around.

    Attributes
    ----------
    places : ndarray of shape (n_clusters,)
        Numbers of the rows.
    cost
        Sum of the distances of all rows from the nearest medoid.
    n_swaps
        Number of swaps that led here.
    n_passes
        Passes over all candidates, or candidates tried where they are drawn.
    settled
        Whether no single swap would lower the cost.
    """

    places: np.ndarray
    cost: float
    n_swaps: int
    n_passes: int
    settled: bool


def build_medoids(table: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return medoids taken one after the other, each lowering the cost most: PAM's first phase.

    Parameters
    ----------
    table
        Square matrix of distances.
    n_clusters
        Number of medoids.
    """
    places = [int(table.sum(axis=0).argmin())]
    near = table[places[0]].copy()
    while len(places) < n_clusters:
        gains = np.maximum(near - table, 0.0).sum(axis=1)
        # Where rows are equal nobody gains, and a medoid must not be taken twice.
        gains[places] = -1.0
        places.append(int(gains.argmax()))
        near = np.minimum(near, table[places[-1]])
    return np.array(places, dtype=np.int64)


def spread_medoids(table: np.ndarray, n_clusters: int, random: np.random.Generator) -> np.ndarray:
    """Return rows far from one another, drawn with chances in proportion to their distance."""
    places = [int(random.integers(len(table)))]
    near = table[places[0]].copy()
    while len(places) < n_clusters:
        near[places] = 0.0
        if near.sum() > 0:
            place = int(random.choice(len(table), p=near / near.sum()))
        else:
            place = int(np.setdiff1d(np.arange(len(table)), places)[0])
        places.append(place)
        near = np.minimum(near, table[place])
    return np.array(places, dtype=np.int64)


def swap_medoids(table: np.ndarray, medoids: np.ndarray, max_iter: int) -> Medoids:
    """Return the medoids after all swaps that lower the cost: PAM's second phase.

    Parameters
    ----------
    table
        Square matrix of distances.
    medoids
        Rows to begin with.
    max_iter
        Most passes over all candidates.
    """
    n_rows = len(table)
    if len(medoids) == 1:
        # Without a second medoid there are no swaps to weigh up: the best row is known at once.
        sums = table.sum(axis=0)
        best = np.array([sums.argmin()])
        return Medoids(best, float(sums.min()), int(best[0] != medoids[0]), 1, True)
    medoids = medoids.astype(np.int64)
    nearest, second, affected = (np.empty(n_rows, dtype=np.int64) for _ in range(3))
    near, far = np.empty(n_rows), np.empty(n_rows)
    nearest_two(table, medoids, np.arange(n_rows), nearest, second, near, far)
    passes, swaps, settled = eager_swaps(
        table, medoids, np.int64(max_iter), nearest, second, near, far, affected
    )
    return Medoids(medoids, float(near.sum()), int(swaps), int(passes), bool(settled))


def random_swaps(
    distances_from: Callable[[int], np.ndarray],
    medoids: np.ndarray,
    n_rows: int,
    max_neighbors: int,
    random: np.random.Generator,
) -> Medoids:
    """Return the medoids after swaps with rows drawn at random: one local search of CLARANS.

    Parameters
    ----------
    distances_from
        Returns the distances of all rows from one.
    medoids
        Rows to begin with.
    n_rows
        Number of rows.
    max_neighbors
        So many candidates without a gain end the search; one candidate is tried in the place of
        every medoid.
    random
        Generator.
    """
    medoids = medoids.copy()
    table = np.array([distances_from(int(place)) for place in medoids])
    everyone, numbers = np.arange(n_rows), np.arange(len(medoids))
    nearest, second = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    near, far, costs = np.empty(n_rows), np.empty(n_rows), np.empty((2, len(medoids)))
    closer = np.empty(n_rows, dtype=np.int32)
    nearest_two(table, numbers, everyone, nearest, second, near, far)
    tried = swaps = total = 0
    while tried < max_neighbors:
        candidate = int(random.integers(n_rows))
        tried, total = tried + 1, total + 1
        if candidate in medoids:
            continue
        distances = distances_from(candidate)
        if len(medoids) == 1:
            best, change = 0, float(distances.sum() - near.sum())
        else:
            costs[1] = 0.0
            leaving_costs(nearest, near, far, costs[0])
            common = swap_changes(distances, nearest, near, far, costs, closer)
            changes = costs.sum(axis=0)
            best = int(changes.argmin())
            change = float(changes[best] + common)
        # Rounding is no gain: two equal medoids would be swapped for ever.
        if change < -1e-12 * near.sum():
            medoids[best], table[best] = candidate, distances
            nearest_two(table, numbers, everyone, nearest, second, near, far)
            tried, swaps = 0, swaps + 1
    return Medoids(medoids, float(near.sum()), swaps, total, True)


class KMedoids(ClassNamePrefixFeaturesOutMixin, ClusterMixin, Transformer):
    r"""Divide rows into clusters around some of them, so that distances from those are least.

    Parameters
    ----------
    n_clusters
        Number of clusters.
    metric
        Distance of two rows: "euclidean", "manhattan", "chebyshev", "cosine", "hamming",
        "sqeuclidean", a function of two rows, or "precomputed", where `X` is a square matrix of
        distances.
    method
        "pam" tries every row in the place of every medoid until no swap helps; "clarans" tries
        rows drawn at random, and keeps no table of all distances.
    init
        Where swapping starts: "build" takes medoids one by one, each the best; "k-means++" draws
        rows far from one another; "random" any; or the numbers of the rows. CLARANS always
        starts at random unless row numbers are set.
    n_init
        Number of starts, the best of which is taken; "build" and row numbers are used once by
        "pam".
    max_iter
        Most passes over all candidates.
    max_neighbors
        Candidates without a gain that end a search by "clarans"; None for 250 or 1.25% of all
        rows, whichever is more.
    random_state
        Seed of the starts.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (n_clusters,)
        Rows that the clusters are around.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Those rows, or their distances from all where `metric` is "precomputed".
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row.
    inertia_ : float
        Sum of the distances of the rows from their medoids.
    n_iter_ : int
        Passes over all candidates of the best run, or candidates tried by "clarans".
    n_swaps_ : int
        Number of swaps of the best run.

    Notes
    -----
    .. math:: E = \sum_t \min_i d(x^t, m_i), \qquad m_i \in \{x^1, \ldots, x^N\}

    Any distances will do, and single outliers count less than in k-means. What a row would change
    in the place of each medoid is found for all medoids in one pass [schubert2021]_. CLARANS
    [ng2002]_ searches the same graph of swaps at random. See SIT1305 III.

    References
    ----------
    .. [schubert2021] E. Schubert and P. J. Rousseeuw, "Fast and eager k-medoids clustering: O(k)
       runtime improvement of the PAM, CLARA, and CLARANS algorithms", Information Systems 101,
       2021.
    .. [ng2002] R. T. Ng and J. Han, "CLARANS: a method for clustering objects for spatial data
       mining", IEEE Transactions on Knowledge and Data Engineering 14, 2002.

    Examples
    --------
    >>> from verulam.cluster import KMedoids
    >>> learner = KMedoids(n_clusters=2, init="build").fit([[0], [1], [2], [9], [10], [99]])
    >>> learner.medoid_indices_, learner.inertia_
    (array([2, 5]), 18.0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({*METRICS, "precomputed"}), callable],
        "method": [StrOptions({"pam", "clarans"})],
        "init": [StrOptions({"build", "k-means++", "random"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str | Callable[..., float] = "euclidean",
        method: str = "pam",
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 100,
        max_neighbors: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.method = method
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.max_neighbors = max_neighbors
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["KMedoids"]:
        return [cls(n_clusters=3), cls(n_clusters=3, method="clarans", max_neighbors=50)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find the medoids among the rows of `X`, or of a matrix of distances.

        Parameters
        ----------
        X
            Rows, or a square matrix where `metric` is "precomputed".
        y
            Not used.
        """
        rows = checked_rows(self, X, self.metric)
        check_enough_rows(self.n_clusters, len(rows), "n_clusters")
        random = generator(self.random_state)
        search = self._search_all if self.method == "pam" else self._search_some
        best = min(search(rows, random), key=lambda medoids: medoids.cost)
        if not best.settled:
            warn_caller(
                f"KMedoids was still swapping after max_iter={self.max_iter} passes; raise "
                "max_iter.",
                ConvergenceWarning,
            )
        self.medoid_indices_ = np.sort(best.places)
        self.cluster_centers_ = rows[self.medoid_indices_]
        self.inertia_, self.n_swaps_, self.n_iter_ = best.cost, best.n_swaps, best.n_passes
        self._n_features_out = self.n_clusters
        if self.metric == "precomputed":
            # A matrix of distances is symmetric, and its rows are read faster than its columns.
            self.labels_ = self.cluster_centers_.argmin(axis=0)
        else:
            self.labels_ = self._from_medoids(rows).argmin(axis=1)
        # A row at distance zero from two medoids belongs to the one that it is.
        self.labels_[self.medoid_indices_] = np.arange(self.n_clusters)
        apart = self._from_medoids(rows[self.medoid_indices_])
        warn_of_equal_rows(self.n_clusters, len(np.unique(apart, axis=0)))
        return self

    def _search_all(self, rows: np.ndarray, random: np.random.Generator) -> list[Medoids]:
        table = rows
        if self.metric != "precomputed":
            table = np.zeros((1, 1))
            if len(rows) > 1:
                table = squareform(condensed_distances(rows, self.metric))
        # Rows that are named, and those of PAM's first phase, are the same at each start.
        once = not isinstance(self.init, str) or self.init == "build"
        return [
            swap_medoids(table, self._first(table, random), self.max_iter)
            for _ in range(1 if once else self.n_init)
        ]

    def _search_some(self, rows: np.ndarray, random: np.random.Generator) -> list[Medoids]:
        def distances_from(place: int) -> np.ndarray:
            if self.metric == "precomputed":
                return rows[place]
            return _distances(rows, rows[place : place + 1], self.metric)[:, 0]

        most = self.max_neighbors or max(250, len(rows) // 80)
        return [
            random_swaps(
                distances_from, self._first(None, random, len(rows)), len(rows), most, random
            )
            for _ in range(self.n_init)
        ]

    def _first(
        self, table: np.ndarray | None, random: np.random.Generator, n_rows: int = 0
    ) -> np.ndarray:
        n_rows = n_rows if table is None else len(table)
        if not isinstance(self.init, str):
            places = np.asarray(self.init)
            if places.shape != (self.n_clusters,) or places.dtype.kind not in "iu":
                raise DataError(
                    f"init has shape {places.shape} and dtype {places.dtype}; expected "
                    f"{self.n_clusters} row numbers."
                )
            if len(set(places.tolist())) < len(places) or not (
                places.min() >= 0 and places.max() < n_rows
            ):
                raise DataError(
                    f"init must be different row numbers from 0 to {n_rows - 1}; got "
                    f"{places.tolist()}."
                )
            return places.astype(np.int64)
        if self.init == "random" or table is None:
            return random.choice(n_rows, self.n_clusters, replace=False).astype(np.int64)
        if self.init == "build":
            return build_medoids(table, self.n_clusters)
        return spread_medoids(table, self.n_clusters, random)

    def _from_medoids(self, rows: np.ndarray) -> np.ndarray:
        if self.metric == "precomputed":
            return rows[:, self.medoid_indices_]
        return _distances(rows, self.cluster_centers_, self.metric)

    def _checked(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, order="C", reset=False)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the nearest medoid of each row.

        Parameters
        ----------
        X
            Rows, or their distances from all rows of training where `metric` is "precomputed".
        """
        return self._from_medoids(self._checked(X)).argmin(axis=1)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the distance of each row from each medoid; `X` as for `predict`."""
        return self._from_medoids(self._checked(X))


def _distances(rows: np.ndarray, centres: np.ndarray, metric: Any) -> np.ndarray:
    name: Any = METRICS[metric] if isinstance(metric, str) else metric
    return cdist(rows, centres, name)
