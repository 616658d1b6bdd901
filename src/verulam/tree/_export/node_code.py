"""Tests of several inputs as Python code."""

from collections.abc import Iterable
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import TableSchema
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
        shown = name.item() if isinstance(name, np.generic) else name
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
        f"moved = [x - c for x, c in zip(inputs, {_tuple(test.centre)})]",
        f"matrix = ({', '.join(map(_tuple, test.matrix))},)",
        "lines = [sum(a * x for a, x in zip(line, moved)) for line in matrix]",
        f"parts = zip(moved, lines, {_tuple(test.weights)})",
        f"branch = int(sum(x * (a + w) for x, a, w in parts) + {float(test.intercept)!r} > 0)",
    ]


@branch_lines.register
def _(test: SphereTest) -> list[str]:
    return [
        f"moved = [x - c for x, c in zip(inputs, {_tuple(test.centre)})]",
        f"root = ({', '.join(map(_tuple, test.root))},)",
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


def _tuple(values: Iterable[float]) -> str:
    return f"({', '.join(repr(float(value)) for value in values)},)"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
