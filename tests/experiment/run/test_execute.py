"""One run: predictions and costs, or a row that says what went wrong."""

import sys
import time
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from tests.experiment.studies import small_study, with_trouble

from verulam.catalogue import entries
from verulam.data import dataset
from verulam.experiment import DataChoice, LearnerChoice, make_plan, run
from verulam.experiment._run import execute as _execution
from verulam.experiment._run.execute import clear_places, execute, seeded, tells_labels
from verulam.neural import MLPClassifier
from verulam.neural._network import network
from verulam.nonparametric import KNeighborsClassifier
from verulam.parametric import NaiveBayes
from verulam.tree import DecisionTreeClassifier


def first_run(study, label):
    plan = make_plan(study)
    for each in plan.runs:
        if plan.contestants[each.data][each.contestant].label == label:
            return plan, each
    raise AssertionError(label)


def test_predictions_are_those_of_the_learner():
    learner = LearnerChoice(GaussianNB(), label="mine")
    plan, run = first_run(small_study(learners=[learner]), "mine")
    outcome = execute(plan, run)
    data = plan.data[0]
    fitted = GaussianNB().fit(data.inputs.iloc[run.split.train], data.targets[run.split.train])
    test = data.inputs.iloc[run.split.test]
    assert outcome.status == "done"
    assert_array_equal(np.unique(data.targets)[outcome.predictions["values"]], fitted.predict(test))
    assert_allclose(outcome.predictions["probabilities"], fitted.predict_proba(test))
    assert outcome.fit_seconds > 0
    assert outcome.model_size > 100


def of_classes_with_probabilities():
    names = {item.name: item for item in entries() if item.abilities.task == "classification"}
    return [item for item in names.values() if tells_labels(item.example())]


def test_an_interrupt_is_no_result(monkeypatch):
    # By itself a network would keep its best weights, and the run would count as done.
    learner = LearnerChoice(MLPClassifier(3, max_iter=5), label="network")
    plan, run = first_run(small_study(learners=[learner]), "network")

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(network, "finish_gradient", interrupt)
    with pytest.raises(KeyboardInterrupt):
        execute(plan, run)


def even_and_uneven_tables():
    """Return tables on which classes are easily told apart, and on which they are often tied."""
    rng = np.random.default_rng(0)
    iris = dataset("iris")
    yield iris.inputs.to_numpy(), np.asarray(iris.target_values).astype(str)
    yield rng.integers(3, size=(120, 2)).astype(float), rng.choice(["a", "b", "c"], 120)
    yield np.tile([[0.0], [1.0]], (20, 1)), np.repeat(["a", "b"], 20)


@pytest.mark.parametrize("item", of_classes_with_probabilities(), ids=lambda item: item.name)
def test_labels_from_probabilities_are_those_of_predict(item):
    for inputs, labels in even_and_uneven_tables():
        learner = seeded(item.example(), 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner.fit(inputs, labels)
            places = clear_places(learner, learner.predict_proba(inputs))
        if places is not None:
            assert_array_equal(learner.classes_[places], learner.predict(inputs))


def test_most_contestants_of_a_comparison_are_asked_once():
    asked = {item.name for item in of_classes_with_probabilities()}
    assert {
        "majority class", "parametric.NaiveBayes", "logistic regression", "decision tree",
        "k-nearest neighbours", "ensemble.RandomForestClassifier", "tree.DecisionTreeClassifier",
    } <= asked  # fmt: skip


class Contrary(NaiveBayes):
    """Predicts the least probable class."""

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmin(axis=1)]


@pytest.mark.parametrize(
    "learner",
    [
        Contrary(),
        DummyClassifier(strategy="stratified"),
        DecisionTreeClassifier(loss=np.ones((3, 3)) - np.eye(3)),
        DummyRegressor(),
    ],
    ids=repr,
)
def test_others_are_asked_themselves(learner):
    assert not tells_labels(learner)


