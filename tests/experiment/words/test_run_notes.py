"""Notes on how runs were made, from the store alone."""

import pytest
from tests.experiment.studies import Fickle, small_study

from verulam.experiment import LearnerChoice, Results, analyse, run
from verulam.experiment._words.run_notes import run_caveats, run_notes


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
    title, *lines = run_notes(Results(tuned.path))
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
    assert run_notes(tuned)[0] in found.notes
    assert any("tuned within the training rows" in line for line in found.caveats)


def test_a_budget_that_is_spent(tmp_path):
    study = small_study(budget={"runs": 4})
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    assert run_notes(results) == [
        "The budget of 4 runs left out 6 runs; raise it to carry them out."
    ]
    results = run(small_study(), tmp_path / "r.sqlite", engine="serial", progress=False)
    assert run_notes(results) == run_caveats(results) == []


def test_learners_that_are_not_deterministic_are_a_caveat(tmp_path):
    study = small_study(learners=[LearnerChoice(Fickle(), label="fickle")], resampling="2-fold")
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    (caveat,) = run_caveats(results)
    assert caveat.startswith("fickle is not deterministic: one of its runs on iris, made again")
    assert caveat in analyse(results).caveats
