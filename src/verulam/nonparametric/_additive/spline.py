"""The smoothing spline, by Reinsch's banded equations, with leverages, criteria and bands."""

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solveh_banded
from scipy.optimize import minimize_scalar

from verulam.base import DataError, Interval, StrOptions
from verulam.nonparametric._smoothing.base import Smoother, TrainingSmooth, left_out_values
from verulam.nonparametric._smoothing.local_space import block_rows
from verulam.nonparametric._smoothing.neighbourhoods import LocalValues
from verulam.numerics import njit

#: Fewer different inputs hardly make a curve; SciPy's limit too.
FEWEST_INPUTS = 5
#: Limits within which the equations keep enough digits: number of knots, share of the range
#: between two of them.
MOST_KNOTS, SMALLEST_STEP = 1000, 1e-6
#: The knots to the left and to the right of a query.
SIDES = np.array([[0], [1]])


class SmoothingSpline(Smoother):
    r"""Trade closeness to the targets against the curvature of a smooth curve through one input.

    Parameters
    ----------
    alpha
        Weight :math:`\lambda` of the curvature: 0 interpolates, a large one gives the straight
        line of least squares. "gcv" takes the one with the least generalised cross-validation
        error, "loo" with the least leave-one-out error.

    Attributes
    ----------
    inputs_, targets_
        As in `KernelSmoother`.
    alpha_ : float
        The weight of the curvature in use.
    knots_, knot_values_, curvatures_ : ndarray of shape (n_knots,)
        Different inputs, and the curve's values and second derivatives there.

    Notes
    -----
    .. math:: \min_g \sum_t [r^t - g(x^t)]^2 + \lambda \int_a^b [g''(x)]^2 dx

    The curve is a natural cubic spline, straight beyond the data; it is SciPy's
    ``make_smoothing_spline``, with leverages and with digits left at large penalties. Repeated
    inputs count by their mean and number; from a thousand different inputs on, they are moved to a
    grid of a thousand. See Alpaydin 8.9 (8.27).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import SmoothingSpline
    >>> X = np.arange(10.0)[:, None]
    >>> SmoothingSpline(alpha=1e9).fit(X, X[:, 0] ** 2).predict([[4.5]]).round(3)
    array([28.5])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"gcv", "loo"})],
    }

    _takes_one_column: ClassVar[bool] = True
    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_estimators_dtypes": "three different inputs, and a curve needs five",
        "check_n_features_in_after_fitting": "takes a column away, and one alone leaves none",
        "check_regressors_train": "the targets depend on ten columns, and hardly on the first",
    }

    def __init__(self, *, alpha: float | Literal["gcv", "loo"] = "gcv") -> None:
        self.alpha = alpha

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        chance = np.random.default_rng(0)
        x = chance.uniform(0, 6, 60)
        return x[:, None], np.sin(x) + 0.1 * chance.normal(size=60)

    def _validated(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        inputs, targets = super()._validated(X, y)
        if inputs.shape[1] != 1:
            raise DataError(
                f"A smoothing spline takes one input, but X has {inputs.shape[1]} columns; for "
                "several, put it into an AdditiveModel."
            )
        return inputs, targets

    def _prepare(self) -> None:
        self.alpha_ = 0.0
        if isinstance(self.alpha, str):
            self.alpha_ = choose_alpha(self._engine(), self.alpha)
        else:
            self.alpha_ = float(self.alpha)
        engine = self._engine()
        self.knots_ = engine.x
        self.knot_values_, self.curvatures_ = engine.curve()

    def _engine(self) -> "SplineEngine":
        x, members = distinct_inputs(self.inputs_[:, 0])
        if len(x) < FEWEST_INPUTS:
            raise DataError(
                f"A smoothing spline needs at least {FEWEST_INPUTS} different inputs, but "
                f"n_samples = {len(self.inputs_)} rows have {len(x)}."
            )
        counts = np.bincount(members).astype(np.float64)
        means = np.bincount(members, self.targets_) / counts
        return SplineEngine(x, members, counts, means, self.targets_, self.alpha_)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the curve at each row."""
        queries = self._queries(X)[:, 0]
        pieces = cubic_pieces(self.knots_, queries)
        return (
            pieces.values * self.knot_values_[pieces.left + SIDES]
            + pieces.curvatures * self.curvatures_[pieces.left + SIDES]
        ).sum(axis=0)


