"""Cumulative shares and quantiles of a window density on a line."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError, check_is_fitted
from verulam.nonparametric._tuning import NUMBERS_AT_ONCE
from verulam.nonparametric._windows.functions import Window

#: Halvings of a cell of the first grid, which leave less than rounding.
HALVINGS = 40


def check_line(density: Any, method: str, values: ArrayLike) -> np.ndarray:
    """Return the values at which a fitted density of one column is asked."""
    check_is_fitted(density)
    if density.n_features_in_ != 1:
        raise DataError(f"{method} needs one column; X had {density.n_features_in_}.")
    points = np.asarray(values, dtype=np.float64)
    if np.isnan(points).any():
        raise DataError("values contains NaN.")
    return points


def check_shares(density: Any, shares: ArrayLike) -> np.ndarray:
    """Return the shares whose quantiles a fitted density of one column is asked for."""
    check_line(density, "quantile", 0.0)
    levels = np.asarray(shares, dtype=np.float64)
    if not ((levels >= 0) & (levels <= 1)).all():
        raise DataError("shares must lie between 0 and 1.")
    return levels


def cumulative_shares(
    values: np.ndarray,
    centres: np.ndarray,
    widths: np.ndarray,
    weights: np.ndarray,
    window: Window,
) -> np.ndarray:
    """Return the weighted share of all windows that lies below each value."""
    flat = np.ravel(values)
    result = np.empty(len(flat))
    block = max(1, NUMBERS_AT_ONCE // len(centres))
    for start in range(0, len(flat), block):
        points = flat[start : start + block, None]
        result[start : start + block] = window.cumulative((points - centres) / widths) @ weights
    return result.reshape(np.shape(values))


def line_quantiles(
    cumulative: Callable[[np.ndarray], np.ndarray], shares: np.ndarray, low: float, high: float
) -> np.ndarray:
    """Return where a cumulative function, from 0 at `low` to 1 at `high`, reaches each share."""
    grid = np.linspace(low, high, 257)
    cells = np.searchsorted(cumulative(grid), np.ravel(shares)).clip(1, len(grid) - 1)
    left, right = grid[cells - 1], grid[cells]
    # Bisection: a cumulative function may be flat, where steps by its slope would go astray.
    for _ in range(HALVINGS):
        middle = 0.5 * (left + right)
        below = cumulative(middle) < np.ravel(shares)
        left, right = np.where(below, middle, left), np.where(below, right, middle)
    return (0.5 * (left + right)).reshape(np.shape(shares))
