"""Discriminant, posterior, odds and log-odds say the same."""

import numpy as np
import pytest
from tests.linear.examples import overlapping

from verulam.base import DataError
from verulam.linear import LogisticDiscriminant, TwoClassEvidence, two_class_evidence
from verulam.numerics import sigmoid

ROWS, CLASSES = overlapping()


def test_four_rules_are_one_decision():
    model = LogisticDiscriminant().fit(ROWS, CLASSES)
    grid = np.random.default_rng(1).normal(scale=3.0, size=(500, 3))
    decisions = two_class_evidence(model, grid).decisions()
    assert list(decisions.columns) == ["g > 0", "y > 1/2", "odds > 1", "log-odds > 0"]
    assert 0 < decisions["g > 0"].sum() < 500
    assert (decisions.nunique(axis=1) == 1).all()
    assert np.array_equal(decisions["g > 0"], model.predict(grid) == 1)


def test_the_four_numbers_follow_from_one_another():
    model = LogisticDiscriminant().fit(ROWS, CLASSES)
    evidence = two_class_evidence(model, ROWS)
    assert np.allclose(evidence.posterior, sigmoid(evidence.discriminant))
    assert np.allclose(evidence.odds, evidence.posterior / (1 - evidence.posterior))
    assert np.allclose(evidence.log_odds, evidence.discriminant)
    assert np.allclose(evidence.table()["log-odds"], np.log(evidence.odds))


def test_worked_example_of_two_gaussians():
    """Means -1 and 1 and variance one give g = 2x: at 0.5 the posterior is 0.7311."""
    model = LogisticDiscriminant().fit([[-1.0], [1.0]], [0, 1])
    model.coef_, model.intercept_ = np.array([[2.0]]), np.array([0.0])
    evidence = two_class_evidence(model, [[0.5], [0.0]])
    assert evidence.posterior == pytest.approx([0.7311, 0.5], abs=5e-5)
    assert evidence.odds == pytest.approx([np.e, 1.0])
    assert evidence.log_odds == pytest.approx([1.0, 0.0])
    assert not evidence.decisions().iloc[1].any()


def test_certain_rows_have_odds_without_bound():
    model = LogisticDiscriminant(alpha=1e-3).fit([[0.0], [1.0]], [0, 1])
    evidence = two_class_evidence(model, [[1e4], [-1e4]])
    assert evidence.odds.tolist() == [np.inf, 0.0]
    assert evidence.decisions().to_numpy().tolist() == [[True] * 4, [False] * 4]


def test_more_classes_are_refused():
    model = LogisticDiscriminant().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(DataError, match="two classes; it has 3"):
        two_class_evidence(model, [[0.0]])


def test_each_face_decides_by_its_own_bound():
    evidence = TwoClassEvidence(*np.array([[-1.0, 2.0], [0.4, 0.7], [0.9, 1.1], [-0.1, 0.1]]))
    assert evidence.decisions().to_numpy().tolist() == [[False] * 4, [True] * 4]
    assert evidence.table().loc[1].tolist() == [2.0, 0.7, 1.1, 0.1]