def distinct_inputs(inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return different inputs, sorted, and which of them each row has.

    The equations lose digits with the fourth power of the number of knots, and where two of them
    nearly coincide; then inputs are moved to the nearest point of a fine grid.
    """
    x, members = np.unique(inputs, return_inverse=True)
    close = len(x) > 2 and np.diff(x).min() < SMALLEST_STEP * np.ptp(x)
    if len(x) <= MOST_KNOTS and not close:
        return x, members
    n_steps = MOST_KNOTS if len(x) > MOST_KNOTS else round(1.0 / SMALLEST_STEP)
    step = np.ptp(x) / n_steps
    cells, members = np.unique(np.rint((inputs - x[0]) / step), return_inverse=True)
    return x[0] + cells * step, members


@dataclass(frozen=True)
class CubicPieces:
    """A natural cubic spline at some queries, as sums over the two knots around each.

    Attributes
    ----------
    left
        Knot to the left of each query.
    values, curvatures : ndarray of shape (2, n_queries)
        Weights of the spline's values and second derivatives at the left and right knots.
    """

    left: np.ndarray
    values: np.ndarray
    curvatures: np.ndarray


def cubic_pieces(knots: np.ndarray, queries: np.ndarray) -> CubicPieces:
    """Return what the spline is at some queries; beyond the knots, its end's tangent."""
    inside = np.clip(queries, knots[0], knots[-1])
    left = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 2)
    step = knots[left + 1] - knots[left]
    high = (inside - knots[left]) / step
    low = 1.0 - high
    # Between two knots a cubic is the chord, and its second derivatives g'' at both ends times
    # h^2 (t^3 - t) / 6; beyond the last knot it goes on with its slope there.
    beyond = (queries - inside) / step
    bend = step**2 / 6.0
    return CubicPieces(
        left,
        np.array([low - beyond, high + beyond]),
        np.array(
            [
                bend * (low**3 - low + beyond * (1.0 - 3.0 * low**2)),
                bend * (high**3 - high + beyond * (3.0 * high**2 - 1.0)),
            ]
        ),
    )


@dataclass(frozen=True)
class SplineEngine:
    r"""Reinsch's equations of the smoothing spline.

    With knots :math:`x`, the curve's values are :math:`g = m - \lambda W^{-1} Q \gamma`, where
    :math:`(R + \lambda Q^T W^{-1} Q) \gamma = Q^T m` are its second derivatives.

    Attributes
    ----------
    x
        Different inputs, sorted.
    members
        Which of them each training point has.
    counts, means
        Number and mean target of the points at each input.
    targets
        Targets of the training points.
    alpha
        Weight of the curvature.
    """

    x: np.ndarray
    members: np.ndarray
    counts: np.ndarray
    means: np.ndarray
    targets: np.ndarray
    alpha: float

    @cached_property
    def differences(self) -> np.ndarray:
        """The three bands of Q: second divided differences."""
        steps = 1.0 / np.diff(self.x)
        return np.array([steps[:-1], -steps[:-1] - steps[1:], steps[1:]])

    @cached_property
    def bands(self) -> np.ndarray:
        """The main and two upper bands of the matrix of the equations."""
        steps = np.diff(self.x)
        left, middle, right = self.differences
        shares = self.alpha / self.counts
        bands = np.zeros((3, len(self.x) - 2))
        # R is the Gram matrix of the hat functions on the knots; Q' W^-1 Q reaches a band farther.
        bands[0] = (steps[:-1] + steps[1:]) / 3.0
        bands[0] += left**2 * shares[:-2] + middle**2 * shares[1:-1] + right**2 * shares[2:]
        bands[1, :-1] = steps[1:-1] / 6.0
        bands[1, :-1] += middle[:-1] * left[1:] * shares[1:-2]
        bands[1, :-1] += right[:-1] * middle[1:] * shares[2:-1]
        bands[2, :-2] = right[:-2] * left[2:] * shares[2:-2]
        return bands

    def solve(self, right_side: np.ndarray) -> np.ndarray:
        """Return the solution of the equations for each column."""
        bands = self.bands
        return solveh_banded(bands, right_side, lower=True)

    def second_differences(self, columns: np.ndarray) -> np.ndarray:
        """Return :math:`Q^T` times the columns."""
        left, middle, right = self.differences[..., None]
        return left * columns[:-2] + middle * columns[1:-1] + right * columns[2:]

    def spread_differences(self, columns: np.ndarray) -> np.ndarray:
        """Return :math:`Q` times the columns."""
        result = np.zeros((len(self.x), columns.shape[1]))
        for band, start in zip(self.differences[..., None], range(3), strict=True):
            result[start : start + len(columns)] += band * columns
        return result

    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the curve's values and second derivatives at the knots."""
        curvatures = self.solve(self.second_differences(self.means[:, None]))
        moved = self.spread_differences(curvatures)[:, 0] * self.alpha / self.counts
        return self.means - moved, np.pad(curvatures[:, 0], 1)

    def training(self) -> TrainingSmooth:
        """Return the curve at the training inputs, with and without each point."""
        values, _ = self.curve()
        main, first, second = inverse_bands(*self.bands)
        left, middle, right = self.differences
        # Diagonal of Q times the inverse times Q transposed, from the bands of the inverse.
        spread = np.zeros(len(self.x))
        spread[:-2] += left**2 * main
        spread[1:-1] += middle**2 * main
        spread[2:] += right**2 * main
        spread[1:-2] += 2.0 * middle[:-1] * left[1:] * first[:-1]
        spread[2:-1] += 2.0 * right[:-1] * middle[1:] * first[:-1]
        spread[2:-2] += 2.0 * right[:-2] * left[2:] * second[:-2]
        leverage = (1.0 - self.alpha * spread / self.counts) / self.counts
        fitted = values[self.members]
        leverage = leverage[self.members]
        left_out, unknown = left_out_values(self.targets, fitted, leverage)
        # Without any penalty the curve goes through every point: leave it at that.
        left_out = np.where(unknown, fitted, left_out)
        return TrainingSmooth(self.targets, fitted, leverage, left_out)

    def values(self, queries: np.ndarray, *, with_squares: bool = False) -> LocalValues:
        """Return the curve, and the squared weights, at some inputs."""
        values, squares = np.empty(len(queries)), np.empty(len(queries))
        for rows in block_rows(len(queries), 4 * len(self.x)):
            weights = self._weights(queries[rows, 0])
            values[rows] = self.means @ weights
            squares[rows] = (weights**2 / self.counts[:, None]).sum(axis=0)
        return LocalValues(values, squares, squares, np.zeros(len(queries), dtype=bool))

    def squares(self) -> np.ndarray:
        """Return the sum of squared weights at each training input."""
        return self.values(self.x[:, None]).squares[self.members]

    def weights(self, queries: np.ndarray) -> np.ndarray:
        """Return the weight of each training target at some inputs."""
        return (self._weights(queries[:, 0]) / self.counts[:, None])[self.members].T

    def _weights(self, queries: np.ndarray) -> np.ndarray:
        """Return the weights of the means at the knots (rows) for each query (columns)."""
        shape, columns = (len(self.x), len(queries)), np.arange(len(queries))
        pieces = cubic_pieces(self.x, queries)
        at_values, at_curvature = np.zeros(shape), np.zeros(shape)
        # Values and second derivatives are linear in the means: their equations, transposed, give
        # the weights for all queries at once.
        at_values[pieces.left + SIDES, columns] = pieces.values
        at_curvature[pieces.left + SIDES, columns] = pieces.curvatures
        shrunk = self.alpha * at_values / self.counts[:, None]
        return at_values + self.spread_differences(
            self.solve(at_curvature[1:-1] - self.second_differences(shrunk))
        )


