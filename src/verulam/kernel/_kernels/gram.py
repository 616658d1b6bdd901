"""Gram matrices: is one an inner product, and where is its centre."""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import eigsh

from verulam.base import DataError, DataWarning, warn_caller
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function, as_kernel
from verulam.kernel._tuning import ALL_EIGENVALUES

#: Eigenvalues below zero by less than this share of the largest are rounding.
ROUNDING = 1e-9
#: Training inputs that are looked at where a kernel need not be an inner product: few, for their
#: eigenvalues are computed in every fit.
LOOKED_AT = 100
#: What machines do with an indefinite matrix, and what methods of components do.
STATIONARY = (
    "It was used as given, and steps of negative curvature were taken as nearly flat; the solution "
    "is a stationary point."
)
LEFT_OUT = "Directions of negative eigenvalues were left out."


@dataclass(frozen=True)
class GramReport:
    """Whether a matrix is one of inner products.

    Attributes
    ----------
    size
        Number of inputs.
    asymmetry
        Largest difference of two entries that should be the same.
    smallest_eigenvalue, largest_eigenvalue
        Ends of the spectrum of the symmetric part.
    symmetric, positive_semidefinite
        The verdicts, up to rounding; both together make a Gram matrix.
    """

    size: int
    asymmetry: float
    smallest_eigenvalue: float
    largest_eigenvalue: float
    symmetric: bool
    positive_semidefinite: bool

    def __bool__(self) -> bool:
        return self.symmetric and self.positive_semidefinite


def gram_report(gram: ArrayLike) -> GramReport:
    """Say whether a square matrix is symmetric and has no negative eigenvalues.

    Examples
    --------
    >>> from verulam.kernel import gram_report
    >>> report = gram_report([[1.0, 2.0], [2.0, 1.0]])
    >>> bool(report), report.smallest_eigenvalue
    (False, -1.0)
    """
    matrix = _square(gram)
    asymmetry = float(np.abs(matrix - matrix.T).max(initial=0.0))
    smallest, largest = _spectrum_ends(0.5 * (matrix + matrix.T))
    size = max(abs(smallest), abs(largest), 1e-300)
    return GramReport(
        size=len(matrix),
        asymmetry=asymmetry,
        smallest_eigenvalue=smallest,
        largest_eigenvalue=largest,
        symmetric=asymmetry <= 1e-8 * max(float(np.abs(matrix).max(initial=0.0)), 1e-300),
        positive_semidefinite=smallest >= -ROUNDING * size * len(matrix) ** 0.5,
    )


def mercer_check(kernel: str | Kernel | Function, X: Any) -> GramReport:
    """Look at the Gram matrix of a kernel on some data, as Mercer's condition asks.

    A kernel that passes may fail on other data; one that fails is no inner product.

    Examples
    --------
    >>> from verulam.kernel import Gaussian, Sigmoid, mercer_check
    >>> X = [[0.0], [0.5], [1.5]]
    >>> bool(mercer_check(Gaussian(1.0), X)), bool(mercer_check(Sigmoid(scale=1, offset=-1), X))
    (True, False)
    """
    adapted = as_kernel(kernel).adapted(X)
    return gram_report(adapted(X))


def centre_gram(gram: ArrayLike) -> np.ndarray:
    """Return the Gram matrix about the mean of its inputs.

    Examples
    --------
    >>> from verulam.kernel import centre_gram
    >>> centre_gram([[2.0, 0.0], [0.0, 4.0]])
    array([[ 1.5, -1.5],
           [-1.5,  1.5]])
    """
    matrix = _square(gram)
    means = matrix.mean(axis=0)
    return matrix - means - matrix.mean(axis=1)[:, None] + means.mean()


def normalise_gram(gram: ArrayLike) -> np.ndarray:
    """Return the matrix of cosines.

    Examples
    --------
    >>> from verulam.kernel import normalise_gram
    >>> normalise_gram([[4.0, 3.0], [3.0, 9.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    matrix = _square(gram)
    squares = np.diagonal(matrix)
    if (squares < 0).any():
        raise DataError(f"the diagonal must not be negative; its least entry is {squares.min():g}.")
    # An input without length has a cosine of zero with everything.
    lengths = np.sqrt(np.where(squares > 0, squares, np.inf))
    return matrix / lengths[:, None] / lengths


def check_gram(gram: np.ndarray, treatment: str = STATIONARY) -> np.ndarray:
    """Return a training Gram matrix made symmetric; if indefinite, warn and say how it is used."""
    report = gram_report(gram)
    if not report.symmetric:
        raise DataError(
            "a precomputed Gram matrix must be symmetric; two entries that should be the same "
            f"differ by {report.asymmetry:.3g}. Use (K + K.T) / 2 if that is meant."
        )
    if not report.positive_semidefinite:
        warn_caller(
            "the precomputed Gram matrix is indefinite: its smallest eigenvalue is "
            f"{report.smallest_eigenvalue:.3g}. {treatment}",
            DataWarning,
        )
    return 0.5 * (gram + gram.T)


def check_inner_product(kernel: Kernel, inputs: np.ndarray) -> None:
    """Look at some training inputs where a kernel need not be an inner product on all data."""
    if _certain(kernel):
        return
    some = inputs[:LOOKED_AT]
    report = gram_report(kernel(some))
    if not report.symmetric:
        raise DataError(
            "the kernel is not symmetric: the values of two inputs, taken both ways, differ by "
            f"{report.asymmetry:.3g}. A kernel must be the same both ways."
        )
    if not report.positive_semidefinite:
        warn_caller(
            f"the kernel is no inner product on these data: of {len(some)} inputs the smallest "
            f"eigenvalue is {report.smallest_eigenvalue:.3g}. It is used as it is; "
            "EmpiricalKernelMap makes a kernel of any score.",
            DataWarning,
        )


def _certain(kernel: Kernel) -> bool:
    """Return whether a kernel, and all that it is made of, are inner products on any data."""
    whole: Any = kernel
    parts = [getattr(whole, part.name) for part in fields(whole)] if is_dataclass(whole) else []
    return kernel.certain and all(_certain(part) for part in parts if isinstance(part, Kernel))


def _square(gram: ArrayLike) -> np.ndarray:
    matrix = np.asarray(gram, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(
            "a Gram matrix must be square, with a row and a column for each training input; got "
            f"shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise DataError("a Gram matrix must have finite entries only.")
    return matrix


def _spectrum_ends(matrix: np.ndarray) -> tuple[float, float]:
    if len(matrix) == 0:
        return 0.0, 0.0
    if len(matrix) <= ALL_EIGENVALUES:
        values = np.linalg.eigvalsh(matrix)
        return float(values[0]), float(values[-1])
    # A fixed start: the same matrix gives the same verdict.
    start = np.ones(len(matrix))
    largest = float(eigsh(matrix, k=1, which="LA", v0=start, return_eigenvectors=False)[0])
    # Taken off the largest, the smallest becomes the one of largest size, found the quickest.
    shifted = largest * np.eye(len(matrix)) - matrix
    farthest = eigsh(shifted, k=1, which="LA", v0=start, tol=1e-10, return_eigenvectors=False)
    return largest - float(farthest[0]), largest
