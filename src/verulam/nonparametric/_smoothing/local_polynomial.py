"""Local smoothing: a polynomial of low degree, fitted anew around every query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from verulam.base import DataError
from verulam.nonparametric._smoothing.base import TrainingSmooth, left_out_values
from verulam.nonparametric._smoothing.local_line import line_values, sorted_line
from verulam.nonparametric._smoothing.local_space import space_values, weight_blocks
from verulam.nonparametric._smoothing.neighbourhoods import LocalValues, Neighbourhood
from verulam.nonparametric._windows.functions import OTHER

#: Bandwidths that are tried where the data shall choose: of one input, and of several.
N_BANDWIDTHS, N_BANDWIDTHS_OF_SEVERAL = 40, 15
#: Above this many rows of several inputs, only as many are left out in turn to choose by.
CHOOSING_ROWS = 1000


@dataclass(frozen=True)
class LocalEngine:
    """A neighbourhood and the points in it: how local smoothers compute.

    Attributes
    ----------
    hood
        Window, width and degree.
    inputs, targets
        The stored points.
    prior
        Weight of each point besides its window's.
    units
        What each input was divided by; None where they are as they came.
    """

    hood: Neighbourhood
    inputs: np.ndarray
    targets: np.ndarray
    prior: np.ndarray | None = None
    units: np.ndarray | None = None

    @property
    def _on_line(self) -> bool:
        return (
            self.inputs.shape[1] == 1 and self.hood.degree <= 2 and self.hood.window.code != OTHER
        )

    def values(self, queries: np.ndarray, *, with_squares: bool = False) -> LocalValues:
        """Return the local fits at some inputs."""
        return self._scaled_values(self._scaled(queries), with_squares)

    def _scaled(self, queries: np.ndarray) -> np.ndarray:
        return queries if self.units is None else queries / self.units

    def _scaled_values(self, queries: np.ndarray, with_squares: bool) -> LocalValues:
        if self._on_line:
            line = sorted_line(self.inputs, self.targets, self.prior)
            return line_values(self.hood, line, queries[:, 0], with_squares=with_squares)
        return space_values(self.hood, self.inputs, self.targets, self.prior, queries)

    def squares(self) -> np.ndarray:
        """Return the sum of squared weights at each training input."""
        return self._scaled_values(self.inputs, with_squares=True).squares

    def training(self, rows: np.ndarray | None = None) -> TrainingSmooth:
        """Return the fits at the training inputs, or some rows, with and without each point."""
        rows = np.arange(len(self.inputs)) if rows is None else rows
        if self._on_line:
            return self._training_on_line(rows)
        fits = space_values(
            self.hood,
            self.inputs,
            self.targets,
            self.prior,
            self.inputs[rows],
            self_rows=rows,
        )
        targets = self.targets[rows]
        left_out, unknown = left_out_values(targets, fits.values, fits.leverage)
        needs_refit = self._needs_refit(unknown)
        refitted = rows[needs_refit]
        if len(refitted):
            left_out[needs_refit] = space_values(
                self.hood,
                self.inputs,
                self.targets,
                self.prior,
                self.inputs[refitted],
                self_rows=refitted,
                leave_out=True,
            ).values
        return TrainingSmooth(targets, fits.values, fits.leverage, left_out)

    def _training_on_line(self, rows: np.ndarray) -> TrainingSmooth:
        line = sorted_line(self.inputs, self.targets, self.prior)
        fits = line_values(self.hood, line, line.x)
        # The fits tell the weight of a point of weight one at the query.
        leverage = fits.leverage * line.prior
        left_out, unknown = left_out_values(line.y, fits.values, leverage)
        refitted = np.flatnonzero(self._needs_refit(unknown))
        if len(refitted):
            fits_without = line_values(self.hood, line, line.x[refitted], left_out=refitted)
            left_out[refitted] = fits_without.values
        columns = np.empty((3, len(line.x)))
        columns[:, line.order] = fits.values, leverage, left_out
        return TrainingSmooth(self.targets[rows], *columns[:, rows])

    def _needs_refit(self, unknown: np.ndarray) -> np.ndarray:
        """Return where leaving out a point needs another fit.

        Without a point, neighbourhoods of fixed size reach one point farther.
        """
        if len(self.inputs) == 1:
            return np.zeros_like(unknown)
        return np.full_like(unknown, self.hood.n_neighbors is not None) | unknown

    def weights(self, queries: np.ndarray) -> np.ndarray:
        """Return the weight of each training target at some inputs."""
        result = np.zeros((len(queries), len(self.inputs)))
        for block in weight_blocks(self.hood, self.inputs, self.prior, self._scaled(queries)):
            if block.points is None:
                result[block.rows] = block.weights
            else:
                np.put_along_axis(result[block.rows], block.points, block.weights, axis=1)
        return result


def local_engine(
    hood: Neighbourhood,
    inputs: np.ndarray,
    targets: np.ndarray,
    bandwidth: float | np.ndarray,
) -> LocalEngine:
    """Return the engine for a fixed bandwidth, one for all inputs or one for each.

    A bandwidth for each input is the same as a bandwidth of one for inputs in these units.
    """
    if isinstance(bandwidth, np.ndarray):
        scaled = np.ascontiguousarray(inputs / bandwidth)
        return LocalEngine(replace(hood, bandwidth=1.0), scaled, targets, units=bandwidth)
    return LocalEngine(replace(hood, bandwidth=bandwidth), inputs, targets)


def checked_bandwidth(
    bandwidth: float | Sequence[float] | np.ndarray, n_columns: int
) -> float | np.ndarray:
    """Return the bandwidth as a number, or one for each column."""
    widths = np.asarray(bandwidth, dtype=np.float64)
    if widths.ndim > 1 or widths.size not in (1, n_columns):
        raise DataError(
            f"bandwidth has {widths.size} entries, but X has {n_columns} columns; accepted are one "
            "number, or one for each column."
        )
    if not (np.isfinite(widths) & (widths > 0)).all():
        raise DataError(f"bandwidth must be above 0 and finite, but got {bandwidth!r}.")
    return float(widths.ravel()[0]) if widths.size == 1 else widths


def fitted_bandwidth(
    bandwidth: str | float | Sequence[float] | np.ndarray,
    hood: Neighbourhood,
    inputs: np.ndarray,
    targets: np.ndarray,
) -> float | np.ndarray:
    """Return the bandwidth that was given, checked, or the one that the data choose."""
    if not isinstance(bandwidth, str):
        return checked_bandwidth(bandwidth, inputs.shape[1])
    return choose_bandwidth(
        lambda width, rows: local_engine(hood, inputs, targets, width).training(rows),
        inputs,
        bandwidth,
    )


def choose_bandwidth(
    training: Callable[[float | np.ndarray, np.ndarray | None], TrainingSmooth],
    inputs: np.ndarray,
    criterion: str,
) -> float | np.ndarray:
    """Return the bandwidth with the least error by leaving out one or by its generalised form.

    Several inputs get bandwidths in proportion to their standard deviations.

    Parameters
    ----------
    training
        Returns the smooth at the training inputs, or some rows of them, for a bandwidth.
    inputs
        Training inputs.
    criterion
        "loo" or "gcv".
    """
    count, n_columns = inputs.shape
    spreads = inputs.std(axis=0)
    spreads = np.where(spreads > 0, spreads, 1.0)
    # In units of the standard deviation: from the gap between neighbours to the whole range.
    gap = count ** (-1.0 / n_columns)
    n_factors = N_BANDWIDTHS if n_columns == 1 else N_BANDWIDTHS_OF_SEVERAL
    factors = np.geomspace(gap, 4.0 * np.sqrt(n_columns), n_factors)
    rows = None
    if n_columns > 1 and count > CHOOSING_ROWS:
        rows = np.linspace(0, count - 1, CHOOSING_ROWS).astype(np.int64)
    best, best_error = factors[-1] * spreads, np.inf
    for factor in factors:
        widths = factor * spreads
        smooth = training(float(widths[0]) if n_columns == 1 else widths, rows)
        error = smooth.leave_one_out_error if criterion == "loo" else smooth.generalised_error
        if error < best_error:
            best, best_error = widths, error
    return float(best[0]) if n_columns == 1 else best
