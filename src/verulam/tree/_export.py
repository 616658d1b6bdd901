"""Trees in the languages of other programs: Graphviz, and Python code."""

import keyword
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from verulam.base import check_is_fitted
from verulam.tree._structure import LEAF, NUMERIC, TreeStructure


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


def export_code(tree: Any, *, name: str = "predict") -> str:
    """Return a fitted tree as the source of a Python function.

    The function takes a mapping of column names to values (such as a row of a table or a
    dictionary), None or NaN where missing, and needs no library. Its nodes are `if` statements
    in a loop, so that trees of any depth are fine.

    Parameters
    ----------
    tree
        Fitted `DecisionTreeClassifier` or `DecisionTreeRegressor`, without divided rows and with
        constant leaves.
    name
        Name of the function.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.tree import DecisionTreeClassifier
    >>> iris = dataset("iris")
    >>> tree = DecisionTreeClassifier(max_depth=1).fit(iris.inputs, iris.target_values)
    >>> print(export_code(tree))
    def predict(row):
        node = 0
        while True:
            if node == 0:
                value = row['petal_length_cm']
                if value is None or value != value:
                    node = 2
                elif value <= 2.45:
                    node = 1
                else:
                    node = 2
            elif node == 1:
                return 'setosa'
            elif node == 2:
                return 'versicolor'
    """
    check_is_fitted(tree)
    if not re.fullmatch(r"[A-Za-z_]\w*", name) or keyword.iskeyword(name):
        raise ValueError(f"name is {name!r}; a Python identifier is expected.")
    structure = tree.tree_
    if structure.fractional or getattr(tree, "linear_leaves_", None) is not None:
        raise ValueError("export_code writes trees with undivided rows and constant leaves only.")
    lines = [f"def {name}(row):", "    node = 0", "    while True:"]
    answer = _answer_of(tree)
    for node in range(len(structure)):
        lines.append(f"        {'elif' if node else 'if'} node == {node}:")
        if structure.kind[node] == LEAF:
            lines.append(f"            return {answer(node)!r}")
        else:
            lines += _node_lines(structure, node, tree.schema_)
    return "\n".join(lines)


def _answer_of(tree: Any) -> Callable[[int], Any]:
    if hasattr(tree, "classes_"):
        answers = tree.classes_[tree._decide(tree.tree_.values)]
    else:
        answers = tree.tree_.values[:, 0]
    return lambda node: (
        answers[node].item() if isinstance(answers[node], np.generic) else answers[node]
    )


def _node_lines(structure: TreeStructure, node: int, schema: Any) -> list[str]:
    """Return the statements of an inner node."""
    column, first = int(structure.column[node]), int(structure.first_child[node])
    missing = first + int(structure.missing_branch[node])
    lines = [
        f"            value = row[{schema.names[column]!r}]",
        "            if value is None or value != value:",
        f"                node = {missing}",
    ]
    if structure.kind[node] == NUMERIC:
        bound = repr(float(structure.threshold[node]))
        test = f"value <= {bound}" if np.isfinite(structure.threshold[node]) else "True"
        lines += [f"            elif {test}:", f"                node = {first}"]
        return [*lines, "            else:", f"                node = {first + 1}"]
    known = schema.categories[column]
    for branch in range(int(structure.n_children[node])):
        labels = {
            known[code].item() if isinstance(known[code], np.generic) else known[code]
            for code in structure.branch_categories(node, branch)
        }
        if labels:
            shown = "{" + ", ".join(sorted(map(repr, labels))) + "}"
            lines += [
                f"            elif value in {shown}:",
                f"                node = {first + branch}",
            ]
    unknown = f"category {schema.names[column]!r} unseen in training"
    return [*lines, "            else:", f"                raise ValueError({unknown!r})"]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
