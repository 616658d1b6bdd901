"""Trees as Python code: the function answers as the tree does."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.data import dataset
from verulam.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultivariateTreeClassifier,
    export_code,
)


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
    tree = MultivariateTreeClassifier(node, max_depth=2, n_restarts=0, random_state=0).fit(X, y)
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
