"""Hessian products against differences of gradients, and what is made of them."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.neural import (
    Network,
    TrainingError,
    hessian_diagonal,
    hessian_product,
    layout_of,
)
from verulam.neural._network.network import ACTIVATIONS, OUTPUTS

RANDOM = np.random.default_rng(3)
ROWS = RANDOM.normal(size=(9, 3))
WEIGHTS = RANDOM.uniform(0.2, 2.0, size=9)


def problem(activation, output, hidden=(4,), **options):
    n_outputs = {"binary": 1, "softmax": 3}.get(output, 2)
    layout = layout_of((3, *hidden, n_outputs), **options)
    codes = np.arange(9) % 3
    numbers = RANDOM.uniform(0.1, 0.9, size=(9, 2))
    targets = {"binary": codes % 2, "softmax": codes}.get(output, numbers)
    network = Network(layout, activation, output, gain=1.3)
    return TrainingError(network, ROWS, targets, WEIGHTS, alpha=0.4)


def differences(error, theta, direction, step=1e-5):
    ends = [error.value_and_gradient(theta + sign * step * direction)[1] for sign in (1, -1)]
    return (ends[0] - ends[1]) / (2 * step)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_unit_with_every_output(activation, output):
    error = problem(activation, output, skip=True)
    theta = RANDOM.normal(size=error.network.layout.n_parameters)
    direction = RANDOM.normal(size=len(theta))
    np.testing.assert_allclose(
        hessian_product(error, theta, direction), differences(error, theta, direction), atol=1e-7
    )


@pytest.mark.parametrize("hidden", [(3, 4), (4, 3, 2), (2, 3, 3, 2)])
def test_every_depth(hidden):
    error = problem("tanh", "softmax", hidden)
    theta = RANDOM.normal(size=error.network.layout.n_parameters)
    direction = RANDOM.normal(size=len(theta))
    np.testing.assert_allclose(
        hessian_product(error, theta, direction), differences(error, theta, direction), atol=1e-7
    )


@pytest.mark.parametrize("output", ["softmax", "binary", "identity"])
def test_more_rows_than_a_chunk(output, monkeypatch):
    error = problem("tanh", output, (4, 3), skip=True)
    theta = RANDOM.normal(size=error.network.layout.n_parameters)
    direction = RANDOM.normal(size=len(theta))
    at_once = hessian_product(error, theta, direction)
    monkeypatch.setattr("verulam.neural._network.curvature.CHUNK_ROWS", 4)
    np.testing.assert_allclose(hessian_product(error, theta, direction), at_once, rtol=1e-12)


def test_absent_and_tied_weights():
    mask = np.ones((3, 4), dtype=bool)
    mask[0, 1] = False
    labels = np.full((4, 2), -1)
    labels[:2, 0] = 0
    error = problem("tanh", "identity", masks=[mask, None], tied=[None, labels])
    layout = error.network.layout
    theta = layout.start(np.random.default_rng(0), "glorot", "tanh", np.float64)
    direction = layout.start(np.random.default_rng(1), "glorot", "tanh", np.float64)
    np.testing.assert_allclose(
        hessian_product(error, theta, direction), differences(error, theta, direction), atol=1e-8
    )


def full_matrix(error, theta):
    return np.array([hessian_product(error, theta, row) for row in np.eye(len(theta))])


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_it_is_symmetric_and_its_diagonal_is_that_of_the_matrix(activation, output):
    error = problem(activation, output, skip=True)
    theta = RANDOM.normal(size=error.network.layout.n_parameters)
    matrix = full_matrix(error, theta)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-14)
    np.testing.assert_allclose(hessian_diagonal(error, theta), np.diag(matrix), atol=1e-13)


@pytest.mark.parametrize("numbers", [1, 2**22])
def test_the_diagonal_of_deep_networks_with_absent_and_tied_weights(numbers, monkeypatch):
    monkeypatch.setattr("verulam.neural._network.curvature.MATRIX_NUMBERS", numbers)
    mask = np.ones((3, 4), dtype=bool)
    mask[0, 1] = False
    tied = np.full((4, 3), -1)
    tied[:2, 0] = 0
    for options in ({"masks": [mask, None, None]}, {"tied": [None, tied, None]}):
        error = problem("tanh", "softmax", (4, 3), **options)
        theta = error.network.layout.start(np.random.default_rng(0), "glorot", "tanh", np.float64)
        expected = np.diag(full_matrix(error, theta))
        np.testing.assert_allclose(hessian_diagonal(error, theta), expected, atol=1e-13)


def test_the_diagonal_costs_no_product_for_each_weight(monkeypatch):
    error = problem("tanh", "softmax")

    def refuse(*arguments):
        raise AssertionError

    monkeypatch.setattr("verulam.neural._network.curvature.hessian_product", refuse)
    assert len(hessian_diagonal(error, np.zeros(error.network.layout.n_parameters))) == 31


def test_other_lengths_are_refused():
    error = problem("tanh", "identity")
    with pytest.raises(DataError, match="expected 26 numbers each"):
        hessian_product(error, np.zeros(3), np.zeros(3))
    with pytest.raises(DataError, match="theta: expected 26 numbers"):
        hessian_diagonal(error, np.zeros(3))
