"""Same seed, same stream, whatever form the seed has."""

from numbers import Integral, Real
from typing import get_args

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    Density,
    HasMethods,
    Interval,
    MetaEstimatorMixin,
    Options,
    OutlierDetector,
    Regressor,
    Seed,
    StrOptions,
    available_if,
    check_classification_targets,
    check_is_fitted,
    check_parameters,
    check_weights,
    checked_fit,
    checked_fit_with_parts,
    column_or_1d,
    generator,
    has_fit_parameter,
    is_classifier,
    is_regressor,
    spawn_seeds,
)


def test_an_integer_gives_the_same_stream_each_time():
    assert_array_equal(generator(3).random(5), generator(3).random(5))


def test_a_generator_is_used_as_it_is():
    random = np.random.default_rng(1)
    assert generator(random) is random


def test_a_legacy_state_is_advanced():
    state = np.random.RandomState(0)
    assert not np.array_equal(generator(state).random(3), generator(state).random(3))


def test_spawned_seeds_differ_and_repeat():
    seeds = spawn_seeds(0, 10)
    assert len(set(seeds)) == 10
    assert seeds == spawn_seeds(0, 10)


class Majority(Classifier):
    _parameter_constraints = {  # noqa: RUF012 - as learners declare it
        "share": [Interval(Real, 0, 1, closed="both")],
        "ties": [StrOptions({"first", "last"})],
        "size": [Options(Integral, {1, 2})],
        "part": [HasMethods(["fit"]), None],
        "random_state": RANDOM_STATE,
    }

    def __init__(self, share=0.5, ties="first", size=1, part=None, random_state=None):
        self.share = share
        self.ties = ties
        self.size = size
        self.part = part
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y, sample_weight=None):
        check_classification_targets(y)
        labels = column_or_1d(y)
        self.weights_ = check_weights(sample_weight, np.asarray(X))
        self.classes_ = np.unique(labels)
        return self

    @available_if(lambda learner: learner.ties == "last")
    def last(self):
        check_is_fitted(self)
        return self.classes_[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [("share", 2.0), ("ties", "never"), ("size", 3), ("part", "tree"), ("random_state", "now")],
)
def test_constraints_are_checked_by_fit_and_before_it(name, value):
    learner = Majority(**{name: value})
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Majority must be"):
        learner.fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Majority must be"):
        check_parameters(learner)


def test_targets_weights_and_methods_that_depend_on_a_parameter():
    with pytest.raises(ValueError, match="Unknown label type"):
        Majority().fit([[0], [1]], [0.5, 1.5])
    with pytest.raises(ValueError, match="y should be a 1d array"):
        Majority().fit([[0], [1]], [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="Negative values"):
        Majority().fit([[0], [1]], [0, 1], [-1.0, 1.0])
    assert Majority().fit([[0], [1]], [0, 1]).weights_ is None
    assert not hasattr(Majority(), "last")
    with pytest.raises(NotFittedError):
        Majority(ties="last").last()
    assert Majority(ties="last").fit([[0], [1]], ["a", "b"]).last() == "b"


def test_a_learner_around_a_learner_lets_it_check_itself():
    class Around(MetaEstimatorMixin, Classifier):
        _parameter_constraints = {"estimator": [HasMethods(["fit"])]}  # noqa: RUF012 - as above

        def __init__(self, estimator):
            self.estimator = estimator

        @checked_fit_with_parts
        def fit(self, X, y):
            self.estimator.fit(X, y)
            return self

    with pytest.raises(ValueError, match="'share' parameter of Majority"):
        Around(Majority(share=2.0)).fit([[0], [1]], [0, 1])


def test_kinds_of_learner():
    assert is_classifier(Majority())
    assert not is_regressor(Majority())
    assert is_regressor(Regressor())
    assert has_fit_parameter(Majority(), "sample_weight")
    assert np.random.Generator in get_args(Seed)

    class Half(Density):
        def score_samples(self, X):
            return np.full(len(X), np.log(0.5))

    assert Half().score([[0], [1]]) == pytest.approx(2 * np.log(0.5))

    class Far(OutlierDetector):
        def fit(self, X, y=None):
            return self

        def predict(self, X):
            return np.where(np.abs(np.ravel(X)) > 3, -1, 1)

    assert Far().fit_predict([[0.0], [9.0]]).tolist() == [1, -1]


def test_arguments_that_passed_once_are_not_checked_again(monkeypatch):
    counts = []
    general = BaseEstimator._validate_params
    monkeypatch.setattr(
        BaseEstimator, "_validate_params", lambda self: (counts.append(1), general(self))
    )
    share = 0.123
    for _ in range(3):
        Majority(share=share).fit([[0], [1]], [0, 1])
    assert len(counts) == 1
    # A generator has a state, and is looked at each time; so is what was refused.
    for _ in range(2):
        Majority(share=share, random_state=np.random.default_rng(0)).fit([[0], [1]], [0, 1])
        with pytest.raises(ValueError, match="'share'"):
            Majority(share=-share).fit([[0], [1]], [0, 1])
    assert len(counts) == 5


def test_equal_arguments_of_another_type_are_checked():
    Majority(size=1).fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="'size'"):
        Majority(size=1.0).fit([[0], [1]], [0, 1])


def test_fitted_or_not():
    with pytest.raises(NotFittedError, match="This Majority instance is not fitted yet"):
        check_is_fitted(Majority())
    learner = Majority().fit([[0], [1]], [0, 1])
    check_is_fitted(learner)
    with pytest.raises(NotFittedError):
        check_is_fitted(learner, "coef_")
