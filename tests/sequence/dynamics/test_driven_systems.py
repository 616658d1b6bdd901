"""Systems that inputs drive: one large Gaussian, no inputs as a limit, EM, forecasts, refusals."""

from dataclasses import replace

import dask.bag
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from verulam.base import DataError
from verulam.sequence import (
    LinearDynamicalSystem,
    SwitchingSystem,
    kalman_filter,
    kalman_smoother,
    linear_system,
)

# Another seed than those of the draws, whose noise would be the inputs otherwise.
RANDOM = np.random.default_rng(100)
PLAIN = linear_system(
    [[0.8, 0.3], [-0.2, 0.7]],
    [[0.3, 0.1], [0.1, 0.2]],
    [[1.0, 0.0], [0.5, 1.0], [-1.0, 1.0]],
    0.2 * np.eye(3) + 0.1,
    initial_mean=[1.0, -1.0],
    initial_covariance=np.eye(2),
    offset=[1.0, 2.0, 3.0],
)
EFFECTS = np.array([[2.0, 0.0], [-1.0, 1.5]]), np.array([[0.0, 1.0], [3.0, 0.0], [-2.0, 0.5]])
DRIVEN = replace(PLAIN, state_inputs=EFFECTS[0], observation_inputs=EFFECTS[1])
INPUTS = [RANDOM.normal(size=(60, 2)) for _ in range(3)]
MODEL = LinearDynamicalSystem.from_parameters(DRIVEN)
SEQUENCES = [
    MODEL.sample(60, inputs=known, random_state=seed).observations[0]
    for seed, known in enumerate(INPUTS)
]


def with_gaps():
    sequences = [part.copy() for part in SEQUENCES]
    sequences[0][3, 1] = sequences[1][10:14] = sequences[2][20:30, :2] = np.nan
    return sequences


def one_large_gaussian(n_steps, known):
    """Return the moments of all states and all that is seen, by what each noise adds to them.

    A vector of independent noises (first state, moves, what is seen) is mapped linearly to all
    states and rows; constants come of the same recursion without noise.
    """
    size, width = 2, 3
    n_noises = n_steps * (size + width)
    states, constants = [], []
    for t in range(n_steps):
        here = np.zeros((size, n_noises))
        root = np.linalg.cholesky(DRIVEN.state_noise if t else DRIVEN.initial_covariance)
        here[:, t * size : (t + 1) * size] = root
        constant = DRIVEN.initial_mean
        if t:
            here += DRIVEN.transition @ states[-1]
            constant = DRIVEN.transition @ constants[-1] + DRIVEN.state_inputs @ known[t - 1]
        states.append(here)
        constants.append(constant)
    rows, expected = [], []
    for t in range(n_steps):
        noise = np.zeros((width, n_noises))
        place = n_steps * size + t * width
        noise[:, place : place + width] = np.linalg.cholesky(DRIVEN.observation_noise)
        rows.append(DRIVEN.observation @ states[t] + noise)
        seen = DRIVEN.observation @ constants[t] + DRIVEN.observation_inputs @ known[t]
        expected.append(seen + DRIVEN.offset)
    return np.vstack(states), np.concatenate(constants), np.vstack(rows), np.concatenate(expected)


def test_equals_conditioning_one_large_gaussian():
    n_steps, known = 6, INPUTS[0][:6]
    X = SEQUENCES[0][:n_steps].copy()
    X[1, 0] = X[3] = np.nan
    maps, constants, rows, expected = one_large_gaussian(n_steps, known)
    flat = X.ravel()
    here = ~np.isnan(flat)
    seen = rows[here] @ rows[here].T
    gain = maps @ rows[here].T @ np.linalg.inv(seen)
    smoothed = kalman_smoother(DRIVEN, X, inputs=known)
    means = constants + gain @ (flat - expected)[here]
    assert_allclose(smoothed.means.ravel(), means, atol=1e-9)
    left = (maps @ maps.T - gain @ rows[here] @ maps.T).reshape(n_steps, 2, n_steps, 2)
    for t in range(n_steps):
        assert_allclose(smoothed.covariances[t], left[t, :, t], atol=1e-9)
        if t:
            assert_allclose(smoothed.lag_covariances[t], left[t, :, t - 1], atol=1e-9)
    density = multivariate_normal(expected[here], seen).logpdf(flat[here])
    assert_allclose(smoothed.log_likelihoods, density)
    assert_allclose(MODEL.score(X, inputs=known), density)
    filtered = kalman_filter(DRIVEN, X, inputs=known)
    for t in range(n_steps):
        so_far = kalman_smoother(DRIVEN, X[: t + 1], inputs=known[: t + 1])
        assert_allclose(filtered.means[t], so_far.means[-1])
    assert_allclose(MODEL.filter(X, inputs=known).means, filtered.means)
    assert_allclose(MODEL.smooth(X, inputs=known).means, smoothed.means)


