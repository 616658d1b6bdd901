"""Decisions and their probabilities along the line of one input."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from verulam.decision._class_density import ClassDensity
from verulam.decision._partition import Partition, Rule, partition_by

Vector = NDArray[np.float64]

# The search for boundaries doubles its reach beyond the bulk of the classes until it is this
# many times as wide as the middle half; further out, heavy tails differ by rounding errors only.
FARTHEST = 1e6
DOUBLINGS = 20
SNAP = 1e-9


def bulk_points(densities: Sequence[ClassDensity]) -> Vector:
    """Return values that resolve every class: all integers, or a dense grid."""
    points = [each.integers() if each.discrete else each.grid() for each in densities]
    if densities[0].discrete:
        return np.arange(min(each[0] for each in points), max(each[-1] for each in points) + 1)
    return np.unique(np.concatenate(points))


def cut_line(rule: Rule, densities: Sequence[ClassDensity]) -> Partition:
    """Return the pieces into which a rule cuts the line of one input.

    Boundaries between integers lie halfway.
    """
    points = bulk_points(densities)
    if densities[0].discrete:
        labels = rule(points)
        change = np.flatnonzero(labels[1:] != labels[:-1])
        return Partition(points[change] + 0.5, [*labels[change], labels[-1]])
    middle = np.subtract(*np.quantile(points, [0.75, 0.25]))
    reach = (points[-1] - points[0]) * 2.0 ** np.arange(DOUBLINGS)
    reach = reach[(reach <= FARTHEST * middle) | (reach == reach[0])]
    pieces = partition_by(
        rule, np.concatenate([points[0] - reach[::-1], points, points[-1] + reach])
    )
    return Partition(_snapped(pieces.boundaries, densities), pieces.labels)


def _snapped(boundaries: Vector, densities: Sequence[ClassDensity]) -> Vector:
    """Put boundaries that are the end of a support, but for rounding, exactly there."""
    ends = np.concatenate([each.box[0] for each in densities])
    ends = ends[np.isfinite(ends)]
    if len(ends) == 0 or len(boundaries) == 0:
        return boundaries
    nearest = ends[np.abs(boundaries[:, np.newaxis] - ends).argmin(axis=1)]
    near = np.abs(boundaries - nearest) <= SNAP * np.maximum(1.0, np.abs(nearest))
    return np.where(near, nearest, boundaries)


def line_masses(
    pieces: Partition, codes: NDArray[np.intp], densities: Sequence[ClassDensity]
) -> Vector:
    """Return the probability of each decision (row, by code) within each class (column)."""
    edges = pieces.edges
    if densities[0].discrete:
        # A boundary at an integer belongs to the piece above it, but cumulative
        # probabilities count it to the piece below.
        edges = np.ceil(edges) - 0.5
    masses = np.zeros((codes.max() + 1, len(densities)))
    for code, low, high in zip(codes, edges[:-1], edges[1:], strict=True):
        masses[code] += [each.mass(low, high) for each in densities]
    return masses
