"""Smoothers with a window: the kernel smoother, local polynomials, the k-nn smoother."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np

from verulam.base import Interval, StrOptions
from verulam.nonparametric._neighbours.brute_search import check_neighbour_count
from verulam.nonparametric._smoothing.base import Smoother
from verulam.nonparametric._smoothing.local_polynomial import (
    LocalEngine,
    fitted_bandwidth,
    local_engine,
)
from verulam.nonparametric._smoothing.neighbourhoods import Neighbourhood
from verulam.nonparametric._windows.functions import WINDOWS, Profile, Window, find_window

BandwidthChoice = float | Sequence[float] | np.ndarray | Literal["loo", "gcv"]
KernelChoice = str | Window | Profile
Empty = Literal["nearest", "nan"]

BANDWIDTH = [Interval(Real, 0, None, closed="neither"), "array-like", StrOptions({"loo", "gcv"})]
KERNEL = [StrOptions(set(WINDOWS)), callable]
EMPTY = [StrOptions({"nearest", "nan"})]


class FixedWidth:
    """Mixin: the neighbourhood has one width everywhere, given or chosen by the data."""

    bandwidth: BandwidthChoice
    bandwidth_: float | np.ndarray | None
    inputs_: np.ndarray
    targets_: np.ndarray

    def _hood(self) -> Neighbourhood:
        raise NotImplementedError

    def _prepare(self) -> None:
        self.bandwidth_ = fitted_bandwidth(
            self.bandwidth, self._hood(), self.inputs_, self.targets_
        )

    def _engine(self) -> LocalEngine:
        assert self.bandwidth_ is not None
        return local_engine(self._hood(), self.inputs_, self.targets_, self.bandwidth_)


class KernelSmoother(FixedWidth, Smoother):
    r"""Predict the mean of the training targets, weighted by closeness to the query.

    Parameters
    ----------
    bandwidth
        Width :math:`h` of the window, in units of the inputs; one number, or one for each input.
        "loo" takes the one with the least leave-one-out error, "gcv" with the least generalised
        cross-validation error.
    kernel
        Name of a window, or any function of the distance in bandwidths.
    empty
        What to say where no training point lies in the window: the mean of the "nearest" ones, or
        "nan".

    Attributes
    ----------
    inputs_ : ndarray of shape (n_samples, n_features)
        Training inputs :math:`x^t`.
    targets_ : ndarray of shape (n_samples,)
        Training targets :math:`r^t`.
    bandwidth_ : float or ndarray of shape (n_features,)
        The bandwidth in use.

    Notes
    -----
    .. math:: \hat g(x) = \frac{\sum_t K((x - x^t)/h)\, r^t}{\sum_t K((x - x^t)/h)}

    Weights are measured from the nearest point, so a query however far has an answer: that of its
    nearest points. Sums over one input with a Gaussian window use a power series, whose cost does
    not grow with the number of points in reach. See Alpaydin 8.8.2 (8.26) and exercise 10.

    Examples
    --------
    Halfway between two points the prediction is their average:

    >>> from verulam.nonparametric import KernelSmoother
    >>> smoother = KernelSmoother(bandwidth=0.5).fit([[0.0], [1.0]], [0.0, 2.0])
    >>> smoother.predict([[0.0], [0.5]])
    array([0.238..., 1. ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bandwidth": BANDWIDTH,
        "kernel": KERNEL,
        "empty": EMPTY,
    }

    def __init__(
        self,
        *,
        bandwidth: BandwidthChoice = "loo",
        kernel: KernelChoice = "gaussian",
        empty: Empty = "nearest",
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.empty = empty

    def _hood(self) -> Neighbourhood:
        return Neighbourhood(find_window(self.kernel))


class LocalPolynomial(FixedWidth, Smoother):
    r"""Fit a polynomial around each query, with weights by closeness, and predict its value there.

    Parameters
    ----------
    bandwidth
        Width :math:`h` of the window, as in `KernelSmoother`.
    degree
        Highest total degree of a term, products of different inputs included. Degree 0 is the
        kernel smoother.
    kernel, empty
        As in `KernelSmoother`.

    Attributes
    ----------
    inputs_, targets_, bandwidth_
        As in `KernelSmoother`.

    Notes
    -----
    .. math:: \min_w \sum_t K\left(\frac{x - x^t}{h}\right) [r^t - p_w(x^t - x)]^2,
              \qquad \hat g(x) = p_w(0)

    Where the points in the window do not spread along a term, that term is left out: a lone point
    gives its own target. With a tophat window and degree 1 it is the running line, with tricube
    weights it is loess with a fixed width. See Alpaydin 8.8.3 and exercises 8, 10 and 11.

    Examples
    --------
    A local line follows a straight line up to its ends:

    >>> import numpy as np
    >>> from verulam.nonparametric import LocalPolynomial
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> LocalPolynomial(bandwidth=0.2).fit(X, 3 * X[:, 0]).predict([[0.0], [1.0]]).round(6) + 0.0
    array([0., 3.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bandwidth": BANDWIDTH,
        "degree": [Interval(Integral, 0, None, closed="left")],
        "kernel": KERNEL,
        "empty": EMPTY,
    }

    def __init__(
        self,
        *,
        bandwidth: BandwidthChoice = "loo",
        degree: int = 1,
        kernel: KernelChoice = "gaussian",
        empty: Empty = "nearest",
    ) -> None:
        self.bandwidth = bandwidth
        self.degree = degree
        self.kernel = kernel
        self.empty = empty

    def _hood(self) -> Neighbourhood:
        return Neighbourhood(find_window(self.kernel), degree=self.degree)


class NeighbourSmoother(Smoother):
    r"""Predict the mean target of the k nearest training points, alike or weighted by closeness.

    Parameters
    ----------
    n_neighbors
        Number of neighbours k.
    kernel
        "tophat" weighs all k alike; any other window has the distance :math:`d_k(x)` of the
        farthest as its width.

    Attributes
    ----------
    inputs_, targets_
        As in `KernelSmoother`.

    Notes
    -----
    .. math:: \hat g(x) = \frac{\sum_t K((x - x^t)/d_k(x))\, r^t}{\sum_t K((x - x^t)/d_k(x))}

    The neighbourhood is wide where data is thin. Where :math:`d_k(x) = 0`, because an input is
    repeated k times, its mean target is the answer. Leave-one-out values count k other points.
    See Alpaydin 8.8.2.

    Examples
    --------
    >>> from verulam.nonparametric import NeighbourSmoother
    >>> smoother = NeighbourSmoother(n_neighbors=2).fit([[0.0], [1.0], [3.0]], [1.0, 3.0, 8.0])
    >>> smoother.predict([[0.4], [2.5]])
    array([2. , 5.5])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "kernel": KERNEL,
    }

    def __init__(self, *, n_neighbors: int = 5, kernel: KernelChoice = "tophat") -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel

    def _prepare(self) -> None:
        check_neighbour_count(self.n_neighbors, len(self.inputs_))

    def _engine(self) -> LocalEngine:
        hood = Neighbourhood(find_window(self.kernel), n_neighbors=self.n_neighbors)
        return LocalEngine(hood, self.inputs_, self.targets_)
