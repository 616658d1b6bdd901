"""Same seed, same stream, whatever form the seed has."""

from numbers import Integral, Real
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.callback import ProgressBar
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    Density,
    HasMethods,
    InSteps,
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
    safe_indexing,
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


def test_rows_and_columns_of_tables_and_arrays_are_taken_alike():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}, index=[9, 8, 7])
    array = frame.to_numpy()
    for axis, places in ((0, [2, 0]), (1, [1])):
        taken = safe_indexing(frame, places, axis=axis)
        assert isinstance(taken, pd.DataFrame)
        assert_array_equal(taken, safe_indexing(array, places, axis=axis))
        assert_array_equal(taken, array.take(places, axis=axis))


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


class Diary:
    """A callback of scikit-learn's that writes down what it is told."""

    def __init__(self):
        self.lines = []

    def setup(self, estimator, context):
        self.lines.append("setup")

    def teardown(self, estimator, context):
        self.lines.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.lines.append(f"{context.task_name} {context.task_id} of {context.max_subtasks}")

    def on_fit_task_end(self, estimator, context):
        self.lines.append(f"{context.task_name} {context.task_id} done")
        return True


class Walker(InSteps, Classifier):
    """A learner of two starts, each of which takes steps until it has had enough."""

    def __init__(self, n_starts=1, enough=3, falls=False):
        self.n_starts, self.enough, self.falls = n_starts, enough, falls

    @checked_fit
    def fit(self, X, y):
        self.path_ = []
        for start in self._steps(range(self.n_starts), "start", self.n_starts):
            for step in self._steps(range(5), "step", 5):
                self.path_.append((start, step))
                if self.falls:
                    raise ValueError("fell")
                if step + 1 == self.enough:
                    break
        return self


def test_callbacks_are_told_of_each_step_and_end_none():
    diary = Diary()
    walker = Walker().set_callbacks(diary).fit([[0.0]], [0])
    assert walker.path_ == [(0, 0), (0, 1), (0, 2)]
    assert diary.lines == [
        "setup", "fit 0 of 5",
        "step 0 of 0", "step 0 done", "step 1 of 0", "step 1 done", "step 2 of 0", "step 2 done",
        "fit 0 done", "teardown",
    ]  # fmt: skip


def test_of_loops_in_one_another_the_outer_one_is_told():
    diary = Diary()
    Walker(n_starts=2, enough=5).set_callbacks(diary).fit([[0.0]], [0])
    assert [line for line in diary.lines if line.endswith("done")] == [
        "start 0 done", "start 1 done", "fit 0 done"
    ]  # fmt: skip


def test_a_failed_fit_lets_callbacks_go_and_the_next_one_is_told_anew():
    diary = Diary()
    walker = Walker(falls=True).set_callbacks(diary)
    with pytest.raises(ValueError, match="fell"):
        walker.fit([[0.0]], [0])
    assert diary.lines[-1] == "teardown"
    diary.lines.clear()
    walker.set_params(falls=False).fit([[0.0]], [0])
    assert diary.lines[0] == "setup"
    assert diary.lines[-1] == "teardown"


def test_a_pipeline_passes_a_progress_bar_on():
    bar = ProgressBar()
    table, labels = np.arange(6.0)[:, None], np.repeat([0, 1], 3)
    pipeline = make_pipeline(StandardScaler(), Walker()).set_callbacks(bar)
    assert pipeline.fit(table, labels)[-1].path_ == [(0, 0), (0, 1), (0, 2)]


def test_without_callbacks_nothing_is_left_on_the_learner():
    assert set(vars(Walker().fit([[0.0]], [0]))) == {"n_starts", "enough", "falls", "path_"}
