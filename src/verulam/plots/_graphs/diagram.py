"""One drawer for graphs of variables, from a plain description of nodes, edges and plates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import (
    Circle,
    Ellipse,
    FancyArrowPatch,
    FancyBboxPatch,
    Patch,
    Polygon,
    Rectangle,
)

from verulam.base import DataError, nearest_names
from verulam.plots._style import axes_or_new, colour, tint

SHAPES = ("ellipse", "box", "diamond", "factor", "point")
#: Width and height of an ellipse for a short name; longer ones get wider ellipses.
WIDTH, HEIGHT = 0.9, 0.6
#: Space between neighbours of a layer, and between layers.
STEP_X, STEP_Y = 2.2, 1.7
#: Sign and position in the palette of links that excite and inhibit.
SIGNS = {"+": 2, "-": 1}


@dataclass(frozen=True)
class GraphNode:
    """A node to be drawn.

    Attributes
    ----------
    name
        Its name, by which edges and plates refer to it.
    label
        What is written into it; the name unless it is given.
    shape
        "ellipse" for a variable, "box" for a decision, "diamond" for a utility, "factor" for a
        small square, "point" for a constant.
    shaded
        Whether it is observed.
    position
        Where it stands, as (x, y); laid out unless it is given.
    note
        Text beside it, such as its table.
    bars
        Probabilities to be drawn as bars below it, by label.
    """

    name: str
    label: str = ""
    shape: str = "ellipse"
    shaded: bool = False
    position: tuple[float, float] | None = None
    note: str = ""
    bars: Mapping[str, float] | None = None


@dataclass(frozen=True)
class GraphEdge:
    """An edge to be drawn.

    Attributes
    ----------
    start, end
        Names of its nodes.
    directed
        Whether it has an arrow head.
    sign
        "+" for a link that excites, "-" for one that inhibits, drawn dashed.
    label
        Text beside its middle, such as a message.
    emphasised
        Whether it is drawn thick, such as a path.
    """

    start: str
    end: str
    directed: bool = True
    sign: str = ""
    label: str = ""
    emphasised: bool = False


@dataclass(frozen=True)
class Plate:
    """A frame around nodes that are repeated.

    Attributes
    ----------
    names
        The nodes inside.
    label
        How often, such as "N".
    """

    names: tuple[str, ...]
    label: str = ""


def graph_diagram(
    nodes: Sequence[GraphNode],
    edges: Sequence[GraphEdge] = (),
    plates: Sequence[Plate] = (),
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw a graph of variables, factors, decisions and plates.

    Parameters
    ----------
    nodes
        What to draw; nodes without a position are laid out in layers, parents above children.
    edges
        Arcs and links between them.
    plates
        Frames around nodes that are repeated.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.plots import GraphEdge, GraphNode, Plate, graph_diagram
    >>> nodes = [GraphNode("w"), GraphNode("x", shaded=True), GraphNode("y", shaded=True)]
    >>> edges = [GraphEdge("w", "y"), GraphEdge("x", "y")]
    >>> axes = graph_diagram(nodes, edges, [Plate(("x", "y"), "N")])
    >>> len(axes.patches)
    6
    """
    named = _checked(nodes, edges, plates)
    places = layout(nodes, edges)
    span = np.ptp(np.array(list(places.values())), axis=0)
    ax = axes_or_new(ax, max(3.2, 1.2 * span[0] + 2.6), max(2.2, 1.1 * span[1] + 1.8))
    for plate in plates:
        _draw_plate(ax, plate, places, named)
    shapes = {node.name: _draw_node(ax, node, places[node.name]) for node in nodes}
    for edge in edges:
        _draw_edge(ax, edge, places, shapes)
    ax.set_aspect("equal")
    ax.axis("off")
    ax.relim()
    ax.autoscale_view()
    ax.margins(0.08)
    return ax