def test_near_ties_are_left_to_predict():
    inputs, labels = np.zeros((4, 1)), np.array(["a", "b", "a", "b"])
    learner = KNeighborsClassifier(n_neighbors=4).fit(inputs, labels)
    assert clear_places(learner, learner.predict_proba(inputs)) is None
    assert clear_places(learner, np.array([[0.5 + 1e-9, 0.5 - 1e-9]])) is None
    assert_array_equal(clear_places(learner, np.array([[0.4, 0.6]])), [1])


def test_a_contestant_is_not_asked_twice(monkeypatch):
    plan, run = first_run(small_study(learners=[LearnerChoice("naive bayes", label="b")]), "b")
    before = execute(plan, run)
    monkeypatch.setattr(
        NaiveBayes, "predict", lambda *_: pytest.fail("asked for labels"), raising=False
    )
    monkeypatch.setattr(_execution, "_definer", lambda *_: "verulam.numerics.PosteriorMixin")
    after = execute(plan, run)
    assert after.status == "done"
    assert_array_equal(after.predictions["values"], before.predictions["values"])


def test_numbers_are_predicted_for_numbers():
    study = small_study(
        data=[DataChoice("diabetes")], learners=[LearnerChoice("mean predictor", label="m")]
    )
    plan, run = first_run(study, "m")
    outcome = execute(plan, run)
    assert_allclose(outcome.predictions["values"], plan.data[0].targets[run.split.train].mean())


@pytest.mark.parametrize(
    ("how", "stage", "error"),
    [
        ("raise", "fit", "RuntimeError: out of luck"),
        ("shape", "predict", r"ValueError: predict gave shape (75, 2) for 75 rows."),
        ("label", "predict", "ValueError: predict gave labels that the data set does not have."),
        ("nan", "predict", "ValueError: predict gave NaN."),
    ],
)
def test_failures_are_rows(how, stage, error):
    outcome = execute(*first_run(with_trouble(how), "trouble"))
    assert (outcome.status, outcome.stage, outcome.error) == ("failed", stage, error)
    assert not outcome.predictions


def test_seeds_reach_nested_learners_and_spare_given_ones():
    pipeline = make_pipeline(RandomForestClassifier())
    assert seeded(pipeline, 5).get_params()["randomforestclassifier__random_state"] == 5
    assert seeded(RandomForestClassifier(random_state=1), 5).random_state == 1


def test_first_use_is_not_timed(monkeypatch):
    """Imports and compilers run once, before the clock does."""
    clock = [0.0]
    monkeypatch.setattr(_execution, "perf_counter", lambda: clock[0])

    class Slow(GaussianNB):
        calls = 0

        def fit(self, X, y):
            type(self).calls += 1
            clock[0] += 300.0 if type(self).calls == 1 else 0.25
            return super().fit(X, y)

    study = small_study(learners=[LearnerChoice(Slow(), label="slow")])
    outcome = execute(*first_run(study, "slow"))
    assert Slow.calls == 2
    assert outcome.fit_seconds == 0.25


def test_pipelines_of_one_step():
    learner = LearnerChoice(make_pipeline(GaussianNB()), label="one step")
    alone = LearnerChoice(GaussianNB(), label="alone")
    study = small_study(learners=[learner, alone])
    outcomes = [execute(*first_run(study, label)) for label in ("one step", "alone")]
    assert [each.status for each in outcomes] == ["done", "done"]


class Unsavable(GaussianNB):
    """Cannot be pickled, for a reason of its own."""

    def __reduce__(self):
        raise RuntimeError("not to be saved")


def test_a_learner_that_cannot_be_saved_has_no_size():
    study = small_study(learners=[LearnerChoice(Unsavable(), label="unsavable")])
    outcome = execute(*first_run(study, "unsavable"))
    assert outcome.status == "done"
    assert np.isnan(outcome.model_size)


class WarnsOfFewRows(GaussianNB):
    """Warns of as few rows as the first use has."""

    def fit(self, X, y):
        if len(X) <= 60:
            warnings.warn("few rows", stacklevel=1)
        return super().fit(X, y)


