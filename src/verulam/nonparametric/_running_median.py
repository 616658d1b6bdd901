"""Running median: the median target of what lies in a window around the query."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.spatial.distance import cdist

from verulam.base import Interval, StrOptions, in_threads
from verulam.nonparametric._kernel_smoother import EMPTY, BandwidthChoice, Empty
from verulam.nonparametric._local import checked_bandwidth, choose_bandwidth
from verulam.nonparametric._local_line import line_windows, sorted_line
from verulam.nonparametric._local_loops import nearest_mean
from verulam.nonparametric._local_space import block_rows
from verulam.nonparametric._neighbourhoods import LocalValues, Neighbourhood, Side
from verulam.nonparametric._running import SIDE, check_side
from verulam.nonparametric._running_median_loops import running_medians
from verulam.nonparametric._smoothing import Smoother, TrainingSmooth
from verulam.nonparametric._windows import WINDOWS

#: Targets whose ranks are taken together, at least.
LEAST_GROUP = 4096


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
    Single wild targets do not move it, and it keeps steps sharp. It is no weighted mean, so it has
    no bands. Over one input each point enters and leaves a tree of counts once: the cost is that
    of sorting, whatever the window. See Alpaydin 8.8.1.

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
        chosen = np.arange(len(self.inputs)) if rows is None else rows
        queries = self.inputs[chosen]
        fitted = self._values(queries, None).values
        left_out = fitted if len(self.inputs) == 1 else self._values(queries, chosen).values
        unknown = np.full(len(chosen), np.nan)
        return TrainingSmooth(self.targets[chosen], fitted, unknown, left_out)

    def _values(self, queries: np.ndarray, own: np.ndarray | None) -> LocalValues:
        if self.inputs.shape[1] == 1:
            medians = self._on_line(queries[:, 0], own)
        else:
            medians = self._in_space(queries, own)
        nothing = np.full(len(queries), np.nan)
        return LocalValues(medians[0], nothing, nothing, medians[1])

    def _on_line(
        self, queries: np.ndarray, own: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        line = sorted_line(self.inputs, self.targets, None)
        order = np.argsort(queries, kind="stable")
        skipped = np.full(len(queries), -1)
        if own is not None:
            positions = np.empty(len(line.order), dtype=np.int64)
            positions[line.order] = np.arange(len(line.order))
            skipped = positions[own][order]
        width = float(np.ravel(self.bandwidth)[0])
        hood = Neighbourhood(WINDOWS["box"], bandwidth=width, side=self.side)
        starts, stops, _ = line_windows(hood, line.x, queries[order], skipped)
        found = window_medians(line.y, starts, stops, skipped)
        empty = np.isnan(found)
        for place in np.flatnonzero(empty):
            query, left_out = queries[order[place]], skipped[place]
            found[place] = nearest_mean(line.x, line.y, query, left_out, 0)[0]
        values, nowhere = np.empty_like(found), np.empty_like(empty)
        values[order], nowhere[order] = found, empty
        return values, nowhere

    def _in_space(
        self, queries: np.ndarray, own: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        values = np.empty(len(queries))
        empty = np.zeros(len(queries), dtype=bool)
        stored = self.inputs / self.bandwidth
        for rows in block_rows(len(queries), 3 * len(stored)):
            scaled = cdist(queries[rows] / self.bandwidth, stored)
            if own is not None:
                np.put_along_axis(scaled, own[rows, None], np.inf, axis=1)
            inside = scaled < 1.0
            empty[rows] = ~inside.any(axis=1)
            inside |= scaled == scaled.min(axis=1, keepdims=True)
            values[rows] = np.nanmedian(np.where(inside, self.targets, np.nan), axis=1)
        return values, empty


def window_medians(
    targets: np.ndarray, starts: np.ndarray, stops: np.ndarray, skipped: np.ndarray
) -> np.ndarray:
    """Return the median of the targets in each window; NaN where it is empty.

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
    """
    medians = np.empty(len(starts))
    size = max(LEAST_GROUP, 4 * int((stops - starts).max(initial=0)))
    edges = [0]
    while edges[-1] < len(starts):
        reach = np.searchsorted(stops, starts[edges[-1]] + size, side="right")
        edges.append(max(edges[-1] + 1, int(reach)))

    def compute(group: int) -> None:
        own = slice(edges[group], edges[group + 1])
        low, high = starts[own][0], max(stops[own][-1], starts[own][0])
        by_rank = np.argsort(targets[low:high])
        ranks = np.empty(len(by_rank), dtype=np.int64)
        ranks[by_rank] = np.arange(len(by_rank))
        ordered = targets[low:high][by_rank]
        medians[own] = running_medians(
            ranks, ordered, starts[own] - low, stops[own] - low, skipped[own] - low
        )

    for _ in in_threads(compute, range(len(edges) - 1), 1 if len(starts) < 2**16 else 0):
        pass
    return medians
