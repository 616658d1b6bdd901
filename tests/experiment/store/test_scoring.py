"""Scores read off a store: one row a planned run, and the numbers of the measures themselves."""

import numpy as np
import pytest
from tests.experiment.analysed import RUNS_OF, changed_copy

from verulam.experiment import LearnerChoice, Store
from verulam.experiment._store.predictions import pooled_predictions
from verulam.experiment._store.scoring import Scorer, planned_runs
from verulam.measures import as_measure


def scored(results, name):
    with Store(results.path, read_only=True) as store:
        return Scorer(store).score(results.study, as_measure(name))


def test_one_row_a_planned_run_in_order(factors):
    with Store(factors.path, read_only=True) as store:
        runs = planned_runs(store, factors.study)
    assert len(runs) == sum(factors.status().values())
    keys = ["learner", "setting", "share", "repeat", "fold"]
    assert runs[keys].apply(tuple, axis=1).is_monotonic_increasing
    assert (runs["fit_seconds"] > 0).all()


def test_what_is_left_has_a_row_without_costs(two, tmp_path):
    command = "DELETE FROM runs WHERE " + RUNS_OF.format("majority class", "= 0")
    results = changed_copy(two, tmp_path / "left.sqlite", command)
    runs = results.runs()
    left = runs[runs["status"] == "left"]
    assert len(left) == 5
    assert left["fit_seconds"].isna().all()
    assert len(runs) == 20


def test_nothing_run_at_all(two, tmp_path):
    runs = changed_copy(two, tmp_path / "none.sqlite", "DELETE FROM runs").runs()
    assert set(runs["status"]) == {"left"}
    assert runs["fit_seconds"].dtype == np.float64


@pytest.mark.parametrize("name", ["error", "accuracy", "balanced_accuracy", "log_loss"])
def test_scores_are_those_of_the_measure(two, name):
    """Folds of iris are equally large, so that the mean of the scores is that of all rows."""
    pooled = pooled_predictions(two, "iris", "parametric.NaiveBayes")
    measure = as_measure(name)
    predicted = pooled.predicted if measure.needs == "labels" else pooled.probabilities
    expected = measure(pooled.targets, predicted, labels=list(pooled.classes))
    runs = two.runs().set_index("run")["learner"]
    found = [v for run, v in scored(two, name).items() if runs[run] == "parametric.NaiveBayes"]
    assert np.mean(found) == pytest.approx(expected, rel=1e-9)


def test_what_predictions_do_not_allow_is_undefined(make_results):
    results = make_results([LearnerChoice("nearest mean")], resampling="2-fold")
    assert np.isnan(list(scored(results, "log_loss").values())).all()
    assert np.isnan(list(scored(results, "r2").values())).all()


def test_other_studies_of_the_store_are_not_scored(two, tmp_path):
    command = "DELETE FROM planned WHERE learner = 'majority class'"
    fewer = changed_copy(two, tmp_path / "fewer.sqlite", command)
    assert len(scored(fewer, "error")) == 10
    assert len(scored(two, "error")) == 20
