"""Trees in the DOT language of Graphviz."""

from typing import Any

from verulam.base import check_is_fitted
from verulam.tree._structure.tree import LEAF


def export_dot(tree: Any, *, max_depth: int | None = None) -> str:
    """Return a fitted tree in the DOT language of Graphviz.

    Parameters
    ----------
    tree
        Fitted `DecisionTreeClassifier`, `DecisionTreeRegressor` or `MultivariateTreeClassifier`.
    max_depth
        Depth below which the tree is not shown; nodes that it cuts end in "...".

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.tree import DecisionTreeClassifier
    >>> iris = dataset("iris")
    >>> tree = DecisionTreeClassifier(max_depth=1).fit(iris.inputs, iris.target_values)
    >>> print(export_dot(tree))
    digraph tree {
        node [shape=box, fontname="Helvetica"];
        0 [label="petal_length_cm"];
        1 [label="setosa (50)", style=rounded];
        0 -> 1 [label="<= 2.45"];
        2 [label="versicolor (100, 50 of others)", style=rounded];
        0 -> 2 [label="> 2.45"];
    }
    """
    check_is_fitted(tree)
    structure = getattr(tree.tree_, "structure", tree.tree_)
    lines = ["digraph tree {", '    node [shape=box, fontname="Helvetica"];']
    waiting = [(0, 0)]
    while waiting:
        node, depth = waiting.pop()
        if structure.kind[node] == LEAF:
            lines.append(f"    {node} [label={_quoted(tree.leaf_text(node))}, style=rounded];")
        elif max_depth is not None and depth >= max_depth:
            label = _quoted(f"{tree.leaf_text(node)} ...")
            lines.append(f'    {node} [label={label}, style="rounded,dashed"];')
        else:
            lines.append(f"    {node} [label={_quoted(tree.node_text(node))}];")
            waiting.extend((child, depth + 1) for child in reversed(structure.children(node)))
        if node:
            label = _quoted(tree.branch_text(node))
            lines.append(f"    {structure.parent[node]} -> {node} [label={label}];")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
