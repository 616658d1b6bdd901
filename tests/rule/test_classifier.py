"""What all rule classifiers share: tables, weights, bad input."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.rule import Irep, Ripper, SequentialCovering

LEARNERS = [SequentialCovering(), Irep(random_state=0), Ripper(random_state=0)]
EACH = pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)


def small_table(n=90):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.random(n), "kind": pd.Categorical(rng.choice(list("abc"), n))})
    y = np.where((X["x"] > 0.6) & (X["kind"] == "a"), "yes", "no")
    return X, y


@EACH
def test_categories_and_gaps_are_used(learner):
    titanic = dataset("titanic")
    learner.fit(titanic.inputs, titanic.target_values)
    assert learner.score(titanic.inputs, titanic.target_values) > 0.75
    assert {"sex"} <= {term.column for rule in learner.rules_.rules for term in rule.terms}


@EACH
def test_unseen_category(learner):
    X, y = small_table()
    learner.fit(X, y)
    new = pd.DataFrame({"x": [0.9], "kind": pd.Categorical(["z"])})
    with pytest.raises(DataError, match=r"Column 'kind' has the category 'z'.*known: a, b, c"):
        learner.predict(new)
    learner.set_params(unseen="missing")
    assert learner.predict(new).tolist() == ["no"]
    learner.set_params(unseen="error")


@EACH
def test_all_missing_column_is_named_and_not_used(learner):
    X, y = small_table()
    X["empty"] = np.nan
    with pytest.warns(DataWarning, match="All values are missing in 'empty': no rule can use"):
        learner.fit(X, y)
    assert learner.score(X, y) > 0.9


@EACH
def test_one_class_needs_no_rules(learner):
    X, _ = small_table()
    with pytest.warns(DataWarning, match="y has one class, 'only'"):
        learner.fit(X, ["only"] * len(X))
    assert len(learner.rules_) == 0
    assert learner.predict(X[:2]).tolist() == ["only", "only"]
    assert learner.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


@EACH
def test_rows_of_weight_zero_are_as_if_absent(learner):
    X, y = small_table()
    weights = np.r_[np.ones(60), np.zeros(30)]
    weighted = learner.fit(X, y, sample_weight=weights).rules_
    absent = learner.fit(X[:60], y[:60]).rules_
    assert str(weighted) == str(absent)


@EACH
def test_zero_and_negative_weights(learner):
    X, y = small_table()
    with pytest.raises(DataError, match="sample_weight is zero for every row"):
        learner.fit(X, y, sample_weight=np.zeros(len(X)))
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        learner.fit(X, y, sample_weight=-np.ones(len(X)))


@EACH
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


@EACH
def test_lengths_must_agree(learner):
    X, y = small_table()
    with pytest.raises(DataError, match="inconsistent numbers of samples: X has 90 rows and y has"):
        learner.fit(X, y[:-1])


@EACH
def test_apply_gives_the_deciding_rule(learner):
    X, y = small_table()
    learner.fit(X, y)
    places = learner.apply(X)
    conclusions = [*(rule.conclusion for rule in learner.rules_.rules), "no"]
    assert [conclusions[place] for place in places] == learner.predict(X).tolist()