def test_forecasts_and_fillings_are_those_of_one_large_gaussian():
    n_seen, n_ahead, known = 5, 3, INPUTS[1][:8]
    X = SEQUENCES[1][:n_seen].copy()
    X[2, 1] = np.nan
    maps, constants, rows, expected = one_large_gaussian(n_seen + n_ahead, known)
    here = np.append(~np.isnan(X.ravel()), np.zeros(3 * n_ahead, dtype=bool))
    gain = rows @ rows[here].T @ np.linalg.inv(rows[here] @ rows[here].T)
    surprise = X.ravel()[here[: 3 * n_seen]] - expected[here]
    means = (expected + gain @ surprise).reshape(-1, 3)
    left = (rows @ rows.T - gain @ rows[here] @ rows.T).reshape(-1, 3, n_seen + n_ahead, 3)
    options = {"inputs": known[:n_seen], "inputs_ahead": known[n_seen:]}
    forecast = MODEL.forecast(X, n_ahead, **options)
    assert_allclose(forecast.means, means[n_seen:])
    for step in range(n_ahead):
        assert_allclose(forecast.covariances[step], left[n_seen + step, :, n_seen + step])
    gain = maps @ rows[here].T @ np.linalg.inv(rows[here] @ rows[here].T)
    states = (constants + gain @ surprise).reshape(-1, 2)
    assert_allclose(forecast.states, states[n_seen:])
    assert_allclose(MODEL.fill(X, inputs=known[:n_seen])[2, 1], means[2, 1])
    both = MODEL.forecast(
        [X, X], n_ahead, inputs=[known[:n_seen]] * 2, inputs_ahead=[known[n_seen:], known[:3]]
    )
    assert_allclose(both[0].means, forecast.means)
    assert not np.allclose(both[1].means, forecast.means)


@pytest.mark.filterwarnings("ignore:LinearDynamicalSystem had not converged")
def test_inputs_without_effect_change_nothing():
    idle = replace(PLAIN, state_inputs=np.zeros((2, 2)), observation_inputs=np.zeros((3, 2)))
    X = with_gaps()
    plain, driven = kalman_smoother(PLAIN, X), kalman_smoother(idle, X, inputs=INPUTS)
    assert_array_equal(plain.means, driven.means)
    assert_array_equal(plain.lag_covariances, driven.lag_covariances)
    assert_array_equal(plain.log_likelihoods, driven.log_likelihoods)
    drawn = [
        LinearDynamicalSystem.from_parameters(system).sample(60, 2, random_state=0, **options)
        for system, options in ((PLAIN, {}), (idle, {"inputs": INPUTS[0]}))
    ]
    assert_array_equal(drawn[0].observations, drawn[1].observations)
    options = {"noise": "full", "max_iter": 5, "tol": 0.0}
    held = ("state_inputs", "observation_inputs")
    alone = LinearDynamicalSystem(2, **options).fit(X)
    beside = LinearDynamicalSystem(2, fixed=held, **options).fit(X, inputs=INPUTS)
    assert_allclose(beside.objective_curve_, alone.objective_curve_, rtol=1e-12)
    assert_allclose(beside.system_.transition, alone.system_.transition, rtol=0, atol=1e-12)
    assert beside.n_parameters_ == alone.n_parameters_
    assert not beside.system_.state_inputs.any()


