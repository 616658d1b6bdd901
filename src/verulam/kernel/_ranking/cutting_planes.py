"""Cutting planes for ranking: planes below the loss, each from counts of pairs."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, warn_caller
from verulam.kernel._ranking.cutting_planes_loops import count_close
from verulam.kernel._solvers.dual import solve_dual
from verulam.kernel._solvers.dual_problems import simplex_problem
from verulam.kernel._tuning import (
    LINE_HALVINGS,
    PLANES_SHARE,
    PLANES_WORKING_SETS,
    TOUCHING_SHARE,
)

#: So many planes in a row that rounding keeps from a smaller gap are the last ones.
STUCK = 20


@dataclass(frozen=True, eq=False)
class ClosePairs:
    r"""Pairs whose better row does not lead by the margin, as counts.

    Attributes
    ----------
    number
        How many there are.
    weights : ndarray of shape (n_rows,)
        For each row, those in which it is the better one minus those in which it is the worse one.
    """

    number: int
    weights: np.ndarray

    def slack(self, scores: np.ndarray) -> float:
        """Return the sum of what the pairs lack to a margin of one."""
        return float(self.number - self.weights @ scores)


class Preferences:
    """Rows of several groups, the better of two rows of one group preferred.

    Parameters
    ----------
    relevances
        Relevance of each row, higher is better.
    groups
        Group of each row; None for one.
    """

    def __init__(self, relevances: np.ndarray, groups: ArrayLike | None = None) -> None:
        labels = np.zeros(len(relevances)) if groups is None else np.asarray(groups)
        if len(labels) != len(relevances):
            raise DataError(
                f"groups has {len(labels)} entries, but there are {len(relevances)} rows."
            )
        self.n_rows = len(relevances)
        _, self._codes = np.unique(labels, return_inverse=True)
        self._starts = np.concatenate([[0], np.bincount(self._codes).cumsum()])
        self._ranks = np.unique(relevances, return_inverse=True)[1] + 1
        self.n_pairs = self.close(np.zeros(len(relevances))).number
        if not self.n_pairs:
            raise DataError(
                "no two rows of one group differ in relevance, so there is nothing to rank: got "
                f"n_samples={len(relevances)}."
            )

    def close(self, scores: np.ndarray, margin: float = 1.0) -> ClosePairs:
        """Return the pairs whose better row does not lead by `margin`."""
        return self._count(scores, self._ranks, margin)

    def share_in_order(self, scores: np.ndarray) -> float:
        """Return the share of pairs whose better row has the higher score."""
        # Pairs in order are those that would be out of order if ranks were turned round.
        backwards = self._ranks.max() + 1 - self._ranks
        return self._count(scores, backwards, 0.0).number / self.n_pairs

    def _count(self, scores: np.ndarray, ranks: np.ndarray, margin: float) -> ClosePairs:
        # One sort serves all groups: by group, and by score within each.
        order = np.lexsort((scores, self._codes))
        better, worse = np.zeros((2, len(scores)), dtype=np.int64)
        count_close(scores, order, ranks, self._starts, margin, better, worse)
        return ClosePairs(int(better.sum()), (better - worse).astype(np.float64))


class ListedPreferences:
    """Preferences given pair by pair: any of them, also those that contradict each other.

    Parameters
    ----------
    pairs
        Positions of the better and of the worse row, one pair in each row.
    n_rows
        Number of rows.
    """

    def __init__(self, pairs: ArrayLike, n_rows: int) -> None:
        places = np.asarray(pairs)
        if places.ndim != 2 or places.shape[1] != 2 or not len(places):
            raise DataError(
                "pairs must have two columns, the better and the worse row, and one pair or more; "
                f"got shape {places.shape}."
            )
        if not np.issubdtype(places.dtype, np.integer):
            raise DataError(f"pairs must be positions of rows; got {places.dtype}.")
        if places.min() < 0 or places.max() >= n_rows:
            raise DataError(
                f"pairs name rows from {places.min()} to {places.max()}, but X has rows 0 to "
                f"{n_rows - 1}."
            )
        alike = np.flatnonzero(places[:, 0] == places[:, 1])
        if len(alike):
            raise DataError(f"pairs: pair {alike[0]} prefers row {places[alike[0], 0]} to itself.")
        self.n_rows = n_rows
        self.n_pairs = len(places)
        self._better, self._worse = places.T

    def close(self, scores: np.ndarray, margin: float = 1.0) -> ClosePairs:
        """Return the pairs whose better row does not lead by `margin`."""
        close = scores[self._better] - scores[self._worse] < margin
        better = np.bincount(self._better[close], minlength=self.n_rows)
        worse = np.bincount(self._worse[close], minlength=self.n_rows)
        return ClosePairs(int(close.sum()), (better - worse).astype(np.float64))

    def share_in_order(self, scores: np.ndarray) -> float:
        """Return the share of pairs whose better row has the higher score."""
        return float((scores[self._better] > scores[self._worse]).mean())


@dataclass(frozen=True, eq=False)
class RankingSolution:
    r"""Coefficients of a ranking machine, and how good they are.

    Attributes
    ----------
    coefficients : ndarray of shape (n_rows,)
        Weight of each row in the score.
    objective
        Value of the machine's program.
    gap
        That minus a lower bound of the least value.
    n_iter
        Planes that were used.
    """

    coefficients: np.ndarray
    objective: float
    gap: float
    n_iter: int


@dataclass(frozen=True, eq=False)
class _Point:
    """Coefficients of the rows, and the scores that they give."""

    coefficients: np.ndarray
    scores: np.ndarray

    def towards(self, other: "_Point", share: float) -> "_Point":
        return _Point(
            self.coefficients + share * (other.coefficients - self.coefficients),
            self.scores + share * (other.scores - self.scores),
        )


def rank_by_planes(
    preferences: Preferences | ListedPreferences,
    product: Callable[[np.ndarray], np.ndarray],
    cost: float,
    tol: float,
    max_iter: int,
) -> RankingSolution:
    r"""Return the score of least :math:`\frac{1}{2} \|w\|^2 + C \sum \xi`, by cutting planes.

    The sum of slacks is convex in the scores; counts of close pairs give its value and a plane that
    touches it from below, in time n log n. The best weights under all planes so far come from a
    small program on a simplex, with one coefficient for each plane (Joachims 2006; the line search
    is Franc and Sonnenburg's, 2009).

    Parameters
    ----------
    preferences
        Rows and groups.
    product
        Multiplies a vector by the Gram matrix of the rows.
    cost
        Cost :math:`C` of slack.
    tol
        The gap is at most this share of the objective.
    max_iter
        Most planes.
    """
    best = _Point(np.zeros(preferences.n_rows), np.zeros(preferences.n_rows))
    planes = _Planes(preferences.n_rows, cost)
    touched = preferences.close(best.scores)
    value = cost * touched.slack(best.scores)
    least, stuck = np.inf, 0
    for n_iter in range(1, max_iter + 1):
        planes.add(touched, product(touched.weights))
        lowest, bound, exact = planes.solve(PLANES_SHARE * tol * value)
        best, value = _line_search(preferences, best, lowest, cost)
        gap = value - bound
        if gap <= tol * value:
            return RankingSolution(best.coefficients, value, gap, n_iter)
        # Stuck: the inner program was not solved to its tolerance, and the gap hardly fell.
        stuck = 0 if exact or gap < 0.99 * least else stuck + 1
        least = min(least, gap)
        if stuck == STUCK:
            break
        touched = preferences.close(best.towards(lowest, TOUCHING_SHARE).scores)
    limit = f"max_iter={max_iter}" if n_iter == max_iter else str(n_iter)
    warn_caller(
        f"the ranking stopped after {limit} planes with a gap of {gap / value:.3g} of "
        f"the objective, above tol={tol:g}. Raise max_iter, lower C, or scale the inputs.",
        ConvergenceWarning,
    )
    return RankingSolution(best.coefficients, value, gap, n_iter)


class _Planes:
    r"""Planes :math:`C (b - a^T s)` below the loss, and the best weights under all of them."""

    def __init__(self, size: int, cost: float) -> None:
        # The first plane is zero, as the loss is never negative.
        self._cost = cost
        self._normals, self._images = np.zeros((1, size)), np.zeros((1, size))
        self._heights, self._shares = np.zeros(1), np.array([cost])

    def add(self, touched: ClosePairs, image: np.ndarray) -> None:
        """Add the plane of some close pairs; `image` is the Gram matrix times their weights."""
        self._normals = np.vstack([self._normals, touched.weights])
        self._images = np.vstack([self._images, image])
        self._heights = np.append(self._heights, float(touched.number))
        self._shares = np.append(self._shares, 0.0)

    def solve(self, gap: float) -> tuple[_Point, float, bool]:
        """Return the weights of least objective under the planes, a bound below it, and whether
        it is just below.
        """
        # Inner products of the planes' weight vectors: the program has one coefficient per plane.
        gram = self._normals @ self._images.T
        gram = 0.5 * (gram + gram.T)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solution = solve_dual(
                simplex_problem(-self._heights, self._shares),
                gram,
                # The gap is at most the violation times the sum of the coefficients.
                tol=gap / self._cost,
                max_iter=PLANES_WORKING_SETS,
            )
        self._shares = solution.coefficients
        lowest = _Point(self._shares @ self._normals, self._shares @ self._images)
        # Any shares of the planes give a bound, however far they are from the best ones.
        bound = self._shares @ self._heights - 0.5 * lowest.coefficients @ lowest.scores
        return lowest, float(bound), solution.converged


def _line_search(
    preferences: Preferences | ListedPreferences, best: _Point, lowest: _Point, cost: float
) -> tuple[_Point, float]:
    """Return the point of least objective on a line, and the objective there."""
    # Bisection between the best point so far and the least of the planes, the far end first.
    low, high = 0.0, 1.0
    ends = []
    for halving in range(LINE_HALVINGS):
        share = 1.0 if halving == 0 else 0.5 * (low + high)
        point = best.towards(lowest, share)
        close = preferences.close(point.scores)
        value = 0.5 * point.coefficients @ point.scores + cost * close.slack(point.scores)
        ends.append((float(value), point))
        # The objective is convex on the line: the sign of its slope tells the side of the least.
        slope = (point.coefficients - cost * close.weights) @ (lowest.scores - best.scores)
        if slope <= 0.0:
            low = share
        else:
            high = share
        if low == 1.0:
            break
    value, point = min(ends, key=lambda end: end[0])
    return point, value
