"""Kalman's filter and smoother: statsmodels, batch conditioning of one Gaussian, bad input."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from verulam.base import DataError
from verulam.sequence import (
    LinearSystem,
    kalman_filter,
    kalman_smoother,
    linear_system,
)
from verulam.sequence._dynamics import kalman_loops as loops


def random_system(seed, n_dimensions, n_columns):
    random = np.random.default_rng(seed)
    transition = random.normal(size=(n_dimensions, n_dimensions))
    transition *= 0.9 / np.abs(np.linalg.eigvals(transition)).max()
    roots = random.normal(size=(n_dimensions, n_dimensions)), random.normal(size=(n_columns,) * 2)
    return linear_system(
        transition,
        roots[0] @ roots[0].T,
        random.normal(size=(n_columns, n_dimensions)),
        roots[1] @ roots[1].T,
        initial_mean=random.normal(size=n_dimensions),
        offset=random.normal(size=n_columns),
    )


def with_gaps(seed, n_steps, n_columns):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_steps, n_columns))
    X[random.random(X.shape) < 0.15] = np.nan
    X[n_steps // 2] = np.nan
    return X


def joint(system, n_steps):
    """Return mean and covariance of all states and of all that is seen, one long vector each."""
    size, eye = system.n_dimensions, np.eye(n_steps)
    means = [system.initial_mean]
    blocks = np.zeros((n_steps, n_steps, size, size))
    blocks[0, 0] = system.initial_covariance
    for t in range(1, n_steps):
        means.append(system.transition @ means[-1])
        for s in range(t):
            blocks[t, s] = system.transition @ blocks[t - 1, s]
            blocks[s, t] = blocks[t, s].T
        before = system.transition @ blocks[t - 1, t - 1] @ system.transition.T
        blocks[t, t] = before + system.state_noise
    states = blocks.transpose(0, 2, 1, 3).reshape(n_steps * size, -1)
    seen = np.kron(eye, system.observation)
    mean = np.concatenate(means)
    noise = np.kron(eye, system.observation_noise)
    expected = seen @ mean + np.tile(system.offset, n_steps)
    return mean, states, expected, seen @ states @ seen.T + noise, states @ seen.T


@pytest.mark.parametrize(("size", "width"), [(1, 1), (2, 3), (3, 2)])
def test_equals_conditioning_one_large_gaussian(size, width):
    n_steps = 6
    system, X = random_system(1, size, width), with_gaps(2, n_steps, width)
    mean, states, expected, seen, cross = joint(system, n_steps)
    flat = X.ravel()
    here = ~np.isnan(flat)
    gain = cross[:, here] @ np.linalg.inv(seen[np.ix_(here, here)])
    smoothed = kalman_smoother(system, X)
    assert_allclose(smoothed.means.ravel(), mean + gain @ (flat - expected)[here], atol=1e-9)
    left = (states - gain @ cross[:, here].T).reshape(n_steps, size, n_steps, size)
    for t in range(n_steps):
        assert_allclose(smoothed.covariances[t], left[t, :, t], atol=1e-9)
        if t:
            assert_allclose(smoothed.lag_covariances[t], left[t, :, t - 1], atol=1e-9)
    density = multivariate_normal(expected[here], seen[np.ix_(here, here)], allow_singular=True)
    assert_allclose(smoothed.log_likelihoods, density.logpdf(flat[here]))
    assert_allclose(kalman_filter(system, X).log_likelihoods, smoothed.log_likelihoods)


@pytest.mark.parametrize("gaps", [False, True])
def test_agrees_with_statsmodels(gaps):
    from statsmodels.tsa.statespace.mlemodel import MLEModel

    system = random_system(3, 3, 2)
    X = with_gaps(4, 150, 2)
    X = X if gaps else np.nan_to_num(X)
    theirs = MLEModel(X, k_states=3)
    theirs["design"], theirs["obs_intercept"] = system.observation, system.offset[:, None]
    theirs["obs_cov"], theirs["transition"] = system.observation_noise, system.transition
    theirs["selection"], theirs["state_cov"] = np.eye(3), system.state_noise
    theirs.ssm.initialize_known(system.initial_mean, system.initial_covariance)
    theirs.ssm.tolerance = 0.0
    peer = theirs.ssm.smooth()
    ours, so_far = kalman_smoother(system, X), kalman_filter(system, X)
    assert_allclose(ours.log_likelihoods[0], peer.llf, rtol=1e-10)
    assert_allclose(so_far.means, peer.filtered_state.T, atol=1e-8)
    assert_allclose(so_far.covariances, peer.filtered_state_cov.transpose(2, 0, 1), atol=1e-8)
    assert_allclose(ours.means, peer.smoothed_state.T, atol=1e-8)
    assert_allclose(ours.covariances, peer.smoothed_state_cov.transpose(2, 0, 1), atol=1e-8)


def test_sequences_do_not_touch_one_another():
    system, X = random_system(5, 2, 2), with_gaps(6, 30, 2)
    both = kalman_smoother(system, [X[:13], X[13:]])
    assert_allclose(kalman_smoother(system, X, lengths=[13, 17]).means, both.means)
    assert_allclose(kalman_smoother(system, X[13:]).means, both.means[13:])
    assert_allclose(kalman_smoother(system, X[:13]).log_likelihoods, both.log_likelihoods[:1])


def test_noise_may_be_singular():
    """An autoregression of second order has one noise for two numbers, and is seen exactly."""
    system = linear_system([[0.5, 0.3], [1.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0]], 0.0)
    random = np.random.default_rng(0)
    X = random.normal(size=8)
    smoothed = kalman_smoother(system, X)
    assert_allclose(smoothed.means[:, 0], X, atol=1e-12)
    residuals = X[2:] - 0.5 * X[1:-1] - 0.3 * X[:-2]
    gain = smoothed.log_likelihoods - kalman_smoother(system, X[:2]).log_likelihoods
    assert_allclose(gain, -0.5 * (residuals**2 + np.log(2 * np.pi)).sum())


def test_nothing_seen_is_the_long_run():
    system = random_system(7, 2, 2)
    unseen = kalman_smoother(system, np.full((50, 2), np.nan))
    assert unseen.log_likelihoods[0] == 0.0
    assert_allclose(unseen.covariances, np.broadcast_to(system.initial_covariance, (50, 2, 2)))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_loops_equal_their_python_source(monkeypatch):
    system, X = random_system(8, 2, 2), with_gaps(9, 12, 2)
    compiled = kalman_smoother(system, X)
    names = [name for name in dir(loops) if hasattr(getattr(loops, name), "py_func")]
    for name in names:
        monkeypatch.setattr(loops, name, getattr(loops, name).py_func)
    plain = kalman_smoother(system, X)
    assert_allclose(compiled.means, plain.means)
    assert_allclose(compiled.lag_covariances, plain.lag_covariances)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[1.0, 0.0]], 1.0, 1.0, 1.0), {}, "transition has shape"),
        ((0.5, 1.0, [[1.0, 2.0]], 1.0), {}, r"observation has shape \(1, 2\)"),
        ((0.5, -1.0, 1.0, 1.0), {}, "state_noise is no covariance"),
        ((0.5, 1.0, 1.0, np.nan), {}, "observation_noise holds values that are missing"),
        ((1.0, 1.0, 1.0, 1.0), {}, "Give initial_covariance"),
        ((0.5, 1.0, 1.0, 1.0), {"offset": [1.0, 2.0]}, r"offset has shape \(2,\)"),
    ],
)
def test_bad_matrices(arguments, options, message):
    with pytest.raises(DataError, match=message):
        linear_system(*arguments, **options)


def test_bad_data():
    system = linear_system(0.5, 1.0, 1.0, 1.0)
    with pytest.raises(DataError, match="X has 2 columns, but the system shows 1"):
        kalman_filter(system, np.zeros((3, 2)))
    with pytest.raises(DataError, match="infinite"):
        kalman_filter(system, [0.0, np.inf])


def test_matrices_of_a_system_are_used_as_they_are():
    one = np.ones((1, 1))
    system = LinearSystem(0.5 * one, 0.75 * one, one, one, np.zeros(1), one, np.zeros(1))
    made = linear_system(0.5, 0.75, 1.0, 1.0)
    X = [1.0, np.nan, -0.5]
    assert (system.n_dimensions, system.n_columns) == (1, 1)
    assert_allclose(kalman_filter(system, X).means, kalman_filter(made, X).means)
    # The first state has mean 0 and variance 1, and so has the noise.
    assert_allclose(kalman_filter(system, X).means[0], 0.5)
