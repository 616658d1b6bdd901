"""Rotations of factor loadings towards few large numbers: varimax and promax."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    BOOLEAN,
    NUMBER,
    TABLE,
    DataError,
    checked_arguments,
)

#: Sweeps over all pairs of factors that varimax makes at most; it settles within a dozen.
MOST_SWEEPS = 500
#: A plane in which every angle is as good has a moment below this share of the squares.
ROUNDING = 1e-14


@dataclass(frozen=True)
class Rotation:
    r"""Rotated loadings.

    Attributes
    ----------
    loadings : ndarray of shape (n_columns, n_factors)
        The loadings :math:`L = V T`.
    matrix : ndarray of shape (n_factors, n_factors)
        The matrix :math:`T`, orthogonal unless factors may correlate.
    factor_covariance : ndarray of shape (n_factors, n_factors)
        Covariances :math:`\Phi = (T^T T)^{-1}` of the rotated factors, with which
        :math:`L \Phi L^T = V V^T`.
    """

    loadings: np.ndarray
    matrix: np.ndarray
    factor_covariance: np.ndarray


@checked_arguments(loadings=TABLE, normalise=BOOLEAN, tol=NUMBER)
def varimax(loadings: ArrayLike, *, normalise: bool = True, tol: float = 1e-10) -> Rotation:
    r"""Turn factors so that the squared loadings of each vary most.

    Parameters
    ----------
    loadings
        One row per column of the data, one column per factor.
    normalise
        Whether rows are brought to length one for the choice of the rotation (Kaiser), so that
        columns with little in common have the same say.
    tol
        Largest angle of a turn, in radians, at which the turns end.

    Notes
    -----
    .. math:: \max_{T^T T = I} \sum_j \Big[\frac1d\sum_i l_{ij}^4 -
              \Big(\frac1d\sum_i l_{ij}^2\Big)^2\Big], \qquad L = V T

    Two factors at a time are turned by the best angle of their plane, which has a closed form
    [kaiser1958]_. The fitted covariances stay as they are, since :math:`V T T^T V^T = V V^T`.

    .. [kaiser1958] H. F. Kaiser, "The varimax criterion for analytic rotation in factor analysis",
       Psychometrika 23, 187-200, 1958.

    Examples
    --------
    Two factors that were mixed by a turn of 45 degrees:

    >>> import numpy as np
    >>> from verulam.reduction import varimax
    >>> mixed = np.array([[0.6, 0.6], [0.5, 0.5], [-0.4, 0.4], [-0.7, 0.7]])
    >>> (varimax(mixed).loadings.round(2) + 0.0).tolist()
    [[0.0, 0.85], [0.0, 0.71], [0.57, 0.0], [0.99, 0.0]]
    """
    start = _loading_table(loadings)
    lengths = np.sqrt((start**2).sum(axis=1, keepdims=True))
    rows = start / np.where(lengths > 0.0, lengths, 1.0) if normalise else start
    turn = np.eye(start.shape[1])
    for _ in range(MOST_SWEEPS):
        angles = [_turn_plane(rows, turn, pair) for pair in combinations(range(len(turn)), 2)]
        if max(map(abs, angles), default=0.0) <= tol:
            break
    return _ordered(start, turn)


@checked_arguments(loadings=TABLE, power=NUMBER, normalise=BOOLEAN)
def promax(loadings: ArrayLike, *, power: float = 4.0, normalise: bool = True) -> Rotation:
    r"""Turn factors by varimax, then let them correlate so that small loadings become smaller.

    Parameters
    ----------
    loadings
        One row per column of the data, one column per factor.
    power
        Exponent of the target: the larger, the more factors may correlate.
    normalise
        As for `varimax`.

    Notes
    -----
    The loadings :math:`L` of varimax are regressed on the target
    :math:`l_{ij} |l_{ij}|^{p-1}`; the columns of the transformation are scaled so that factors
    have variance one [hendrickson1964]_.

    .. [hendrickson1964] A. E. Hendrickson and P. O. White, "Promax: a quick method for rotation
       to oblique simple structure", British Journal of Statistical Psychology 17, 65-70, 1964.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.reduction import promax
    >>> mixed = np.array([[0.7, 0.3], [0.8, 0.4], [0.2, 0.6], [0.3, 0.9]])
    >>> rotation = promax(mixed)
    >>> rotation.loadings.round(2).tolist()
    [[0.77, -0.01], [0.86, 0.05], [0.02, 0.62], [0.03, 0.93]]
    >>> rotation.factor_covariance.round(2).tolist()
    [[1.0, 0.65], [0.65, 1.0]]
    """
    if power < 1.0:
        raise DataError(f"power={power:g}: it must be at least 1.")
    start = _loading_table(loadings)
    orthogonal = varimax(start, normalise=normalise)
    target = orthogonal.loadings * np.abs(orthogonal.loadings) ** (power - 1.0)
    slant = np.linalg.lstsq(orthogonal.loadings, target, rcond=None)[0]
    if np.linalg.matrix_rank(slant) < len(slant):
        return orthogonal  # a factor without loadings has no direction to lean to
    spreads = np.sqrt(np.diag(np.linalg.inv(slant.T @ slant)))
    return _ordered(start, orthogonal.matrix @ (slant * spreads))


def _turn_plane(rows: np.ndarray, turn: np.ndarray, pair: tuple[int, int]) -> float:
    """Turn two factors in place by the angle that is best for both, and return it."""
    first, second = (rows @ turn[:, list(pair)]).T
    # As complex numbers z = first + i second: the criterion depends on the angle through
    # the variance of z squared alone, which turns four times as fast.
    squares = (first + 1j * second) ** 2
    moment = (squares**2).sum() - squares.sum() ** 2 / len(squares)
    if abs(moment) <= ROUNDING * (np.abs(squares) ** 2).sum():
        return 0.0
    angle = float(np.angle(moment)) / 4.0
    cosine, sine = np.cos(angle), np.sin(angle)
    turn[:, list(pair)] = turn[:, list(pair)] @ np.array([[cosine, -sine], [sine, cosine]])
    return angle


def _ordered(start: np.ndarray, matrix: np.ndarray) -> Rotation:
    """Return the rotation with the strongest factor first, and signs that make sums positive."""
    loadings = start @ matrix
    order = np.argsort(-(loadings**2).sum(axis=0), kind="stable")
    signs = np.where(loadings.sum(axis=0) < 0.0, -1.0, 1.0)
    matrix = (matrix * signs)[:, order]
    return Rotation(start @ matrix, matrix, np.linalg.inv(matrix.T @ matrix))


def _loading_table(loadings: ArrayLike) -> np.ndarray:
    table = np.asarray(loadings, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise DataError("loadings: expected a table of finite numbers, a row for each column.")
    return table
