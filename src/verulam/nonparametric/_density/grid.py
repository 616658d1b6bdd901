"""Binned kernel density on a grid: counts in narrow bins, then one fast Fourier convolution."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft, next_fast_len, rfft

from verulam.base import DataError
from verulam.nonparametric._density.bandwidths import silverman_factor, window_ratio
from verulam.nonparametric._neighbours.inputs import check_at_least, checked_column, checked_counts
from verulam.nonparametric._windows.bounded_support import Image
from verulam.nonparametric._windows.functions import GAUSSIAN, Profile, Window, find_window
from verulam.numerics import njit

#: Bins within one bandwidth: sharing a point between two bins widens windows by less than 1e-4.
BINS_PER_BANDWIDTH = 32
#: Most bins ever used.
MOST_BINS = 2**22


@dataclass(frozen=True)
class GridDensity:
    """A density at equally spaced points.

    Attributes
    ----------
    points : ndarray
        Where.
    density : ndarray
        How high.
    bandwidth : float
        Width of the windows.
    """

    points: np.ndarray
    density: np.ndarray
    bandwidth: float


def density_on_grid(
    values: ArrayLike,
    bandwidth: float | None = None,
    *,
    kernel: str | Window | Profile = "gaussian",
    weights: ArrayLike | None = None,
    n_points: int = 1024,
) -> GridDensity:
    r"""Return the window density of one column on a grid over its range.

    Parameters
    ----------
    values
        The column.
    bandwidth
        Width of the windows; by default Silverman's rule, with the smaller of the standard
        deviation and the scaled distance between the quartiles.
    kernel
        Name of a window, or a function of the distance.
    weights
        Weight of each value; equal by default.
    n_points
        Points of the grid, which ends three bandwidths beyond the data.

    Notes
    -----
    The sum of windows is a convolution of the data with the window, a product after Fourier's
    transform: :math:`O(N + m \log m)` instead of :math:`O(N m)`. See Alpaydin 8.10.

    Examples
    --------
    >>> import numpy as np
    >>> grid = density_on_grid(np.random.default_rng(0).normal(size=100_000))
    >>> grid.density.max().round(2), np.trapezoid(grid.density, grid.points).round(3)
    (np.float64(0.4), np.float64(1.0))
    """
    column = checked_column(values)
    check_at_least(n_points, 2, "n_points")
    shape = find_window(kernel)
    width = _robust_bandwidth(column) * window_ratio(shape, 1) if bandwidth is None else bandwidth
    if not width > 0:
        raise DataError(f"bandwidth must be above 0, not {width}.")
    shares = checked_counts(weights, len(column))
    margin = 3.0 * width if np.isinf(shape.radius) else min(3.0, shape.radius) * width
    points = np.linspace(column.min() - margin, column.max() + margin, n_points)
    step = points[1] - points[0]
    # Bins are narrower than the window even where the grid is coarse; every so many are kept.
    finer = int(np.clip(np.ceil(BINS_PER_BANDWIDTH * step / width), 1, MOST_BINS // n_points))
    n_bins = (n_points - 1) * finer + 1
    density = _on_bins(column, shares, (points[0], points[-1]), n_bins, width, shape)
    return GridDensity(points, density[::finer], float(width))


def reflected_on_grid(
    column: np.ndarray,
    width: float,
    window: Window,
    shares: np.ndarray,
    points: np.ndarray,
    mirrors: list[Image],
) -> np.ndarray:
    """Return the density at some points where windows are mirrored, by one convolution.

    Parameters
    ----------
    column
        Stored values.
    width
        Of the windows.
    window
        The window.
    shares
        Weight of each value.
    points
        Where, within the bounds.
    mirrors
        Images of the line between its bounds.
    """
    # Wide enough for every window to be whole: what lies outside the bounds is folded back.
    margin = _tail(window) * width
    ends = (column.min() - margin, column.max() + margin)
    n_bins = int(min(np.ceil(BINS_PER_BANDWIDTH * (ends[1] - ends[0]) / width) + 1, MOST_BINS))
    density = _on_bins(column, shares, ends, n_bins, width, window)
    bins = np.linspace(ends[0], ends[1], n_bins)
    total = np.zeros(len(points))
    for mirror in mirrors:
        total += np.interp(mirror(points[:, None])[:, 0], bins, density, left=0.0, right=0.0)
    return total


def _on_bins(
    column: np.ndarray,
    shares: np.ndarray,
    ends: tuple[float, float],
    n_bins: int,
    width: float,
    window: Window,
) -> np.ndarray:
    step = (ends[1] - ends[0]) / (n_bins - 1)
    counts = linear_counts(column, shares, ends[0], step, n_bins)
    return _convolved(counts / counts.sum(), step / width, window) / width


@njit(cache=True, nogil=True)
def linear_counts(values, weights, start, step, n_bins):
    """Share the weight of each value between the two grid points around it."""
    counts = np.zeros(n_bins)
    for place in range(len(values)):
        position = (values[place] - start) / step
        left = min(max(int(position), 0), n_bins - 2)
        right_share = position - left
        counts[left] += weights[place] * (1.0 - right_share)
        counts[left + 1] += weights[place] * right_share
    return counts


def _tail(window: Window) -> float:
    """Return the distance, in bandwidths, beyond which a window is taken as zero."""
    return 9.0 if window.code == GAUSSIAN else float(min(window.radius, 40.0))


def _convolved(counts: np.ndarray, step: float, window: Window) -> np.ndarray:
    """Return the sums of windows at the bins, in units where the bandwidth is 1."""
    whole = int(_tail(window) / step)
    reach = min(whole, len(counts) - 1)
    half = window(np.arange(reach + 1) * step) / window.norm(1)
    if reach == whole:
        # Windows that jump at their edge would weigh more, or less, than one.
        half /= step * (2.0 * half.sum() - half[0])
    # Padded by the reach, or the circular convolution would carry one end over to the other.
    length = next_fast_len(len(counts) + reach + 1, real=True)
    lags = np.zeros(length)
    lags[: reach + 1] = half
    lags[length - reach :] = half[:0:-1]
    sums = irfft(rfft(counts, length) * rfft(lags), length)[: len(counts)]
    # Rounding of the transform may leave tails just below zero.
    return np.maximum(sums, 0.0)


def _robust_bandwidth(column: np.ndarray) -> float:
    low, high = np.percentile(column, [25, 75]) if len(column) < 10**5 else _quartiles(column)
    deviation = float(column.std(ddof=1)) if len(column) > 1 else 0.0
    spread = min(deviation, (high - low) / 1.349) or deviation
    if spread == 0.0:
        raise DataError("bandwidth: all values are the same; give a number above 0.")
    return spread * silverman_factor(len(column), 1)


def _quartiles(column: np.ndarray) -> tuple[float, float]:
    """Return the quartiles of a long column, of which an even sample is enough."""
    sample = column[:: max(1, len(column) // 10**5)]
    low, high = np.percentile(sample, [25, 75])
    return float(low), float(high)
