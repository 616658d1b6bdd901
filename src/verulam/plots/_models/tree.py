"""Decision trees, drawn."""

import re
import warnings
from bisect import bisect_left
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from verulam.base import DataError, DataWarning, check_is_fitted
from verulam.plots._models.tree_layout import LEAST_ROW, DrawnNode, Layout, arrange, folded_text
from verulam.plots._style import axes_or_new, tint
from verulam.tree import TreeStructure

INNER_COLOUR = "0.97"
STRONGEST_TINT = 0.45
POINTS_PER_INCH = 72.0
#: Letters are not made smaller than this; what does not fit then is cut.
SMALLEST_FONT = 5.0
#: Size of a figure of our own: at least, and at most.
SMALLEST_FIGURE = (4.0, 2.4)
LARGEST_FIGURE = (64.0, 48.0)
#: Part of the axes that is drawn on: they may shrink a little when the figure is laid out.
USED_SHARE = 0.96
#: Nodes that are arranged at most; no figure has room for more.
MOST_NODES = 3000


def tree_diagram(
    tree: Any, *, ax: Axes | None = None, max_depth: int | None = None, fontsize: float = 8.0
) -> Axes:
    """Draw a fitted tree: tests in boxes, what leads on along the lines, answers in the leaves.

    Leaves of a classifier have the colour of their class, stronger where it is purer. Boxes with
    broken lines end in "...": the tree goes on below them.

    Parameters
    ----------
    tree
        Fitted `DecisionTreeClassifier`, `DecisionTreeRegressor` or `MultivariateTreeClassifier`.
    ax
        Axes to draw on. Where they are too small for the tree, letters become smaller and, if
        that is not enough, depths are left out with a warning. Without axes, a figure is made
        that is as large as the tree needs.
    max_depth
        Depth below which the tree is not drawn.
    fontsize
        Size of the letters.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.plots import tree_diagram
    >>> from verulam.tree import DecisionTreeClassifier
    >>> buys = dataset("buys_computer")
    >>> tree = DecisionTreeClassifier(preset="id3").fit(buys.inputs, buys.target_values)
    >>> axes = tree_diagram(tree)
    >>> [text.get_text() for text in axes.texts if text.get_text().startswith("age")]
    ['age']
    """
    check_is_fitted(tree)
    if max_depth is not None and max_depth < 0:
        raise DataError(f"max_depth={max_depth}; a depth of 0 or more is expected.")
    room = LARGEST_FIGURE if ax is None else _inches(ax)
    nodes, layout, letters = _fitted(tree, max_depth, fontsize, room)
    unit = letters / POINTS_PER_INCH / USED_SHARE
    needed = layout.width * unit, layout.height * unit
    ax = axes_or_new(ax, *(max(pair) for pair in zip(needed, SMALLEST_FIGURE, strict=True)))
    for number, node in nodes.items():
        parent = int(_structure(tree).parent[number])
        if number:
            _draw_branch(ax, node, layout, layout.across[parent], layout.across[number], letters)
        _draw_box(ax, tree, number, node, layout, letters)
    margin = (1.0 / USED_SHARE - 1.0) / 2
    ax.set(
        xlim=(-margin * layout.width, (1.0 + margin) * layout.width),
        ylim=((1.0 + margin) * layout.height, -margin * layout.height),
    )
    ax.axis("off")
    return ax


def _fitted(
    tree: Any, max_depth: int | None, fontsize: float, room: tuple[float, float]
) -> tuple[dict[int, DrawnNode], Layout, float]:
    """Return what is drawn of the tree, where, and with letters of which size."""
    depths = _structure(tree).depths()
    deepest = int(depths.max())
    asked = deepest if max_depth is None else min(max_depth, deepest)
    drawable = int(np.searchsorted(np.cumsum(np.bincount(depths)), MOST_NODES, side="right"))
    smallest = min(fontsize, SMALLEST_FONT)
    n_rows = int(USED_SHARE * room[1] * POINTS_PER_INCH / (smallest * LEAST_ROW))
    limit = min(asked, max(drawable - 1, 0), n_rows)

    def laid_out(depth: int) -> tuple[dict[int, DrawnNode], Layout, float]:
        return _laid_out(tree, depths, depth, fontsize, room)

    nodes, layout, letters = laid_out(limit)
    if letters < smallest:
        # The more depths, the less room: the first depth that is one too many.
        too_deep = bisect_left(range(limit), True, key=lambda depth: laid_out(depth)[2] < smallest)
        limit = max(too_deep - 1, 0)
        nodes, layout, letters = laid_out(limit)
    if limit < asked:
        warnings.warn(
            f"The tree is drawn to depth {limit} of {deepest}: there is no room for more on "
            f"{room[0]:.3g} x {room[1]:.3g} inches. Larger axes, a smaller `max_depth` or "
            "`export_dot` show the rest.",
            DataWarning,
            stacklevel=3,
        )
    return nodes, layout, letters


