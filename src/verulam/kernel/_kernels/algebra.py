"""Kernels made of kernels: sums, products, multiples, views, cosines and centring."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.kernel._kernels.kernel import Kernel, positive


class _Pair(Kernel):
    """Two kernels of the same inputs."""

    first: Kernel
    second: Kernel

    @property
    def takes(self) -> str:  # type: ignore[override] # follows from the parts
        """What both parts compare."""
        return self.first.takes

    def _check_parts(self) -> None:
        if self.first.takes != self.second.takes:
            raise DataError(
                f"cannot combine a kernel of {self.first.takes} with one of {self.second.takes}; "
                "both must compare the same kind of input."
            )

    def inputs(self, X: Any) -> np.ndarray:
        return self.first.inputs(X)


@dataclass(frozen=True)
class Sum(_Pair):
    r"""Sum of two kernels: the features of both, side by side.

    Attributes
    ----------
    first, second
        The kernels.
    """

    first: Kernel
    second: Kernel

    def __post_init__(self) -> None:
        self._check_parts()

    def adapted(self, X: Any) -> Kernel:
        return Sum(self.first.adapted(X), self.second.adapted(X))

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.first._values(left, right) + self.second._values(left, right)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.first.diagonal(X) + self.second.diagonal(X)


@dataclass(frozen=True)
class Product(_Pair):
    """Product of two kernels: the products of their features.

    Attributes
    ----------
    first, second
        The kernels.
    """

    first: Kernel
    second: Kernel

    def __post_init__(self) -> None:
        self._check_parts()

    def adapted(self, X: Any) -> Kernel:
        return Product(self.first.adapted(X), self.second.adapted(X))

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.first._values(left, right) * self.second._values(left, right)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.first.diagonal(X) * self.second.diagonal(X)


class _Around(Kernel):
    """A kernel that changes another one."""

    kernel: Kernel

    @property
    def takes(self) -> str:  # type: ignore[override] # follows from the part
        """What the inner kernel compares."""
        return self.kernel.takes

    def inputs(self, X: Any) -> np.ndarray:
        return self.kernel.inputs(X)

    def adapted(self, X: Any) -> Kernel:
        return replace(self, kernel=self.kernel.adapted(X))  # type: ignore[type-var] # a dataclass


@dataclass(frozen=True)
class Scaled(_Around):
    """A kernel times a positive number.

    Attributes
    ----------
    kernel
        The kernel.
    factor
        The number; a negative one would make no inner product.
    """

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        positive("factor", self.factor)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.factor * self.kernel._values(left, right)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.factor * self.kernel.diagonal(X)


@dataclass(frozen=True)
class Columns(_Around):
    """A kernel of some of the columns.

    Attributes
    ----------
    kernel
        The kernel.
    columns
        Positions of the columns it sees.
    """

    kernel: Kernel
    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.kernel.takes != "rows":
            raise DataError("columns: only a kernel of rows of numbers has columns to choose from.")
        if not self.columns:
            raise DataError("columns must name one column or more.")

    def _view(self, X: np.ndarray) -> np.ndarray:
        if max(self.columns) >= X.shape[1] or min(self.columns) < -X.shape[1]:
            raise DataError(
                f"columns must be positions below {X.shape[1]}, the number of columns of X; got "
                f"{list(self.columns)}."
            )
        return np.ascontiguousarray(X[:, list(self.columns)])

    def adapted(self, X: Any) -> Kernel:
        return Columns(self.kernel.adapted(self._view(self.inputs(X))), self.columns)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.kernel._values(self._view(left), self._view(right))

    def diagonal(self, X: Any) -> np.ndarray:
        return self.kernel.diagonal(self._view(self.inputs(X)))


@dataclass(frozen=True)
class Normalised(_Around):
    r"""The cosine of two inputs in the kernel's space.

    Attributes
    ----------
    kernel
        The kernel.

    Notes
    -----
    .. math:: K'(x, y) = \frac{K(x, y)}{\sqrt{K(x, x)\, K(y, y)}}
    """

    kernel: Kernel

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        lengths = [np.sqrt(self.kernel.diagonal(each)) for each in (left, right)]
        # An input without length is like nothing, itself included.
        rows, columns = (np.where(each > 0, each, np.inf) for each in lengths)
        return self.kernel._values(left, right) / rows[:, None] / columns

    def diagonal(self, X: Any) -> np.ndarray:
        return (self.kernel.diagonal(X) > 0).astype(np.float64)


@dataclass(frozen=True)
class Centred(_Around):
    r"""A kernel about the mean of the training data in its space.

    Attributes
    ----------
    kernel
        The kernel.
    reference : ndarray or None
        Training inputs, filled in by `adapted`.
    means : ndarray or None
        Mean kernel of each training input with all of them.

    Notes
    -----
    .. math:: K'(x, y) = K(x, y) - \overline{K}(x) - \overline{K}(y) + \overline{K}

    with means over the training data.
    """

    kernel: Kernel
    reference: np.ndarray | None = field(default=None, compare=False, repr=False)
    means: np.ndarray | None = field(default=None, compare=False, repr=False)

    def adapted(self, X: Any) -> Kernel:
        inner = self.kernel.adapted(X)
        reference = inner.inputs(X)
        return Centred(inner, reference, inner(reference).mean(axis=0))

    def _known(self) -> tuple[np.ndarray, np.ndarray]:
        if self.reference is None or self.means is None:
            raise DataError(
                "a centred kernel needs the mean of the training data: call adapted(X) first, or "
                "give it to a learner, which does."
            )
        return self.reference, self.means

    def _shift(self, inputs: np.ndarray) -> np.ndarray:
        reference, _ = self._known()
        return self.kernel._values(inputs, reference).mean(axis=1)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        _, means = self._known()
        columns = means if right is self.reference else self._shift(right)
        return (
            self.kernel._values(left, right)
            - self._shift(left)[:, None]
            - columns
            + float(means.mean())
        )

    def diagonal(self, X: Any) -> np.ndarray:
        inputs = self.inputs(X)
        _, means = self._known()
        return self.kernel.diagonal(inputs) - 2.0 * self._shift(inputs) + float(means.mean())
