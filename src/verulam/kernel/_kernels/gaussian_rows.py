"""Rows of a Gaussian Gram matrix in single precision, for the caches of solvers."""

import numpy as np

from verulam.base import thread_map
from verulam.kernel._kernels.exponential_loops import gaussian_block, gaussian_block_single

#: Rows and columns of a tile, whose inner products stay near the processor.
TILE_ROWS, TILE_COLUMNS = 64, 2048
#: Fewer entries than these are not worth a second thread.
THREADED_ENTRIES = 2**20
#: Single precision has seven digits. Where exponents of a row with the origin are below this, what
#: is lost when distances are taken from squares is below a millionth of the kernel's range.
LARGEST_EXPONENT = 8.0


def fill_single(
    left: np.ndarray,
    right: np.ndarray,
    factor: float,
    result: np.ndarray,
    places: np.ndarray | None = None,
    *,
    symmetric: bool = False,
) -> None:
    """Write exp(-factor * squared distance) of each pair of rows into a single precision array.

    Parameters
    ----------
    left, right : ndarray
        Rows about a common origin.
    factor
        What squared distances are multiplied by.
    result : ndarray with n_right columns
        Where the values go.
    places : ndarray of shape (n_left,) or None
        Rows of `result` that are written; None for as many as there are, in their order.
    symmetric
        Whether `right` has the rows of `left`, so that one half of the values is the other
        turned round; not with `places`.
    """
    squares = [np.einsum("ij,ij->i", rows, rows) for rows in (left, right)]
    largest = max(float(each.max(initial=0.0)) for each in squares)
    enough = factor * largest <= LARGEST_EXPONENT
    block = gaussian_block_single if enough else gaussian_block
    precision = np.dtype(np.float32 if enough else np.float64)
    first, second = left.astype(precision), np.ascontiguousarray(right.T, dtype=precision)
    left_squares, right_squares = (each.astype(precision) for each in squares)

    def tile(start: int) -> None:
        rows = slice(start, start + TILE_ROWS)
        for column in range(start if symmetric else 0, len(right), TILE_COLUMNS):
            columns = slice(column, column + TILE_COLUMNS)
            products = first[rows] @ second[:, columns]
            part = result[rows, columns] if places is None else np.empty_like(products, np.float32)
            block(products, left_squares[rows], right_squares[columns], factor, part)
            if places is not None:
                result[places[rows], columns] = part
            elif symmetric:
                result[columns, rows] = part.T

    starts = range(0, len(left), TILE_ROWS)
    many = len(left) * len(right) > THREADED_ENTRIES
    thread_map(tile, starts, 0 if many else 1)
