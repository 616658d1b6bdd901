"""Criteria of a line: values, gradients by differences, and the steps of the trainers."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from sklearn.exceptions import ConvergenceWarning
from tests.linear.examples import AND, CORNERS, overlapping, separable

from verulam.base import DataError
from verulam.linear import (
    BatchPerceptron,
    HoKashyap,
    LeastMeanSquares,
    LineCriterion,
    MinimumSquaredError,
    Perceptron,
    Relaxation,
    gradient_descent,
    line_criterion,
    newton_descent,
    sign_normalise,
)

NAMES = ["perceptron", "quadratic", "relaxation", "squared error"]
START = np.array([0.3, -0.2, 0.5, 0.1])


def _differences(function, point, small=1e-6):
    steps = small * np.eye(len(point))
    return np.array([(function(point + s) - function(point - s)) / (2 * small) for s in steps])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("margin", [0.0, 0.7])
def test_gradients_agree_with_differences(name, margin):
    criterion = line_criterion(name, *overlapping(60), margin=margin)
    for point in np.random.default_rng(1).normal(size=(5, 4)):
        assert np.allclose(criterion.gradient(point), _differences(criterion.value, point))
        assert np.allclose(
            criterion.gradient(point), approx_fprime(point, criterion.value), rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("margin", [0.0, 0.7])
def test_hessians_agree_with_differences_of_the_gradients(name, margin):
    criterion = line_criterion(name, *overlapping(60), margin=margin)
    for point in np.random.default_rng(1).normal(size=(5, 4)):
        assert np.allclose(criterion.hessian(point), _differences(criterion.gradient, point))
    assert criterion.hessian(point).any() == (name != "perceptron")


def test_values_are_those_of_the_formulas():
    rows, classes = overlapping(60)
    signed = sign_normalise(rows, classes == 1)
    products, squares = signed @ START, (signed**2).sum(axis=1)
    short, wrong = products <= 0.5, products <= 0
    expected = {
        "perceptron": (0.5 - products[short]).sum(),
        "relaxation": 0.5 * ((products - 0.5) ** 2 / squares)[short].sum(),
        "squared error": ((products - 0.5) ** 2).sum(),
    }
    for name, value in expected.items():
        assert line_criterion(name, rows, classes, margin=0.5).value(START) == pytest.approx(value)
    quadratic = line_criterion("quadratic", rows, classes)
    assert quadratic.margin == 0.0
    assert quadratic.value(START) == pytest.approx((products[wrong] ** 2).sum())
    assert quadratic.errors(START) == wrong.sum()


def test_only_the_perceptrons_gradient_jumps():
    """Where a row changes its side the gradient jumps by the row; the squares' does not."""
    rows, classes = overlapping(60)
    row = sign_normalise(rows, classes == 1)[7]
    at = START - row * (row @ START) / (row @ row)
    jumps = {}
    for name in ("perceptron", "quadratic", "relaxation"):
        criterion = line_criterion(name, rows, classes, margin=0.0)
        before, after = (criterion.gradient(at + sign * 1e-9 * row) for sign in (-1, 1))
        jumps[name] = np.linalg.norm(before - after)
    assert jumps["perceptron"] == pytest.approx(np.linalg.norm(row))
    assert max(jumps["quadratic"], jumps["relaxation"]) < 1e-6


def test_zero_exactly_where_all_rows_are_right():
    criterion = line_criterion("perceptron", CORNERS, AND)
    assert criterion.value([-1.5, 1.0, 1.0]) == criterion.errors([-1.5, 1.0, 1.0]) == 0
    assert criterion.value([-0.5, 1.0, 1.0]) > 0
    assert criterion.errors([-0.5, 1.0, 1.0]) == 2


def _two_steps(trainer, sample):
    with pytest.warns(ConvergenceWarning):
        trainer.fit(*sample)
    return trainer.trajectory_.weights[1:3]


@pytest.mark.parametrize(
    ("trainer", "name", "margin", "part"),
    [
        (BatchPerceptron(margin=0.5, learning_rate=0.1), "perceptron", 0.5, 0.1),
        (LeastMeanSquares(mode="batch", learning_rate=0.001), "squared error", 1.0, 0.0005),
        (Relaxation(mode="batch", relaxation=0.7), "relaxation", 1.0, 0.7),
    ],
)
def test_batch_trainers_step_down_their_gradients(trainer, name, margin, part):
    sample = overlapping(60)
    trainer.set_params(max_iter=2, record="passes")
    before, after = _two_steps(trainer, sample)
    criterion = line_criterion(name, *sample, margin=margin)
    rate = part
    if name == "relaxation":
        rate /= (sign_normalise(sample[0], sample[1] == 1) @ before <= margin).sum()
    slopes = _differences(criterion.value, before)
    assert np.allclose(after - before, -rate * slopes, atol=1e-7)
    assert np.isclose(trainer.trajectory_.criterion[1], criterion.value(before))


