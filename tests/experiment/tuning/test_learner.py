"""A learner that tunes itself: as a search by hand would, on its own rows alone."""

from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from verulam.base import DataError, clone
from verulam.design import Factor
from verulam.experiment import TunedLearner, Tuning, resampling
from verulam.experiment._tuning.learner import _balanced_order, tuning_record

NEIGHBOURS = (Factor("n_neighbors", (1, 5, 25, 60)),)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_scores_are_those_of_cross_validation_on_the_same_parts(iris):
    tuned = TunedLearner(KNeighborsClassifier(), NEIGHBOURS, folds=4, split_seed=3).fit(*iris)
    drawn = resampling("4-fold").draw(iris[1], seed=3, task="classification")
    parts = [(split.train, split.test) for split in drawn]
    assert len(tuned.trials_) == 4
    for trial in tuned.trials_:
        learner = KNeighborsClassifier(**trial.setting)
        assert trial.loss == pytest.approx(1 - cross_val_score(learner, *iris, cv=parts).mean())
    assert tuned.best_score_ == min(trial.loss for trial in tuned.trials_)
    assert tuned.n_fits_ == 4 * 4 + 1
    again = KNeighborsClassifier(**tuned.best_setting_).fit(*iris)
    assert_array_equal(tuned.predict_proba(iris[0]), again.predict_proba(iris[0]))
    assert_array_equal(tuned.classes_, [0, 1, 2])


def test_regression_by_a_measure_that_grows():
    X, y = load_diabetes(return_X_y=True)
    space = (Factor("alpha", (1e-3, 1e3), "log"),)
    tuned = TunedLearner(Ridge(), space, budget=6, measure="r2", random_state=1).fit(X, y)
    record = tuning_record(tuned)
    assert record.score == tuned.best_score_ == max(score for _, _, score in record.trials)
    assert 0.3 < record.score < 0.6
    assert (record.measure, record.settings, record.fits) == ("r2", 6, 19)
    assert not hasattr(tuned, "predict_proba")


def test_pipelines_are_fitted_as_a_whole_and_named_without_their_prefix(iris):
    pipeline = make_pipeline(StandardScaler(), SVC())
    tuned = TunedLearner(pipeline, (Factor("C", (0.1, 10.0), "log"),), budget=2, prefix="svc__")
    tuned = clone(tuned).set_params(random_state=0).fit(*iris)
    assert tuned.best_setting_["C"] == tuned.best_estimator_[-1].C
    assert tuned.decision_function(iris[0]).shape == (150, 3)


def test_learners_without_probabilities_are_judged_by_error(iris):
    space = (Factor("C", (0.1, 10.0), "log"),)
    assert TunedLearner(SVC(), space, budget=1, measure="log_loss").fit(*iris).measure_.name == (
        "error"
    )
    tuned = TunedLearner(GaussianNB(), (Factor("var_smoothing", (1e-9, 0.1), "log"),), budget=1)
    assert tuned.set_params(measure="log_loss").fit(*iris).measure_.name == "log_loss"


class Watched(KNeighborsClassifier):
    """Notes which rows it learnt from together, by the first column."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        self.seen.append(set(X[:, 0]))
        return super().fit(X, y)


def test_groups_are_not_torn_apart(iris):
    X = np.column_stack([np.arange(150), iris[0]])
    groups = np.arange(150) // 10
    Watched.seen.clear()
    TunedLearner(Watched(), NEIGHBOURS).fit(X, iris[1], groups=groups)
    assert len(Watched.seen) == 13
    for rows in Watched.seen:
        of_group = np.bincount(groups[list(map(int, rows))], minlength=15)
        assert set(of_group) <= {0, 10}


def test_a_class_with_a_single_row(iris):
    rows = np.arange(101)
    tuned = TunedLearner(KNeighborsClassifier(), NEIGHBOURS, measure="log_loss")
    tuned.fit(iris[0][rows], iris[1][rows])
    assert np.isfinite(tuned.best_score_)


def test_settings_that_fail_are_passed_over(iris):
    space = (Factor("n_neighbors", (5, 140)),)
    tuned = TunedLearner(KNeighborsClassifier(140), space).fit(*iris)
    assert tuned.best_setting_ == {"n_neighbors": 5}
    assert [score is None for _, _, score in tuning_record(tuned).trials] == [True, False]
    with pytest.raises(DataError, match=r"None of 1 settings .* The last one: ValueError: .*140"):
        TunedLearner(KNeighborsClassifier(140), space[:0], budget=1).fit(*iris)


def test_settings_that_fail_cost_as_many_fits_as_others(iris):
    """Too many neighbours for a ninth of the rows, while as many fits were promised to all."""
    space = (Factor("n_neighbors", tuple(range(3, 60))),)
    tuned = TunedLearner(
        KNeighborsClassifier(), space, method="successive halving", budget=4, folds=2
    ).fit(*iris)
    assert any(np.isnan(trial.loss) for trial in tuned.trials_)
    assert tuned.n_fits_ == Tuning("successive halving", budget=4, folds=2).fits == 27


def test_smaller_shares_keep_the_classes_and_are_parts_of_larger_ones():
    codes = np.repeat([0, 1, 2], [60, 30, 10])
    order = _balanced_order(codes, np.random.default_rng(0))
    assert sorted(order) == list(range(100))
    for count in (10, 20, 50):
        assert_array_equal(np.bincount(codes[order[:count]]), np.array([6, 3, 1]) * count / 10)
