"""Parameters of kernels as logarithms, and gradients of functions of Gram matrices."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.kernel import (
    Centred,
    Columns,
    Gaussian,
    GramGradient,
    Laplace,
    Linear,
    Mahalanobis,
    Polynomial,
    gram_gradient,
    log_hyperparameters,
    with_log_hyperparameters,
)

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(12, 3)) + 5.0
KERNELS = {
    "linear": Linear(),
    "gaussian": Gaussian(1.3),
    "widths": Gaussian((0.7, 1.5, 3.0)),
    "scaled": 2.5 * Gaussian(1.3),
    "sum": 2.5 * Gaussian(1.3) + 0.3 * Linear(),
    "product": (2.0 * Gaussian(1.3)) * (Linear() + Gaussian((1.0, 2.0, 3.0))),
    "polynomial": Polynomial(degree=2, offset=0.5, scale=0.3),
    "laplace": 1.5 * Laplace(2.0),
    "columns": Columns(Gaussian((1.0, 2.0)), (0, 2)),
    "centred": Centred(Gaussian(2.0)).adapted(ROWS),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_gradient_is_that_of_differences(kernel):
    weights = RNG.normal(size=(12, 12))
    result = gram_gradient(kernel, ROWS)
    assert isinstance(result, GramGradient)
    np.testing.assert_allclose(result.gram, kernel(ROWS), rtol=1e-10)
    logarithms = log_hyperparameters(kernel)
    expected = []
    for move in 1e-6 * np.eye(len(logarithms)):
        above = with_log_hyperparameters(kernel, logarithms + move)(ROWS)
        below = with_log_hyperparameters(kernel, logarithms - move)(ROWS)
        expected.append((weights * (above - below)).sum() / 2e-6)
    gradient = result.pull_back(weights.copy())
    np.testing.assert_allclose(gradient, expected, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_parameters_go_and_come_back(kernel):
    again = with_log_hyperparameters(kernel, log_hyperparameters(kernel))
    np.testing.assert_allclose(again(ROWS), kernel(ROWS), rtol=1e-12)
    np.testing.assert_allclose(log_hyperparameters(again), log_hyperparameters(kernel))


def test_which_numbers_are_parameters():
    def numbers(kernel):
        return np.exp(log_hyperparameters(kernel)).round(6).tolist()

    assert numbers(Linear()) == []
    assert numbers(Polynomial(degree=3, offset=0.0, scale=2.0)) == [2.0]
    assert numbers(Gaussian(2)) == [2.0]
    assert numbers(Mahalanobis().adapted(ROWS)) == []
    assert numbers(2 * Gaussian((1.0, 2.0, 3.0)) + 4.0 * Linear()) == [2.0, 1.0, 2.0, 3.0, 4.0]


def test_wrong_counts_and_open_widths_are_refused():
    with pytest.raises(DataError, match="the kernel has 2 parameters, but 1 logarithms came"):
        with_log_hyperparameters(2.0 * Gaussian(1.0), [0.0])
    with pytest.raises(DataError, match='width "scale" comes from the training data'):
        log_hyperparameters(Gaussian())
