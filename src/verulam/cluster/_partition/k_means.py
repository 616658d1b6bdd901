"""k-means: rows go to the nearest mean, means to the middle of their rows, until nothing moves."""

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
    DataError,
    DataWarning,
    EMRun,
    Interval,
    ManyPasses,
    MemorySource,
    Seed,
    Source,
    StrOptions,
    Transformer,
    check_is_fitted,
    check_weights,
    generator,
    map_rows,
    validate_data,
    warn_caller,
)
from verulam.cluster._partition.k_means_loops import nearest_centres, sum_by_label
from verulam.cluster._seeding import (
    array_of_starts,
    check_enough_rows,
    check_width,
    plus_plus_rows,
    random_rows,
    row_keys,
    sample_size,
    survey,
)

#: Where rounding errors of matrix products are more than this share of a row's error, distances
#: are taken from differences.
LARGEST_ROUNDING = 1e-6
#: Products of rows and centres held at a time, so that they are still in the cache when compared.
PRODUCTS_AT_ONCE = 2**17


@dataclass(frozen=True)
class Centres:
    """The centres of a pass.

    Attributes
    ----------
    centres : ndarray of shape (n_clusters, n_columns)
        One row each.
    exact
        Whether squared distances are sums of squared differences: matrix products are faster and
        lose digits where centres are far away and clusters are small.
    seed
        Where it is not negative, rows go to clusters at random instead of to the nearest centre.
    by_target
        Whether the targets of the rows are the clusters that they begin in.
    """

    centres: np.ndarray
    exact: bool = False
    seed: int = -1
    by_target: bool = False


@dataclass(frozen=True)
class ClusterSums:
    """Sums over the rows of each cluster, as deviations from the centre of the pass.

    Attributes
    ----------
    centres : ndarray of shape (n_clusters, n_columns)
        Where deviations are taken from.
    weight : ndarray of shape (n_clusters,)
        Total weight of the rows.
    deviations : ndarray of shape (n_clusters, n_columns)
        Sum of the deviations.
    errors : ndarray of shape (n_clusters,)
        Sum of the squared distances from the centre.
    farthest : ndarray of shape (n_clusters,)
        Squared distance of the farthest row, -1 where there is none.
    farthest_rows : ndarray of shape (n_clusters, n_columns)
        That row, the first of equals.
    """

    centres: np.ndarray
    weight: np.ndarray
    deviations: np.ndarray
    errors: np.ndarray
    farthest: np.ndarray
    farthest_rows: np.ndarray

    def __add__(self, other: "ClusterSums") -> "ClusterSums":
        later = other.farthest > self.farthest
        return ClusterSums(
            self.centres,
            self.weight + other.weight,
            self.deviations + other.deviations,
            self.errors + other.errors,
            np.where(later, other.farthest, self.farthest),
            np.where(later[:, None], other.farthest_rows, self.farthest_rows),
        )

    @property
    def shifts(self) -> np.ndarray:
        """From the centre of each cluster to its mean; none where it has no rows."""
        weight = np.where(self.weight > 0, self.weight, 1.0)
        return self.deviations / weight[:, None]

    @property
    def errors_around_means(self) -> np.ndarray:
        """Sum of the squared distances from the mean of each cluster."""
        squares = np.einsum("kj,kj->k", self.shifts, self.deviations)
        return np.maximum(self.errors - squares, 0.0)


@dataclass(frozen=True)
class KMeansPass:
    """One pass: a partition of the rows, its means and its error.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        Means of the clusters, which the next pass measures from.
    weights : ndarray of shape (n_clusters,)
        Number of rows of each, or their weight.
    errors : ndarray of shape (n_clusters,)
        Sum of squared distances of its rows from its mean.
    error
        Sum over the clusters.
    """

    centers: np.ndarray
    weights: np.ndarray
    errors: np.ndarray

    @property
    def error(self) -> float:
        return float(self.errors.sum())


