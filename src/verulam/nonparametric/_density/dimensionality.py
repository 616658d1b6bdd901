"""What many dimensions do to local estimates: empty cells and sample sizes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from verulam.base import DataError
from verulam.nonparametric._neighbours.inputs import check_at_least, checked_rows

#: Logarithm of the largest number.
LARGEST_LOG = 709.0


@dataclass(frozen=True)
class DimensionalityReport:
    """How thinly a data set fills its space.

    Attributes
    ----------
    n_cells : float
        Cells of a grid over the range of the data: bins to the power of columns.
    occupied : int
        Cells with at least one row.
    empty_share : float
        Share of cells without data.
    rows_per_cell : float
        Mean number of rows per cell.
    scale_ratio : float
        Largest standard deviation over the smallest: far from 1, standardise before distances
        are taken. Infinite where a column is constant.
    """

    n_cells: float
    occupied: int
    empty_share: float
    rows_per_cell: float
    scale_ratio: float

    def __str__(self) -> str:
        return (
            f"{self.n_cells:.6g} cells, {self.empty_share:.2%} of them empty, "
            f"{self.rows_per_cell:.3g} rows per cell; scales differ by {self.scale_ratio:.3g}"
        )


def dimensionality(X: ArrayLike, bins: int = 10) -> DimensionalityReport:
    """Return how a grid of `bins` bins per column would be filled.

    Parameters
    ----------
    X
        One row per point.
    bins
        Bins of equal width over the range of each column.

    Notes
    -----
    Eight columns of ten bins have a hundred million cells. See Alpaydin 8.3.

    Examples
    --------
    >>> import numpy as np
    >>> print(dimensionality(np.random.default_rng(0).random((1000, 8))))
    1e+08 cells, 100.00% of them empty, 1e-05 rows per cell; scales differ by 1.07
    """
    points = checked_rows(X)
    check_at_least(bins, 1, "bins")
    low, high = points.min(axis=0), points.max(axis=0)
    unit = (points - low) / np.where(high > low, high - low, 1.0)
    cells = np.minimum((unit * bins).astype(np.intp), bins - 1)
    occupied = len(np.unique(cells, axis=0))
    n_cells = float(bins) ** points.shape[1]
    spreads = points.std(axis=0)
    ratio = float(spreads.max() / spreads.min()) if spreads.min() > 0 else np.inf
    return DimensionalityReport(
        n_cells, occupied, 1.0 - occupied / n_cells, len(points) / n_cells, ratio
    )


def required_sample_size(n_columns: int, relative_error: float = 0.1) -> float:
    r"""Return the rows a Gaussian window needs to know a Gaussian density at its centre.

    Parameters
    ----------
    n_columns
        Dimensions :math:`d`.
    relative_error
        Mean square error over the square of the density, at the best bandwidth.

    Notes
    -----
    With :math:`a = (1 + h^2)^{-d/2}`, the relative error of :math:`n` rows is
    :math:`(1 - a)^2 + (h^{-d} (h^2 + 2)^{-d/2} - a^2) / n`. See Bartkowiak 4.2, whose table is
    Silverman's; its entry for five dimensions, 786, has two digits exchanged.

    Examples
    --------
    >>> [round(required_sample_size(d), 1) for d in (1, 2, 5)]
    [3.0, 18.3, 767.7]
    """
    if n_columns < 1:
        raise DataError(f"n_columns must be at least 1, not {n_columns}.")
    if not 0 < relative_error < 1:
        raise DataError(f"relative_error must lie between 0 and 1, not {relative_error}.")
    # A bandwidth whose bias alone reaches the error would need infinitely many rows.
    widest = np.sqrt((1.0 - np.sqrt(relative_error)) ** (-2.0 / n_columns) - 1.0)

    def log_rows(log_width: float) -> float:
        square = np.exp(2.0 * log_width)
        mean = (1.0 + square) ** (-n_columns / 2.0)
        log_second = -0.5 * n_columns * np.log(square * (square + 2.0))
        # The first is by far the larger of the two where columns are many.
        log_variance = log_second + np.log1p(-(mean**2) * np.exp(-log_second))
        return float(log_variance - np.log(relative_error - (1.0 - mean) ** 2))

    edge = float(np.log(widest))
    best = minimize_scalar(log_rows, bounds=(edge - 8.0, edge - 1e-9), method="bounded")
    return float(np.exp(best.fun)) if best.fun < LARGEST_LOG else np.inf
