"""Version space of boxes (S and G), and boxes and thresholds of least empirical error."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.numerics import njit

#: More maximal boxes than this are not worth listing.
MOST_BOXES = 10_000


@dataclass(frozen=True, eq=False)
class Box:
    """An axis-aligned box; sides may be open.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_columns,)
        Bounds, both inside; infinite where the box is open.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def contains(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return for each row whether it lies in the box."""
        inside = (self.lower <= X) & (self.upper >= X)
        return np.asarray(inside.all(axis=1))


def tightest_box(positives: NDArray[np.float64]) -> Box:
    """Return the smallest box around the rows: the most specific hypothesis S."""
    return Box(positives.min(axis=0), positives.max(axis=0))


def loosest_boxes(specific: Box, negatives: NDArray[np.float64]) -> tuple[Box, ...]:
    """Return all maximal boxes around S that no negative lies in: the most general hypotheses G.

    The boxes are open where they could end anywhere before a negative: a bound is the negative's
    own coordinate, and no point with that coordinate lies inside.
    """
    n_columns = len(specific.lower)
    boxes = [Box(np.full(n_columns, -np.inf), np.full(n_columns, np.inf))]
    for negative in negatives:
        consistent = [box for box in boxes if not _strictly_inside(box, negative)]
        # Candidate elimination: a box that a negative lies in makes way for its largest parts that
        # leave it out.
        cut = [
            smaller
            for box in boxes
            if _strictly_inside(box, negative)
            for smaller in _cut(box, specific, negative)
        ]
        # A cut box is superfluous inside one that needed no cutting, or a larger cut one.
        new = [
            box
            for place, box in enumerate(cut)
            if not any(_within(box, other) for other in consistent)
            and not any(_within(box, other) for other in cut[:place])
            and not any(_within(box, other) and not _within(other, box) for other in cut)
        ]
        boxes = consistent + new
        if len(boxes) > MOST_BOXES:
            raise DataError(
                f"More than {MOST_BOXES:,} most general boxes fit these data; use fewer columns, "
                "or hypothesis='specific'."
            )
    return tuple(boxes)


def _strictly_inside(box: Box, row: NDArray[np.float64]) -> bool:
    return bool(((row > box.lower) & (row < box.upper)).all())


def _within(inner: Box, outer: Box) -> bool:
    return bool((inner.lower >= outer.lower).all() and (inner.upper <= outer.upper).all())


def _cut(box: Box, specific: Box, negative: NDArray[np.float64]) -> list[Box]:
    """Return the largest boxes inside `box` that hold S and not the negative."""
    smaller = []
    for column, value in enumerate(negative):
        if value < specific.lower[column]:
            lower = box.lower.copy()
            lower[column] = value
            smaller.append(Box(lower, box.upper))
        elif value > specific.upper[column]:
            upper = box.upper.copy()
            upper[column] = value
            smaller.append(Box(box.lower, upper))
    return smaller


def midway_box(specific: Box, general: Box) -> Box:
    """Return the box halfway from S to one of G; a side that is open in G stays open."""
    with np.errstate(invalid="ignore"):
        lower = 0.5 * (specific.lower + general.lower)
        upper = 0.5 * (specific.upper + general.upper)
    return Box(lower, upper)


def least_error_box(X: NDArray[np.float64], signed: NDArray[np.float64]) -> Box:
    """Return a box that no change of one column's interval improves.

    Parameters
    ----------
    X
        Rows.
    signed
        Weight of each row, positive for those that belong inside, negative for the others.
    """
    best, most = None, -np.inf
    # Coordinate descent ends in a local minimum: outliers are cut off by different amounts at the
    # start.
    for margin in (0.0, 5.0, 15.0, 30.0):
        inside = X[signed > 0]
        box = Box(*np.percentile(inside, [margin, 100.0 - margin], axis=0))
        box, score = _improved(X, signed, box)
        if score > most + 1e-12:
            best, most = box, score
    assert best is not None
    return best


def _improved(X: NDArray[np.float64], signed: NDArray[np.float64], box: Box) -> tuple[Box, float]:
    """Return the box with the best interval of each column in turn, until nothing changes."""
    lower, upper = box.lower.copy(), box.upper.copy()
    score = -np.inf
    while True:
        new_score = score
        met = (lower <= X) & (upper >= X)
        for column in range(X.shape[1]):
            others = np.delete(met, column, axis=1).all(axis=1)
            if others.any():
                lower[column], upper[column], new_score = _best_interval(
                    X[others, column], signed[others]
                )
                met[:, column] = (X[:, column] >= lower[column]) & (X[:, column] <= upper[column])
        if new_score <= score + 1e-12:
            return Box(lower, upper), score
        score = new_score


def _best_interval(
    values: NDArray[np.float64], signed: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Return the interval of the largest sum, and that sum."""
    unique, places = np.unique(values, return_inverse=True)
    sums = np.cumsum(np.bincount(places, signed))
    # The sum of an interval is a difference of running sums: for each end, the least one before it.
    before = np.concatenate([[0.0], sums[:-1]])
    least = np.minimum.accumulate(before)
    end = int(np.argmax(sums - least))
    start = int(np.argmin(before[: end + 1]))
    return float(unique[start]), float(unique[end]), float(sums[end] - least[end])


def least_error_thresholds(
    X: NDArray[np.float64], signed: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return thresholds such that rows above all of them have the largest sum, and that sum.

    With one or two columns they are the best there are; with more, no pair of thresholds can be
    improved alone.
    """
    n_columns = X.shape[1]
    if n_columns == 1:
        # One threshold is a pair of which the other divides nothing.
        X = np.column_stack([X, np.zeros(len(X))])
    thresholds = np.full(X.shape[1], -np.inf)
    score = -np.inf
    pairs = [(i, j) for i in range(X.shape[1]) for j in range(i)]
    while True:
        before = score
        for first, second in pairs:
            met = thresholds < X
            others = np.delete(met, (first, second), axis=1).all(axis=1)
            pair_score, *pair = _best_pair(X[others][:, [first, second]], signed[others])
            if pair_score > score + 1e-12:
                score = pair_score
                thresholds[[first, second]] = pair
        if score <= before + 1e-12 or len(pairs) == 1:
            break
    if score < 0.0:
        # Any rows accepted do more harm than good: nothing is above the largest value.
        thresholds[0], score = X[:, 0].max(), 0.0
    return thresholds[:n_columns], score


def _best_pair(X: NDArray[np.float64], signed: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the largest sum above two thresholds, and the thresholds midway between values."""
    columns = [np.unique(column, return_inverse=True) for column in X.T]
    ranks = [places.astype(np.int64) for _, places in columns]
    order = np.argsort(-ranks[0], kind="stable")
    largest_sum, *cuts = best_quadrant(ranks[0], ranks[1], order, signed, len(columns[1][0]))
    thresholds = [
        -np.inf if cut == 0 else 0.5 * (values[cut - 1] + values[cut])
        for cut, (values, _) in zip(cuts, columns, strict=True)
    ]
    return largest_sum, thresholds[0], thresholds[1]


@njit(cache=True, nogil=True)
def best_quadrant(first, second, order, signed, n_second):
    """Return (sum, a, b) such that rows with `first` >= a and `second` >= b have the largest sum.

    Rows enter by falling `first`, in the given order; a tree over the values of `second` keeps
    the sums of its nodes and of their best suffixes, so that each row costs one path.
    """
    # A segment tree in one array: node k has the children 2k and 2k + 1.
    size = 1
    while size < n_second:
        size *= 2
    sums = np.zeros(2 * size)
    suffix = np.full(2 * size, -np.inf)
    suffix[size : size + n_second] = 0.0
    best, best_first, best_second = -np.inf, 0, 0
    for i in range(order.shape[0]):
        row = order[i]
        node = size + second[row]
        sums[node] += signed[row]
        suffix[node] = sums[node]
        node //= 2
        while node >= 1:
            left, right = 2 * node, 2 * node + 1
            sums[node] = sums[left] + sums[right]
            suffix[node] = max(suffix[right], sums[right] + suffix[left])
            node //= 2
        # A cut cannot lie between equal values: all of them enter before it is judged.
        last = i + 1 == order.shape[0] or first[order[i + 1]] != first[row]
        if last and suffix[1] > best:
            best, best_first = suffix[1], first[row]
            best_second = suffix_start(sums, suffix, size)
    return best, best_first, best_second


@njit(cache=True, nogil=True)
def suffix_start(sums, suffix, size):
    """Return where the best suffix of the whole tree starts."""
    node = 1
    while node < size:
        left, right = 2 * node, 2 * node + 1
        node = right if suffix[right] >= sums[right] + suffix[left] else left
    return node - size
