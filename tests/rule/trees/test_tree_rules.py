"""C4.5rules: fewer and simpler rules than the tree has leaves, no worse."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.tree import DecisionTreeClassifier as ForeignTree

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.rule import TreeRules
from verulam.tree import DecisionTreeClassifier


@pytest.mark.parametrize("name", ["titanic", "breast_cancer", "german_credit"])
def test_rules_are_fewer_than_leaves(name):
    data = dataset(name)
    learner = TreeRules().fit(data.inputs, data.target_values)
    assert len(learner.rules_) <= learner.estimator_.get_n_leaves() / 2
    baseline = np.max(np.unique(data.target_values.astype(str), return_counts=True)[1])
    assert learner.score(data.inputs, data.target_values) > baseline / len(data.inputs) + 0.02


def test_unpruned_rules_predict_as_their_tree():
    titanic = dataset("titanic")
    tree = DecisionTreeClassifier(max_depth=5)
    learner = TreeRules(estimator=tree, confidence=None).fit(titanic.inputs, titanic.target_values)
    assert_array_equal(learner.predict(titanic.inputs), learner.estimator_.predict(titanic.inputs))


def test_missing_is_spoken_of_only_where_a_column_has_gaps():
    titanic = dataset("titanic")
    gaps = set(titanic.inputs.columns[titanic.inputs.isna().any()])
    tree = DecisionTreeClassifier(max_depth=5)
    learner = TreeRules(estimator=tree, confidence=None).fit(titanic.inputs, titanic.target_values)
    speaking = {
        term.column for rule in learner.rules_.rules for term in rule.terms if term.accepts_missing
    }
    assert speaking <= gaps


def test_less_confidence_drops_more_terms():
    data = dataset("german_credit")
    terms = []
    for confidence in (0.01, 0.5):
        learner = TreeRules(confidence=confidence).fit(data.inputs, data.target_values)
        lengths = [len(rule.terms) for rule in learner.rules_.rules]
        terms.append(np.mean(lengths))
    assert terms[0] < terms[1]


def test_a_tree_that_divides_missing_entries():
    titanic = dataset("titanic")
    tree = DecisionTreeClassifier(missing="fractional", max_depth=5)
    learner = TreeRules(estimator=tree, confidence=None).fit(titanic.inputs, titanic.target_values)
    assert not any(term.accepts_missing for rule in learner.rules_.rules for term in rule.terms)
    assert learner.score(titanic.inputs, titanic.target_values) > 0.7


def test_other_trees_are_refused():
    with pytest.raises(DataError, match=r"rules are read off the trees of verulam\.tree"):
        TreeRules(ForeignTree()).fit(np.eye(4), [0, 1, 0, 1])


def test_one_class_needs_no_rules():
    with pytest.warns(DataWarning, match="one class"):
        learner = TreeRules().fit(np.eye(3), ["a", "a", "a"])
    assert len(learner.rules_) == 0
    assert learner.predict(np.eye(3)).tolist() == ["a"] * 3


def test_the_estimator_is_left_alone():
    tree = DecisionTreeClassifier(max_depth=2)
    iris = dataset("iris")
    learner = TreeRules(estimator=tree).fit(iris.inputs, iris.target_values)
    assert not hasattr(tree, "tree_")
    assert learner.estimator_.get_depth() == 2
