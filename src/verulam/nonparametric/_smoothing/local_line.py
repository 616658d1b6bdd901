"""Local fits over one input: sorted inputs, sliding windows, compiled sums."""

from dataclasses import dataclass

import numpy as np

from verulam.base import thread_map
from verulam.nonparametric._smoothing.local_line_loops import (
    gaussian_moments,
    local_fits,
    nearest_windows,
)
from verulam.nonparametric._smoothing.neighbourhoods import LocalValues, Neighbourhood
from verulam.nonparametric._smoothing.sliding_loops import sliding_fits
from verulam.nonparametric._tuning import (
    SERIES_REACH,
    SLIDING_QUERIES,
    SLIDING_REACH,
    THREADED_VISITS,
    VISIT_QUERIES,
)
from verulam.nonparametric._windows.functions import EXPONENTIAL, GAUSSIAN, POWERS

#: Terms of the power series behind the fast Gaussian sums: exact to rounding.
SERIES_TERMS = 24
#: Heights of a Gaussian, and of an exponential, below 1e-17 are nothing.
GAUSSIAN_REACH, EXPONENTIAL_REACH = 80.0, 40.0


@dataclass(frozen=True)
class Line:
    """Stored points in the order of their input.

    Attributes
    ----------
    x, y
        Inputs and targets.
    prior
        Weight of each point besides its window's.
    order
        Positions in the training data.
    """

    x: np.ndarray
    y: np.ndarray
    prior: np.ndarray
    order: np.ndarray


def sorted_line(inputs: np.ndarray, targets: np.ndarray, prior: np.ndarray | None) -> Line:
    """Return the stored points of one input, sorted."""
    x = inputs[:, 0]
    order = np.argsort(x, kind="stable")
    weights = np.ones(len(x)) if prior is None else prior[order]
    return Line(x[order], targets[order], weights, order)


def line_values(
    hood: Neighbourhood,
    line: Line,
    queries: np.ndarray,
    *,
    left_out: np.ndarray | None = None,
    with_squares: bool = False,
) -> LocalValues:
    """Return the local fits at some queries.

    Parameters
    ----------
    hood
        Window, width and degree.
    line
        The stored points.
    queries
        Inputs to evaluate at, in any order.
    left_out
        Position on the line of a point that each query does without.
    with_squares
        Whether the sums of squared weights are wanted.
    """
    if left_out is None and hood.window.code == GAUSSIAN and _series_pays(hood, line):
        return _series_values(hood, line, queries, with_squares)
    return _direct_values(hood, line, queries, left_out, with_squares)


def _direct_values(
    hood: Neighbourhood,
    line: Line,
    queries: np.ndarray,
    left_out: np.ndarray | None,
    with_squares: bool,
) -> LocalValues:
    if left_out is None:
        # Sorted, and every query once: repeated inputs have the same fit.
        queries, order = _distinct(queries, line)
        skipped = np.full(len(queries), -1)
    else:
        ranks = np.argsort(queries, kind="stable")
        queries, skipped = np.ascontiguousarray(queries[ranks]), left_out[ranks]
        order = np.empty_like(ranks)
        order[ranks] = np.arange(len(ranks))
        hood = hood.with_one_more()
    windows = line_windows(hood, line.x, queries, skipped)
    fits = np.full((len(queries), 4), np.nan)
    rest = np.ones(len(queries), dtype=bool)
    visits = int((windows[1] - windows[0]).sum())
    sliding = left_out is None and not with_squares and hood.window.code == POWERS
    if sliding and visits > SLIDING_REACH * len(queries):
        fits[:, :2], fits[:, 3] = _slide(hood, line, queries, *windows), 0.0
        # Where sliding sums have lost digits they say so; those queries are visited.
        rest = np.isnan(fits[:, 0])
    if rest.any():
        remaining = (part[rest] for part in (queries, *windows, skipped))
        fits[rest] = _visit(hood, line, *remaining, with_squares=with_squares)
    unsorted = fits[order]
    return LocalValues(unsorted[:, 0], unsorted[:, 1], unsorted[:, 2], unsorted[:, 3] > 0)


def _distinct(queries: np.ndarray, line: Line) -> tuple[np.ndarray, np.ndarray]:
    """Return what differs among the queries, sorted, and where each of them is in it."""
    x = line.x
    if len(queries) != len(x) or not np.array_equal(queries[line.order], x):
        return np.unique(queries, return_inverse=True)
    # At the stored points themselves, which are sorted already.
    is_first = np.append(True, x[1:] != x[:-1])
    order = np.empty_like(line.order)
    order[line.order] = np.cumsum(is_first) - 1
    return x[is_first], order


