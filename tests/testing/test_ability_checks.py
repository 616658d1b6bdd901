"""Abilities that are claimed and not there."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from verulam.parametric import NaiveBayes
from verulam.testing._ability_checks import (
    check_categories,
    check_missing_values,
    check_weights_repeat_rows,
)


class Weightless(LinearRegression):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


class Gaps(NaiveBayes):
    def predict_proba(self, X):
        return np.full((len(X), 3), np.nan)


@pytest.mark.parametrize("learner", [LinearRegression(), GaussianNB(), NaiveBayes()])
def test_weights_that_repeat_rows_pass(learner):
    check_weights_repeat_rows(learner)


def test_ignored_weights_are_found():
    with pytest.raises(AssertionError, match=r"predict\(\)"):
        check_weights_repeat_rows(Weightless())


def test_missing_values():
    check_missing_values(DecisionTreeClassifier())
    with pytest.raises(ValueError, match="NaN"):
        check_missing_values(GaussianNB())


def test_missing_answers_are_found():
    with pytest.raises(AssertionError, match="predict_proba: missing answers"):
        check_missing_values(Gaps())


def test_categories():
    check_categories(NaiveBayes())
    with pytest.raises(ValueError, match="could not convert string to float"):
        check_categories(DecisionTreeClassifier())
