"""Impurities and gains: axioms, and the numbers of the worked example."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.data import dataset
from verulam.tree import (
    DecisionTreeClassifier,
    entropy,
    gini,
    information_gain,
    misclassification,
    risk,
    split_impurity,
)

IMPURITIES = [entropy, gini, misclassification]


@pytest.mark.parametrize("impurity", IMPURITIES)
def test_axioms(impurity):
    """Largest at one half, zero for certainty, monotone in between (Alpaydin 9.2.1)."""
    p = np.linspace(0.0, 0.5, 26)
    values = impurity(np.column_stack([p, 1 - p]))
    assert values[0] == 0.0
    assert (np.diff(values) > 0).all()
    assert_allclose(values, impurity(np.column_stack([1 - p, p])))


def test_values_for_two_and_more_classes():
    assert entropy([0.5, 0.5]) == 1.0
    assert_allclose(entropy(np.full(8, 1 / 8)), 3.0)
    assert_allclose(gini([0.3, 0.7]), 2 * 0.3 * 0.7)
    assert_allclose(misclassification([0.2, 0.5, 0.3]), 0.5)


def test_rows_of_a_loss_are_actions():
    """To call a healthy patient ill costs 1, to send an ill one home 10, to test either 2."""
    loss = [[0.0, 10.0], [1.0, 0.0], [2.0, 2.0]]
    shares = np.array([[0.9, 0.1], [0.3, 0.7], [0.99, 0.01], [1.0, 0.0]])
    assert_allclose(risk(shares, loss), [0.9, 0.3, 0.1, 0.0])
    assert_allclose(risk([0.25, 0.75], [[0.0, 1.0], [10.0, 0.0]]), 0.75)


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_tree_by_risk_has_the_threshold_of_least_risk(seed):
    """Losses of the two errors differ, and their exchange would have another threshold."""
    random = np.random.default_rng(seed)
    x = random.normal(size=80)
    classes = (x + random.normal(size=80) > 0).astype(int)
    middles = np.convolve(np.sort(x), [0.5, 0.5], mode="valid")

    def best(loss):
        totals = [
            sum(
                side.sum() * risk(np.bincount(classes[side], minlength=2) / side.sum(), loss)
                for side in (x > middle, x <= middle)
            )
            for middle in middles
        ]
        return middles[int(np.argmin(np.round(totals, 9)))]

    loss = np.array([[0.0, 1.0], [10.0, 0.0]])
    tree = DecisionTreeClassifier(criterion="risk", loss=loss, max_depth=1)
    assert_allclose(tree.fit(x[:, None], classes).tree_.threshold[0], best(loss))
    assert best(loss) != best(loss.T)


def test_risk_with_zero_one_loss_is_misclassification():
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=20)
    assert_allclose(risk(p, 1 - np.eye(3)), misclassification(p))


def test_split_impurity_of_the_worked_example():
    assert_allclose(entropy(np.array([9, 5]) / 14), 0.940286, atol=5e-7)
    assert_allclose(split_impurity([[2, 3], [4, 0], [3, 2]]), 0.693536, atol=5e-7)
    # A branch of one row counts, one without any does not.
    assert_allclose(split_impurity([[1, 0], [1, 1], [0, 0]]), 2 / 3)


def test_gains_of_the_worked_example():
    """SIT1305 example 2.6; gains are those of exact parts, not of rounded ones."""
    buys = dataset("buys_computer")
    expected = {"age": 0.246750, "income": 0.029223, "student": 0.151836, "credit_rating": 0.048127}
    gains = {name: information_gain(buys.inputs[name], buys.target_values) for name in expected}
    for name, gain in expected.items():
        assert_allclose(gains[name], gain, atol=5e-7)


def test_gain_ratio_penalises_an_index():
    rows = np.arange(14)
    classes = np.array([0, 1] * 7)
    half = np.array([0, 1] * 6 + [1, 0])
    assert information_gain(rows, classes) > information_gain(half, classes)
    assert information_gain(rows, classes, ratio=True) < information_gain(half, classes, ratio=True)


def test_lengths_must_agree():
    with pytest.raises(DataError, match="values has 2 entries and target 3"):
        information_gain([1, 2], [0, 1, 0])
