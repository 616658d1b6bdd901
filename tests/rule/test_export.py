"""Rules as text, Markdown and code; the code concludes as the rule base does."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError, TableSchema
from verulam.data import dataset
from verulam.rule import Ripper, Rule, RuleBase, RuleSet, Term

SCHEMA = TableSchema(("x", "kind"), (None, np.array(["a", "b|c"])))
RULES = (
    Rule((Term("x", "<=", 2.5), Term("kind", "=", "b|c")), "no", support=0.25, confidence=0.9),
    Rule((Term("kind", "!=", "a"),), "yes", support=0.5, confidence=1.0),
)


def base(**options):
    return RuleBase(RULES, Rule((), "yes"), SCHEMA, np.array(["no", "yes"]), **options)


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
    assert str(base()).splitlines() == [
        "R1: IF x <= 2.5 AND kind = b|c THEN no  (support 25.0%, confidence 90.0%)",
        "R2: IF kind != a THEN yes  (support 50.0%, confidence 100.0%)",
        "ELSE yes",
    ]


def test_markdown_escapes_bars():
    lines = base().export_markdown().splitlines()
    assert lines[2] == "| R1 | x <= 2.5 AND kind = b\\|c | no | 25.0% | 90.0% |"
    assert lines[-1] == "|  | otherwise | yes |  |  |"


@pytest.mark.parametrize("seed", range(3))
def test_code_of_a_list_concludes_as_the_learner_predicts(seed):
    titanic = dataset("titanic")
    learner = Ripper(random_state=seed).fit(titanic.inputs, titanic.target_values)
    conclude = function_of(learner.rules_)
    found = [conclude(row) for row in as_mappings(titanic.inputs)]
    assert found == learner.predict(titanic.inputs).tolist()


def test_code_of_a_set_votes_as_the_learner_does():
    titanic = dataset("titanic")
    rules = [
        Rule([Term("sex", "=", "female")], "yes"),
        Rule([Term("age", ">", 30, accepts_missing=True), Term("deck", "!=", "B")], "no"),
        Rule([Term("embarked", "in", ("Cherbourg", "Queenstown"))], "yes"),
    ]
    learner = RuleSet(rules).fit(titanic.inputs, titanic.target_values)
    conclude = function_of(learner.rules_)
    found = [conclude(row) for row in as_mappings(titanic.inputs)]
    assert found == learner.predict(titanic.inputs).tolist()
    assert len(set(found)) == 2


def test_code_of_numbers_averages():
    rules = (Rule((Term("x", "<=", 2),), 1.0), Rule((Term("x", ">", 1),), 4.0))
    conclude = function_of(RuleBase(rules, Rule((), 9.0), SCHEMA, ordered=False))
    assert [conclude({"x": x}) for x in (0, 1.5, 3)] == [1.0, 2.5, 4.0]
    assert [conclude({"x": gap}) for gap in (float("nan"), None)] == [9.0, 9.0]
    assert conclude(pd.Series({"x": 1.5})) == 2.5


def test_code_needs_a_name():
    with pytest.raises(DataError, match="name is 'my rule'; expected the name of a Python"):
        base().export_code("my rule")
