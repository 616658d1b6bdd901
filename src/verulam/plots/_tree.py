"""Decision trees, drawn."""

import re
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from verulam.base import check_is_fitted
from verulam.plots._style import axes_or_new, tint
from verulam.tree import TreeStructure, branch_label

INNER_COLOUR = "0.97"
STRONGEST_TINT = 0.45


def tree_diagram(
    tree: Any, *, ax: Axes | None = None, max_depth: int | None = None, fontsize: float = 8.0
) -> Axes:
    """Draw a fitted tree: tests in boxes, what leads on along the lines, answers in the leaves.

    Leaves of a classifier have the colour of their class, stronger where it is purer.

    Parameters
    ----------
    tree
        Fitted `DecisionTreeClassifier`, `DecisionTreeRegressor` or `MultivariateTreeClassifier`.
    ax
        Axes to draw on.
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
    structure = _structure(tree)
    ax = axes_or_new(ax)
    depths = structure.depths()
    limit = depths.max() if max_depth is None else max_depth
    shown = depths <= limit
    across = _places(structure, shown, limit)
    for node in np.flatnonzero(shown).tolist():
        is_end = structure.kind[node] == 0 or depths[node] == limit
        if node:
            parent = int(structure.parent[node])
            horizontal = [across[parent], across[node]]
            vertical = [-float(depths[parent]), -float(depths[node])]
            ax.plot(horizontal, vertical, color="0.6", linewidth=0.9, zorder=0)
            share = 0.58
            ax.text(
                horizontal[0] + share * (horizontal[1] - horizontal[0]),
                vertical[0] + share * (vertical[1] - vertical[0]),
                _wrapped(_branch_text(tree, node)),
                fontsize=fontsize - 1,
                ha="center",
                va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            )
        text = tree.leaf_text(node) if is_end else _node_text(tree, node)
        ax.text(
            across[node],
            -float(depths[node]),
            _wrapped(text.replace(" (", "\n(", 1) if is_end else text),
            fontsize=fontsize,
            ha="center",
            va="center",
            bbox={
                "boxstyle": "round,pad=0.35" if is_end else "square,pad=0.35",
                "facecolor": _face(tree, node) if is_end else INNER_COLOUR,
                "edgecolor": "0.35",
                "linewidth": 0.8,
            },
        )
    ax.set(xlim=(-0.6, across.max() + 0.6), ylim=(-float(limit) - 0.45, 0.45))
    ax.axis("off")
    return ax


def _places(structure: TreeStructure, shown: NDArray[np.bool_], limit: int) -> NDArray[np.float64]:
    """Return the horizontal place of each node: ends side by side, others above their middle."""
    across = np.zeros(len(structure))
    depths = structure.depths()
    waiting, next_place = [0], 0
    while waiting:
        node = waiting.pop()
        if structure.kind[node] == 0 or depths[node] == limit:
            across[node] = next_place
            next_place += 1
        else:
            waiting.extend(reversed(structure.children(node)))
    for node in np.flatnonzero(shown)[::-1]:
        if structure.kind[node] != 0 and depths[node] < limit:
            children = structure.children(node)
            across[node] = 0.5 * (across[children[0]] + across[children[-1]])
    return across


def _structure(tree: Any) -> TreeStructure:
    """Return the nodes and links of a tree, which a multivariate one keeps beside its tests."""
    return getattr(tree.tree_, "structure", tree.tree_)


def _node_text(tree: Any, node: int) -> str:
    if hasattr(tree, "node_text"):
        return tree.node_text(node)
    return str(tree.schema_.names[tree.tree_.column[node]])


def _branch_text(tree: Any, node: int) -> str:
    if hasattr(tree, "branch_text"):
        return tree.branch_text(node)
    return branch_label(tree.tree_, node, tree.schema_)


def _face(tree: Any, node: int) -> Any:
    if not hasattr(tree, "classes_"):
        return "white"
    values = _structure(tree).values[node]
    shares = values / values.sum()
    chosen = int(np.argmax(shares))
    chance = 1.0 / len(shares)
    purity = (shares[chosen] - chance) / max(1.0 - chance, 1e-9)
    return tint(chosen, np.array([STRONGEST_TINT * max(0.15, purity)]))[0]


def _wrapped(text: str, width: int = 18) -> str:
    text = re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.3g}", text)
    return "\n".join(piece for line in text.split("\n") for piece in wrap(line, width) or [""])
