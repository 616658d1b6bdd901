"""Gradients by layer, and what inputs weigh."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError
from verulam.neural import (
    ConvolutionalClassifier,
    MLPRegressor,
    Network,
    RecurrentNetwork,
    RecurrentRegressor,
    SequenceError,
    TrainingError,
    gradient_norms,
    input_importance,
    layout_of,
    recurrent_layout,
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


def test_gradients_vanish_on_the_way_back_in_time():
    """Unfolded, a network is as deep as a sequence is long."""
    inputs, starts = np.random.default_rng(0).normal(size=(36, 3)), np.array([0, 12, 24, 36])
    network = RecurrentNetwork(recurrent_layout((3, 6, 1), "hidden"), "logistic")
    theta = network.layout.start(np.random.default_rng(1), "glorot", "logistic", np.float64)
    error = SequenceError(network, inputs, starts, inputs[:, :1])
    norms = gradient_norms(error, theta)
    assert norms.index.name == "steps before the last"
    assert len(norms) == 12
    assert norms.is_monotonic_decreasing
    # Geometric: about the same factor from step to step.
    factors = norms.to_numpy()[2:] / norms.to_numpy()[1:-1]
    assert factors.max() < 0.5
    assert factors.max() / factors.min() < 2


def test_what_arrives_is_the_slope_by_the_inputs():
    """A step back, by differences: inputs enter the sums of hidden units by known weights."""
    inputs = np.random.default_rng(0).normal(size=(4, 4))
    network = RecurrentNetwork(recurrent_layout((4, 4, 1), "hidden"), "tanh")
    theta = network.layout.start(np.random.default_rng(1), "glorot", "tanh", np.float64)
    network.layout.perceptron.weights(theta, 0)[:] = np.eye(4)
    last = np.array([False, False, False, True])

    def value(rows):
        error = SequenceError(network, rows, [0, 4], np.zeros((4, 1)), mask=last)
        return error.value_and_gradient(theta)[0]

    norms = gradient_norms(SequenceError(network, inputs, [0, 4], np.zeros((4, 1))), theta)
    for before in range(4):
        slopes = []
        for column in range(4):
            ends = []
            for sign in (1, -1):
                moved = inputs.copy()
                moved[3 - before, column] += sign * 1e-6
                ends.append(value(moved))
            slopes.append((ends[0] - ends[1]) / 2e-6)
        assert norms[before] == pytest.approx(np.linalg.norm(slopes), rel=1e-6)


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


def test_inputs_of_other_networks_are_not_weighed():
    for learner in (RecurrentRegressor(2, max_iter=2), ConvolutionalClassifier(2, max_iter=2)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            learner.fit(ROWS, np.arange(9) % 2)
        with pytest.raises(DataError, match="expected a fitted perceptron"):
            input_importance(learner)
