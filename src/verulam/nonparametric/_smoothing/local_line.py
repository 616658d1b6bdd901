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
    order = np.argsort(queries, kind="stable")
    queries = np.ascontiguousarray(queries[order])
    skipped = np.full(len(queries), -1) if left_out is None else left_out[order]
    if left_out is not None:
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
    unsorted = np.empty_like(fits)
    unsorted[order] = fits
    return LocalValues(unsorted[:, 0], unsorted[:, 1], unsorted[:, 2], unsorted[:, 3] > 0)


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

    def compute(start: int) -> np.ndarray:
        task = slice(start, start + SLIDING_QUERIES)
        return sliding_fits(
            line.x,
            line.y,
            line.prior,
            queries[task],
            starts[task],
            stops[task],
            widths[task],
            inner,
            outer,
            hood.degree,
        )

    tasks = range(0, len(queries), SLIDING_QUERIES)
    return np.concatenate(thread_map(compute, tasks, 0 if len(tasks) > 4 else 1))


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

    def compute(start: int) -> np.ndarray:
        task = slice(start, start + VISIT_QUERIES)
        return local_fits(
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
        )

    light = int((stops - starts).sum()) < THREADED_VISITS
    tasks = range(0, len(queries), VISIT_QUERIES)
    return np.concatenate(thread_map(compute, tasks, 1 if light else 0))


def line_windows(
    hood: Neighbourhood, x: np.ndarray, queries: np.ndarray, skipped: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return first and last position and width of each query's neighbourhood."""
    if hood.n_neighbors is not None:
        count = min(hood.n_neighbors, len(x))
        starts = nearest_windows(x, queries, count)
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
