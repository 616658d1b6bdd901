"""Samples from known functions: the function, and the noise round it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.data import friedman, linear, noisy_sine, polynomial


def test_sine():
    exact = noisy_sine(200, noise=0, random_state=0)
    x = exact.inputs["x1"].to_numpy()
    assert x.min() >= -0.5
    assert x.max() <= 0.5
    assert_allclose(exact.target_values, np.sin(6 * x))
    noisy = noisy_sine(5000, random_state=0)
    residual = noisy.target_values - np.sin(6 * noisy.inputs["x1"])
    assert_allclose(residual.std(), 0.1, atol=0.005)
    assert_allclose(residual.mean(), 0, atol=0.005)


def test_polynomial():
    data = polynomial([1, 2, 3], noise=0, random_state=0)
    assert_allclose(np.polyfit(data.inputs["x1"], data.target_values, 2), [3, 2, 1])


def test_linear_recovers_its_weights():
    data = linear([1.0, -2.0, 0.0], 500, intercept=4.0, noise=0, random_state=0)
    design = np.column_stack([np.ones(500), data.inputs])
    weights = np.linalg.lstsq(design, data.target_values, rcond=None)[0]
    assert_allclose(weights, [4, 1, -2, 0], atol=1e-12)


def test_friedman():
    data = friedman(100, n_features=7, noise=0, random_state=0)
    x = data.inputs.to_numpy()
    expected = (
        10 * np.sin(np.pi * x[:, 0] * x[:, 1])
        + 20 * (x[:, 2] - 0.5) ** 2
        + 10 * x[:, 3]
        + 5 * x[:, 4]
    )
    assert x.shape == (100, 7)
    assert_allclose(data.target_values, expected)


def test_bad_parameters():
    with pytest.raises(ValueError, match=r"low=1 must be below high=0\.5"):
        noisy_sine(low=1)
    with pytest.raises(ValueError, match="n_features=4; at least 5"):
        friedman(n_features=4)
    with pytest.raises(ValueError, match="n=0"):
        polynomial(n=0)
