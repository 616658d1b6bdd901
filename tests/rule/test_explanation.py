"""Explanations: the rules that spoke and what they saw."""

import pandas as pd
import pytest

from verulam.rule import Rule, RuleList, RuleSet, Term

X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, None], "kind": pd.Categorical([*"aabb", None])})
Y = ["low", "low", "low", "high", "high"]
RULES = [
    Rule([Term("x", "<=", 2)], "low"),
    Rule([Term("x", ">", 1), Term("kind", "=", "b")], "high"),
]


def test_a_list_shows_the_rule_that_decided():
    found = RuleList(RULES).fit(X, Y).explain(X)
    assert [[number for number, _ in each.rules] for each in found] == [[1], [1], [1], [2], []]
    assert found[3].values == {"x": "3", "kind": "b"}
    assert found[3].probability == pytest.approx(1.0)


def test_a_set_shows_all_that_spoke():
    found = RuleSet(RULES).fit(X, Y).explain(X[2:3])[0]
    assert [number for number, _ in found.rules] == [1, 2]
    assert str(found).splitlines() == [
        "Predicted 'low' with probability 0.667",
        "  R1: IF x <= 2 THEN low",
        "  R2: IF x > 1 AND kind = b THEN high",
        "  x = 2",
        "  kind = b",
    ]


def test_the_default_says_so():
    rule = Rule([Term("x", ">", 5)], "high")
    found = RuleList([rule]).fit(X, Y).explain(X[4:])[0]
    assert str(found) == "Predicted 'low' with probability 0.600: no rule covers the row"


def test_missing_entries_are_named():
    rule = Rule([Term("x", ">", 5, accepts_missing=True)], "high")
    assert RuleList([rule]).fit(X, Y).explain(X[4:])[0].values == {"x": "missing"}
