"""Decision regions of one input: the line cut into pieces, each with its decision."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError

Vector = NDArray[np.float64]
Rule = Callable[[Any], Any]

# A rule that changes its decision more often has no regions to integrate over.
MANY_CHANGES = 1000
# Enough to get from the range of a table to neighbouring numbers, unless they are next to zero.
BISECTIONS = 200
# Width of a piece, in neighbouring floating-point numbers, that is only rounding.
SLIVER = 64


@dataclass(frozen=True, eq=False)
class Partition:
    """A decision for each value of one input.

    Parameters
    ----------
    boundaries
        Rising values at which the decision changes; a boundary belongs to the piece above it.
    labels
        Decision in each piece, one more than there are boundaries. None where no class can
        have produced the value.

    Examples
    --------
    >>> from verulam.decision import Partition
    >>> rule = Partition([-1.0, 1.0], ["wide", "narrow", "wide"])
    >>> rule([-3.0, 0.0, 1.0])
    array(['wide', 'narrow', 'wide'], dtype=object)
    >>> rule.intervals("wide")
    ((-inf, -1.0), (1.0, inf))
    """

    boundaries: Any
    labels: Any

    def __post_init__(self) -> None:
        boundaries = np.asarray(self.boundaries, dtype=np.float64)
        labels = np.empty(len(self.labels), dtype=object)
        labels[:] = list(self.labels)
        if boundaries.ndim != 1 or len(labels) != len(boundaries) + 1:
            raise DataError(
                f"labels must be one more than the {boundaries.size} boundaries, "
                f"but there are {len(labels)}."
            )
        if np.isnan(boundaries).any():
            raise DataError("boundaries must not be NaN.")
        if not (np.diff(boundaries) > 0).all():
            raise DataError(f"boundaries must rise, but got {boundaries.tolist()}.")
        object.__setattr__(self, "boundaries", boundaries)
        object.__setattr__(self, "labels", labels)

    def __call__(self, x: Any) -> NDArray[Any]:
        """Return the decision for each value."""
        return self.labels[np.searchsorted(self.boundaries, np.asarray(x), side="right")]

    @property
    def edges(self) -> Vector:
        """The boundaries, and infinity at both ends."""
        return np.concatenate([[-np.inf], self.boundaries, [np.inf]])

    def intervals(self, label: Any) -> tuple[tuple[float, float], ...]:
        """Return the pieces of the line in which the decision is `label`."""
        edges = self.edges.tolist()
        return tuple(
            (edges[piece], edges[piece + 1])
            for piece, decision in enumerate(self.labels)
            if decision == label
        )


def locate_changes(label_at: Rule, left: Vector, right: Vector) -> tuple[Vector, Vector]:
    """Bisect each interval around a change of decision, until its ends are neighbours."""
    before = label_at(left)
    for _ in range(BISECTIONS):
        middle = left + (right - left) / 2
        if ((middle <= left) | (middle >= right)).all():
            break
        same = label_at(middle) == before
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return left, right


def partition_by(rule: Rule, grid: Vector) -> Partition:
    """Return the pieces into which a rule cuts the line, seen at the points of a rising grid."""
    points, labels = grid, rule(grid)
    while True:
        adjacent = np.nextafter(points[:-1], np.inf) >= points[1:]
        open_cells = np.flatnonzero((labels[1:] != labels[:-1]) & ~adjacent)
        if len(open_cells) == 0:
            break
        if len(open_cells) > MANY_CHANGES:
            raise DataError(
                f"The rule changes its decision more than {MANY_CHANGES} times: "
                "estimate its error with simulated_error."
            )
        # A cell may hide several changes: the ends of the one located are added, and it goes on.
        ends = locate_changes(rule, points[open_cells], points[open_cells + 1])
        points = np.union1d(points, np.concatenate(ends))
        labels = rule(points)
    # Where two decisions tie with a third at one point only, that point is no piece of its own.
    starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
    widths = np.diff(points[starts], append=np.inf)
    starts = starts[widths > SLIVER * np.spacing(np.abs(points[starts]))]
    starts = starts[np.append(True, labels[starts[1:]] != labels[starts[:-1]])]
    return Partition(points[starts[1:]], labels[starts])
