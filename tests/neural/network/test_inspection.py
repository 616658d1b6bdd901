"""Gradients by layer, and what inputs weigh."""

import numpy as np
import pandas as pd
import pytest

from verulam.neural import (
    MLPRegressor,
    Network,
    TrainingError,
    gradient_norms,
    input_importance,
    layout_of,
)

ROWS = np.random.default_rng(3).normal(size=(9, 3))


def test_gradients_vanish_on_the_way_down_through_logistic_layers():
    layout = layout_of((3, *[6] * 5, 1))
    theta = layout.start(np.random.default_rng(0), "glorot", "logistic", np.float64)
    error = TrainingError(Network(layout, "logistic"), ROWS, ROWS[:, :1])
    norms = gradient_norms(error, theta)
    gradient = error.value_and_gradient(theta)[1]
    assert norms["layer 2"] == pytest.approx(np.linalg.norm(layout.weights(gradient, 1)))
    assert norms.is_monotonic_increasing
    assert norms.iloc[0] < 1e-2 * norms.iloc[-1]


@pytest.mark.parametrize("skip", [False, True])
def test_importance_is_the_sum_over_all_ways(skip):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(150, 3)), columns=["a", "b", "noise"])
    target = np.tanh(table["a"]) - 0.5 * table["b"]
    net = MLPRegressor((3, 2), activation="tanh", solver="lbfgs", alpha=0.5, skip=skip,
                       random_state=0).fit(table, target)  # fmt: skip
    shares = input_importance(net)
    ways = np.abs(net.coefs_[0]) @ np.abs(net.coefs_[1]) @ np.abs(net.coefs_[2])[:, 0]
    if skip:
        ways += np.abs(net.network_.layout.skip_weights(net.parameters_))[:, 0]
    np.testing.assert_allclose(shares, ways / ways.sum())
    assert list(shares.index) == ["a", "b", "noise"]
    assert shares["noise"] < 0.1 < shares["b"] < shares["a"]
