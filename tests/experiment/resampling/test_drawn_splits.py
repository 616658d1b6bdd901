"""What is said of the splits is what was drawn, everywhere."""

import numpy as np
import pandas as pd
import pytest
from tests.experiment.studies import small_study

from verulam.experiment import DataChoice, LearnerChoice, Results, analyse, finalise, make_plan, run
from verulam.experiment._report.report import render
from verulam.experiment._resampling.resampling import drawn, drawn_title, drawn_word, resampling


@pytest.fixture(scope="module")
def few_groups(tmp_path_factory):
    """Return results on rows of four groups, where six folds were asked for."""
    rng = np.random.default_rng(0)
    label = np.tile(["a", "b"], 20)
    table = pd.DataFrame({"x": rng.normal(size=40) + (label == "b"), "kind": label})
    table["group"] = np.repeat(["n", "e", "s", "w"], 10)
    file = tmp_path_factory.mktemp("few") / "few.csv"
    table.to_csv(file, index=False)
    choice = DataChoice(str(file), target="kind", groups="group")
    study = small_study(data=[choice, DataChoice("iris")], resampling="6-fold")
    return run(study, file.with_suffix(".sqlite"), engine="serial", progress=False)


def test_plan_analysis_and_report_name_what_was_drawn(few_groups):
    words = "stratified 6-fold cross-validation (4-fold cross-validation on few)"
    found = analyse(Results(few_groups.path))
    assert found.design == words
    assert words.replace("- ", "-") in " ".join(str(found).split()).replace("- ", "-")
    assert words in render(found)
    assert found.to_dict()["design"] == words
    assert finalise(few_groups, data="few").card.study["resampling"] == words


def test_one_data_set_with_fewer_folds():
    learners = [LearnerChoice("linear regression")]
    data = [DataChoice("grunfeld", groups="firm")]
    plan = make_plan(small_study(data=data, learners=learners, resampling="20-fold"))
    assert str(plan) == (
        "flowers: 11 runs = 1 setting of learners x 1 data set (grunfeld) x 11 splits, 11-fold "
        "instead of 20-fold, seed 0"
    )


@pytest.mark.parametrize("word", ["5x2", "holdout 0.25", "leave-one-out", "bootstrap 20"])
def test_folds_are_a_matter_of_folds_alone(word):
    asked = resampling(word)
    assert drawn(asked, 7) is asked
    assert drawn_word(asked, {"a": 7}) == str(asked)
    assert drawn_title(asked, {"a": 7}, ["regression"]) == asked.title


def test_repeats_are_told_as_soon_as_they_are_known(tmp_path):
    asked = resampling("2-4x5-fold")
    assert asked.title == "5-fold cross-validation, repeated 2 to 4 times"
    assert str(drawn(asked, 5, 3)) == "3x5-fold"
    assert str(drawn(asked, 4)) == "2-4x4-fold"
    folds, tasks = {"a": 5, "b": 5}, ["regression"] * 2
    assert drawn_title(asked, folds, tasks) == asked.title
    assert drawn_title(asked, folds, tasks, {"a": 3, "b": 3}) == resampling("3x5-fold").title
    assert drawn_title(asked, folds, tasks, {"a": 2, "b": 4}) == (
        "5-fold cross-validation, repeated 2 to 4 times (5-fold cross-validation, repeated 2 times "
        "on a, 5-fold cross-validation, repeated 4 times on b)"
    )
    study = small_study(resampling="2-4x5-fold")
    plan = make_plan(study)
    assert len(plan.runs) == 2 * 4 * 5
    path = tmp_path / "r.sqlite"
    stopped = run(
        small_study(resampling="2-4x5-fold", budget={"runs": 10}), path, engine="serial",
        progress=False,
    )  # fmt: skip
    words = "stratified 5-fold cross-validation, repeated 2 times"
    assert stopped.design == f"{words}, when the budget was spent"
    whole = run(study, path, engine="serial", progress=False)
    assert whole.design == words
