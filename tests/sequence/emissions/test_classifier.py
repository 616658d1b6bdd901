"""Classifier emissions: against logistic regression, regimes found again, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from verulam.base import DataError
from verulam.sequence import (
    ClassifierEmission,
    ClassifierStates,
    HiddenMarkovModel,
    read_sequences,
)

RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(60, 2))
CODES = (INPUTS @ [1.0, -1.0] + RANDOM.normal(size=60) > 0).astype(int)
WEIGHTS = np.array([[[0.5, -0.5], [3.0, -3.0]], [[0.0, 0.0], [-3.0, 3.0]]])


def test_update_is_weighted_logistic_regression():
    emission = ClassifierEmission(penalty=0.5)
    values = emission.encode(read_sequences(CODES, inputs=INPUTS))
    shares = RANDOM.random((60, 2))
    blank = emission.blank(emission.survey(values), values, 2)
    new = emission.update(blank, emission.statistics(blank, values, shares))
    for k in range(2):
        # Weights of both symbols are penalised, so that their difference is by half as much;
        # the intercept is as well, here as a column of ones.
        rows = np.hstack([np.ones((60, 1)), INPUTS])
        peer = LogisticRegression(C=1 / 0.25, fit_intercept=False, tol=1e-10)
        peer.fit(rows, CODES, sample_weight=shares[:, k])
        assert_allclose(new.weights[k, :, 1] - new.weights[k, :, 0], peer.coef_[0], atol=1e-3)


def test_density_follows_the_inputs():
    model = HiddenMarkovModel.from_parameters(
        [0.5, 0.5], np.full((2, 2), 0.5), ClassifierEmission(weights=WEIGHTS)
    )
    # Symbol 1 has the odds exp(-1 - 6 x) in state 0 and exp(6 x) in state 1.
    for x in (-0.3, 0.0, 0.4):
        mean = (1 / (1 + np.exp(1 + 6 * x)) + 1 / (1 + np.exp(-6 * x))) / 2
        assert_allclose(np.exp(model.score([1], inputs=[x])), mean)
    assert_allclose(model.score([np.nan], inputs=[1.0]), 0.0)


def test_one_symbol_of_each_state_is_the_reference_and_has_no_free_weights():
    emission = ClassifierEmission()
    values = emission.encode(read_sequences([0, 1, 2, 1], inputs=[[0.0], [1.0], [2.0], [3.0]]))
    states = emission.blank(emission.survey(values), values, 3)
    # Three states; an intercept and a slope; two of three symbols.
    assert emission.n_parameters(states) == 3 * 2 * 2
    assert ClassifierEmission(weights=WEIGHTS, fixed=("weights",)).n_parameters(states) == 0


def test_regimes_are_found_again():
    truth = HiddenMarkovModel.from_parameters(
        [0.5, 0.5], [[0.95, 0.05], [0.05, 0.95]], ClassifierEmission(weights=WEIGHTS)
    )
    inputs = RANDOM.normal(size=600)
    drawn = truth.sample(600, inputs=inputs, random_state=1)
    model = HiddenMarkovModel(2, ClassifierEmission(), n_init=2, random_state=0, tol=1e-5)
    model.fit(drawn.observations[0], inputs=inputs)
    slopes = model.emission_.weights[:, 1, 1] - model.emission_.weights[:, 1, 0]
    # Standard errors of slopes are a fifth of them or so.
    assert_allclose(np.sort(slopes), [-6.0, 6.0], rtol=0.5)
    states = model.predict(drawn.observations[0], inputs=inputs)
    assert abs((states == drawn.states[0]).mean() - 0.5) > 0.35


def test_labels():
    labels = np.where(CODES > 0, "yes", "no")
    model = HiddenMarkovModel(1, ClassifierEmission()).fit(labels, inputs=INPUTS)
    assert_array_equal(model.emission_.symbols, ["no", "yes"])
    drawn = model.sample(60, inputs=INPUTS, random_state=0).observations[0][:, 0]
    assert (drawn == labels).mean() > 0.6
    assert model.n_parameters_ == 3
    with pytest.raises(DataError, match="unknown symbol 'maybe'"):
        model.score(["maybe", "yes"], inputs=INPUTS[:2])


def test_bad_input():
    with pytest.raises(DataError, match="needs inputs"):
        HiddenMarkovModel(1, ClassifierEmission()).fit([0, 1])
    with pytest.raises(DataError, match="No step is complete"):
        HiddenMarkovModel(1, ClassifierEmission()).fit([np.nan, np.nan], inputs=[0.0, 1.0])
    model = HiddenMarkovModel(1, ClassifierEmission()).fit([0, 1], inputs=[0.0, 1.0])
    with pytest.raises(DataError, match="sample needs inputs"):
        model.sample(3)


@pytest.mark.parametrize("penalty", [-1.0, np.inf, np.nan])
def test_impossible_penalties_are_refused(penalty):
    with pytest.raises(DataError, match="penalty must be a number of at least 0"):
        ClassifierEmission(penalty=penalty)


def test_states_hold_the_weights_of_each_classifier():
    states = ClassifierStates(WEIGHTS, np.array(["no", "yes"]))
    emission = ClassifierEmission(symbols=["no", "yes"])
    values = emission.encode(read_sequences(["yes", "no"], inputs=[0.4, 0.4]))
    odds = np.exp([[-1 - 6 * 0.4, 6 * 0.4]])
    expected = np.log(np.vstack([odds / (1 + odds), 1 / (1 + odds)]))
    assert_allclose(emission.log_likelihoods(states, values), expected)
    assert_array_equal(emission.take(states, np.array([1])).weights, WEIGHTS[1:])
