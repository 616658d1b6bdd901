"""Bandwidth selection: rules of thumb, plug-in and held-out likelihood."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import dct
from scipy.optimize import brentq

from verulam.base import DataError
from verulam.nonparametric._neighbours.inputs import checked_column, checked_counts, checked_rows
from verulam.nonparametric._windows.functions import WINDOWS, Profile, Window, find_window
from verulam.nonparametric._windows.window_sums import log_window_sums, store_points

#: Points of the grid on which the plug-in estimate sees the data.
GRID_POINTS = 2**12


@dataclass(frozen=True)
class BandwidthCurve:
    """Held-out likelihood against bandwidth.

    Attributes
    ----------
    bandwidths : ndarray
        Those tried, in increasing order.
    log_likelihoods : ndarray
        Sum over the rows of each one's log-density under all the others.
    """

    bandwidths: np.ndarray
    log_likelihoods: np.ndarray

    @property
    def best(self) -> float:
        """The bandwidth with the largest likelihood; the widest where none gives any."""
        if np.isneginf(self.log_likelihoods).all():
            return float(self.bandwidths[-1])
        return float(self.bandwidths[np.argmax(self.log_likelihoods)])


def find_bandwidth(
    bandwidth: float | str,
    points: np.ndarray,
    counts: np.ndarray,
    window: Window,
    share: float = 1.0,
) -> float:
    """Return the width, in units of the points, that a number or the name of a rule stands for.

    Parameters
    ----------
    bandwidth
        The number, or the name.
    points
        Stored rows.
    counts
        How often each counts.
    window
        The window.
    share
        Of the rows, that a rule of thumb is to count.
    """
    if not isinstance(bandwidth, str):
        return float(bandwidth)
    n_columns = points.shape[1]
    if bandwidth == "likelihood":
        return select_bandwidth(points, kernel=window, sample_weight=counts).best
    ratio = window_ratio(window, n_columns)
    if bandwidth == "plug_in":
        if n_columns != 1:
            raise DataError(
                f"bandwidth='plug_in' needs one column; X has {n_columns}. Use 'likelihood'."
            )
        return plug_in_bandwidth(points[:, 0], counts) * ratio
    factor = {"scott": scott_factor, "silverman": silverman_factor}[bandwidth]
    centred = points - np.average(points, axis=0, weights=counts)
    freedom = max(counts.sum() - 1.0, 1.0)
    spread = float(np.sqrt((counts @ centred**2 / freedom).mean()))
    if spread == 0.0:
        raise DataError(
            f"bandwidth={bandwidth!r} follows the spread of the data, and all rows are the same "
            f"(n_samples = {len(points)}). Give a number."
        )
    return factor(share * counts.sum(), n_columns) * spread * ratio


def scott_factor(n_rows: float, n_columns: int) -> float:
    r"""Return :math:`N^{-1/(d+4)}`, to be multiplied by standard deviations."""
    return n_rows ** (-1.0 / (n_columns + 4.0))


def silverman_factor(n_rows: float, n_columns: int) -> float:
    r"""Return :math:`(N (d + 2) / 4)^{-1/(d+4)}`, the best for a Gaussian density."""
    return (n_rows * (n_columns + 2.0) / 4.0) ** (-1.0 / (n_columns + 4.0))


def window_ratio(window: Window, n_columns: int) -> float:
    r"""Return how much wider than a Gaussian a window must be to smooth as much.

    The ratio of :math:`(R / \sigma^4)^{1/(d+4)}`, where :math:`R` is the roughness and
    :math:`\sigma^2` the variance of a window.
    """

    def canonical(shape: Window) -> float:
        spread = shape.roughness(n_columns) / shape.variance(n_columns) ** 2
        return spread ** (1.0 / (n_columns + 4.0))

    return canonical(window) / canonical(WINDOWS["gaussian"])


def plug_in_bandwidth(values: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return the bandwidth of a Gaussian window that suits one column, however many modes it has.

    Parameters
    ----------
    values
        The column.
    weights
        How often each value counts; once by default.

    Notes
    -----
    The curvature that the best bandwidth depends on is itself estimated, in stages, each with
    the bandwidth that suits it [botev2010]_; no Gaussian is assumed.

    References
    ----------
    .. [botev2010] Z. I. Botev, J. F. Grotowski, D. P. Kroese, "Kernel density estimation via
       diffusion", Annals of Statistics 38, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> modes = np.concatenate([rng.normal(-5, 1, 500), rng.normal(5, 1, 500)])
    >>> round(plug_in_bandwidth(modes), 2), round((4 / 3000) ** 0.2 * float(modes.std()), 2)
    (0.32, 1.35)
    """
    column = checked_column(values)
    counts = checked_counts(weights, len(column))
    column, counts = column[counts > 0], counts[counts > 0]
    span = float(np.ptp(column))
    if span == 0.0:
        raise DataError("bandwidth='plug_in' needs values that differ; all are the same.")
    # Cosines reflect what diffuses beyond the ends: these lie away from the data.
    low = column.min() - 0.1 * span
    width = 1.2 * span
    places = np.minimum(((column - low) / width * GRID_POINTS).astype(np.intp), GRID_POINTS - 1)
    shares = np.bincount(places, counts, GRID_POINTS) / counts.sum()
    # On a grid, diffusion multiplies each cosine coefficient of the counts by a decaying factor.
    squares = np.square(0.5 * dct(shares)[1:])
    steps = np.square(np.arange(1.0, GRID_POINTS))
    n_values = min(float(counts.sum()), float(len(np.unique(column))))

    def gap(time: float) -> float:
        return time - _diffusion_time(time, n_values, steps, squares)

    grid = np.geomspace(1e-9, 0.1, 60)
    gaps = np.array([gap(time) for time in grid])
    crossing = np.flatnonzero((gaps[:-1] < 0) & (gaps[1:] >= 0))
    if not len(crossing):
        centred = column - np.average(column, weights=counts)
        deviation = float(np.sqrt(np.average(centred**2, weights=counts)))
        return silverman_factor(n_values, 1) * deviation
    time = brentq(gap, grid[crossing[0]], grid[crossing[0] + 1])
    return float(np.sqrt(time)) * width


