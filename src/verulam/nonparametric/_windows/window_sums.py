"""Kernel sums over stored points, to the last digit or within a relative error."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from verulam.base import DataError, thread_map
from verulam.nonparametric._tuning import (
    BOX_COLUMNS,
    FEW_BLOCKS,
    NUMBERS_AT_ONCE,
    WINDOW_QUERIES,
)
from verulam.nonparametric._windows.functions import EXPONENTIAL, GAUSSIAN, OTHER, Window
from verulam.nonparametric._windows.window_sums_loops import BLOCK, window_sums
from verulam.numerics import log_sum_exp

#: Blocks whose part in a sum is below this are of no consequence to its last digit.
LAST_DIGIT = 1e-16
#: Compiled exponentials end at 2^-1020; smaller sums are found again from their logarithms.
LEAST_SUM = 1e-290


@dataclass(frozen=True)
class StoredPoints:
    """Points in blocks of neighbours, each block with its bounding box.

    Attributes
    ----------
    points : ndarray of shape (n_points, n_columns)
        The points as they were given.
    weights : ndarray of shape (n_points,)
        What each contributes at the centre of its window.
    precisions : ndarray of shape (n_points,)
        Factor of the squared distances to each point.
    tiles : ndarray of shape (n_blocks, n_columns, BLOCK)
        The points by block; the last one may be padded with repetitions.
    block_weights : ndarray of shape (n_blocks, BLOCK)
        Weights by block, zero for padding.
    block_precisions : ndarray of shape (n_blocks, BLOCK)
        Precisions by block.
    boxes : ndarray of shape (2, n_columns, n_blocks)
        Least and greatest coordinates of each block.
    """

    points: np.ndarray
    weights: np.ndarray
    precisions: np.ndarray
    tiles: np.ndarray
    block_weights: np.ndarray
    block_precisions: np.ndarray
    boxes: np.ndarray


def store_points(
    points: np.ndarray, weights: np.ndarray | None = None, precisions: np.ndarray | None = None
) -> StoredPoints:
    """Return the points in blocks; by default their weights sum to 1 and precisions are 1."""
    n_points = len(points)
    if weights is None:
        weights = np.full(n_points, 1.0 / n_points)
    if precisions is None:
        precisions = np.ones(n_points)
    rows = neighbouring_order(points)
    padding = -n_points % BLOCK
    order = np.concatenate([rows, np.repeat(rows[-1:], padding)]).reshape(-1, BLOCK)
    block_weights = weights[order]
    if padding:
        block_weights[-1, BLOCK - padding :] = 0.0
    tiles = np.ascontiguousarray(points[order].transpose(0, 2, 1))
    boxes = np.stack([tiles.min(axis=2).T, tiles.max(axis=2).T])
    return StoredPoints(points, weights, precisions, tiles, block_weights, precisions[order], boxes)


def neighbouring_order(points: np.ndarray) -> np.ndarray:
    """Return the rows in an order where each run of `BLOCK` lies close together.

    The widest column is cut at a multiple of `BLOCK` near its median, and both halves again.
    """
    order = np.arange(len(points))
    parts = [(0, len(points))]
    while parts:
        start, stop = parts.pop()
        if stop - start <= BLOCK:
            continue
        rows = order[start:stop]
        inside = points[rows]
        widest = int(np.argmax(np.ptp(inside, axis=0)))
        # A multiple of the block, so that no block straddles the cut.
        half = BLOCK * max(1, round((stop - start) / (2 * BLOCK)))
        order[start:stop] = rows[np.argpartition(inside[:, widest], half)]
        parts += [(start, start + half), (start + half, stop)]
    return order


def tree_pays(n_points: int, n_columns: int) -> bool:
    """Tell whether boxes of points are many, and small enough to be far from a query."""
    return n_points > FEW_BLOCKS * BLOCK and n_columns <= BOX_COLUMNS


def log_window_sums(
    queries: np.ndarray,
    stored: StoredPoints,
    window: Window,
    scales: np.ndarray | None = None,
    rtol: float | None = LAST_DIGIT,
) -> np.ndarray:
    r"""Return :math:`\ln \sum_t w_t\, \phi(\sqrt{a\, a_t}\, \|x - x^t\|)` at each query.

    Parameters
    ----------
    queries
        One row per point :math:`x`.
    stored
        Points :math:`x^t` with weights :math:`w_t` and precisions :math:`a_t`.
    window
        The window :math:`\phi`.
    scales
        Precision :math:`a` of each query; 1 by default.
    rtol
        Relative error that is allowed in the sum, guaranteed by bounds on blocks of points; None
        adds up every point.
    """
    if scales is None:
        scales = np.ones(len(queries))
    if window.code == OTHER:
        return _plain_log_sums(queries, stored, window, scales)
    sums = _compiled_sums(queries, stored, window, scales, rtol)
    with np.errstate(divide="ignore"):
        logs = np.log(sums)
    if window.code in (GAUSSIAN, EXPONENTIAL):
        # Far from all points the sum underflows, though its logarithm is an ordinary number.
        far = np.flatnonzero(sums < LEAST_SUM * stored.weights.sum())
        if len(far):
            logs[far] = _plain_log_sums(queries[far], stored, window, scales[far])
    return logs


def _compiled_sums(
    queries: np.ndarray,
    stored: StoredPoints,
    window: Window,
    scales: np.ndarray,
    rtol: float | None,
) -> np.ndarray:
    _check_blocks(queries, stored)
    precisions = stored.block_precisions
    ranges = np.stack([precisions.min(axis=1), precisions.max(axis=1)])
    totals = stored.block_weights.sum(axis=1)
    code = np.array([window.code, window.inner, window.outer], dtype=np.float64)
    queries = np.ascontiguousarray(queries)
    sums = np.empty(len(queries))
    # No difference of bounds is below less than nothing: every block is then added up.
    error = -1.0 if rtol is None else max(rtol, LAST_DIGIT)

    def add_up(start: int) -> None:
        task = slice(start, start + WINDOW_QUERIES)
        window_sums(
            queries[task],
            scales[task],
            stored.tiles,
            precisions,
            stored.block_weights,
            stored.boxes,
            ranges,
            totals,
            code,
            error,
            (*np.empty((2, BLOCK)), *np.empty((3, len(totals)))),
            sums[task],
        )

    thread_map(add_up, range(0, len(queries), WINDOW_QUERIES))
    return sums


def _check_blocks(queries: np.ndarray, stored: StoredPoints) -> None:
    """Refuse arrays that do not fit together, as a file may hold them."""
    n_blocks, n_columns = stored.tiles.shape[:2]
    if (
        stored.tiles.shape[2] != BLOCK
        or stored.block_weights.shape != (n_blocks, BLOCK)
        or stored.block_precisions.shape != (n_blocks, BLOCK)
        or stored.boxes.shape != (2, n_columns, n_blocks)
        or queries.shape[1] != n_columns
    ):
        raise DataError(f"queries: the stored points have {n_columns} columns in their blocks.")


def _plain_log_sums(
    queries: np.ndarray, stored: StoredPoints, window: Window, scales: np.ndarray
) -> np.ndarray:
    """Return the logarithms of the sums by NumPy: for users' windows and for far queries."""
    logs = np.empty(len(queries))
    block_rows = max(1, NUMBERS_AT_ONCE // len(stored.points))
    with np.errstate(divide="ignore"):
        log_weights = np.log(stored.weights)
    for start in range(0, len(queries), block_rows):
        block = slice(start, start + block_rows)
        radii = cdist(queries[block], stored.points)
        radii *= np.sqrt(scales[block, None] * stored.precisions)
        logs[block] = log_sums_of_radii(radii, log_weights, window)
    return logs


def log_sums_of_radii(radii: np.ndarray, log_weights: np.ndarray, window: Window) -> np.ndarray:
    """Return the logarithm of the weighted sum of windows along each row of radii."""
    if window.code == GAUSSIAN:
        return log_sum_exp(log_weights - 0.5 * radii**2, axis=1)
    if window.code == EXPONENTIAL:
        return log_sum_exp(log_weights - radii, axis=1)
    # Weights over the largest one: neither overflow nor all underflow.
    largest = log_weights.max()
    with np.errstate(divide="ignore"):
        return np.log(window(radii) @ np.exp(log_weights - largest)) + largest
