"""The Gram matrix of rows that are turned about where their class is negative."""

from typing import Any, ClassVar

import numpy as np

from verulam.kernel._kernels.base import Kernel
from verulam.kernel._solvers.row_cache import RowCache


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
    >>> from verulam.kernel._solvers.signed_rows import SignedRows
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
