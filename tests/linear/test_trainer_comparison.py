"""All trainers on one stage."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.linear.examples import CORNERS, XOR, overlapping, separable

from verulam.base import DataError, UnknownNameError, clone
from verulam.linear import (
    GradientLogistic,
    Hyperplane,
    LeastMeanSquares,
    LineComparison,
    Madaline,
    compare_lines,
    line_trainers,
)
from verulam.linear._training import trainer as trainer_module


def test_all_trainers_separate_what_can_be_separated():
    lines = compare_lines(*separable(gap=1.0))
    seeking = lines.table.drop(
        [
            "least mean squares",
            "batch least mean squares",
            "least squares",
            "fisher",
            "averaged perceptron",
            "voted perceptron",
        ]
    )
    assert lines.separability
    assert len(lines.table) == len(line_trainers()) == 22
    assert (seeking["errors"] == 0).all()
    assert (seeking["margin"] > 0).all()
    assert (lines.table["seconds"] > 0).all()


def test_no_trainer_finds_a_wider_margin_than_there_is():
    rows, classes = separable(gap=1.0)
    lines = compare_lines(rows, classes)
    signs = np.where(classes == 1, 1.0, -1.0)
    for name, margin in lines.table["margin"].dropna().items():
        trainer = lines.trainers[name]
        plane = Hyperplane(trainer.coef_[0], float(trainer.intercept_[0]))
        assert (signs * plane.signed_distance(rows)).min() == pytest.approx(margin), name


def test_overlap_is_reported_not_hidden():
    lines = compare_lines(CORNERS, XOR)
    assert not lines.separability
    assert not lines.table.loc["fixed increment", "converged"]
    assert "never will" in lines.table.loc["fixed increment", "remark"]
    assert lines.table.loc["least squares", "converged"]
    assert lines.table["errors"].min() >= 1
    assert str(lines).startswith("The linear program says that no line separates")


def test_large_tables_hear_what_the_program_found(monkeypatch):
    monkeypatch.setattr(trainer_module, "MOST_CELLS_TO_EXPLAIN", 5)
    remarks = compare_lines(CORNERS, XOR, ["fixed increment", "pocket"]).table["remark"]
    assert "never will: a linear program proves" in remarks["fixed increment"]
    assert "separability says whether" not in " ".join(remarks)


def test_trainers_of_ones_own_take_part():
    trainers = {"logistic": LogisticRegression(), "wild": LeastMeanSquares(learning_rate=50.0)}
    lines = compare_lines(*overlapping(), trainers)
    assert lines.table.loc["logistic", "error rate"] < 0.4
    assert "grow without bound" in lines.table.loc["wild", "remark"]


def test_one_name_is_enough_and_none_is_not():
    assert compare_lines(CORNERS, XOR, "pocket").table.index.tolist() == ["pocket"]
    with pytest.raises(DataError, match="trainers is empty; name some of gradient descent"):
        compare_lines(CORNERS, XOR, [])


def test_a_misspelt_trainer_is_answered_with_near_names():
    with pytest.raises(UnknownNameError, match="pocket"):
        compare_lines(CORNERS, XOR, ["poket"])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (True, "says that a line separates"),
        (False, "says that no line separates"),
        (None, "could not decide whether a line separates"),
    ],
)
def test_the_answer_is_said_in_words(answer, words):
    lines = compare_lines(CORNERS, XOR, ["least squares"])
    comparison = replace(lines, separability=replace(lines.separability, separable=answer))
    assert words in str(comparison).partition("\n")[0]
    assert "least squares" in str(comparison)


@pytest.mark.parametrize(
    ("name", "trainer"),
    [
        *((name, trainer) for name, trainer in line_trainers().items() if name != "logistic"),
        ("madaline", Madaline(random_state=0)),
        ("gradient logistic", GradientLogistic(random_state=0)),
    ],
)
def test_every_trainer_records_weights_criterion_and_errors_on_request(name, trainer):
    rows, classes = separable(gap=1.0)
    way = clone(trainer).set_params(record="steps").fit(rows, classes).trajectory_
    assert len(way.steps) == len(way.weights) == len(way.criterion) == len(way.errors) >= 1
    assert way.weights.shape[-1] == 4
    assert way.criterion[-1] <= way.criterion[0] or name == "averaged perceptron"
    assert clone(trainer).set_params(record=None).fit(rows, classes).trajectory_ is None


def test_a_comparison_holds_what_can_be_drawn():
    rows, classes = separable()
    lines = compare_lines(rows, classes, "least squares")
    assert isinstance(lines, LineComparison)
    assert lines.trainers["least squares"].score(rows, classes) == 1.0
    assert lines.separability.separable
    assert np.array_equal(lines.inputs, rows)
    assert np.array_equal(lines.classes, classes)
