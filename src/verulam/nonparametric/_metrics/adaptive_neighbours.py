"""Neighbours whose metric adapts to where they are asked for."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import KFold

from verulam.base import (
    Classifier,
    Interval,
    StrOptions,
    check_is_fitted,
    checked_fit,
    clone,
    encode_classes,
    thread_map,
    validate_data,
)
from verulam.nonparametric._metrics.local_metrics import (
    column_losses,
    relevance_metrics,
    scatter_metrics,
    squared_distances,
    tricube_weights,
)
from verulam.nonparametric._neighbours.index import (
    NeighbourIndex,
    check_neighbour_count,
    nearest_columns,
)
from verulam.nonparametric._voting.votes import class_shares

#: Queries worked on together.
QUERY_ROWS = 64
#: Coordinates of offsets held at a time.
BLOCK_NUMBERS = 2**20

#: Values of sharpness to choose from.
SHARPNESSES = (0.0, 2.0, 5.0, 10.0, 20.0, 40.0)
#: Folds by which one is chosen, the rows asked in all of them, and rows below which none is asked.
N_FOLDS, HELD_OUT_ROWS, FEWEST_ROWS = 3, 450, 12

Locality = Literal["query", "row", "class", "all"]

_COMMON: dict[str, Any] = {
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "neighbourhood": [Interval(Integral, 2, None, closed="left"), None],
    "n_iterations": [Interval(Integral, 0, None, closed="left")],
    "locality": [StrOptions({"query", "row", "class", "all"})],
}


class AdaptiveNeighbours(Classifier):
    """Base: a learner that defines `_metrics_at`, the metric around each of some points."""

    n_neighbors: int
    neighbourhood: int | None
    n_iterations: int
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
            self._metrics_at(stored[start : start + QUERY_ROWS])
            for start in range(0, len(stored), QUERY_ROWS)
        ]
        own = np.concatenate(blocks)
        if self.locality == "row":
            return own
        groups = self.codes_ if self.locality == "class" else np.zeros_like(self.codes_)
        means = np.stack([own[groups == group].mean(axis=0) for group in range(groups.max() + 1)])
        return means[groups]

    def metrics(self, X: ArrayLike) -> np.ndarray:
        """Return the matrix that measures squared distances around each row.

        With a locality of "row" or "class" it is the one of the nearest training row.
        """
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        queries = inputs / self.spreads_
        if self._stored_metrics is None:
            found = self._metrics_at(queries)
        else:
            found = self._stored_metrics[self._nearest(queries, 1)[:, 0]]
        return found / np.outer(self.spreads_, self.spreads_)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the share of each class among the neighbours of each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        queries = inputs / self.spreads_
        shares = np.empty((len(queries), len(self.classes_)))

        def fill(start: int) -> None:
            some = slice(start, start + QUERY_ROWS)
            rows = self._nearest(queries[some], self.n_neighbors)
            shares[some] = class_shares(self.codes_[rows], None, len(self.classes_))

        thread_map(fill, range(0, len(queries), QUERY_ROWS))
        return shares

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of most neighbours."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _nearest(self, queries: np.ndarray, k: int) -> np.ndarray:
        """Return the rows nearest to each query by the metrics in force."""
        if self.n_iterations == 0:
            return self._index.query(queries, k).rows
        if self._stored_metrics is None:
            return self._search(queries, self._metrics_at(queries), k)[0]
        table = np.empty((len(queries), len(self.inputs_)))
        step = max(1, BLOCK_NUMBERS // max(1, queries.size))
        for start in range(0, len(self.inputs_), step):
            some = slice(start, start + step)
            table[:, some] = squared_distances(
                queries, self._index.stored[some], self._stored_metrics[some]
            )
        return nearest_columns(table, k).rows

    def _neighbourhood_size(self) -> int:
        n_rows = len(self.inputs_)
        wanted = max(n_rows // 5, 50) if self.neighbourhood is None else self.neighbourhood
        return min(wanted, n_rows)

    def _around(
        self, points: np.ndarray, metrics: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and distances of each point's neighbourhood, nearest first."""
        if metrics is None:
            found = self._index.query(points, self._neighbourhood_size())
            return found.rows, found.distances
        return self._search(points, metrics, self._neighbourhood_size())

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


