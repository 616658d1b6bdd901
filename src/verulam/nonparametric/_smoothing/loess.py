"""Loess: locally weighted regression over the nearest share of the data, robust if asked."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from verulam.base import Interval
from verulam.nonparametric._smoothing.base import Smoother
from verulam.nonparametric._smoothing.local_polynomial import LocalEngine
from verulam.nonparametric._smoothing.neighbourhoods import Neighbourhood, count_terms
from verulam.nonparametric._windows.functions import WINDOWS

#: Residuals below this share of the largest target are nothing but rounding.
NIL_SHARE = 1e-12


class Loess(Smoother):
    r"""Fit a line or parabola around each query to the nearest share of the data.

    Parameters
    ----------
    span
        Share of the training points that make up the neighbourhood.
    degree
        Degree of the local polynomial: 0, 1 or 2.
    n_iter
        Number of times that points far from the curve are given less weight and the curve is
        fitted again; 0 for plain least squares.

    Attributes
    ----------
    inputs_, targets_
        As in `KernelSmoother`.
    n_neighbors_ : int
        Number of points in a neighbourhood.
    robustness_ : ndarray of shape (n_samples,)
        Weight of each training point after the last iteration; 0 for outliers.

    Notes
    -----
    .. math:: \min_{a, b} \sum_t \delta_t\, K\left(\frac{x - x^t}{d_q(x)}\right)
              [r^t - (a x^t + b)]^2

    with tricube weights :math:`K`, the distance :math:`d_q(x)` of the farthest point of the
    neighbourhood as width, and robustness :math:`\delta_t = (1 - (e_t/6m)^2)^2` from the residuals
    :math:`e_t` and the median :math:`m` of their absolute values [cleveland1979]_. Several inputs
    should be in comparable units. Beyond the data, the polynomial of the nearest points continues.
    See Alpaydin 8.8.3 and exercise 8.

    References
    ----------
    .. [cleveland1979] W. S. Cleveland, "Robust locally weighted regression and smoothing
       scatterplots", Journal of the American Statistical Association 74, 1979.

    Examples
    --------
    One bad target hardly moves a robust curve:

    >>> import numpy as np
    >>> from verulam.nonparametric import Loess
    >>> X = np.arange(20.0)[:, None]
    >>> y = 2 * X[:, 0] + np.tile([-0.1, 0.1], 10)
    >>> y[10] = 100.0
    >>> Loess(n_iter=0).fit(X, y).predict([[10.0]]).round(1)
    array([31.5])
    >>> Loess().fit(X, y).predict([[10.0]]).round(1)
    array([20.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "span": [Interval(Real, 0, 1, closed="right")],
        "degree": [Interval(Integral, 0, 2, closed="both")],
        "n_iter": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(self, *, span: float = 2.0 / 3.0, degree: int = 1, n_iter: int = 3) -> None:
        self.span = span
        self.degree = degree
        self.n_iter = n_iter

    def _prepare(self) -> None:
        count, n_columns = self.inputs_.shape
        # A span of 0.3 of 10 points is 3 points, whatever the rounding of their product.
        size = max(int(self.span * count + 1e-10), count_terms(n_columns, self.degree))
        self.n_neighbors_ = min(size, count)
        self.robustness_ = np.ones(count)
        largest = float(np.abs(self.targets_).max())
        for _ in range(self.n_iter):
            fitted = self._engine().values(self.inputs_).values
            self.robustness_ = robustness_weights(self.targets_ - fitted, largest)

    def _engine(self) -> LocalEngine:
        hood = Neighbourhood(WINDOWS["tricube"], degree=self.degree, n_neighbors=self.n_neighbors_)
        prior = self.robustness_ if self.n_iter else None
        return LocalEngine(hood, self.inputs_, self.targets_, prior)

    def _mean_square(self, residuals: np.ndarray) -> float:
        if self.n_iter == 0:
            return super()._mean_square(residuals)
        return robust_mean_square(residuals, self.robustness_)


def robust_mean_square(residuals: np.ndarray, robustness: np.ndarray) -> float:
    r"""Return what a mean squared residual would be if outliers were as the other points.

    With :math:`\psi(e) = \delta e`, the variance of a robust mean is
    :math:`\sum \psi^2 / (\sum \psi')^2`; this is the factor of :math:`\sum \delta^2 / (\sum
    \delta)^2`, the sum of its squared weights.

    Examples
    --------
    >>> import numpy as np
    >>> residuals = np.append(np.random.default_rng(0).normal(size=2000), np.full(100, 50.0))
    >>> round(robust_mean_square(residuals, robustness_weights(residuals)), 1)
    1.1
    """
    # The bisquare is (1 - u^2)^2 of u, so that its influence has slope (1 - u^2)(1 - 5 u^2).
    root = np.sqrt(robustness)
    slope = float(np.where(robustness > 0, root * (5.0 * root - 4.0), 0.0).mean())
    total = float(np.square(robustness).sum())
    if slope <= 0.0 or total == 0.0:
        return float(np.square(residuals).mean())
    spread = float(np.square(robustness * residuals).sum()) / total
    return spread * (float(robustness.mean()) / slope) ** 2


def robustness_weights(residuals: np.ndarray, size: float = 0.0) -> np.ndarray:
    """Return bisquare weights of the residuals in units of six times their median size.

    Where more than half of the points lie on the curve, all others are outliers.

    Parameters
    ----------
    residuals
        Targets less the curve.
    size
        How large the targets are: residuals that are rounding beside it are nil.

    Examples
    --------
    >>> import numpy as np
    >>> robustness_weights(np.array([1.0, -1.0, 3.0, 9.0])).round(3)
    array([0.986, 0.986, 0.879, 0.191])
    """
    sizes = np.abs(residuals)
    middle = float(np.median(sizes))
    nil = NIL_SHARE * size
    if middle <= nil:
        return (sizes <= nil).astype(np.float64)
    return np.square(np.maximum(0.0, 1.0 - np.square(sizes / (6.0 * middle))))
