"""What decisions cost, from tables and files, in `compare` and in study files."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.experiment import compare, read_study
from verulam.experiment._study.choices import default_learners
from verulam.experiment._study.cost_matrix import read_losses

RNG = np.random.default_rng(0)
INPUTS = pd.DataFrame(RNG.normal(size=(120, 2)), columns=["a", "b"])
ILL = INPUTS["a"] + RNG.normal(size=120) > 1.0
FRAME = INPUTS.assign(state=np.where(ILL, "ill", "well"))
LOSSES = {"ill": {"ill": 0.0, "well": 1.0}, "well": {"ill": 10.0, "well": 0.0}}
OPTIONS = {"target": "state", "resampling": "3-fold", "progress": False}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("decision, ill , well\n ill,0,1\nwell,10,0\n")
    return path


def test_table_file_and_mapping_are_the_same(file):
    assert read_losses(file) == read_losses(str(file)) == LOSSES
    assert read_losses(pd.DataFrame(LOSSES).T) == LOSSES
    assert read_losses(LOSSES) is LOSSES
    assert read_losses(None) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("decision,ill,well\nill,0,much\nwell,1,0\n", "'much' for decision 'ill' and class 'well'"),
        ("decision,ill,well\nill,0,\nwell,1,0\n", "'' for decision 'ill' and class 'well'"),
        ("decision,ill,well\n", "the table is empty"),
        ("decision,ill,well\nill,0,1\n ill,5,0\n", "decision 'ill' is there twice"),
        ("", "cannot be read as a table"),
    ],
)
def test_odd_files_are_refused(tmp_path, content, message):
    path = tmp_path / "costs.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        read_losses(path)


def test_other_kinds_are_refused(tmp_path):
    with pytest.raises(DataError, match="losses: got int; expected"):
        read_losses(3)
    with pytest.raises(DataError, match="losses: there is no file"):
        read_losses(tmp_path / "none.csv")


def test_compare_goes_by_the_mean_cost(file):
    learners = ["majority class", "logistic regression"]
    comparison = compare(FRAME, learners, losses=file, **OPTIONS)
    means = comparison.ranking()["mean"]
    # To call everybody ill costs 1 for each who is well; the rare mistake would cost 10.
    assert means["majority class"] == pytest.approx(np.mean(~ILL))
    assert means["logistic regression"] < means["majority class"]
    text = " ".join(str(comparison).split())
    assert "expected cost" in text
    assert "what their decisions cost on average" in text


def test_the_measure_has_other_names(file):
    named = compare(FRAME, ["majority class"], losses=file, measure="expected cost", **OPTIONS)
    assert named.ranking()["mean"].iloc[0] == pytest.approx(np.mean(~ILL))


def test_costs_of_weighted_rows(file):
    weight = np.where(ILL, 1.0, 4.0)
    weighted = compare(
        FRAME.assign(w=weight), ["majority class"], losses=file, weights="w", **OPTIONS
    )
    # By weight, illness is too improbable for its loss: all are called well.
    expected = 10 * np.average(ILL, weights=weight)
    assert expected < np.mean(~ILL)
    assert weighted.ranking()["mean"].iloc[0] == pytest.approx(expected, rel=1e-2)


def test_withholding_has_a_price():
    comparison = compare(FRAME, ["logistic regression"], reject_cost=0.01, **OPTIONS)
    # Nearly every row is doubtful enough to be worth that little.
    assert comparison.ranking()["mean"].iloc[0] == pytest.approx(0.01, abs=0.005)


def test_contestants_of_equal_right():
    by_costs, _ = default_learners("classification", 100, costly=True)
    assert "logistic regression (balanced)" in by_costs
    by_labels, _ = default_learners("classification", 100, costly=True, by_labels=True)
    assert "logistic regression (least risk)" in by_labels
    learners = ["logistic regression", "logistic regression (least risk)"]
    means = compare(
        FRAME, learners, losses=LOSSES, measure="recall", **OPTIONS
    ).ranking()["mean"]  # fmt: skip
    assert means.nunique() == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "a"}, "losses: 'a' is a number; decisions are between classes"),
        ({"losses": {"ill": {"ill": 0, "cured": 1}}}, "losses: "),
    ],
)
def test_losses_that_do_not_fit_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        compare(FRAME, ["majority class"], **{**OPTIONS, "losses": LOSSES, **options})


def test_study_files_name_a_file_beside_them(file):
    FRAME.to_csv(file.with_name("patients.csv"), index=False)
    study = file.with_name("study.toml")
    study.write_text(
        'losses = "costs.csv"\nmeasures = ["risk"]\nlearners = ["majority class"]\n'
        '[[data]]\nsource = "patients.csv"\ntarget = "state"\n'
    )
    assert read_study(study).losses == LOSSES


@pytest.mark.parametrize(("yes", "no"), [(True, False), (1, 0)])
def test_labels_that_are_no_words(yes, no):
    losses = {str(yes): {str(yes): 0, str(no): 1}, str(no): {str(yes): 10, str(no): 0}}
    frame = INPUTS.assign(ill=np.where(ILL, yes, no))
    learners = ["majority class", "logistic regression (least risk)"]
    comparison = compare(frame, learners, losses=losses, **{**OPTIONS, "target": "ill"})
    assert comparison.ranking()["mean"]["majority class"] == pytest.approx(np.mean(~ILL))