def _checked(
    nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], plates: Sequence[Plate]
) -> dict[str, GraphNode]:
    named = {node.name: node for node in nodes}
    if not named or len(named) < len(nodes):
        raise DataError("nodes: expected at least one node, each with a name of its own.")
    for node in nodes:
        if node.shape not in SHAPES:
            raise DataError(
                f"{node.name!r} has the shape {node.shape!r}; accepted are {', '.join(SHAPES)}."
            )
    mentioned = [name for edge in edges for name in (edge.start, edge.end)]
    mentioned += [name for plate in plates for name in plate.names]
    for name in mentioned:
        if name not in named:
            nearest = nearest_names(name, list(named))
            raise DataError(f"There is no node {name!r} to draw. Nearest: {', '.join(nearest)}.")
    return named


def layout(
    nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]
) -> dict[str, tuple[float, float]]:
    """Return the place of each node: its own, or one in a layer below all its parents."""
    parents: dict[str, list[str]] = {node.name: [] for node in nodes}
    for edge in edges:
        parents[edge.end].append(edge.start)
    depth = dict.fromkeys(parents, 0)
    for _ in nodes:  # as often as the longest path has nodes; a loop of links stops here too
        for name, above in parents.items():
            deepest = max((depth[parent] + 1 for parent in above), default=0)
            depth[name] = min(max(depth[name], deepest), len(parents) - 1)
    parents = _with_waypoints(parents, depth)
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name, above in parents.items():
        for parent in above:
            children[parent].append(name)
    layers = [[n for n in parents if depth[n] == d] for d in range(max(depth.values()) + 1)]
    column = {name: k - (len(layer) - 1) / 2 for layer in layers for k, name in enumerate(layer)}
    for sweep in range(6):  # towards the mean of the neighbours above, then below
        beside = parents if sweep % 2 == 0 else children
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            means = {
                name: float(np.mean([column[other] for other in beside[name]] or [column[name]]))
                for name in layer
            }
            layer.sort(key=means.__getitem__)
            _spread(layer, means, column)
    automatic = {name: (STEP_X * column[name], -STEP_Y * depth[name]) for name in depth}
    return {node.name: node.position or automatic[node.name] for node in nodes}


def _with_waypoints(
    parents: Mapping[str, Sequence[str]], depth: dict[str, int]
) -> dict[str, list[str]]:
    """Break edges that pass layers at a point in each, which keeps nodes out of their way."""
    broken: dict[str, list[str]] = {name: [] for name in parents}
    for name, above in parents.items():
        for parent in above:
            last = parent
            for level in range(depth[parent] + 1, depth[name]):
                point = f"{parent}\n{name}\n{level}"
                broken[point], depth[point], last = [last], level, point
            broken[name].append(last)
    return broken


def _spread(layer: list[str], means: Mapping[str, float], column: dict[str, float]) -> None:
    """Place a layer near the wished columns, at least one apart."""
    if not layer:
        return
    wishes = np.array([means[name] for name in layer])
    placed = wishes.copy()
    for k in range(1, len(placed)):
        placed[k] = max(placed[k], placed[k - 1] + 1.0)
    placed += wishes.mean() - placed.mean()
    column.update(dict(zip(layer, placed.tolist(), strict=True)))


def _width(label: str) -> float:
    return max(WIDTH, 0.3 + 0.125 * max(map(len, label.split("\n"))))