def nearest(X: np.ndarray, centres: np.ndarray, *, exact: bool = False) -> np.ndarray:
    """Return the number of the nearest centre of each row, the first of equals."""
    if exact:
        return cdist(X, centres, "sqeuclidean").argmin(axis=1)
    labels = np.empty(len(X), dtype=np.int64)
    half_squares = 0.5 * np.einsum("kj,kj->k", centres, centres)
    block = max(512, PRODUCTS_AT_ONCE // len(centres))
    for start in range(0, len(X), block):
        rows = slice(start, start + block)
        nearest_centres(X[rows] @ centres.T, half_squares, labels[rows])
    return labels


def cluster_sums(
    X: np.ndarray, weights: np.ndarray | None, labels: np.ndarray, centres: np.ndarray
) -> ClusterSums:
    """Return the sums of one chunk, whose rows belong to these clusters."""
    n_clusters, n_columns = centres.shape
    sums = ClusterSums(
        centres,
        np.zeros(n_clusters),
        np.zeros((n_clusters, n_columns)),
        np.zeros(n_clusters),
        np.full(n_clusters, -1.0),
        np.zeros((n_clusters, n_columns)),
    )
    sum_by_label(
        X, labels, np.empty(0) if weights is None else weights, centres, sums.weight,
        sums.deviations, sums.errors, sums.farthest, sums.farthest_rows,
    )  # fmt: skip
    return sums


def assigned_sums(chunk: Chunk, parameters: Centres) -> ClusterSums:
    """Put the rows of a chunk into clusters, and return the sums: one pass."""
    X, centres = chunk.inputs, parameters.centres
    check_width(X, centres, "init")
    if parameters.by_target:
        assert chunk.targets is not None
        labels = chunk.targets
    elif parameters.seed >= 0:
        labels = (row_keys(X, parameters.seed) % np.uint64(len(centres))).astype(np.int64)
    else:
        labels = nearest(X, centres, exact=parameters.exact)
    return cluster_sums(X, chunk.weights, labels, centres)


def loses_digits(centres: np.ndarray, error_per_row: float) -> bool:
    """Whether matrix products would round away what tells near centres from nearer ones."""
    largest = float(np.einsum("kj,kj->k", centres, centres).max())
    return bool(np.finfo(float).eps * largest > LARGEST_ROUNDING * error_per_row)


def fill_empty_clusters(means: np.ndarray, sums: ClusterSums) -> tuple[np.ndarray, int]:
    """Return the means, empty clusters moved to rows far from theirs, and how many stay empty."""
    empty = np.flatnonzero(sums.weight == 0)
    if not len(empty):
        return means, 0
    donors = np.argsort(-sums.farthest, kind="stable")
    donors = donors[sums.farthest[donors] > 0][: len(empty)]
    means = means.copy()
    means[empty[: len(donors)]] = sums.farthest_rows[donors]
    return means, len(empty) - len(donors)


class KMeans(ManyPasses, ClassNamePrefixFeaturesOutMixin, ClusterMixin, Transformer):
    r"""Divide rows into clusters around means, so that squared distances from them are least.

    Parameters
    ----------
    n_clusters
        Number of clusters.
    init
        Where passes start: "k-means++" draws rows far from one another; "random" draws any;
        "partition" puts every row into a random cluster; an array of shape (n_clusters,
        n_features) holds the first centres; one of whole numbers, one for each row of data in
        memory, is a first partition.
    n_init
        Number of starts, the best of which is taken; first centres or a first partition are
        used once.
    max_iter
        Most passes over the data.
    tol
        Stop when a pass lowers the error by no more than this share of it; with 0, when no row
        changes its cluster.
    random_state
        Seed of the starts.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means of the clusters.
    inertia_ : float
        Sum of the squared distances of the rows from their centres, with their weights.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, where the data is in memory.
    trace_ : list of KMeansPass
        The partitions pass by pass, from the first.
    objective_curve_ : list of float
        Error of a row pass by pass, with a minus sign; it never falls.
    n_iter_ : int
        Number of passes.
    converged_ : bool
        Whether the last pass met `tol`.

    Notes
    -----
    .. math:: E = \sum_t \sum_i b_i^t \|x^t - m_i\|^2, \qquad
              b_i^t = 1 \text{ where } \|x^t - m_i\| \text{ is least}, \qquad
              m_i = \frac{\sum_t b_i^t x^t}{\sum_t b_i^t}

    Neither step can raise :math:`E`; half of it is the reconstruction error. A cluster that has
    lost its rows goes on from the row that is farthest from its centre. A pass is a sum over the
    rows, and starts are drawn from a sample that is the same however the data is cut: memory,
    streams and Dask give the same clusters. See SIT1305 III, Alpaydin 12.1, Bartkowiak III.

    Examples
    --------
    >>> from verulam.cluster import KMeans
    >>> learner = KMeans(n_clusters=2, init=[0, 1, 0, 1]).fit([[1, 0], [0, 1], [2, 1], [3, 3]])
    >>> [(step.errors.round(3).tolist(), round(step.error, 3)) for step in learner.trace_[:2]]
    [([1.0, 6.5], 7.5), ([2.667, 0.0], 2.667)]
    >>> learner.labels_
    array([0, 0, 0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random", "partition"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["KMeans"]:
        return [cls(n_clusters=3), cls(n_clusters=3, init="partition", n_init=2)]

    @property
    def labels_(self) -> np.ndarray:
        """Cluster of each row of training, where the data was in memory."""
        labels = vars(self).get("_labels")
        if labels is None:
            raise AttributeError("labels_ are there after fit on data in memory; use predict.")
        return labels

    def _learn(self, source: Source) -> None:
        random = generator(self.random_state)
        source, starts = self._starts(source, random)
        trace: dict[int, list[KMeansPass]] = {}
        runs = []
        for start in self._steps(starts, "start", len(starts)):
            passes: list[KMeansPass] = []
            runs.append(self._run(source, start, partial(self._revise, passes)))
            trace[id(runs[-1])] = passes
        best = self._conclude(runs)
        self.trace_ = trace[id(best)]
        for note in best.notes:
            warn_caller(note, DataWarning)
        self._describe(source, best)

    def _describe(self, source: Source, best: EMRun) -> None:
        unchanged = best.converged and len(best.curve) > 1 and best.curve[-1] == best.curve[-2]
        sums = best.statistics if unchanged else self._total(source, best.parameters)
        self.inertia_ = float((sums.errors_around_means if unchanged else sums.errors).sum())
        self._exact = best.parameters.exact
        self._n_features_out = len(self.cluster_centers_)
        self._labels = None
        if isinstance(source, MemorySource):
            self._labels = self._nearest(source.data.inputs)

    def _starts(self, source: Source, random: np.random.Generator) -> tuple[Source, list[Centres]]:
        """Return the source, first clusters as targets where they are known, and where runs begin.

        One look at the data finds the rows that starts are drawn from.
        """
        if isinstance(source, MemorySource):
            check_enough_rows(self.n_clusters, len(source.data), "n_clusters")
        if not isinstance(self.init, str) and np.ndim(self.init) != 1:
            centres = array_of_starts(self.init, self.n_clusters, "init")
            return source, [Centres(centres, loses_digits(centres, float(centres.var(0).mean())))]
        seed = int(random.integers(2**31))
        view = source.total(partial(survey, seed=seed, most=sample_size(self.n_clusters)))
        rows, weights = view.sample.rows, view.sample.weights
        middle = np.tile(view.mean, (self.n_clusters, 1))
        if not isinstance(self.init, str):
            return self._partitioned(source), [Centres(middle, by_target=True)]
        if self.init == "partition":
            seeds = random.integers(2**31, size=self.n_init).tolist()
            return source, [Centres(middle, seed=seed) for seed in seeds]
        draw = plus_plus_rows if self.init == "k-means++" else random_rows
        spread = float(np.mean(view.scale**2))
        return source, [
            Centres(centres, loses_digits(centres, spread))
            for centres in (
                draw(rows, weights, self.n_clusters, random) for _ in range(self.n_init)
            )
        ]

    def _partitioned(self, source: Source) -> Source:
        if not isinstance(source, MemorySource):
            raise DataError("init as a partition needs data in memory; pass first centres instead.")
        labels = np.asarray(self.init)
        if labels.shape != (len(source.data),) or labels.dtype.kind not in "iu":
            raise DataError(
                f"init has shape {labels.shape} and dtype {labels.dtype}; expected centres of "
                f"shape ({self.n_clusters}, {source.data.inputs.shape[1]}), or the first cluster "
                f"of each of the {len(source.data)} rows as a whole number."
            )
        if labels.min() < 0 or labels.max() >= self.n_clusters:
            raise DataError(
                f"init has clusters from {labels.min()} to {labels.max()}; n_clusters="
                f"{self.n_clusters} allows 0 to {self.n_clusters - 1}."
            )
        data = source.data
        return MemorySource(Chunk(data.inputs, labels.astype(np.int64), data.weights))

    def _statistics(self, chunk: Chunk, parameters: Centres) -> ClusterSums:
        return assigned_sums(chunk, parameters)

    def _total(self, source: Source, parameters: Centres) -> ClusterSums:
        # A pass depends on the centres alone, so that no copy of the learner is made for it.
        return source.total(partial(assigned_sums, parameters=parameters))

    def _update(self, statistics: ClusterSums) -> Centres:
        means, _ = fill_empty_clusters(statistics.centres + statistics.shifts, statistics)
        error = statistics.errors_around_means.sum() / statistics.weight.sum()
        return Centres(means, loses_digits(means, float(error)))

    def _objective(self, statistics: ClusterSums) -> float:
        return -float(statistics.errors_around_means.sum() / statistics.weight.sum())

    def _least_gain(self, statistics: ClusterSums) -> float:
        # Less than that is rounding: no row has changed its cluster.
        return -max(self.tol, 1e-14) * self._objective(statistics)

    def _revise(self, passes: list[KMeansPass], run: EMRun) -> None:
        sums: ClusterSums = run.statistics
        passes.append(KMeansPass(run.parameters.centres, sums.weight, sums.errors_around_means))
        _, still_empty = fill_empty_clusters(run.parameters.centres, sums)
        run.notes[:] = []
        if still_empty:
            run.notes.append(
                f"n_clusters={self.n_clusters}, but the number of different rows is "
                f"{self.n_clusters - still_empty}; the other clusters are empty."
            )

    def _store(self, parameters: Centres) -> None:
        self.cluster_centers_ = parameters.centres

    def _nearest(self, X: np.ndarray) -> np.ndarray:
        assign = partial(nearest, centres=self.cluster_centers_, exact=self._exact)
        return map_rows(assign, X, (len(X),), np.int64)

    def _checked(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, order="C", reset=False)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the nearest cluster of each row."""
        return self._nearest(self._checked(X))

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the distance of each row from each centre."""
        return cdist(self._checked(X), self.cluster_centers_)

    def fit_transform(self, X: ArrayLike, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Learn the clusters, and return the distance of each row from each centre."""
        return self.fit(X, y, sample_weight).transform(X)

    def score(self, X: ArrayLike, y: Any = None, sample_weight: Any = None) -> float:
        """Return the sum of squared distances from the nearest centres, with a minus sign."""
        rows = self._checked(X)
        weights = check_weights(sample_weight, rows)
        squares = cdist(rows, self.cluster_centers_, "sqeuclidean").min(axis=1)
        return -float(squares.sum() if weights is None else weights @ squares)

    def reconstruction_error(self, X: ArrayLike) -> float:
        r"""Return :math:`\frac12 \sum_t \|x^t - m_{i(t)}\|^2`: what is lost where centres stand in.

        Parameters
        ----------
        X
            Rows.
        """
        return -0.5 * self.score(X)