@pytest.mark.parametrize(
    ("trainer", "name", "part"),
    [
        (Perceptron(learning_rate=0.1, margin=1.0), "perceptron", 0.1),
        (LeastMeanSquares(learning_rate=0.01), "squared error", 0.005),
        (Relaxation(relaxation=0.7), "relaxation", 0.7),
    ],
)
def test_single_sample_trainers_step_down_the_gradient_of_one_row(trainer, name, part):
    """Rows in their order: the second step is down the slope of the second row's own loss."""
    rows, classes = np.array([[1.0, 2.0], [-0.5, 1.0], [0.3, -0.4]]), np.array([1, 0, 1])
    trainer.set_params(shuffle=False, max_iter=1, record="steps")
    first, second = _two_steps(trainer, (rows, classes))
    # The third row lies on its side far beyond the margin, so only the second has a slope.
    lone = line_criterion(name, np.vstack([rows[1], [9.0, 9.0]]), classes[1:], margin=1.0)
    if name == "squared error":
        signed = sign_normalise(rows[1:2], [False])[0]
        slopes = _differences(lambda weights: float((1.0 - signed @ weights) ** 2), first)
    else:
        slopes = _differences(lone.value, first)
    assert np.allclose(second - first, -part * slopes, atol=1e-7)


def test_ho_kashyap_raises_margins_down_their_gradient():
    """Margins go down the gradient of the squared error over them, where that raises them."""
    rows, classes = overlapping(30)
    signed = sign_normalise(rows, classes == 1)
    with pytest.warns(ConvergenceWarning):
        trainer = HoKashyap(max_iter=1, learning_rate=0.5).fit(rows, classes)
    start = np.linalg.pinv(signed) @ np.ones(30)
    slopes = _differences(lambda b: float(((signed @ start - b) ** 2).sum()), np.ones(30))
    assert np.allclose(trainer.margins_, 1.0 - 0.5 * np.minimum(slopes, 0.0), atol=1e-6)


def test_least_squares_is_where_the_gradient_vanishes():
    rows, classes = overlapping(60)
    solution = MinimumSquaredError(record="steps").fit(rows, classes)
    criterion = line_criterion("squared error", rows, classes)
    weights = np.r_[solution.intercept_, solution.coef_[0]]
    assert np.abs(criterion.gradient(weights)).max() < 1e-9
    assert np.allclose(solution.trajectory_.weights, [np.zeros(4), weights])
    assert np.allclose(solution.trajectory_.criterion, [60.0, solution.residual_sum_])


def test_any_optimiser_takes_them():
    rows, classes = separable(gap=2.0)
    criterion = line_criterion("quadratic", rows, classes, margin=1.0)
    descent = gradient_descent(criterion.gradient, np.zeros(4), learning_rate=0.005, max_iter=5000)
    assert criterion.errors(descent.point) == 0


def test_newton_ends_at_the_bottom_of_a_parabola_in_one_step():
    criterion = line_criterion("squared error", *overlapping(60))
    descent = newton_descent(criterion.gradient, criterion.hessian, START, max_iter=1)
    assert np.abs(criterion.gradient(descent.point)).max() < 1e-9


def test_compressed_rows_give_the_same_numbers():
    rows, classes = overlapping(60)
    for name in NAMES:
        dense = line_criterion(name, rows, classes)
        compressed = line_criterion(name, sp.csr_array(rows), classes)
        assert compressed.value(START) == pytest.approx(dense.value(START))
        assert np.allclose(compressed.gradient(START), dense.gradient(START))
        assert np.allclose(compressed.hessian(START), dense.hessian(START))


def test_bad_input_is_named():
    with pytest.raises(KeyError, match=r"Unknown criterion 'perceptro'.*perceptron"):
        line_criterion("perceptro", CORNERS, AND)
    with pytest.raises(DataError, match="two classes; it has 3"):
        line_criterion("quadratic", CORNERS, [0, 1, 2, 2])
    with pytest.raises(DataError, match=r"3 numbers, the bias in front.*\(2,\)"):
        line_criterion("quadratic", CORNERS, AND).value([1.0, 2.0])
    with pytest.raises(DataError, match="one for each row of X"):
        line_criterion("quadratic", CORNERS, [0, 1])
    with pytest.raises(DataError, match="margin must be a finite number"):
        line_criterion("quadratic", CORNERS, AND, margin=np.nan)
    with pytest.raises(DataError, match="missing or infinite"):
        line_criterion("quadratic", [[0.0], [np.nan]], [0, 1])


def test_a_criterion_takes_weights_with_the_bias_in_front():
    criterion = line_criterion("quadratic", [[1.0], [-1.0]], [1, 0], margin=2.0)
    assert isinstance(criterion, LineCriterion)
    assert (criterion.name, criterion.margin) == ("quadratic", 2.0)
    assert criterion.value([0.0, 1.0]) == 2.0
    with pytest.raises(DataError, match="weights must be 2 numbers, the bias in front"):
        criterion.value([1.0])
