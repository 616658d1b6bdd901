"""From a study to its model: what it learns from, what it is judged by, what is written."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.experiment.finished import birds, finish

from verulam.base import DataError, clone
from verulam.catalogue import learner
from verulam.data import dataset
from verulam.experiment import (
    DataChoice,
    LearnerChoice,
    LockedPartUsedError,
    Results,
    Study,
    analyse,
    finalisations,
    finalise,
    load_model,
    lock_test_part,
    make_plan,
    predict,
    run,
)
from verulam.experiment._final.finalise import WITHOUT_LOCKED_PART
from verulam.experiment._store.environment import environment
from verulam.experiment._study.toml import parse_study
from verulam.statistics import rate_interval


@pytest.fixture
def copy(finished, tmp_path):
    """Return the store of the finished study, to be changed."""
    return shutil.copy(finished.store, tmp_path / "birds.sqlite")


def test_the_model_knows_all_rows_but_the_locked_ones(finished):
    """The same learner, fitted by hand to train and validation rows, predicts the same."""
    planned = make_plan(finished.study).data[0]
    development, test = lock_test_part(planned.targets, task="classification", seed=0)
    np.testing.assert_array_equal(test, planned.locked)
    by_hand = learner("naive bayes").fit(
        planned.inputs.iloc[development], planned.targets[development]
    )
    ours = finished.made.model.estimator
    inputs = planned.inputs
    np.testing.assert_array_equal(ours.predict_proba(inputs), by_hand.predict_proba(inputs))
    card = finished.made.card
    assert (card.training_rows, card.test_rows) == (len(development), len(test))
    errors = int((by_hand.predict(inputs.iloc[test]) != planned.targets[test]).sum())
    interval = rate_interval(errors, len(test))
    assert (card.response.value, card.response.low, card.response.high) == (
        interval.estimate,
        interval.low,
        interval.high,
    )


def test_no_run_of_the_study_has_seen_a_locked_row(finished):
    planned = make_plan(finished.study).data[0]
    for split in planned.splits:
        assert not np.isin(planned.locked, [*split.train, *split.test]).any()


def test_a_second_look_is_refused_whatever_for(copy, finished, tmp_path):
    with pytest.raises(LockedPartUsedError, match=r"was used on \d{4}-.* for parametric\.Naive"):
        finalise(copy, "majority class", path=tmp_path / "other.skops")
    assert not (tmp_path / "other.skops").exists()
    assert len(finalisations(copy)) == 1


@pytest.mark.parametrize("changes", [{"seed": 1}, {"test_share": 0.2}])
def test_a_second_look_at_the_same_data_by_other_rows_is_refused(copy, tmp_path, changes):
    results = run(birds(**changes), copy, engine="serial", progress=False)
    with pytest.raises(LockedPartUsedError, match="locked test part of penguins was used"):
        finalise(results, "naive bayes", path=tmp_path / "other.skops")
    made = finalise(results, "naive bayes", path=tmp_path / "other.skops", force=True)
    assert "had been used before" in made.card.caveats[0]


def test_a_forced_second_look_is_recorded_and_told(copy, tmp_path):
    made = finalise(copy, "majority class", path=tmp_path / "other.skops", force=True)
    assert "had been used before" in made.card.caveats[0]
    record = finalisations(copy)
    assert record["contestant"].tolist() == ["parametric.NaiveBayes", "majority class"]
    assert record["forced"].tolist() == [0, 1]
    assert record["response"].str.startswith("Error").all()
    assert record["who"].str.contains("@").all()


def test_files_beside_the_store(finished):
    path = finished.made.path
    assert path == finished.store.with_suffix(".skops")
    page, text = finished.made.card_paths
    assert (page.name, text.name) == ("birds-card.html", "birds-card.md")
    assert text.read_text(encoding="utf-8") == finished.made.card.to_markdown()
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    loaded = load_model(path)
    assert loaded.card.to_dict() == finished.made.card.to_dict()
    assert str(path) in str(finished.made)
    assert "<h2>Columns</h2>" in finished.made._repr_html_()


def test_an_existing_model_is_not_replaced(copy, tmp_path):
    there = tmp_path / "model.skops"
    there.write_text("mine", encoding="utf-8")
    with pytest.raises(DataError, match="already there"):
        finalise(copy, path=there)
    assert there.read_text(encoding="utf-8") == "mine"
    with pytest.raises(DataError, match="cannot be written"):
        finalise(copy, path=tmp_path / "no" / "model.skops")


def test_without_a_locked_part_the_figure_of_the_study_is_said(tmp_path):
    done = finish(birds(test_share=0.0, losses=None, reject_cost=None), tmp_path, "best")
    card = done.made.card
    assert card.caveats[0] == WITHOUT_LOCKED_PART
    assert card.response.where == "cross-validation"
    # The figures are those of the report, which has them from all rows together.
    (evidence,) = analyse(Results(done.store), "error").evidence.values()
    figures = evidence.table.loc[evidence.best]
    assert card.response.value == figures["estimate"]
    assert (card.response.low, card.response.high) == (figures["low"], figures["high"])
    assert f"({figures['estimate']:.4f})" in card.reason
    assert (card.training_rows, card.test_rows) == (344, 0)
    assert finalisations(done.store).empty
    assert "decision" not in str(card.to_dict())
    again = finalise(done.store, "best", path=tmp_path / "again.skops")
    assert again.card.response == card.response


def test_a_failing_learner_costs_no_look(copy, tmp_path, monkeypatch):
    """The look is recorded only when there is a model to look with."""

    def fails(*_):
        raise ValueError("no luck")

    monkeypatch.setattr("verulam.parametric.NaiveBayes.fit", fails)
    with pytest.raises(ValueError, match="no luck"):
        finalise(copy, "naive bayes", path=tmp_path / "other.skops", force=True)
    assert len(finalisations(copy)) == 1


def test_a_crash_after_the_look_is_still_a_look(tmp_path, monkeypatch):
    study = birds(losses=None, reject_cost=None)
    store = tmp_path / "birds.sqlite"
    run(study, store, engine="serial", progress=False)

    def crashes(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("verulam.experiment._final.finalise.predictions_of", crashes)
    with pytest.raises(KeyboardInterrupt):
        finalise(store)
    monkeypatch.undo()
    with pytest.raises(LockedPartUsedError):
        finalise(store)


def test_regression(tmp_path):
    learners = [LearnerChoice("mean predictor"), LearnerChoice("linear regression")]
    study = Study(
        "sugar",
        [DataChoice("diabetes")],
        learners,
        resampling="3-fold",
        test_share=1 / 3,
        measures=["root_mean_squared_error", "r2"],
    )
    store = tmp_path / "sugar.sqlite"
    run(study, store, engine="serial", progress=False)
    made = finalise(store, "recommended")
    card = made.card
    planned = make_plan(study).data[0]
    found = predict(made.path, dataset("diabetes").table)
    assert found.columns.tolist() == ["prediction"]
    residuals = (found["prediction"] - planned.targets)[planned.locked]
    expected = np.sqrt(np.mean(residuals**2))
    assert card.learner == "linear regression"
    assert card.response.value == pytest.approx(expected)
    assert card.response.low < expected < card.response.high
    assert [each.measure for each in card.responses][1] == "r2"
    assert not card.accepts_missing


def test_several_data_sets(make_results, tmp_path):
    learners = [LearnerChoice("majority class"), LearnerChoice("nearest mean")]
    results = make_results(learners, ["iris", "wine"], resampling="3-fold", test_share=0.25)
    with pytest.raises(DataError, match="2 data sets, name one of iris, wine"):
        finalise(results)
    made = finalise(results, data="wine")
    assert made.path.name == "runs-wine.skops"
    assert made.card.data["name"] == "wine"
    # Another data set has a locked part of its own.
    assert finalise(results, data="iris").card.test_rows == 38


def test_a_tuned_learner_is_tuned_again_on_all_rows_but_the_locked_ones(tmp_path):
    """What remains is what the same search by hand finds, and it needs no trust to be loaded."""
    study = parse_study(
        {
            "data": ["iris"],
            "learners": [{"name": "k-nearest neighbours", "tune": {"n_neighbors": [1, 9, 25]}}],
            "tuning": {"method": "grid", "budget": 3},
            "resampling": "2-fold",
            "test_share": 0.3,
        }
    )
    run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    made = finalise(tmp_path / "runs.sqlite")
    plan = make_plan(study)
    planned, estimator = plan.data[0], plan.contestants[0][0].estimator
    rows = np.setdiff1d(np.arange(150), planned.locked)
    by_hand = clone(estimator).set_params(random_state=0)
    by_hand.fit(planned.numbers[rows], planned.targets[rows])
    chosen = made.model.estimator[-1]
    assert chosen.n_neighbors == by_hand.best_setting_["n_neighbors"]
    assert any(line.startswith("Tuned on the rows") for line in made.card.caveats)
    np.testing.assert_array_equal(
        load_model(made.path).estimator.predict(planned.numbers), by_hand.predict(planned.numbers)
    )


def test_groups_are_locked_as_a_whole(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=90), "who": np.repeat(np.arange(30), 3)})
    table["y"] = np.where(table["x"] + 0.3 * rng.normal(size=90) > 0, "up", "down")
    table.to_csv(tmp_path / "visits.csv", index=False)
    study = Study(
        "visits",
        [DataChoice(str(tmp_path / "visits.csv"), target="y", groups="who")],
        [LearnerChoice("nearest mean")],
        resampling="3-fold",
        test_share=0.3,
    )
    run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    card = finalise(tmp_path / "runs.sqlite").card
    assert card.test_rows % 3 == 0
    assert [column.name for column in card.inputs] == ["x"]
    groups = make_plan(study).data[0].groups
    locked = make_plan(study).data[0].locked
    assert card.response.method == f"t interval over {len(np.unique(groups[locked]))} groups"


def test_columns_have_roles_kinds_levels_and_ranges(finished):
    columns = {column.name: column for column in finished.made.card.columns}
    assert columns["species"].role == "target"
    assert columns["island"].levels == ("Biscoe", "Dream", "Torgersen")
    table = dataset("penguins").table
    mass = columns["body_mass_g"]
    assert mass.kind == "numeric"
    assert table["body_mass_g"].min() <= mass.low < mass.high <= table["body_mass_g"].max()
    assert 0 < columns["sex"].missing < table["sex"].isna().sum()


def test_origin(finished):
    card = finished.made.card
    assert card.data["hash"] == dataset("penguins").content_hash
    assert card.data["rows"] == 344
    assert card.study["name"] == "birds"
    assert len(card.study["hash"]) == 32
    assert card.environment == json.loads(environment().content)
    assert card.created.endswith("+00:00")
    assert card.preparation == "the table as it is"
    assert card.accepts_missing
    assert not card.as_array


def test_losses_come_with_the_card(finished):
    table = finished.made.card.loss_table()
    assert table.actions.tolist() == ["Adelie", "Chinstrap", "Gentoo", "reject"]
    assert table.matrix[1].tolist() == [5.0, 0.0, 1.0]


def test_parameters_are_those_that_differ(tmp_path):
    learner = LearnerChoice(GaussianNB(var_smoothing=0.5))
    study = Study("flowers", [DataChoice("iris")], [learner], resampling="2-fold")
    run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    card = finalise(tmp_path / "runs.sqlite", study=study).card
    assert card.parameters == {"var_smoothing": 0.5}
    assert "var_smoothing=0.5" in str(card)


def test_importances_that_fail_cost_neither_the_model_nor_the_locked_part(tmp_path, monkeypatch):
    def broken(*_):
        raise ValueError("too few rows of a class")

    study = Study("s", [DataChoice("iris")], [LearnerChoice("naive bayes")], test_share=0.3)
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    monkeypatch.setattr("verulam.experiment._final.importance.column_importances", broken)
    made = finalise(results)
    assert made.card.importances == ()
    assert made.card.test_rows == 45
    words = "What each column accounts for could not be measured: too few rows of a class"
    assert words in made.card.caveats
