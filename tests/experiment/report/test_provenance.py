"""The design of a study as its report tells it."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.experiment.studies import small_study

from verulam import compare
from verulam.data import dataset
from verulam.experiment import (
    DataChoice,
    LearnerChoice,
    Store,
    analyse,
    finalise,
    read_study,
    report,
    run,
)
from verulam.experiment._report.provenance import design_facts, reproduction
from verulam.experiment._report.report import render

_PREDICTED = "SELECT run, predicted, probabilities, scores FROM runs ORDER BY run"


def facts(path, **changes):
    return design_facts(analyse(run(small_study(**changes), path, engine="serial", progress=False)))


def test_what_is_not_used_is_not_told(tmp_path):
    assert facts(tmp_path / "r.sqlite") == {
        "Aim": ("choose: Which learner is best?",),
        "Response": ("error",),
        "Learners": ("majority class, naive Bayes",),
        "Splits": (
            "stratified 5-fold cross-validation, drawn once for each data set and shared by all",
        ),
        "Runs": ("10 done, in random order",),
        "Seed": ("0",),
    }


def test_everything_that_is_used_is_told(tmp_path):
    factors = {"n_neighbors": [1, 5], "weights": ["uniform", "distance"]}
    told = facts(
        tmp_path / "r.sqlite",
        learners=[
            LearnerChoice("k-nearest neighbours", label="near", factors=factors),
            LearnerChoice("naive bayes", tune=False),
        ],
        question="Which flower?",
        measures=["error", "log_loss"],
        response=["error", "fit time"],
        preparations=["standardised", "ranks"],
        nuisance=["the weather"],
        training_shares=[0.5, 1.0],
        replications=2,
        test_share=0.25,
        tuning={"method": "random", "budget": 2, "folds": 2},
        budget={"runs": 40},
        time_limit=60,
        memory_limit=4000,
        resampling="2-fold",
        seed=3,
    )
    assert told["Aim"] == ("choose: Which flower?",)
    assert told["Response"] == ("error, log_loss, fit time",)
    assert told["Factors"] == (
        "near: n_neighbors = 1, 5; weights = uniform, distance (every combination)",
        "preparation: standardised, ranks",
    )
    assert told["Nuisance"] == ("the weather",)
    assert told["Training shares"] == ("0.5, 1.0; contestants are judged on the largest",)
    assert told["Replications"] == ("2",)
    assert told["Tuning"][0].startswith("random search")
    assert told["Budget"] == ("40 runs",)
    assert told["Time limit"] == ("60 s for a run",)
    assert told["Memory limit"] == ("4000 MB for a run",)
    assert told["Locked away"] == ("25% of the rows of each data set, untouched so far",)
    assert told["Runs"][0].endswith(", split by split")
    assert told["Seed"] == ("3",)


def test_a_look_at_the_locked_part_is_told(tmp_path):
    study = small_study(test_share=0.25)
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    made = finalise(results, path=tmp_path / "model.skops")
    locked = design_facts(analyse(results))["Locked away"]
    assert locked[0] == "25% of the rows of each data set"
    assert locked[1].startswith("iris used on 20")
    assert str(made.card.response) in locked[1]
    assert "untouched" not in render(analyse(results))


def test_many_learners_are_counted(make_results):
    learners = [LearnerChoice("majority class", label=f"m{number}") for number in range(13)]
    found = analyse(make_results(learners, resampling="2-fold"))
    assert design_facts(found)["Learners"] == ("13 learners",)


def predictions(path):
    with Store(path, read_only=True) as store:
        return list(store.rows(_PREDICTED))


def study_file_of(page):
    found = re.search(r'<pre id="study-file">(.*?)</pre>', page, re.DOTALL)
    return html.unescape(found[1])


@pytest.fixture
def table(tmp_path):
    """Return a file with gaps, words and a target that is missing here and there."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=60), "colour": rng.choice(["red", "blue"], 60)})
    frame["kind"] = np.where(frame["x"] > 0, "high & dry", "low")
    frame.loc[[3, 7], "x"] = None
    frame.loc[[5], "kind"] = None
    frame.to_csv(tmp_path / "odd name.csv", index=False)
    return tmp_path / "odd name.csv"


