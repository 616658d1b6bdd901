"""Locally adaptive nearest neighbours: what learners whose metric depends on the place share."""

from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    Classifier,
    Interval,
    StrOptions,
    check_is_fitted,
    checked_fit,
    encode_classes,
    thread_map,
    validate_data,
)
from verulam.nonparametric._neighbours.brute_search import check_neighbour_count, nearest_columns
from verulam.nonparametric._neighbours.index import NeighbourIndex
from verulam.nonparametric._tuning import METRIC_QUERIES, NUMBERS_AT_ONCE
from verulam.nonparametric._voting.votes import class_shares

Locality = Literal["query", "row", "class", "all"]

#: Constraints of the parameters that all of them have.
COMMON_CONSTRAINTS: dict[str, Any] = {
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "neighbourhood": [Interval(Integral, 2, None, closed="left"), None],
    "n_iter": [Interval(Integral, 0, None, closed="left")],
    "locality": [StrOptions({"query", "row", "class", "all"})],
}


class AdaptiveNeighbours(Classifier):
    """Base: a learner that defines `_metrics_at`, the metric around each of some points."""

    n_neighbors: int
    neighbourhood: int | None
    n_iter: int
    locality: Locality

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Store the training rows, and find the metrics that do not wait for a query."""
        inputs, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        self.codes_, self.classes_ = encode_classes(self, labels)
        check_neighbour_count(self.n_neighbors, len(inputs))
        self.inputs_ = inputs.copy()
        spreads = inputs.std(axis=0)
        self.spreads_ = np.where(spreads > 0, spreads, 1.0)
        self._index = NeighbourIndex(self.inputs_ / self.spreads_)
        self._prepare()
        self._stored_metrics = None if self.locality == "query" else self._metrics_of_rows()
        return self

    def _prepare(self) -> None:
        """Find what all queries need."""

    def _metrics_at(self, points: np.ndarray) -> np.ndarray:
        """Return the metric around each point, in units of the columns' spreads."""
        raise NotImplementedError(f"{type(self).__name__} must define _metrics_at.")

    def _metrics_of_rows(self) -> np.ndarray:
        """Return the metric of each stored row: its own, its class's mean, or the mean of all."""
        stored = self._index.stored
        blocks = [
            self._metrics_at(stored[start : start + METRIC_QUERIES])
            for start in range(0, len(stored), METRIC_QUERIES)
        ]
        metrics = np.concatenate(blocks)
        if self.locality == "row":
            return metrics
        groups = self.codes_ if self.locality == "class" else np.zeros_like(self.codes_)
        means = np.stack(
            [metrics[groups == group].mean(axis=0) for group in range(groups.max() + 1)]
        )
        return means[groups]

    def metrics(self, X: ArrayLike) -> np.ndarray:
        """Return the matrix that measures squared distances around each row.

        With a locality of "row" or "class" it is the one of the nearest training row.
        """
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        queries = inputs / self.spreads_
        if self._stored_metrics is None:
            metrics = self._metrics_at(queries)
        else:
            metrics = self._stored_metrics[self._nearest(queries, 1)[:, 0]]
        # Squared distances between columns over their spreads: each spread divides twice.
        return metrics / np.outer(self.spreads_, self.spreads_)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the share of each class among the neighbours of each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        queries = inputs / self.spreads_
        shares = np.empty((len(queries), len(self.classes_)))

        def fill(start: int) -> None:
            block = slice(start, start + METRIC_QUERIES)
            rows = self._nearest(queries[block], self.n_neighbors)
            shares[block] = class_shares(self.codes_[rows], None, len(self.classes_))

        thread_map(fill, range(0, len(queries), METRIC_QUERIES))
        return shares

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of most neighbours."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _nearest(self, queries: np.ndarray, k: int) -> np.ndarray:
        """Return the rows nearest to each query by the metrics in force."""
        if self.n_iter == 0:
            return self._index.query(queries, k).rows
        if self._stored_metrics is None:
            return self._search(queries, self._metrics_at(queries), k)[0]
        table = np.empty((len(queries), len(self.inputs_)))
        # Each stored row has a metric of its own, so that offsets to all queries are held.
        step = max(1, NUMBERS_AT_ONCE // max(1, queries.size))
        for start in range(0, len(self.inputs_), step):
            block = slice(start, start + step)
            table[:, block] = squared_distances(
                queries, self._index.stored[block], self._stored_metrics[block]
            )
        return nearest_columns(table, k).rows

    def _neighbourhood_size(self) -> int:
        n_rows = len(self.inputs_)
        size = max(n_rows // 5, 50) if self.neighbourhood is None else self.neighbourhood
        return min(size, n_rows)

    def _around(
        self, points: np.ndarray, metrics: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and distances of each point's neighbourhood, nearest first."""
        if metrics is None:
            nearest = self._index.query(points, self._neighbourhood_size())
            return nearest.rows, nearest.distances
        return self._search(points, metrics, self._neighbourhood_size())

    def _search(
        self, queries: np.ndarray, metrics: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        rows = np.empty((len(queries), k), dtype=np.intp)
        distances = np.empty((len(queries), k))
        for place, (query, metric) in enumerate(zip(queries, metrics, strict=True)):
            offsets = self._index.stored - query
            squares = np.einsum("ij,ij->i", offsets @ metric, offsets)
            # Rounding may leave a square just below zero.
            nearest = nearest_columns(np.sqrt(np.maximum(squares, 0.0))[None], k)
            rows[place], distances[place] = nearest.rows[0], nearest.distances[0]
        return rows, distances


def squared_distances(queries: np.ndarray, stored: np.ndarray, metrics: np.ndarray) -> np.ndarray:
    """Return squared distances to stored rows (columns) that each have a metric of their own."""
    offsets = queries[None] - stored[:, None]
    return np.einsum("rqi,rqi->qr", offsets @ metrics, offsets)
