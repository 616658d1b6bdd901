"""Rule bases: who decides, what is measured, how they read as text, Markdown and code."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, TableSchema
from verulam.data import dataset
from verulam.rule import Ripper, Rule, RuleBase, RuleSet, Term
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
    rule_base = measured(base(LOW, HIGH, ordered=False), ROWS, codes, np.ones(4))
    assert [rule.confidence for rule in rule_base.rules] == [1.0, 0.5]
    assert rule_base.conclude(ROWS).tolist() == ["low", "low", "high", "low"]
    assert_allclose(rule_base.votes(ROWS), [[0, 1], [0.5, 1], [0.5, 0], [1, 0]], atol=1e-6)


def test_support_of_a_list_and_its_default_adds_up():
    codes = np.array([1, 0, 0, 1])
    rule_base = measured(base(LOW, HIGH), ROWS, codes, np.array([1.0, 2.0, 1.0, 1.0]))
    assert [rule.support for rule in rule_base.rules] == [0.6, 0.2]
    assert rule_base.default.support == pytest.approx(0.2)
    assert rule_base.rules[0].weights == (2.0, 1.0)
    assert rule_base.rules[0].confidence == pytest.approx(1 / 3)


def test_relabelling_makes_the_conclusion_the_majority():
    codes = np.array([0, 0, 0, 1])
    rule_base = measured(base(LOW), ROWS, codes, np.ones(4), relabel=True)
    assert rule_base.rules[0].conclusion == "high"
    assert rule_base.rules[0].confidence == 1.0


def test_a_tie_stays_with_the_conclusion():
    codes = np.array([0, 1, 0, 1])
    rule_base = measured(base(LOW), ROWS, codes, np.ones(4), relabel=True)
    assert rule_base.rules[0].conclusion == "low"
    assert rule_base.classes[rule_base.votes(ROWS)[0].argmax()] == "low"


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
    rule_base = RuleBase(rules, Rule((), "C2"), SCHEMA, np.array(["C1", "C2"]))
    assert rule_base.description("C1") == "IF (x <= 3) OR (x > 3 AND y <= 5) THEN C1"
    assert rule_base.description("C2") == "IF (x > 3 AND y > 5) OR (no other rule holds) THEN C2"
    assert rule_base.description("C3") == "NEVER C3"


def test_no_rules_at_all():
    assert len(base()) == 0
    assert base().coverage(ROWS).shape == (4, 0)
    assert base(ordered=False).conclude(ROWS).tolist() == ["low"] * 4


def test_equal_rules_are_kept_once():
    again = Rule((Term("y", ">", 1), Term("x", ">", 1)), "high")
    turned = Rule((Term("x", ">", 1), Term("y", ">", 1)), "high")
    assert unique_rules([again, LOW, turned]) == (again, LOW)


MIXED_SCHEMA = TableSchema(("x", "kind"), (None, np.array(["a", "b|c"])))
WRITTEN_RULES = (
    Rule((Term("x", "<=", 2.5), Term("kind", "=", "b|c")), "no", support=0.25, confidence=0.9),
    Rule((Term("kind", "!=", "a"),), "yes", support=0.5, confidence=1.0),
)


def written_base(**options):
    return RuleBase(
        WRITTEN_RULES, Rule((), "yes"), MIXED_SCHEMA, np.array(["no", "yes"]), **options
    )


def function_of(rules):
    scope = {}
    exec(rules.export_code("conclude"), scope)
    return scope["conclude"]


def as_mappings(frame):
    """Yield each row with NaN for missing numbers and None for missing categories."""
    for row in frame.astype(object).to_dict("records"):
        yield {
            name: None if pd.isna(value) and frame[name].dtype == "category" else value
            for name, value in row.items()
        }


def test_text():
    assert str(written_base()).splitlines() == [
        "R1: IF x <= 2.5 AND kind = b|c THEN no  (support 25.0%, confidence 90.0%)",
        "R2: IF kind != a THEN yes  (support 50.0%, confidence 100.0%)",
        "ELSE yes",
    ]


def test_markdown_escapes_bars_and_brackets():
    lines = written_base().export_markdown().splitlines()
    assert lines[2] == "| R1 | x &lt;= 2.5 AND kind = b\\|c | no | 25.0% | 90.0% |"
    assert lines[-1] == "|  | otherwise | yes |  |  |"


@pytest.mark.parametrize("seed", range(3))
def test_code_of_a_list_concludes_as_the_learner_predicts(seed):
    titanic = dataset("titanic")
    learner = Ripper(random_state=seed).fit(titanic.inputs, titanic.target_values)
    conclude = function_of(learner.rules_)
    conclusions = [conclude(row) for row in as_mappings(titanic.inputs)]
    assert conclusions == learner.predict(titanic.inputs).tolist()


def test_code_of_a_set_votes_as_the_learner_does():
    titanic = dataset("titanic")
    rules = [
        Rule([Term("sex", "=", "female")], "yes"),
        Rule([Term("age", ">", 30, accepts_missing=True), Term("deck", "!=", "B")], "no"),
        Rule([Term("embarked", "in", ("Cherbourg", "Queenstown"))], "yes"),
    ]
    learner = RuleSet(rules).fit(titanic.inputs, titanic.target_values)
    conclude = function_of(learner.rules_)
    conclusions = [conclude(row) for row in as_mappings(titanic.inputs)]
    assert conclusions == learner.predict(titanic.inputs).tolist()
    assert len(set(conclusions)) == 2


def test_code_of_numbers_averages():
    rules = (Rule((Term("x", "<=", 2),), 1.0), Rule((Term("x", ">", 1),), 4.0))
    conclude = function_of(RuleBase(rules, Rule((), 9.0), MIXED_SCHEMA, ordered=False))
    assert [conclude({"x": x}) for x in (0, 1.5, 3)] == [1.0, 2.5, 4.0]
    assert [conclude({"x": gap}) for gap in (float("nan"), None)] == [9.0, 9.0]
    assert conclude(pd.Series({"x": 1.5})) == 2.5


def test_code_needs_a_name():
    with pytest.raises(DataError, match="name is 'my rule'; expected the name of a Python"):
        written_base().export_code("my rule")
