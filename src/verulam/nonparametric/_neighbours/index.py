"""Nearest-neighbour search: by k-d tree, by blocked matrix products, or by any distance.

All ways are exact, and none holds more than a block of the distances at a time. Which way is taken
is decided by the time that each is expected to take.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from verulam.base import DataError, thread_count, unknown_name
from verulam.nonparametric._neighbours.brute_search import (
    EUCLIDEAN,
    Neighbours,
    check_neighbour_count,
    in_order,
    nearest_by_distances,
    nearest_by_scan,
    scan_kind,
    scan_time,
)
from verulam.nonparametric._neighbours.gemm_search import (
    TiledRows,
    measure_all,
    nearest_in_tiles,
    tiled_rows,
)
from verulam.nonparametric._neighbours.kd_tree import KDTree, grow_kd_tree
from verulam.nonparametric._tuning import (
    CERTAIN_COLUMNS,
    CROWDED,
    FAR_GAPS,
    FEW_AT_ONCE,
    FEW_QUERIES,
    GEMM_COLUMN_TIME,
    GEMM_PAIR_TIME,
    MANIFOLD_ROWS,
    MOST_INSERTED,
    NEAR_SHARE,
    SAMPLE_NEIGHBOURS,
    SAMPLE_QUERIES,
    SAMPLE_ROWS,
    SCANNED_AT_MOST,
    SMALL_ROWS,
    TREE_BASE,
    TREE_BASE_GROWTH,
    TREE_COLUMNS,
    TREE_FACTORS,
    TREE_NEIGHBOUR_TIME,
    TREE_QUERIES,
    TREE_ROWS,
    TREE_TIME,
    TRIED_QUERIES,
)
from verulam.numerics import distances as distances_by_name
from verulam.numerics import precision_root

#: Orders of Minkowski's distance, for those that have a name of their own.
_ORDERS = {"euclidean": 2.0, "manhattan": 1.0, "chebyshev": np.inf}
#: What queries build, and no file holds.
_UNBUILT = {"_tree": None, "_other_tree": None, "_tiled": None}
METRICS = (*_ORDERS, "minkowski", "mahalanobis", "hamming", "cosine")

Distance = Callable[[np.ndarray, np.ndarray], float]


class NeighbourIndex:
    """Stored rows, ready to be searched.

    A query may build what later ones search (a tree, tiles) and note what it learned of the data;
    answers do not depend on that, only their time does.

    Parameters
    ----------
    stored
        One row per point, float64.
    metric
        One of `METRICS`, or a function of two rows that returns their distance.
    p
        The order of "minkowski".
    covariance
        The matrix of "mahalanobis"; by default the covariance of the stored rows.

    Examples
    --------
    >>> import numpy as np
    >>> index = NeighbourIndex(np.array([[0.0], [1.0], [3.0], [6.0]]))
    >>> neighbours = index.query(np.array([[2.1]]), 2)
    >>> neighbours.rows, neighbours.distances.round(1)
    (array([[2, 1]]), array([[0.9, 1.1]]))
    """

    def __init__(
        self,
        stored: np.ndarray,
        metric: str | Distance = "euclidean",
        p: float = 2.0,
        covariance: np.ndarray | None = None,
    ) -> None:
        if isinstance(metric, str) and metric not in METRICS:
            raise unknown_name("metric", metric, METRICS)
        self.metric = metric
        self.p = p
        #: The order of Minkowski's distance, or None where the metric is of another kind.
        self.order = {**_ORDERS, "minkowski": p, "mahalanobis": 2.0}.get(str(metric))
        self.root: np.ndarray | None = None
        if metric == "mahalanobis":
            self.root = _whitening(stored, covariance)
            stored = stored @ self.root
        self.stored = np.ascontiguousarray(stored)
        self._tree: KDTree | None = None
        self._other_tree: cKDTree | None = None
        self._tiled: TiledRows | None = None
        self._dimension: float | None = None
        self._gap: float | None = None
        self._kind = scan_kind(metric, self.order)
        self._is_crowded = False
        self._n_asked = 0

    def __getstate__(self) -> dict[str, Any]:
        # All are quick to build again, and no model file need know their insides.
        return {**vars(self), **_UNBUILT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Nothing is taken from a file that compiled loops would follow anywhere.
        vars(self).update({**state, **_UNBUILT})
        self.stored = np.ascontiguousarray(self.stored, dtype=np.float64)
        if self.stored.ndim != 2:
            raise DataError("The stored rows of a neighbour index are not a table.")
        self._kind = scan_kind(self.metric, self.order)

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
        rows = queries if self.root is None else queries @ self.root
        if rows.ndim != 2 or rows.shape[1] != self.stored.shape[1]:
            raise DataError(
                f"queries: the stored rows have {self.stored.shape[1]} columns, not "
                f"{rows.shape[1:]}."
            )
        return rows

    def _query(self, queries: np.ndarray, k: int) -> Neighbours:
        if self._scan_pays(len(queries), k):
            return self._query_brute(queries, k)
        if self._tree_pays(k) and self._are_near(queries):
            is_euclidean = self.order == 2.0
            return (self._query_tree if is_euclidean else self._query_other_tree)(queries, k)
        if self.order != 2.0 or (len(queries) <= FEW_AT_ONCE and k <= MOST_INSERTED):
            return self._query_brute(queries, k)
        return self._query_tiles(queries, k)

    def _query_brute(self, queries: np.ndarray, k: int) -> Neighbours:
        """Return the nearest rows by measuring all."""
        if self._kind is None or k > MOST_INSERTED:
            return nearest_by_distances(self._measure, queries, k)
        return Neighbours(*nearest_by_scan(queries, self.stored, self._kind, k))

    def _query_tiles(self, queries: np.ndarray, k: int) -> Neighbours:
        """Return the nearest rows by matrix products, and by measuring where these cannot tell."""
        if self._is_crowded and k <= MOST_INSERTED:
            return self._query_brute(queries, k)
        if self._tiled is None:
            self._tiled = tiled_rows(self.stored)
            if len(queries) > 10 * TRIED_QUERIES:
                self._try_products(_sampled(queries, TRIED_QUERIES), k)
                return self._query_tiles(queries, k)
        distances, rows, undecided = nearest_in_tiles(queries, self._tiled, k)
        if undecided.any():
            exact = _euclidean_brute(queries[undecided], self.stored, k)
            distances[undecided], rows[undecided] = exact.distances, exact.rows
        return Neighbours(distances, rows)

    def _try_products(self, queries: np.ndarray, k: int) -> None:
        """Ask some queries, to leave products out where they tell hardly anything."""
        assert self._tiled is not None
        undecided = nearest_in_tiles(queries, self._tiled, k)[2]
        # Beside a scan of four times their cost, products cost little where queries need both.
        dear = scan_time(*self.stored.shape) > 4 * self._product_time(k)
        self._is_crowded = not dear and bool(undecided.mean() > CROWDED)

    def _scan_pays(self, n_queries: int, k: int) -> bool:
        """Tell whether so few Euclidean distances are asked for that nothing need be prepared."""
        if self.order != 2.0 or k > MOST_INSERTED:
            return False
        if len(self) <= SMALL_ROWS:
            return True
        if self._tree is not None or self._tiled is not None:
            return False
        self._n_asked += n_queries
        time = self._n_asked * scan_time(*self.stored.shape)
        return self._n_asked <= FEW_QUERIES or time <= SCANNED_AT_MOST

    def _product_time(self, k: int) -> float:
        """Return the microseconds that a query takes by products, as measured on Gaussian rows."""
        n_rows, n_columns = self.stored.shape
        return 1.0 + 0.15 * k + (GEMM_PAIR_TIME + GEMM_COLUMN_TIME * n_columns) * n_rows / 1000.0

    def _tree_pays(self, k: int) -> bool:
        """Tell whether a tree answers sooner where queries lie among the stored rows."""
        n_rows, n_columns = self.stored.shape
        if self.order is None or (n_columns > TREE_COLUMNS and self.order != 2.0):
            return False
        if self.order != 2.0 and (self._kind is None or k > MOST_INSERTED):
            return True
        if n_rows < TREE_ROWS:
            return False
        if self._dimension is None:
            self._dimension = float(n_columns)
            if n_columns > CERTAIN_COLUMNS and n_rows > MANIFOLD_ROWS and self.order == 2.0:
                self._dimension = min(self._dimension, intrinsic_dimension(self.stored) + 1.0)
        # Leaves visited grow exponentially with the dimension in which rows vary, and with the
        # root of k: the constants are times fitted on Gaussian rows.
        crowd = np.sqrt(k * n_columns / self._dimension)
        base = TREE_BASE + TREE_BASE_GROWTH * np.log(n_rows / 1000.0)
        by_tree = TREE_TIME * base**self._dimension * crowd + TREE_NEIGHBOUR_TIME * k
        if self.order != 2.0:
            return by_tree * TREE_FACTORS[self.order] < scan_time(n_rows, n_columns)
        return self._dimension <= TREE_COLUMNS + 1.0 and by_tree < self._product_time(k)

    def _are_near(self, queries: np.ndarray) -> bool:
        """Tell whether queries lie among the stored rows; from afar, a tree leaves out nothing."""
        if self.stored.shape[1] <= CERTAIN_COLUMNS or self.order != 2.0:
            return True
        sample = _sampled(self.stored, min(max(SAMPLE_ROWS, len(self) // 10), 4 * SAMPLE_ROWS))
        if self._gap is None:
            table = cdist(_sampled(sample, SAMPLE_QUERIES), sample)
            # A row and its copies say nothing of the gaps between rows.
            self._gap = float(np.median(np.where(table > 0, table, np.inf).min(axis=1)))
        gaps = cdist(_sampled(queries, SAMPLE_QUERIES), sample).min(axis=1)
        return float(np.quantile(gaps, NEAR_SHARE)) <= FAR_GAPS * self._gap

    def _measure(self, queries: np.ndarray) -> np.ndarray:
        if self.root is not None:
            return cdist(queries, self.stored)
        if isinstance(self.metric, str):
            return distances_by_name(queries, self.stored, self.metric, p=self.p)
        table = cdist(queries, self.stored, self.metric)
        if np.isnan(table).any():
            raise DataError("metric: the function must return a number for every pair of rows.")
        return table

    def _query_tree(self, queries: np.ndarray, k: int) -> Neighbours:
        if self._tree is None:
            self._tree = grow_kd_tree(self.stored)
        sequence = self._tree.order if queries is self.stored else np.arange(len(queries))
        return Neighbours(*self._tree.query(queries, k, sequence))

    def _query_other_tree(self, queries: np.ndarray, k: int) -> Neighbours:
        """Return the nearest rows by another of Minkowski's distances than the Euclidean."""
        if self._other_tree is None:
            self._other_tree = cKDTree(self.stored, balanced_tree=False)
        workers = thread_count() if len(queries) > TREE_QUERIES else 1
        # Given as a list of ranks, one neighbour comes as a column, too.
        answers = self._other_tree.query(
            queries, k=np.arange(1, k + 1), p=self.order or 2.0, workers=workers
        )
        distances, rows = np.asarray(answers[0]), np.asarray(answers[1], dtype=np.intp)
        # A tree does not list rows whose distance overflows.
        lost = rows[:, k - 1] == len(self)
        neighbours = in_order(distances, rows)
        if lost.any():
            exact = self._query_brute(queries[lost], k)
            neighbours.distances[lost], neighbours.rows[lost] = exact.distances, exact.rows
        return neighbours


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
    apart = distances[distances[:, 0] > 0]
    ratios = np.log(apart[:, -1:] / apart[:, :-1])
    spread = float(ratios.mean()) if ratios.size else 0.0
    return 1.0 / spread if spread > 0 else float(stored.shape[1])


def _euclidean_brute(queries: np.ndarray, stored: np.ndarray, k: int) -> Neighbours:
    if k <= MOST_INSERTED:
        return Neighbours(*nearest_by_scan(queries, stored, EUCLIDEAN, k))
    return nearest_by_distances(lambda few: measure_all(few, stored), queries, k)


def _without_self(neighbours: Neighbours) -> Neighbours:
    is_self = neighbours.rows == np.arange(len(neighbours.rows))[:, None]
    # Behind many copies of itself a row may not be in its own list; then the last one goes.
    is_self[~is_self.any(axis=1), -1] = True
    shape = (len(neighbours.rows), neighbours.rows.shape[1] - 1)
    return Neighbours(
        neighbours.distances[~is_self].reshape(shape), neighbours.rows[~is_self].reshape(shape)
    )


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
