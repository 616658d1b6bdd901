"""Discriminant adaptive nearest neighbours: a metric of its own for every query."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    Classifier,
    Interval,
    check_is_fitted,
    checked_fit,
    encode_classes,
    in_threads,
    validate_data,
)
from verulam.nonparametric._neighbours import NeighbourIndex, check_neighbour_count, nearest_columns
from verulam.nonparametric._voting import class_shares

#: Queries worked on together.
QUERY_ROWS = 64


class DiscriminantAdaptiveNeighbours(Classifier):
    r"""Nearest neighbours in neighbourhoods stretched along the local class boundary.

    Parameters
    ----------
    n_neighbors
        Neighbours that vote.
    neighbourhood
        Rows around a query from which its metric is found; None for a fifth of the rows, at
        least 50, at most all.
    softening
        The share :math:`\epsilon` of a sphere that keeps neighbourhoods bounded. Large values
        lead back towards spheres in the local within-class metric.
    n_iterations
        How often the metric is found again in its own neighbourhood; 0 is plain k-nn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    inputs_ : ndarray of shape (n_samples, n_features)
        The training rows.
    codes_ : ndarray of shape (n_samples,)
        Class of each, as a position in `classes_`.
    spreads_ : ndarray of shape (n_features,)
        Standard deviation of each column, by which distances are measured at first.

    Notes
    -----
    With :math:`W` and :math:`B` the scatters within and between the classes around a query,
    weighted by a tricube window,

    .. math:: \Sigma = W^{-1/2} [W^{-1/2} B W^{-1/2} + \epsilon I] W^{-1/2}

    measures distances: directions in which class means differ count more. See Alpaydin 8.6,
    SIT1305 III [hastie1996]_.

    References
    ----------
    .. [hastie1996] T. Hastie, R. Tibshirani, "Discriminant adaptive nearest neighbor
       classification", IEEE Transactions on Pattern Analysis and Machine Intelligence 18, 1996.

    Examples
    --------
    >>> from verulam.nonparametric import DiscriminantAdaptiveNeighbours
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> classifier = DiscriminantAdaptiveNeighbours().fit(X, X[:, 0] > 0)
    >>> metric = classifier.metrics([[0.1, 0.0]])[0]
    >>> bool(metric[0, 0] > 5 * metric[1, 1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "neighbourhood": [Interval(Integral, 2, None, closed="left"), None],
        "softening": [Interval(Real, 0, None, closed="neither")],
        "n_iterations": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        neighbourhood: int | None = None,
        softening: float = 1.0,
        n_iterations: int = 1,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.neighbourhood = neighbourhood
        self.softening = softening
        self.n_iterations = n_iterations

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Store the training rows."""
        inputs, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        self.codes_, self.classes_ = encode_classes(self, labels)
        check_neighbour_count(self.n_neighbors, len(inputs))
        self.inputs_ = inputs.copy()
        spreads = inputs.std(axis=0)
        self.spreads_ = np.where(spreads > 0, spreads, 1.0)
        self._index = NeighbourIndex(self.inputs_ / self.spreads_)
        return self

    def metrics(self, X: ArrayLike) -> np.ndarray:
        """Return the matrix that measures squared distances around each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        found = self._metrics(inputs / self.spreads_)
        return found / np.outer(self.spreads_, self.spreads_)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the share of each class among the neighbours of each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        queries = inputs / self.spreads_
        shares = np.empty((len(queries), len(self.classes_)))

        def fill(start: int) -> None:
            some = slice(start, start + QUERY_ROWS)
            rows = self._nearest(queries[some], self._metrics(queries[some]))
            weights = np.full(rows.shape, 1.0 / self.n_neighbors)
            shares[some] = class_shares(self.codes_[rows], weights, len(self.classes_))

        for _ in in_threads(fill, range(0, len(queries), QUERY_ROWS)):
            pass
        return shares

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of most neighbours."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _neighbourhood_size(self) -> int:
        n_rows = len(self.inputs_)
        wanted = max(n_rows // 5, 50) if self.neighbourhood is None else self.neighbourhood
        return min(wanted, n_rows)

    def _metrics(self, queries: np.ndarray) -> np.ndarray:
        """Return the metric of each query, in units of the columns' spreads."""
        n_columns = queries.shape[1]
        metrics = np.tile(np.eye(n_columns), (len(queries), 1, 1))
        size = self._neighbourhood_size()
        stored = self._index.stored
        for iteration in range(self.n_iterations):
            if iteration == 0:
                found = self._index.query(queries, size)
                rows, distances = found.rows, found.distances
            else:
                rows, distances = self._search(queries, metrics, size)
            reach = np.maximum(distances[:, -1:], 1e-300) * (1.0 + 1e-9)
            weights = (1.0 - (distances / reach) ** 3) ** 3
            # Equal distances leave no weight at all; then every row counts.
            weights[weights.sum(axis=1) <= 0] = 1.0
            local = stored[rows] - queries[:, None]
            metrics = local_metrics(
                local, self.codes_[rows], weights, len(self.classes_), self.softening
            )
        return metrics

    def _search(
        self, queries: np.ndarray, metrics: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        rows = np.empty((len(queries), k), dtype=np.intp)
        distances = np.empty((len(queries), k))
        for place, (query, metric) in enumerate(zip(queries, metrics, strict=True)):
            offsets = self._index.stored - query
            squares = np.einsum("ij,ij->i", offsets @ metric, offsets)
            found = nearest_columns(np.sqrt(np.maximum(squares, 0.0))[None], k)
            rows[place], distances[place] = found.rows[0], found.distances[0]
        return rows, distances

    def _nearest(self, queries: np.ndarray, metrics: np.ndarray) -> np.ndarray:
        if self.n_iterations == 0:
            return self._index.query(queries, self.n_neighbors).rows
        return self._search(queries, metrics, self.n_neighbors)[0]


def local_metrics(
    offsets: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int, softening: float
) -> np.ndarray:
    """Return the metric around each query, from weighted scatters of its neighbourhood.

    Parameters
    ----------
    offsets
        Rows of each neighbourhood (queries, rows, columns), from their query.
    codes
        Their classes.
    weights
        Their weights.
    n_classes
        Number of classes.
    softening
        Share of the sphere.
    """
    n_columns = offsets.shape[2]
    member = weights[:, :, None] * (codes[:, :, None] == np.arange(n_classes))
    totals = member.sum(axis=1)
    sums = np.einsum("qrk,qrj->qkj", member, offsets)
    means = sums / np.maximum(totals, 1e-300)[:, :, None]
    own_means = np.take_along_axis(means, codes[:, :, None], axis=1)
    centred = (offsets - own_means) * np.sqrt(weights)[:, :, None]
    whole = weights.sum(axis=1)[:, None, None]
    within = np.einsum("qri,qrj->qij", centred, centred) / whole
    overall = sums.sum(axis=1) / whole[:, :, 0]
    apart = (means - overall[:, None]) * np.sqrt(totals)[:, :, None]
    between = np.einsum("qki,qkj->qij", apart, apart) / whole
    values, vectors = np.linalg.eigh(within)
    # A direction without spread within classes would be infinitely important.
    floor = 1e-6 * np.maximum(values.mean(axis=1, keepdims=True), 1e-12)
    roots = np.einsum("qij,qj,qkj->qik", vectors, np.maximum(values, floor) ** -0.5, vectors)
    return roots @ (roots @ between @ roots + softening * np.eye(n_columns)) @ roots
