"""Boundary correction by reflection: what a window puts outside the support is folded back in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from verulam.base import DataError

Bounds = Sequence[tuple[float | None, float | None]] | None


@dataclass(frozen=True)
class Image:
    """A mirror image of space: coordinates times `signs`, plus `shifts`.

    Attributes
    ----------
    signs : ndarray of shape (n_columns,)
        1 or -1 for each column.
    shifts : ndarray of shape (n_columns,)
        What is added.
    """

    signs: np.ndarray
    shifts: np.ndarray

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return the images of some points."""
        return points * self.signs + self.shifts


def check_support(support: Bounds, inputs: np.ndarray) -> np.ndarray | None:
    """Return lower and upper bounds (2, n_columns), infinite where there are none."""
    if support is None:
        return None
    n_columns = inputs.shape[1]
    pairs = list(support)
    if len(pairs) != n_columns or any(len(pair) != 2 for pair in pairs):
        raise DataError(
            f"support needs one pair (low, high) for each of the {n_columns} columns, with None "
            "where there is no bound."
        )
    low = np.array([-np.inf if pair[0] is None else pair[0] for pair in pairs], dtype=np.float64)
    high = np.array([np.inf if pair[1] is None else pair[1] for pair in pairs], dtype=np.float64)
    if (low >= high).any():
        column = int(np.argmax(low >= high))
        raise DataError(f"support of column {column}: {low[column]} is not below {high[column]}.")
    outside = (inputs < low) | (inputs > high)
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise DataError(
            f"X has {inputs[row, column]:.6g} in row {row}, column {column}, outside the support "
            f"from {low[column]:.6g} to {high[column]:.6g}."
        )
    return np.stack([low, high])


def images(bounds: np.ndarray, reaches: np.ndarray) -> Iterator[Image]:
    """Yield the mirror images of space that a window of some reach can be seen in."""
    per_column = [
        _column_images(low, high, reach) for low, high, reach in zip(*bounds, reaches, strict=True)
    ]
    for choice in product(*per_column):
        signs, shifts = np.array(choice).T
        yield Image(signs, shifts)


def _column_images(low: float, high: float, reach: float) -> list[tuple[float, float]]:
    """Return (sign, shift) of each image of one coordinate."""
    identity = (1.0, 0.0)
    if np.isinf(low) and np.isinf(high):
        return [identity]
    if np.isinf(low) or np.isinf(high):
        return [identity, (-1.0, 2.0 * (high if np.isinf(low) else low))]
    period = 2.0 * (high - low)
    # Two mirrors face each other: images repeat, as far as the window reaches.
    count = int(min(np.ceil(reach / period), 1000))
    steps = np.arange(-count, count + 1) * period
    return [(1.0, step) for step in steps] + [(-1.0, 2.0 * low + step) for step in steps]


def fold(points: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return points mirrored back into the support."""
    folded = points.copy()
    for column, (low, high) in enumerate(bounds.T):
        values = points[:, column]
        if np.isfinite(low) and np.isfinite(high):
            offsets = np.mod(values - low, 2.0 * (high - low))
            folded[:, column] = low + np.minimum(offsets, 2.0 * (high - low) - offsets)
        elif np.isfinite(low):
            folded[:, column] = low + np.abs(values - low)
        elif np.isfinite(high):
            folded[:, column] = high - np.abs(values - high)
    return folded
