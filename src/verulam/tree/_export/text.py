"""Trees as text: conditions in words, indented lines, and the DOT language of Graphviz."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import TableSchema, check_is_fitted
from verulam.tree._structure.tree import (
    LEAF,
    Condition,
    TreeStructure,
    branch_condition,
    conditions,
    merge_conditions,
)

#: Categories named before the rest is counted.
SHOWN_CATEGORIES = 6


def column_name(schema: TableSchema, column: int) -> str:
    """Return the name of a column; a table without names has only their positions."""
    name = schema.names[column]
    return f"column {name}" if isinstance(name, int | np.integer) else str(name)


def describe_condition(
    condition: Condition,
    schema: TableSchema,
    *,
    shown: int = SHOWN_CATEGORIES,
    missing: bool = False,
) -> str:
    """Return a condition in words.

    Parameters
    ----------
    condition
        One test.
    schema
        Names of the columns and their categories.
    shown
        Categories that are named; of more, the rest is counted.
    missing
        Whether to say so where missing values meet the condition.

    Examples
    --------
    >>> from verulam.base import TableSchema
    >>> schema = TableSchema(("age",), (None,))
    >>> describe_condition(Condition(0, "<=", 38.5), schema)
    'age <= 38.5'
    >>> describe_condition(Condition(0, ">", 38.5, accepts_missing=True), schema, missing=True)
    'age > 38.5 or missing'
    """
    name = column_name(schema, condition.column)
    tail = " or missing" if missing and condition.accepts_missing else ""
    if condition.relation != "in":
        if np.isinf(condition.threshold):
            return f"{name} is {'known' if condition.relation == '<=' else 'missing'}"
        return f"{name} {condition.relation} {condition.threshold:.6g}{tail}"
    known = schema.categories[condition.column]
    assert known is not None
    labels = [str(known[code]) for code in condition.categories]
    if not labels:
        return f"{name} is missing" if condition.accepts_missing else f"{name} in {{}}"
    if len(labels) == 1:
        return f"{name} = {labels[0]}{tail}"
    rest = len(labels) - shown
    listed = labels[:shown] + ([f"{rest} more"] if rest > 0 else [])
    return f"{name} in {{{', '.join(listed)}}}{tail}"


def condition_text(structure: TreeStructure, node: int, branch: int, schema: TableSchema) -> str:
    """Return in words what a row has answered at a node if it went to one of its children.

    Of categories, those are named that can reach the node; of missing values it is said where they
    go if there were any in training and they are not divided.
    """
    condition = branch_condition(structure, node, branch)
    if condition.relation == "in":
        # Categories that a test above has sent elsewhere cannot get here.
        same = [above for above in conditions(structure, node) if above.column == condition.column]
        condition = merge_conditions([condition, *same])[0]
    missing = bool(structure.gaps) and structure.gaps[condition.column] and not structure.fractional
    return describe_condition(condition, schema, missing=missing)


def branch_label(structure: TreeStructure, node: int, schema: TableSchema) -> str:
    """Return what leads from a node's parent to it, without the name of the column."""
    parent = int(structure.parent[node])
    branch = node - int(structure.first_child[parent])
    text = condition_text(structure, parent, branch, schema)
    return text.removeprefix(f"{column_name(schema, structure.column[parent])} ").removeprefix("= ")


def tree_text(
    structure: TreeStructure,
    schema: TableSchema,
    leaf_text: Callable[[int], str],
    *,
    max_depth: int | None = None,
) -> str:
    """Return the tree as indented lines, one for each branch.

    Parameters
    ----------
    structure
        The tree.
    schema
        Names of the columns and their categories.
    leaf_text
        Returns what to say of a leaf.
    max_depth
        Depth below which the tree is not shown.
    """
    if structure.kind[0] == LEAF:
        return leaf_text(0)
    lines: list[str] = []
    waiting: list[tuple[int, int]] = [(child, 0) for child in reversed(structure.children(0))]
    while waiting:
        node, depth = waiting.pop()
        parent = int(structure.parent[node])
        branch = node - int(structure.first_child[parent])
        line = "|   " * depth + condition_text(structure, parent, branch, schema)
        if structure.kind[node] == LEAF:
            line += f": {leaf_text(node)}"
        elif max_depth is not None and depth + 1 >= max_depth:
            line += f": ... ({leaf_text(node)})"
        else:
            waiting.extend((child, depth + 1) for child in reversed(structure.children(node)))
        lines.append(line)
    return "\n".join(lines)


def class_text(values: NDArray[np.float64], classes: NDArray[Any], decision: int) -> str:
    """Return the class of a leaf, the weight that reached it, and how much of it is others'."""
    total = float(np.sum(values))
    other = total - float(values[decision])
    counts = f"{total:.6g}" if other < 1e-9 else f"{total:.6g}, {other:.6g} of others"
    return f"{classes[decision]} ({counts})"


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
