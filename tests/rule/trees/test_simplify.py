"""Simpler rules: single terms dropped, rules chosen by description length, classes put in order."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError, TableSchema
from verulam.rule import Rule, RuleBase, RuleList, Term, prune_rules
from verulam.rule._classifier import TrainingSet
from verulam.rule._trees.simplify import order_rules, select_rules

SCHEMA = TableSchema(("age", "job"), (None, np.array(["A", "B", "C"])))
R3 = Rule((Term("age", "<=", 38.5), Term("job", "=", "A")), 0.4)
R4 = Rule((Term("age", "<=", 38.5), Term("job", "=", "B")), 0.3)


def people(n=120):
    """Return people whose outcome is 0.4 if their job is A, whatever their age."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": rng.uniform(20, 60, n), "job": pd.Categorical(rng.choice([*"ABC"], n))}
    )
    y = np.where(X["job"] == "A", 0.4, np.where(X["age"] <= 38.5, 0.3, 0.8))
    return X, y


def training_set(rows, labels):
    classes, codes = np.unique(labels, return_inverse=True)
    schema = TableSchema(tuple("xyz"[: rows.shape[1]]), (None,) * rows.shape[1])
    return TrainingSet(schema, rows, codes, classes, np.ones(len(rows)))


def test_r3_loses_its_age():
    """R3': IF job-type = A THEN 0.4, since the age makes no difference there; R4 keeps both."""
    X, y = people()
    base = RuleBase((R3, R4), Rule((), 0.8), SCHEMA)
    pruned = prune_rules(base, X, y)
    assert str(pruned.rules[0]) == "IF job = A THEN 0.4"
    assert pruned.rules[1] == Rule(R4.terms, 0.3, pruned.rules[1].support)
    assert pruned.rules[0].support == pytest.approx((X["job"] == "A").mean())


def test_a_term_is_dropped_from_one_rule_only():
    X, y = people()
    labels = np.where(y == 0.4, "yes", np.where(y == 0.3, "no", "maybe"))
    young = Term("age", "<=", 38.5)
    rules = [
        Rule([young, Term("job", "=", "A")], "yes"),
        Rule([young, Term("job", "in", ("B", "C"))], "no"),
    ]
    rule_base = RuleList(rules).fit(X, labels).rules_
    pruned = prune_rules(rule_base, X, labels)
    assert [str(rule) for rule in pruned.rules] == [
        "IF job = A THEN yes",
        "IF age <= 38.5 AND job in {B, C} THEN no",
    ]
    assert pruned.rules[0].confidence == 1.0


def test_pessimism_drops_what_few_rows_support():
    """Two rows are no reason for a condition; two hundred are."""
    x = np.r_[np.zeros(100), np.ones(100)]
    z = np.zeros(200)
    z[:2] = 1.0
    y = np.where(x == 1, "b", "a")
    X = np.column_stack([x, z])
    rule = Rule([Term(0, "<=", 0.5), Term(1, "<=", 0.5)], "a")
    rule_base = RuleList([rule]).fit(X, y).rules_
    assert prune_rules(rule_base, X, y).rules[0].terms == (Term(0, "<=", 0.5),)


def test_rules_that_do_not_pay_are_not_chosen():
    rng = np.random.default_rng(0)
    rows = rng.random((400, 2))
    training = training_set(rows, np.where(rows[:, 0] > 0.5, "b", "a"))
    good = Rule((Term("x", ">", 0.5),), "b")
    needless = Rule((Term("x", ">", 0.6), Term("y", ">", 0.9)), "b")
    wrong = Rule((Term("x", "<=", 0.3),), "b")
    assert select_rules([needless, good, wrong], training) == (good,)


def test_the_class_of_fewest_false_positives_comes_first():
    rows = np.arange(100.0)[:, None]
    training = training_set(rows, np.where(rows[:, 0] < 50, "a", "b"))
    loose = Rule((Term("x", "<", 60),), "a")
    strict = Rule((Term("x", ">=", 50),), "b")
    base = order_rules([loose, strict], training)
    assert [rule.conclusion for rule in base.rules] == ["b", "a"]
    assert base.conclude(rows).tolist() == training.classes[training.codes].tolist()


def test_default_is_the_most_frequent_of_the_uncovered():
    rows = np.arange(10.0)[:, None]
    training = training_set(rows, list("aaaaaabbcc"))
    base = order_rules([Rule((Term("x", "<", 6),), "a"), Rule((), "c")], training)
    assert base.default.conclusion == "b"
    assert len(base) == 1


def test_lengths_must_agree():
    X, y = people()
    with pytest.raises(DataError, match="X has 120 rows and y has 3"):
        prune_rules(RuleBase((R3,), Rule((), 0.8), SCHEMA), X, y[:3])


def test_columns_must_agree():
    X, y = people()
    with pytest.raises(DataError, match="X has 1 columns; the rules are about 2"):
        prune_rules(RuleBase((R3,), Rule((), 0.8), SCHEMA), X[["age"]], y)


def test_labels_that_the_rules_do_not_know_are_named():
    X, y = people()
    labels = np.where(y > 0.35, "yes", "no")
    rules = RuleList([Rule(R3.terms, "yes")]).fit(X, labels).rules_
    with pytest.raises(DataError, match="y has the class 'maybe', which the rules do not know"):
        prune_rules(rules, X, np.where(y > 0.35, "yes", "maybe"))
    with pytest.raises(DataError, match="confidence is 7; expected a number between 0 and 1"):
        prune_rules(rules, X, labels, confidence=7)
