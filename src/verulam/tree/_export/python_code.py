"""Trees as Python code that needs no library."""

import keyword
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import TableSchema, check_is_fitted
from verulam.tree._export.node_code import branch_lines, input_lines
from verulam.tree._structure.tree import LEAF, NUMERIC, TreeStructure

#: The body of a node stands this far to the right.
INDENT = " " * 12


def export_code(tree: Any, *, name: str = "predict") -> str:
    """Return a fitted tree as the source of a Python function.

    The function takes a mapping of column names to values (such as a row of a table or a
    dictionary), None or NaN where missing, and needs no library. Its nodes are `if` statements
    in a loop, so that trees of any depth are fine. It answers as `predict` does: rows with missing
    values are divided where the tree divides them, linear leaves compute their sums, and a category
    unseen in training is an error or missing, as the tree's `unseen` has it.

    Parameters
    ----------
    tree
        Fitted `DecisionTreeClassifier`, `DecisionTreeRegressor` or, without softness,
        `MultivariateTreeClassifier`.
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
    head = f"def {name}(row):"
    if hasattr(tree.tree_, "tests"):
        return "\n".join([head, *_multivariate_lines(tree)])
    if tree.tree_.fractional:
        return "\n".join([head, *_fractional_lines(tree)])
    return "\n".join([head, *_plain_lines(tree)])


def _plain_lines(tree: Any) -> list[str]:
    """Return the body for a tree whose rows reach one leaf."""
    structure: TreeStructure = tree.tree_
    leaves = getattr(tree, "linear_leaves_", None)
    answer: Callable[[int], list[str]]
    if leaves is None:
        answers = _answers(tree, structure)

        def answer(node: int) -> list[str]:
            return [f"{INDENT}return {answers[node]!r}"]
    else:

        def answer(node: int) -> list[str]:
            return _linear_lines(leaves, node, tree.schema_)

    def inner(node: int) -> list[str]:
        first = int(structure.first_child[node])
        missing = [f"node = {first + int(structure.missing_branch[node])}"]
        goes = [[f"node = {child}"] for child in structure.children(node)]
        return _question(tree, node, missing, goes)

    return [
        "    node = 0",
        "    while True:",
        *_node_lines(structure, answer, inner),
    ]


def _fractional_lines(tree: Any) -> list[str]:
    """Return the body for a tree that divides rows with missing values among its branches."""
    structure: TreeStructure = tree.tree_
    values = structure.values
    classes = getattr(tree, "classes_", None)
    if classes is not None:
        values = values / values.sum(axis=1, keepdims=True)

    def answer(node: int) -> list[str]:
        return [
            f"{INDENT}parts = {_numbers(values[node])}",
            f"{INDENT}totals = [total + share * part for total, part in zip(totals, parts)]",
        ]

    def inner(node: int) -> list[str]:
        children = list(structure.children(node))
        weights = structure.weight[children]
        shares = weights / weights.sum()
        parts = [
            f"({child}, share * {float(part)!r})"
            for child, part in zip(children, shares, strict=True)
            if part > 0
        ]
        goes = [[f"waiting.append(({child}, share))"] for child in children]
        return _question(tree, node, [f"waiting += [{', '.join(parts)}]"], goes)

    return [
        f"    totals = {[0.0] * values.shape[1]!r}",
        "    waiting = [(0, 1.0)]",
        "    while waiting:",
        "        node, share = waiting.pop()",
        *_node_lines(structure, answer, inner),
        *_decision_lines(tree, classes),
    ]


def _decision_lines(tree: Any, classes: NDArray[Any] | None) -> list[str]:
    """Return how the divided rows of a fractional tree are decided."""
    if classes is None:
        return ["    return totals[0]"]
    lines = [f"    classes = {tuple(map(_plain, classes))!r}"]
    if tree.loss is None:
        return [*lines, "    return classes[totals.index(max(totals))]"]
    losses = ", ".join(map(_numbers, tree._loss_matrix()))
    return [
        *lines,
        f"    losses = ({losses})",
        "    risks = [sum(a * b for a, b in zip(line, totals)) for line in losses]",
        "    return classes[risks.index(min(risks))]",
    ]


def _multivariate_lines(tree: Any) -> list[str]:
    """Return the body for a tree whose nodes look at several inputs."""
    if tree.softness > 0:
        raise ValueError("export_code writes trees without softness only.")
    structure, tests = tree.tree_.structure, tree.tree_.tests
    answers = _answers(tree, structure)

    def inner(node: int) -> list[str]:
        first = int(structure.first_child[node])
        lines = [*branch_lines(tests[node]), f"node = {first} + branch"]
        return [INDENT + line for line in lines]

    return [
        *input_lines(tree.code_, tree.schema_, tree.unseen),
        "    node = 0",
        "    while True:",
        *_node_lines(structure, lambda node: [f"{INDENT}return {answers[node]!r}"], inner),
    ]


def _node_lines(
    structure: TreeStructure,
    answer: Callable[[int], list[str]],
    inner: Callable[[int], list[str]],
) -> list[str]:
    """Return a statement for each node."""
    lines: list[str] = []
    for node in range(len(structure)):
        lines.append(f"        {'elif' if node else 'if'} node == {node}:")
        lines += answer(node) if structure.kind[node] == LEAF else inner(node)
    return lines


def _answers(tree: Any, structure: TreeStructure) -> list[Any]:
    """Return what each node would predict as a leaf."""
    if not hasattr(tree, "classes_"):
        return [float(value) for value in structure.values[:, 0]]
    decide = getattr(tree, "_decide", lambda values: values.argmax(axis=1))
    return list(map(_plain, tree.classes_[decide(structure.values)]))


def _linear_lines(leaves: Any, node: int, schema: TableSchema) -> list[str]:
    """Return the sum of a linear leaf, kept within its bounds."""
    lines = [f"{INDENT}total = {float(leaves.intercepts[node])!r}"]
    for place, column in enumerate(leaves.columns):
        slope = float(leaves.weights[node, place])
        if slope:
            mean = float(leaves.means[place])
            lines += [
                f"{INDENT}value = row[{_plain(schema.names[column])!r}]",
                f"{INDENT}value = {mean!r} if value is None or value != value else value",
                f"{INDENT}total += {slope!r} * value",
            ]
    low, high = (float(bound[node]) for bound in leaves.bounds)
    return [*lines, f"{INDENT}return min(max(total, {low!r}), {high!r})"]


def _question(
    tree: Any, node: int, missing: Sequence[str], goes: Sequence[Sequence[str]]
) -> list[str]:
    """Return the statements of an inner node that looks at one column."""
    structure: TreeStructure = tree.tree_
    schema: TableSchema = tree.schema_
    column = int(structure.column[node])
    name = _plain(schema.names[column])
    lines = [f"value = row[{name!r}]", "if value is None or value != value:"]
    lines += [f"    {line}" for line in missing]
    if structure.kind[node] == NUMERIC:
        bound = float(structure.threshold[node])
        lines.append(f"elif {f'value <= {bound!r}' if np.isfinite(bound) else 'True'}:")
        lines += [f"    {line}" for line in goes[0]]
        lines += ["else:", *(f"    {line}" for line in goes[1])]
        return [INDENT + line for line in lines]
    known = schema.categories[column]
    assert known is not None
    for branch, go in enumerate(goes):
        labels = {_plain(known[code]) for code in structure.branch_categories(node, branch)}
        if labels:
            shown = "{" + ", ".join(sorted(map(repr, labels))) + "}"
            lines += [f"elif value in {shown}:", *(f"    {line}" for line in go)]
    unknown = f"category {name!r} unseen in training"
    last = missing if tree.unseen == "missing" else [f"raise ValueError({unknown!r})"]
    lines += ["else:", *(f"    {line}" for line in last)]
    return [INDENT + line for line in lines]


def _numbers(values: NDArray[np.float64]) -> str:
    return repr(tuple(map(float, values)))


def _plain(value: Any) -> Any:
    """Return a value as Python writes it."""
    return value.item() if isinstance(value, np.generic) else value
