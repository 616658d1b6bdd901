"""Who leads while a study runs."""

import pytest

from verulam.experiment import DataChoice, LearnerChoice, Results, Study, make_plan, run
from verulam.experiment._plan.outcome import Outcome
from verulam.experiment._run.execute import execute
from verulam.experiment._run.leaderboard import Leaderboard

LEARNERS = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]


@pytest.mark.parametrize("measure", ["error", "accuracy", "log_loss", "kappa", "auc"])
def test_the_leader_has_the_best_mean_of_the_results(tmp_path, measure):
    study = Study(
        "cells", [DataChoice("breast_cancer")], LEARNERS, resampling="2-fold", measures=[measure]
    )
    plan = make_plan(study)
    leaderboard = Leaderboard(plan)
    assert leaderboard.words() == ""
    for each in plan.runs:
        leaderboard.add(execute(plan, each))
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    mean = results.scores().groupby("learner")[measure].mean()["parametric.NaiveBayes"]
    assert leaderboard.words() == f"best so far: parametric.NaiveBayes, {measure} {mean:.4f}"
    assert isinstance(results, Results)


def test_over_several_data_sets_by_ranks():
    plan = make_plan(
        Study("both", [DataChoice("iris"), DataChoice("wine")], LEARNERS, resampling="2-fold")
    )
    leaderboard = Leaderboard(plan)
    for each in plan.runs:
        leaderboard.add(execute(plan, each))
    assert leaderboard.words() == "best so far: parametric.NaiveBayes, mean rank 1.00"


def test_numbers_and_what_does_not_count():
    learners = [LearnerChoice("mean predictor"), LearnerChoice("linear regression")]
    plan = make_plan(Study("numbers", [DataChoice("engel")], learners, resampling="2-fold"))
    leaderboard = Leaderboard(plan)
    leaderboard.add(Outcome("unknown", "done"))
    leaderboard.add(Outcome(plan.runs[0].run_id, "failed"))
    assert leaderboard.words() == ""
    for each in plan.runs:
        leaderboard.add(execute(plan, each))
    assert leaderboard.words().startswith(
        "best so far: linear regression, root_mean_squared_error "
    )


def test_a_measure_that_no_prediction_serves():
    study = Study(
        "iris", [DataChoice("iris")], [LearnerChoice("perceptron")], measures=["log_loss"]
    )
    plan = make_plan(study)
    leaderboard = Leaderboard(plan)
    leaderboard.add(execute(plan, plan.runs[0]))
    assert leaderboard.words() == ""