def test_warnings_of_the_first_use_are_not_those_of_the_run():
    study = small_study(learners=[LearnerChoice(WarnsOfFewRows(), label="warns")])
    assert execute(*first_run(study, "warns")).warning == ""
    few = small_study(
        learners=[LearnerChoice(WarnsOfFewRows(), label="warns")], training_shares=[0.4]
    )
    assert execute(*first_run(few, "warns")).warning == "UserWarning: few rows"


class Doubtful(GaussianNB):
    """Gives probabilities that are none."""

    def predict_proba(self, X):
        return np.full((len(X), 3), np.nan)


class Endless(DummyRegressor):
    """Predicts what is no number to work with."""

    def predict(self, X):
        return np.full(len(X), np.inf)


@pytest.mark.parametrize(
    ("data", "learner", "error"),
    [
        ("iris", Doubtful(), "ValueError: predict_proba gave NaN or infinity."),
        ("diabetes", Endless(), "ValueError: predict gave NaN or infinity."),
    ],
)
def test_predictions_that_are_no_numbers(data, learner, error):
    choice = LearnerChoice(learner, label="trouble")
    study = small_study(data=[DataChoice(data)], learners=[choice], resampling="2-fold")
    outcome = execute(*first_run(study, "trouble"))
    assert (outcome.status, outcome.stage, outcome.error) == ("failed", "predict", error)


def test_a_class_with_fewer_rows_than_folds(tmp_path):
    table = dataset("iris").table.iloc[:104]
    study = small_study(data=[DataChoice(table, target="species", label="few")])
    plan = make_plan(study)
    assert plan.notices == ("Not every fold tests every class: class 'virginica' has only 4 rows.",)
    results = run(plan, tmp_path / "r.sqlite", engine="serial", progress=False)
    assert results.status() == {"done": 10}


class Heavy(DummyClassifier):
    """Takes time and memory that are known, in fitting and in predicting."""

    def fit(self, X, y):
        time.sleep(0.06)
        self.weight_ = np.ones(40 * 2**20 // 8)  # 40 MB, each page of it touched
        return super().fit(X, y)

    def predict(self, X):
        time.sleep(0.03)
        return super().predict(X)


@pytest.mark.skipif(sys.platform != "linux", reason="the high-water mark is one of Linux")
def test_time_memory_and_size_are_measured():
    study = small_study(
        learners=[LearnerChoice(Heavy(), label="heavy"), LearnerChoice("majority class")]
    )
    for _ in range(2):  # again the same, give or take what else the machine does
        heavy = execute(*first_run(study, "heavy"))
        lights = [execute(*first_run(study, "majority class")) for _ in range(3)]
        light = lights[-1]
        assert 0.06 <= heavy.fit_seconds < 3.0
        assert 0.03 <= heavy.predict_seconds < 3.0
        assert 35.0 < heavy.peak_memory < 400.0
        assert heavy.model_size > 40e6 > 1e5 > light.model_size > 0
        # The machine may be busy with something else now and then, but not all the time.
        assert 0 < min(each.fit_seconds for each in lights) < heavy.fit_seconds
        assert 0 < min(each.predict_seconds for each in lights) < heavy.predict_seconds
        assert 0 <= light.peak_memory < heavy.peak_memory / 2


class Greedy(GaussianNB):
    """Needs memory for a while in every fit, and very much of it at first use."""

    def fit(self, X, y):
        size = 200 if len(X) <= 60 else 8
        self.sum_ = float(np.ones(size * 2**20 // 8).sum())
        small = [np.ones(2**10) for _ in range(8 * size)]  # from the heap, not pages of their own
        self.sum_ += sum(float(part.sum()) for part in small)
        return super().fit(X, y)


@pytest.mark.skipif(sys.platform != "linux", reason="the high-water mark is one of Linux")
def test_memory_is_that_of_the_run_alone():
    """Neither the first use counts, nor do earlier runs hide what a later one needs."""
    study = small_study(learners=[LearnerChoice(Greedy(), label="greedy")])
    plan = make_plan(study)
    grown = [execute(plan, each).peak_memory for each in plan.runs]
    assert min(grown) > 7.0
    assert max(grown) < 60.0