def _slide(
    hood: Neighbourhood,
    line: Line,
    queries: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    widths: np.ndarray,
) -> np.ndarray:
    """Return values and leverages from sums that slide along the line."""
    window = hood.window
    inner, outer = (int(window.inner), int(window.outer)) if window.outer else (1, 0)

    # An odd power of |u| has another sign to the left of the query: two sets of sums.
    if inner % 2 == 1 and outer > 0:
        middles = np.clip(np.searchsorted(line.x, queries), starts, stops)
        ends = np.column_stack([starts, middles, stops])
    else:
        ends = np.column_stack([starts, stops])
    n_sides, n_powers = ends.shape[1] - 1, 2 * hood.degree + 1
    result = np.empty((len(queries), 2))

    def compute(start: int) -> None:
        task = slice(start, start + SLIDING_QUERIES)
        sums = np.zeros((2, n_sides, inner * outer + n_powers))
        moments, products = np.empty(n_powers), np.empty(hood.degree + 1)
        sliding_fits(
            line.x,
            line.y,
            line.prior,
            queries[task],
            ends[task],
            widths[task],
            inner,
            outer,
            hood.degree,
            (sums[0], sums[1], moments, products, np.zeros((n_sides, 2), dtype=np.intp)),
            result[task],
        )

    tasks = range(0, len(queries), SLIDING_QUERIES)
    thread_map(compute, tasks, 0 if len(tasks) > 4 else 1)
    return result


def _visit(
    hood: Neighbourhood,
    line: Line,
    queries: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    widths: np.ndarray,
    skipped: np.ndarray,
    *,
    with_squares: bool,
) -> np.ndarray:
    """Return values, leverages, squares and emptiness from a visit to every point in reach."""
    window = hood.window
    result = np.zeros((len(queries), 4))
    longest = int((stops - starts).max(initial=1))

    def compute(start: int) -> None:
        task = slice(start, start + VISIT_QUERIES)
        local_fits(
            line.x,
            line.y,
            line.prior,
            queries[task],
            starts[task],
            stops[task],
            widths[task],
            skipped[task],
            window.code,
            float(window.inner),
            float(window.outer),
            hood.degree,
            with_squares,
            np.empty(longest),
            np.empty(longest),
            result[task],
        )

    light = int((stops - starts).sum()) < THREADED_VISITS
    thread_map(compute, range(0, len(queries), VISIT_QUERIES), 1 if light else 0)
    empty = np.isnan(result[:, 0])
    if empty.any():
        result[empty] = nearest_means(line, queries[empty], skipped[empty], hood.degree)
    return result


def nearest_means(line: Line, queries: np.ndarray, skipped: np.ndarray, degree: int) -> np.ndarray:
    """Return the fits to the inputs nearest to each query, marked as those without a window.

    Inputs at the same distance on both sides count alike in a mean; a line through them has the
    mean of both sides in the middle.
    """
    x, position = line.x, np.searchsorted(line.x, queries)
    sides = np.stack([position - 1 - (skipped == position - 1), position + (skipped == position)])
    is_there = (sides >= 0) & (sides < len(x))
    places = x[np.where(is_there, sides, 0)]
    gaps = np.where(is_there, np.abs(queries - places), np.inf)
    first, last = np.searchsorted(x, places), np.searchsorted(x, places, side="right")
    edges = np.stack([first, last], axis=-1).ravel()
    totals = np.add.reduceat(np.append(line.y, 0.0), edges)[::2].reshape(first.shape)
    counts = (last - first).astype(np.float64)
    inside = (first <= skipped) & (skipped < last)
    totals, counts = totals - np.where(inside, line.y[skipped], 0.0), counts - inside
    is_nearest = gaps == gaps.min(axis=0)
    totals, counts = np.where(is_nearest, totals, 0.0), np.where(is_nearest, counts, 0.0)
    values, squares = totals.sum(axis=0) / counts.sum(axis=0), 1.0 / counts.sum(axis=0)
    if degree > 0:
        middle = (counts.min(axis=0) > 0) & (places[0] < places[1])
        values[middle] = 0.5 * (totals[:, middle] / counts[:, middle]).sum(axis=0)
        squares[middle] = 0.25 * (1.0 / counts[:, middle]).sum(axis=0)
    return np.column_stack([values, squares, squares, np.ones(len(queries))])