@pytest.mark.filterwarnings("ignore:LinearDynamicalSystem had not converged")
@pytest.mark.parametrize(
    "fixed", [(), ("state_inputs",), ("observation_inputs",), ("transition", "observation")]
)
def test_log_likelihood_never_falls(fixed):
    model = LinearDynamicalSystem(2, noise="full", fixed=fixed, max_iter=25, tol=0.0)
    model.fit(with_gaps(), inputs=INPUTS)
    gains = np.diff(model.objective_curve_)
    assert gains.min() > -1e-8
    assert gains.sum() > 1.0
    for name in fixed:
        if name.endswith("inputs"):
            assert not getattr(model.system_, name).any()
    free = LinearDynamicalSystem(2, noise="full", max_iter=1).fit(with_gaps(), inputs=INPUTS)
    assert free.n_parameters_ == (4 + 3 + 6 + 6) + (2 + 3 + 3) + (4 + 6) - 4


def test_a_pass_regresses_on_states_and_inputs():
    """With states that are seen without noise, EM is two regressions on what is seen."""
    state_noise, known = 0.25, INPUTS[0]
    system = linear_system(
        0.7, state_noise, 1.0, 1e-12, initial_covariance=1.0, state_inputs=[[1.0, -2.0]]
    )
    X = LinearDynamicalSystem.from_parameters(system).sample(60, inputs=known, random_state=0)
    states = X.states[0][:, 0]
    held = ("observation", "observation_noise", "observation_inputs", "offset")
    held += ("initial_mean", "initial_covariance")
    start = linear_system(0.1, 1.0, 1.0, 1e-12, initial_covariance=1.0)
    model = LinearDynamicalSystem(init=start, fixed=held).fit(X.observations, inputs=[known])
    rows = np.column_stack([states[:-1], known[:-1]])
    weights, rest = np.linalg.lstsq(rows, states[1:], rcond=None)[:2]
    assert_allclose(model.system_.transition[0, 0], weights[0], atol=1e-5)
    assert_allclose(model.system_.state_inputs[0], weights[1:], atol=1e-5)
    assert_allclose(model.system_.state_noise[0, 0], rest[0] / 59, rtol=1e-4)


@pytest.mark.filterwarnings("ignore:LinearDynamicalSystem had not converged")
def test_effects_of_inputs_are_found_again():
    known = [RANDOM.normal(size=(400, 2)) for _ in range(4)]
    drawn = [
        MODEL.sample(400, inputs=part, random_state=seed).observations[0]
        for seed, part in enumerate(known)
    ]
    model = LinearDynamicalSystem(2, noise="full", max_iter=80, tol=0.1).fit(drawn, inputs=known)
    system = model.system_
    assert_allclose(system.observation_inputs, EFFECTS[1], atol=0.1)
    # Coordinates of the state are free, the response to a push after some steps is not.
    for power in range(4):
        ours, truth = (
            part.observation @ np.linalg.matrix_power(part.transition, power) @ part.state_inputs
            for part in (system, DRIVEN)
        )
        assert_allclose(ours, truth, atol=0.12)
    fresh_inputs = RANDOM.normal(size=(400, 2))
    fresh = MODEL.sample(400, inputs=fresh_inputs, random_state=9).observations[0]
    scores = [part.score(fresh, inputs=fresh_inputs) for part in (model, MODEL)]
    assert abs(scores[0] - scores[1]) < 0.01 * abs(scores[1])
    unaware = LinearDynamicalSystem(2, noise="full", max_iter=80, tol=0.1).fit(drawn)
    assert unaware.score(fresh) < scores[0] - 500


def test_the_level_that_inputs_hold_is_told_from_the_offset():
    """A heater that is on half the time: from effects of zero, EM gave up far from the aim."""
    random = np.random.default_rng(0)
    heater, warmth = np.repeat(random.integers(0, 2, size=60), 5).astype(float), np.zeros(300)
    for t in range(1, 300):
        warmth[t] = 0.9 * warmth[t - 1] + 2.0 * heater[t - 1] + 0.5 * random.normal()
    reading = 15.0 + warmth + random.normal(size=300)
    room = LinearDynamicalSystem(fixed=("observation_inputs",)).fit(reading, inputs=heater)
    assert room.converged_
    assert_allclose(room.system_.transition, 0.9, atol=0.02)
    assert_allclose(room.system_.observation @ room.system_.state_inputs, 2.0, atol=0.1)
    assert_allclose(room.system_.offset, 15.0, atol=1.5)
    scaled = LinearDynamicalSystem(fixed=("observation_inputs",)).fit(reading, inputs=1e6 * heater)
    assert_allclose(1e6 * scaled.system_.state_inputs, room.system_.state_inputs, rtol=1e-3)


