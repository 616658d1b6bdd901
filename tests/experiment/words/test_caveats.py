"""Notes and caveats."""

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import LinearSVC
from tests.experiment.analysed import RUNS_OF, changed_copy
from tests.experiment.studies import Fickle, small_study

from verulam.data import Dataset
from verulam.experiment import LearnerChoice, Results, analyse, compare, run
from verulam.experiment._words.caveats import (
    ABOUT_THESE_DATA,
    failure_lines,
    race_sentence,
    run_caveats,
    shortened,
    tuning_notes,
)


def test_complete_studies_have_no_notes(two):
    assert analyse(two).notes == ()


def test_runs_left(two, tmp_path):
    command = "DELETE FROM runs WHERE " + RUNS_OF.format("majority class", "= 0")
    notes = analyse(changed_copy(two, tmp_path / "copy.sqlite", command)).notes
    assert notes[0].startswith("5 of 20 runs are left")
    assert "majority class lacks 5 of 10 splits" in notes[1]


def test_failures_are_counted_by_kind(two, tmp_path):
    command = (
        "UPDATE runs SET status = 'failed', error = 'ValueError: no luck' WHERE "
        + RUNS_OF.format("majority class", "= 1")
    )
    changed = changed_copy(two, tmp_path / "copy.sqlite", command)
    assert failure_lines(changed.failures()) == [
        "majority class: 5 runs failed, ValueError: no luck"
    ]
    assert failure_lines(two.failures()) == []


def test_caveats_come_from_splits_tests_and_sense(two):
    caveats = analyse(two).caveats
    assert any("training sets overlap" in text for text in caveats)
    assert caveats[-1] == ABOUT_THESE_DATA
    assert all(text[0].isupper() and text.endswith(".") for text in caveats)
    assert len(set(caveats)) == len(caveats)
    assert sum("overlap" in text for text in caveats) == 1


def test_long_errors_are_cut():
    assert shortened("x" * 200, 10) == "xxxxxxx..."
    assert shortened("short") == "short"


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """Return a study in which two learners are tuned, one of few settings, and one is not."""
    learners = [
        LearnerChoice("majority class"),
        LearnerChoice("k-nearest neighbours"),
        LearnerChoice("nearest mean", tune={"metric": ["euclidean", "mahalanobis"]}),
    ]
    study = small_study(learners=learners, resampling="2-fold", tuning={"budget": 3, "folds": 2})
    path = tmp_path_factory.mktemp("tuned") / "r.sqlite"
    return run(study, path, engine="serial", progress=False)


def test_what_was_tuned_and_how_much_each_got(tuned):
    title, *lines = tuning_notes(Results(tuned.path))
    assert title == (
        "Tuned by random search within the training rows, with a budget of 3 settings in 2 folds "
        "(7 fits a run)."
    )
    by_learner = {line.partition(":")[0]: line for line in lines[:-1]}
    assert "n_neighbors, weights tuned, 7 fits a run" in by_learner["k-nearest neighbours"]
    assert (
        "metric tuned, 5 fits a run, metric=mahalanobis chosen in 2 of 2 runs"
        in by_learner["parametric.NearestMean"]
    )
    assert lines[-1] == "Nothing was tuned of majority class."


def test_the_analysis_says_so(tuned):
    found = analyse(tuned)
    assert tuning_notes(tuned)[0] in found.notes
    assert any("tuned within the training rows" in line for line in found.caveats)


def test_a_budget_that_is_spent(tmp_path):
    study = small_study(budget={"runs": 4})
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    left_out = "The budget of 4 runs left out 6 runs; raise it to carry them out."
    assert results.left_out == left_out
    assert left_out in analyse(results).notes
    results = run(small_study(), tmp_path / "r.sqlite", engine="serial", progress=False)
    assert not results.left_out
    assert tuning_notes(results) == run_caveats(results) == []


def test_learners_that_are_not_deterministic_are_a_caveat(tmp_path):
    study = small_study(learners=[LearnerChoice(Fickle(), label="fickle")], resampling="2-fold")
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    (caveat,) = run_caveats(results)
    assert caveat.startswith("fickle is not deterministic: one of its runs on iris, made again")
    assert caveat in analyse(results).caveats


@pytest.fixture(scope="module")
def rare():
    """Return rows of two clear classes and a rare one inside of the first."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": np.r_[rng.normal(0, 1, 200), rng.normal(6, 1, 100)]})
    table["kind"] = ["a"] * 190 + ["rare"] * 10 + ["b"] * 100
    return Dataset.from_frame(table, target="kind", name="kinds")


def overlooked(data, *learners):
    comparison = compare(data, list(learners), progress=False)
    return [line for line in comparison.analysis.notes if "never predicts" in line]


def test_a_class_without_predictions_is_named_with_its_share(rare):
    (line,) = overlooked(rare, "majority class", "naive bayes")
    assert line.startswith(
        "Naive Bayes never predicts 'rare' on kinds, which is 3.3 % of the rows."
    )
    assert "balanced_accuracy" in line


def test_nothing_is_said_of_baselines_and_where_all_classes_are_predicted(rare):
    assert overlooked(rare, "majority class") == []
    assert overlooked("iris", "majority class", "naive bayes") == []


def test_why_a_contestant_has_no_value_of_a_measure(tmp_path):
    path = tmp_path / "iris.sqlite"
    compare("iris", ["naive bayes", LinearSVC()], resampling="3-fold", progress=False, store=path)
    notes = analyse(path, "log_loss").notes
    assert "LinearSVC has no log loss: it gives no probabilities here." in notes
    assert not any("has no error" in line for line in analyse(path, "error").notes)


def test_the_race_is_told_in_one_sentence():
    assert race_sentence({}, 10) == ""
    assert race_sentence({"majority class": 2, "parametric.NaiveBayes": 4}, 10) == (
        "Unable to win after 2 to 4 of 10 repeats, and given no more: the majority class and naive "
        "Bayes."
    )
    assert race_sentence({"svm": 3}, 5).endswith("after 3 of 5 repeats, and given no more: svm.")
