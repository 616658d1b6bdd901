"""Stable functions of probabilities, and the compiled passes behind them."""

import numba
import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_allclose, assert_array_equal

import verulam.numerics._special as special
from verulam.numerics import (
    largest_linear_function,
    linear_functions,
    log_sum_exp,
    logit,
    normalise_rows,
    sigmoid,
    softmax,
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
    assert_allclose(log_normalise(values), log_normalise.py_func(values))
    assert_array_equal(largest_column(values), largest_column.py_func(values))
    assert_array_equal(largest_column(values), values.argmax(axis=1))
    arguments = (values, values[:3], values[:3, 0], values[3])
    assert_array_equal(largest_linear(*arguments), largest_linear.py_func(*arguments))
    assert_allclose(linear_values(*arguments), linear_values.py_func(*arguments))