def test_the_study_file_of_a_comparison_gives_the_same_predictions(table, tmp_path, monkeypatch):
    kept = tmp_path / "kept.sqlite"
    names = ["majority class", "naive bayes", "decision tree"]
    done = compare(
        table, names, target="kind", drop_missing_target=True, store=kept, resampling="3-fold",
        random_state=5, progress=False,
    )  # fmt: skip
    page = done.report(tmp_path / "r.html", command="verulam compare x").read_text()
    assert '<pre id="command">verulam compare x</pre>' in page
    assert "kept in kept.sqlite" in page
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (elsewhere / "study.toml").write_text(study_file_of(page), encoding="utf-8")
    again = run(read_study("study.toml"), "again.sqlite", engine="serial", progress=False)
    assert again.status() == {"done": 9}
    assert predictions("again.sqlite") == predictions(kept)


def test_so_does_that_of_a_study_with_a_relative_path(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = small_study(
        data=[DataChoice(table.name, target="kind", drop_missing_target=True)],
        learners=[LearnerChoice("nearest mean", factors={"metric": ["euclidean", "mahalanobis"]})],
    )
    results = run(study, "first.sqlite", engine="serial", progress=False)
    page = report(results, "first.html").read_text()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (elsewhere / "study.toml").write_text(study_file_of(page), encoding="utf-8")
    run(read_study("study.toml"), "again.sqlite", engine="serial", progress=False)
    assert predictions("again.sqlite") == predictions(tmp_path / "first.sqlite")


def test_a_store_that_will_be_gone_is_not_named(tmp_path):
    page = compare("iris", ["nearest mean"], progress=False).report(tmp_path / "r.html").read_text()
    assert ".sqlite" not in page
    assert 'name = "nearest mean"' in study_file_of(page)


def test_repeats_that_were_not_needed_are_no_obstacle(tmp_path, monkeypatch):
    """The file says how many there may be, and gives as many as there were."""
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "kept.sqlite"
    names = ["majority class", "naive bayes"]
    done = compare("iris", names, resampling="2-4x3-fold", store=kept, progress=False)
    assert done.evidence.repeats < 4
    page = done.report("r.html").read_text()
    assert 'resampling = "2-4x3-fold"' in study_file_of(page)
    (tmp_path / "study.toml").write_text(study_file_of(page), encoding="utf-8")
    again = run(read_study("study.toml"), "again.sqlite", engine="serial", progress=False)
    assert again.status() == done.analysis.results.status()
    assert predictions("again.sqlite") == predictions(kept)
    assert analyse(again).answer.sentence == done.conclusion


@pytest.mark.parametrize(
    ("changes", "obstacle"),
    [
        ({"learners": [LearnerChoice(GaussianNB())]}, "learners were given as Python objects"),
        ({"data": [DataChoice(dataset("iris").table, target="species")]}, "came from Python"),
        ({"data": [DataChoice(dataset("iris").with_roles({"sepal_width_cm": "ignored"}))]},
         "the data set iris came from Python"),
        ({"learners": [LearnerChoice("random forest", parameters={"n_estimators": 3,
                                                                  "max_features": None})]},
         "a file would not give the same runs"),
        ({"learners": [LearnerChoice("bagging", parameters={"estimator": GaussianNB(),
                                                            "n_estimators": 2})]},
         "a file would not give the same runs"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_file_is_said(tmp_path, changes, obstacle):
    results = run(small_study(**changes), tmp_path / "r.sqlite", engine="serial", progress=False)
    found = reproduction(results)
    assert found.study_file == ""
    assert obstacle in found.obstacle
    page = report(results, tmp_path / "r.html").read_text()
    assert obstacle in page
    assert "study.toml" not in page


def test_searches_start_anew(tmp_path):
    learners = [LearnerChoice("k-nearest neighbours",
                              factors={"n_neighbors": {"low": 1, "high": 15}},
                              design={"kind": "sequential", "settings": 4})]  # fmt: skip
    study = small_study(learners=learners, resampling="2-fold")
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    assert "added_settings" in str(results.description)
    text = reproduction(results).study_file
    assert "sequential" in text
    assert "added_settings" not in text


def test_data_that_have_changed_are_not_said_to_give_the_same(table, tmp_path):
    study = small_study(data=[DataChoice(table, target="kind", drop_missing_target=True)])
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    assert reproduction(results).study_file
    table.write_text(table.read_text(encoding="utf-8").replace("red", "green"), encoding="utf-8")
    assert "no longer those of the runs" in reproduction(results).obstacle