def _diffusion_time(time: float, n_values: float, steps: np.ndarray, squares: np.ndarray) -> float:
    """Return the squared bandwidth, on the unit interval, that a squared bandwidth leads to."""
    estimate = time
    # From the seventh derivative down to the second, each with the bandwidth that the roughness
    # of the one above suggests.
    for stage in range(7, 1, -1):
        if stage == 7:
            roughness = _roughness(stage, estimate, steps, squares)
            continue
        odd = np.prod(np.arange(1.0, 2 * stage, 2)) / np.sqrt(2.0 * np.pi)
        constant = (1.0 + 0.5 ** (stage + 0.5)) / 3.0
        estimate = (2.0 * constant * odd / (n_values * roughness)) ** (2.0 / (3.0 + 2.0 * stage))
        roughness = _roughness(stage, estimate, steps, squares)
    return (2.0 * n_values * np.sqrt(np.pi) * roughness) ** -0.4


def _roughness(stage: int, time: float, steps: np.ndarray, squares: np.ndarray) -> float:
    """Return the integral of the squared derivative of order `stage` after diffusion."""
    terms = steps**stage * squares * np.exp(-steps * np.pi**2 * time)
    return max(float(2.0 * np.pi ** (2 * stage) * terms.sum()), 1e-300)


def select_bandwidth(
    X: ArrayLike,
    bandwidths: Sequence[float] | np.ndarray | None = None,
    *,
    kernel: str | Window | Profile = "gaussian",
    sample_weight: ArrayLike | None = None,
) -> BandwidthCurve:
    r"""Return the likelihood of each row under the window density of all the others.

    Parameters
    ----------
    X
        One row per point, in the units in which bandwidths are measured.
    bandwidths
        Those to try; by default a range around the rule of Scott.
    kernel
        Name of a window, or a function of the distance.
    sample_weight
        How often each row counts; once by default.

    Notes
    -----
    Fewer than two distinct points near a row make its likelihood zero, so narrow windows of
    finite radius are refused by the data themselves. See Alpaydin 8.9.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 1))
    >>> round(select_bandwidth(X).best, 2)
    0.3
    """
    points = checked_rows(X)
    shape = find_window(kernel)
    weights = checked_counts(sample_weight, len(points), "sample_weight")
    if bandwidths is None:
        bandwidths = _bandwidths_to_try(points, weights, shape)
    tried = np.sort(np.asarray(bandwidths, dtype=np.float64))
    if not len(tried):
        raise DataError("bandwidths is empty; give at least one to try.")
    if not tried[0] > 0:
        raise DataError(f"bandwidths must be positive; the least is {tried[0]:.6g}.")
    total = weights.sum()
    if total <= 1.0:
        raise DataError("bandwidth='likelihood' needs more than one row: n_samples = 1.")
    likelihoods = np.empty(len(tried))
    for place, bandwidth in enumerate(tried):
        scaled = points / bandwidth
        sums = np.exp(log_window_sums(scaled, store_points(scaled, weights), shape))
        # A row's own window has height 1; rounding may leave less than nothing.
        others = np.maximum(sums - 1.0, 0.0)
        with np.errstate(divide="ignore"):
            logs = np.log(np.where(others < 1e-13 * sums, 0.0, others) / (total - 1.0))
        constant = shape.log_norm(points.shape[1]) + points.shape[1] * np.log(bandwidth)
        likelihoods[place] = weights[weights > 0] @ (logs - constant)[weights > 0]
    return BandwidthCurve(tried, likelihoods)


def _bandwidths_to_try(points: np.ndarray, weights: np.ndarray, window: Window) -> np.ndarray:
    n_columns = points.shape[1]
    centred = points - np.average(points, axis=0, weights=weights)
    spread = float(np.sqrt(np.average(centred**2, axis=0, weights=weights).mean()))
    if spread == 0.0:
        raise DataError("bandwidth='likelihood' needs points that differ; all are the same.")
    middle = spread * scott_factor(weights.sum(), n_columns) * window_ratio(window, n_columns)
    return middle * np.geomspace(0.1, 4.0, 31)
