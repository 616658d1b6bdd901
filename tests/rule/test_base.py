"""Rule bases: who decides, what is measured, how the rules of a class read as one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import TableSchema
from verulam.rule import Rule, RuleBase, Term
from verulam.rule._base import measured, unique_rules

SCHEMA = TableSchema(("x", "y"), (None, None))
LOW, HIGH = Rule((Term("x", "<=", 2),), "low"), Rule((Term("x", ">", 1),), "high")
ROWS = np.array([[0.0, 0.0], [1.5, 0.0], [3.0, 0.0], [np.nan, 0.0]])
CLASSES = np.array(["high", "low"])


def base(*rules, default="low", **options):
    return RuleBase(rules, Rule((), default), SCHEMA, CLASSES, **options)


def test_the_first_rule_decides_in_a_list():
    assert base(LOW, HIGH).decide(ROWS).tolist() == [0, 0, 1, 2]
    assert base(HIGH, LOW).decide(ROWS).tolist() == [1, 0, 0, 2]
    assert base(HIGH, LOW).conclude(ROWS).tolist() == ["low", "high", "high", "low"]


def test_the_more_confident_rules_win_in_a_set():
    codes = np.array([1, 1, 0, 0])
    found = measured(base(LOW, HIGH, ordered=False), ROWS, codes, np.ones(4))
    assert [rule.confidence for rule in found.rules] == [1.0, 0.5]
    assert found.conclude(ROWS).tolist() == ["low", "low", "high", "low"]
    assert_allclose(found.votes(ROWS), [[0, 1], [0.5, 1], [0.5, 0], [1, 0]], atol=1e-6)


def test_support_of_a_list_and_its_default_adds_up():
    codes = np.array([1, 0, 0, 1])
    found = measured(base(LOW, HIGH), ROWS, codes, np.array([1.0, 2.0, 1.0, 1.0]))
    assert [rule.support for rule in found.rules] == [0.6, 0.2]
    assert found.default.support == pytest.approx(0.2)
    assert found.rules[0].weights == (2.0, 1.0)
    assert found.rules[0].confidence == pytest.approx(1 / 3)


def test_relabelling_makes_the_conclusion_the_majority():
    codes = np.array([0, 0, 0, 1])
    found = measured(base(LOW), ROWS, codes, np.ones(4), relabel=True)
    assert found.rules[0].conclusion == "high"
    assert found.rules[0].confidence == 1.0


def test_a_tie_stays_with_the_conclusion():
    codes = np.array([0, 1, 0, 1])
    found = measured(base(LOW), ROWS, codes, np.ones(4), relabel=True)
    assert found.rules[0].conclusion == "low"
    assert found.classes[found.votes(ROWS)[0].argmax()] == "low"


def test_numbers_are_averaged_over_the_rules_of_a_set():
    rules = (Rule((Term("x", "<=", 2),), 1.0), Rule((Term("x", ">", 1),), 4.0))
    numbers = RuleBase(rules, Rule((), 9.0), SCHEMA, ordered=False)
    assert numbers.conclude(ROWS).tolist() == [1.0, 2.5, 4.0, 9.0]


def test_the_rules_of_a_class_as_one():
    """C1 of fig. 9.1: x1 <= w10 OR (x1 > w10 AND x2 <= w20)."""
    rules = (
        Rule((Term("x", "<=", 3.0),), "C1"),
        Rule((Term("x", ">", 3.0), Term("y", "<=", 5.0)), "C1"),
        Rule((Term("x", ">", 3.0), Term("y", ">", 5.0)), "C2"),
    )
    found = RuleBase(rules, Rule((), "C2"), SCHEMA, np.array(["C1", "C2"]))
    assert found.description("C1") == "IF (x <= 3) OR (x > 3 AND y <= 5) THEN C1"
    assert found.description("C2") == "IF (x > 3 AND y > 5) OR (no other rule holds) THEN C2"
    assert found.description("C3") == "NEVER C3"


def test_no_rules_at_all():
    assert len(base()) == 0
    assert base().coverage(ROWS).shape == (4, 0)
    assert base(ordered=False).conclude(ROWS).tolist() == ["low"] * 4


def test_equal_rules_are_kept_once():
    again = Rule((Term("y", ">", 1), Term("x", ">", 1)), "high")
    turned = Rule((Term("x", ">", 1), Term("y", ">", 1)), "high")
    assert unique_rules([again, LOW, turned]) == (again, LOW)
