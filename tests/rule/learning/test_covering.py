"""Sequential covering, Irep and Ripper: coverage, order of the classes, agreement in the large."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.data import dataset
from verulam.rule import Irep, Ripper, SequentialCovering
from verulam.rule._learning import covering
from verulam.rule._learning.one_class import learn_class


@pytest.fixture(scope="module")
def many_rows():
    """Return a class of two overlapping boxes in ten columns, 5 % of the labels flipped."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    inside = ((X[:, 0] > 0.3) & (X[:, 1] < 0.5)) | ((X[:, 2] > 1.0) & (X[:, 3] > -0.5))
    return X, inside, inside ^ (rng.random(4000) < 0.05)


def test_covering_learns_the_notes_example():
    """Worked example 2.6: the two rules for 'no', the senior one the right way round."""
    table = dataset("buys_computer")
    rules = SequentialCovering().fit(table.inputs, table.target_values).rules_
    assert [str(rule) for rule in rules.rules] == [
        "IF age = youth AND student = no THEN no",
        "IF age = senior AND credit_rating = excellent THEN no",
    ]
    assert str(rules.default) == "ELSE yes"


def test_rows_that_a_rule_covers_teach_no_later_class(monkeypatch):
    """The rule of the rarest class takes rows of others with it, which the next does not see."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.digitize(X[:, 0] + rng.normal(size=300), [-0.8, 1.2])
    seen, rules = [], []

    def recorded(problem, rows, options, chance):
        seen.append(rows)
        rules.append(learn_class(problem, rows, options, chance))
        return rules[-1]

    monkeypatch.setattr(covering, "learn_class", recorded)
    Irep(random_state=0).fit(X, y)
    assert len(seen) == 2
    covered = np.any([rule.covered > 0 for rule in rules[0]], axis=0)
    np.testing.assert_array_equal(seen[1], np.flatnonzero(~covered))
    rarest = np.argmin(np.bincount(y))
    assert (y[covered] != rarest).any()


@pytest.mark.parametrize("criterion", ["entropy", "foil"])
def test_covering_is_right_on_consistent_data(criterion):
    iris = dataset("iris")
    learner = SequentialCovering(criterion=criterion).fit(iris.inputs, iris.target_values)
    assert learner.score(iris.inputs, iris.target_values) == 1.0


def test_most_conditions():
    iris = dataset("iris")
    learner = SequentialCovering(max_conditions=1).fit(iris.inputs, iris.target_values)
    assert max(len(rule.terms) for rule in learner.rules_.rules) == 1


def test_irep_prunes_what_covering_overfits(many_rows):
    X, inside, noisy = many_rows
    irep = Irep(random_state=0).fit(X, noisy)
    full = SequentialCovering(criterion="foil").fit(X, noisy)
    assert len(irep.rules_) < len(full.rules_) / 5
    assert irep.score(X, inside) > full.score(X, inside)


@pytest.mark.parametrize("seed", range(3))
def test_ripper_finds_the_boxes(many_rows, seed):
    X, inside, noisy = many_rows
    learner = Ripper(random_state=seed).fit(X, noisy)
    assert learner.score(X, inside) > 0.98
    used = {term.column for rule in learner.rules_.rules for term in rule.terms}
    assert {0, 1, 2, 3} <= used


def test_classes_come_by_rising_prior_and_the_largest_is_default():
    rng = np.random.default_rng(1)
    y = np.repeat(["big", "middle", "small"], [200, 100, 50])
    X = rng.normal(size=(350, 2)) * 0.3
    X[y == "middle", 0] += 3
    X[y == "small", 1] += 3
    rules = Ripper(random_state=0).fit(X, y).rules_
    assert [rule.conclusion for rule in rules.rules] == ["small", "middle"]
    assert rules.default.conclusion == "big"
    assert rules.conclude(np.full((1, 2), np.nan)).tolist() == ["big"]


def test_supports_sum_to_one():
    titanic = dataset("titanic")
    base = Ripper(random_state=0).fit(titanic.inputs, titanic.target_values).rules_
    assert sum(rule.support for rule in (*base.rules, base.default)) == pytest.approx(1.0)


def test_without_pruning_rules_stay_as_grown():
    iris = dataset("iris")
    learner = Ripper(pruning_fraction=None, min_positives=1)
    learner.fit(iris.inputs, iris.target_values)
    assert [rule.confidence for rule in learner.rules_.rules] == [1.0] * len(learner.rules_)


def test_whole_number_weights_repeat_rows_where_no_chance_enters():
    iris = dataset("iris")
    weights = np.random.default_rng(0).integers(1, 4, 150)
    learner = Ripper(pruning_fraction=None)
    weighted = learner.fit(iris.inputs, iris.target_values, sample_weight=weights).rules_
    places = np.repeat(np.arange(150), weights)
    repeated = learner.fit(iris.inputs.iloc[places], iris.target_values[places]).rules_
    assert str(weighted) == str(repeated)


@pytest.mark.parametrize(("fraction", "what"), [(0.01, "prune"), (0.99, "grow")])
@pytest.mark.parametrize("learner", [Ripper, Irep])
def test_a_fraction_that_leaves_no_rows(learner, fraction, what):
    X = np.arange(20.0)[:, None]
    message = f"pruning_fraction={fraction} of 20 rows leaves none to {what} rules on; accepted"
    with pytest.raises(DataError, match=message):
        learner(pruning_fraction=fraction).fit(X, np.arange(20) % 2)


def test_redundant_conditions_are_not_shown():
    X = np.linspace(0, 1, 400)[:, None]
    y = (X[:, 0] > 0.2) & (X[:, 0] < 0.4)
    for rule in Ripper(random_state=0).fit(X, y).rules_.rules:
        sides = [(term.column, term.relation) for term in rule.terms]
        assert len(sides) == len(set(sides))
