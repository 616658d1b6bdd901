"""Linear dynamical systems as learners: EM, scales of data, gaps, forecasts, bad input."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from verulam.base import DataError
from verulam.sequence import (
    LinearDynamicalSystem,
    StateForecast,
    kalman_filter,
    linear_system,
)

TURN = linear_system(
    [[0.9, 0.3], [-0.3, 0.9]],
    0.1 * np.eye(2),
    [[1.0, 0.0], [0.5, 1.0], [-1.0, 1.0]],
    0.2 * np.eye(3) + 0.1,
    initial_covariance=np.eye(2),
    offset=[1.0, 2.0, 3.0],
)


def drawn(n_steps=60, n_sequences=3, seed=0):
    return LinearDynamicalSystem.from_parameters(TURN).sample(
        n_steps, n_sequences, random_state=seed
    )


def sparse(seed=0):
    sequences = drawn(seed=seed).observations
    sequences[0][3, 1] = sequences[1][10:14] = sequences[2][20:30, :2] = np.nan
    return sequences


@pytest.mark.filterwarnings("ignore:LinearDynamicalSystem had not converged")
@pytest.mark.parametrize("noise", ["diagonal", "full"])
@pytest.mark.parametrize("n_dimensions", [1, 2, 4])
def test_log_likelihood_never_falls(noise, n_dimensions):
    model = LinearDynamicalSystem(n_dimensions, noise=noise, max_iter=15, tol=0.0).fit(sparse())
    gains = np.diff(model.objective_curve_)
    assert gains.min() > -1e-8
    assert gains.sum() > 1.0


@pytest.mark.filterwarnings("ignore:LinearDynamicalSystem had not converged")
@pytest.mark.parametrize("fixed", [("observation",), ("offset", "state_noise"), ("transition",)])
def test_fixed_parameters_stay(fixed):
    model = LinearDynamicalSystem(2, noise="full", init=TURN, fixed=fixed, max_iter=5, tol=0.0)
    model.fit(sparse())
    assert np.diff(model.objective_curve_).min() > -1e-8
    for name in fixed:
        assert_allclose(getattr(model.system_, name), getattr(TURN, name))


@pytest.mark.filterwarnings("ignore:LinearDynamicalSystem had not converged")
def test_a_long_series_is_learned():
    sequences = drawn(400, 4).observations
    model = LinearDynamicalSystem(2, noise="full", max_iter=60, tol=0.1).fit(sequences)
    fresh = drawn(400, 2, seed=1).observations
    truth = LinearDynamicalSystem.from_parameters(TURN).score(fresh)
    assert abs(model.score(fresh) - truth) < 0.01 * abs(truth)
    turns = np.linalg.eigvals(model.system_.transition)
    assert_allclose(np.sort_complex(turns), [0.9 - 0.3j, 0.9 + 0.3j], atol=0.05)


def test_stream_and_cluster_equal_memory():
    import dask.bag

    sequences = sparse()
    options = {"n_dimensions": 2, "tol": 1.0}
    memory = LinearDynamicalSystem(**options).fit(sequences)
    stream = LinearDynamicalSystem(**options).fit(lambda: iter([sequences[:2], sequences[2:]]))
    cluster = LinearDynamicalSystem(**options).fit(dask.bag.from_sequence(sequences))
    joined = LinearDynamicalSystem(**options).fit(np.vstack(sequences), lengths=[60] * 3)
    for other in (stream, cluster, joined):
        assert_allclose(other.objective_curve_, memory.objective_curve_, rtol=1e-8)
        assert_allclose(other.system_.transition, memory.system_.transition, rtol=1e-7)


def test_gaps_are_filled_by_their_expectation():
    model = LinearDynamicalSystem.from_parameters(TURN)
    whole, gappy = drawn(300, 1).observations[0], drawn(300, 1).observations[0].copy()
    gappy[::3, 0] = np.nan
    gappy[100] = np.nan
    filled = model.fill([gappy])[0]
    known = ~np.isnan(gappy)
    assert_allclose(filled[known], gappy[known])
    error = np.sqrt(((filled - whole)[~known] ** 2).mean())
    assert error < 0.75 * whole[~known].std()
    # The noise is correlated, so what is present of a row says more than the states alone.
    states = model.smooth(gappy).means @ TURN.observation.T + TURN.offset
    assert error < np.sqrt(((states - whole)[~known] ** 2).mean())


def test_forecasts_go_to_the_long_run():
    model = LinearDynamicalSystem.from_parameters(TURN)
    X = drawn(50, 1).observations[0]
    ahead = model.forecast(X, 200)
    one = TURN.transition @ kalman_filter(TURN, X).means[-1]
    assert_allclose(ahead.means[0], TURN.observation @ one + TURN.offset)
    assert_allclose(ahead.means[-1], TURN.offset, atol=1e-3)
    assert np.trace(ahead.covariances[-1]) > np.trace(ahead.covariances[0])


def test_samples_have_the_moments_of_the_system():
    long = drawn(20_000, 1)
    moved = long.states[0][1:] - long.states[0][:-1] @ TURN.transition.T
    assert_allclose(np.cov(moved.T), TURN.state_noise, atol=0.01)
    seen = long.observations[0] - long.states[0] @ TURN.observation.T
    assert_allclose(seen.mean(axis=0), TURN.offset, atol=0.02)
    assert_allclose(np.cov(seen.T), TURN.observation_noise, atol=0.01)
    again = drawn(20_000, 1)
    assert_allclose(again.observations[0], long.observations[0])


def test_bad_input():
    with pytest.raises(DataError, match="Column 1 of X has no value"):
        LinearDynamicalSystem().fit(np.column_stack([np.arange(5.0), np.full(5, np.nan)]))
    with pytest.raises(DataError, match="init shows 3 columns, but X has 1"):
        LinearDynamicalSystem(2, init=TURN).fit(np.arange(5.0))
    with pytest.raises(DataError, match="list is empty"):
        LinearDynamicalSystem().fit([])
    with pytest.raises(DataError, match="labels such as 'a', and LinearDynamicalSystem reads"):
        LinearDynamicalSystem().fit(["a", "b"])
    with pytest.raises(DataError, match="lengths add up to 4"):
        LinearDynamicalSystem().fit(np.zeros((5, 1)), lengths=[2, 2])
    with pytest.raises(DataError, match="n_ahead must be a whole number of at least 1; got -1"):
        LinearDynamicalSystem.from_parameters(TURN).forecast(drawn().observations, -1)
    with pytest.raises(DataError, match="n_steps must be a whole number"):
        LinearDynamicalSystem.from_parameters(TURN).sample(0)
    with pytest.raises(DataError, match="n_dimensions is 50, but X has 5 numbers"):
        LinearDynamicalSystem(50).fit(np.arange(5.0))
    with pytest.raises(NotFittedError):
        LinearDynamicalSystem().smooth(np.arange(5.0))
    with pytest.raises(DataError, match="Reshape your data to one row per step"):
        LinearDynamicalSystem.from_parameters(TURN).score(np.zeros(9))
    single = LinearDynamicalSystem.from_parameters(TURN).score([np.zeros((1, 3))])
    assert np.isfinite(single)


def test_each_sequence_is_forecast():
    model = LinearDynamicalSystem.from_parameters(TURN)
    pieces = drawn().observations[:2]
    alone = model.forecast(pieces[1], 3)
    by_list = model.forecast(pieces, 3)
    lengths = [len(piece) for piece in pieces]
    by_lengths = model.forecast(np.concatenate(pieces), 3, lengths=lengths)
    for forecasts in (by_list, by_lengths):
        assert len(forecasts) == 2
        assert_allclose(forecasts[1].means, alone.means)
        assert_allclose(forecasts[1].covariances, alone.covariances)


def test_names_of_columns_are_kept_and_compared():
    table = pd.DataFrame(drawn().observations[0], columns=["a", "b", "c"])
    model = LinearDynamicalSystem(max_iter=2, tol=1e9).fit([table, table])
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.score([table[["b", "a", "c"]]])


def test_a_forecast_moves_the_last_state_on():
    model = LinearDynamicalSystem.from_parameters(TURN)
    X = drawn(n_steps=10, n_sequences=1).observations[0]
    forecast = model.forecast(X, 2)
    assert isinstance(forecast, StateForecast)
    last = model.filter(X).means[-1]
    assert_allclose(
        forecast.states, [TURN.transition @ last, TURN.transition @ TURN.transition @ last]
    )
    assert_allclose(forecast.means, forecast.states @ TURN.observation.T + TURN.offset)
    assert np.trace(forecast.covariances[1]) > np.trace(forecast.covariances[0])
