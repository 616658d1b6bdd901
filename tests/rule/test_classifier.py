"""What all rule classifiers share: tables, weights, bad input, explanations."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.rule import (
    Irep,
    Ripper,
    Rule,
    RuleExplanation,
    RuleList,
    RuleSet,
    SequentialCovering,
    Term,
)

LEARNERS = [SequentialCovering(), Irep(random_state=0), Ripper(random_state=0)]
ALL_LEARNERS = pytest.mark.parametrize(
    "learner", LEARNERS, ids=lambda learner: type(learner).__name__
)

X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, None], "kind": pd.Categorical([*"aabb", None])})
Y = ["low", "low", "low", "high", "high"]
RULES = [
    Rule([Term("x", "<=", 2)], "low"),
    Rule([Term("x", ">", 1), Term("kind", "=", "b")], "high"),
]


def small_table(n=90):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.random(n), "kind": pd.Categorical(rng.choice(list("abc"), n))})
    y = np.where((X["x"] > 0.6) & (X["kind"] == "a"), "yes", "no")
    return X, y


@ALL_LEARNERS
def test_categories_and_gaps_are_used(learner):
    titanic = dataset("titanic")
    learner.fit(titanic.inputs, titanic.target_values)
    assert learner.score(titanic.inputs, titanic.target_values) > 0.75
    assert {"sex"} <= {term.column for rule in learner.rules_.rules for term in rule.terms}


@ALL_LEARNERS
def test_unseen_category(learner):
    X, y = small_table()
    learner.fit(X, y)
    new = pd.DataFrame({"x": [0.9], "kind": pd.Categorical(["z"])})
    with pytest.raises(DataError, match=r"Column 'kind' has the category 'z'.*known: a, b, c"):
        learner.predict(new)
    learner.set_params(unseen="missing")
    assert learner.predict(new).tolist() == ["no"]
    learner.set_params(unseen="error")


@ALL_LEARNERS
def test_all_missing_column_is_named_and_not_used(learner):
    X, y = small_table()
    X["empty"] = np.nan
    with pytest.warns(DataWarning, match="All values are missing in 'empty': no rule can use"):
        learner.fit(X, y)
    assert learner.score(X, y) > 0.9


@ALL_LEARNERS
def test_one_class_needs_no_rules(learner):
    X, _ = small_table()
    with pytest.warns(DataWarning, match="y has one class, 'only'"):
        learner.fit(X, ["only"] * len(X))
    assert len(learner.rules_) == 0
    assert learner.predict(X[:2]).tolist() == ["only", "only"]
    assert learner.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


@ALL_LEARNERS
def test_rows_of_weight_zero_are_as_if_absent(learner):
    X, y = small_table()
    weights = np.r_[np.ones(60), np.zeros(30)]
    weighted = learner.fit(X, y, sample_weight=weights).rules_
    absent = learner.fit(X[:60], y[:60]).rules_
    assert str(weighted) == str(absent)


@ALL_LEARNERS
def test_zero_and_negative_weights(learner):
    X, y = small_table()
    with pytest.raises(DataError, match="sample_weight is zero for every row"):
        learner.fit(X, y, sample_weight=np.zeros(len(X)))
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        learner.fit(X, y, sample_weight=-np.ones(len(X)))


@ALL_LEARNERS
def test_conflicting_duplicates_go_to_the_majority(learner):
    """Equal rows with different labels cannot be told apart; their shares are reported."""
    X = np.repeat([[0.0], [1.0]], 40, axis=0)
    y = np.array(["a"] * 40 + ["b"] * 10 + ["a"] * 30)
    learner.fit(X, y)
    assert learner.predict([[0.0], [1.0]]).tolist() == ["a", "a"]
    mixed = np.where(np.arange(80) < 40, "a", "b")
    mixed[45:55] = "a"
    learner.fit(X, mixed)
    assert learner.predict([[0.0], [1.0]]).tolist() == ["a", "b"]
    assert learner.predict_proba([[1.0]])[0, 1] == pytest.approx(0.75, abs=1e-6)


@ALL_LEARNERS
def test_lengths_must_agree(learner):
    X, y = small_table()
    with pytest.raises(DataError, match="inconsistent numbers of samples: X has 90 rows and y has"):
        learner.fit(X, y[:-1])


@ALL_LEARNERS
def test_apply_gives_the_deciding_rule(learner):
    X, y = small_table()
    learner.fit(X, y)
    places = learner.apply(X)
    conclusions = [*(rule.conclusion for rule in learner.rules_.rules), "no"]
    assert [conclusions[place] for place in places] == learner.predict(X).tolist()


def test_a_list_shows_the_rule_that_decided():
    explanations = RuleList(RULES).fit(X, Y).explain(X)
    numbers = [[number for number, _ in why.rules] for why in explanations]
    assert numbers == [[1], [1], [1], [2], []]
    assert explanations[3].values == {"x": "3", "kind": "b"}
    assert explanations[3].probability == pytest.approx(1.0)


def test_a_set_shows_all_that_spoke():
    explanation = RuleSet(RULES).fit(X, Y).explain(X[2:3])[0]
    assert [number for number, _ in explanation.rules] == [1, 2]
    assert str(explanation).splitlines() == [
        "Predicted 'low' with probability 0.667",
        "  R1: IF x <= 2 THEN low",
        "  R2: IF x > 1 AND kind = b THEN high",
        "  x = 2",
        "  kind = b",
    ]


def test_the_default_says_so():
    rule = Rule([Term("x", ">", 5)], "high")
    explanation = RuleList([rule]).fit(X, Y).explain(X[4:])[0]
    assert str(explanation) == "Predicted 'low' with probability 0.600: no rule covers the row"


def test_an_explanation_names_label_probability_rules_and_values():
    learner = RuleList(RULES).fit(X, Y)
    expected = RuleExplanation("low", 1.0, ((1, learner.rules_.rules[0]),), {"x": "2"})
    (explanation,) = learner.explain(X[2:3])
    assert replace(explanation, probability=1.0) == expected
    assert explanation.probability == pytest.approx(1.0)
    assert str(expected).splitlines() == [
        "Predicted 'low' with probability 1.000",
        "  R1: IF x <= 2 THEN low",
        "  x = 2",
    ]


def test_missing_entries_are_named():
    rule = Rule([Term("x", ">", 5, accepts_missing=True)], "high")
    assert RuleList([rule]).fit(X, Y).explain(X[4:])[0].values == {"x": "missing"}
