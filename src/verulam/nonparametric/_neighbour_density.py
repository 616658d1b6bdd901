"""Density from the distance to the k-th nearest stored point."""

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
    checked_fit,
    validate_data,
)
from verulam.nonparametric._neighbours import NeighbourIndex, check_neighbour_count
from verulam.nonparametric._window_sums import StoredPoints, log_window_sums, store_points
from verulam.nonparametric._windows import Profile, Window, find_window, log_ball_volume


class NearestNeighbourDensity(Density):
    r"""Estimate a density by how far the `n_neighbors` nearest stored points reach.

    Parameters
    ----------
    n_neighbors
        Number of neighbours :math:`k`; the square root of the number of rows is a start.
    window
        None counts the neighbours; a window (see `KernelDensity`) weights all points, with the
        distance :math:`d_k(x)` as its bandwidth.
    metric
        "euclidean"; without a window also "city-block", "chebyshev" or "minkowski", whose balls
        have volumes of their own.
    power
        The order of "minkowski".

    Attributes
    ----------
    inputs_ : ndarray of shape (n_samples, n_features)
        The stored points.

    Notes
    -----
    .. math:: \hat p(x) = \frac{k}{N c_d\, d_k(x)^d}, \qquad
              \hat p(x) = \frac{1}{N d_k(x)^d} \sum_t K\left(\frac{x - x^t}{d_k(x)}\right)

    with :math:`c_d` the volume of the unit ball, :math:`(2 \Gamma(1 + 1/p))^d / \Gamma(1 + d/p)`
    for Minkowski's distance of order :math:`p`: :math:`k / 2 N d_k(x)` in one dimension. The
    first diverges where `n_neighbors` stored points coincide, and its integral always does: it
    is no density in the strict sense, and likelihood cannot choose :math:`k`. See Alpaydin 8.2.3
    (8.8)-(8.9), Bartkowiak 4.4; the estimate is continuous with kinks, other than printed there.

    Examples
    --------
    >>> from verulam.nonparametric import NearestNeighbourDensity
    >>> density = NearestNeighbourDensity(n_neighbors=2).fit([[0.0], [1.0], [3.0], [6.0]])
    >>> np.exp(density.score_samples([[2.0]]))
    array([0.25])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "window": [str, callable, Window, None],
        "metric": [StrOptions({"euclidean", "city-block", "chebyshev", "minkowski"})],
        "power": [Interval(Real, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        window: str | Window | Profile | None = None,
        metric: str = "euclidean",
        power: float = 2.0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.window = window
        self.metric = metric
        self.power = power

    @classmethod
    def _example_learners(cls) -> list["NearestNeighbourDensity"]:
        return [cls(), cls(window="gaussian"), cls(metric="city-block")]

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Store the points."""
        self.inputs_ = validate_data(self, X, dtype=np.float64, order="C").copy()
        check_neighbour_count(self.n_neighbors, len(self.inputs_))
        if self.window is not None and self.metric != "euclidean":
            raise DataError("A window needs metric='euclidean'; leave window out, or metric.")
        self._index = NeighbourIndex(self.inputs_, self.metric, self.power)
        self._stored: StoredPoints | None = None
        if self.window is not None:
            self._stored = store_points(self.inputs_)
        return self

    def reaches(self, X: ArrayLike) -> np.ndarray:
        """Return the distance to the k-th nearest stored point of each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return self._index.query(inputs, self.n_neighbors).distances[:, -1]

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density at each row: infinite where `n_neighbors` points coincide."""
        reaches = self.reaches(X)
        n_rows, n_columns = self.inputs_.shape
        with np.errstate(divide="ignore"):
            volumes = n_columns * np.log(reaches)
        if self._stored is None or self.window is None:
            order = self._index.order or 2.0
            shares = np.log(self.n_neighbors / n_rows) - log_ball_volume(n_columns, order)
            return shares - volumes
        result = np.full(len(reaches), np.inf)
        apart = reaches > 0
        inputs = np.asarray(X, dtype=np.float64)[apart]
        window = find_window(self.window)
        sums = log_window_sums(inputs, self._stored, window, reaches[apart] ** -2.0)
        result[apart] = sums - volumes[apart] - window.log_norm(n_columns)
        return result
