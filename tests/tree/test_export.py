"""Trees in DOT and as Python code."""

import numpy as np
import pandas as pd
import pytest

from verulam.data import dataset
from verulam.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultivariateTreeClassifier,
    export_code,
    export_dot,
)


@pytest.fixture
def titanic():
    data = dataset("titanic")
    return data.inputs, data.target_values


@pytest.mark.parametrize("categories", ["subset", "n_way"])
def test_code_predicts_as_the_tree(titanic, categories):
    X, y = titanic
    tree = DecisionTreeClassifier(max_depth=5, categories=categories).fit(X, y)
    scope = {}
    exec(export_code(tree, name="decide"), scope)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    assert [scope["decide"](row) for row in rows] == tree.predict(X).tolist()
    with pytest.raises(ValueError, match="unseen in training"):
        list(map(scope["decide"], [{**rows[0], "sex": "?"}]))


def test_code_of_numbers():
    X = np.arange(6.0)[:, None]
    tree = DecisionTreeRegressor(max_depth=2).fit(pd.DataFrame(X, columns=["x"]), X[:, 0] ** 2)
    scope = {}
    exec(export_code(tree), scope)
    assert [scope["predict"]({"x": x}) for x in X[:, 0]] == pytest.approx(
        tree.predict(pd.DataFrame(X, columns=["x"]))
    )


def test_what_code_cannot_say(titanic):
    X, y = titanic
    with pytest.raises(ValueError, match="undivided rows"):
        export_code(DecisionTreeClassifier(preset="c4.5").fit(X, y))
    with pytest.raises(ValueError, match="identifier"):
        export_code(DecisionTreeClassifier(max_depth=1).fit(X, y), name="class")


def test_dot_has_every_node_and_edge(titanic):
    tree = DecisionTreeClassifier(max_depth=3).fit(*titanic)
    text = export_dot(tree)
    assert text.count(" -> ") == len(tree.tree_) - 1
    assert text.count("[label=") == 2 * len(tree.tree_) - 1
    cut = export_dot(tree, max_depth=1)
    assert cut.count(" -> ") == 2
    assert cut.count(' ...", style="rounded,dashed"]') == 2


def test_dot_of_slanted_nodes():
    X = np.random.default_rng(0).uniform(size=(80, 2))
    tree = MultivariateTreeClassifier().fit(X, X[:, 0] > X[:, 1])
    text = export_dot(tree)
    assert text.count(" -> ") == len(tree.tree_.structure) - 1
    assert f'0 [label="{tree.node_text(0)}"];' in text
    assert '0 -> 1 [label="no"];' in text
