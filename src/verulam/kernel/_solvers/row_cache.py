"""The kernel cache: rows of a Gram matrix, computed in blocks, the least recently used evicted.

Signed rows carry the signs of their classes, for planes through the origin.
"""

from typing import Any, ClassVar

import numpy as np

from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import check_finite
from verulam.kernel._kernels.polynomial import Linear
from verulam.kernel._solvers.dual_loops import add_rows
from verulam.kernel._tuning import (
    DOUBLE_PRECISION_ROWS,
    TILE_BYTES,
    WORKING_NUMBERS,
    WORKING_SET_SIZE,
)


class RowCache:
    """The rows of one Gram matrix that fit into a budget of memory, at most `capacity` of them.

    Parameters
    ----------
    kernel
        Kernel with nothing left to learn from the data.
    inputs
        Training inputs in the kernel's form; the Gram matrix itself if the kernel takes that.
    megabytes
        Memory for rows, and for what the solver works with beside them; half of it is for rows
        whatever the solver needs.
    diagonal
        Kernel of each input with itself, if known.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import Linear
    >>> from verulam.kernel._solvers.row_cache import RowCache
    >>> cache = RowCache(Linear(), np.array([[1.0], [2.0], [3.0]]), megabytes=1.0)
    >>> cache.rows[cache.slots(np.array([2]))], cache.n_computed
    (array([[3., 6., 9.]]), 1)
    """

    def __init__(
        self,
        kernel: Kernel,
        inputs: np.ndarray,
        megabytes: float,
        diagonal: np.ndarray | None = None,
    ) -> None:
        self.kernel, self.inputs, self.megabytes = kernel, inputs, megabytes
        self.size = len(inputs)
        self.n_computed = 0
        self._precomputed = kernel.takes == "gram"
        if self._precomputed:
            self.rows, self.diagonal = inputs, np.diagonal(inputs).copy()
            self.capacity, self._slot_of = self.size, np.arange(self.size)
            return
        if diagonal is None:
            diagonal = kernel.diagonal(inputs)
            check_finite(diagonal[None])
        self.diagonal = diagonal
        precision = np.float64 if self.size <= DOUBLE_PRECISION_ROWS else np.float32
        self.capacity = _rows_within(megabytes * 2**20, self.size, np.dtype(precision).itemsize)
        # Pages of an empty array cost nothing until a row is written to them.
        self.rows = np.empty((self.capacity, self.size), dtype=precision)
        self._slot_of = np.full(self.size, -1)
        self._row_in = np.full(self.capacity, -1)
        self._last_use = np.zeros(self.capacity, dtype=np.int64)
        self._clock = self._n_used = 0

    def subset(self, rows: np.ndarray, megabytes: float) -> "RowCache":
        """Return a cache for some of the inputs."""
        if self._precomputed:
            return RowCache(self.kernel, self.inputs[np.ix_(rows, rows)], megabytes)
        part = RowCache(self.kernel, self.inputs[rows], megabytes, self.diagonal[rows])
        # Where all rows are at hand, so are those of the part, in the same precision.
        same_kind = part.rows.dtype == self.rows.dtype and part.capacity == part.size
        if self._n_used == self.size and same_kind:
            part.rows[:] = self.rows[self._slot_of[rows][:, None], rows]
            part._slot_of, part._n_used = np.arange(part.size), part.size
        return part

    def slots(self, rows: np.ndarray) -> np.ndarray:
        """Return where some rows of the Gram matrix are, after computing those that are missing."""
        if self._precomputed:
            return rows
        self._clock += 1
        slots = self._slot_of[rows]
        if self._n_used == self.size:
            # All rows are there, and none will have to go.
            return slots
        # Stamped before anything is evicted, so that no row of this request is.
        self._last_use[slots[slots >= 0]] = self._clock
        missing = np.unique(rows[slots < 0])
        if len(missing):
            self._compute(missing)
        return self._slot_of[rows]

    def compute_all(self) -> bool:
        """Compute all rows, if they can be held at once and are not quicker done without."""
        if self.capacity < self.size or isinstance(self.kernel, Linear):
            return False
        self.slots(np.arange(self.size))
        return True

    def _compute(self, missing: np.ndarray) -> None:
        self.n_computed += len(missing)
        if self._n_used + len(missing) <= self.capacity:
            slots: Any = slice(self._n_used, self._n_used + len(missing))
            self._n_used += len(missing)
            self.kernel.fill(self.inputs[missing], self.inputs, self.rows[slots])
        else:
            # Into the rows that are given up, so that none stand beside the cache meanwhile.
            slots = np.argsort(self._last_use, kind="stable")[: len(missing)]
            evicted = self._row_in[slots]
            self._slot_of[evicted[evicted >= 0]] = -1
            self.kernel.fill(self.inputs[missing], self.inputs, self.rows, slots)
            self._n_used = self.capacity
        self._row_in[slots] = missing
        self._last_use[slots] = self._clock
        self._slot_of[missing] = np.arange(self.capacity)[slots]

    def add_products(self, rows: np.ndarray, weights: np.ndarray, sums: np.ndarray) -> None:
        """Add some weighted rows to `sums`, holding no more than fit at once."""
        for first in range(0, len(rows), self.capacity):
            part = slice(first, first + self.capacity)
            add_rows(self.rows, self.slots(rows[part]), weights[part], sums)


