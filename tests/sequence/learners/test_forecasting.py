"""The present and the future: filtering one step at a time, forecasts, with inputs and a past."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import (
    AutoregressiveEmission,
    CategoricalEmission,
    ClassifierEmission,
    Forecast,
    GaussianEmission,
    HiddenMarkovModel,
    LogisticTransitions,
    OnlineFilter,
    PhasedEmission,
    RegressionEmission,
    StreamEmission,
    read_sequences,
)

RANDOM = np.random.default_rng(0)
INITIAL, MATRIX = [0.6, 0.4], [[0.9, 0.1], [0.3, 0.7]]
N_STEPS = 30
STATES = np.repeat([0, 1, 0], 10)
INPUTS = RANDOM.normal(size=(N_STEPS, 1))
NUMBERS = np.where(STATES, -1.0, 2.0) * INPUTS[:, 0] + 0.3 * RANDOM.normal(size=N_STEPS)
SYMBOLS = (STATES + (RANDOM.random(N_STEPS) < 0.2)) % 2
GAUSSIAN = GaussianEmission(means=[[0.0], [3.0]], covariances=[[1.0], [2.0]])
COINS = CategoricalEmission(probabilities=[[0.9, 0.1], [0.3, 0.7]])
LINES = RegressionEmission(weights=[[[1.0], [2.0]], [[0.0], [-1.0]]], variances=[[1.0], [0.5]])
PAST = AutoregressiveEmission(
    2, weights=[[[0.1], [0.5], [0.2]], [[-0.3], [-0.4], [0.1]]], variances=[[1.0], [0.5]]
)
CHOICE = ClassifierEmission(weights=RANDOM.normal(size=(2, 2, 3)))
SEASON = PhasedEmission(
    GaussianEmission(means=[[0.0], [10.0], [5.0], [20.0]], covariances=np.ones((4, 1))), 2
)
PHASES = np.arange(N_STEPS) % 2
WALK = np.cumsum(RANDOM.normal(size=(N_STEPS, 1)), axis=0)
CASES = {
    "symbols": (COINS, SYMBOLS[:, None], None),
    "past": (PAST, WALK, None),
    "inputs": (LINES, NUMBERS[:, None], INPUTS),
    "classifier": (CHOICE, RANDOM.integers(3, size=(N_STEPS, 1)), INPUTS),
    "phases": (SEASON, RANDOM.normal(size=(N_STEPS, 1)), PHASES[:, None]),
    "streams": (
        StreamEmission((PAST, LINES, COINS)),
        np.column_stack([WALK, NUMBERS, SYMBOLS]),
        INPUTS,
    ),
}


def model_of(name):
    emission, X, inputs = CASES[name]
    return HiddenMarkovModel.from_parameters(INITIAL, MATRIX, emission, X.shape[1]), X, inputs


def logistic_model():
    options = {"transitions": LogisticTransitions(), "random_state": 0}
    return HiddenMarkovModel(2, RegressionEmission(), **options).fit(NUMBERS, inputs=INPUTS)


@pytest.mark.parametrize("name", CASES)
def test_one_step_at_a_time_is_the_filter(name):
    model, X, inputs = model_of(name)
    online = model.online()
    known = [None] * N_STEPS if inputs is None else inputs
    rows = np.array(
        [online.update(row, step_inputs) for row, step_inputs in zip(X, known, strict=True)]
    )
    assert_allclose(rows, model.filter(X, inputs=inputs), atol=1e-10)
    assert_allclose(online.log_likelihood, model.score(X, inputs=inputs))


@pytest.mark.parametrize("order", [1, 3, 5])
def test_a_long_past_is_carried_from_step_to_step(order):
    values = np.cumsum(np.random.default_rng(1).normal(size=40))
    weights = np.random.default_rng(order).normal(size=(2, order + 1, 1)) / order
    past = AutoregressiveEmission(order, weights=weights, variances=[[1.0], [0.5]])
    model = HiddenMarkovModel.from_parameters(INITIAL, MATRIX, past)
    online = model.online()
    assert_allclose([online.update(value) for value in values], model.filter(values), atol=1e-12)
    assert online.log_likelihood == pytest.approx(model.score(values))


def test_inputs_move_the_filter():
    model = logistic_model()
    online = model.online()
    rows = np.array(
        [online.update(x, step_inputs) for x, step_inputs in zip(NUMBERS, INPUTS, strict=True)]
    )
    assert_allclose(rows, model.filter(NUMBERS, inputs=INPUTS), atol=1e-10)


def test_names_of_columns_are_no_hindrance():
    table = pd.DataFrame({"a": NUMBERS, "b": WALK[:, 0]})
    model = HiddenMarkovModel(2, random_state=0).fit(table)
    online = model.online()
    rows = [online.update(row) for row in table.to_numpy()]
    assert_allclose(rows, model.filter(table), atol=1e-10)


def test_one_observation_at_a_time():
    online = model_of("symbols")[0].online()
    with pytest.raises(DataError, match="one observation at a time"):
        online.update([[0], [1]])


def test_the_past_is_carried_on():
    model, X, _ = model_of("past")
    weights, last = model.emission_.weights[:, :, 0], model.filter(X)[-1]
    forecast = model.forecast(X, 4).expected[:, 0]
    expected = np.zeros(4)
    for first, *path in product(range(2), repeat=5):
        chance, rows, before = last[first], [*X[-2:, 0]], first
        for state in path:
            chance *= MATRIX[before][state]
            rows.append(weights[state] @ [1.0, rows[-1], rows[-2]])
            before = state
        expected += chance * np.array(rows[2:])
    assert_allclose(forecast, expected)


def test_inputs_to_come_move_what_is_expected():
    ahead = np.array([[0.5], [-2.0]])
    model, X, inputs = model_of("inputs")
    forecast = model.forecast(X, 2, inputs=inputs, inputs_ahead=ahead)
    lines = 1.0 + 2.0 * ahead, -ahead
    assert_allclose(forecast.expected, sum(forecast.states[:, [k]] * lines[k] for k in range(2)))
    model, X, inputs = model_of("classifier")
    forecast = model.forecast(X, 2, inputs=inputs, inputs_ahead=ahead)
    assert_allclose(forecast.expected.sum(axis=1), 1.0)
    for step in range(2):
        scores = np.exp(np.array([1.0, ahead[step, 0]]) @ model.emission_.weights)
        shares = scores / scores.sum(axis=1, keepdims=True)
        assert_allclose(forecast.expected[step], forecast.states[step] @ shares)
    model, X, inputs = model_of("phases")
    forecast = model.forecast(X, 2, inputs=inputs, inputs_ahead=[1, 0])
    assert_allclose(forecast.expected[0, 0], forecast.states[0] @ [10.0, 20.0])
    assert_allclose(forecast.expected[1, 0], forecast.states[1] @ [0.0, 5.0])


def test_streams_are_forecast_side_by_side():
    model, X, inputs = model_of("streams")
    ahead = np.array([[0.5], [-2.0]])
    forecast = model.forecast(X, 2, inputs=inputs, inputs_ahead=ahead)
    states = model.filter(X, inputs=inputs)[-1] @ np.array(MATRIX)
    assert_allclose(forecast.states[0], states)
    past = np.array([1.0, *WALK[::-1][:2, 0]])
    assert_allclose(forecast.expected[0, 0], states @ (np.array(PAST.weights)[:, :, 0] @ past))
    assert_allclose(forecast.expected[0, 1], states @ [2.0, -0.5])
    assert_allclose(forecast.expected[0, 2:], states @ np.array(COINS.probabilities))


def test_inputs_to_come_move_the_chain():
    model = logistic_model()
    ahead = np.array([[3.0], [-3.0]])
    forecast = model.forecast(NUMBERS, 2, inputs=INPUTS, inputs_ahead=ahead)
    states = model.filter(NUMBERS, inputs=INPUTS)[-1]
    for step, known in enumerate((INPUTS[-1, 0], ahead[0, 0])):
        scores = np.exp(np.array([1.0, known]) @ model.transitions_.weights)
        states = states @ (scores / scores.sum(axis=1, keepdims=True))
        assert_allclose(forecast.states[step], states)


def test_shared_emissions_are_forecast():
    model = HiddenMarkovModel.from_parameters(
        [1.0, 0.0, 0.0], np.full((3, 3), 1 / 3), GAUSSIAN, shared_emissions=[0, 0, 1]
    )
    assert_allclose(model.forecast([0.0]).expected, [[1.0]])


def test_several_sequences_have_several_forecasts():
    model = HiddenMarkovModel.from_parameters(INITIAL, MATRIX, GAUSSIAN)
    pieces = [NUMBERS[:12], NUMBERS[12:]]
    by_list = model.forecast(pieces, 3)
    by_lengths = model.forecast(NUMBERS, 3, lengths=[12, 18])
    for piece, one, other in zip(pieces, by_list, by_lengths, strict=True):
        alone = model.forecast(piece, 3)
        assert_allclose(one.expected, alone.expected)
        assert_allclose(other.states, alone.states)
    model, X, inputs = model_of("inputs")
    ahead = [[[0.5]], [[-2.0]]]
    forecast = model.forecast([X, X], inputs=[inputs, inputs], inputs_ahead=ahead)
    alone = model.forecast(X, inputs=inputs, inputs_ahead=ahead[1])
    assert_allclose(forecast[1].expected, alone.expected)


def test_forecasts_that_cannot_be_made():
    model, X, inputs = model_of("inputs")
    with pytest.raises(DataError, match="n_ahead must be a whole number of at least 1; got 0"):
        model.forecast(X, 0, inputs=inputs)
    with pytest.raises(DataError, match="needs inputs_ahead"):
        model.forecast(X, inputs=inputs)
    with pytest.raises(DataError, match="inputs_ahead has 2 steps, but n_ahead is 1"):
        model.forecast(X, inputs=inputs, inputs_ahead=[[0.0], [1.0]])
    with pytest.raises(DataError, match="one array per sequence: 2, not 1"):
        model.forecast([X, X], inputs=[inputs, inputs], inputs_ahead=[[[0.0]]])
    with pytest.raises(DataError, match="needs inputs_ahead"):
        logistic_model().forecast(NUMBERS, inputs=INPUTS)
    model, X, _ = model_of("past")
    with pytest.raises(DataError, match="order 2 needs as many last observations"):
        model.forecast(X[:1])
    with pytest.raises(DataError, match="none of them missing"):
        model.forecast(np.vstack([X, [[np.nan]]]))


def test_a_forecast_expects_what_its_states_show():
    model = HiddenMarkovModel.from_parameters(INITIAL, MATRIX, GAUSSIAN)
    forecast = model.forecast([3.0, 3.0], 2)
    assert isinstance(forecast, Forecast)
    assert_allclose(forecast.expected, forecast.states @ [[0.0], [3.0]])


def test_a_filter_of_known_parameters_needs_no_learner():
    model = HiddenMarkovModel.from_parameters(INITIAL, MATRIX, GAUSSIAN)
    online = OnlineFilter(model.model_, lambda rows, inputs: read_sequences(rows.astype(float)))
    assert_allclose([online.update(value) for value in (0.5, 3.0)], model.filter([0.5, 3.0]))
    assert_allclose(online.log_likelihood, model.score([0.5, 3.0]))
