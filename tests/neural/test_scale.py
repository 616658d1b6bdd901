"""Numbers far from the unit scale: what is advised where a network has learned little."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError
from verulam.neural import (
    Autoencoder,
    CascadeCorrelationClassifier,
    CascadeCorrelationRegressor,
    MLPClassifier,
    MLPRegressor,
    RecurrentRegressor,
    SequenceError,
    TimeDelayRegressor,
    TrainingError,
)
from verulam.neural._scale import error_without_inputs
from verulam.numerics import DivergenceError

RANDOM = np.random.default_rng(0)
ROWS = pd.DataFrame(RANDOM.normal(size=(80, 3)), columns=["a", "b", "c"])
NUMBERS = 2 * ROWS["a"].to_numpy() + ROWS["b"].to_numpy()
LABELS = NUMBERS > 0


def remarks(learner, X, y=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.fit(X, y)
    assert {warning.category for warning in caught} <= {ConvergenceWarning}
    return " ".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize("factor", [1e-3, 1e4])
def test_targets_far_from_the_unit_scale(factor):
    words = remarks(MLPRegressor(10, max_iter=100, random_state=0), ROWS, factor * NUMBERS)
    assert f"standard deviation of {np.std(factor * NUMBERS):.2g}: subtract" in words
    assert "of X" not in words


def test_targets_far_from_zero():
    words = remarks(MLPRegressor(10, max_iter=100, random_state=0), ROWS, NUMBERS + 5e3)
    assert "y has a mean of 5e+03" in words


def test_the_column_is_named_even_where_training_has_settled():
    table = ROWS.assign(b=1e4 * ROWS["b"])
    words = remarks(MLPClassifier(5, random_state=0, tol=10.0), table, LABELS)
    assert words.startswith("The network has hardly learned. Column 'b' of X has numbers of about")


def test_sequences():
    signals = list(RANDOM.normal(size=(20, 6, 1)))
    for learner in (RecurrentRegressor(3, random_state=0), TimeDelayRegressor(random_state=0)):
        assert "y has a mean of 9.5e+04" in remarks(learner, signals, 1e4 * np.arange(20.0))


def test_cascades():
    wide = ROWS.assign(c=1e12 * ROWS["c"])
    words = "The network has hardly learned. Column 'c' of X has numbers of about"
    for learner, y in (
        (CascadeCorrelationClassifier(random_state=0), LABELS),
        (CascadeCorrelationRegressor(random_state=0), 1e9 * NUMBERS),
    ):
        assert remarks(learner, wide, y).startswith(words)
        assert remarks(learner, 100 * ROWS, y) == ""


def test_nothing_is_said_where_enough_was_learned_or_the_scale_is_innocent():
    easy = MLPRegressor(
        5, activation="identity", solver="lbfgs", tol=1e-1, max_iter=2000, random_state=0
    )
    assert remarks(easy, 100 * ROWS, 100 * NUMBERS) == ""
    noise = np.random.default_rng(1).normal(size=80)
    assert remarks(MLPRegressor(2, tol=1e-2, random_state=0), ROWS, noise) == ""
    short = remarks(MLPRegressor(5, max_iter=3, random_state=0), ROWS, NUMBERS)
    assert short.endswith("raise max_iter, or tol.")
    # Its targets are its inputs, which are spoken of once.
    assert "y has" not in remarks(Autoencoder(1, max_iter=3, random_state=0), 100 * ROWS)


@pytest.mark.parametrize("weights", [None, np.arange(80.0)])
def test_the_error_without_inputs_is_that_of_the_best_constant(weights):
    net = MLPRegressor(2, random_state=0, tol=10.0)
    targets = np.column_stack([NUMBERS, NUMBERS**2])
    net.fit(ROWS, targets)
    error = TrainingError(net.network_, ROWS.to_numpy(), targets, weights)
    theta = np.zeros(net.network_.layout.n_parameters)
    net.network_.layout.biases(theta, 1)[:] = np.average(targets, axis=0, weights=weights)
    assert error_without_inputs(net, error) == pytest.approx(error.value_and_gradient(theta)[0])


def test_the_error_without_inputs_of_classes_and_of_sequences():
    net = MLPClassifier(2, random_state=0, tol=10.0).fit(ROWS, LABELS)
    codes = LABELS.astype(int)
    error = TrainingError(net.network_, ROWS.to_numpy(), codes)
    theta = np.zeros(net.network_.layout.n_parameters)
    net.network_.layout.biases(theta, 1)[:] = np.log(codes.mean() / (1.0 - codes.mean()))
    assert error_without_inputs(net, error) == pytest.approx(error.value_and_gradient(theta)[0])
    recurrent = RecurrentRegressor(2, random_state=0, tol=10.0)
    signals = list(RANDOM.normal(size=(4, 6, 1)))
    recurrent.fit(signals, signals)
    flat = np.concatenate(signals)
    counts = np.arange(24) % 3 > 0
    of_steps = SequenceError(recurrent.network_, flat, np.arange(0, 25, 6), flat, counts)
    theta = np.zeros(len(recurrent.parameters_))
    layout = recurrent.network_.layout.perceptron
    layout.biases(theta, layout.n_layers - 1)[:] = flat[counts].mean()
    expected = of_steps.value_and_gradient(theta)[0]
    assert error_without_inputs(recurrent, of_steps) == pytest.approx(expected)


def test_a_network_that_diverges_names_the_largest_numbers():
    learner = MLPRegressor(4, solver="sgd", learning_rate=0.1, random_state=0)
    with pytest.raises(DivergenceError, match=r"up to \S+e\+12, are in y"):
        learner.fit(ROWS, 1e12 * NUMBERS)
    with pytest.raises(DivergenceError, match="are in column 'c'"):
        learner.fit(ROWS.assign(c=1e9 * ROWS["c"]), NUMBERS)


def test_inputs_of_single_precision_are_refused_without_a_warning():
    with pytest.raises(DataError, match="too large to train with"):
        MLPRegressor(4, random_state=0).fit((1e30 * ROWS.to_numpy()).astype("f"), NUMBERS)