def _rows_within(budget: float, size: int, number_bytes: int) -> int:
    """Return how many rows fit into some bytes together with what the solver works with."""
    row_bytes = max(1, size * number_bytes)
    left = budget - TILE_BYTES - 8 * WORKING_NUMBERS * size
    # Every row of the cache may be in the working set, whose Gram matrix has as many columns.
    gram_bytes = min(left // row_bytes, size, WORKING_SET_SIZE) * number_bytes
    fitting = max(left // (row_bytes + max(gram_bytes, 0.0)), 0.5 * budget // row_bytes)
    return int(min(size, max(2, fitting)))


class SignedRows(Kernel):
    r"""The kernel :math:`r^s r^t K(x^s, x^t)` of training rows, which are named by position.

    A plane through the origin has all rows :math:`r^t \phi(x^t)` on one side. In these rows its
    dual has the multipliers :math:`\alpha^t` themselves and one sum, as that of one class has.

    Parameters
    ----------
    kernel
        Kernel of the rows as they are.
    inputs
        Training inputs in the kernel's form; the Gram matrix itself if the kernel takes that.
    signs
        Class of each row, -1 or 1.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import Linear
    >>> from verulam.kernel._solvers.row_cache import SignedRows
    >>> kernel = SignedRows(Linear(), np.array([[1.0], [2.0]]), np.array([1.0, -1.0]))
    >>> kernel([0, 1])
    array([[ 1., -2.],
           [-2.,  4.]])
    """

    takes: ClassVar[str] = "objects"

    def __init__(self, kernel: Kernel, inputs: np.ndarray, signs: np.ndarray) -> None:
        self.kernel, self.rows, self.signs = kernel, inputs, signs

    def inputs(self, X: Any) -> np.ndarray:
        """Return positions as an array."""
        return np.asarray(X, dtype=np.intp)

    def fill(
        self,
        left: np.ndarray,
        right: np.ndarray,
        result: np.ndarray,
        places: np.ndarray | None = None,
    ) -> None:
        """Write the Gram matrix of some rows and others into `result`, or into some rows of it."""
        target: Any = slice(None) if places is None else places
        if self.kernel.takes == "gram":
            result[target] = self.rows[np.ix_(left, right)]
        else:
            self.kernel.fill(self.rows[left], self.rows[right], result, places)
        result[target] *= np.multiply.outer(self.signs[left], self.signs[right])

    def diagonal(self, X: Any) -> np.ndarray:
        """Return the kernel of each row with itself, where signs do not matter."""
        positions = self.inputs(X)
        if self.kernel.takes == "gram":
            return np.asarray(self.rows[positions, positions])
        return self.kernel.diagonal(self.rows[positions])


def signed_cache(cache: RowCache, signs: np.ndarray) -> RowCache:
    """Return a cache of the same rows with the signs of their classes."""
    kernel = SignedRows(cache.kernel, cache.inputs, signs)
    return RowCache(kernel, np.arange(cache.size), cache.megabytes)
