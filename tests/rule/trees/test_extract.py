"""Rules read off trees: the texts' rules, the same predictions, supports that sum to one."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier as ForeignTree

from verulam.base import DataError, TableSchema
from verulam.data import dataset
from verulam.rule import extract_rules
from verulam.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultivariateTreeClassifier,
    TreeStructure,
)


def figure_tree():
    """Return the hypothetical tree of fig. 9.6: age, then years in job or the kind of job."""
    leaf, numeric, n_way = 0, 1, 3
    kind = np.array([numeric, n_way, numeric, leaf, leaf, leaf, leaf, leaf], dtype=np.int8)
    weight = np.array([10.0, 6, 4, 2, 2, 2, 1, 3])
    values = np.array([0.5, 0.3, 0.75, 0.4, 0.3, 0.2, 0.6, 0.8])[:, None]
    structure = TreeStructure(
        kind=kind,
        column=np.array([0, 2, 1, -1, -1, -1, -1, -1], dtype=np.int32),
        threshold=np.array([38.5, np.nan, 2.5] + [np.nan] * 5),
        first_child=np.array([1, 3, 6, -1, -1, -1, -1, -1], dtype=np.int32),
        n_children=np.array([2, 3, 2, 0, 0, 0, 0, 0], dtype=np.int32),
        missing_branch=np.array([0, 0, 0, -1, -1, -1, -1, -1], dtype=np.int32),
        category_start=np.array([-1, 0, -1, -1, -1, -1, -1, -1], dtype=np.int64),
        category_words=np.zeros(0, dtype=np.uint64),
        category_branches=np.array([0, 1, 2], dtype=np.int32),
        n_rows=weight.astype(np.int64),
        own_weight=weight,
        values=values,
        impurity=np.zeros(8),
        gain=np.zeros(8),
        n_categories=np.array([0, 0, 3], dtype=np.int32),
    )
    names = ("age", "years_in_job", "job_type")
    schema = TableSchema(names, (None, None, np.array(["A", "B", "C"])))
    return SimpleNamespace(tree_=structure, schema_=schema)


def test_the_rules_of_the_figure():
    """R1 to R5 of 9.4."""
    rules = extract_rules(figure_tree())
    assert {str(rule) for rule in rules.rules} == {
        "IF age > 38.5 AND years_in_job > 2.5 THEN 0.8",
        "IF age > 38.5 AND years_in_job <= 2.5 THEN 0.6",
        "IF age <= 38.5 AND job_type = A THEN 0.4",
        "IF age <= 38.5 AND job_type = B THEN 0.3",
        "IF age <= 38.5 AND job_type = C THEN 0.2",
    }
    assert sum(rule.support for rule in rules.rules) == pytest.approx(1.0)


def test_numbers_are_predicted():
    rules = extract_rules(figure_tree())
    X = {"age": [50.0, 50.0, 20.0], "years_in_job": [9.0, 1.0, 1.0], "job_type": ["A", "A", "C"]}
    frame = pd.DataFrame(X).astype({"job_type": "category"})
    assert rules.predict(frame).tolist() == [0.8, 0.6, 0.2]


def test_rules_predict_as_their_regression_tree():
    data = dataset("auto_mpg")
    X = data.inputs.select_dtypes("number").dropna(axis=1)
    tree = DecisionTreeRegressor(max_depth=4).fit(X, data.target_values)
    assert_array_equal(extract_rules(tree).predict(X), tree.predict(X))


def test_linear_leaves_are_refused():
    X = np.arange(40.0)[:, None]
    tree = DecisionTreeRegressor(leaf_model="linear").fit(X, np.abs(X[:, 0] - 20))
    with pytest.raises(DataError, match="tree has a linear model in each leaf"):
        extract_rules(tree)


def test_the_rules_of_the_notes():
    """Worked example 2.6, the senior rules the right way round."""
    table = dataset("buys_computer")
    tree = DecisionTreeClassifier(preset="id3").fit(table.inputs, table.target_values)
    assert {str(rule) for rule in extract_rules(tree).rules} == {
        "IF age = youth AND student = no THEN no",
        "IF age = youth AND student = yes THEN yes",
        "IF age = middle_aged THEN yes",
        "IF age = senior AND credit_rating = fair THEN yes",
        "IF age = senior AND credit_rating = excellent THEN no",
    }


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
def test_rules_predict_as_their_tree(name):
    data = dataset(name)
    tree = DecisionTreeClassifier(max_depth=5).fit(data.inputs, data.target_values)
    rules = extract_rules(tree)
    assert_array_equal(rules.predict(data.inputs), tree.predict(data.inputs))
    assert sum(rule.support for rule in rules.rules) == pytest.approx(1.0)
    covered = rules.coverage(rules.encode(data.inputs))
    assert_array_equal(covered.sum(axis=1), 1)


def test_missing_entries_follow_the_branches_on_demand():
    titanic = dataset("titanic")
    tree = DecisionTreeClassifier(max_depth=6).fit(titanic.inputs, titanic.target_values)
    rules = extract_rules(tree, missing=True)
    assert_array_equal(rules.predict(titanic.inputs), tree.predict(titanic.inputs))


def test_the_rules_of_a_class_equal_the_tree_on_a_grid():
    """The union of the patches of one class is where the tree predicts it."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    y = np.where((X[:, 0] > 0.4) & (X[:, 1] > 0.6), "C2", "C1")
    tree = DecisionTreeClassifier().fit(X, y)
    rules = extract_rules(tree)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 41)] * 2), axis=-1).reshape(-1, 2)
    places = [place for place, rule in enumerate(rules.rules) if rule.conclusion == "C1"]
    union = rules.coverage(rules.encode(grid))[:, places].any(axis=1)
    assert_array_equal(union, tree.predict(grid) == "C1")
    assert rules.description("C1").count(" OR ") == len(places) - 1


def test_a_tree_without_branches_is_its_default():
    with pytest.warns(UserWarning, match="one class"):
        tree = DecisionTreeClassifier().fit(np.eye(3), ["a", "a", "a"])
    rules = extract_rules(tree)
    assert len(rules) == 0
    assert rules.predict(np.eye(3)).tolist() == ["a"] * 3


def test_confidence_is_the_share_of_the_leaf():
    tree = DecisionTreeClassifier(max_depth=1).fit([[0.0], [0.0], [0.0], [1.0]], list("aabb"))
    rule = extract_rules(tree).rules[0]
    assert (rule.support, rule.confidence) == (0.75, pytest.approx(2 / 3))
    assert rule.weights == (2.0, 1.0)


def test_other_trees_are_refused():
    foreign = ForeignTree().fit(np.eye(3), [0, 1, 1])
    with pytest.raises(DataError, match="tree is a DecisionTreeClassifier; rules are read off the"):
        extract_rules(foreign)
    with pytest.raises(DataError, match="tree is a LinearRegression"):
        extract_rules(LinearRegression().fit(np.eye(3), [0, 1, 1]))
    slanted = MultivariateTreeClassifier().fit(np.eye(3), [0, 1, 1])
    with pytest.raises(DataError, match="a rule has terms of single columns"):
        extract_rules(slanted)
