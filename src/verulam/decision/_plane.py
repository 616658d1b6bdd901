"""Probabilities of the decisions of any rule over two inputs, line by line."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.decision._class_density import NODES, WEIGHTS
from verulam.decision._partition import locate_changes

Vector = NDArray[np.float64]

# Boundaries are often parallel to an axis. Lines at an odd angle cross those, and where a line
# crosses a boundary the crossing is found exactly.
ANGLE = 0.6
FIRST_CELLS = 24
LAST_CELLS = 96
TOLERANCE = 1e-7
LAST_TOLERANCE = 1e-4


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


def along() -> tuple[Vector, Vector]:
    """Return the direction of the lines, and the one across."""
    cosine, sine = np.cos(ANGLE), np.sin(ANGLE)
    return np.array([cosine, sine]), np.array([-sine, cosine])


def points_at(offset: Vector, position: Vector) -> Vector:
    """Return the points of the plane at positions on lines."""
    direction, across = along()
    return offset[..., np.newaxis] * across + position[..., np.newaxis] * direction


def line_cells(box: Vector, count: int) -> LineCells:
    """Cover a box (one row of ends per input) with `count` strips, and their lines with pieces."""
    direction, across = along()
    corners = np.array([[x, y] for x in box[0] for y in box[1]])
    heights = np.sort(corners @ across)
    edges = np.union1d(np.linspace(heights[0], heights[-1], count + 1), heights)
    widths = np.diff(edges)
    offsets = (edges[:-1, np.newaxis] + widths[:, np.newaxis] * NODES).ravel()
    weights = (widths[:, np.newaxis] * WEIGHTS).ravel()
    # Where each line enters and leaves the box.
    entries = (box.T[:, np.newaxis, :] - offsets[:, np.newaxis] * across) / direction
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


def plane_masses(
    box: Vector,
    joint_at: Callable[[Vector], Vector],
    code_at: Callable[[Vector], NDArray[np.intp]],
    priors: Vector,
) -> Vector:
    """Return the probability of each decision (row) together with each class (column).

    The resolution is doubled until the classes' own probabilities come out right, to seven
    digits if the densities are smooth, else to four.

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
