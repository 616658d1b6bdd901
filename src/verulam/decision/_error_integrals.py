"""Error integrals: the probability of each decision of a rule within each class, by quadrature."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.decision._class_density import NODES, WEIGHTS, ClassDensity
from verulam.decision._partition import Partition, Rule, locate_changes, partition_by

Vector = NDArray[np.float64]

# The search for boundaries doubles its reach beyond the bulk of the classes until it is this
# many times as wide as the middle half; further out, heavy tails differ by rounding errors only.
FARTHEST = 1e6
# Steps outwards, each twice as long: the last one is half a million times the first.
DOUBLINGS = 20
# A boundary this close to the end of a support is that end, found with rounding.
SNAP = 1e-9

# Boundaries are often parallel to an axis. Lines at an odd angle cross those, and where a line
# crosses a boundary the crossing is found exactly.
ANGLE = 0.6
# Cells across the box at first, and at the most: doubled until the masses of the classes, which
# are known, come out as closely as the tolerance; with most cells the last one will do.
FIRST_CELLS = 24
LAST_CELLS = 96
TOLERANCE = 1e-7
LAST_TOLERANCE = 1e-4


def bulk_points(densities: Sequence[ClassDensity]) -> Vector:
    """Return values of one input that resolve every class: all integers, or a dense grid."""
    grids = [density.integers() if density.discrete else density.grid() for density in densities]
    if densities[0].discrete:
        return np.arange(min(grid[0] for grid in grids), max(grid[-1] for grid in grids) + 1)
    return np.unique(np.concatenate(grids))


def cut_line(rule: Rule, densities: Sequence[ClassDensity]) -> Partition:
    """Return the decision regions of a rule on the line of one input.

    Boundaries between integers lie halfway.
    """
    points = bulk_points(densities)
    if densities[0].discrete:
        labels = rule(points)
        change = np.flatnonzero(labels[1:] != labels[:-1])
        return Partition(points[change] + 0.5, [*labels[change], labels[-1]])
    # Classes of nearly the same variance have a second boundary far outside the bulk.
    middle = np.subtract(*np.quantile(points, [0.75, 0.25]))
    reach = (points[-1] - points[0]) * 2.0 ** np.arange(DOUBLINGS)
    reach = reach[(reach <= FARTHEST * middle) | (reach == reach[0])]
    pieces = partition_by(
        rule, np.concatenate([points[0] - reach[::-1], points, points[-1] + reach])
    )
    return Partition(_snapped(pieces.boundaries, densities), pieces.labels)


def _snapped(boundaries: Vector, densities: Sequence[ClassDensity]) -> Vector:
    """Put boundaries that are the end of a support, but for rounding, exactly there."""
    ends = np.concatenate([density.box[0] for density in densities])
    ends = ends[np.isfinite(ends)]
    if len(ends) == 0 or len(boundaries) == 0:
        return boundaries
    nearest = ends[np.abs(boundaries[:, np.newaxis] - ends).argmin(axis=1)]
    near = np.abs(boundaries - nearest) <= SNAP * np.maximum(1.0, np.abs(nearest))
    return np.where(near, nearest, boundaries)


def line_masses(
    regions: Partition, codes: NDArray[np.intp], densities: Sequence[ClassDensity]
) -> Vector:
    """Return the probability of each decision (row, by code) within each class (column)."""
    edges = regions.edges
    if densities[0].discrete:
        # A boundary at an integer belongs to the piece above it, but cumulative
        # probabilities count it to the piece below.
        edges = np.ceil(edges) - 0.5
    masses = np.zeros((codes.max() + 1, len(densities)))
    for code, low, high in zip(codes, edges[:-1], edges[1:], strict=True):
        masses[code] += [density.mass(low, high) for density in densities]
    return masses


@dataclass(frozen=True, eq=False)
class LineCells:
    """Short pieces of parallel lines through a box.

    Attributes
    ----------
    offset
        Distance of each piece's line from the origin.
    start, end
        Where the piece begins and ends on its line.
    weight
        Width of the strip of the plane for which the line stands.
    """

    offset: Vector
    start: Vector
    end: Vector
    weight: Vector


def plane_masses(
    box: Vector,
    joint_at: Callable[[Vector], Vector],
    code_at: Callable[[Vector], NDArray[np.intp]],
    priors: Vector,
) -> Vector:
    """Return the joint probability of each decision (row) and each class (column) of two inputs.

    Gauss-Legendre quadrature along parallel lines, each cut where the decision changes, so that
    no cell is integrated across a jump. The resolution is doubled until the priors come out
    right, to seven digits if the densities are smooth, else to four.

    Parameters
    ----------
    box
        Ends of the first and of the second input.
    joint_at
        Prior times density of each class (last axis) at points of the plane.
    code_at
        Non-negative code of the decision at points of the plane.
    priors
        What each column must sum to.
    """
    if not np.isfinite(box).all():
        raise DataError(
            "Integrals over two inputs need normal densities or a finite support; "
            "use simulated_error instead."
        )
    count = FIRST_CELLS
    while count <= LAST_CELLS:
        cells, codes = split_at_changes(line_cells(box, count), code_at)
        widths = cells.end - cells.start
        positions = cells.start[:, np.newaxis] + widths[:, np.newaxis] * NODES
        joint = joint_at(points_at(cells.offset[:, np.newaxis], positions))
        pieces = np.einsum("pnc,n->pc", joint, WEIGHTS) * (widths * cells.weight)[:, np.newaxis]
        masses = np.zeros((codes.max() + 1, len(priors)))
        np.add.at(masses, codes, pieces)
        # The classes' total masses are known, so their error measures that of the quadrature.
        worst = np.abs(masses.sum(axis=0) - priors).max()
        if worst < TOLERANCE:
            return masses
        count *= 2
    if worst < LAST_TOLERANCE:
        return masses
    raise DataError(
        "The densities are too narrow or too wide for one another, or do not integrate to one: "
        "quadrature over two inputs fails; use simulated_error instead."
    )


def line_cells(box: Vector, count: int) -> LineCells:
    """Cover a box (one row of ends per input) with `count` strips, and their lines with pieces."""
    direction, normal = line_directions()
    corners = np.array([[x, y] for x in box[0] for y in box[1]])
    heights = np.sort(corners @ normal)
    # The length of a line inside the box has a kink at each corner: no strip reaches across one.
    edges = np.union1d(np.linspace(heights[0], heights[-1], count + 1), heights)
    widths = np.diff(edges)
    offsets = (edges[:-1, np.newaxis] + widths[:, np.newaxis] * NODES).ravel()
    weights = (widths[:, np.newaxis] * WEIGHTS).ravel()
    # Where each line enters and leaves the box.
    entries = (box.T[:, np.newaxis, :] - offsets[:, np.newaxis] * normal) / direction
    first, last = entries.min(axis=0).max(axis=1), entries.max(axis=0).min(axis=1)
    shares = np.linspace(0, 1, count + 1)
    positions = first[:, np.newaxis] + (last - first)[:, np.newaxis] * shares
    return LineCells(
        np.repeat(offsets, count),
        positions[:, :-1].ravel(),
        positions[:, 1:].ravel(),
        np.repeat(weights, count),
    )


def split_at_changes(
    cells: LineCells, code_at: Callable[[Vector], NDArray[np.intp]]
) -> tuple[LineCells, NDArray[np.intp]]:
    """Cut the pieces in which the decision changes; return all pieces and their decisions."""
    first = code_at(points_at(cells.offset, cells.start))
    last = code_at(points_at(cells.offset, cells.end))
    change = first != last
    offset = cells.offset[change]
    _, cut = locate_changes(
        lambda position: code_at(points_at(offset, position)),
        cells.start[change],
        cells.end[change],
    )
    end = cells.end.copy()
    end[change] = cut
    split = LineCells(
        np.concatenate([cells.offset, offset]),
        np.concatenate([cells.start, cut]),
        np.concatenate([end, cells.end[change]]),
        np.concatenate([cells.weight, cells.weight[change]]),
    )
    return split, np.concatenate([first, last[change]])


def points_at(offset: Vector, position: Vector) -> Vector:
    """Return the points of the plane at positions on lines."""
    direction, normal = line_directions()
    return offset[..., np.newaxis] * normal + position[..., np.newaxis] * direction


def line_directions() -> tuple[Vector, Vector]:
    """Return the direction of the lines, and their normal."""
    cosine, sine = np.cos(ANGLE), np.sin(ANGLE)
    return np.array([cosine, sine]), np.array([-sine, cosine])
