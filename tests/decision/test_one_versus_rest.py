"""OneVersusRestReject: none or several hypotheses reject, one decides."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from verulam.decision import OneVersusRestReject


class BoxLearner(ClassifierMixin, BaseEstimator):
    """The tightest box around the positive instances."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        inside = np.asarray(X)[np.asarray(y) == 1]
        self.low_, self.high_ = inside.min(axis=0), inside.max(axis=0)
        return self

    def predict(self, X):
        return ((self.low_ <= X) & (self.high_ >= X)).all(axis=1).astype(int)


def test_cars_outside_all_boxes_or_inside_two_are_rejected():
    X = np.array([[1, 1], [3, 3], [2.5, 2.5], [5, 5], [8, 1], [9, 2.0]])
    cars = OneVersusRestReject(BoxLearner(), reject_label="?")
    cars.fit(X, ["family", "family", "sports", "sports", "luxury", "luxury"])
    queries = np.array([[2, 2], [2.8, 2.8], [4, 4], [8.5, 1.5], [0, 9]])
    assert_array_equal(cars.predict(queries), ["family", "?", "sports", "luxury", "?"])
    assert_array_equal(cars.fires(queries).sum(axis=1), [1, 2, 1, 1, 0])


def test_agrees_with_scikit_learn_where_exactly_one_fires():
    X, y = load_iris(return_X_y=True)
    ours = OneVersusRestReject(LogisticRegression(), reject_label=-1).fit(X, y)
    theirs = OneVsRestClassifier(LogisticRegression()).fit(X, y)
    answers, decided = ours.predict(X), ours.fires(X).sum(axis=1) == 1
    assert 0 < decided.sum() < len(X)
    assert_array_equal(answers[decided], theirs.predict(X)[decided])
    assert (answers[~decided] == -1).all()


def test_weights_reach_every_hypothesis():
    X, y = [[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]
    stump = OneVersusRestReject(DecisionTreeClassifier(max_depth=1), reject_label=-1)
    assert stump.fit(X, y, sample_weight=[1, 9, 1, 1]).predict([[1.0]]) == 0
    assert stump.fit(X, y, sample_weight=[1, 1, 9, 1]).predict([[1.0]]) == 1


def test_bad_input_is_refused():
    learner = OneVersusRestReject(LogisticRegression(), reject_label=1)
    with pytest.raises(ValueError, match="reject_label=1 is one of the classes"):
        learner.fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="y has 1 class"):
        learner.fit([[0.0], [1.0]], [0, 0])
