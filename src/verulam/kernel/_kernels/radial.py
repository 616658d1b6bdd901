"""Kernels of the distance of two rows: near inputs are alike."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError, thread_map
from verulam.kernel._kernels.base import Kernel, as_rows, positive
from verulam.kernel._kernels.gaussian_loops import gaussian_block, gaussian_block_single
from verulam.kernel._tuning import (
    GAUSSIAN_THREADED_ENTRIES,
    GAUSSIAN_TILE_COLUMNS,
    GAUSSIAN_TILE_ROWS,
)
from verulam.numerics import distances

#: Widths below this have squares of which floating point keeps few digits or none.
LEAST_WIDTH = 1e-150
#: Single precision has seven digits. Where exponents of a row with the origin are below this, what
#: is lost when distances are taken from squares is below a millionth of the kernel's range.
LARGEST_EXPONENT = 8.0


def scale_width(rows: np.ndarray) -> float:
    r"""Return the width with :math:`2 s^2` = columns times variance of all entries."""
    # The usual scale of scikit-learn: gamma = 1 / (columns * variance), with gamma = 1 / 2 s^2.
    width = float(np.sqrt(0.5 * rows.shape[1] * rows.var()))
    if width >= LEAST_WIDTH:
        return width
    extent = float(np.ptp(rows))
    if extent > 0.0:
        raise DataError(
            f"X varies by no more than {extent:.3g}, whose square is below floating point; "
            "multiply it by a constant, or put sklearn.preprocessing.StandardScaler in front."
        )
    return float(np.sqrt(0.5 * rows.shape[1]))


class _Radial(Kernel):
    """A kernel that depends on a distance, so that its diagonal is one."""

    width: Any

    def adapted(self, X: Any) -> Kernel:
        if isinstance(self.width, str):
            return replace(self, width=scale_width(as_rows(X)))  # type: ignore[type-var] # dataclass
        return self

    def _width(self) -> float:
        if isinstance(self.width, str):
            raise DataError(
                'width "scale" comes from the training data: call adapted(X) first, or give the '
                "kernel to a learner, which does."
            )
        return float(self.width)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(len(self.inputs(X)))


def _check_width(width: Any) -> None:
    if isinstance(width, str):
        if width != "scale":
            raise DataError(f'width must be a number above 0 or "scale"; got {width!r}.')
    else:
        positive("width", width)
        if width < LEAST_WIDTH:
            raise DataError(
                f"width must be at least {LEAST_WIDTH:g}, as smaller squares are below floating "
                f"point; got {width:g}. Multiply inputs and width by a constant."
            )


@dataclass(frozen=True)
class Gaussian(_Radial):
    r"""The Gaussian (radial basis function) kernel.

    Attributes
    ----------
    width
        Standard deviation :math:`s`; one number, or one for each column. "scale" takes
        :math:`2 s^2` = number of columns times variance of the training data.

    Notes
    -----
    .. math:: K(x, y) = \exp\left(-\frac{\|x - y\|^2}{2 s^2}\right)

    See Alpaydin 13.6 (13.30).

    Examples
    --------
    >>> from verulam.kernel import Gaussian
    >>> Gaussian(width=1.0)([[0.0]], [[0.0], [1.0], [2.0]]).round(4)
    array([[1.    , 0.6065, 0.1353]])
    """

    width: float | str | tuple[float, ...] = "scale"

    def __post_init__(self) -> None:
        if isinstance(self.width, str | int | float | np.number):
            _check_width(self.width)
            return
        widths = tuple(map(float, self.width))
        for width in widths:
            _check_width(width)
        object.__setattr__(self, "width", widths)

    def inputs(self, X: Any) -> np.ndarray:
        rows = as_rows(X)
        if isinstance(self.width, tuple) and len(self.width) != rows.shape[1]:
            raise DataError(
                f"width has {len(self.width)} entries, but X has {rows.shape[1]} columns; give one "
                "for each, or a single one."
            )
        return rows

    def fill(
        self,
        left: np.ndarray,
        right: np.ndarray,
        result: np.ndarray,
        places: np.ndarray | None = None,
    ) -> None:
        if result.dtype != np.float32:
            super().fill(left, right, result, places)
            return
        first, second, factor = self._scaled(left, right)
        # The same array on both sides, as in training: one half of the matrix is enough.
        symmetric = left is right and places is None
        _fill_single(first, second, factor, result, places, symmetric=symmetric)

    def _write(self, left: np.ndarray, right: np.ndarray, result: np.ndarray) -> None:
        first, second, factor = self._scaled(left, right)
        gaussian_block(
            first @ second.T,
            np.einsum("ij,ij->i", first, first),
            np.einsum("ij,ij->i", second, second),
            factor,
            result,
        )

    def _scaled(self, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        # Distances do not change with the origin, and near it fewer digits cancel.
        origin = right[0] if len(right) else 0.0
        if isinstance(self.width, tuple):
            units, factor = np.array(self.width), 0.5
        else:
            units, factor = np.ones(1), 0.5 / self._width() ** 2
        first, second = left - origin, right - origin
        first /= units
        second /= units
        return first, second, factor

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        result = np.empty((len(left), len(right)))
        self._write(left, right, result)
        return result


@dataclass(frozen=True)
class Mahalanobis(Kernel):
    r"""A Gaussian kernel whose distance knows the scales and correlations of the columns.

    Attributes
    ----------
    covariance
        Matrix :math:`S` as rows of numbers; None stands for the covariance of the training data.
    alpha
        Share of the mean variance added to the diagonal, so that the matrix can be inverted.

    Notes
    -----
    .. math:: K(x, y) = \exp\left(-\tfrac{1}{2} (x - y)^T S^{-1} (x - y)\right)

    See Alpaydin 13.6 (13.31) and exercise 2.

    Examples
    --------
    >>> from verulam.kernel import Mahalanobis
    >>> kernel = Mahalanobis(covariance=[[4.0, 0.0], [0.0, 1.0]])
    >>> kernel([[0.0, 0.0]], [[2.0, 0.0], [0.0, 1.0]]).round(4)
    array([[0.6065, 0.6065]])
    """

    covariance: Any = None
    alpha: float = 1e-6

    def __post_init__(self) -> None:
        if self.covariance is None:
            return
        matrix = as_rows(self.covariance)
        if matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T):
            raise DataError(f"covariance must be square and symmetric; got shape {matrix.shape}.")
        object.__setattr__(self, "covariance", tuple(map(tuple, matrix.tolist())))

    def adapted(self, X: Any) -> Kernel:
        if self.covariance is not None:
            return self
        rows = as_rows(X)
        return Mahalanobis(np.cov(rows.T, bias=True).reshape(2 * (rows.shape[1],)), self.alpha)

    def _white(self, rows: np.ndarray) -> np.ndarray:
        if self.covariance is None:
            raise DataError(
                "covariance comes from the training data: call adapted(X) first, or give the "
                "kernel to a learner, which does."
            )
        matrix = np.array(self.covariance)
        matrix += self.alpha * (np.trace(matrix) / len(matrix) or 1.0) * np.eye(len(matrix))
        try:
            root = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            raise DataError(
                "covariance must be positive definite; its smallest eigenvalue is "
                f"{np.linalg.eigvalsh(matrix)[0]:.3g}. Raise alpha, or mend the matrix."
            ) from None
        # With S = L L^T, Mahalanobis' distance is the Euclidean one of L^-1 x.
        return np.ascontiguousarray(np.linalg.solve(root, rows.T).T)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return Gaussian(1.0)._values(self._white(left), self._white(right))

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(len(as_rows(X)))


@dataclass(frozen=True)
class Laplace(_Radial):
    r"""The Laplace kernel :math:`\exp(-\|x - y\|_1 / s)`, with a peak where the Gaussian is round.

    Attributes
    ----------
    width
        Width :math:`s`, or "scale" as for `Gaussian`.

    Examples
    --------
    >>> from verulam.kernel import Laplace
    >>> Laplace(width=2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    width: float | str = "scale"

    def __post_init__(self) -> None:
        _check_width(self.width)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.exp(distances(left, right, "manhattan") / -self._width())


@dataclass(frozen=True)
class ExponentialRadial(_Radial):
    r"""The exponential radial kernel :math:`\exp(-\|x - y\| / 2 s^2)`.

    Attributes
    ----------
    width
        Width :math:`s`, or "scale" as for `Gaussian`.

    Notes
    -----
    The distance itself, not its square, so that solutions have kinks. See Bartkowiak 5.11.

    Examples
    --------
    >>> from verulam.kernel import ExponentialRadial
    >>> ExponentialRadial(width=1.0)([[0.0]], [[2.0]]).round(4)
    array([[0.3679]])
    """

    width: float | str = "scale"

    def __post_init__(self) -> None:
        _check_width(self.width)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.exp(distances(left, right, "euclidean") / (-2.0 * self._width() ** 2))


@dataclass(frozen=True)
class ChiSquare(Kernel):
    r"""The chi-square kernel of histograms, :math:`\exp(-a \sum_j (x_j - y_j)^2 / (x_j + y_j))`.

    Attributes
    ----------
    scale
        Factor :math:`a`.

    Examples
    --------
    >>> from verulam.kernel import ChiSquare
    >>> ChiSquare()([[1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]]).round(4)
    array([[0.1353, 1.    ]])
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        positive("scale", self.scale)

    def inputs(self, X: Any) -> np.ndarray:
        return not_negative(X, "the chi-square kernel compares histograms")

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        total = np.zeros((len(left), len(right)))
        for column in range(left.shape[1]):
            first, second = left[:, column, None], right[None, :, column]
            sums = first + second
            # Cells that both histograms leave empty add nothing, where 0 / 0 would be no number.
            total += np.divide((first - second) ** 2, sums, out=np.zeros_like(sums), where=sums > 0)
        return np.exp(-self.scale * total)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(len(self.inputs(X)))


@dataclass(frozen=True)
class DistanceKernel(_Radial):
    r"""The Gaussian form of any distance, :math:`\exp(-D(x, y) / 2 s^2)`.

    Attributes
    ----------
    distance
        Function of two tables of rows that returns all distances :math:`D`.
    width
        Width :math:`s`, or "scale" as for `Gaussian`.

    Notes
    -----
    See Alpaydin 13.6 (13.32). Not every distance gives an inner product; `mercer_check` tells.

    Examples
    --------
    >>> from verulam.kernel import DistanceKernel
    >>> from verulam.numerics import distances
    >>> kernel = DistanceKernel(lambda X, Y: distances(X, Y, "manhattan"), width=1.0)
    >>> kernel([[0.0]], [[2.0]]).round(4)
    array([[0.3679]])
    """

    distance: Callable[[np.ndarray, np.ndarray], np.ndarray]
    width: float | str = "scale"

    certain: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_width(self.width)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.exp(np.asarray(self.distance(left, right)) / (-2.0 * self._width() ** 2))


def not_negative(X: Any, reason: str) -> np.ndarray:
    """Return rows without negative entries, or say why they are refused."""
    rows = as_rows(X)
    if rows.size and rows.min() < 0:
        raise DataError(f"X must not be negative ({reason}); its smallest entry is {rows.min():g}.")
    return rows


def _fill_single(
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
    # Squared distances are squares less twice the inner products, which a matrix product makes.
    norms = [np.einsum("ij,ij->i", rows, rows) for rows in (left, right)]
    largest = max(float(squares.max(initial=0.0)) for squares in norms)
    enough = factor * largest <= LARGEST_EXPONENT
    block = gaussian_block_single if enough else gaussian_block
    precision = np.dtype(np.float32 if enough else np.float64)
    # Turned round once, so that every product reads both factors along their rows.
    first, second = left.astype(precision), np.ascontiguousarray(right.T, dtype=precision)
    left_squares, right_squares = (squares.astype(precision) for squares in norms)

    def tile(start: int) -> None:
        rows = slice(start, start + GAUSSIAN_TILE_ROWS)
        # Of a symmetric matrix, tiles from the diagonal on to the right.
        for column in range(start if symmetric else 0, len(right), GAUSSIAN_TILE_COLUMNS):
            columns = slice(column, column + GAUSSIAN_TILE_COLUMNS)
            products = first[rows] @ second[:, columns]
            part = result[rows, columns] if places is None else np.empty_like(products, np.float32)
            block(products, left_squares[rows], right_squares[columns], factor, part)
            if places is not None:
                result[places[rows], columns] = part
            elif symmetric:
                result[columns, rows] = part.T

    starts = range(0, len(left), GAUSSIAN_TILE_ROWS)
    many = len(left) * len(right) > GAUSSIAN_THREADED_ENTRIES
    thread_map(tile, starts, 0 if many else 1)
