"""The suite runs the checks that a learner's abilities call for, and says which one failed."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from verulam.base import Density, OnePass, SumRecord
from verulam.nonparametric import SmoothingSpline
from verulam.parametric import NaiveBayes
from verulam.sequence import MarkovChain
from verulam.testing import check_learner, learner_checks
from verulam.testing._samples import fitted, sample_for
from verulam.testing._suite import (
    assert_same_attributes,
    assert_same_outputs,
    assert_same_values,
    check_categories,
    check_constructor,
    check_dask,
    check_missing_values,
    check_model_file,
    check_pickling,
    check_same_seed,
    check_scikit_learn,
    check_stream,
    check_two_halves,
    check_weights_repeat_rows,
)


def names(learner):
    return {check.name for check in learner_checks(learner)}


def test_abilities_choose_the_checks():
    by_all = {"scikit_learn", "constructor", "same_seed", "pickling", "model_file", "doctest"}
    assert by_all <= names(GaussianNB())
    assert {"missing_values", "categories", "stream", "dask", "two_halves"} <= names(NaiveBayes())
    assert not {"missing_values", "categories", "stream"} & names(LinearRegression())


def test_a_failing_check_is_named():
    class Undocumented(NaiveBayes):
        """Nothing is said about the parameters."""

    with pytest.raises(AssertionError) as caught:
        check_learner(Undocumented())
    assert "Check '" in caught.value.__notes__[0]


def test_checks_leave_the_learner_unfitted():
    learner = NaiveBayes()
    for check in learner_checks(learner)[1:]:
        check(learner)
    assert vars(learner) == vars(clone(learner))
    assert isinstance(learner, ClassifierMixin)


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


class OneColumn(LinearRegression):
    _takes_one_column = True

    def fit(self, X, y):
        super().fit(X, y)
        assert self.n_features_in_ == 1
        return self


def test_learners_of_one_column_are_checked_on_such_tables():
    with pytest.raises(AssertionError) as caught:
        check_scikit_learn(OneColumn())
    failed = {line.partition(":")[0] for line in str(caught.value).splitlines() if "check_" in line}
    assert failed == {"check_n_features_in_after_fitting", "check_regressors_train"}


def test_the_spline_is_excused_from_few_checks_and_for_reasons_of_their_own():
    reasons = SmoothingSpline._skipped_checks
    assert len(reasons) == 3
    assert len(set(reasons.values())) == 3
    check_scikit_learn(SmoothingSpline())


def test_the_chain_is_excused_from_few_checks_and_for_reasons_of_their_own():
    reasons = MarkovChain._skipped_checks
    assert len(reasons) == len(set(reasons.values())) == 3
    check_scikit_learn(MarkovChain())


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


CHECKS = [check_stream, check_dask, check_two_halves]


@dataclass(frozen=True)
class Centre:
    mean: np.ndarray


@dataclass(frozen=True)
class MeanSums(SumRecord):
    count: int
    total: np.ndarray


class Means(OnePass, Density):
    def _statistics(self, chunk, parameters):
        return MeanSums(len(chunk), chunk.inputs.sum(axis=0))

    def _update(self, statistics):
        return Centre(statistics.total / statistics.count)


class MeansOfMeans(Means):
    """A mean of means weighs a short chunk like a long one, and counts chunks, not rows."""

    def _statistics(self, chunk, parameters):
        return MeanSums(1, chunk.inputs.mean(axis=0) ** 2)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("learner", [NaiveBayes(), Means()])
def test_sums_pass(check, learner):
    check(learner)


@pytest.mark.parametrize("check", CHECKS)
def test_what_is_no_sum_is_found(check):
    with pytest.raises(AssertionError, match="mean_"):
        check(MeansOfMeans())


@dataclass(frozen=True)
class Pair:
    left: float
    right: object


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1.0, 1.0 + 1e-12),
        (np.array([1e9, 0.0]), np.array([1e9, 1e-3])),
        (np.array(["a"]), np.array(["a"])),
        (Pair(1.0, [np.zeros(2)]), Pair(1.0, [np.zeros(2)])),
        (pd.Series([1.0]), pd.Series([1.0])),
        (np.array([np.nan, np.inf]), np.array([np.nan, np.inf])),
    ],
)
def test_same(first, second):
    assert_same_values(first, second, where="x", tolerance=1e-8)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1.0, 1.1),
        (1, 1.0),
        (np.array(["a"]), np.array(["b"])),
        (Pair(1.0, [np.zeros(2)]), Pair(1.0, [np.ones(2)])),
        ([1.0], [1.0, 1.0]),
        (pd.Series([1.0]), pd.Series([2.0])),
        (3, 4),
    ],
)
def test_different(first, second):
    with pytest.raises(AssertionError, match="x"):
        assert_same_values(first, second, where="x", tolerance=1e-8)


def test_learners():
    sample = sample_for(GaussianNB())
    first, second = (fitted(GaussianNB(), sample) for _ in range(2))
    assert_same_attributes(first, second)
    second.theta_ = second.theta_ + 1
    with pytest.raises(AssertionError, match="theta_"):
        assert_same_attributes(first, second)
    with pytest.raises(AssertionError, match=r"predict"):
        assert_same_outputs(first, second, sample.inputs)
    del second.theta_
    with pytest.raises(AssertionError, match="fitted attributes differ"):
        assert_same_attributes(first, second)
