"""Tests of several inputs as code: the same branches as the tests themselves."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.base import TableSchema
from verulam.tree import (
    ClasswiseTest,
    IntervalTest,
    LinearTest,
    NetworkTest,
    QuadraticTest,
    SphereTest,
)
from verulam.tree._export.node_code import branch_lines, input_lines
from verulam.tree._nodes.inputs import learn_inputs


def one_of_each_kind():
    """Return one test of each kind, with random weights."""
    random = np.random.default_rng(0)
    matrix = random.normal(size=(3, 3))
    return [
        LinearTest(np.array([1.0, 0.0, -2.0]), 0.3),
        QuadraticTest(matrix + matrix.T, random.normal(size=3), -0.5, random.normal(size=3)),
        SphereTest(random.normal(size=3), np.eye(3), 2.0),
        SphereTest(random.normal(size=3), matrix, 2.0),
        NetworkTest(random.normal(size=(3, 2)), np.array([0.1, -0.2]), np.array([1.0, -1.5]), 0.1),
        ClasswiseTest(np.vstack([np.eye(3), -np.ones(3)]), random.normal(size=4), np.arange(4)),
        IntervalTest(1, -0.4, 0.6),
    ]


@pytest.mark.parametrize("test", one_of_each_kind(), ids=lambda test: type(test).__name__)
def test_branches_are_those_of_the_test(test):
    inputs = np.random.default_rng(1).normal(size=(200, 3))
    body = "\n".join(f"    {line}" for line in branch_lines(test))
    scope = {}
    exec(f"def branch_of(inputs):\n{body}\n    return branch", scope)
    expected = test.branches(inputs)
    assert_array_equal([scope["branch_of"](row) for row in inputs.tolist()], expected)
    assert len(np.unique(expected)) == test.n_branches


def test_rows_become_the_inputs_of_training():
    labels = np.array(["blue", "green", "red"])
    schema = TableSchema(("age", "colour", "smokes"), (None, labels, np.array([False, True])))
    rows = np.array([[10.0, 0.0, 1.0], [30.0, 2.0, 0.0], [np.nan, np.nan, np.nan]])
    code = learn_inputs(rows, schema, np.array([0, 3, 2], np.int32), None, standardise=True)
    scope = {}
    lines = {unseen: input_lines(code, schema, unseen) for unseen in ("error", "missing")}
    exec("\n".join(["def inputs_of(row):", *lines["error"], "    return inputs"]), scope)
    exec("\n".join(["def lenient(row):", *lines["missing"], "    return inputs"]), scope)
    named = [
        {"age": 10.0, "colour": "blue", "smokes": True},
        {"age": 30.0, "colour": "red", "smokes": False},
        {"age": None, "colour": None, "smokes": float("nan")},
    ]
    assert_array_equal([scope["inputs_of"](row) for row in named], code.encode(rows))
    with pytest.raises(ValueError, match="'colour' unseen in training"):
        scope["inputs_of"]({**named[0], "colour": "pink"})
    assert_array_equal([scope["lenient"](row) for row in named], code.encode(rows))
    gap = code.encode(np.array([[10.0, np.nan, np.nan]]))[0]
    assert_array_equal(scope["lenient"]({"age": 10.0, "colour": "pink", "smokes": "?"}), gap)
