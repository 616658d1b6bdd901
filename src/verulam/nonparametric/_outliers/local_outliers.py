"""Local outlier factors: how thin a point's neighbourhood is beside those of its neighbours."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import Interval, StrOptions, checked_fit, validate_data
from verulam.nonparametric._neighbours.brute_search import Neighbours
from verulam.nonparametric._neighbours.index import Distance, NeighbourIndex
from verulam.nonparametric._outliers.detectors import Detector
from verulam.nonparametric._tuning import DISTANCES_AT_ONCE

#: Keeps densities finite where a point is repeated; scikit-learn's constant.
SMALLEST_REACH = 1e-10

Kind = Literal["textbook", "breunig"]


class LocalOutlierFactor(Detector):
    r"""Flag rows whose neighbourhood is thinner than those of their neighbours.

    Parameters
    ----------
    n_neighbors
        Number of neighbours k; as many as there are other rows, where those are fewer.
    kind
        "textbook" compares distances to the k-th neighbour, "breunig" the original's
        reachability densities, which are scikit-learn's too.
    contamination
        Share of the training rows to flag; "auto" flags factors above 1.5.
    radius
        None, to compare a row with its k neighbours; or a distance, to compare it with all rows
        within (with the k neighbours, where there are none). Distances to the k-th neighbour are
        compared either way.
    metric
        "euclidean", "manhattan", "chebyshev", "hamming", or a function of two rows that returns
        their distance.

    Attributes
    ----------
    inputs_ : ndarray of shape (n_samples, n_features)
        Training inputs.
    n_neighbors_ : int
        Number of neighbours in use.
    distances_ : ndarray of shape (n_samples,)
        Distance :math:`d_k` of each training row to its k-th neighbour.
    reaches_ : ndarray of shape (n_samples,)
        Mean reachability distance of each training row.
    factors_ : ndarray of shape (n_samples,)
        Local outlier factor of each training row.
    offset_ : float
        Threshold of the negative factor.

    Notes
    -----
    .. math:: \mathrm{LOF}(x) = \frac{d_k(x)}
              {\sum_{s \in \mathcal N(x)} d_k(s) / |\mathcal N(x)|}

    is the textbook's factor, Alpaydin 8.7 (8.23). The original [breunig2000]_ takes the mean over
    neighbours s of :math:`\mathrm{lrd}(s) / \mathrm{lrd}(x)`, where
    :math:`1 / \mathrm{lrd}(x)` is the mean of :math:`\max(d_k(s), d(x, s))`. Both are near 1 inside
    a cluster. A row is not its own neighbour, also when it comes back as a query. Where k
    neighbours coincide, a row among them has factor 1. With a `radius`, :math:`\mathcal N(x)` is as
    wide everywhere, and all distances are measured, a block at a time.

    References
    ----------
    .. [breunig2000] M. M. Breunig, H.-P. Kriegel, R. T. Ng, J. Sander, "LOF: identifying
       density-based local outliers", SIGMOD 2000.

    Examples
    --------
    >>> from verulam.nonparametric import LocalOutlierFactor
    >>> detector = LocalOutlierFactor(n_neighbors=2).fit([[0.0], [1.0], [2.0], [3.0]])
    >>> detector.outlier_factors([[10.0], [4.0]]).round(3)
    array([5.333, 1.333])
    >>> detector.predict([[10.0], [4.0]])
    array([-1,  1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "kind": [StrOptions({"textbook", "breunig"})],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0.0, 0.5, closed="right")],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
        "metric": [StrOptions({"euclidean", "manhattan", "chebyshev", "hamming"}), callable],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 20,
        kind: Kind = "textbook",
        contamination: float | Literal["auto"] = "auto",
        radius: float | None = None,
        metric: str | Distance = "euclidean",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kind = kind
        self.contamination = contamination
        self.radius = radius
        self.metric = metric

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find the neighbours of the training rows and set the threshold."""
        inputs = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        self.inputs_ = inputs.copy()
        self.n_neighbors_ = min(self.n_neighbors, len(inputs) - 1)
        index = NeighbourIndex(self.inputs_, self.metric)
        others = index.query_others(self.n_neighbors_)
        self.distances_ = others.distances[:, -1].copy()
        hoods = Neighbourhoods(index, self.inputs_, others, self.radius)
        self.reaches_ = hoods.mean(self.distances_, at_least_distance=True)
        self.factors_ = self._factors(hoods)
        if self.contamination == "auto":
            self.offset_ = -1.5
        else:
            self._set_threshold(-self.factors_, float(self.contamination))
        return self

    def _factors(self, hoods: "Neighbourhoods") -> np.ndarray:
        if self.kind == "textbook":
            others = hoods.mean(self.distances_)
            return distance_ratios(hoods.nearest.distances[:, -1], others, self.distances_)
        # Mean lrd of the neighbours over the lrd of the row, which is one over its mean reach.
        reaches = hoods.mean(self.distances_, at_least_distance=True) + SMALLEST_REACH
        return reaches * hoods.mean(1.0 / (self.reaches_ + SMALLEST_REACH))

    def outlier_factors(self, X: ArrayLike) -> np.ndarray:
        """Return the local outlier factor of each row."""
        return -self.score_samples(X)

    def _typicality(self, inputs: np.ndarray) -> np.ndarray:
        index = NeighbourIndex(self.inputs_, self.metric)
        nearest = _without_copies(index.query(inputs, self.n_neighbors_ + 1))
        return -self._factors(Neighbourhoods(index, inputs, nearest, self.radius))


@dataclass(frozen=True)
class Neighbourhoods:
    """Rows with their neighbourhoods among the stored rows.

    Attributes
    ----------
    index
        The stored rows.
    queries
        The rows.
    nearest
        Their k nearest stored rows, not counting themselves.
    radius
        How far neighbourhoods reach, or None where they are the k nearest.
    """

    index: NeighbourIndex
    queries: np.ndarray
    nearest: Neighbours
    radius: float | None

    def mean(self, values: np.ndarray, *, at_least_distance: bool = False) -> np.ndarray:
        """Return the mean of the stored rows' values over each neighbourhood.

        With `at_least_distance`, values below a stored row's distance are raised to it.
        """
        terms = values[self.nearest.rows]
        if at_least_distance:
            terms = np.maximum(terms, self.nearest.distances)
        means = terms.mean(axis=1)
        if self.radius is None:
            return means
        step = max(1, DISTANCES_AT_ONCE // len(self.index))
        for start in range(0, len(self.queries), step):
            block = slice(start, start + step)
            table = self.index.measure(self.queries[block])
            near = table <= self.radius
            # A row is not its own neighbour; of several copies, any may stand for it.
            nearest = table.argmin(axis=1)
            places = np.arange(len(table))
            near[places, nearest] &= table[places, nearest] > 0
            terms = np.maximum(values, table) if at_least_distance else values
            counts = near.sum(axis=1)
            sums = np.where(near, terms, 0.0).sum(axis=1)
            means[block] = np.where(counts > 0, sums / np.maximum(counts, 1), means[block])
        return means


def distance_ratios(radii: np.ndarray, others: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Return the textbook's factors: distances of the k-th neighbour over the neighbours' mean.

    Parameters
    ----------
    radii
        Distance of each row to its k-th neighbour.
    others
        Mean over its neighbours of theirs.
    distances
        Those of all stored rows.
    """
    # Neighbours that coincide have no radius: a row among them is as dense as they are, any
    # other is an outlier as large as can be told.
    positive = distances[distances > 0]
    floor = SMALLEST_REACH * (float(np.median(positive)) if len(positive) else 1.0)
    return np.where(radii + others > 0, radii / np.maximum(others, floor), 1.0)


