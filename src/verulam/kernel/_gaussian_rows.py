"""Rows of a Gaussian Gram matrix in single precision, for the caches of solvers."""

import numpy as np

from verulam.base import in_threads
from verulam.kernel._exponential_loops import gaussian_block, gaussian_block_single

#: Rows and columns of a tile, whose inner products stay near the processor.
TILE_ROWS, TILE_COLUMNS = 64, 2048
#: Fewer entries than these are not worth a second thread.
THREADED_ENTRIES = 2**20
#: Single precision has seven digits. Where exponents of a row with the origin are below this, what
#: is lost when distances are taken from squares is below a millionth of the kernel's range.
LARGEST_EXPONENT = 8.0


def fill_single(left: np.ndarray, right: np.ndarray, factor: float, result: np.ndarray) -> None:
    """Write exp(-factor * squared distance) of each pair of rows into a single precision array.

    Parameters
    ----------
    left, right : ndarray
        Rows about a common origin.
    factor
        What squared distances are multiplied by.
    result : ndarray of shape (n_left, n_right)
        Where the values go.
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
        for column in range(0, len(right), TILE_COLUMNS):
            columns = slice(column, column + TILE_COLUMNS)
            block(
                first[rows] @ second[:, columns],
                left_squares[rows],
                right_squares[columns],
                factor,
                result[rows, columns],
            )

    starts = range(0, len(left), TILE_ROWS)
    for _ in in_threads(tile, starts, 0 if result.size > THREADED_ENTRIES else 1):
        pass
