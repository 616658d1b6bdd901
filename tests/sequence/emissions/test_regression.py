"""Regression emissions against weighted least squares."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.linear_model import LinearRegression

from verulam.base import DataError
from verulam.sequence import (
    AutoregressiveEmission,
    HiddenMarkovModel,
    RegressionEmission,
    read_sequences,
)
from verulam.sequence._emissions.regression import RegressionStates

RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(40, 2))
TARGETS = INPUTS @ [[1.0], [-2.0]] + 3.0 + RANDOM.normal(size=(40, 1))


def test_update_is_weighted_least_squares():
    emission = RegressionEmission()
    values = emission.encode(read_sequences(TARGETS, inputs=INPUTS))
    weights = RANDOM.random((40, 2))
    blank = emission.blank(None, values, 2)
    new = emission.update(blank, emission.statistics(blank, values, weights))
    for k in range(2):
        line = LinearRegression().fit(INPUTS, TARGETS, sample_weight=weights[:, k])
        assert_allclose(new.weights[k, 0], line.intercept_, rtol=1e-6)
        assert_allclose(new.weights[k, 1:, 0], line.coef_[0], rtol=1e-6)
        residuals = (TARGETS - line.predict(INPUTS))[:, 0]
        assert_allclose(new.variances[k, 0], np.average(residuals**2, weights=weights[:, k]))


def test_densities_are_normal_around_the_lines():
    weights = RANDOM.normal(size=(2, 3, 2))
    variances = np.array([[0.3, 2.0], [5.0, 0.7]])
    targets = RANDOM.normal(size=(40, 2))
    emission = RegressionEmission()
    values = emission.encode(read_sequences(targets, inputs=INPUTS))
    densities = emission.log_likelihoods(RegressionStates(weights, variances), values)
    for k in range(2):
        lines = weights[k, 0] + INPUTS @ weights[k, 1:]
        expected = norm.logpdf(targets, lines, np.sqrt(variances[k])).sum(axis=1)
        assert_allclose(densities[:, k], expected)


def test_the_past_of_a_sequence_is_its_own():
    sequences = read_sequences([[1.0, 2.0, 3.0], [7.0, 8.0]])
    values = AutoregressiveEmission(2).encode(sequences)
    gap = np.nan
    assert_array_equal(values.inputs, [[gap, gap], [1, gap], [2, 1], [gap, gap], [7, gap]])
    assert_array_equal(values.known, [False, False, True, False, False])


def test_samples_follow_the_lines():
    model = HiddenMarkovModel(1, RegressionEmission()).fit(TARGETS, inputs=INPUTS)
    drawn = model.sample(40, inputs=INPUTS, random_state=0).observations[0]
    again = LinearRegression().fit(INPUTS, drawn)
    assert_allclose(again.coef_[0], [1.0, -2.0], atol=0.6)
    with pytest.raises(DataError, match="sample needs inputs"):
        model.sample(3)


def test_orders_variances_and_inputs_are_checked():
    with pytest.raises(DataError, match=r"order of AutoregressiveEmission .* at least 1; got 0"):
        AutoregressiveEmission(0)
    with pytest.raises(DataError, match="variances of RegressionEmission must be above zero"):
        RegressionEmission(variances=[[0.0]])
    x = np.arange(20.0)
    model = HiddenMarkovModel(1, RegressionEmission()).fit(2 * x + np.sin(x), inputs=x)
    with pytest.raises(DataError, match="inputs has 2 columns, but the model has learned from 1"):
        model.predict(x, inputs=np.column_stack([x, x]))
    with pytest.raises(DataError, match="inputs has 3 steps, but n_steps is 5"):
        model.sample(5, inputs=x[:3])
