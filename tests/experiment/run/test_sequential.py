"""Sequential designs of studies: settings follow from what was found, also after a stop."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.experiment import DataChoice, LearnerChoice, Store, analyse, finalise, make_plan, run
from verulam.measures import Measure

START = {"svm (C=0.001)", "svm (C=1.0)", "svm (C=1000.0)"}


class Parabola(ClassifierMixin, BaseEstimator):
    """Errs on a share of the rows that is quadratic in its parameters, least at 0.3 and 2."""

    def __init__(self, x=0.0, y=2):
        self.x, self.y = x, y

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        loss = 0.1 + 0.5 * (self.x - 0.3) ** 2 + 0.02 * (self.y - 2) ** 2
        return np.tile([1 - loss, loss / 2, loss / 2], (len(X), 1))

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def first_loss(targets, probabilities, labels=None):
    """Return what is promised to the classes after the first, whatever the targets."""
    return float(probabilities[:, 1:].sum(axis=1).mean())


def measured():
    return Measure(
        "promised",
        "what is promised to others",
        "classification",
        False,
        (0.0, 1.0),
        "probabilities",
        first_loss,
        0.0,
    )


def search(factors, path, **design):
    learner = LearnerChoice(
        Parabola(), label="p", factors=factors, design={"kind": "sequential", **design}
    )
    learners = [LearnerChoice("majority class"), learner]
    study = small_study(learners=learners, resampling="2-fold", measures=[measured()])
    return study, run(study, path, engine="serial", progress=False)


def settings_of(results):
    runs = results.runs()
    return set(runs.loc[runs["learner"] == "p", "setting"])


def test_one_step_on_a_quadratic(tmp_path):
    study, results = search({"x": {"low": -1.0, "high": 2.0}}, tmp_path / "r.sqlite")
    assert make_plan(study).table()["setting"].nunique() == 4  # the start, and the majority
    assert settings_of(results) == {"x=-1.0", "x=0.5", "x=2.0", "x=0.3"}
    assert analyse(results).tables["iris"]["mean"].idxmin() == "p (x=0.3)"


def test_several_factors_by_a_surface(tmp_path):
    factors = {"x": {"low": -1.0, "high": 2.0}, "y": {"low": 0, "high": 6}}
    _, results = search(factors, tmp_path / "r.sqlite")
    assert "x=0.3, y=2" in settings_of(results)
    assert len(settings_of(results)) == 10  # nine of the start


def test_what_is_there_is_not_repeated_and_nothing_has_changed(tmp_path):
    path = tmp_path / "r.sqlite"
    study, first = search({"x": {"low": -1.0, "high": 2.0}}, path)
    with Store(path) as store:
        before = dict(store.rows("SELECT run, started FROM runs"))
    again = run(study, path, engine="serial", progress=False)
    assert again.study == first.study
    assert again.changes == ()
    with Store(path) as store:
        assert dict(store.rows("SELECT run, started FROM runs")) == before


def test_the_search_ends_where_it_is_told_to(tmp_path):
    _, results = search({"x": {"low": -1.0, "high": 2.0}}, tmp_path / "r.sqlite", settings=3)
    assert len(settings_of(results)) == 3


def test_a_setting_without_a_response_ends_the_search(tmp_path):
    learner = LearnerChoice(
        "k-nearest neighbours",
        label="knn",
        # More neighbours than rows: the last of the start fails.
        factors={"n_neighbors": {"low": 1, "high": 999}},
        design="sequential",
    )
    study = small_study(learners=[learner], resampling="2-fold")
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    assert results.status() == {"done": 2, "failed": 4}


def test_a_found_setting_can_be_finalised(tmp_path):
    learner = LearnerChoice(
        "support vector machine",
        label="svm",
        factors={"C": {"low": 0.001, "high": 1000.0, "scale": "log"}},
        design={"kind": "sequential", "settings": 4},
    )
    study = small_study(learners=[learner], resampling="2-fold")
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    (added,) = [name for name in analyse(results).tables["iris"].index if name not in START]
    ended = finalise(results, added, path=tmp_path / "m.skops")
    assert str(ended.card.parameters["C"]) in added


def test_one_data_set_only():
    learner = LearnerChoice(
        Parabola(), factors={"x": {"low": 0.0, "high": 1.0}}, design="sequential"
    )
    with pytest.raises(
        DataError, match=r"design: a sequential design looks for .* the study has 2"
    ):
        small_study(data=[DataChoice("iris"), DataChoice("wine")], learners=[learner])