def _without_copies(neighbours: Neighbours) -> Neighbours:
    """Drop, of k + 1 neighbours, the one that is the query itself, or else the farthest."""
    is_copy = neighbours.distances[:, 0] == 0.0
    return Neighbours(
        np.where(is_copy[:, None], neighbours.distances[:, 1:], neighbours.distances[:, :-1]),
        np.where(is_copy[:, None], neighbours.rows[:, 1:], neighbours.rows[:, :-1]),
    )


@dataclass(frozen=True)
class FactorComparison:
    """Textbook and original local outlier factors of the same rows.

    Attributes
    ----------
    textbook, breunig : ndarray of shape (n_samples,)
        The factors.
    rank_correlation
        Spearman's correlation of the two.
    agreement
        Share of the rows flagged by both, among those flagged by either, at one contamination.
    """

    textbook: np.ndarray
    breunig: np.ndarray
    rank_correlation: float
    agreement: float


def compare_outlier_factors(
    X: ArrayLike, *, n_neighbors: int = 20, contamination: float = 0.05
) -> FactorComparison:
    """Compute both kinds of local outlier factor on the same rows.

    Parameters
    ----------
    X
        One row per point.
    n_neighbors
        Number of neighbours.
    contamination
        Share of the rows that each kind flags.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import compare_outlier_factors
    >>> X = np.vstack([np.random.default_rng(0).normal(size=(99, 2)), [[9.0, 9.0]]])
    >>> both = compare_outlier_factors(X, n_neighbors=10)
    >>> both.textbook.argmax(), both.breunig.argmax(), round(both.agreement, 2)
    (np.int64(99), np.int64(99), 0.67)
    """
    from scipy.stats import spearmanr

    kinds: tuple[Kind, Kind] = ("textbook", "breunig")
    detectors = [
        LocalOutlierFactor(n_neighbors=n_neighbors, kind=kind, contamination=contamination).fit(X)
        for kind in kinds
    ]
    textbook, breunig = (detector.factors_ for detector in detectors)
    flagged = [-detector.factors_ < detector.offset_ for detector in detectors]
    either = np.logical_or(*flagged).sum()
    return FactorComparison(
        textbook=textbook,
        breunig=breunig,
        rank_correlation=float(spearmanr(textbook, breunig).statistic),
        agreement=float(np.logical_and(*flagged).sum() / either) if either else 1.0,
    )
