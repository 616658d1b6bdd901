"""Running median: the median target of what lies in a window around the query."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from scipy.stats import binom

from verulam.base import DataError, Interval, StrOptions, thread_map
from verulam.nonparametric._smoothing.bands import Coverage, check_band
from verulam.nonparametric._smoothing.base import Smoother, TrainingSmooth
from verulam.nonparametric._smoothing.kernel_smoother import EMPTY, BandwidthChoice, Empty
from verulam.nonparametric._smoothing.local_line import line_windows, nearest_means, sorted_line
from verulam.nonparametric._smoothing.local_polynomial import checked_bandwidth, choose_bandwidth
from verulam.nonparametric._smoothing.local_space import block_rows
from verulam.nonparametric._smoothing.neighbourhoods import LocalValues, Neighbourhood, Side
from verulam.nonparametric._smoothing.running_mean_line import SIDE, check_side
from verulam.nonparametric._tuning import RANKED_TARGETS, THREADED_WINDOWS
from verulam.nonparametric._windows.functions import WINDOWS
from verulam.numerics import njit


@dataclass(frozen=True)
class MedianBand:
    """A running median with limits that hold for any distribution of the targets.

    Attributes
    ----------
    values : ndarray
        The running median.
    lower, upper : ndarray
        Two targets of each window; infinite where it has too few for the level.
    counts : ndarray
        Targets in each window.
    levels : ndarray
        Probability with which the limits enclose the median, of at least what was asked for;
        1 where they are infinite.
    coverage : str
        At each row for itself ("pointwise"), or at all "rows" at once.
    """

    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    counts: np.ndarray
    levels: np.ndarray
    coverage: Coverage


class RunningMedian(Smoother):
    r"""Predict the median target of the training points within a distance of the query.

    Parameters
    ----------
    bandwidth
        Half-width of the window, or "loo", as in `KernelSmoother`.
    side
        As in `RunningMean`.
    empty
        As in `KernelSmoother`.

    Attributes
    ----------
    inputs_, targets_, bandwidth_
        As in `KernelSmoother`.

    Notes
    -----
    Single wild targets do not move it, and it keeps steps sharp. It is no weighted mean, so its
    band comes from the order of the targets in each window, not from their variance. Over one
    input each point enters and leaves a tree of counts once: the cost is that of sorting, whatever
    the window. See Alpaydin 8.8.1.

    Examples
    --------
    >>> from verulam.nonparametric import RunningMedian
    >>> smoother = RunningMedian(bandwidth=1.5).fit([[1], [2], [3], [4]], [1.0, 90.0, 3.0, 7.0])
    >>> smoother.predict([[2], [3]])
    array([3., 7.])
    """

    _is_linear = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bandwidth": [Interval(Real, 0, None, closed="neither"), "array-like", StrOptions({"loo"})],
        "side": SIDE,
        "empty": EMPTY,
    }

    def __init__(
        self,
        *,
        bandwidth: BandwidthChoice | Literal["loo"] = "loo",
        side: Side = "both",
        empty: Empty = "nearest",
    ) -> None:
        self.bandwidth = bandwidth
        self.side = side
        self.empty = empty

    def _prepare(self) -> None:
        check_side(self.side, self.n_features_in_)
        if isinstance(self.bandwidth, str):
            self.bandwidth_ = choose_bandwidth(
                lambda width, rows: self._engine_for(width).training(rows),
                self.inputs_,
                self.bandwidth,
            )
        else:
            self.bandwidth_ = checked_bandwidth(self.bandwidth, self.n_features_in_)

    def _engine_for(self, bandwidth: float | np.ndarray) -> "MedianEngine":
        return MedianEngine(self.inputs_, self.targets_, bandwidth, self.side)

    def _engine(self) -> "MedianEngine":
        return self._engine_for(self.bandwidth_)

    def predict_band(
        self, X: ArrayLike, *, level: float = 0.95, coverage: Coverage = "pointwise"
    ) -> MedianBand:
        r"""Return the running median with confidence limits, whatever the distribution.

        Parameters
        ----------
        X
            Inputs.
        level
            Probability with which the limits enclose the median of the targets.
        coverage
            "pointwise", at each row for itself, or "rows", at all rows of `X` at once by
            Bonferroni's inequality.

        Notes
        -----
        Of :math:`n` targets in a window, each falls below the median with probability 1/2, so

        .. math:: P\left(y_{(l)} \le m \le y_{(n+1-l)}\right)
                  \ge 1 - 2 P(B \le l - 1), \qquad B \sim \mathrm{Bin}(n, 1/2)

        and :math:`l` is the largest that keeps the level; with 95% at least 6 targets are needed.
        The median is taken as constant within the window. See David and Nagaraja, "Order
        Statistics", 7.1.
        """
        check_band(level, coverage)
        queries = self._queries(X)
        if coverage == "curve":
            raise DataError(
                "coverage='curve' is for weighted means, and a median is none. Use 'rows', for "
                "the rows that you ask for."
            )
        engine, values = self._engine(), self._answer(self._engine().values(queries))
        rows_at_once = len(queries) if coverage == "rows" else 1
        depths = median_depths(len(self.inputs_), 1.0 - (1.0 - level) / rows_at_once)
        (lower, upper), counts = engine.limits(queries, depths)
        missed = rows_at_once * 2.0 * binom.cdf(depths[counts], counts, 0.5)
        levels = np.where(depths[counts] < 0, 1.0, 1.0 - missed)
        return MedianBand(values, lower, upper, counts, levels, coverage)


@dataclass(frozen=True)
class MedianEngine:
    """Medians of the targets in windows."""

    inputs: np.ndarray
    targets: np.ndarray
    bandwidth: float | np.ndarray
    side: Side

    def values(self, queries: np.ndarray, *, with_squares: bool = False) -> LocalValues:
        """Return the medians at some inputs."""
        return self._values(queries, None)

    def training(self, rows: np.ndarray | None = None) -> TrainingSmooth:
        """Return the medians at the training inputs, with and without each point."""
        rows = np.arange(len(self.inputs)) if rows is None else rows
        queries = self.inputs[rows]
        fitted = self._values(queries, None).values
        left_out = fitted if len(self.inputs) == 1 else self._values(queries, rows).values
        unknown = np.full(len(rows), np.nan)
        return TrainingSmooth(self.targets[rows], fitted, unknown, left_out)

    def limits(self, queries: np.ndarray, depths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return two targets of each window, `depths` from its ends, and how many it has."""
        find = self._on_line if self.inputs.shape[1] == 1 else self._in_space
        limits, counts = find(queries, None, depths)
        # A window without targets tells nothing.
        limits[0, counts == 0], limits[1, counts == 0] = -np.inf, np.inf
        return limits, counts

    def _values(self, queries: np.ndarray, left_out: np.ndarray | None) -> LocalValues:
        find = self._on_line if self.inputs.shape[1] == 1 else self._in_space
        middle = (np.arange(len(self.inputs) + 1) - 1) // 2
        limits, counts = find(queries, left_out, middle)
        nothing = np.full(len(queries), np.nan)
        return LocalValues(0.5 * limits.sum(axis=0), nothing, nothing, counts == 0)

    def _on_line(
        self, points: np.ndarray, left_out: np.ndarray | None, depths: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        queries = points[:, 0]
        line = sorted_line(self.inputs, self.targets, None)
        order = np.argsort(queries, kind="stable")
        skipped = np.full(len(queries), -1)
        if left_out is not None:
            positions = np.empty(len(line.order), dtype=np.int64)
            positions[line.order] = np.arange(len(line.order))
            skipped = positions[left_out][order]
        width = float(np.ravel(self.bandwidth)[0])
        hood = Neighbourhood(WINDOWS["tophat"], bandwidth=width, side=self.side)
        starts, stops, _ = line_windows(hood, line.x, queries[order], skipped)
        in_line = window_limits(line.y, starts, stops, skipped, depths)
        inside = (skipped >= starts) & (skipped < stops)
        sizes = np.maximum(stops - starts, 0) - inside
        empty = sizes == 0
        if empty.any():
            asked = queries[order[empty]]
            in_line[:, empty] = nearest_means(line, asked, skipped[empty], 0)[:, 0]
        limits, counts = np.empty_like(in_line), np.empty_like(sizes)
        limits[:, order], counts[order] = in_line, sizes
        return limits, counts

    def _in_space(
        self, queries: np.ndarray, left_out: np.ndarray | None, depths: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        limits = np.empty((2, len(queries)))
        counts = np.empty(len(queries), dtype=np.int64)
        stored = self.inputs / self.bandwidth
        for rows in block_rows(len(queries), 3 * len(stored)):
            scaled = cdist(queries[rows] / self.bandwidth, stored)
            if left_out is not None:
                np.put_along_axis(scaled, left_out[rows, None], np.inf, axis=1)
            inside = scaled < 1.0
            counts[rows] = inside.sum(axis=1)
            inside |= scaled == scaled.min(axis=1, keepdims=True)
            limits[:, rows] = ordered_limits(inside, self.targets, depths)
        return limits, counts


def median_depths(most: int, level: float) -> np.ndarray:
    """Return how many of n targets may lie beyond each limit of their median, n up to `most`.

    -1 where even all of them do not enclose it with the probability asked for.

    Examples
    --------
    >>> median_depths(10, 0.95)
    array([-1, -1, -1, -1, -1, -1,  0,  0,  0,  1,  1])
    """
    counts = np.arange(most + 1)
    half = 0.5 * (1.0 - level)
    first = np.asarray(binom.ppf(half, counts, 0.5), dtype=np.int64)
    return np.where(binom.cdf(first, counts, 0.5) <= half, first, first - 1)


def ordered_limits(inside: np.ndarray, targets: np.ndarray, depths: np.ndarray) -> np.ndarray:
    """Return the targets `depths` from both ends of those inside each row's window."""
    counts = inside.sum(axis=1)
    ordered = np.sort(np.where(inside, targets, np.inf), axis=1)
    depth = depths[counts]
    at = np.stack([depth, counts - 1 - depth], axis=1)
    limits = np.take_along_axis(ordered, np.clip(at, 0, ordered.shape[1] - 1), axis=1).T
    return np.where(depth < 0, [[-np.inf], [np.inf]], limits)


def window_limits(
    targets: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    skipped: np.ndarray,
    depths: np.ndarray,
) -> np.ndarray:
    """Return the targets `depths` from both ends of each window; NaN where it is empty.

    Windows come in order. They are taken in groups, so that the ranks of a group's targets fit
    the cache: n points in windows of k cost ``O(n log k)``.

    Parameters
    ----------
    targets
        All targets.
    starts, stops
        Ends of the windows; neither ever goes back.
    skipped
        Position of a target that each window does without, or -1.
    depths
        Targets beyond each of the two, by the number of targets in a window.
    """
    limits = np.empty((2, len(starts)))
    size = max(RANKED_TARGETS, 4 * int((stops - starts).max(initial=0)))
    edges = [0]
    while edges[-1] < len(starts):
        reach = np.searchsorted(stops, starts[edges[-1]] + size, side="right")
        edges.append(max(edges[-1] + 1, int(reach)))

    def compute(group: int) -> None:
        windows = slice(edges[group], edges[group + 1])
        # Ranks within the group alone: a tree of its targets is small enough for the cache.
        low, high = starts[windows][0], max(stops[windows][-1], starts[windows][0])
        by_rank = np.argsort(targets[low:high])
        ranks = np.empty(len(by_rank), dtype=np.int64)
        ranks[by_rank] = np.arange(len(by_rank))
        ordered = targets[low:high][by_rank]
        running_limits(
            ranks,
            ordered,
            starts[windows] - low,
            stops[windows] - low,
            skipped[windows] - low,
            depths,
            np.zeros(len(ranks) + 1, dtype=np.intp),
            limits[:, windows],
        )

    thread_map(compute, range(len(edges) - 1), 1 if len(starts) < THREADED_WINDOWS else 0)
    return limits


@njit(cache=True, nogil=True)
def running_limits(ranks, ordered, starts, stops, skipped, depths, tree, limits):
    """Write two targets of each window, equally far from its least and its greatest.

    `ranks` are those of the targets, `ordered` the targets by rank; `depths` is how many targets
    of a window lie beyond each of the two, by their number, -1 for infinite limits. NaN where a
    window is empty. Starts and stops never go back, so that each point enters and leaves the tree
    once; it is full of zeros at first.
    """
    enter, leave = np.int64(1), np.int64(-1)
    # The largest power of two among the entries, from which the search for a rank descends.
    highest = np.int64(1)
    while 2 * highest < tree.shape[0]:
        highest *= 2
    start = stop = np.int64(0)
    for q in range(starts.shape[0]):
        while stop < stops[q]:
            change_count(tree, ranks[stop], enter)
            stop += 1
        while start < starts[q]:
            change_count(tree, ranks[start], leave)
            start += 1
        count = stop - start
        # Taken out for this window alone, and put back below.
        left_out = skipped[q] >= start and skipped[q] < stop
        if left_out:
            change_count(tree, ranks[skipped[q]], leave)
            count -= 1
        limits[0, q] = limits[1, q] = np.nan
        if count > 0:
            depth, other = depths[count], count - 1 - depths[count]
            limits[0, q], limits[1, q] = -np.inf, np.inf
            if depth >= 0:
                limits[0, q] = limits[1, q] = ordered[find_rank(tree, depth, highest)]
                if other != depth:
                    limits[1, q] = ordered[find_rank(tree, other, highest)]
        if left_out:
            change_count(tree, ranks[skipped[q]], enter)


@njit(cache=True, nogil=True)
def change_count(tree, rank, change):
    """Add to the count of a rank in a Fenwick tree."""
    # Entry i sums the counts of the last (i & -i) ranks up to it: log n entries change.
    position = rank + 1
    while position < tree.shape[0]:
        tree[position] += change
        position += position & -position


@njit(cache=True, nogil=True)
def find_rank(tree, position, highest):
    """Return the rank of the value at a position among those counted."""
    # Binary descent: entries at powers of two are sums of whole halves of what is left.
    rank = 0
    step = highest
    while step > 0:
        if rank + step < tree.shape[0] and tree[rank + step] <= position:
            rank += step
            position -= tree[rank]
        step >>= 1
    return rank
