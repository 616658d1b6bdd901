"""What a fitted learner keeps, as lines and marks: borders, margins, splits, rules, windows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from contourpy import contour_generator

#: Where fitted learners keep places worth marking, by the words for them.
MARKS = {
    "support_vectors_": "support vectors",
    "prototypes_": "prototypes",
    "cluster_centers_": "centres",
    "medoids_": "medoids",
    "means_": "means",
    "centers_": "centres",
    "centres_": "centres",
}
MOST_MARKS = 400
#: More windows than this would hide each other, more leaves than this are no picture any more.
MOST_WINDOWS, MOST_LEAVES = 30, 60
#: Height of the window of a smoother, as a share of the plane.
BRACKET = 0.04
#: Corners of a window in the plane.
CORNERS = 49

Extent = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Line:
    """A line in a picture.

    Attributes
    ----------
    horizontal, vertical
        Its points.
    role
        "boundary", "margin", "curve", "band", "contour", "net", "split", "rule" or "window".
    """

    horizontal: np.ndarray
    vertical: np.ndarray
    role: str = "boundary"


def level_lines(
    horizontal: np.ndarray, vertical: np.ndarray, heights: np.ndarray, level: float, role: str
) -> list[Line]:
    """Return the lines of equal height over a grid."""
    contours = contour_generator(horizontal, vertical, heights).lines(level)
    return [Line(path[:, 0], path[:, 1], role) for path in contours]  # type: ignore[call-overload]


def border_lines(
    horizontal: np.ndarray, vertical: np.ndarray, codes: np.ndarray, role: str = "boundary"
) -> list[Line]:
    """Return the lines between the places of a grid that have different codes."""
    labels = np.unique(codes)
    # With two answers, the border of one is that of the other.
    labels = labels[1:] if len(labels) == 2 else labels if len(labels) > 2 else labels[:0]
    lines = []
    for code in labels:
        members = (codes == code).astype(np.float64)
        lines += level_lines(horizontal, vertical, members, 0.5, role)
    return lines


def margin_lines(
    learner: Any, horizontal: np.ndarray, vertical: np.ndarray, rows: np.ndarray
) -> list[Line]:
    """Return where the output of a two-class machine is -1 and 1."""
    if not hasattr(learner, "support_vectors_") or len(learner.classes_) != 2:
        return []
    outputs = np.asarray(learner.decision_function(rows))
    if outputs.ndim != 1:
        return []
    heights = outputs.reshape(len(vertical), len(horizontal))
    return [
        line
        for level in (-1.0, 1.0)
        for line in level_lines(horizontal, vertical, heights, level, "margin")
    ]


def net_lines(learner: Any) -> tuple[Line, ...]:
    """Return the lines between units of a map that are neighbours on its grid."""
    if not hasattr(learner, "grid_") or not hasattr(learner, "cluster_centers_"):
        return ()
    units = np.asarray(learner.cluster_centers_)
    ends = units[learner.grid_.touching]
    return tuple(Line(pair[:, 0], pair[:, 1], "net") for pair in ends)


def split_lines(learner: Any, extent: Extent) -> list[Line]:
    """Return the tests of a tree, each as far as the part of the plane that it divides.

    Parameters
    ----------
    learner
        Fitted to one column, which runs from left to right, or to two.
    extent
        Ends of the axes.
    """
    tree: Any = getattr(learner, "tree_", None)
    if not hasattr(tree, "first_child"):
        return []
    inner = np.flatnonzero(tree.n_children)
    if not np.isfinite(tree.threshold[inner]).all():
        return []
    # The part of each node: left, right, bottom, top.
    parts = np.tile(np.asarray(extent, dtype=np.float64), (len(tree), 1))
    lines = []
    for node in inner:
        column, cut = int(tree.column[node]), float(tree.threshold[node])
        low, high = 2 * column, 2 * column + 1
        part, first = parts[node], int(tree.first_child[node])
        parts[first], parts[first + 1] = part, part
        parts[first, high] = min(cut, part[high])
        parts[first + 1, low] = max(cut, part[low])
        if part[low] < cut < part[high]:
            across = np.array([cut, cut]) if column == 0 else part[:2]
            up = part[2:] if column == 0 else np.array([cut, cut])
            lines.append(Line(across.copy(), up.copy(), "split"))
    return lines


def leaf_lines(
    learner: Any, horizontal: np.ndarray, vertical: np.ndarray, rows: np.ndarray
) -> list[Line]:
    """Return the borders between the leaves of a tree whose tests look at several inputs."""
    structure = getattr(getattr(learner, "tree_", None), "structure", None)
    if structure is None or structure.n_leaves > MOST_LEAVES:
        return []
    leaves = np.asarray(learner.apply(rows)).reshape(len(vertical), len(horizontal))
    return border_lines(horizontal, vertical, leaves, "split")


def rule_lines(learner: Any, extent: Extent) -> list[Line]:
    """Return the box of each rule of numbers, as far as it is on the plane."""
    base = getattr(learner, "rules_", None)
    lines = []
    for rule in getattr(base, "rules", ()):
        box = list(extent)
        for term in rule.terms:
            if term.relation[0] not in "<>" or term.column not in (0, 1):
                break
            side = 2 * term.column + (term.relation[0] == "<")
            box[side] = (min if term.relation[0] == "<" else max)(box[side], float(term.value))
        else:
            left, right, bottom, top = box
            if left < right and bottom < top:
                across = np.array([left, right, right, left, left])
                lines.append(Line(across, np.array([bottom, bottom, top, top, bottom]), "rule"))
    return lines


def window_lines(learner: Any, X: np.ndarray, extent: Extent) -> tuple[list[Line], str]:
    """Return where the windows of a kernel estimate fall to their width, and the words for them.

    Parameters
    ----------
    learner
        Fitted to the points.
    X
        The points; of many, some evenly chosen ones show their windows.
    extent
        Ends of the axes.
    """
    width: Any = getattr(learner, "bandwidth_", None)
    units: Any = getattr(learner, "whitening_", None)
    if X.shape[1] == 1:
        return _bracket(width, extent)
    if np.ndim(width) or width is None or np.shape(units) != (2, 2):
        return [], ""
    rows = np.unique(np.linspace(0, len(X) - 1, min(MOST_WINDOWS, len(X))).astype(np.intp))
    factors = np.broadcast_to(getattr(learner, "local_factors_", 1.0), len(X))
    turn = np.linspace(0.0, 2.0 * np.pi, CORNERS)
    circle = np.linalg.solve(np.asarray(units).T, np.stack([np.cos(turn), np.sin(turn)])).T
    places = [X[row] + factors[row] * circle for row in rows]
    lines = [Line(place[:, 0], place[:, 1], "window") for place in places]
    return lines, f"windows of bandwidth {float(width):.3g}"


def _bracket(width: Any, extent: Extent) -> tuple[list[Line], str]:
    """Return the width of a smoother's window, shown once above the foot of the plane."""
    if width is None or np.size(width) != 1 or not np.isfinite(width):
        return [], ""
    left, right, bottom, top = extent
    centre, reach, foot = (left + right) / 2, float(np.ravel(width)[0]), BRACKET * (top - bottom)
    across = np.array([-reach, -reach, reach, reach]) + centre
    up = bottom + foot * np.array([1.5, 1.0, 1.0, 1.5])
    return [Line(across, up, "window")], f"window of bandwidth {reach:.3g}"


def marks_of(learner: Any, n_columns: int) -> tuple[np.ndarray, str]:
    """Return places that a fitted learner keeps, and the words for them."""
    for attribute, words in MARKS.items():
        try:
            places = np.asarray(getattr(learner, attribute), dtype=np.float64)
        except (AttributeError, TypeError, ValueError):
            continue
        if places.ndim == 2 and places.shape[1] == n_columns == 2 and len(places) <= MOST_MARKS:
            return places, words
    return np.empty((0, 2)), ""
