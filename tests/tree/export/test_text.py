"""Trees in words and in DOT."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import TableSchema
from verulam.data import dataset
from verulam.tree import (
    Condition,
    DecisionTreeClassifier,
    MultivariateTreeClassifier,
    branch_label,
    describe_condition,
    export_dot,
)

SCHEMA = TableSchema(("age", "job"), (None, np.array(list("abcdefghij"))))


def test_conditions_in_words():
    assert describe_condition(Condition(0, ">", 38.5), SCHEMA) == "age > 38.5"
    assert describe_condition(Condition(0, ">", np.inf), SCHEMA) == "age is missing"
    assert describe_condition(Condition(1, "in", categories=(1,)), SCHEMA) == "job = b"
    many = Condition(1, "in", categories=tuple(range(8)))
    assert describe_condition(many, SCHEMA) == "job in {a, b, c, d, e, f, 2 more}"


def test_only_categories_that_get_there_are_named():
    X = pd.DataFrame({"job": pd.Categorical(list("aabbccdd"))})
    y = [0, 0, 1, 1, 2, 2, 2, 2]
    text = DecisionTreeClassifier().fit(X, y).export_text()
    assert text.splitlines() == [
        "job in {a, b}",
        "|   job = b: 1 (2)",
        "|   job = a: 0 (2)",
        "job in {c, d}: 2 (4)",
    ]


def test_columns_without_names_are_counted():
    tree = DecisionTreeClassifier().fit([[0.0, 1.0], [0.0, 2.0]], ["a", "b"])
    assert tree.export_text().splitlines() == ["column 1 <= 1.5: a (1)", "column 1 > 1.5: b (1)"]
    assert (tree.node_text(0), tree.branch_text(1)) == ("column 1", "<= 1.5")


def test_branch_labels_leave_the_column_out():
    X = pd.DataFrame({"job": pd.Categorical(list("aabbcc")), "age": [1.0, 1, 2, 3, 3, 3]})
    tree = DecisionTreeClassifier(categories="n_way").fit(X, [0, 0, 1, 1, 2, 2])
    labels = [branch_label(tree.tree_, node, tree.schema_) for node in tree.tree_.children(0)]
    assert labels == ["a", "b", "c"]
    numeric = DecisionTreeClassifier(max_depth=1).fit(X[["age"]], [0, 0, 1, 1, 1, 1])
    assert branch_label(numeric.tree_, 1, numeric.schema_) == "<= 1.5"
    assert branch_label(numeric.tree_, 2, numeric.schema_) == "> 1.5"


def test_depth_can_be_cut():
    X = [[0.0], [1.0], [2.0], [3.0]]
    tree = DecisionTreeClassifier().fit(X, [0, 1, 0, 1])
    assert "..." in tree.export_text(max_depth=1)
    assert DecisionTreeClassifier(max_depth=1, min_samples_split=5).fit(
        X, [0, 1, 0, 1]
    ).export_text() == ("0 (4, 2 of others)")


def test_texts_say_where_missing_values_go_if_there_were_any():
    """Without a deck, passengers are like those of decks G and T."""
    titanic = dataset("titanic")
    X, y = titanic.inputs[["deck", "age"]], titanic.target_values
    text = DecisionTreeClassifier(max_depth=1).fit(X, y).export_text()
    assert [line.count("or missing") for line in text.splitlines()] == [1, 0]
    complete = X["deck"].notna() & X["age"].notna()
    for tree in (
        DecisionTreeClassifier(max_depth=2).fit(X[complete], y[complete]),
        DecisionTreeClassifier(max_depth=2, missing="fractional").fit(X, y),
    ):
        assert "missing" not in tree.export_text()


@pytest.fixture
def titanic():
    data = dataset("titanic")
    return data.inputs, data.target_values


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