def _laid_out(
    tree: Any, depths: Any, limit: int, fontsize: float, room: tuple[float, float]
) -> tuple[dict[int, DrawnNode], Layout, float]:
    """Return the tree down to a depth, where it is drawn, and the letters that the room allows."""
    nodes = _drawn_nodes(tree, depths, limit)
    layout = arrange(nodes)
    sizes = (layout.width, layout.height)
    unit = min(USED_SHARE * inches / size for inches, size in zip(room, sizes, strict=True))
    return nodes, layout, min(fontsize, unit * POINTS_PER_INCH)


def _inches(ax: Axes) -> tuple[float, float]:
    """Return the width and height that axes will have once their figure has been laid out."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    shown = ax.axison
    ax.axis("off")
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
    box = ax.get_window_extent()
    ax.axison = shown
    return max(box.width, 1.0) / figure.dpi, max(box.height, 1.0) / figure.dpi


def _drawn_nodes(tree: Any, depths: Any, limit: int) -> dict[int, DrawnNode]:
    """Return the nodes down to a depth, parents before their children, with their texts."""
    structure = _structure(tree)
    drawn = {}
    for number in np.flatnonzero(depths <= limit).tolist():
        is_leaf, depth = structure.kind[number] == 0, int(depths[number])
        if is_leaf or depth == limit:
            text = _shorter(tree.leaf_text(number)).replace(" (", "\n(", 1)
            text = folded_text(text) + ("" if is_leaf else "\n...")
            children = range(0)
        else:
            text, children = folded_text(_question(tree, number)), structure.children(number)
        label = folded_text(_label(tree, number)) if number else ""
        drawn[number] = DrawnNode(text, label, depth, children)
    return drawn


def _draw_branch(
    ax: Axes, node: DrawnNode, layout: Layout, start: float, stop: float, fontsize: float
) -> None:
    """Draw the line to a node: slanted only between the rows, where it meets nothing."""
    depth = node.depth
    ax.plot(
        [start, start, stop, stop],
        [
            layout.boxes[depth - 1],
            layout.bottoms[depth - 1],
            layout.tops[depth],
            layout.boxes[depth],
        ],
        color="0.6",
        linewidth=0.9,
        zorder=0,
    )
    ax.text(
        stop,
        layout.labels[depth],
        node.label,
        fontsize=0.9 * fontsize,
        ha="center",
        va="center",
        parse_math=False,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )


def _draw_box(
    ax: Axes, tree: Any, number: int, node: DrawnNode, layout: Layout, fontsize: float
) -> None:
    is_end, is_leaf = not node.children, _structure(tree).kind[number] == 0
    ax.text(
        layout.across[number],
        layout.boxes[node.depth],
        node.text,
        fontsize=fontsize,
        ha="center",
        va="center",
        parse_math=False,
        bbox={
            "boxstyle": f"{'round' if is_end else 'square'},pad=0.35",
            "facecolor": _face(tree, number) if is_end else INNER_COLOUR,
            "edgecolor": "0.35",
            "linestyle": "--" if is_end and not is_leaf else "-",
            "linewidth": 0.8,
        },
    )


def _structure(tree: Any) -> TreeStructure:
    """Return the nodes and links of a tree, which a multivariate one keeps beside its tests."""
    return getattr(tree.tree_, "structure", tree.tree_)


def _question(tree: Any, node: int) -> str:
    """Return what an inner node asks: the name of a column as it is, or a formula, shortened."""
    text = tree.node_text(node)
    return text if _structure(tree).column[node] >= 0 else _shorter(text)


def _label(tree: Any, node: int) -> str:
    """Return what leads to a node; thresholds and categories of one column stay as they are."""
    structure, label = _structure(tree), tree.branch_text(node)
    return label if structure.column[structure.parent[node]] >= 0 else _shorter(label)


def _face(tree: Any, node: int) -> Any:
    if not hasattr(tree, "classes_"):
        return "white"
    values = _structure(tree).values[node]
    shares = values / values.sum()
    largest = int(np.argmax(shares))
    chance = 1.0 / len(shares)
    purity = (shares[largest] - chance) / max(1.0 - chance, 1e-9)
    return tint(largest, np.array([STRONGEST_TINT * max(0.15, purity)]))[0]


def _shorter(text: str) -> str:
    """Return a text with its decimal numbers rounded to what is read at a glance.

    Thresholds, beside a relation, stay as they are: rounded, they would divide other values.
    """

    def rounded(match: re.Match[str]) -> str:
        before, after = text[: match.start()].removesuffix("-"), text[match.end() :]
        if before.endswith(("> ", "< ", "<= ")) or after.startswith(" <"):
            return match[0]
        number = float(match[0])
        return f"{number:.0f}" if abs(number) >= 1000 else f"{number:.3g}"

    return re.sub(r"(?<![\w.])\d+\.\d+(?![\w.])", rounded, text)
