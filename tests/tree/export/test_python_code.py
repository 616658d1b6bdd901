"""Trees as Python code: the function answers as the tree does."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import TableSchema
from verulam.data import dataset
from verulam.tree import (
    ClasswiseTest,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    IntervalTest,
    LinearTest,
    MultivariateTreeClassifier,
    NetworkTest,
    QuadraticTest,
    SphereTest,
    export_code,
)
from verulam.tree._export.python_code import branch_lines, input_lines
from verulam.tree._nodes.inputs import learn_inputs


@pytest.fixture
def titanic():
    data = dataset("titanic")
    return data.inputs, data.target_values


def answers(tree, X):
    """Return what the exported function says of each row, with None where entries are missing."""
    scope = {}
    exec(export_code(tree, name="decide"), scope)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    return [scope["decide"](row) for row in rows]


@pytest.mark.parametrize(
    "options",
    [
        {"categories": "subset"},
        {"categories": "n_way"},
        {"preset": "c4.5"},
        {"preset": "c4.5", "loss": [[0, 5], [1, 0]], "pruning": "none", "max_depth": 4},
    ],
    ids=["subset", "n-way", "divided", "divided with losses"],
)
def test_code_predicts_as_the_tree(titanic, options):
    X, y = titanic
    tree = DecisionTreeClassifier(max_depth=5).set_params(**options).fit(X, y)
    predicted = tree.predict(X)
    assert answers(tree, X) == predicted.tolist()
    assert len(np.unique(predicted)) == 2


def test_an_unseen_category_is_an_error(titanic):
    X, y = titanic
    for tree in (
        DecisionTreeClassifier(max_depth=5).fit(X, y),
        MultivariateTreeClassifier(max_depth=2).fit(X, y),
    ):
        with pytest.raises(ValueError, match="'sex' unseen in training"):
            answers(tree, X[:1].assign(sex="?"))


@pytest.mark.parametrize(
    "tree",
    [
        DecisionTreeClassifier(max_depth=5),
        DecisionTreeClassifier(max_depth=5, categories="n_way"),
        DecisionTreeClassifier(max_depth=5, missing="fractional"),
        DecisionTreeRegressor(max_depth=4),
        MultivariateTreeClassifier(max_depth=2),
    ],
    ids=["subset", "n-way", "divided", "numbers", "slanted"],
)
def test_an_unseen_category_may_be_missing(titanic, tree):
    X, y = titanic
    tree = tree.set_params(unseen="missing")
    tree.fit(X, y == y[0] if isinstance(tree, DecisionTreeRegressor) else y)
    strange = X[::5].astype({"sex": object}).assign(sex="?")
    predicted = tree.predict(strange)
    assert answers(tree, strange) == predicted.tolist()
    assert (predicted != tree.predict(X[::5])).any()


@pytest.mark.parametrize(
    "options",
    [
        {"leaf_model": "constant"},
        {"leaf_model": "linear"},
        {"missing": "fractional"},
    ],
)
def test_code_of_numbers(options):
    cars = dataset("auto_mpg")
    X = cars.inputs.copy()
    X.loc[::7, X.columns[0]] = np.nan
    tree = DecisionTreeRegressor(max_depth=3, **options).fit(X, cars.target_values)
    assert_allclose(answers(tree, X), tree.predict(X), rtol=1e-10)


NODES = ("univariate", "ternary", "lda", "cart", "sphere", "ellipsoid", "quadratic", "network")


@pytest.mark.parametrize("node", [*NODES, "gaussian"])
def test_code_of_slanted_and_curved_nodes(titanic, node):
    X, y = titanic
    X = X[["sex", "passenger_class", "age", "fare"]]
    tree = MultivariateTreeClassifier(node, max_depth=2, n_init=1, random_state=0).fit(X, y)
    predicted = tree.predict(X)
    assert answers(tree, X) == predicted.tolist()
    assert len(np.unique(predicted)) == 2


def test_columns_without_names_are_numbered():
    X = np.arange(6.0)[:, None]
    tree = DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0] ** 2)
    assert_allclose(answers(tree, pd.DataFrame(X)), tree.predict(X))


def test_what_code_cannot_say(titanic):
    X, y = titanic
    with pytest.raises(ValueError, match="without softness"):
        export_code(MultivariateTreeClassifier(softness=0.1, max_depth=1).fit(X, y))
    with pytest.raises(ValueError, match="identifier"):
        export_code(DecisionTreeClassifier(max_depth=1).fit(X, y), name="class")


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
