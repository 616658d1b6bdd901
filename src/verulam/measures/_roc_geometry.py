"""ROC analysis: dominance, the convex hull, iso-cost lines, and curves of known densities."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.measures._curves import RocCurve, Vector

#: Thresholds at which a curve of two densities is computed.
DENSITY_POINTS = 2001


@dataclass(frozen=True, eq=False)
class CurveComparison:
    """Where one ROC curve lies above another.

    Parameters
    ----------
    verdict
        ``"first dominates"``, ``"second dominates"``, ``"cross"`` or ``"equal"``.
    crossings
        Table of the points where the better curve changes.
    first_area, second_area
        Areas under the two curves.
    """

    verdict: str
    crossings: pd.DataFrame
    first_area: float
    second_area: float

    def __str__(self) -> str:
        areas = f"areas {self.first_area:.4f} and {self.second_area:.4f}"
        if self.verdict == "cross":
            places = ", ".join(f"{x:.3f}" for x in self.crossings["fp_rate"])
            return (
                f"The curves cross at fp-rate {places} ({areas}): "
                "which is better depends on the costs of the two errors."
            )
        if self.verdict == "equal":
            return f"The curves are equal ({areas})."
        better = self.verdict.split(" ", 1)[0]
        return f"The {better} curve is nowhere below the other ({areas})."


def compare_curves(first: RocCurve, second: RocCurve) -> CurveComparison:
    """Report which of two ROC curves dominates, or where they cross (Alpaydin Figure 19.3b).

    Examples
    --------
    >>> from verulam.measures import compare_curves, roc
    >>> truth = [0, 0, 1, 1]
    >>> good, poor = roc(truth, [1, 2, 3, 4]), roc(truth, [1, 3, 2, 4])
    >>> print(compare_curves(good, poor))
    The first curve is nowhere below the other (areas 1.0000 and 0.7500).
    """
    grid = np.union1d(first.fp_rate, second.fp_rate)
    first_low, first_high = limits(first, grid)
    second_low, second_high = limits(second, grid)
    # Between two grid points both curves are straight: their ends tell all, and at a grid point
    # a curve may jump, so the ends are the limits from inside the interval.
    start = (first_high - second_high)[:-1]
    end = (first_low - second_low)[1:]
    differences = np.column_stack([start, end]).ravel()
    places = np.column_stack([grid[:-1], grid[1:]]).ravel()
    significant = np.abs(differences) > 1e-12
    signs, differences, places = (
        np.sign(differences)[significant],
        differences[significant],
        places[significant],
    )
    verdict = "equal"
    if len(signs):
        verdict = "cross"
        if (signs > 0).all():
            verdict = "first dominates"
        elif (signs < 0).all():
            verdict = "second dominates"
    change = np.flatnonzero(np.diff(signs))
    # Both are straight in between, so the crossing is where the difference, interpolated, is zero.
    step = differences[change] / (differences[change] - differences[change + 1])
    crossing = places[change] + step * (places[change + 1] - places[change])
    table = pd.DataFrame(
        {
            "fp_rate": crossing,
            "tp_rate": limits(first, crossing)[0],
            "better_before": np.where(signs[change] > 0, "first", "second"),
        }
    )
    return CurveComparison(verdict, table, first.area, second.area)


def limits(curve: RocCurve, grid: Vector) -> tuple[Vector, Vector]:
    """Return the curve's limits from the left and from the right at each fp-rate of `grid`."""
    x, y = curve.fp_rate, curve.tp_rate
    levels, first = np.unique(x, return_index=True)
    last = np.r_[first[1:], len(x)] - 1
    low, high = np.interp(grid, levels, y[first]), np.interp(grid, levels, y[last])
    # `interp` of the lower ends is right only at the levels: between them a straight piece runs
    # from the upper end of one level to the lower end of the next.
    right = np.clip(np.searchsorted(levels, grid, side="left"), 1, len(levels) - 1)
    width = levels[right] - levels[right - 1]
    share = (grid - levels[right - 1]) / width
    inside = y[last[right - 1]] + share * (y[first[right]] - y[last[right - 1]])
    at_level = np.isin(grid, levels)
    return np.where(at_level, low, inside), np.where(at_level, high, inside)


def roc_hull(curve: RocCurve) -> RocCurve:
    """Return the upper convex hull: the points that are best for some costs and priors.

    Examples
    --------
    >>> from verulam.measures import roc, roc_hull
    >>> hull = roc_hull(roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    >>> hull.tp_rate, hull.area
    (array([0. , 0.5, 1. , 1. ]), 0.875)
    """
    hull: list[int] = []
    x, y = curve.fp_rate, curve.tp_rate
    for point in range(len(x)):
        # Andrew's monotone chain: a point at which the path turns left lies below the hull.
        while len(hull) > 1 and turn(x, y, hull[-2], hull[-1], point) >= 0:
            hull.pop()
        hull.append(point)
    return RocCurve(x[hull], y[hull], curve.thresholds[hull], curve.positives, curve.negatives)


