"""Histograms as densities: counts in fixed cells."""

from itertools import product
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    DataError,
    Density,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    check_weights,
    checked_fit,
    generator,
    validate_data,
)
from verulam.nonparametric._density.line import check_line, check_shares, line_quantiles
from verulam.nonparametric._windows.functions import WINDOWS

#: Beyond this many columns the corners of a cell are too many to interpolate between.
MOST_INTERPOLATED = 16


class HistogramDensity(Density):
    r"""Estimate a density by counts in the cells of a fixed grid.

    Parameters
    ----------
    bin_width
        Side :math:`h` of the cells, or "scott" for a width that suits the spread of the data.
    origin
        Where a cell begins, in every column.
    interpolate
        Join the heights at the centres of cells by straight lines instead of steps.

    Attributes
    ----------
    bin_width_ : float
        Side of the cells.
    cells_ : ndarray of shape (n_cells, n_features)
        Place of each cell with data, in cells from the origin.
    shares_ : ndarray of shape (n_cells,)
        Share of the data in each of them.

    Notes
    -----
    .. math:: \hat p(x) = \frac{\#\{x^t \text{ in the cell of } x\}}{N h^d}

    Cells without data are not stored, and have density zero. See Alpaydin 8.2, SIT1305 III.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import HistogramDensity
    >>> density = HistogramDensity(bin_width=2.0).fit([[0.5], [1.5], [3.0], [6.1]])
    >>> np.exp(density.score_samples([[1.0], [2.5], [5.0]]))
    array([0.25 , 0.125, 0.   ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bin_width": [Interval(Real, 0, None, closed="neither"), StrOptions({"scott"})],
        "origin": [Real],
        "interpolate": ["boolean"],
    }

    def __init__(
        self, *, bin_width: float | str = "scott", origin: float = 0.0, interpolate: bool = False
    ) -> None:
        self.bin_width = bin_width
        self.origin = origin
        self.interpolate = interpolate

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Count the rows in each cell; `sample_weight` says how often each counts."""
        inputs = validate_data(self, X, dtype=np.float64, order="C")
        weights = check_weights(sample_weight, inputs)
        counts = np.ones(len(inputs)) if weights is None else weights
        if counts.sum() <= 0:
            raise DataError("sample_weight: all weights are zero; at least one must be above.")
        if self.interpolate and inputs.shape[1] > MOST_INTERPOLATED:
            raise DataError(
                f"interpolate=True has 2^d corners to a cell; X has {inputs.shape[1]} columns and "
                f"{MOST_INTERPOLATED} is the most."
            )
        self.bin_width_ = self._find_bin_width(inputs, counts)
        self.cells_, members = np.unique(self._cells(inputs), axis=0, return_inverse=True)
        sums = np.bincount(members.ravel(), counts, len(self.cells_))
        self.cells_, sums = self.cells_[sums > 0], sums[sums > 0]
        self.shares_ = sums / sums.sum()
        return self

    def _find_bin_width(self, inputs: np.ndarray, counts: np.ndarray) -> float:
        if not isinstance(self.bin_width, str):
            return float(self.bin_width)
        centred = inputs - np.average(inputs, axis=0, weights=counts)
        spread = float(np.sqrt(np.average(centred**2, axis=0, weights=counts).mean()))
        # Scott's constant for one column, with the rate of a histogram in several.
        rate = counts.sum() ** (-1.0 / (2.0 + inputs.shape[1]))
        return 3.49 * spread * rate or 1.0

    def _cells(self, inputs: np.ndarray) -> np.ndarray:
        return np.floor((inputs - self.origin) / self.bin_width_)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density at each row: minus infinity in cells without data."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        heights = (
            self._interpolated(inputs) if self.interpolate else self._look_up(self._cells(inputs))
        )
        with np.errstate(divide="ignore"):
            return np.log(heights) - inputs.shape[1] * np.log(self.bin_width_)

    def _interpolated(self, inputs: np.ndarray) -> np.ndarray:
        """Return the shares between the centres of cells, linear along each column."""
        places = (inputs - self.origin) / self.bin_width_ - 0.5
        below = np.floor(places)
        part = places - below
        total = np.zeros(len(inputs))
        for corner in product((0.0, 1.0), repeat=inputs.shape[1]):
            nearness = np.where(np.array(corner) == 1.0, part, 1.0 - part).prod(axis=1)
            total += nearness * self._look_up(below + corner)
        return total

    def _look_up(self, cells: np.ndarray) -> np.ndarray:
        """Return the shares of some cells: zero where nothing was stored."""
        # Numbered together, a cell that is asked for has the code of the stored one.
        both = np.concatenate([self.cells_, cells])
        _, codes = np.unique(both, axis=0, return_inverse=True)
        shares = np.zeros(codes.max() + 1)
        shares[codes.ravel()[: len(self.cells_)]] = self.shares_
        return shares[codes.ravel()[len(self.cells_) :]]

    def cumulative(self, values: ArrayLike) -> np.ndarray:
        """Return the share of the density below each value; one column only."""
        points = check_line(self, "cumulative", values)
        places = (points - self.origin) / self.bin_width_
        below = np.zeros(points.shape)
        # A cell is a box; with straight lines between centres, a triangle of double width.
        window = WINDOWS["linear" if self.interpolate else "tophat"]
        half = 1.0 if self.interpolate else 0.5
        for cell, share in zip(self.cells_[:, 0], self.shares_, strict=True):
            below += share * window.cumulative((places - cell - 0.5) / half)
        return below

    def quantile(self, shares: ArrayLike) -> np.ndarray:
        """Return the values below which the given shares of the density lie; one column only."""
        levels = check_shares(self, shares)
        edges = np.array([self.cells_.min() - 0.5, self.cells_.max() + 1.5])
        low, high = self.origin + edges * self.bin_width_
        return line_quantiles(self.cumulative, levels, low, high)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw rows from the density."""
        check_is_fitted(self)
        chance = generator(random_state)
        cells = self.cells_[chance.choice(len(self.cells_), size=n_samples, p=self.shares_)]
        inside = chance.random(cells.shape)
        if self.interpolate:
            # Straight lines between centres are a triangle of double width around each.
            inside += chance.random(cells.shape) - 0.5
        return self.origin + (cells + inside) * self.bin_width_