def line_windows(
    hood: Neighbourhood, x: np.ndarray, queries: np.ndarray, skipped: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return first and last position and width of each query's neighbourhood."""
    if hood.n_neighbors is not None:
        count = min(hood.n_neighbors, len(x))
        starts = np.empty(len(queries), dtype=np.intp)
        nearest_windows(x, queries, count, starts)
        stops = starts + count
        widths = np.maximum(queries - x[starts], x[stops - 1] - queries)
        # Repeated inputs may fill the neighbourhood: then all of them count, and alike.
        repeated = widths <= 0
        starts[repeated] = np.searchsorted(x, queries[repeated], side="left")
        stops[repeated] = np.searchsorted(x, queries[repeated], side="right")
        widths[repeated] = 1.0
        return starts, stops, widths
    assert hood.bandwidth is not None
    widths = np.full(len(queries), hood.bandwidth)
    if hood.window.code in (GAUSSIAN, EXPONENTIAL):
        nearest = _nearest_distances(x, queries, skipped)
        reach = nearest + EXPONENTIAL_REACH * widths
        if hood.window.code == GAUSSIAN:
            reach = np.sqrt(nearest**2 + GAUSSIAN_REACH * widths**2)
        starts = np.searchsorted(x, queries - reach, side="left")
        stops = np.searchsorted(x, queries + reach, side="right")
    else:
        # Compact windows are open: a point at their very edge has no weight.
        starts = np.searchsorted(x, queries - widths, side="right")
        stops = np.searchsorted(x, queries + widths, side="left")
    if hood.side == "past":
        stops = np.searchsorted(x, queries, side="right")
    # Widths that vanish beside the inputs leave nothing between the two searches.
    return starts, np.maximum(starts, stops), widths


def _nearest_distances(x: np.ndarray, queries: np.ndarray, skipped: np.ndarray) -> np.ndarray:
    """Return the distance of each query to the nearest input that is not left out."""
    padded = np.concatenate([[-np.inf], x, [np.inf]])
    left = np.searchsorted(x, queries)
    right = left + 1
    # Padded by one, the input before a skipped one stands at its number, the next two behind.
    leaves_out = skipped >= 0
    left = np.where(leaves_out, skipped, left)
    right = np.where(leaves_out, skipped + 2, right)
    return np.minimum(queries - padded[left], padded[right] - queries)


def _series_pays(hood: Neighbourhood, line: Line) -> bool:
    if hood.bandwidth is None or hood.side != "both" or hood.degree > 2:
        return False
    span = (line.x[-1] - line.x[0]) / hood.bandwidth
    in_reach = len(line.x) * min(1.0, 2.0 * np.sqrt(GAUSSIAN_REACH) / max(span, 1e-9))
    plain = bool(line.prior.min() == line.prior.max() == 1.0)
    return plain and in_reach > SERIES_REACH and span < 2.0 * len(line.x)


def _series_values(
    hood: Neighbourhood, line: Line, queries: np.ndarray, with_squares: bool
) -> LocalValues:
    """Return the fits from sums of powers, by plain sums where those are too small to trust."""
    degree = hood.degree
    assert hood.bandwidth is not None
    n_powers = 2 * degree + 1
    # A copy: the loop would be compiled anew for arrays that cannot be written to.
    queries = np.array(queries)
    moments = gaussian_moments(
        line.x, line.y, queries, hood.bandwidth, n_powers, degree + 1, SERIES_TERMS
    )
    rows = np.arange(degree + 1)
    matrices = moments[:, rows[:, None] + rows[None, :]]
    # Where points are few or all on one side, the plain sum keeps more digits.
    diagonals = moments[:, 2 * rows].prod(axis=1)
    trusted = (moments[:, 0] > 1e-2) & (np.linalg.det(matrices) > 1e-2 * diagonals)
    matrices[~trusted] = np.eye(degree + 1)
    weights = np.linalg.inv(matrices)[:, 0]
    values = (weights * moments[:, n_powers:]).sum(axis=1)
    squares = np.full(len(queries), np.nan)
    if with_squares:
        # The squared window is a Gaussian too, narrower by the root of two.
        narrow = hood.bandwidth / np.sqrt(2.0)
        doubled = gaussian_moments(line.x, line.y, queries, narrow, n_powers, 1, SERIES_TERMS)
        doubled = doubled[:, :n_powers] * np.sqrt(0.5) ** np.arange(n_powers)
        squares = np.einsum("qi,qij,qj->q", weights, doubled[:, rows[:, None] + rows], weights)
    result = LocalValues(values, weights[:, 0].copy(), squares, np.zeros(len(queries), dtype=bool))
    if not trusted.all():
        direct = _direct_values(hood, line, queries[~trusted], None, with_squares)
        for name in ("values", "leverage", "squares", "empty"):
            getattr(result, name)[~trusted] = getattr(direct, name)
    return result
