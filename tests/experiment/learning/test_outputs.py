"""Several numbers to predict, at once or one after the other."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR

from verulam.base import DataError, UnknownNameError
from verulam.experiment import DataChoice, Study, compare, finalise, make_plan, read_study, run
from verulam.experiment._learning.outputs import OneForEachOutput, learns_outputs, output_scale

RNG = np.random.default_rng(7)
X = RNG.normal(size=(90, 2))
FRAME = pd.DataFrame(X, columns=["a", "b"]).assign(
    height=170 + 10 * X[:, 0] + RNG.normal(size=90),
    weight=0.07 + 0.01 * X[:, 1] + 0.005 * RNG.normal(size=90),
    w=RNG.integers(1, 4, 90) * 1.0,
)
TARGETS = ["height", "weight"]
PLAIN = FRAME.drop(columns="w")
OPTIONS = {"target": TARGETS, "resampling": "3-fold", "progress": False}


def test_one_for_each_agrees_with_scikit_learn():
    Y = FRAME[TARGETS].to_numpy()
    ours = OneForEachOutput(SVR()).fit(X, Y)
    theirs = MultiOutputRegressor(SVR()).fit(X, Y)
    assert ours.predict(X) == pytest.approx(theirs.predict(X))
    weight = FRAME["w"].to_numpy()
    weighted = OneForEachOutput(LinearRegression()).fit(X, Y, sample_weight=weight)
    assert weighted.predict(X) == pytest.approx(LinearRegression().fit(X, Y, weight).predict(X))


@pytest.mark.parametrize(
    ("learner", "together"),
    [
        (LinearRegression(), True),
        (KNeighborsRegressor(), True),
        (SVR(), False),
        (HistGradientBoostingRegressor(), False),
    ],
)
def test_who_learns_several_at_once(learner, together):
    assert learns_outputs(learner) is together


@pytest.fixture(scope="module")
def compared():
    learners = {"line": LinearRegression(), "svr": "support vector regression"}
    return compare(PLAIN, learners, **OPTIONS)


def test_scores_are_in_standard_deviations(compared):
    study = Study("s", [DataChoice(PLAIN, target=TARGETS)], ["mean predictor"], resampling="3-fold")
    # `compare` draws its splits by a seed of its own.
    splits = make_plan(compared.study).data[0].splits
    Y = FRAME[TARGETS].to_numpy()
    scale = Y.std(axis=0)
    expected = []
    for split in splits:
        model = LinearRegression().fit(X[split.train], Y[split.train])
        gaps = (model.predict(X[split.test]) - Y[split.test]) / scale
        expected.append(np.sqrt(np.mean(gaps**2)))
    scores = compared.scores().query("learner == 'line'")["score"]
    assert scores.to_numpy() == pytest.approx(expected)
    assert make_plan(study).data[0].inputs.columns.tolist() == ["a", "b"]
    assert output_scale(np.column_stack([Y[:, 0], np.ones(90)]))[1] == 1.0


def test_who_learns_how_is_said(compared):
    assert "all outputs at once" in compared.preparation["line"]
    assert "a model for each output" in compared.preparation["svr"]
    text = " ".join(str(compared).split())
    assert "height and weight are predicted together" in text
    assert "standard deviations of each column" in text


def test_the_mean_scores_one():
    comparison = compare(PLAIN, ["mean predictor"], **OPTIONS)
    assert comparison.ranking()["mean"].iloc[0] == pytest.approx(1.0, abs=0.05)


def test_other_measures_are_averaged():
    comparison = compare(PLAIN, {"line": LinearRegression()}, measure="r2", **OPTIONS)
    singles = [
        compare(
            PLAIN.drop(columns=other), {"line": LinearRegression()}, measure="r2",
            **{**OPTIONS, "target": name},
        ).ranking()["mean"].iloc[0]
        for name, other in [TARGETS, TARGETS[::-1]]
    ]  # fmt: skip
    assert comparison.ranking()["mean"].iloc[0] == pytest.approx(np.mean(singles))


def test_with_weights_tuning_and_a_report(tmp_path):
    study = Study(
        "several", [DataChoice(FRAME, target=TARGETS, weights="w")],
        ["mean predictor", "regression tree", "support vector regression"],
        resampling="2-fold", tuning={"budget": 2},
    )  # fmt: skip
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    assert not len(results.failures())
    assert results.data_sets()["target"].iloc[0] == "height, weight"
    with pytest.raises(DataError, match="several outputs, and a final model predicts one"):
        finalise(results, study=study)


def test_a_report_is_written(compared, tmp_path):
    page = compared.report(tmp_path / "page.html").read_text()
    assert "height, weight" in page
    assert "there are several outputs" in page


def test_study_files_list_them(tmp_path):
    PLAIN.to_csv(tmp_path / "people.csv", index=False)
    file = tmp_path / "study.toml"
    file.write_text(
        'learners = ["mean predictor"]\n[[data]]\nsource = "people.csv"\n'
        'target = ["height", "weight"]\n'
    )
    (choice,) = read_study(file).data
    assert (choice.target, choice.outputs) == ("height", ("height", "weight"))


def test_rows_without_one_of_them_are_left_out_where_asked():
    gaps = PLAIN.copy()
    gaps.loc[3, "weight"] = np.nan
    with pytest.raises(
        DataError, match="1 row without a value of height or weight; leave them out"
    ):
        compare(gaps, ["mean predictor"], **OPTIONS)
    comparison = compare(gaps, ["mean predictor"], drop_missing_target=True, **OPTIONS)
    assert comparison.analysis.results.data_sets()["n_rows"].iloc[0] == 89


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"weight": "heavy"}, {}, "several columns are learnt together where all are numbers"),
        ({"weight": np.inf}, {}, "column 'weight' is infinite"),
        ({}, {"target": ["height", "height"]}, "'height' is there twice"),
        ({}, {"target": []}, "expected the name of a column, or a list of names"),
        ({}, {"target": 3}, "expected the name of a column, or a list of names"),
        ({}, {"measure": "interval_score"}, "'interval_score' is for one target"),
        ({}, {"leave_out": ["weight"]}, "leave_out: 'weight' is the target"),
    ],
)
def test_odd_targets_are_refused(changes, options, message):
    with pytest.raises(DataError, match=message):
        compare(PLAIN.assign(**changes), ["mean predictor"], **{**OPTIONS, **options})


def test_unknown_columns_are_named():
    with pytest.raises(UnknownNameError, match="target: Unknown column 'wheight'"):
        compare(PLAIN, ["mean predictor"], **{**OPTIONS, "target": ["height", "wheight"]})
