"""What every kernel is: a similarity with a Gram matrix, a diagonal and an algebra."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError, thread_map

#: Entries of a Gram matrix that one block of rows holds: few enough to stay near the processor.
BLOCK_ENTRIES = 2**20
#: Fewer entries than these are not worth a second thread.
THREADED_ENTRIES = 2**19


class Kernel:
    """A similarity of two inputs that is an inner product in some space.

    A kernel of your own derives from this class and defines `_values`; `diagonal` and `adapted`
    where there is a quicker diagonal or something to learn from the data. Kernels are added,
    multiplied and scaled with ``+`` and ``*``.

    Examples
    --------
    >>> from verulam.kernel import Gaussian, Linear
    >>> kernel = Linear() + 2.0 * Gaussian(width=1.0)
    >>> kernel([[0.0], [1.0]]).round(3)
    array([[2.   , 1.213],
           [1.213, 3.   ]])
    """

    #: What the kernel compares: "rows" of numbers, "objects" of any kind, or it is given the
    #: "gram" matrix itself.
    takes: ClassVar[str] = "rows"
    #: Whether it is an inner product on any data; where not, learners look at some of theirs.
    certain: ClassVar[bool] = True

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """Return the kernel of each input of `X` (rows) with each of `Y` (columns), or of `X`."""
        left = self.inputs(X)
        right = left if Y is None else self.inputs(Y)
        result = np.empty((len(left), len(right)))
        self.fill(left, right, result)
        return result

    def inputs(self, X: Any) -> np.ndarray:
        """Return inputs in the form that `fill` takes: an array of rows, or of objects."""
        return as_objects(X) if self.takes == "objects" else as_rows(X)

    def fill(
        self,
        left: np.ndarray,
        right: np.ndarray,
        result: np.ndarray,
        places: np.ndarray | None = None,
    ) -> None:
        """Write the Gram matrix of prepared inputs into `result`, in blocks of rows.

        `places` are the rows of `result` to write, where these are not all in their order.
        """
        step = max(1, BLOCK_ENTRIES // max(1, len(right)))
        starts = range(0, len(left), step)

        def block(start: int) -> None:
            rows = slice(start, start + step)
            if places is None:
                self._write(left[rows], right, result[rows])
            else:
                part = np.empty((len(left[rows]), len(right)), dtype=result.dtype)
                self._write(left[rows], right, part)
                result[places[rows]] = part

        many = len(left) * len(right) > THREADED_ENTRIES
        thread_map(block, starts, 0 if many else 1)

    def _write(self, left: np.ndarray, right: np.ndarray, result: np.ndarray) -> None:
        result[...] = self._values(left, right)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the Gram matrix of prepared inputs."""
        raise NotImplementedError

    def diagonal(self, X: Any) -> np.ndarray:
        """Return the kernel of each input with itself."""
        inputs = self.inputs(X)
        values = [self._values(inputs[t : t + 1], inputs[t : t + 1]) for t in range(len(inputs))]
        return np.array([float(value[0, 0]) for value in values])

    def adapted(self, X: Any) -> "Kernel":
        """Return the kernel with everything that comes from the training data filled in."""
        return self

    def on_columns(self, columns: Sequence[int]) -> "Kernel":
        """Return the same kernel of some columns only: one view of the data."""
        from verulam.kernel._kernels.algebra import Columns

        return Columns(self, tuple(columns))

    def normalised(self) -> "Kernel":
        """Return the kernel divided by the lengths of both inputs: a cosine."""
        from verulam.kernel._kernels.algebra import Normalised

        return Normalised(self)

    def centred(self) -> "Kernel":
        """Return the kernel about the mean of the training data in its space."""
        from verulam.kernel._kernels.algebra import Centred

        return Centred(self)

    def __add__(self, other: Any) -> "Kernel":
        from verulam.kernel._kernels.algebra import Sum

        if not isinstance(other, Kernel):
            return NotImplemented
        return Sum(self, other)

    def __mul__(self, other: Any) -> "Kernel":
        from verulam.kernel._kernels.algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        if isinstance(other, int | float):
            return Scaled(self, float(other))
        return NotImplemented

    __rmul__ = __mul__


def as_rows(X: Any) -> np.ndarray:
    """Return a table of numbers, or say that it is none."""
    try:
        rows = np.ascontiguousarray(np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise DataError(
            f"X must be a table of numbers for this kernel ({error}). Encode categories, or use a "
            "kernel of objects such as strings."
        ) from None
    if rows.ndim != 2:
        raise DataError(f"X must have two dimensions, rows and columns; got {rows.ndim}.")
    return rows


def as_objects(X: Any) -> np.ndarray:
    """Return a sequence of objects as an array that can be indexed."""
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        return X
    objects = list(X)
    array = np.empty(len(objects), dtype=object)
    for position, each in enumerate(objects):
        array[position] = each
    return array


def positive(name: str, value: float) -> None:
    """Refuse a parameter of a kernel that is not above zero."""
    if not (np.isfinite(value) and value > 0):
        raise DataError(f"{name} must be a finite number above 0; got {value}.")
