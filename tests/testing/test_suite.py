"""The suite runs the checks that a learner's abilities call for, and says which one failed."""

import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from verulam.parametric import NaiveBayes
from verulam.testing import check_learner, learner_checks


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
