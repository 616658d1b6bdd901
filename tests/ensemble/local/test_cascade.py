"""Cascades: stages, thresholds, refusals, exceptions, costs."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression

from verulam.base import DataError
from verulam.data import dataset
from verulam.ensemble import CascadeClassifier, CascadeRegressor, Coverage
from verulam.nonparametric import KNeighborsClassifier
from verulam.parametric import NaiveBayes
from verulam.tree import DecisionTreeClassifier

TITANIC = dataset("titanic")
X, Y = TITANIC.inputs, np.asarray(TITANIC.target_values)
PARTS = [("bayes", NaiveBayes()), ("tree", DecisionTreeClassifier(min_samples_leaf=5))]


def test_a_threshold_of_zero_uses_the_first_member_alone():
    cascade = CascadeClassifier(PARTS, thresholds=0.0, random_state=0).fit(X, Y)
    first = cascade.estimators_[0][1]
    assert (cascade.predict(X) == first.predict(X)).all()
    assert cascade.evaluations_ == 1
    assert (cascade.stages(X) == 0).all()


def test_the_first_confident_stage_answers_and_equality_passes_on():
    cascade = CascadeClassifier(PARTS, thresholds=0.9, random_state=0).fit(X, Y)
    (_, first), (_, second) = cascade.estimators_
    sure = first.predict_proba(X).max(axis=1) > 0.9
    expected = np.where(sure, first.predict(X), second.predict(X))
    assert (cascade.predict(X) == expected).all()
    assert (cascade.stages(X) == np.where(sure, 0, 1)).all()
    assert (cascade.evaluations(X) == np.where(sure, 1, 2)).all()
    edge = float(first.predict_proba(X).max(axis=1)[0])
    cascade.thresholds_ = np.array([edge, 0.99])
    assert cascade.stages(X)[0] == 1


def test_a_stage_is_taught_with_held_out_rows_that_the_one_before_was_unsure_of():
    taught = []

    class Spy(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            taught.append(X.index.to_numpy())
            return super().fit(X, y, sample_weight)

    class First(NaiveBayes):
        def fit(self, X, y=None, sample_weight=None):
            taught.append(X.index.to_numpy())
            return super().fit(X, y, sample_weight)

    cascade = CascadeClassifier([First(), Spy()], thresholds=0.9, random_state=0).fit(X, Y)
    first_rows, second_rows = taught
    assert not set(first_rows) & set(second_rows)
    confidence = cascade.estimators_[0][1].predict_proba(X.loc[second_rows]).max(axis=1)
    assert (confidence <= 0.9).all()
    assert cascade.n_taught_ == [len(first_rows), len(second_rows)]
    assert len(first_rows) == pytest.approx(0.7 * len(X), abs=3)


def test_rows_of_which_nobody_is_sure_are_refused_or_go_to_the_exceptions():
    reject = CascadeClassifier(
        PARTS, thresholds=[0.9, 0.95], remainder="reject", random_state=0
    ).fit(X, Y)
    refused = reject.predict(X) == "reject"
    assert 0 < refused.mean() < 1
    assert (refused == (reject.stages(X) == 2)).all()
    store = CascadeClassifier(
        PARTS, thresholds=[0.9, 0.95], remainder="exceptions", random_state=0
    ).fit(X, Y)
    inputs, labels = store.exceptions_
    assert len(inputs) == len(labels) > 0
    left = store.stages(X) == 2
    neighbours = store.exception_learner_
    assert (store.predict(X)[left] == neighbours.predict(X[left])).all()
    known = store.stages(inputs) == 2
    assert (store.predict(inputs)[known] == labels[known]).all()


def test_coverage_costs_and_order():
    cascade = CascadeClassifier(PARTS, thresholds=0.9, costs=[3.0, 1.0], random_state=0).fit(X, Y)
    assert [name for name, _ in cascade.estimators_] == ["tree", "bayes"]
    report = cascade.coverage(X, Y)
    assert isinstance(report, Coverage)
    assert report.shares.sum() == pytest.approx(1)
    assert report.costs.tolist() == [1.0, 4.0, 4.0]
    assert report.cost == pytest.approx(report.shares @ report.costs)
    answered = cascade.stages(X) == 0
    assert report.errors[0] == pytest.approx((cascade.predict(X)[answered] != Y[answered]).mean())
    assert np.isnan(report.errors[2])
    assert report.to_frame().index.tolist() == ["tree", "bayes", "left over"]


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        ([0.9, 0.8], "must not fall"),
        ([0.9], "or 2: one for each"),
        ([0.9, 1.0], "between 0 and 1"),
        (0.4, "above 1 / n_classes = 0.5"),
    ],
)
def test_thresholds_out_of_order_are_refused(thresholds, message):
    with pytest.raises(DataError, match=message):
        CascadeClassifier(PARTS, thresholds=thresholds).fit(X, Y)


def test_wrong_costs_are_refused():
    with pytest.raises(DataError, match="costs must be 2"):
        CascadeClassifier(PARTS, costs=[1.0]).fit(X, Y)


def test_small_data_end_the_cascade_early():
    rows, labels = np.arange(8.0)[:, None], [0, 1] * 4
    cascade = CascadeClassifier([NaiveBayes(), KNeighborsClassifier(n_neighbors=5)], random_state=0)
    assert len(cascade.fit(rows, labels).estimators_) == 1


def test_regressors_pass_on_what_they_are_not_sure_of():
    random = np.random.default_rng(0)
    rows = np.sort(random.uniform(0, 1, size=60))[:, None]
    targets = np.sin(8 * rows[:, 0])
    stages = [("process", GaussianProcessRegressor(alpha=0.01)), ("line", LinearRegression())]
    cascade = CascadeRegressor(stages, thresholds=0.08, random_state=0).fit(rows, targets)
    fresh = np.linspace(-0.5, 1.5, 41)[:, None]
    process = cascade.estimators_[0][1]
    mean, deviation = process.predict(fresh, return_std=True)
    line = cascade.estimators_[1][1].predict(fresh)
    assert np.allclose(cascade.predict(fresh), np.where(deviation < 0.08, mean, line))
    assert (cascade.evaluations(fresh) == np.where(deviation < 0.08, 1, 2)).all()
    assert set(cascade.evaluations(fresh)) == {1, 2}


def test_bags_say_how_sure_they_are_and_half_pass_on_by_default():
    mpg = dataset("auto_mpg")
    cascade = CascadeRegressor(random_state=0).fit(mpg.inputs, mpg.target_values)
    assert cascade.evaluations_ == pytest.approx(1.5, abs=0.01)
    values = cascade.estimators_[0][1].member_outputs(mpg.inputs).values[:, :, 0]
    assert cascade.thresholds_[0] == pytest.approx(np.median(values.std(axis=0)))
    with pytest.raises(DataError, match="1 deviations of 0 or more"):
        CascadeRegressor(thresholds=[1.0, 2.0]).fit(mpg.inputs, mpg.target_values)
