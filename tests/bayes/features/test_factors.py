"""Binary factors: exact posteriors, Geweke's test, planted factors, messages."""

from itertools import product

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from tests.bayes.geweke import geweke_scores

from verulam.base import DataError, DataWarning
from verulam.bayes import (
    BinaryFactors,
    InfiniteFactors,
    buffet_log_probability,
    indian_buffet,
)
from verulam.bayes._features.factor_loops import factor_sweep
from verulam.bayes._features.factors import FactorPriors, FactorState, log_joint, sweep

LOADINGS = np.array([[5.0, 0.0, 5.0, 0.0], [0.0, 4.0, 0.0, 0.0], [-3.0, 0.0, 2.0, 3.0]])


def planted(n_rows, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    Z = rng.integers(2, size=(n_rows, 3))
    return Z, Z @ LOADINGS + noise * rng.normal(size=(n_rows, 4))


def matched(components):
    """Return the order of components that fits the planted loadings."""
    distances = np.abs(components[:, None] - LOADINGS[None]).sum(axis=2)
    return distances.argmin(axis=0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fixed_number_recovers_planted_factors():
    Z, X = planted(150)
    model = BinaryFactors(3, n_iter=500, burn_in=200, random_state=0).fit(X)
    order = matched(model.components_)
    np.testing.assert_allclose(model.components_[order], LOADINGS, atol=0.2)
    assert (model.factors_[:, order] == Z).mean() > 0.99
    assert model.noise_variance_ == pytest.approx(0.09, rel=0.25)
    assert (model.transform(X)[:, order].round() == Z).mean() > 0.99
    np.testing.assert_allclose(
        model.inverse_transform(Z[:, np.argsort(order)]), Z @ LOADINGS, atol=0.5
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_number_of_planted_factors_is_inferred():
    Z, X = planted(150)
    model = InfiniteFactors(n_iter=500, burn_in=200, random_state=0).fit(X)
    assert model.n_components_ == 3
    order = matched(model.components_)
    assert (model.factors_[:, order] == Z).mean() > 0.99
    assert model.n_factors_draws_.shape == (4, 300)
    assert (np.median(model.n_factors_draws_, axis=1) == 3).any()


def marginal(X, Z, variance, prior_variance):
    covariance = variance * np.eye(len(X)) + prior_variance * Z @ Z.T
    return sum(multivariate_normal(np.zeros(len(X)), covariance).logpdf(column) for column in X.T)


def test_the_log_density_is_that_of_plain_gaussians():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(5, 2)), np.array([[1, 0], [1, 1], [0, 1], [0, 0], [1, 0]])
    state = FactorState(Z.astype(np.int8), np.zeros((2, 2)), 0.5, 2.0, 1.3)
    finite = FactorPriors((1, 1), (1, 1), None, 2)
    weights = betaln(Z.sum(0) + 0.65, 6 - Z.sum(0)) - betaln(0.65, 1.0)
    assert log_joint(X, state, finite) == pytest.approx(marginal(X, Z, 0.5, 2.0) + weights.sum())
    endless = FactorPriors((1, 1), (1, 1), None, None)
    assert log_joint(X, state, endless) == pytest.approx(
        marginal(X, Z, 0.5, 2.0) + buffet_log_probability(Z, 1.3)
    )


def test_draws_of_a_fixed_number_have_the_exact_posterior():
    """All 2^6 tables of three rows and two factors, variances held by strong priors."""
    X = np.array([[2.0, 0.0], [2.2, 1.5], [0.1, 1.4]])
    priors = FactorPriors((1e7, 0.5e7), (1e7, 2e7), None, 2)
    every = [np.array(bits).reshape(3, 2) for bits in product((0, 1), repeat=6)]
    logs = []
    for Z in every:
        weights = betaln(Z.sum(0) + 0.5, 4 - Z.sum(0)) - betaln(0.5, 1.0)
        logs.append(marginal(X, Z, 0.5, 2.0) + weights.sum())
    exact = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
    rng = np.random.default_rng(0)
    state = FactorState(every[0].astype(np.int8), rng.normal(size=(2, 2)), 0.5, 2.0, 1.0)
    counts, codes = np.zeros(64), 2 ** np.arange(5, -1, -1)
    for _ in range(8000):
        state = sweep(X, state, priors, rng)
        counts[state.present.ravel().astype(int) @ codes] += 1
    assert np.abs(counts / 8000 - exact).max() < 0.03


def geweke(n_factors, wrong=1.0):
    priors = FactorPriors(
        (4.0, 2.0), (4.0, 4.0), (3.0, 2.0) if n_factors is None else None, n_factors
    )

    def prior(rng):
        alpha = 1.2 if n_factors else rng.gamma(3.0) / 2.0
        if n_factors:
            shares = rng.beta(alpha / n_factors, 1.0, size=n_factors)
            Z = rng.random((4, n_factors)) < shares
        else:
            Z = indian_buffet(4, alpha, random_state=rng).dishes
        variance, prior_variance = 2.0 / rng.gamma(4.0), 4.0 / rng.gamma(4.0)
        A = np.sqrt(prior_variance) * rng.normal(size=(Z.shape[1], 2))
        return FactorState(Z.astype(np.int8), A, variance, prior_variance, alpha)

    def data(state, rng):
        noise = np.sqrt(wrong * state.variance) * rng.normal(size=(4, 2))
        return state.present @ state.loadings + noise

    def statistics(state):
        return [
            state.present.sum(), state.present.shape[1], np.log(state.variance),
            np.log(state.prior_variance), state.concentration, state.present[0].sum(),
        ]  # fmt: skip

    def kept(parameters):
        values = np.array(statistics(parameters))
        return values[[0, 2, 3, 5]] if n_factors else values

    def transition(state, X, rng):
        return sweep(X, state, priors, rng)

    return geweke_scores(prior, data, transition, kept, n=4000, seed=2)


@pytest.mark.parametrize("n_factors", [2, None])
def test_geweke(n_factors):
    assert np.abs(geweke(n_factors)).max() < 4


@pytest.mark.parametrize("n_factors", [2, None])
def test_geweke_sees_a_wrong_conditional(n_factors):
    assert np.abs(geweke(n_factors, wrong=1.5)).max() > 4


@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_the_loop_is_its_own_plain_python(rate):
    Z, X = planted(12)
    results = []
    for loop in (factor_sweep, factor_sweep.py_func):
        present = np.ascontiguousarray(np.hstack([1 - Z, np.zeros((12, 20))]), dtype=np.int8)
        counts = present.sum(axis=0).astype(float)
        covariance = np.linalg.inv(present.T.astype(float) @ present + 0.5 * np.eye(23))
        means = covariance @ present.T @ X
        state = np.array([7], dtype=np.uint64)
        with np.errstate(over="ignore"):
            loop(
                X, 0, present, counts, 0.0 if rate else 0.3, rate, 1.0, 2.0, covariance, means,
                np.zeros(23), np.zeros(4), state, np.zeros(13),
            )  # fmt: skip
        results.append((present, means))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_allclose(results[0][1], results[1][1], atol=1e-9)
    # What changed by rank one is what all rows give at once.
    table = results[0][0].astype(float)
    exact = np.linalg.solve(table.T @ table + 0.5 * np.eye(23), table.T @ X)
    np.testing.assert_allclose(results[0][1], exact, atol=1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_many_factors_take_a_mean_field(monkeypatch):
    _, X = planted(100)
    model = BinaryFactors(3, n_iter=200, burn_in=100, n_chains=1, random_state=1)
    model.fit(X)
    exact = model.transform(X)
    monkeypatch.setattr("verulam.bayes._features.factors.MOST_COMBINATIONS", 1)
    assert np.abs(model.transform(X) - exact).mean() < 0.05


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_noise_alone_has_no_factor():
    X = np.random.default_rng(0).normal(size=(30, 2)) * 1e-3 + 0.0
    model = InfiniteFactors(1e-6, n_iter=60, burn_in=40, random_state=0)
    with pytest.warns(DataWarning, match="No factor is supported by the data"):
        model.fit(X)
    assert model.transform(X).shape == (30, 0)


def test_chains_that_disagree_are_told():
    with pytest.warns(ConvergenceWarning, match="R-hat of .* above 1.01"):
        BinaryFactors(3, n_iter=12, burn_in=2, random_state=0).fit(planted(40)[1])


def test_wrong_arguments_are_named():
    with pytest.raises(DataError, match="burn_in is 5; it must be less than n_iter=5"):
        BinaryFactors(n_iter=5, burn_in=5).fit([[1.0], [2.0]])
    model = BinaryFactors(2, n_iter=3, burn_in=1, random_state=0).fit([[1.0], [2.0]])
    with pytest.raises(DataError, match=r"Z has shape .1, 1.; expected a column for each of 2"):
        model.inverse_transform([[1]])