def _draw_node(ax: Axes, node: GraphNode, place: tuple[float, float]) -> Patch:
    x, y = place
    label = node.label or node.name
    face = tint(6, 0.45) if node.shaded else "white"
    options: dict[str, Any] = {
        "facecolor": face,
        "edgecolor": "black",
        "linewidth": 1.1,
        "zorder": 3,
    }
    width = _width(label)
    patch: Patch
    if node.shape == "ellipse":
        patch = Ellipse(place, width, HEIGHT, **options)
    elif node.shape == "box":
        patch = Rectangle((x - width / 2, y - HEIGHT / 2), width, HEIGHT, **options)
    elif node.shape == "diamond":
        half = width / 2 + 0.2
        corners = [(x - half, y), (x, y + 0.42), (x + half, y), (x, y - 0.42)]
        patch = Polygon(corners, closed=True, **options)
    elif node.shape == "factor":
        options["facecolor"] = "black"
        patch = Rectangle((x - 0.12, y - 0.12), 0.24, 0.24, **options)
    else:
        options["facecolor"] = "black"
        patch = Circle(place, 0.07, **options)
    ax.add_patch(patch)
    if node.shape == "factor":
        ax.text(x + 0.2, y + 0.02, label, ha="left", va="center", zorder=4)
    elif node.shape == "point":
        ax.text(x, y + 0.14, label, ha="center", va="bottom", zorder=4)
    else:
        ax.text(x, y, label, ha="center", va="center", zorder=4)
    if node.note:
        ax.text(
            x + width / 2 + 0.1, y, node.note, ha="left", va="center", fontsize="x-small",
            family="monospace", zorder=4,
            bbox={"facecolor": "white", "edgecolor": "#bbbbbb", "pad": 2, "linewidth": 0.6},
        )  # fmt: skip
        ax.update_datalim([(x + width / 2 + 0.3 + 0.075 * len(node.note.split("\n")[0]), y)])
    if node.bars:
        _draw_bars(ax, node.bars, x, y - HEIGHT / 2 - 0.06, width)
    return patch


def _draw_bars(ax: Axes, bars: Mapping[str, float], x: float, top: float, width: float) -> None:
    """Draw a bar for each state, from the left edge of the node."""
    for row, (label, value) in enumerate(bars.items()):
        y = top - 0.17 * (row + 1)
        left = x - width / 2
        ax.add_patch(Rectangle((left, y), width, 0.17, facecolor="#eeeeee", linewidth=0, zorder=2))
        ax.add_patch(
            Rectangle(
                (left, y), width * value, 0.14, facecolor=tint(0, 0.45), linewidth=0, zorder=2
            )
        )
        text = f"{label} {value:.2f}"
        ax.text(left + 0.03, y + 0.065, text, fontsize=6, va="center", ha="left", zorder=4)


def _draw_edge(
    ax: Axes,
    edge: GraphEdge,
    places: Mapping[str, tuple[float, float]],
    shapes: Mapping[str, Patch],
) -> None:
    start, end = places[edge.start], places[edge.end]
    tone = colour(SIGNS[edge.sign]) if edge.sign in SIGNS else "black"
    ax.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>" if edge.directed else "-", mutation_scale=12,
            patchA=shapes[edge.start], patchB=shapes[edge.end], shrinkA=1, shrinkB=1,
            color=colour(1) if edge.emphasised else tone,
            linewidth=2.4 if edge.emphasised else 1.1,
            linestyle="--" if edge.sign == "-" else "-", zorder=1,
        )
    )  # fmt: skip
    if edge.label:
        x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        ax.text(
            x, y, edge.label, fontsize="x-small", ha="center", va="center", zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.9},
        )  # fmt: skip


def _draw_plate(
    ax: Axes,
    plate: Plate,
    places: Mapping[str, tuple[float, float]],
    named: Mapping[str, GraphNode],
) -> None:
    points = np.array([places[name] for name in plate.names])
    half = max(_width(named[name].label or name) for name in plate.names) / 2 + 0.3
    low, high = points.min(axis=0), points.max(axis=0)
    corner = (low[0] - half, low[1] - 0.85)
    size = (high[0] - low[0] + 2 * half, high[1] - low[1] + 1.4)
    ax.add_patch(
        FancyBboxPatch(
            corner, *size, boxstyle="round,pad=0,rounding_size=0.12", facecolor="none",
            edgecolor="#555555", linewidth=1.0, zorder=0,
        )
    )  # fmt: skip
    ax.text(
        corner[0] + size[0] - 0.1, corner[1] + 0.08, plate.label, ha="right", va="bottom",
        style="italic", zorder=4,
    )  # fmt: skip
