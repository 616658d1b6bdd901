"""Code generation: trees as Python functions that need no library."""

import keyword
import re
from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import TableSchema, check_is_fitted
from verulam.tree._nodes.inputs import InputCode
from verulam.tree._nodes.splits import (
    ClasswiseTest,
    IntervalTest,
    LinearTest,
    NetworkTest,
    NodeTest,
    QuadraticTest,
    SphereTest,
)
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
        # A stack of nodes and shares, as `share_rows` has it.
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


def input_lines(code: InputCode, schema: TableSchema, unseen: str) -> list[str]:
    """Return how a row becomes the list of inputs that the tests look at.

    Parameters
    ----------
    code, schema
        Inputs and columns found in training.
    unseen
        What the code does with a category that was not there: "error", or "missing".
    """
    lines, place = ["    inputs = []"], 0
    for name, known in zip(schema.names, schema.categories, strict=True):
        shown = _plain(name)
        if known is None:
            means, present = [code.means[place]], "[value]"
        else:
            labels = [repr(_plain(label)) for label in (known[1:] if len(known) == 2 else known)]
            means = list(code.means[place : place + len(labels)])
            present = f"[float(value == label) for label in ({', '.join(labels)},)]"
        absent, refusal = "value is None or value != value", []
        if known is not None:
            every = ", ".join(repr(_plain(label)) for label in known)
            strange = f"value not in ({every},)"
            unknown = f"category {shown!r} unseen in training"
            if unseen == "missing":
                absent = f"{absent} or {strange}"
            else:
                refusal = [f"    elif {strange}:", f"        raise ValueError({unknown!r})"]
        lines += [
            f"    value = row[{shown!r}]",
            f"    if {absent}:",
            f"        inputs += {[float(mean) for mean in means]!r}",
            *refusal,
        ]
        lines += ["    else:", f"        inputs += {present}"]
        place += len(means)
    return lines


@singledispatch
def branch_lines(test: NodeTest) -> list[str]:
    """Return the statements that set `branch` to the child of a row, from its `inputs`."""
    raise ValueError(f"{type(test).__name__} cannot be written as code.")


@branch_lines.register
def _(test: LinearTest) -> list[str]:
    return [f"branch = int({_sum(test.weights, test.intercept)} > 0)"]


@branch_lines.register
def _(test: QuadraticTest) -> list[str]:
    return [
        f"moved = [x - c for x, c in zip(inputs, {_numbers(test.centre)})]",
        f"matrix = ({', '.join(map(_numbers, test.matrix))},)",
        "lines = [sum(a * x for a, x in zip(line, moved)) for line in matrix]",
        f"parts = zip(moved, lines, {_numbers(test.weights)})",
        f"branch = int(sum(x * (a + w) for x, a, w in parts) + {float(test.intercept)!r} > 0)",
    ]


@branch_lines.register
def _(test: SphereTest) -> list[str]:
    return [
        f"moved = [x - c for x, c in zip(inputs, {_numbers(test.centre)})]",
        f"root = ({', '.join(map(_numbers, test.root))},)",
        "distance = sum(sum(a * x for a, x in zip(line, moved)) ** 2 for line in root) ** 0.5",
        f"branch = int(distance <= {float(test.radius)!r})",
    ]


@branch_lines.register
def _(test: NetworkTest) -> list[str]:
    units = [
        f"{float(weight)!r} * tanh({_sum(column, intercept)})"
        for weight, column, intercept in zip(
            test.weights, test.hidden_weights.T, test.hidden_intercepts, strict=True
        )
    ]
    return [
        "from math import tanh",
        f"branch = int({' + '.join([*units, repr(float(test.intercept))])} > 0)",
    ]


@branch_lines.register
def _(test: ClasswiseTest) -> list[str]:
    sums = [_sum(line, start) for line, start in zip(test.weights, test.intercepts, strict=True)]
    return [f"scores = [{', '.join(sums)}]", "branch = scores.index(max(scores))"]


@branch_lines.register
def _(test: IntervalTest) -> list[str]:
    value = f"inputs[{int(test.column)}]"
    return [f"branch = ({value} > {float(test.low)!r}) + ({value} > {float(test.high)!r})"]


def _sum(weights: NDArray[np.float64], intercept: float) -> str:
    """Return a weighted sum of the inputs whose weights are not 0."""
    terms = [f"{float(weights[j])!r} * inputs[{j}]" for j in np.flatnonzero(weights).tolist()]
    return " + ".join([*terms, repr(float(intercept))])


def _node_lines(
    structure: TreeStructure,
    answer: Callable[[int], list[str]],
    inner: Callable[[int], list[str]],
) -> list[str]:
    """Return a statement for each node."""
    lines: list[str] = []
    for node in range(len(structure)):
        # One flat chain of tests instead of nested ones: Python limits how deep blocks may be
        # nested.
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
    # Missing values were asked for first, because no comparison with them is true.
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
