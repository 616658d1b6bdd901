"""Systems that switch: every path of regimes enumerated, one regime, regimes found again."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.sequence import (
    LinearDynamicalSystem,
    RegimeDraws,
    SwitchingDynamicalSystem,
    SwitchingSystem,
    kalman_smoother,
    linear_system,
    read_sequences,
)
from verulam.sequence._dynamics.kalman import run_filter, stacked
from verulam.sequence._dynamics.switching import draw_smoothed, log_joint

CALM = linear_system(0.9, 0.1, 1.0, 0.3, initial_covariance=1.0, offset=[0.5])
WILD = linear_system(-0.5, 2.0, 1.0, 0.3, initial_covariance=1.0, offset=[0.5])
BOTH = SwitchingSystem((CALM, WILD), np.array([0.7, 0.3]), np.array([[0.8, 0.2], [0.3, 0.7]]))
X = np.array([0.4, 0.9, np.nan, -1.5, 2.0, 1.0])


def enumerated():
    """Return the posterior of the regimes from the exact likelihood of every path."""
    sequences = read_sequences(X)
    weights, posteriors = [], np.zeros((len(X), 2))
    for path in product(range(2), repeat=len(X)):
        regimes = np.array(path)
        estimates = run_filter(stacked(BOTH.systems), sequences, regimes).estimates
        weight = np.exp(estimates.log_likelihoods[0]) * BOTH.initial[path[0]]
        weight *= np.prod([BOTH.transitions[i, j] for i, j in pairwise(path)])
        posteriors[np.arange(len(X)), regimes] += weight
        weights.append(weight)
        assert_allclose(log_joint(BOTH, sequences, regimes), np.log(weight))
    return posteriors / np.sum(weights)


def test_draws_have_the_exact_posterior():
    model = SwitchingDynamicalSystem.from_parameters(BOTH)
    # Copies of the sequence are draws side by side.
    drawn = model.gibbs([X] * 40, n_iter=100, burn_in=20)
    average = drawn.probabilities.reshape(40, len(X), 2).mean(axis=0)
    assert_allclose(average, enumerated(), atol=0.06)
    one, other = (model.gibbs(X, n_iter=9, burn_in=3, random_state=2) for _ in range(2))
    assert_array_equal(one.best, other.best)
    paths = product(range(2), repeat=len(X))
    best = max(log_joint(BOTH, read_sequences(X), np.array(path)) for path in paths)
    assert_allclose(model.score(X), best)
    assert one.log_joint == log_joint(BOTH, read_sequences(X), one.best)


def test_states_are_drawn_from_their_posterior():
    random = np.random.default_rng(0)
    sequences, regimes = read_sequences(X), np.zeros(len(X), dtype=np.int64)
    draws = np.array(
        [draw_smoothed(stacked((CALM,)), sequences, regimes, random)[:, 0] for _ in range(3000)]
    )
    exact = kalman_smoother(CALM, X)
    assert_allclose(draws.mean(axis=0), exact.means[:, 0], atol=0.04)
    assert_allclose(draws.var(axis=0), exact.covariances[:, 0, 0], rtol=0.12)


@pytest.mark.filterwarnings("ignore:LinearDynamicalSystem had not converged")
def test_one_regime_is_a_plain_system():
    series = np.cumsum(np.random.default_rng(0).normal(size=80))
    alone = SwitchingSystem((CALM,), np.ones(1), np.ones((1, 1)))
    switching = SwitchingDynamicalSystem(1, init=alone, n_iter=8, random_state=0).fit(series)
    plain = LinearDynamicalSystem(init=CALM, max_iter=8, tol=0.0).fit(series)
    assert_allclose(switching.objective_curve_, plain.objective_curve_)


def test_regimes_are_found_again():
    random = np.random.default_rng(1)
    truth = np.repeat([0, 1, 0, 1], 50)
    steps = np.array([0.1, 2.0])[truth] * random.normal(size=200)
    series = np.cumsum(steps) + 0.05 * random.normal(size=200)
    model = SwitchingDynamicalSystem(2, n_iter=40, n_init=3, random_state=0).fit([series])
    regimes = model.predict([series])[0]
    assert max(np.mean(regimes == truth), np.mean(regimes != truth)) > 0.9
    noises = sorted(float(part.state_noise[0, 0]) for part in model.switching_.systems)
    assert noises[1] > 50 * noises[0]
    seen = [part.observation for part in model.switching_.systems]
    assert_allclose(seen[0], seen[1])


def test_bad_input():
    with pytest.raises(DataError, match="2 systems and 1 initial"):
        SwitchingDynamicalSystem.from_parameters(
            SwitchingSystem((CALM, WILD), np.ones(1), np.ones((1, 1)))
        )
    with pytest.raises(DataError, match="burn_in is 3; it must be from 0"):
        SwitchingDynamicalSystem.from_parameters(BOTH).gibbs(X, n_iter=3, burn_in=3)


def test_draws_and_probabilities_of_regimes():
    quiet, loud = (linear_system(0.5, noise, 1.0, 0.01) for noise in (0.01, 25.0))
    model = SwitchingDynamicalSystem.from_parameters(
        SwitchingSystem((quiet, loud), np.array([0.5, 0.5]), np.array([[0.95, 0.05], [0.05, 0.95]]))
    )
    drawn = model.sample(150, 2, random_state=0)
    assert [rows.shape for rows in drawn.observations] == [(150, 1), (150, 1)]
    spread = [np.abs(drawn.observations[0][drawn.states[0] == k]).mean() for k in range(2)]
    assert spread[1] > 4 * spread[0]
    shares = model.predict_proba(drawn.observations)
    assert_allclose(shares[0].sum(axis=1), 1.0)
    assert_array_equal(shares[1].argmax(axis=1), model.predict(drawn.observations)[1])


def test_draws_agree_with_what_they_are_made_of():
    draws = SwitchingDynamicalSystem.from_parameters(BOTH).gibbs(X, n_iter=12, burn_in=2)
    assert isinstance(draws, RegimeDraws)
    assert_allclose(draws.probabilities.sum(axis=1), 1.0)
    assert_allclose(draws.probabilities * 10, (draws.probabilities * 10).round())
    assert_allclose(draws.log_joint, log_joint(BOTH, read_sequences(X), draws.best))
