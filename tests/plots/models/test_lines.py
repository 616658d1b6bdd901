"""Lines over classes and trajectories of weights."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.linear import Perceptron, compare_lines, sign_normalise
from verulam.plots import error_curves, lines, trajectories, weight_trajectory

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def test_each_line_lies_on_its_plane():
    comparison = compare_lines(CORNERS, [0, 0, 0, 1], ["batch perceptron", "least squares"])
    axes = lines(comparison)
    for drawn, trainer in zip(axes.get_lines(), comparison.trainers.values(), strict=True):
        points = np.column_stack([drawn.get_xdata(), drawn.get_ydata()])
        assert np.allclose(trainer.hyperplane_.value(points), 0.0, atol=1e-9)


def test_a_trainer_without_a_plane_is_left_out():
    comparison = compare_lines(CORNERS, [0, 1, 1, 0], ["least squares", "batch relaxation"])
    names = [line.get_label() for line in lines(comparison).get_lines()]
    assert names == ["batch relaxation"]


def test_a_trajectory_starts_and_ends_where_the_trainer_did():
    trainer = Perceptron(record="steps", random_state=0).fit(CORNERS, [0, 1, 1, 1])
    axes = weight_trajectory(trainer)
    path = axes.get_lines()[0]
    assert [path.get_xdata()[0], path.get_ydata()[0]] == [0.0, 0.0]
    assert [path.get_xdata()[-1], path.get_ydata()[-1]] == trainer.coef_[0].tolist()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("$w_1$", "$w_2$")


def test_the_region_of_solutions_is_shaded():
    points, classes = np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, 0])
    trainer = Perceptron(record="steps", random_state=0).fit(points, classes)
    axes = weight_trajectory(trainer, rows=sign_normalise(points, classes == 1))
    assert len(axes.patches) == 1
    assert axes.patches[0].contains_point(
        axes.transData.transform([trainer.intercept_[0], trainer.coef_[0, 0]])
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lines(compare_lines(np.eye(3), [0, 1, 1], ["pocket"])), "two inputs"),
        (lambda: weight_trajectory(Perceptron().fit(CORNERS, [0, 1, 1, 1])), "no trajectory"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_boundaries_of_all_kinds_are_drawn():
    names = ["voted perceptron", "logistic", "least squares"]
    comparison = compare_lines(CORNERS, [0, 0, 0, 1], names)
    drawn = {line.get_label(): line for line in lines(comparison).get_lines()}
    assert list(drawn) == names
    points = drawn["voted perceptron"].get_xydata()
    points = points[np.isfinite(points).all(axis=1)]
    near = comparison.trainers["voted perceptron"]
    assert (near.decision_function(points + 0.05) >= near.decision_function(points - 0.05)).all()


def test_ways_lie_in_a_circle_and_end_where_the_trainers_did():
    comparison = compare_lines(CORNERS, [0, 1, 1, 1], ["fixed increment", "least mean squares"])
    axes = trajectories(comparison)
    ways = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
    for name, trainer in comparison.trainers.items():
        weights = np.array([*trainer.intercept_, *trainer.coef_[0]])
        assert (np.linalg.norm(ways[name], axis=1) <= 1 + 1e-9).all()
        assert np.allclose(ways[name][-1], weights[1:] / np.linalg.norm(weights))


def test_errors_so_far_never_rise():
    comparison = compare_lines(CORNERS, [0, 1, 1, 0], ["fixed increment", "pocket"])
    for drawn in error_curves(comparison).get_lines():
        assert (np.diff(drawn.get_ydata()) <= 0).all()


def test_a_line_below_another_shows_on_both_sides():
    comparison = compare_lines(CORNERS, [0, 0, 0, 1], ["fixed increment", "pocket", "fisher"])
    widths = [line.get_linewidth() for line in lines(comparison).get_lines()]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 1.5 * widths[-1]
