"""Rows of a Gram matrix: computed in blocks when asked for, kept while the budget lasts."""

from typing import Any

import numpy as np

from verulam.kernel._kernels.general import check_finite
from verulam.kernel._kernels.kernel import Kernel
from verulam.kernel._kernels.polynomial import Linear
from verulam.kernel._solvers.dual_loops import add_rows

#: More inputs than these have their rows kept in single precision, as half the memory is read.
DOUBLE_PRECISION_ROWS = 3000
#: Numbers for each input that the solver, and the computing of rows, hold beside them.
WORKING_NUMBERS = 48
#: Bytes of the tiles that rows are computed in, by two threads.
TILE_BYTES = 3 * 2**20
#: Rows that are solved for at once, whose own Gram matrix is held as well.
BLOCK = 1536


class RowCache:
    """The rows of one Gram matrix that fit into a budget of memory.

    Parameters
    ----------
    kernel
        Kernel with nothing left to learn from the data.
    inputs
        Training inputs in the kernel's form; the Gram matrix itself if the kernel takes that.
    megabytes
        Memory for rows, and for what the solver works with beside them; half of it is for rows
        whatever the solver needs.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import Linear, RowCache
    >>> cache = RowCache(Linear(), np.array([[1.0], [2.0], [3.0]]), megabytes=1.0)
    >>> cache.rows[cache.slots(np.array([2]))], cache.n_computed
    (array([[3., 6., 9.]]), 1)
    """

    def __init__(self, kernel: Kernel, inputs: np.ndarray, megabytes: float) -> None:
        self.kernel, self.inputs = kernel, inputs
        self.size = len(inputs)
        self.n_computed = 0
        self._given = kernel.takes == "gram"
        if self._given:
            self.rows, self.diagonal = inputs, np.diagonal(inputs).copy()
            self._slot_of = np.arange(self.size)
            return
        self.diagonal = kernel.diagonal(inputs)
        check_finite(self.diagonal[None])
        precision = np.float64 if self.size <= DOUBLE_PRECISION_ROWS else np.float32
        self.capacity = _rows_within(megabytes * 2**20, self.size, np.dtype(precision).itemsize)
        self.rows = np.empty((self.capacity, self.size), dtype=precision)
        self._slot_of = np.full(self.size, -1)
        self._owner = np.full(self.capacity, -1)
        self._last_use = np.zeros(self.capacity, dtype=np.int64)
        self._clock = self._n_used = 0

    @property
    def most_rows(self) -> int:
        """How many rows can be held at once."""
        return self.size if self._given else self.capacity

    def slots(self, wanted: np.ndarray) -> np.ndarray:
        """Return where the rows of these inputs are, after computing those that are missing."""
        if self._given:
            return wanted
        self._clock += 1
        found = self._slot_of[wanted]
        self._last_use[found[found >= 0]] = self._clock
        missing = np.unique(wanted[found < 0])
        if len(missing):
            self._compute(missing)
        return self._slot_of[wanted]

    def compute_all(self) -> bool:
        """Compute all rows, if they can be held at once and are not quicker done without."""
        if self.most_rows < self.size or isinstance(self.kernel, Linear):
            return False
        self.slots(np.arange(self.size))
        return True

    def _compute(self, missing: np.ndarray) -> None:
        self.n_computed += len(missing)
        if self._n_used + len(missing) <= self.capacity:
            places: Any = slice(self._n_used, self._n_used + len(missing))
            self._n_used += len(missing)
            self.kernel.fill(self.inputs[missing], self.inputs, self.rows[places])
        else:
            # Into the rows that are given up, so that none stand beside the cache meanwhile.
            places = np.argsort(self._last_use, kind="stable")[: len(missing)]
            evicted = self._owner[places]
            self._slot_of[evicted[evicted >= 0]] = -1
            self.kernel.fill(self.inputs[missing], self.inputs, self.rows, places)
            self._n_used = self.capacity
        self._owner[places] = missing
        self._last_use[places] = self._clock
        self._slot_of[missing] = np.arange(self.capacity)[places]

    def add_products(self, wanted: np.ndarray, weights: np.ndarray, sums: np.ndarray) -> None:
        """Add the weighted rows of some inputs to `sums`, holding no more than fit at once."""
        for start in range(0, len(wanted), self.most_rows):
            part = slice(start, start + self.most_rows)
            add_rows(self.rows, self.slots(wanted[part]), weights[part], sums)


def _rows_within(budget: float, size: int, number_bytes: int) -> int:
    """Return how many rows fit into some bytes together with what the solver works with."""
    row_bytes = max(1, size * number_bytes)
    left = budget - TILE_BYTES - 8 * WORKING_NUMBERS * size
    block_bytes = min(left // row_bytes, size, BLOCK) * number_bytes
    fitting = max(left // (row_bytes + max(block_bytes, 0.0)), 0.5 * budget // row_bytes)
    return int(min(size, max(2, fitting)))
