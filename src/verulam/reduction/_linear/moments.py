"""Mean and covariance of a table, its principal axes, and signs that every machine agrees on."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from verulam.base import Chunk, DataError
from verulam.numerics import PooledMoments, column_signs

#: Variances below this share of the largest, for each column, are rounding.
NEGLIGIBLE = 1e-13
#: Much cancels if the mean's square is more than so many times the variance: two digits.
FAR = 100.0


@dataclass(frozen=True)
class Covariance:
    """Mean and covariance matrix of a table.

    Attributes
    ----------
    weight
        Number of rows, or their total weight.
    mean : ndarray of shape (n_columns,)
        Column means.
    matrix : ndarray of shape (n_columns, n_columns)
        Scatter divided by the weight less one.
    """

    weight: float
    mean: np.ndarray
    matrix: np.ndarray

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviation of each column."""
        return np.sqrt(np.diag(self.matrix))

    def scaled(self, scale: np.ndarray) -> np.ndarray:
        """Return the covariance matrix of the columns divided by `scale`."""
        return self.matrix / np.outer(scale, scale)


@dataclass(frozen=True)
class PrincipalAxes:
    """Eigenvectors of a covariance matrix.

    Attributes
    ----------
    variances : ndarray of shape (n_columns,)
        Eigenvalues, the largest first, none below zero.
    directions : ndarray of shape (n_columns, n_columns)
        Unit eigenvectors as columns, in that order.
    """

    variances: np.ndarray
    directions: np.ndarray

    @property
    def rank(self) -> int:
        """Number of directions with variance beyond rounding."""
        limit = NEGLIGIBLE * len(self.variances) * self.variances[0]
        return int((self.variances > limit).sum())


def table_moments(chunk: Chunk) -> PooledMoments:
    """Return the moments of one chunk as those of a single class."""
    X, weights = chunk.inputs, chunk.weights
    roots = np.ones(len(X)) if weights is None else np.sqrt(weights)
    total = float(roots @ roots)
    # Products first, means off them after: one pass and no copy, where little cancels. Where much
    # does, the first row is subtracted, of which a constant column leaves exactly nothing; and
    # where that row lies far out, the mean.
    origin = np.zeros(X.shape[1])
    rows = X if weights is None else roots[:, None] * X
    for attempt in range(3):
        shift = (roots @ rows) / max(total, np.finfo(float).tiny)
        scatter = rows.T @ rows - total * np.outer(shift, shift)
        if attempt == 2 or not (total * shift**2 > FAR * np.diag(scatter)).any():
            break
        origin = X[0] if attempt == 0 else origin + shift
        rows = roots[:, None] * (X - origin)
    return PooledMoments(np.array([total]), (origin + shift)[None], scatter)


def covariance(moments: PooledMoments) -> Covariance:
    """Return mean and covariance of all classes' rows about their class means."""
    weight = float(moments.weight.sum())
    if weight <= 1.0:
        raise DataError(
            f"X: a covariance needs at least two rows, and there is n_samples={weight:g}."
        )
    return Covariance(weight, moments.mean[0], moments.scatter / (weight - 1.0))


def principal_axes(matrix: np.ndarray) -> PrincipalAxes:
    """Return the eigenvectors of a covariance matrix, each with its largest entry positive."""
    variances, directions = scipy.linalg.eigh(matrix)
    directions = directions[:, ::-1]
    return PrincipalAxes(np.maximum(variances[::-1], 0.0), directions * column_signs(directions))


def check_count(n_components: int, n_columns: int) -> None:
    """Raise where more components are asked for than there are columns."""
    if n_components > n_columns:
        raise DataError(
            f"n_components={n_components}: there are at most as many components as columns, and X "
            f"has n_features={n_columns}."
        )
