"""Factorial models learned without multiplying out: many chains, agreement, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import (
    AdditiveEmission,
    ChainBeliefs,
    ChainInitial,
    FactorialParameters,
    VariationalFactorial,
    chain_posteriors,
    factorial_model,
)


def summed(n_chains, n_steps=240, seed=0):
    random = np.random.default_rng(seed)
    states = np.column_stack(
        [np.repeat(random.integers(2, size=n_steps // 10), 10) for _ in range(n_chains)]
    )
    rows = 3.0 * random.normal(size=(n_chains, 6))
    return states @ rows + 0.5 * random.normal(size=(n_steps, 6)), states


def test_twelve_chains_are_told_apart():
    """Multiplied out they would have 4096 states; here a pass is twelve small recursions."""
    X, states = summed(12)
    model = VariationalFactorial((2,) * 12, n_init=1, max_iter=8, tol=1.0, random_state=0).fit(X)
    assert np.diff(model.objective_curve_).min(initial=0.0) > -1e-6
    assert model.predict(X).shape == states.shape


def test_chains_are_found_again():
    X, states = summed(3, seed=3)
    model = VariationalFactorial((2,) * 3, n_init=6, random_state=0).fit(X)
    paths = model.predict([X])[0]
    hits = [
        max(max((paths[:, k] == chain).mean(), (paths[:, k] != chain).mean()) for k in range(3))
        for chain in states.T
    ]
    assert min(hits) > 0.97
    assert np.diff(model.objective_curve_).min() > -1e-6


def test_bound_is_close_to_the_exact_model():
    X, _ = summed(2)
    model = VariationalFactorial((2, 2), n_init=3, random_state=0).fit(X)
    known = model.parameters_
    emission = AdditiveEmission(
        (2, 2), contributions=np.vstack(known.contributions), covariances=known.covariance
    )
    first = ChainInitial(np.kron(*known.initial), sizes=(2, 2))
    exact = factorial_model((2, 2), emission, tables=known.transitions, initial=first, max_iter=1)
    with pytest.warns(UserWarning, match="not converged"):
        likelihood = exact.fit(X).objective_curve_[0]
    assert 1.01 * likelihood < model.score(X) < likelihood + 1e-8
    posteriors = chain_posteriors(exact.predict_proba(X), (2, 2))
    for ours, theirs in zip(model.infer(X).probabilities, posteriors, strict=True):
        assert np.abs(ours - theirs).mean() < 0.03


def test_same_seed_same_draws():
    X, _ = summed(2, 40)
    model = VariationalFactorial((2, 2), random_state=0).fit(X)
    one, other = (model.gibbs(X, n_iter=20, burn_in=5, random_state=1) for _ in range(2))
    assert_allclose(one[0], other[0])
    assert_allclose(one[1].sum(axis=1), 1.0)


def test_known_parameters_need_no_learning():
    X, _ = summed(2)
    model = VariationalFactorial((2, 2), random_state=0).fit(X)
    same = VariationalFactorial.from_parameters(model.parameters_)
    assert_allclose(same.score(X), model.score(X))


def test_bad_input():
    with pytest.raises(DataError, match="number of states of each chain"):
        VariationalFactorial((2, 0)).fit(np.arange(9.0))
    X, _ = summed(2, 40)
    model = VariationalFactorial((2, 2), random_state=0).fit(X)
    with pytest.raises(DataError, match="burn_in is 5; it must be from 0"):
        model.gibbs(X, n_iter=5, burn_in=5)


def test_draws_have_the_moments():
    parameters = FactorialParameters(
        (np.array([1.0, 0.0]), np.array([0.5, 0.5])),
        (np.eye(2), np.full((2, 2), 0.5)),
        (np.array([[5.0], [0.0]]), np.array([[0.0], [2.0]])),
        np.array([[0.25]]),
    )
    drawn = VariationalFactorial.from_parameters(parameters).sample(2000, 2, random_state=0)
    assert [rows.shape for rows in drawn.observations] == [(2000, 1), (2000, 1)]
    assert (drawn.states[0][:, 0] == 0).all()
    assert_allclose(drawn.observations[0].mean(), 6.0, atol=0.1)
    noise = drawn.observations[0][:, 0] - 5.0 - 2.0 * drawn.states[0][:, 1]
    assert_allclose(noise.std(), 0.5, atol=0.05)


def test_beliefs_are_posteriors_and_a_bound():
    X, _ = summed(2, n_steps=80)
    model = VariationalFactorial((2, 2), n_init=1, max_iter=3, tol=1e9, random_state=0).fit(X)
    beliefs = model.infer(X)
    assert isinstance(beliefs, ChainBeliefs)
    assert beliefs.bound == beliefs.curve[-1] == model.score(X)
    assert_allclose([table.sum(axis=1) for table in beliefs.probabilities], 1.0)
    assert [table.shape for table in beliefs.probabilities] == [(80, 2)] * 2
