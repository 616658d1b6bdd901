"""Bayesian mixtures of experts: piecewise lines, the bound, messages."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.bayes.mixtures.test_mean_field import exact_evidence

from verulam.base import DataError
from verulam.bayes import BayesianMixtureOfExperts, VariationalRegression
from verulam.bayes._mixtures.experts import ExpertUpdates
from verulam.bayes._mixtures.mean_field import GammaFactor


@pytest.fixture(scope="module")
def tent():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, 150))[:, None]
    return x, np.where(x[:, 0] < 0, 2 + 2 * x[:, 0], 2 - x[:, 0]) + 0.1 * rng.normal(size=150)


@pytest.fixture(scope="module")
def fitted(tent):
    return BayesianMixtureOfExperts(2, random_state=0).fit(*tent)


def test_recovers_piecewise_lines(tent, fitted):
    order = np.argsort(fitted.coef_[:, 0])
    np.testing.assert_allclose(fitted.coef_[order, 0], [-1, 2], atol=0.1)
    np.testing.assert_allclose(fitted.intercept_, 2, atol=0.1)
    np.testing.assert_allclose(1 / np.sqrt(fitted.noise_precision_), 0.1, atol=0.03)
    assert np.mean((fitted.predict(tent[0]) - tent[1]) ** 2) < 0.1


def test_the_gate_hands_over_at_the_kink(fitted):
    shares = fitted.predict_gate([[-2.0], [2.0]])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert shares.max(axis=1).min() > 0.95
    assert shares[0].argmax() != shares[1].argmax()


def test_the_bound_never_falls(tent):
    for size in (2, 4):
        model = BayesianMixtureOfExperts(
            size, tol=1e-7, max_iter=3000, n_init=1, random_state=0
        ).fit(*tent)
        assert np.diff(model.objective_curve_).min() > -1e-9 * abs(model.lower_bound_)


def test_two_experts_have_more_evidence_than_one_or_the_line(tent):
    bounds = [
        BayesianMixtureOfExperts(size, random_state=0).fit(*tent).lower_bound_ for size in (1, 2)
    ]
    assert bounds[1] > bounds[0] + 50


def test_one_expert_is_the_variational_line(tent):
    x, y = tent
    one = BayesianMixtureOfExperts(1, precision_prior=(2.0, 1.0), tol=1e-12, random_state=0)
    one.fit(x, y)
    inputs = np.column_stack([np.ones(len(x)), (x - x.mean(0)) / x.std(0)])
    line = VariationalRegression(precision_prior=(2.0, 1.0), fit_intercept=False, tol=1e-12)
    line.fit(inputs, (y - y.mean()) / y.std())
    np.testing.assert_allclose(one.predict(x), y.mean() + y.std() * line.predict(inputs), rtol=1e-4)
    # The gate of one expert has nothing to say; its two factors lose a little on their prior.
    assert 0 < line.lower_bound_ - one.lower_bound_ < 0.5


def test_the_bound_is_below_the_evidence_of_one_expert(tent):
    x, y = tent[0][::5], tent[1][::5]
    model = BayesianMixtureOfExperts(1, precision_prior=(2.0, 1.0), random_state=0).fit(x, y)
    inputs = np.column_stack([np.ones(len(x)), (x - x.mean(0)) / x.std(0)])
    target = (y - y.mean()) / y.std()
    alphas = np.exp(np.linspace(np.log(1e-2), np.log(50), 60))
    logs = np.array([exact_evidence(inputs, target, alpha, (2.0, 1.0)) for alpha in alphas])
    values = logs + np.log(alphas) - alphas + np.log(alphas)
    exact = values.max() + np.log(np.trapezoid(np.exp(values - values.max()), np.log(alphas)))
    assert exact - 1.0 < model.lower_bound_ < exact


def test_the_softmax_is_below_its_quadratic_bound():
    rng = np.random.default_rng(0)
    work = ExpertUpdates(np.ones((1, 1)), np.ones(1), GammaFactor(1.0, 1.0), 3)
    for _ in range(200):
        at, other = rng.normal(size=(2, 3)) * 3
        share = np.exp(at) / np.exp(at).sum()
        step = other - at
        quadratic = np.log(np.exp(at).sum()) + share @ step + 0.5 * step @ work.curvature @ step
        assert np.log(np.exp(other).sum()) <= quadratic + 1e-12


def test_deviations_grow_where_experts_disagree(fitted):
    _, std = fitted.predict([[0.5], [30.0]], return_std=True)
    assert std[0] < 1.0
    assert std[1] > std[0]


def test_surplus_experts_lose_their_rows(tent):
    model = BayesianMixtureOfExperts(5, random_state=0).fit(*tent)
    assert model.weights_.sum() == pytest.approx(1.0)
    assert np.mean((model.predict(tent[0]) - tent[1]) ** 2) < 0.02


def test_wrong_arguments_are_named():
    with pytest.raises(DataError, match="n_experts=5 is more than the data has: n_samples=3"):
        BayesianMixtureOfExperts(5).fit([[1.0], [2.0], [3.0]], [1, 2, 3])
    with pytest.raises(DataError, match="precision_prior must be two numbers above 0"):
        BayesianMixtureOfExperts(precision_prior=(1.0, -1.0)).fit([[1.0], [2.0]], [1, 2])


def test_too_few_cycles_are_told(tent):
    with pytest.warns(ConvergenceWarning, match="had not converged after max_iter=1 cycles"):
        BayesianMixtureOfExperts(max_iter=1, random_state=0).fit(*tent)
