"""Given rules as classifiers: measured, never changed."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.rule import Ripper, Rule, RuleList, RuleSet, Term

X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
Y = np.array(["a", "a", "b", "b"])
RULE = Rule([Term("x", "<=", 1.5)], "a")


def test_support_and_confidence_are_measured():
    titanic = dataset("titanic")
    rule = Rule([Term("sex", "=", "female")], "yes")
    rule_base = RuleList([rule]).fit(titanic.inputs, titanic.target_values).rules_
    women = (titanic.inputs["sex"] == "female").to_numpy()
    survived = titanic.target_values == "yes"
    assert rule_base.rules[0].support == pytest.approx(women.mean())
    assert rule_base.rules[0].confidence == pytest.approx(survived[women].mean())
    assert rule_base.rules[0].terms == rule.terms


def test_default_is_the_majority_of_what_is_left():
    assert RuleList([RULE]).fit(X, Y).predict(X).tolist() == ["a", "a", "b", "b"]
    assert RuleList([RULE], default="a").fit(X, Y).predict(X).tolist() == ["a"] * 4


def test_learned_rules_can_be_given():
    iris = dataset("iris")
    learned = Ripper(random_state=0).fit(iris.inputs, iris.target_values)
    copied = RuleList(learned.rules_.rules).fit(iris.inputs, iris.target_values)
    assert copied.predict(iris.inputs).tolist() == learned.predict(iris.inputs).tolist()
    assert_allclose(copied.predict_proba(iris.inputs), learned.predict_proba(iris.inputs))


def test_order_matters_in_a_list_and_not_in_a_set():
    rules = [RULE, Rule([Term("x", ">=", 1)], "b")]
    lists = [RuleList(order).fit(X, Y).predict(X).tolist() for order in (rules, rules[::-1])]
    sets = [RuleSet(order).fit(X, Y).predict(X).tolist() for order in (rules, rules[::-1])]
    assert lists[0] != lists[1]
    assert sets[0] == sets[1]


def test_rules_may_conclude_what_the_data_lacks():
    with pytest.warns(DataWarning, match="No row has the label 'c', which rules .* 'a', 'b'"):
        learner = RuleList([Rule([Term("x", ">", 2.5)], "c")]).fit(X, Y)
    assert learner.classes_.tolist() == ["a", "b", "c"]
    assert learner.predict(X).tolist() == ["a", "a", "a", "c"]


def test_probabilities_are_those_of_the_rule():
    learner = RuleList([Rule([Term("x", "<=", 2.5)], "a")]).fit(X, Y)
    assert_allclose(learner.predict_proba(X[:1]), [[2 / 3, 1 / 3]], atol=1e-6)


def test_weights_count():
    learner = RuleList([RULE]).fit(X, Y, sample_weight=[3.0, 3.0, 1.0, 1.0])
    assert learner.rules_.rules[0].support == pytest.approx(0.75)


def test_only_rules_are_accepted():
    with pytest.raises(DataError, match=r"rules\[0\] is 'x > 3'; expected a verulam.rule.Rule"):
        RuleList(["x > 3"]).fit(X, Y)


def test_rules_about_other_columns():
    with pytest.raises(DataError, match="There is no column 'z'"):
        RuleList([Rule([Term("z", ">", 3)], "a")]).fit(X, Y)


def test_conclusions_and_labels_have_one_type():
    with pytest.raises(DataError, match="The rules conclude 'a' and the labels of y are such as 0"):
        RuleList([RULE]).fit(X, [0, 0, 1, 1])
