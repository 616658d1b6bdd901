"""Traces: the lines drawn are the numbers recorded."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.linear import GradientLogistic, Perceptron, gradient_descent
from verulam.numerics import sigmoid
from verulam.plots import criterion_trace, sigmoid_trace, weight_trace, weight_trajectory

ROWS, CLASSES = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
OPTIONS = {"mode": "batch", "tol": 0.0, "max_iter": 50, "random_state": 0}
MODEL = GradientLogistic(record="passes", **OPTIONS).fit(ROWS, CLASSES)


def _named(axes):
    return {line.get_label(): line for line in axes.get_lines() if line.get_label()[0] != "_"}


def test_every_weight_is_drawn_over_the_passes():
    drawn = _named(weight_trace(MODEL))
    assert list(drawn) == ["$w_{10}$", "$w_{11}$", "$w_{20}$", "$w_{21}$"]
    way = MODEL.trajectory_
    assert np.array_equal(drawn["$w_{21}$"].get_ydata(), way.weights[:, 1, 1])
    assert np.array_equal(drawn["$w_{21}$"].get_xdata(), np.arange(51))
    plane = Perceptron(record="steps", random_state=0).fit(ROWS, CLASSES)
    drawn = _named(weight_trace(plane))
    assert np.array_equal(drawn["$w_{1}$"].get_ydata(), plane.trajectory_.weights[:, 1])


def test_a_descent_has_a_trace_as_well():
    way = gradient_descent(lambda a: a, [1.0, 2.0], criterion=lambda a: 0.5 * float(a @ a))
    drawn = _named(weight_trace(way))
    assert np.array_equal(drawn["$w_{0}$"].get_ydata(), way.path[:, 0])
    curve = criterion_trace(way).get_lines()[0]
    assert np.array_equal(curve.get_ydata(), way.values)
    curve = criterion_trace(MODEL).get_lines()[0]
    assert np.array_equal(curve.get_ydata(), MODEL.trajectory_.criterion)


def test_many_weights_have_no_names():
    rows = np.random.default_rng(0).normal(size=(30, 20))
    plane = Perceptron(record="passes", random_state=0).fit(rows, rows[:, 0] > 0)
    assert weight_trace(plane).get_legend() is None


@pytest.mark.parametrize("posterior", [True, False])
def test_the_sigmoid_is_that_of_the_weights_after_so_many_passes(posterior):
    axes = sigmoid_trace(MODEL, ROWS, steps=(5, 50, 500), posterior=posterior)
    drawn = _named(axes)
    assert list(drawn) == ["5", "50"]
    points = drawn["50"].get_xdata()
    values = drawn["50"].get_ydata()
    if posterior:
        assert np.allclose(values, MODEL.predict_proba(points[:, None])[:, 1])
    else:
        assert np.allclose(sigmoid(values), MODEL.predict_proba(points[:, None])[:, 1])
    middle = np.abs(np.diff(drawn["50"].get_ydata())).max()
    assert middle > np.abs(np.diff(drawn["5"].get_ydata())).max()


def test_ways_of_several_outputs_are_drawn_by_the_last():
    path = weight_trajectory(MODEL).get_lines()[0]
    assert np.array_equal(path.get_ydata(), MODEL.trajectory_.weights[:, -1, -1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: weight_trace(Perceptron(random_state=0).fit(ROWS, CLASSES)), "no trajectory"),
        (lambda: criterion_trace(gradient_descent(lambda a: a, [1.0])), "has no values"),
        (lambda: sigmoid_trace(MODEL, np.zeros((3, 2))), "one input; these rows have 2"),
        (
            lambda: sigmoid_trace(
                GradientLogistic(record="passes", **OPTIONS).fit(ROWS, [0, 1, 2, 2]), ROWS
            ),
            "two classes; the trainer has 3",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said(call, message):
    with pytest.raises(DataError, match=message):
        call()
