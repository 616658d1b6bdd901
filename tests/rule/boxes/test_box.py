"""Box and threshold learners: zero error on their own kind of data, S, G and doubt, bad input."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.rule import BoxClassifier, ThresholdRule


@pytest.fixture
def box_data():
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    return X, ((X > 0.2) & (X < 0.8)).all(axis=1)


@pytest.mark.parametrize("hypothesis", ["specific", "general", "midway"])
def test_no_error_on_box_data(box_data, hypothesis):
    X, inside = box_data
    learner = BoxClassifier(hypothesis=hypothesis).fit(X, inside)
    assert learner.score(X, inside) == 1.0
    assert learner.false_positives_ == learner.false_negatives_ == 0.0


def test_specific_is_the_tightest_box(box_data):
    X, inside = box_data
    learner = BoxClassifier(hypothesis="specific").fit(X, inside)
    assert_array_equal(learner.box_.lower, X[inside].min(axis=0))
    assert_array_equal(learner.box_.upper, X[inside].max(axis=0))


def test_doubt_lies_between_specific_and_general(box_data):
    X, inside = box_data
    learner = BoxClassifier().fit(X, inside)
    assert not learner.in_doubt(X).any()
    new = np.random.default_rng(1).random((500, 3))
    doubt = learner.in_doubt(new)
    assert doubt.any()
    agreed = {
        hypothesis: BoxClassifier(hypothesis=hypothesis).fit(X, inside).predict(new[~doubt])
        for hypothesis in ("specific", "midway", "general")
    }
    assert_array_equal(agreed["specific"], agreed["general"])
    assert_array_equal(agreed["specific"], agreed["midway"])


def test_every_row_in_doubt_divides_the_consistent_boxes():
    """A box that takes the row in and one that leaves it out both make no error."""
    X, y = np.array([[0.0], [1.0], [3.0]]), np.array([1, 1, 0])
    learner = BoxClassifier().fit(X, y)
    assert learner.in_doubt([[2.0], [0.5], [4.0], [-1.0]]).tolist() == [True, False, False, True]


def test_noise_is_counted():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]])
    learner = BoxClassifier().fit(X, [1, 1, 0, 1, 0])
    # The box leaves the third positive out, beyond the negative.
    assert (learner.false_positives_, learner.false_negatives_) == (0.0, 1.0)
    assert learner.score(X, [1, 1, 0, 1, 0]) == 0.8
    assert learner.general_ == ()
    with pytest.raises(DataError, match="There is no version space: every box has errors"):
        learner.in_doubt(X)
    wide = BoxClassifier().fit([[0.0], [1.0], [2.0], [3.0], [4.0], [9.0]], [1, 1, 0, 1, 1, 0])
    assert (wide.false_positives_, wide.false_negatives_) == (1.0, 0.0)


def test_the_rule_reads_as_the_box():
    X = pd.DataFrame({"price": [10.0, 12, 20], "power": [90.0, 100, 95]})
    rule = BoxClassifier(hypothesis="specific").fit(X, [1, 1, 0]).rules_.rules[0]
    assert str(rule) == "IF price >= 10 AND price <= 12 AND power >= 90 AND power <= 100 THEN 1"


def test_thresholds_of_income_and_savings():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.uniform(10, 100, 300), "savings": rng.uniform(0, 50, 300)})
    low_risk = (X["income"] > 40) & (X["savings"] > 20)
    learner = ThresholdRule(directions="above").fit(X, np.where(low_risk, "low", "high"))
    assert learner.classes_.tolist() == ["high", "low"]
    assert learner.score(X, np.where(low_risk, "low", "high")) == 1.0
    assert_allclose(learner.thresholds_, [40, 20], atol=2)
    assert [term.relation for term in learner.rules_.rules[0].terms] == [">", ">"]


@pytest.mark.parametrize("seed", range(5))
def test_threshold_error_is_the_least(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(30, 2)).astype(float)
    y = rng.integers(0, 2, size=30)
    learner = ThresholdRule(directions="above").fit(X, y)
    cuts = [-1.0, *np.arange(6.0)]
    least = min(
        np.sum(((X[:, 0] > a) & (X[:, 1] > b)) != y.astype(bool)) for a in cuts for b in cuts
    )
    assert learner.false_positives_ + learner.false_negatives_ == least


@pytest.mark.parametrize("seed", range(5))
def test_both_kinds_of_error_are_counted_by_weight(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 6, size=(40, 2)).astype(float), rng.integers(0, 2, size=40)
    weights = rng.integers(1, 4, size=40).astype(float)
    learner = ThresholdRule(directions="above").fit(X, y, sample_weight=weights)
    taken = learner.predict(X) == 1
    assert learner.false_positives_ == weights[taken & (y == 0)].sum()
    assert learner.false_negatives_ == weights[~taken & (y == 1)].sum()
    assert learner.false_positives_ != learner.false_negatives_


def test_directions_are_found_or_given():
    X = np.array([[0.0, 0.0], [0.0, 5.0], [5.0, 0.0], [5.0, 5.0]])
    y = [0, 0, 1, 0]
    learned = ThresholdRule().fit(X, y)
    assert str(learned.rules_.rules[0]) == "IF column 0 > 2.5 AND column 1 < 2.5 THEN 1"
    directed = ThresholdRule(directions=["above", "below"]).fit(X, y)
    assert directed.rules_.rules == learned.rules_.rules


def test_directions_must_fit_the_columns():
    with pytest.raises(DataError, match=r"directions is \['above'\]; expected one of 'above'"):
        ThresholdRule(directions=["above"]).fit(np.eye(3), [0, 1, 0])


@pytest.mark.parametrize("learner", [BoxClassifier(), ThresholdRule()])
def test_two_classes_are_needed(learner):
    with pytest.raises(DataError, match="y has one class only"):
        learner.fit(np.eye(3), [1, 1, 1])
    with pytest.raises(DataError, match="Only binary classification is supported"):
        learner.fit(np.eye(3), [0, 1, 2])


def test_positive_must_be_a_class():
    with pytest.raises(DataError, match="positive is 'x'; the classes are"):
        BoxClassifier(positive="x").fit(np.eye(2), ["a", "b"])
