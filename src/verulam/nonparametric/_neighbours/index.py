"""Search for the nearest stored rows: by tree, by blocked matrix products, or by any distance.

All ways are exact, and none holds more than a block of the distances at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from verulam.base import DataError, thread_count, thread_map, unknown_name
from verulam.nonparametric._neighbours.brute_search import (
    EUCLIDEAN,
    MOST_KEPT,
    nearest_by_scan,
    nearest_entries,
    scan_kind,
    scan_time,
)
from verulam.nonparametric._neighbours.gemm_search import TiledRows, nearest_in_tiles, tiled_rows
from verulam.nonparametric._neighbours.gemm_search_loops import measure_all, measure_listed
from verulam.numerics import distances as distances_by_name
from verulam.numerics import precision_root

#: Up to this many columns a k-d tree beats distances that have to be computed in full.
TREE_COLUMNS = 7
#: With fewer stored rows a tree has hardly anything to leave out.
TREE_ROWS = 500
#: Queries that one thread answers from a tree before others have begun.
TREE_QUERIES = 1000
#: Up to this many columns a tree is quick wherever the queries are.
CERTAIN_COLUMNS = 2
#: Queries are near where so many of them have a row of a sample within so many of its own gaps.
NEAR_SHARE, FAR_GAPS = 0.85, 4.0
#: With fewer stored rows, asking whether many columns vary in few dimensions costs too much.
MANIFOLD_ROWS = 5_000
#: Rows by which the dimension of the data is told, and those asked for their neighbours.
SAMPLE_ROWS, SAMPLE_QUERIES, SAMPLE_NEIGHBOURS = 500, 50, 10
#: Up to so many stored rows, measuring all is quicker than any preparation.
SMALL_ROWS = 100
#: Queries that are answered by measuring all rows before a tree or tiles are made ready.
FEW_QUERIES = 30
#: Rows by which repeated values are told, and the share of different ones that leaves ties rare.
GRID_ROWS, RARE_TIES = 100, 0.8
#: Share of queries with ties above which a tree is not asked again.
OFTEN_TIED = 0.2
#: Microseconds that it takes to find the first of equally near rows with a tree.
SETTLING_TIME = 12.0
#: Queries that products are tried with, and the share left untold above which they are not used.
TRIED_QUERIES, CROWDED = 64, 0.8
#: How much longer a tree takes for other distances than the Euclidean.
_TREE_FACTORS = {1.0: 3.0, np.inf: 1.5}
#: Distances held at a time where a metric has to be computed in full.
BLOCK_NUMBERS = 2**21

#: Distances that differ by less, as a share, may be the same distance rounded in two ways.
ROUNDING = 1e-12
#: Rows at the same distance that a tree lists; where there are more, all rows are measured.
LISTED_ROWS = 1000

#: Orders of Minkowski's distance, for those that have a name of their own.
_ORDERS = {"euclidean": 2.0, "city-block": 1.0, "chebyshev": np.inf}
METRICS = (*_ORDERS, "minkowski", "mahalanobis", "hamming", "cosine")

Distance = Callable[[np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class Neighbours:
    """The nearest stored rows of each query, nearest first.

    Attributes
    ----------
    distances : ndarray of shape (n_queries, k)
        How far they are.
    rows : ndarray of shape (n_queries, k)
        Which stored rows they are.
    """

    distances: np.ndarray
    rows: np.ndarray


class NeighbourIndex:
    """Stored rows, ready to be searched.

    Parameters
    ----------
    stored
        One row per point, float64.
    metric
        One of `METRICS`, or a function of two rows that returns their distance.
    power
        The order of "minkowski".
    covariance
        The matrix of "mahalanobis"; by default the covariance of the stored rows.

    Examples
    --------
    >>> import numpy as np
    >>> index = NeighbourIndex(np.array([[0.0], [1.0], [3.0], [6.0]]))
    >>> found = index.query(np.array([[2.1]]), 2)
    >>> found.rows, found.distances.round(1)
    (array([[2, 1]]), array([[0.9, 1.1]]))
    """

    def __init__(
        self,
        stored: np.ndarray,
        metric: str | Distance = "euclidean",
        power: float = 2.0,
        covariance: np.ndarray | None = None,
    ) -> None:
        if isinstance(metric, str) and metric not in METRICS:
            raise unknown_name("metric", metric, METRICS)
        self.metric = metric
        self.power = power
        #: The order of Minkowski's distance, or None where the metric is of another kind.
        self.order = {**_ORDERS, "minkowski": power, "mahalanobis": 2.0}.get(str(metric))
        self.root: np.ndarray | None = None
        if metric == "mahalanobis":
            self.root = _whitening(stored, covariance)
            stored = stored @ self.root
        self.stored = np.ascontiguousarray(stored)
        self._tree: cKDTree | None = None
        self._tiled: TiledRows | None = None
        self._dimension: float | None = None
        self._gap: float | None = None
        self._kind = scan_kind(metric, self.order)
        self._is_tied: bool | None = None
        self._is_crowded = False
        self._n_asked = 0

    def __getstate__(self) -> dict[str, Any]:
        # Both are quick to build again, and no model file need know their insides.
        return {**vars(self), "_tree": None, "_tiled": None}

    def __len__(self) -> int:
        return len(self.stored)

    def query(self, queries: np.ndarray, k: int) -> Neighbours:
        """Return the `k` nearest stored rows of each query."""
        check_neighbour_count(k, len(self.stored))
        return self._query(self._whitened(queries), k)

    def query_others(self, k: int) -> Neighbours:
        """Return the `k` nearest other rows of each stored row."""
        check_neighbour_count(k + 1, len(self.stored), "the other rows")
        return _without_self(self._query(self.stored, k + 1))

    def measure(self, queries: np.ndarray) -> np.ndarray:
        """Return the distance of each query to each stored row."""
        return self._measure(self._whitened(queries))

    def _whitened(self, queries: np.ndarray) -> np.ndarray:
        return queries if self.root is None else queries @ self.root

    def _query(self, queries: np.ndarray, k: int) -> Neighbours:
        if self._scan_pays(len(queries), k):
            return self._query_all(queries, k)
        if self._tree_pays(k) and self._are_near(queries):
            return self._query_tree(queries, k)
        return self._query_all(queries, k) if self.order != 2.0 else self._query_tiles(queries, k)

    def _query_all(self, queries: np.ndarray, k: int) -> Neighbours:
        """Return the nearest rows by measuring all."""
        if self._kind is None or k > MOST_KEPT:
            return nearest_by_distances(self._measure, queries, k)
        return Neighbours(*nearest_by_scan(queries, self.stored, self._kind, k))

    def _query_tiles(self, queries: np.ndarray, k: int) -> Neighbours:
        if self._is_crowded and k <= MOST_KEPT:
            return self._query_all(queries, k)
        if self._tiled is None:
            self._tiled = tiled_rows(self.stored)
            if len(queries) > 10 * TRIED_QUERIES:
                self._try_products(_sampled(queries, TRIED_QUERIES), k)
                return self._query_tiles(queries, k)
        distances, rows, untold = nearest_in_tiles(queries, self._tiled, k)
        if untold.any():
            exact = _nearest_of_all(queries[untold], self.stored, k)
            distances[untold], rows[untold] = exact.distances, exact.rows
        return Neighbours(distances, rows)

    def _try_products(self, queries: np.ndarray, k: int) -> None:
        """Ask some queries, to leave products out where they tell hardly anything."""
        assert self._tiled is not None
        untold = nearest_in_tiles(queries, self._tiled, k)[2]
        dear = scan_time(*self.stored.shape) > 4 * self._product_time(k)
        self._is_crowded = not dear and bool(untold.mean() > CROWDED)

    def _scan_pays(self, n_queries: int, k: int) -> bool:
        """Tell whether so few Euclidean distances are asked for that nothing need be prepared."""
        if self.order != 2.0 or k > MOST_KEPT:
            return False
        if len(self) <= SMALL_ROWS:
            return True
        if self._tree is not None or self._tiled is not None or not self._may_leave_trees():
            return False
        self._n_asked += n_queries
        return self._n_asked <= FEW_QUERIES

    def _product_time(self, k: int) -> float:
        """Return the microseconds that a query takes by products, as measured on Gaussian rows."""
        n_rows, n_columns = self.stored.shape
        return 0.3 + 0.05 * k + (0.25 + 0.02 * n_columns) * n_rows / 1000.0

    def _tree_pays(self, k: int) -> bool:
        """Tell whether a tree answers sooner where queries lie among the stored rows."""
        n_rows, n_columns = self.stored.shape
        if self.order is None or (n_columns > TREE_COLUMNS and self.order != 2.0):
            return False
        if self.order != 2.0 and (self._kind is None or k > MOST_KEPT):
            return True
        if n_rows < TREE_ROWS:
            return False
        if self._dimension is None:
            self._dimension = float(n_columns)
            if n_columns > CERTAIN_COLUMNS and n_rows > MANIFOLD_ROWS and self.order == 2.0:
                self._dimension = min(self._dimension, intrinsic_dimension(self.stored) + 1.0)
        crowd = np.sqrt(k * n_columns / self._dimension)
        by_tree = 0.1 * 1.75**self._dimension * crowd + 0.06 * k
        if self.order != 2.0:
            return by_tree * _TREE_FACTORS[self.order] < scan_time(n_rows, n_columns)
        gain = self._product_time(k) - by_tree
        if self._dimension > TREE_COLUMNS + 1.0 or gain <= 0.0:
            return False
        return gain > SETTLING_TIME or not (self._may_leave_trees() and self._often_tied())

    def _often_tied(self) -> bool:
        """Tell whether values repeat so often that many rows are equally near."""
        if self._is_tied is None:
            sample = _sampled(self.stored, GRID_ROWS)
            most = max(len(np.unique(column)) for column in sample.T)
            self._is_tied = most < RARE_TIES * len(sample)
        return self._is_tied

    def _are_near(self, queries: np.ndarray) -> bool:
        """Tell whether queries lie among the stored rows; from afar, a tree leaves out nothing."""
        if self.stored.shape[1] <= CERTAIN_COLUMNS or self.order != 2.0:
            return True
        sample = _sampled(self.stored, min(max(SAMPLE_ROWS, len(self) // 10), 4 * SAMPLE_ROWS))
        if self._gap is None:
            own = np.partition(cdist(_sampled(sample, SAMPLE_QUERIES), sample), 1, axis=1)[:, 1]
            self._gap = float(np.median(own))
        gaps = cdist(_sampled(queries, SAMPLE_QUERIES), sample).min(axis=1)
        return float(np.quantile(gaps, NEAR_SHARE)) <= FAR_GAPS * self._gap

    def _measure(self, queries: np.ndarray) -> np.ndarray:
        if self.root is not None:
            return cdist(queries, self.stored)
        if isinstance(self.metric, str):
            return distances_by_name(queries, self.stored, self.metric, power=self.power)
        found = cdist(queries, self.stored, self.metric)
        if np.isnan(found).any():
            raise DataError("metric: the function must return a number for every pair of rows.")
        return found

    def _query_tree(self, queries: np.ndarray, k: int) -> Neighbours:
        if self._tree is None:
            self._tree = cKDTree(self.stored, balanced_tree=False)
        workers = thread_count() if len(queries) > TREE_QUERIES else 1
        # One more tells whether the last is one of several equally near rows.
        most = min(k + self._may_leave_trees(), len(self))
        answers = self._tree.query(
            queries, k=np.arange(1, most + 1), p=self.order or 2.0, workers=workers
        )
        found, rows = np.asarray(answers[0]), np.asarray(answers[1], dtype=np.intp)
        # A tree does not list rows whose distance overflows.
        lost = rows[:, k - 1] == len(self)
        told = _in_order(found[:, :k], rows[:, :k])
        if most > k:
            self._settle(queries, told, found[:, k])
        if lost.any():
            exact = self._query_all(queries[lost], k)
            told.distances[lost], told.rows[lost] = exact.distances, exact.rows
        return told

    def _may_leave_trees(self) -> bool:
        """Tell whether other queries than these may be answered without the tree."""
        return self.stored.shape[1] > CERTAIN_COLUMNS and self.order == 2.0

    def _settle(self, queries: np.ndarray, told: Neighbours, following: np.ndarray) -> None:
        """Take the first of equally near rows, as a search without the tree does.

        Otherwise the answer to a query would depend on those that are asked with it.
        """
        reach = told.distances[:, -1] * (1.0 + ROUNDING)
        tied = np.flatnonzero(following <= reach)
        if not len(tied) or self._tree is None:
            return
        self._is_tied = self._is_tied or len(tied) > OFTEN_TIED * len(queries)
        if self._product_time(told.rows.shape[1]) < SETTLING_TIME:
            ask = self._query_all if len(tied) <= FEW_QUERIES else self._query_tiles
            exact = ask(queries[tied], told.rows.shape[1])
            told.distances[tied], told.rows[tied] = exact.distances, exact.rows
            return
        # Where many rows are equally near, many queries are mostly the same, too.
        _, first, copies = np.unique(queries[tied], axis=0, return_index=True, return_inverse=True)
        asked = queries[tied[first]]
        exact = self._first_nearest(asked, reach[tied[first]], told.rows.shape[1])
        told.distances[tied] = exact.distances[copies.ravel()]
        told.rows[tied] = exact.rows[copies.ravel()]

    def _first_nearest(self, queries: np.ndarray, reach: np.ndarray, k: int) -> Neighbours:
        """Return the nearest rows, which are within reach, and the first among equals."""
        assert self._tree is not None
        found = Neighbours(np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.intp))
        counts = self._tree.query_ball_point(queries, reach, return_length=True)
        few, many = np.flatnonzero(counts <= LISTED_ROWS), np.flatnonzero(counts > LISTED_ROWS)
        block = BLOCK_NUMBERS // LISTED_ROWS
        for some in (few[start : start + block] for start in range(0, len(few), block)):
            within = self._tree.query_ball_point(queries[some], reach[some], return_sorted=True)
            places = np.concatenate(within).astype(np.intp)
            own = Neighbours(found.distances[some], found.rows[some])
            ends = counts[some].cumsum()
            measure_listed(queries[some], self.stored, ends, places, own.distances, own.rows)
            found.distances[some], found.rows[some] = own.distances, own.rows
        if len(many):
            rest = _nearest_of_all(queries[many], self.stored, k)
            found.distances[many], found.rows[many] = rest.distances, rest.rows
        return found


@dataclass(frozen=True)
class WeightedHamming:
    """Stored rows, ready to be searched by the share of the columns' weights that differ.

    Attributes
    ----------
    stored : ndarray of shape (n_rows, n_columns)
        The rows.
    weights : ndarray of shape (n_columns,)
        Importance of each column.
    """

    stored: np.ndarray
    weights: np.ndarray

    def query(self, queries: np.ndarray, k: int) -> Neighbours:
        """Return the `k` nearest stored rows of each query."""
        return nearest_by_distances(
            lambda few: cdist(few, self.stored, "hamming", w=self.weights), queries, k
        )


def _sampled(rows: np.ndarray, count: int) -> np.ndarray:
    """Return some rows, evenly spread over the table."""
    if len(rows) <= count:
        return rows
    # Steps of the golden ratio fall in with no period that the table may have.
    places = np.arange(count) * 0.6180339887498949 % 1.0 * len(rows)
    return rows[np.unique(places.astype(np.intp))]


def intrinsic_dimension(stored: np.ndarray) -> float:
    r"""Return in how many dimensions rows vary around one another, by maximum likelihood.

    Levina and Bickel's estimate: one over the mean of :math:`\ln(d_k / d_j)` for the distances of
    the nearest neighbours, within some rows. Many dimensions come out too low.

    Examples
    --------
    >>> import numpy as np
    >>> plane = np.random.default_rng(0).normal(size=(2000, 2)) @ np.ones((2, 10)).cumsum(axis=1)
    >>> round(intrinsic_dimension(plane + 0.0))
    1
    """
    sample = _sampled(stored, SAMPLE_ROWS)
    asked = _sampled(sample, SAMPLE_QUERIES)
    nearest = np.partition(cdist(asked, sample), SAMPLE_NEIGHBOURS, axis=1)
    distances = np.sort(nearest[:, : SAMPLE_NEIGHBOURS + 1], axis=1)[:, 1:]
    # Copies of a row say nothing about the space between rows.
    told = distances[distances[:, 0] > 0]
    ratios = np.log(told[:, -1:] / told[:, :-1])
    spread = float(ratios.mean()) if ratios.size else 0.0
    return 1.0 / spread if spread > 0 else float(stored.shape[1])


def check_neighbour_count(
    k: int, n_rows: int, among: str = "the stored rows", argument: str = "n_neighbors"
) -> None:
    """Raise where more neighbours are asked for than there are rows."""
    if k > n_rows:
        raise DataError(
            f"{argument} is larger than {among}: there are n_samples = {n_rows} rows, and "
            f"{k} are needed."
        )


def _nearest_of_all(queries: np.ndarray, stored: np.ndarray, k: int) -> Neighbours:
    if k <= MOST_KEPT:
        return Neighbours(*nearest_by_scan(queries, stored, EUCLIDEAN, k))
    return nearest_by_distances(lambda few: measure_all(few, stored), queries, k)


def nearest_by_distances(
    measure: Callable[[Any], np.ndarray], queries: Any, k: int, threads: int = 0
) -> Neighbours:
    """Return the nearest rows where distances are computed in full, a block of them at a time.

    Parameters
    ----------
    measure
        Maps some of the queries to their distances to all stored rows.
    queries
        An array or table that can be sliced by rows.
    k
        Number of neighbours.
    threads
        Threads to use; 0 for as many as there are.
    """
    n_stored = measure(queries[:1]).shape[1]
    check_neighbour_count(k, n_stored)
    block_rows = max(1, BLOCK_NUMBERS // max(1, n_stored))
    distances = np.empty((len(queries), k))
    rows = np.empty((len(queries), k), dtype=np.intp)

    def search(start: int) -> None:
        some = slice(start, start + block_rows)
        found = nearest_columns(measure(queries[some]), k)
        distances[some], rows[some] = found.distances, found.rows

    thread_map(search, range(0, len(queries), block_rows), threads)
    return Neighbours(distances, rows)


def nearest_columns(table: np.ndarray, k: int) -> Neighbours:
    """Return the `k` smallest entries of each row of a table of distances."""
    if k <= MOST_KEPT:
        return Neighbours(*nearest_entries(np.ascontiguousarray(table, dtype=np.float64), k))
    if k < table.shape[1]:
        rows = np.argpartition(table, k - 1, axis=1)[:, :k]
        last = np.take_along_axis(table, rows, axis=1).max(axis=1)
        # Of several that are equally near, partitions keep any; the first ones are wanted.
        for row in np.flatnonzero((table <= last[:, None]).sum(axis=1) > k):
            within = np.flatnonzero(table[row] <= last[row])
            rows[row] = within[np.argsort(table[row, within], kind="stable")[:k]]
    else:
        rows = np.tile(np.arange(k), (len(table), 1))
    return _in_order(np.take_along_axis(table, rows, axis=1), rows)


def _in_order(distances: np.ndarray, rows: np.ndarray) -> Neighbours:
    """Return the neighbours with the nearest first, and the first row first among equals."""
    # Trees give the nearest first already; few queries have equals to put in order.
    unsettled = (np.diff(distances, axis=1) <= 0).any(axis=1)
    if unsettled.any():
        order = np.lexsort((rows[unsettled], distances[unsettled]), axis=-1)
        distances[unsettled] = np.take_along_axis(distances[unsettled], order, axis=1)
        rows[unsettled] = np.take_along_axis(rows[unsettled], order, axis=1)
    return Neighbours(distances, rows)


def _without_self(found: Neighbours) -> Neighbours:
    own = found.rows == np.arange(len(found.rows))[:, None]
    # Behind many copies of itself a row may not be in its own list; then the last one goes.
    own[~own.any(axis=1), -1] = True
    shape = (len(found.rows), found.rows.shape[1] - 1)
    return Neighbours(found.distances[~own].reshape(shape), found.rows[~own].reshape(shape))


def _whitening(stored: np.ndarray, covariance: np.ndarray | None) -> np.ndarray:
    """Return the matrix after which Euclidean distances are Mahalanobis's."""
    if covariance is None:
        covariance = np.atleast_2d(np.cov(stored, rowvar=False))
    try:
        return precision_root(np.asarray(covariance, dtype=np.float64))[0]
    except (np.linalg.LinAlgError, ValueError) as error:
        raise DataError(
            "metric='mahalanobis' needs a covariance that can be inverted; some columns are "
            "constant or depend on one another. Drop them or choose another metric."
        ) from error
