"""Stable functions of probabilities, and the compiled passes behind them."""

import numba
import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_allclose, assert_array_equal

import verulam.numerics._special as special
from verulam.numerics import (
    PosteriorMixin,
    largest_linear_function,
    linear_functions,
    log_sum_exp,
    logit,
    normalise_rows,
    sigmoid,
    sigmoid_slope,
    softmax,
    softmax_jacobian,
)
from verulam.numerics._special_loops import (
    largest_column,
    largest_linear,
    linear_values,
    log_normalise,
)


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(scale=30.0, size=(200, 4))


def test_normalise_rows_is_softmax(values):
    assert_allclose(normalise_rows(values), scipy.special.softmax(values, axis=1), rtol=1e-12)


def test_far_rows_neither_overflow_nor_vanish():
    rows = normalise_rows(np.array([[1e5, 1e5 - 1.0], [-1e5, -1e5 - 1.0]]))
    assert_allclose(rows, [[0.7310585786, 0.2689414214]] * 2)
    assert log_sum_exp([-1000.0, -1000.0]) == pytest.approx(-1000.0 + np.log(2.0))


def test_sigmoid_and_logit_undo_each_other():
    numbers = np.array([-700.0, -1.0, 0.0, 2.0])
    assert_allclose(logit(sigmoid(numbers)), numbers)
    assert sigmoid(-1e4) == 0.0
    assert softmax([0.0, np.log(3.0)]) == pytest.approx([0.25, 0.75])


def test_the_sigmoids_slope_agrees_with_differences():
    assert sigmoid(0.0) == 0.5
    points = np.array([-3.0, -0.5, 0.0, 1.0, 4.0])
    slopes = (sigmoid(points + 1e-6) - sigmoid(points - 1e-6)) / 2e-6
    assert_allclose(sigmoid_slope(points), slopes, rtol=1e-7)
    assert_allclose(sigmoid_slope(points), sigmoid(points) * (1 - sigmoid(points)))


def test_the_sigmoids_slope_keeps_its_digits_far_out():
    assert_allclose(sigmoid_slope([50.0, -50.0]), np.exp(-50.0), rtol=1e-12)
    assert sigmoid_slope(1e4) == 0.0


def test_the_softmax_jacobian_agrees_with_differences():
    point, small = np.array([0.3, -1.2, 2.0, 0.5]), 1e-6
    steps = small * np.eye(4)
    columns = [(softmax(point + s) - softmax(point - s)) / (2 * small) for s in steps]
    assert_allclose(softmax_jacobian(point), np.column_stack(columns), atol=1e-9)
    shares = softmax(point)
    assert_allclose(softmax_jacobian(point), np.diag(shares) - np.outer(shares, shares))


def test_softmax_and_its_jacobian_do_not_see_a_shift():
    rows = np.array([[0.0, 1.0, -2.0], [3.0, 3.0, 3.0]])
    for shift in (-1e4, 1e4):
        assert_allclose(softmax(rows + shift, axis=1), softmax(rows, axis=1), rtol=1e-11)
        assert_allclose(softmax_jacobian(rows + shift), softmax_jacobian(rows), rtol=1e-11)
    assert softmax_jacobian(rows).shape == (2, 3, 3)
    certain = softmax_jacobian([0.0, -50.0])
    assert_allclose(certain[0, 0], np.exp(-50.0), rtol=1e-12)


def test_two_classes_have_the_sigmoids_slope():
    values = np.array([[1.3, -0.4]])
    assert softmax_jacobian(values)[0, 0, 0] == pytest.approx(sigmoid_slope(1.7))


@pytest.mark.parametrize("few", [0, 1024])
def test_largest_linear_function(monkeypatch, few):
    monkeypatch.setattr(special, "FEW_WEIGHTS", few)
    rng = np.random.default_rng(1)
    X, weights, intercepts = rng.normal(size=(50, 3)), rng.normal(size=(5, 3)), rng.normal(size=5)
    origin = rng.normal(size=3)
    expected = ((X - origin) @ weights.T + intercepts).argmax(axis=1)
    assert_array_equal(largest_linear_function(X, weights, intercepts, origin), expected)
    values = (X - origin) @ weights.T + intercepts
    assert_allclose(linear_functions(X, weights, intercepts, origin), values)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_loops_equal_their_python_source(values):
    size, functions = len(values), (values, values[:3], values[:3, 0], values[3])
    cases = [
        (log_normalise, (values,), np.empty_like(values)),
        (largest_column, (values,), np.empty(size, dtype=np.intp)),
        (largest_linear, functions, np.empty(size, dtype=np.intp)),
        (linear_values, functions, np.empty((size, 3))),
    ]
    for loop, arguments, result in cases:
        plain = result.copy()
        loop(*arguments, result)
        loop.py_func(*arguments, plain)
        assert_allclose(result, plain)
    assert_array_equal(cases[1][2], values.argmax(axis=1))


def test_the_largest_of_many_rows_and_of_few(monkeypatch):
    values = np.random.default_rng(0).integers(4, size=(40, 5)).astype(float)
    few = special.largest_columns(values)
    monkeypatch.setattr(special, "FEW_ROWS", 10)
    assert_array_equal(special.largest_columns(values), few)
    assert_array_equal(few, values.argmax(axis=1))


class Fixed(PosteriorMixin):
    classes_ = np.array(["a", "b"])

    def _joint_log_likelihood(self, X):
        return np.log(np.asarray(X, dtype=float))


def test_posteriors_are_normalised_joints():
    rows = [[0.028, 0.007], [0.1, 0.3]]
    assert_allclose(Fixed().predict_proba(rows), [[0.8, 0.2], [0.25, 0.75]])
    assert_allclose(np.exp(Fixed().predict_log_proba(rows)), [[0.8, 0.2], [0.25, 0.75]])
    assert_array_equal(Fixed().predict(rows), ["a", "b"])


def test_the_joint_must_be_defined():
    with pytest.raises(NotImplementedError, match="PosteriorMixin must define"):
        PosteriorMixin().predict([[0.0]])
