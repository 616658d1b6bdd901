"""Scores read off a store: one row a planned run, and the numbers of the measures themselves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.experiment.analysed import RUNS_OF, changed_copy

from verulam.base import DataError
from verulam.experiment import DataChoice, LearnerChoice, Store, Study, make_plan, run
from verulam.experiment._store.predictions import pooled_predictions
from verulam.experiment._store.scoring import RowLosses, Scorer, _no_information, planned_runs
from verulam.measures import as_measure, measure
from verulam.statistics import bootstrap_error


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


LEARNERS = [
    LearnerChoice(KNeighborsClassifier(1), label="nearest"),
    LearnerChoice(GaussianNB(), label="bayes"),
]


def noise(rows=40):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(rows, 3)), columns=list("abc"))
    return table.assign(y=np.tile(["no", "yes"], rows // 2))


def carried_out(folder, **changes):
    given = {
        "name": "chance",
        "data": [DataChoice(noise(), target="y", label="noise")],
        "learners": LEARNERS,
        "resampling": "bootstrap 12",
        "test_share": 0.2,
    }
    study = Study(**{**given, **changes})
    return run(study, folder / "runs.sqlite", engine="serial", progress=False), make_plan(study)


@pytest.fixture(scope="module")
def carried(tmp_path_factory):
    return carried_out(tmp_path_factory.mktemp("bootstrap"))


def by_hand(plan):
    """Return the training error, the error out of bag and that of all pairs for naive Bayes."""
    data = plan.data[0]
    rows = data.splits[0].test
    missed, seen, training, chance = np.zeros(len(rows)), np.zeros(len(rows)), [], []
    for split in data.splits:
        fitted = GaussianNB().fit(data.inputs.iloc[split.train], data.targets[split.train])
        wrong = fitted.predict(data.inputs.iloc[rows]) != data.targets[rows]
        left = ~np.isin(rows, split.train)
        missed += wrong * left
        seen += left
        said, true = fitted.predict(data.inputs.iloc[split.train]), data.targets[split.train]
        training.append(np.mean(said != true))
        chance.append(np.mean(said[:, None] != true[None, :]))
    kept = seen > 0
    return np.mean(training), np.mean(missed[kept] / seen[kept]), np.mean(chance)


def test_as_counted_by_hand(carried):
    results, plan = carried
    found = results.bootstrap_errors().set_index("learner").loc["bayes"]
    training, out_of_bag, chance = by_hand(plan)
    given = found[["training", "out_of_bag", "no_information"]].to_list()
    assert given == pytest.approx([training, out_of_bag, chance])
    plus = bootstrap_error(training, out_of_bag, chance)
    assert found["error_632"] == pytest.approx(0.368 * training + 0.632 * out_of_bag)
    assert found["error_632_plus"] == pytest.approx(plus.value)
    assert found["overfitting"] == pytest.approx(plus.overfitting)
    assert found["samples"] == 12


def test_one_neighbour_on_noise(carried):
    results, _ = carried
    found = results.bootstrap_errors().set_index("learner").loc["nearest"]
    assert found["training"] == 0.0
    assert found["error_632"] == pytest.approx(0.632 * found["out_of_bag"])
    assert found["error_632"] + 0.05 < found["error_632_plus"] < found["out_of_bag"]
    # Tested on all rows, as the scores of a bootstrap are, most of them are known already.
    assert results.scores("error").query("learner == 'nearest'")["error"].mean() < 0.3


def test_accuracy_mirrors_the_error(carried):
    results, _ = carried
    error, accuracy = (results.bootstrap_errors(name) for name in ("error", "accuracy"))
    for column in ("training", "out_of_bag", "error_632", "error_632_plus"):
        assert accuracy[column].to_list() == pytest.approx((1 - error[column]).to_list())
    assert accuracy["overfitting"].to_list() == pytest.approx(error["overfitting"].to_list())


def test_losses_and_probabilities(carried):
    results, _ = carried
    doubled = results.bootstrap_errors(measure("risk", loss=[[0, 2], [2, 0]]))
    error = results.bootstrap_errors("error")
    expected = (2 * error["error_632_plus"]).to_list()
    assert doubled["error_632_plus"].to_list() == pytest.approx(expected)
    assert (results.bootstrap_errors("brier")["error_632"] > 0).all()


def test_numbers(tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame({"x": random.normal(size=30)}).assign(y=lambda each: 2 * each["x"])
    table["y"] += random.normal(size=30)
    results, _ = carried_out(
        tmp_path,
        data=[DataChoice(table, target="y", label="line")],
        learners=[LearnerChoice(LinearRegression(), label="linear")],
        test_share=0.0,
    )
    root = results.bootstrap_errors().iloc[0]
    square = results.bootstrap_errors("mean_squared_error").iloc[0]
    assert root["error_632"] ** 2 == pytest.approx(square["error_632"])
    assert square["training"] < square["error_632"] < square["out_of_bag"]
    # Targets and predictions that have nothing to do with one another vary by both variances.
    assert square["no_information"] == pytest.approx(2 * table["y"].var(), rel=0.4)


def test_what_does_not_allow_it(carried, tmp_path):
    results, _ = carried
    with pytest.raises(DataError, match="auc is not a mean over rows"):
        results.bootstrap_errors("auc")
    other, _ = carried_out(tmp_path, resampling="3-fold")
    with pytest.raises(DataError, match=r'resample by "bootstrap 100" instead of k-fold'):
        other.bootstrap_errors()


def test_a_store_without_draws_says_how_to_get_them(tmp_path):
    results, plan = carried_out(tmp_path, resampling="bootstrap 3")
    expected = results.bootstrap_errors()
    with Store(results.path) as store, store.transaction() as connection:
        connection.execute("DROP TABLE draws")
    with pytest.raises(DataError, match="run the study once more"):
        results.bootstrap_errors()
    again = run(plan, results.path, engine="serial", progress=False)
    pd.testing.assert_frame_equal(again.bootstrap_errors(), expected)


def test_rows_paired_with_themselves_do_not_count_too_much():
    """Of many rows some pairs stand for all; only a row with itself has no error here."""
    values = np.random.default_rng(0).normal(size=2000)
    squares = measure("mean_squared_error")
    told = RowLosses("run", "split", squares, values, values, [])
    exact = np.mean((values[:, None] - values[None, :]) ** 2)
    assert _no_information(told, np.arange(2000)) == pytest.approx(exact, rel=2e-3)
    few = RowLosses("run", "split", squares, values[:60], values[:60], [])
    exact = np.mean((values[:60, None] - values[None, :60]) ** 2)
    assert _no_information(few, np.arange(60)) == pytest.approx(exact)