@njit(cache=True)
def inverse_bands(diagonal, first, second):
    """Return the main and two upper bands of the inverse of a symmetric five-band matrix.

    Factorises as ``L D L^T`` and runs Hutchinson and de Hoog's recursion from the last row up.
    """
    count = diagonal.shape[0]
    pivots = np.empty(count)
    below, far = np.zeros(count + 2), np.zeros(count + 2)
    for i in range(count):
        pivot = diagonal[i]
        if i > 0:
            pivot -= pivots[i - 1] * below[i - 1] ** 2
        if i > 1:
            pivot -= pivots[i - 2] * far[i - 2] ** 2
        pivots[i] = pivot
        if i + 1 < count:
            product = first[i]
            if i > 0:
                product -= pivots[i - 1] * below[i - 1] * far[i - 1]
            below[i] = product / pivot
        if i + 2 < count:
            far[i] = second[i] / pivot
    bands = np.zeros((3, count + 2))
    # Only the bands are needed, and each row of them follows from the two below it: O(n).
    for i in range(count - 1, -1, -1):
        bands[1, i] = -below[i] * bands[0, i + 1] - far[i] * bands[1, i + 1]
        bands[2, i] = -below[i] * bands[1, i + 1] - far[i] * bands[0, i + 2]
        bands[0, i] = 1.0 / pivots[i] - below[i] * bands[1, i] - far[i] * bands[2, i]
    return bands[:, :count]


def choose_alpha(engine: SplineEngine, criterion: str) -> float:
    """Return the weight of the curvature with the least generalised or leave-one-out error."""
    # Between interpolation and a straight line, in units of the data's own scale.
    unit = np.ptp(engine.x) ** 3 / len(engine.x)

    def error(logarithm: float) -> float:
        smooth = replace(engine, alpha=unit * 10.0**logarithm).training()
        return smooth.leave_one_out_error if criterion == "loo" else smooth.generalised_error

    # The criterion may have several dips: a grid first, then the bottom of its lowest dip.
    grid = np.linspace(-10.0, 3.0, 27)
    best = float(min(grid, key=error))
    optimum = minimize_scalar(error, bounds=(best - 0.5, best + 0.5), method="bounded")
    return float(unit * 10.0 ** float(optimum.x))
