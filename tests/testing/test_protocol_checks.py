"""Learners with one fault each, and the check that must find it."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from verulam.parametric import NaiveBayes
from verulam.testing._protocol_checks import (
    check_constructor,
    check_model_file,
    check_pickling,
    check_same_seed,
    check_scikit_learn,
)


class Unseeded(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.luck_ = np.random.default_rng().random(3)
        return self


class Rounding(GaussianNB):
    def __init__(self, var_smoothing=1e-9):
        self.var_smoothing = str(var_smoothing)


class Busy(GaussianNB):
    def __init__(self, var_smoothing=1e-9):
        self.var_smoothing = var_smoothing
        self.calls = 0


class Forgetful(GaussianNB):
    def __getstate__(self):
        return {**super().__getstate__(), "theta_": self.theta_ + 1}


class Untold(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))


class Overcautious(NaiveBayes):
    _skipped_checks: ClassVar = {"check_estimators_dtypes": "would pass"}


class Lucky(Overcautious):
    _passes_by_chance = frozenset({"check_estimators_dtypes"})


class Misnamed(NaiveBayes):
    _skipped_checks: ClassVar = {"check_that_never_was": "is no check"}


@pytest.mark.parametrize(
    "check",
    [check_scikit_learn, check_constructor, check_same_seed, check_pickling, check_model_file],
)
def test_a_sound_learner_passes(check):
    assert check(NaiveBayes()) is None  # it raises where something is wrong


def test_a_skipped_check_may_pass_by_chance_where_the_class_says_so():
    assert Lucky._skipped_checks == Overcautious._skipped_checks
    check_scikit_learn(Lucky())


@pytest.mark.parametrize(
    ("check", "learner", "message"),
    [
        (check_same_seed, Unseeded(), "luck_"),
        (check_constructor, Rounding(), "the constructor changed 'var_smoothing'"),
        (check_constructor, Busy(), "also set calls"),
        (check_pickling, Forgetful(), "theta_"),
        (check_scikit_learn, Untold(), "n_features_in_"),
        (check_scikit_learn, Overcautious(), "take it out of _skipped_checks"),
        (check_scikit_learn, Misnamed(), "is no check of this learner"),
    ],
)
def test_a_fault_is_found(check, learner, message):
    with pytest.raises(AssertionError, match=message):
        check(learner)


def test_model_files_may_not_name_foreign_types():
    # The class lives in this test module, which no reader of model files should trust.
    with pytest.raises(AssertionError, match="foreign types"):
        check_model_file(Unseeded())
