"""Nearest-neighbour density: from the distance to the k-th nearest stored point."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    DataError,
    Density,
    Interval,
    StrOptions,
    check_is_fitted,
    check_weights,
    checked_fit,
    validate_data,
)
from verulam.nonparametric._neighbours.brute_search import check_neighbour_count
from verulam.nonparametric._neighbours.index import NeighbourIndex
from verulam.nonparametric._tuning import NUMBERS_AT_ONCE
from verulam.nonparametric._windows.functions import Profile, Window, find_window, log_ball_volume
from verulam.nonparametric._windows.window_sums import StoredPoints, log_window_sums, store_points


class NearestNeighbourDensity(Density):
    r"""Estimate a density by how far the `n_neighbors` nearest stored points reach.

    Parameters
    ----------
    n_neighbors
        Number of neighbours :math:`k`; the square root of the number of rows is a start.
    kernel
        None counts the neighbours; a kernel (see `KernelDensity`) weights all points, with the
        distance :math:`d_k(x)` as its bandwidth.
    metric
        "euclidean"; without a kernel also "manhattan", "chebyshev" or "minkowski", whose balls
        have volumes of their own.
    p
        The order of "minkowski".

    Attributes
    ----------
    inputs_ : ndarray of shape (n_samples, n_features)
        The stored points: rows whose weight is above 0.
    weights_ : ndarray of shape (n_samples,)
        How often each point counts.

    Notes
    -----
    .. math:: \hat p(x) = \frac{k}{N c_d\, d_k(x)^d}, \qquad
              \hat p(x) = \frac{1}{N d_k(x)^d} \sum_t K\left(\frac{x - x^t}{d_k(x)}\right)

    with :math:`c_d` the volume of the unit ball, :math:`(2 \Gamma(1 + 1/p))^d / \Gamma(1 + d/p)`
    for Minkowski's distance of order :math:`p`: :math:`k / 2 N d_k(x)` in one dimension. With
    weights, :math:`N` is their sum and :math:`d_k(x)` the smallest radius within which they reach
    :math:`k`: a weight of 2 is a row given twice. The
    first diverges where `n_neighbors` stored points coincide, and its integral always does: it
    is no density in the strict sense, and likelihood cannot choose :math:`k`. See Alpaydin 8.2.3
    (8.8)-(8.9), Bartkowiak 4.4; the estimate is continuous with kinks, other than printed there.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import NearestNeighbourDensity
    >>> density = NearestNeighbourDensity(n_neighbors=2).fit([[0.0], [1.0], [3.0], [6.0]])
    >>> np.exp(density.score_samples([[2.0]]))
    array([0.25])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "kernel": [str, callable, Window, None],
        "metric": [StrOptions({"euclidean", "manhattan", "chebyshev", "minkowski"})],
        "p": [Interval(Real, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        kernel: str | Window | Profile | None = None,
        metric: str = "euclidean",
        p: float = 2.0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.metric = metric
        self.p = p

    @classmethod
    def _example_learners(cls) -> list["NearestNeighbourDensity"]:
        return [cls(), cls(kernel="gaussian"), cls(metric="manhattan")]

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Store the points; `sample_weight` says how often each counts."""
        inputs = validate_data(self, X, dtype=np.float64, order="C")
        weights = check_weights(sample_weight, inputs)
        if weights is None:
            check_neighbour_count(self.n_neighbors, len(inputs))
            weights = np.ones(len(inputs))
        elif not weights.any():
            raise DataError("sample_weight: all weights are zero; at least one must be above.")
        elif weights.sum() < self._needed_weight:
            raise DataError(
                f"n_neighbors = {self.n_neighbors} is more than all weights together, "
                f"{weights.sum():.6g}. sample_weight says how often each row counts."
            )
        self.inputs_, self.weights_ = inputs[weights > 0], weights[weights > 0]
        if self.kernel is not None and self.metric != "euclidean":
            raise DataError("A kernel needs metric='euclidean'; leave kernel out, or metric.")
        self._index = NeighbourIndex(self.inputs_, self.metric, self.p)
        self._stored: StoredPoints | None = None
        if self.kernel is not None:
            self._stored = store_points(self.inputs_, self.weights_ / self.weights_.sum())
        return self

    @property
    def _needed_weight(self) -> float:
        """What the weights of the neighbours must add up to, up to rounding."""
        return self.n_neighbors * (1.0 - 1e-12)

    def reaches(self, X: ArrayLike) -> np.ndarray:
        """Return the distance of each row within which weights of `n_neighbors` are stored."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        if (self.weights_ == 1.0).all():
            return self._index.query(inputs, self.n_neighbors).distances[:, -1]
        mean = self.weights_.mean()
        count = int(np.clip(np.ceil(self.n_neighbors / mean), 1, len(self.inputs_)))
        reaches = np.empty(len(inputs))
        open_rows = np.arange(len(inputs))
        # Light rows take more neighbours than the mean weight suggests: twice as many each time,
        # for the queries whose neighbours do not add up yet.
        while len(open_rows):
            still_open = []
            for rows in blocks_of(open_rows, count):
                nearest = self._index.query(inputs[rows], count)
                reached = np.cumsum(self.weights_[nearest.rows], axis=1) >= self._needed_weight
                # All rows together reach it, whatever the order in which they are summed.
                reached[:, -1] |= count == len(self.inputs_)
                ends = np.argmax(reached, axis=1)
                reaches[rows] = nearest.distances[np.arange(len(rows)), ends]
                still_open.append(rows[~reached[:, -1]])
            open_rows = np.concatenate(still_open)
            count = min(2 * count, len(self.inputs_))
        return reaches

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density at each row: infinite where `n_neighbors` points coincide."""
        reaches = self.reaches(X)
        n_columns = self.inputs_.shape[1]
        with np.errstate(divide="ignore"):
            volumes = n_columns * np.log(reaches)
        if self._stored is None or self.kernel is None:
            order = self._index.order or 2.0
            share = np.log(self.n_neighbors / self.weights_.sum())
            return share - log_ball_volume(n_columns, order) - volumes
        result = np.full(len(reaches), np.inf)
        apart = reaches > 0
        inputs = np.asarray(X, dtype=np.float64)[apart]
        window = find_window(self.kernel)
        sums = log_window_sums(inputs, self._stored, window, reaches[apart] ** -2.0)
        result[apart] = sums - volumes[apart] - window.log_norm(n_columns)
        return result


def blocks_of(rows: np.ndarray, width: int) -> list[np.ndarray]:
    """Return the rows in runs, of which so many numbers each are few enough to hold."""
    step = max(1, NUMBERS_AT_ONCE // width)
    return [rows[start : start + step] for start in range(0, len(rows), step)]
