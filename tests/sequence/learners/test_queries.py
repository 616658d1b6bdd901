"""Queries of a fitted model: drawn sequences, online filtering, forecasts, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.sequence import (
    CategoricalEmission,
    GaussianEmission,
    HiddenMarkovModel,
    PathProbabilities,
    SampledSequences,
)

MODEL = HiddenMarkovModel.from_parameters(
    [0.6, 0.4],
    [[0.7, 0.3], [0.2, 0.8]],
    CategoricalEmission(probabilities=[[0.9, 0.1], [0.3, 0.7]]),
)


def test_drawn_sequences_have_the_probabilities_of_the_model():
    drawn = MODEL.sample(50, 200, random_state=0)
    states, shown = np.stack(drawn.states), np.stack(drawn.observations)[:, :, 0]
    assert_allclose((states[:, 0] == 0).mean(), 0.6, atol=0.1)
    stays = (states[:, :-1] == 0) & (states[:, 1:] == 0)
    assert_allclose(stays.sum() / (states[:, :-1] == 0).sum(), 0.7, atol=0.03)
    assert_allclose((shown[states == 1] == 1).mean(), 0.7, atol=0.03)
    again = MODEL.sample(50, 200, random_state=0)
    assert_array_equal(states, np.stack(again.states))


def test_online_filter_survives_what_underflows():
    model = HiddenMarkovModel.from_parameters(
        [1.0, 0.0],
        [[1.0, 0.0], [0.0, 1.0]],
        GaussianEmission(means=[[0.0], [1e3]], covariances=[[1.0], [1.0]]),
    )
    online = model.online()
    assert_allclose(online.update(1e3), [1.0, 0.0])
    assert_allclose(online.log_likelihood, model.score([1e3]))


def test_forecast_of_symbols():
    ahead = MODEL.forecast([0, 1], 2)
    filtered = MODEL.filter([0, 1])[-1]
    assert_allclose(ahead.states[0], filtered @ MODEL.transitions_)
    assert_allclose(ahead.expected[0], ahead.states[0] @ MODEL.emission_.probabilities)
    assert [len(forecast.states) for forecast in MODEL.forecast([[0], [1]])] == [1, 1]


def test_wrong_amounts_are_refused():
    with pytest.raises(DataError, match="n_steps must be a whole number of at least 1; got -1"):
        MODEL.sample(-1)
    with pytest.raises(DataError, match="n_sequences must be a whole number"):
        MODEL.sample(3, 1.5)


def test_every_given_path_starts_by_itself():
    X, states = [[0, 1, 1], [1, 0], [1]], [[0, 1, 1], [1, 0], [1]]
    together = MODEL.path_probabilities(X, states)
    for place, (part, path) in enumerate(zip(X, states, strict=True)):
        alone = MODEL.path_probabilities(part, path)
        assert_allclose(together.path[place], alone.path[0])
        assert_allclose(together.observations[place], alone.observations[0])
    assert_allclose(np.exp(together.path), [0.6 * 0.3 * 0.8, 0.4 * 0.2, 0.4])
    assert_allclose(np.exp(together.observations), [0.9 * 0.7 * 0.7, 0.7 * 0.9, 0.7])


def test_best_path_beats_every_other():
    X = [0, 1, 1, 0, 1]
    best = MODEL.best_path(X)
    log_emissions = MODEL.model_.log_emissions(MODEL._read(X, None))
    values = [
        np.log(MODEL.initial_[path[0]])
        + np.log(MODEL.transitions_[path[:-1], path[1:]]).sum()
        + log_emissions[range(5), path].sum()
        for path in np.ndindex(2, 2, 2, 2, 2)
    ]
    assert_allclose(best.log_probabilities, max(values))


def test_a_path_and_what_it_shows_multiply():
    path = MODEL.path_probabilities([0, 1], [0, 1])
    assert isinstance(path, PathProbabilities)
    assert_allclose(np.exp(path.path), 0.6 * 0.3)
    assert_allclose(np.exp(path.observations), 0.9 * 0.7)
    assert_allclose(np.exp(path.joint), 0.6 * 0.3 * 0.9 * 0.7)


def test_samples_hold_observations_beside_their_states():
    samples = MODEL.sample(7, 3, random_state=0)
    assert isinstance(samples, SampledSequences)
    assert [rows.shape for rows in samples.observations] == [(7, 1)] * 3
    assert [path.shape for path in samples.states] == [(7,)] * 3