class DiscriminantAdaptiveNeighbours(AdaptiveNeighbours):
    r"""Nearest neighbours in neighbourhoods stretched along the local class boundary.

    Parameters
    ----------
    n_neighbors
        Neighbours that vote.
    neighbourhood
        Rows around a point from which its metric is found; None for a fifth of the rows, at
        least 50, at most all.
    softening
        The share :math:`\epsilon` of a sphere that keeps neighbourhoods bounded. Large values
        lead back towards spheres in the local within-class metric.
    n_iterations
        How often the metric is found again in its own neighbourhood; 0 is plain k-nn.
    locality
        Where metrics are found: at each "query"; at each training "row", before any query comes;
        the mean of those in each "class"; or the mean of "all".

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
    With :math:`W` and :math:`B` the scatters within and between the classes around a point,
    weighted by a tricube window,

    .. math:: \Sigma = W^{-1/2} [W^{-1/2} B W^{-1/2} + \epsilon I] W^{-1/2}

    measures distances: directions in which class means differ count more. See Alpaydin 8.6,
    SIT1305 III [hastie1996]_; the localities are those of [ramanan2011]_.

    References
    ----------
    .. [hastie1996] T. Hastie, R. Tibshirani, "Discriminant adaptive nearest neighbor
       classification", IEEE Transactions on Pattern Analysis and Machine Intelligence 18, 1996.
    .. [ramanan2011] D. Ramanan, S. Baker, "Local distance functions: a taxonomy, new algorithms,
       and an evaluation", IEEE Transactions on Pattern Analysis and Machine Intelligence 33, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import DiscriminantAdaptiveNeighbours
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> classifier = DiscriminantAdaptiveNeighbours().fit(X, X[:, 0] > 0)
    >>> metric = classifier.metrics([[0.1, 0.0]])[0]
    >>> bool(metric[0, 0] > 5 * metric[1, 1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_COMMON,
        "softening": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        neighbourhood: int | None = None,
        softening: float = 1.0,
        n_iterations: int = 1,
        locality: Locality = "query",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.neighbourhood = neighbourhood
        self.softening = softening
        self.n_iterations = n_iterations
        self.locality = locality

    @classmethod
    def _example_learners(cls) -> list["DiscriminantAdaptiveNeighbours"]:
        return [cls(), cls(locality="class")]

    def _metrics_at(self, points: np.ndarray) -> np.ndarray:
        metrics = None
        for _ in range(self.n_iterations):
            rows, distances = self._around(points, metrics)
            metrics = scatter_metrics(
                self._index.stored[rows] - points[:, None],
                self.codes_[rows],
                tricube_weights(distances),
                len(self.classes_),
                self.softening,
            )
        if metrics is None:
            return np.tile(np.eye(points.shape[1]), (len(points), 1, 1))
        return metrics


class RelevanceAdaptiveNeighbours(AdaptiveNeighbours):
    r"""Nearest neighbours by distances in which columns count for what they tell around a point.

    Parameters
    ----------
    n_neighbors
        Neighbours that vote.
    neighbourhood
        Rows around a point over which columns are judged; None for a fifth of the rows, at least
        50, at most all.
    slice_share
        Share of a row's neighbourhood, nearest to it in one column, that says what this column
        alone tells.
    sharpness
        How much more a relevant column counts; 0 is plain k-nn. "folds" takes whichever of some
        values errs least on training rows left out: sharp weights help among columns of noise and
        harm where many columns tell a little.
    n_iterations
        How often columns are judged again in the neighbourhood that they lead to; 0 is plain k-nn.
    locality
        As in `DiscriminantAdaptiveNeighbours`.

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
    sharpness_ : float
        The sharpness in use.
    losses_ : ndarray of shape (n_samples, n_features)
        What each column misses of the classes at each training row.

    Notes
    -----
    .. math:: r_i(z) = \sum_j \frac{(P(j \mid z) - P(j \mid x_i = z_i))^2}{P(j \mid x_i = z_i)},
              \qquad w_i(x) \propto e^{c (\max_l \bar r_l(x) - \bar r_i(x))}

    where :math:`\bar r_i(x)` is the mean over the rows :math:`z` around :math:`x`, and distances
    are :math:`\sum_i w_i (x_i - x_i^t)^2`. Shares of classes at a training row, from all columns
    and along one, are found with the metric at first. See Alpaydin 8.6 [domeniconi2002]_.

    References
    ----------
    .. [domeniconi2002] C. Domeniconi, J. Peng, D. Gunopulos, "Locally adaptive metric
       nearest-neighbor classification", IEEE Transactions on Pattern Analysis and Machine
       Intelligence 24, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import RelevanceAdaptiveNeighbours
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> classifier = RelevanceAdaptiveNeighbours().fit(X, X[:, 0] > 0)
    >>> weights = np.diag(classifier.metrics([[0.1, 0.0, 0.0]])[0])
    >>> bool(weights[0] > 3 * weights[1:].max())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_COMMON,
        "slice_share": [Interval(Real, 0, 1, closed="right")],
        "sharpness": [Interval(Real, 0, None, closed="left"), StrOptions({"folds"})],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        neighbourhood: int | None = None,
        slice_share: float = 0.5,
        sharpness: float | Literal["folds"] = "folds",
        n_iterations: int = 1,
        locality: Locality = "query",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.neighbourhood = neighbourhood
        self.slice_share = slice_share
        self.sharpness = sharpness
        self.n_iterations = n_iterations
        self.locality = locality

    def _prepare(self) -> None:
        stored, size = self._index.stored, self._neighbourhood_size()
        slice_size = max(1, round(self.slice_share * size))
        self.losses_ = np.empty(stored.shape)

        def fill(start: int) -> None:
            some = slice(start, start + QUERY_ROWS)
            rows = self._index.query(stored[some], size).rows
            self.losses_[some] = column_losses(
                stored[rows] - stored[some, None],
                self.codes_[rows],
                len(self.classes_),
                min(max(self.n_neighbors, 2), size),
                slice_size,
            )

        thread_map(fill, range(0, len(stored), QUERY_ROWS))
        chosen = self._sharpness_by_folds() if self.sharpness == "folds" else self.sharpness
        self.sharpness_ = float(chosen)

    def _sharpness_by_folds(self) -> float:
        """Return the sharpness with the least error on rows left out; the least of several."""
        n_rows = len(self.inputs_)
        if n_rows < FEWEST_ROWS or self.n_neighbors > n_rows // 2:
            return SHARPNESSES[1]
        errors = np.zeros(len(SHARPNESSES))
        learner = clone(self).set_params(sharpness=0.0, locality="query")
        for training, held_out in KFold(N_FOLDS, shuffle=True, random_state=0).split(self.inputs_):
            fitted = clone(learner).fit(self.inputs_[training], self.codes_[training])
            asked = held_out[: HELD_OUT_ROWS // N_FOLDS]
            for place, sharpness in enumerate(SHARPNESSES):
                fitted.sharpness_ = sharpness
                errors[place] += (fitted.predict(self.inputs_[asked]) != self.codes_[asked]).sum()
        return SHARPNESSES[int(errors.argmin())]

    def _metrics_at(self, points: np.ndarray) -> np.ndarray:
        metrics = None
        for _ in range(self.n_iterations):
            rows = self._around(points, metrics)[0]
            metrics = relevance_metrics(self.losses_[rows].mean(axis=1), self.sharpness_)
        if metrics is None:
            return np.tile(np.eye(points.shape[1]), (len(points), 1, 1))
        return metrics
