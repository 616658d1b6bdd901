"""Independent beliefs about chains: a bound, exact for one chain, close for several; Gibbs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from verulam.base import DataError
from verulam.sequence import FactorialParameters, read_sequences, stationary_distribution
from verulam.sequence._chains.mean_field import (
    beliefs_by_step,
    believe,
    best_chain_paths,
    check_factorial,
    draw_chains,
    improved,
)

STICKY = np.array([[0.9, 0.1], [0.2, 0.8]])
QUICK = np.array([[0.6, 0.4], [0.5, 0.5]])
HALF = np.array([0.5, 0.5])
PARAMETERS = FactorialParameters(
    (HALF, HALF),
    (STICKY, QUICK),
    (np.array([[0.0, 0.0], [2.0, 1.0]]), np.array([[0.0, 0.0], [-1.0, 2.0]])),
    np.array([[1.0, 0.3], [0.3, 0.8]]),
)
CENTRES = np.array([[0, 0], [1, 1], [2, 1], [1, 3], [0, 2]])
X = CENTRES + np.random.default_rng(0).normal(size=(5, 2))


def exact(sum_over_paths):
    means = np.array(
        [a + b for a in PARAMETERS.contributions[0] for b in PARAMETERS.contributions[1]]
    )
    logs = np.column_stack(
        [multivariate_normal(mean, PARAMETERS.covariance).logpdf(X) for mean in means]
    )
    log_likelihood, posteriors = sum_over_paths(np.full(4, 0.25), np.kron(STICKY, QUICK), logs)
    table = posteriors.reshape(5, 2, 2)
    return log_likelihood, [table.sum(axis=2), table.sum(axis=1)]


def test_the_bound_is_below_the_likelihood_and_never_falls(sum_over_paths):
    log_likelihood, posteriors = exact(sum_over_paths)
    beliefs = believe(PARAMETERS, read_sequences(X))
    assert np.diff(beliefs.curve).min(initial=0.0) > -1e-10
    assert log_likelihood - 0.2 < beliefs.bound < log_likelihood
    for ours, theirs in zip(beliefs.probabilities, posteriors, strict=True):
        assert_allclose(ours, theirs, atol=0.15)


def test_drawn_chains_have_the_exact_posterior(sum_over_paths):
    _, posteriors = exact(sum_over_paths)
    drawn = draw_chains(PARAMETERS, read_sequences(X), 1500, 100, np.random.default_rng(0))
    for ours, theirs in zip(drawn, posteriors, strict=True):
        assert_allclose(ours, theirs, atol=0.06)


def test_one_chain_is_exact(sum_over_paths):
    one = FactorialParameters(
        (HALF,), (STICKY,), PARAMETERS.contributions[:1], PARAMETERS.covariance
    )
    logs = np.column_stack(
        [multivariate_normal(mean, one.covariance).logpdf(X) for mean in one.contributions[0]]
    )
    log_likelihood, posteriors = sum_over_paths(HALF, STICKY, logs)
    beliefs = believe(one, read_sequences(X))
    assert_allclose(beliefs.bound, log_likelihood)
    assert_allclose(beliefs.probabilities[0], posteriors)
    best = best_chain_paths(one, read_sequences(X), beliefs.probabilities)
    assert best.shape == (5, 1)


def test_missing_steps_count_for_nothing():
    gappy = np.vstack([X, [[np.nan, 1.0]]])
    with_gap, whole = (
        believe(PARAMETERS, read_sequences(gappy)),
        believe(PARAMETERS, read_sequences(X)),
    )
    assert_allclose(with_gap.bound, whole.bound, atol=1e-6)
    ahead = whole.probabilities[0][-1] @ STICKY
    assert_allclose(with_gap.probabilities[0][-1], ahead, atol=1e-4)


def test_better_parameters_raise_the_bound():
    random = np.random.default_rng(1)
    sequences = read_sequences([random.normal(size=(30, 2)), random.normal(size=(20, 2))])
    parameters, beliefs, bounds = PARAMETERS, None, []
    for _ in range(15):
        posterior = believe(parameters, sequences, beliefs, 3, 0.0)
        bounds.append(posterior.bound)
        beliefs = posterior.probabilities
        parameters = improved(parameters, sequences, posterior, np.full(2, 1e-6))
    assert np.diff(bounds).min() > -1e-8
    check_factorial(parameters)


def test_bad_parameters():
    wrong = FactorialParameters((HALF,), (STICKY,), (np.zeros((2, 3)),), np.eye(2))
    with pytest.raises(DataError, match=r"contributions of chain 0 has shape \(2, 3\)"):
        check_factorial(wrong)
    wrong = FactorialParameters((HALF,), (STICKY * 2,), (np.zeros((2, 2)),), np.eye(2))
    with pytest.raises(DataError, match="row 0 of transitions of chain 0 sums to 2"):
        check_factorial(wrong)


def test_beliefs_do_not_get_stuck_where_noise_is_small():
    random = np.random.default_rng(9)
    chains = np.stack([np.cumsum(random.random(300) < 0.07) % 2 for _ in range(5)], axis=1)
    weights = 3.0 * random.normal(size=(5, 2))
    series = chains @ weights + 0.3 * random.normal(size=(300, 2))
    parameters = FactorialParameters(
        (np.full(2, 0.5),) * 5,
        (np.array([[0.93, 0.07], [0.07, 0.93]]),) * 5,
        tuple(np.array([np.zeros(2), row]) for row in weights),
        0.09 * np.eye(2),
    )
    beliefs = believe(parameters, read_sequences(series))
    agree = [
        np.mean(p.argmax(axis=1) == q) for p, q in zip(beliefs.probabilities, chains.T, strict=True)
    ]
    assert min(agree) > 0.98


def test_each_step_by_itself_is_exact_for_a_group(monkeypatch):
    random = np.random.default_rng(0)
    rows = tuple(random.normal(size=(size, 2)) for size in (2, 3))
    moves = (np.full((2, 2), 0.5), np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]))
    parameters = FactorialParameters((np.full(2, 0.5), np.full(3, 1 / 3)), moves, rows, np.eye(2))
    values = random.normal(size=(5, 2))
    beliefs = beliefs_by_step(parameters, values, np.array([True] * 4 + [False]))
    usual = stationary_distribution(moves[1])
    gaps = values[:, None, None] - rows[0][None, :, None] - rows[1][None, None]
    joint = np.exp(-0.5 * (gaps**2).sum(axis=-1)) * 0.5 * usual
    joint /= joint.sum(axis=(1, 2), keepdims=True)
    assert_allclose(beliefs[0][:4], joint.sum(axis=2)[:4])
    assert_allclose(beliefs[1][:4], joint.sum(axis=1)[:4])
    assert_allclose(beliefs[1][4], usual)
    monkeypatch.setattr("verulam.sequence._chains.mean_field.MOST_COMBINED", 3)
    apart = beliefs_by_step(parameters, values, np.ones(5, dtype=bool))
    assert_allclose([part.sum() for part in apart], 5.0)
