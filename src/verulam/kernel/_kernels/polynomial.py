"""Kernels of the inner product of two rows."""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, sqrt
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError
from verulam.kernel._kernels.base import Kernel, as_rows, positive


@dataclass(frozen=True)
class Linear(Kernel):
    r"""The inner product :math:`x^T y` itself.

    Examples
    --------
    >>> from verulam.kernel import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, -1.0]])
    array([[1.]])
    """

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return left @ right.T

    def diagonal(self, X: Any) -> np.ndarray:
        rows = as_rows(X)
        return np.einsum("ij,ij->i", rows, rows)


@dataclass(frozen=True)
class Polynomial(Kernel):
    r"""All products of up to `degree` columns.

    Attributes
    ----------
    degree
        Degree :math:`q`.
    offset
        Number :math:`c` that lets lower degrees in; 0 keeps those of degree :math:`q` alone.
    scale
        Factor :math:`a` of the inner product.

    Notes
    -----
    .. math:: K(x, y) = (a\, x^T y + c)^q

    See Alpaydin 13.6 (13.29), Bartkowiak 5.11. `polynomial_features` writes the features out.

    Examples
    --------
    >>> from verulam.kernel import Polynomial
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, -1.0]])
    array([[4.]])
    """

    degree: int = 2
    offset: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.degree < 1 or self.degree != int(self.degree):
            raise DataError(f"degree must be a whole number above 0; got {self.degree}.")
        positive("scale", self.scale)
        if not self.offset >= 0:
            raise DataError(
                f"offset must not be negative, or this is no inner product; got {self.offset}."
            )

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        products = left @ right.T
        products *= self.scale
        products += self.offset
        return products**self.degree

    def diagonal(self, X: Any) -> np.ndarray:
        return (self.scale * Linear().diagonal(X) + self.offset) ** self.degree


@dataclass(frozen=True)
class Sigmoid(Kernel):
    r"""The output of a hidden unit of a network, :math:`\tanh(a\, x^T y + c)`.

    Attributes
    ----------
    scale
        Slope :math:`a`.
    offset
        Constant :math:`c`.

    Notes
    -----
    This is an inner product for some slopes and data only; `mercer_check` tells. See Alpaydin 13.6
    (13.33).

    Examples
    --------
    >>> from verulam.kernel import Sigmoid
    >>> Sigmoid()([[1.0]], [[-0.5], [0.0]]).round(4)
    array([[0.    , 0.7616]])
    """

    scale: float = 2.0
    offset: float = 1.0

    certain: ClassVar[bool] = False

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.tanh(self.scale * (left @ right.T) + self.offset)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.tanh(self.scale * Linear().diagonal(X) + self.offset)


def polynomial_features(X: Any, kernel: Polynomial | None = None) -> np.ndarray:
    r"""Return the features whose inner products a polynomial kernel computes.

    Parameters
    ----------
    X
        Rows.
    kernel
        The kernel; that of degree 2 if None.

    Notes
    -----
    For two columns and :math:`(x^T y + 1)^2` these are :math:`1, \sqrt 2 x_1, \sqrt 2 x_2, x_1^2,
    \sqrt 2 x_1 x_2, x_2^2`. See Alpaydin 13.6, Bartkowiak 5.11.

    Examples
    --------
    >>> from verulam.kernel import polynomial_features
    >>> polynomial_features([[1.0, 2.0]]).round(3)
    array([[1.   , 1.414, 2.828, 1.   , 2.828, 4.   ]])
    """
    kernel = kernel or Polynomial()
    rows = as_rows(X)
    columns = []
    for degree in range(int(kernel.degree) + 1):
        weight = comb(kernel.degree, degree) * kernel.scale**degree
        weight *= kernel.offset ** (kernel.degree - degree)
        if weight == 0:
            continue
        for factors in combinations_with_replacement(range(rows.shape[1]), degree):
            powers = np.bincount(factors, minlength=1) if factors else np.zeros(1, dtype=int)
            # The multinomial coefficient: in how many orders the expansion has this product.
            orders = factorial(degree)
            for power in powers:
                orders //= factorial(int(power))
            columns.append(sqrt(weight * orders) * rows[:, list(factors)].prod(axis=1))
    return np.column_stack(columns)
