"""Scores of rows that weigh more or less than one another."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from verulam.base import DataError
from verulam.experiment import DataChoice, Results, Study, analyse, finalise, make_plan, run
from verulam.experiment._plan.row_columns import weights_notice
from verulam.measures import measure

RNG = np.random.default_rng(4)
N_ROWS = 60
TABLE = pd.DataFrame({"x": RNG.normal(size=N_ROWS), "w": RNG.integers(1, 5, N_ROWS) * 1.0})
NUMBERS = TABLE.assign(y=TABLE["x"] + RNG.normal(size=N_ROWS))
CLASSES = TABLE.assign(y=np.where(NUMBERS["y"] > 0, "yes", "no"))


def carried_out(frame, learner, path, **options):
    data = [DataChoice(frame, target="y", weights="w")]
    study = Study("weighted", data, {"a": learner, "b": learner_of_means(learner)}, **options)
    return run(study, path / "runs.sqlite", engine="serial", progress=False)


def learner_of_means(learner):
    return DummyRegressor() if isinstance(learner, LinearRegression) else "majority class"


@pytest.fixture(scope="module")
def classified(tmp_path_factory):
    return carried_out(
        CLASSES, LogisticRegression(), tmp_path_factory.mktemp("classes"), resampling="3-fold"
    )


@pytest.mark.parametrize("name", ["error", "accuracy", "log_loss", "auc", "balanced_accuracy"])
def test_scores_are_those_of_repeated_rows(classified, name):
    scores = classified.scores(name).query("learner == 'a'").sort_values("fold")[name]
    for (train, test), score in zip(splits_of(CLASSES), scores, strict=True):
        model = LogisticRegression().fit(
            CLASSES.loc[train, ["x"]].to_numpy(), CLASSES.loc[train, "y"], TABLE.loc[train, "w"]
        )
        # A whole weight is as many rows as it says.
        repeated = np.repeat(test, TABLE.loc[test, "w"].astype(int))
        rows = CLASSES.loc[repeated, ["x"]].to_numpy()
        judge = measure(name)
        predicted = model.predict(rows) if judge.needs == "labels" else model.predict_proba(rows)
        expected = judge(CLASSES.loc[repeated, "y"], predicted, labels=["no", "yes"])
        assert score == pytest.approx(expected, rel=1e-6)


def splits_of(frame):
    learner = "majority class" if frame is CLASSES else "mean predictor"
    study = Study(
        "weighted", [DataChoice(frame, target="y", weights="w")], [learner], resampling="3-fold"
    )
    return [(split.train, split.test) for split in make_plan(study).data[0].splits]


def test_root_mean_squared_error_and_its_evidence(tmp_path):
    results = carried_out(NUMBERS, LinearRegression(), tmp_path, resampling="3-fold")
    judged = analyse(results)
    mean = judged.responses.by_split(judged.responses.data[0]).mean()
    assert mean["a"] < mean["b"]
    (evidence,) = judged.evidence.values()
    estimate = evidence.table.loc["b"]
    everything = np.sqrt(np.average((NUMBERS["y"] - NUMBERS["y"].mean()) ** 2, weights=TABLE["w"]))
    assert estimate["estimate"] == pytest.approx(everything, rel=0.05)
    # The standard error of a ratio of two sums, by the delta method.
    model = DummyRegressor()
    squares = np.empty(N_ROWS)
    for train, test in splits_of(NUMBERS):
        model.fit(TABLE.loc[train, ["x"]], NUMBERS.loc[train, "y"], TABLE.loc[train, "w"])
        squares[test] = (NUMBERS.loc[test, "y"] - model.predict(TABLE.loc[test, ["x"]])) ** 2
    mean = np.average(squares, weights=TABLE["w"])
    assert estimate["estimate"] == pytest.approx(np.sqrt(mean))
    influence = TABLE["w"] / TABLE["w"].mean() * (squares - mean) / (2 * np.sqrt(mean))
    rows = evidence.losses[0, :, evidence.names.index("b")]
    assert rows.std() == pytest.approx(influence.std(ddof=0))


def test_equal_weights_change_nothing(tmp_path):
    frame = CLASSES.assign(w=2.0)
    for folder in ("weighted", "plain"):
        (tmp_path / folder).mkdir()
    weighted = carried_out(frame, LogisticRegression(), tmp_path / "weighted", resampling="3-fold")
    study = Study(
        "plain", [DataChoice(frame.drop(columns="w"), target="y")],
        {"a": LogisticRegression(C=2.0), "b": "majority class"}, resampling="3-fold",
    )  # fmt: skip
    # Twice the weight is half the penalty.
    plain = run(study, tmp_path / "plain" / "runs.sqlite", engine="serial", progress=False)
    ours, theirs = analyse(weighted), analyse(plain)
    for one, other in zip(ours.evidence.values(), theirs.evidence.values(), strict=True):
        columns = ["estimate", "low", "high"]
        pd.testing.assert_frame_equal(one.table[columns], other.table[columns], rtol=1e-6)


def test_stores_without_weights_count_each_row_once(classified, tmp_path):
    copied = tmp_path / "old.sqlite"
    copied.write_bytes(classified.path.read_bytes())
    with sqlite3.connect(copied) as connection:
        connection.execute("DROP TABLE row_weights")
    connection.close()
    old = Results(copied).scores("error")["error"]
    assert not np.allclose(old, classified.scores("error")["error"])


def test_the_locked_part_is_measured_by_weight(tmp_path):
    study = Study(
        "weighted", [DataChoice(CLASSES, target="y", weights="w")], {"a": LogisticRegression()},
        resampling="3-fold", test_share=0.5,
    )  # fmt: skip
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    done = finalise(results, study=study, source=CLASSES)
    card = done.card.responses[0]
    locked = make_plan(study).data[0].locked
    train = np.setdiff1d(np.arange(N_ROWS), locked)
    model = LogisticRegression().fit(
        CLASSES.loc[train, ["x"]].to_numpy(), CLASSES.loc[train, "y"], TABLE.loc[train, "w"]
    )
    wrong = model.predict(CLASSES.loc[locked, ["x"]].to_numpy()) != CLASSES.loc[locked, "y"]
    assert card.value == pytest.approx(np.average(wrong, weights=TABLE.loc[locked, "w"]))
    assert card.method.startswith("bootstrap")


def test_measures_that_take_no_weights_are_named():
    words = weights_notice("w", [measure("error"), measure("interval_width")])
    assert "(interval_width cannot: each row counts once there)" in words
    assert "cannot" not in weights_notice("w", [measure("error")])


def test_intervals_count_rows_by_their_weights(tmp_path):
    few = CLASSES.assign(w=np.where(np.arange(N_ROWS) < 6, 1.0, 1e-6))
    results = carried_out(few, LogisticRegression(), tmp_path, resampling="3-fold")
    (known,) = analyse(results, "error").evidence.values()
    assert known.worth == pytest.approx(6, abs=0.1)
    low, high = known.interval("b")
    assert high - low > 0.3


def test_estimates_by_the_bootstrap_are_refused(tmp_path):
    results = carried_out(CLASSES, LogisticRegression(), tmp_path, resampling="bootstrap 3")
    with pytest.raises(DataError, match="rows of this study have weights"):
        results.bootstrap_errors("error")
