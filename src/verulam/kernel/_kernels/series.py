"""Kernels built column by column: splines, B-splines, Fourier series and the ANOVA kernel."""

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from scipy.interpolate import BSpline as PiecewisePolynomial

from verulam.base import DataError
from verulam.kernel._kernels.base import Kernel, as_rows, positive
from verulam.kernel._kernels.radial import not_negative


class _ByColumn(Kernel):
    """A kernel that is the product over columns of a kernel of two numbers."""

    def _column(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the kernel of numbers, given arrays that broadcast."""
        raise NotImplementedError

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        total = np.ones((len(left), len(right)))
        for column in range(left.shape[1]):
            total *= self._column(left[:, column, None], right[None, :, column])
        return total

    def diagonal(self, X: Any) -> np.ndarray:
        rows = self.inputs(X)
        return self._column(rows, rows).prod(axis=1)


@dataclass(frozen=True)
class Spline(_ByColumn):
    r"""The kernel of linear splines with a knot at every point.

    Notes
    -----
    The product over columns, with :math:`m = \min(u, v)`, of

    .. math:: 1 + uv + uv\,m - \frac{u + v}{2} m^2 + \frac{m^3}{3}
              = 1 + uv + \int_0^m (u - t)(v - t)\, dt

    which needs inputs that are not negative: scale them to [0, 1]. See Bartkowiak 5.11.

    Examples
    --------
    >>> from verulam.kernel import Spline
    >>> Spline()([[1.0]], [[1.0], [0.5]]).round(4)
    array([[2.3333, 1.6042]])
    """

    def inputs(self, X: Any) -> np.ndarray:
        return not_negative(X, "its splines start at 0; scale the columns to [0, 1]")

    def _column(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        least, product = np.minimum(left, right), left * right
        return 1.0 + product * (1.0 + least) - 0.5 * (left + right) * least**2 + least**3 / 3.0


@dataclass(frozen=True)
class BSpline(_ByColumn):
    r"""The B-spline of degree :math:`2p + 1` at the difference of two numbers.

    Attributes
    ----------
    order
        The number :math:`p`; the Fourier transform is a square whatever it is.

    Examples
    --------
    >>> from verulam.kernel import BSpline
    >>> BSpline(order=1)([[0.0]], [[0.0], [1.0], [2.0]]).round(4)
    array([[0.6667, 0.1667, 0.    ]])
    """

    order: int = 1

    def __post_init__(self) -> None:
        if self.order < 0 or self.order != int(self.order):
            raise DataError(f"order must be a whole number not below 0; got {self.order}.")

    def _column(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        # Knots at whole numbers about zero: the B-spline is even and ends at both outer ones.
        half = self.order + 1
        basis = PiecewisePolynomial.basis_element(
            np.arange(-half, half + 1, dtype=np.float64), extrapolate=False
        )
        return np.nan_to_num(np.asarray(basis(left - right)), nan=0.0)


@dataclass(frozen=True)
class Fourier(_ByColumn):
    r"""The kernel of Fourier series up to some frequency, for inputs in :math:`[-\pi, \pi]`.

    Attributes
    ----------
    order
        Highest frequency :math:`N`.

    Notes
    -----
    The product over columns of :math:`\sin((N + \frac{1}{2}) d) / \sin(\frac{d}{2})
    = 1 + 2 \sum_{k=1}^{N} \cos kd` with :math:`d = u - v`. See Bartkowiak 5.11.

    Examples
    --------
    >>> from verulam.kernel import Fourier
    >>> Fourier(order=2)([[0.0]], [[0.0], [1.0]]).round(4)
    array([[5.    , 1.2483]])
    """

    order: int = 3

    def __post_init__(self) -> None:
        if self.order < 1 or self.order != int(self.order):
            raise DataError(f"order must be a whole number above 0; got {self.order}.")

    def _column(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        half = 0.5 * (left - right)
        below = np.sin(half)
        # At a difference of zero the ratio is 0 / 0, and its limit 2 N + 1.
        small = np.abs(below) < 1e-6
        ratio = np.sin((2 * self.order + 1) * half) / np.where(small, 1.0, below)
        return np.where(small, 2.0 * self.order + 1.0, ratio)


@dataclass(frozen=True)
class Anova(Kernel):
    r"""The sum over all sets of `order` columns of the products of their Gaussian kernels.

    Attributes
    ----------
    order
        Columns that interact at once.
    width
        Width :math:`s` of the Gaussian of one column.

    Notes
    -----
    .. math:: K(x, y) = \sum_{j_1 < \dots < j_p} \prod_{i=1}^{p}
              \exp\left(-\frac{(x_{j_i} - y_{j_i})^2}{2 s^2}\right)

    Computed column by column, without listing the sets. See Bartkowiak 5.11.

    Examples
    --------
    >>> from verulam.kernel import Anova
    >>> Anova(order=2)([[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).round(4)
    array([[3.    , 2.2131]])
    """

    order: int = 2
    width: float = 1.0

    def __post_init__(self) -> None:
        positive("width", self.width)
        if self.order < 1 or self.order != int(self.order):
            raise DataError(f"order must be a whole number above 0; got {self.order}.")

    def inputs(self, X: Any) -> np.ndarray:
        rows = as_rows(X)
        if rows.shape[1] < self.order:
            raise DataError(
                f"order must be at most {rows.shape[1]}, the number of columns; got {self.order}."
            )
        return rows

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        sums = np.zeros((self.order + 1, len(left), len(right)))
        sums[0] = 1.0
        for column in range(left.shape[1]):
            gaps = left[:, column, None] - right[None, :, column]
            alike = np.exp(-0.5 * (gaps / self.width) ** 2)
            # From the highest degree down, so that each set takes a column once.
            for degree in range(self.order, 0, -1):
                sums[degree] += alike * sums[degree - 1]
        return sums[self.order]

    def diagonal(self, X: Any) -> np.ndarray:
        rows = self.inputs(X)
        return np.full(len(rows), float(comb(rows.shape[1], self.order)))