def test_samples_are_driven():
    known = np.tile(INPUTS[0], (200, 1))
    drawn = MODEL.sample(len(known), inputs=known, random_state=0)
    states, seen = drawn.states[0], drawn.observations[0]
    moved = states[1:] - states[:-1] @ DRIVEN.transition.T
    effects = np.linalg.lstsq(known[:-1], moved, rcond=None)[0].T
    assert_allclose(effects, EFFECTS[0], atol=0.03)
    rest = seen - states @ DRIVEN.observation.T - DRIVEN.offset
    assert_allclose(np.linalg.lstsq(known, rest, rcond=None)[0].T, EFFECTS[1], atol=0.03)


def test_stream_and_cluster_equal_memory():
    X = with_gaps()
    options = {"n_dimensions": 2, "tol": 1.0}
    memory = LinearDynamicalSystem(**options).fit(X, inputs=INPUTS)
    chunks = [(X[:2], INPUTS[:2]), (X[2:], INPUTS[2:])]
    stream = LinearDynamicalSystem(**options).fit(lambda: iter(chunks))
    rows, known = np.vstack(X), np.vstack(INPUTS)
    joined = LinearDynamicalSystem(**options).fit(rows, inputs=known, lengths=[60] * 3)
    for other in (stream, joined):
        assert_allclose(other.objective_curve_, memory.objective_curve_, rtol=1e-8)
        assert_allclose(other.system_.state_inputs, memory.system_.state_inputs, rtol=1e-6)
    bag = dask.bag.from_sequence(SEQUENCES, npartitions=2)
    assert LinearDynamicalSystem(**options).fit(bag).system_.n_inputs == 0


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: kalman_filter(DRIVEN, SEQUENCES), "The system has 2 inputs: pass inputs="),
        (lambda: MODEL.score(SEQUENCES), "The system has 2 inputs: pass inputs="),
        (lambda: MODEL.sample(3), "The system has 2 inputs: pass inputs="),
        (lambda: MODEL.sample(3, inputs=INPUTS[0]), "inputs has 60 steps, but n_steps is 3"),
        (
            lambda: kalman_smoother(PLAIN, SEQUENCES[0], inputs=INPUTS[0]),
            "inputs has 2 columns, but the system has 0",
        ),
        (
            lambda: MODEL.score(SEQUENCES[0], inputs=INPUTS[0][:-1]),
            "inputs has 59 steps and X has 60",
        ),
        (lambda: MODEL.forecast(SEQUENCES[0], inputs=INPUTS[0]), "forecast needs inputs_ahead"),
        (
            lambda: MODEL.forecast(SEQUENCES[0], inputs=INPUTS[0], inputs_ahead=[[1.0]]),
            "inputs_ahead has 1 steps and 1 columns; expected 1 and 2",
        ),
        (
            lambda: MODEL.forecast(SEQUENCES, inputs=INPUTS, inputs_ahead=INPUTS[:2]),
            "inputs_ahead needs one array per sequence: 3, not 2",
        ),
        (
            lambda: LinearDynamicalSystem(2, init=DRIVEN).fit(SEQUENCES),
            "init has 2 inputs: pass inputs=",
        ),
        (
            lambda: LinearDynamicalSystem(2, init=DRIVEN).fit(
                SEQUENCES, inputs=[known[:, :1] for known in INPUTS]
            ),
            "inputs has 1 columns, but the system has 2",
        ),
        (
            lambda: linear_system(
                0.5, 1.0, 1.0, 1.0, state_inputs=[[1.0, 2.0]], observation_inputs=[[1.0]]
            ),
            r"observation_inputs has shape \(1, 1\); expected \(1, 2\)",
        ),
        (
            lambda: SwitchingSystem((DRIVEN,), np.ones(1), np.ones((1, 1))),
            "systems of a SwitchingSystem have no inputs",
        ),
    ],
)
def test_what_cannot_be_is_refused(ask, message):
    with pytest.raises(DataError, match=message):
        ask()
