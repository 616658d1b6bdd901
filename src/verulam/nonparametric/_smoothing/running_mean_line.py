"""Running smoothers: mean and line of what lies in a window around the query."""

from numbers import Integral
from typing import Any, ClassVar

from verulam.base import DataError, Interval, StrOptions
from verulam.nonparametric._neighbours.brute_search import check_neighbour_count
from verulam.nonparametric._smoothing.base import Smoother
from verulam.nonparametric._smoothing.kernel_smoother import (
    BANDWIDTH,
    EMPTY,
    BandwidthChoice,
    Empty,
    FixedWidth,
)
from verulam.nonparametric._smoothing.local_polynomial import LocalEngine
from verulam.nonparametric._smoothing.neighbourhoods import Neighbourhood, Side
from verulam.nonparametric._windows.functions import WINDOWS

SIDE = [StrOptions({"both", "past"})]


def check_side(side: str, n_columns: int) -> None:
    """Raise unless there is a past to look at."""
    if side == "past" and n_columns != 1:
        raise DataError(f"side='past' is for one input, the time, but X has {n_columns} columns.")


class RunningMean(FixedWidth, Smoother):
    r"""Predict the mean target of the training points within a distance of the query.

    Parameters
    ----------
    bandwidth
        Half-width :math:`h` of the window, given or chosen as in `KernelSmoother`.
    side
        "past" uses only points up to the query, as in the forecast of a time series.
    empty
        As in `KernelSmoother`.

    Attributes
    ----------
    inputs_, targets_, bandwidth_
        As in `KernelSmoother`.

    Notes
    -----
    .. math:: \hat g(x) = \frac{\sum_t w((x - x^t)/h)\, r^t}{\sum_t w((x - x^t)/h)},
              \qquad w(u) = 1 \text{ if } |u| < 1, \text{ else } 0

    Here :math:`h` reaches to each side, while it is the whole width of a naive density's bin. See
    Alpaydin 8.8.1 (8.25).

    Examples
    --------
    >>> from verulam.nonparametric import RunningMean
    >>> smoother = RunningMean(bandwidth=1.5).fit([[1], [2], [3], [4]], [1.0, 5.0, 3.0, 7.0])
    >>> smoother.predict([[2], [3.5]])
    array([3., 5.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bandwidth": BANDWIDTH,
        "side": SIDE,
        "empty": EMPTY,
    }

    def __init__(
        self,
        *,
        bandwidth: BandwidthChoice = "loo",
        side: Side = "both",
        empty: Empty = "nearest",
    ) -> None:
        self.bandwidth = bandwidth
        self.side = side
        self.empty = empty

    def _hood(self) -> Neighbourhood:
        return Neighbourhood(WINDOWS["tophat"], side=self.side)

    def _prepare(self) -> None:
        check_side(self.side, self.n_features_in_)
        super()._prepare()


class RunningLine(FixedWidth, Smoother):
    r"""Fit a straight line to the training points around the query, all weighted alike.

    Parameters
    ----------
    bandwidth
        Half-width of the window, as in `RunningMean`.
    n_neighbors
        If given, the window reaches to the neighbour of this rank instead.
    empty
        As in `KernelSmoother`.

    Attributes
    ----------
    inputs_, targets_
        As in `KernelSmoother`.
    bandwidth_ : float, ndarray of shape (n_features,) or None
        The half-width in use; None with `n_neighbors`.

    Notes
    -----
    .. math:: \min_{a, b} \sum_t w\left(\frac{x - x^t}{h}\right) [r^t - (a x^t + b)]^2,
              \qquad \hat g(x) = a x + b

    Straight lines are reproduced exactly. See Alpaydin 8.8.3 and exercise 8.

    Examples
    --------
    >>> from verulam.nonparametric import RunningLine
    >>> X = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]]
    >>> line = RunningLine(n_neighbors=3).fit(X, [0.0, 1.0, 2.0, 9.0, 8.0, 7.0])
    >>> line.predict([[0.5], [6.5]])
    array([0.5, 7.5])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bandwidth": BANDWIDTH,
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "empty": EMPTY,
    }

    def __init__(
        self,
        *,
        bandwidth: BandwidthChoice = "loo",
        n_neighbors: int | None = None,
        empty: Empty = "nearest",
    ) -> None:
        self.bandwidth = bandwidth
        self.n_neighbors = n_neighbors
        self.empty = empty

    @classmethod
    def _example_learners(cls) -> list["RunningLine"]:
        return [cls(bandwidth=1.0), cls(n_neighbors=6)]

    def _hood(self) -> Neighbourhood:
        return Neighbourhood(WINDOWS["tophat"], degree=1, n_neighbors=self.n_neighbors)

    def _prepare(self) -> None:
        if self.n_neighbors is None:
            super()._prepare()
        else:
            check_neighbour_count(self.n_neighbors, len(self.inputs_))
            self.bandwidth_ = None

    def _engine(self) -> LocalEngine:
        if self.bandwidth_ is None:
            return LocalEngine(self._hood(), self.inputs_, self.targets_)
        return super()._engine()
