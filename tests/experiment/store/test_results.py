"""Results: scores from stored predictions equal those of the learners themselves."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import log_loss, zero_one_loss
from sklearn.naive_bayes import GaussianNB
from tests.experiment.studies import small_study, with_trouble

from verulam.base import DataError
from verulam.experiment import DataChoice, LearnerChoice, Results, Store, make_plan, run
from verulam.experiment._store.responses import responses
from verulam.measures import Measure, as_measure


@pytest.fixture(scope="module")
def plan():
    return make_plan(small_study(learners=[LearnerChoice(GaussianNB(), label="mine")]))


@pytest.fixture(scope="module")
def results(plan, tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "runs.sqlite"
    return run(plan, path, engine="serial", progress=False)


def by_hand(plan, function, method):
    data = plan.data[0]
    scores = {}
    for each in plan.runs:
        fitted = GaussianNB().fit(
            data.inputs.iloc[each.split.train], data.targets[each.split.train]
        )
        prediction = getattr(fitted, method)(data.inputs.iloc[each.split.test])
        scores[each.run_id] = function(data.targets[each.split.test], prediction)
    return scores


def test_any_measure_afterwards(plan, results):
    scores = results.scores(["error", "log_loss"]).set_index("run")
    for name, function, method in (
        ("error", zero_one_loss, "predict"),
        ("log_loss", log_loss, "predict_proba"),
    ):
        expected = by_hand(plan, function, method)
        assert_allclose(scores[name], [expected[key] for key in scores.index])


def test_counting_positions_is_counting_labels(results):
    """The short cut of the commonest measures agrees with their functions on labels."""
    for name in ("error", "accuracy"):
        measure = as_measure(name)
        plain = replace(measure, function=lambda y, p, whole=measure: whole(y, p))
        assert_allclose(results.scores(name)[name], results.scores(plain)[name])


def test_measures_of_your_own(results):
    always = Measure.from_function(lambda y, p: 0.25, greater_is_better=True, name="quarter")
    assert (results.scores(always)["quarter"] == 0.25).all()


def test_default_measure_follows_the_task(results, tmp_path):
    assert [each.name for each in results.measures] == ["error"]
    study = small_study(
        data=[DataChoice("diabetes")],
        learners=[LearnerChoice("mean predictor")],
        resampling="3-fold",
    )
    numbers = run(study, tmp_path / "n.sqlite", engine="serial", progress=False)
    scores = numbers.scores()["root_mean_squared_error"]
    assert len(scores) == 3
    assert (scores > 50).all()


def test_measure_that_does_not_apply_is_missing(results):
    assert results.scores("mean_squared_error")["mean_squared_error"].isna().all()


def test_runs_and_failures(tmp_path):
    results = run(with_trouble("raise"), tmp_path / "r.sqlite", engine="serial", progress=False)
    runs = results.runs()
    assert len(runs) == 4
    assert set(runs["status"]) == {"done", "failed"}
    failures = results.failures()
    assert set(failures["learner"]) == {"trouble"}
    assert failures["error"].tolist() == ["RuntimeError: out of luck"] * 2
    assert len(results.scores("error")) == 2
    assert str(results).startswith("flowers: 2 done, 2 failed")


def test_what_is_left_is_counted(plan, tmp_path):
    path = tmp_path / "r.sqlite"
    with Store(path) as store:
        store.add_plan(plan)
    results = Results(path)
    assert results.status() == {"left": 5}
    assert results.scores("error").empty


def test_classes_missing_from_training_keep_their_column(tmp_path):
    """A learner that never saw a class still gives probabilities for all of them."""
    study = small_study(
        learners=[LearnerChoice(GaussianNB())], training_shares=[0.02], resampling="2-fold"
    )
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    scores = results.scores("log_loss")["log_loss"]
    assert np.isfinite(scores).all()


def test_missing_stores(tmp_path):
    with pytest.raises(DataError, match="There is no store"):
        Results(tmp_path / "none.sqlite")
    path = tmp_path / "empty.sqlite"
    Store(path).close()
    with pytest.raises(DataError, match="has no study"):
        Results(path)


def test_equal_learners_under_two_labels_both_have_all_their_runs(tmp_path):
    learners = [LearnerChoice("naive bayes", label=label) for label in "ab"]
    study = small_study(learners=learners)
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    scores = results.scores("error")
    assert scores["learner"].value_counts().to_dict() == {"a": 5, "b": 5}
    ours, others = (scores.loc[scores["learner"] == label, "error"].tolist() for label in "ab")
    assert ours == others
    with Store(results.path) as store:
        assert len(store.settled()) == 5


def test_equal_data_under_two_labels_both_have_all_their_runs(tmp_path):
    data = [DataChoice("iris", label="second"), DataChoice("iris", label="first")]
    results = run(small_study(data=data), tmp_path / "r.sqlite", engine="serial", progress=False)
    assert results.runs()["data"].value_counts().to_dict() == {"second": 10, "first": 10}
    assert responses(results).data == ("second", "first")


def test_data_have_the_label_of_their_study(tmp_path):
    path = tmp_path / "r.sqlite"
    for label in ("before", "after"):
        study = small_study(data=[DataChoice("iris", label=label)])
        results = run(study, path, engine="serial", progress=False)
        assert set(results.runs()["data"]) == {label}
        assert responses(results).test_shares.keys() == {label}


def test_default_measure_is_for_the_data_of_the_study_alone(tmp_path):
    path = tmp_path / "r.sqlite"
    numbers = small_study(
        data=[DataChoice("diabetes")],
        learners=[LearnerChoice("mean predictor")],
        resampling="2-fold",
    )
    run(numbers, path, engine="serial", progress=False)
    results = run(small_study(), path, engine="serial", progress=False)
    assert [each.name for each in results.measures] == ["error"]


def test_a_study_may_have_measures_of_its_own(tmp_path):
    quarter = Measure.from_function(lambda y, p: 0.25, greater_is_better=True, name="quarter")
    study = small_study(measures=[quarter, "error"])
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    scores = results.scores()
    assert (scores["quarter"] == 0.25).all()
    assert "error" in scores


def test_a_response_of_several_parts(tmp_path):
    path = tmp_path / "r.sqlite"
    study = small_study(response=["model size", "error", "fit time"])
    results = run(study, path, engine="serial", progress=False)
    assert results.response == ("model size", "error", "fit time")
    scores = results.response_scores()
    assert scores["error"].tolist() == results.scores("error")["error"].tolist()
    assert scores["fit time"].tolist() == scores["fit_seconds"].tolist()
    assert (scores["model size"] > 100).all()
    assert Results(path).response_scores().equals(scores)


def test_the_response_of_a_study_that_names_none(results):
    assert results.response == ("error",)
    assert "error" in results.response_scores()


def test_results_and_studies_print_in_a_line(tmp_path):
    study = small_study()
    assert repr(study) == "<Study 'flowers': 1 data set, 2 learners, 5-fold>"
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    assert repr(results) == f"flowers: 10 done ({tmp_path / 'r.sqlite'})"
    assert results.damage() == ""


def test_facts_of_several_data_sets(several):
    """The order is that of the study, and every run belongs to one data set."""
    keys = several.data_keys()
    assert [(key.label, key.place) for key in keys] == [("iris", 0), ("wine", 1), ("penguins", 2)]
    assert len({key.key for key in keys}) == 3
    parts = [several.run_ids(key.place) for key in keys]
    assert [len(part) for part in parts] == [9, 9, 9]
    assert set.union(*parts) == several.run_ids() == set(several.runs()["run"])
    table = several.data_sets().set_index("label")
    assert table["n_rows"].to_dict() == {"iris": 150, "wine": 178, "penguins": 344}
    assert table.loc["iris", "classes"] == ["setosa", "versicolor", "virginica"]
    assert set(table["task"]) == {"classification"}


def test_where_and_how_runs_were_made(several):
    (environment,) = several.environments()
    assert environment["packages"]["numpy"] == np.__version__
    preparations = several.preparations()
    assert {"majority class", "parametric.NaiveBayes"} <= set(preparations["the table as it is"])
    assert any("imputed" in words for words in preparations)


def test_nuisance_columns_come_back(tmp_path):
    study = small_study(data=[DataChoice("penguins")], nuisance=["island", "weather"])
    plan = make_plan(study)
    (stored,) = run(plan, tmp_path / "n.sqlite", engine="serial", progress=False).nuisance_columns(
        "penguins"
    )
    (planned,) = plan.data[0].nuisance
    assert (stored.name, stored.levels) == (planned.name, planned.levels)
    np.testing.assert_array_equal(stored.codes, planned.codes)


def test_a_study_without_nuisance_factors_has_none(several):
    assert several.nuisance_columns("iris") == []