def turn(x: Vector, y: Vector, a: int, b: int, c: int) -> float:
    """Return a positive number when the path a, b, c turns left."""
    return (x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a])


@dataclass(frozen=True)
class IsoCost:
    """The best point of a curve for given costs, and the line of equal cost through it.

    Parameters
    ----------
    slope, intercept
        Line ``tp_rate = intercept + slope * fp_rate`` of points with the same expected cost.
    fp_rate, tp_rate, threshold
        The cheapest point of the curve.
    cost
        Its expected cost for one instance.
    """

    slope: float
    intercept: float
    fp_rate: float
    tp_rate: float
    threshold: float
    cost: float


def iso_cost(
    curve: RocCurve,
    *,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    prior: float | None = None,
) -> IsoCost:
    r"""Return the cheapest point of a curve and its line of equal cost.

    Parameters
    ----------
    curve
        A ROC curve; the answer is a corner of its convex hull.
    false_positive, false_negative
        Cost of either error.
    prior
        Probability of the positive class; its share in the data when not given.

    Notes
    -----
    The expected cost of one instance is :math:`P \lambda_{fn} (1 - tp) + (1 - P) \lambda_{fp} fp`,
    so lines of equal cost have the slope :math:`(1 - P) \lambda_{fp} / (P \lambda_{fn})`.

    Examples
    --------
    >>> from verulam.measures import iso_cost, roc
    >>> curve = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> best = iso_cost(curve, false_positive=1, false_negative=4)
    >>> best.threshold, best.cost
    (0.35, 0.25)
    """
    share = curve.positives / (curve.positives + curve.negatives) if prior is None else prior
    if not 0 < share < 1:
        raise DataError(f"prior must lie between 0 and 1, but is {share}.")
    if not (false_positive > 0 and false_negative > 0):
        raise DataError("false_positive and false_negative must be positive costs.")
    # Points of equal cost are on lines of slope raised / lost; the cheapest is on the highest.
    lost, raised = share * false_negative, (1 - share) * false_positive
    costs = lost * (1 - curve.tp_rate) + raised * curve.fp_rate
    best = int(np.argmin(costs))
    x, y = float(curve.fp_rate[best]), float(curve.tp_rate[best])
    slope = raised / lost
    return IsoCost(slope, y - slope * x, x, y, float(curve.thresholds[best]), float(costs[best]))


def loss_threshold(loss: ArrayLike) -> float:
    r"""Return the probability of the first class above which choosing it is cheaper.

    Parameters
    ----------
    loss
        Two by two: rows are the chosen class, columns the true class.

    Notes
    -----
    :math:`\theta = (\lambda_{12} - \lambda_{22}) /
    (\lambda_{12} - \lambda_{22} + \lambda_{21} - \lambda_{11})`; with no loss for correct choices,
    :math:`\lambda_{21} = 1` and :math:`\lambda_{12} = \alpha` it is :math:`\alpha / (1 + \alpha)`
    (Alpaydin 19.16, exercise 1).

    Examples
    --------
    >>> from verulam.measures import loss_threshold
    >>> loss_threshold([[0, 3], [1, 0]])
    0.75
    """
    table = np.asarray(loss, dtype=np.float64)
    if table.shape != (2, 2) or not np.isfinite(table).all():
        raise DataError("loss must be two by two and finite.")
    wrong_first, wrong_second = table[0, 1] - table[1, 1], table[1, 0] - table[0, 0]
    if wrong_first < 0 or wrong_second < 0 or wrong_first + wrong_second == 0:
        raise DataError("loss must punish wrong choices more than correct ones.")
    return float(wrong_first / (wrong_first + wrong_second))


def population_roc(negative: Any, positive: Any, points: int = DENSITY_POINTS) -> RocCurve:
    """Return the ROC curve of a single feature whose densities are known.

    Parameters
    ----------
    negative, positive
        Frozen SciPy distributions of the feature in either class.
    points
        Number of thresholds.

    Notes
    -----
    Both rates are upper tails at the threshold (Bartkowiak 2.3, Figure 2.2).

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from verulam.measures import population_roc
    >>> round(population_roc(norm(0, 1), norm(2, 1)).area, 5)
    0.92135
    """
    shares: NDArray[np.float64] = np.linspace(0, 1, points)[1:-1]
    thresholds = np.unique(np.r_[negative.ppf(shares), positive.ppf(shares)])[::-1]
    return RocCurve(
        np.r_[0.0, negative.sf(thresholds), 1.0],
        np.r_[0.0, positive.sf(thresholds), 1.0],
        np.r_[np.inf, thresholds, -np.inf],
        np.nan,
        np.nan,
    )
