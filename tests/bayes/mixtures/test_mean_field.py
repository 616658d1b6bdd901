"""Mean fields: bounds that never fall and stay below exact evidence; regression; messages."""

import numpy as np
import pytest
from scipy.stats import gamma
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError
from verulam.bayes import MeanFieldRun, VariationalRegression, mean_field


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 3))
    return X, X @ [1.0, -2.0, 0.0] + 0.5 * rng.normal(size=25)


def exact_evidence(X, y, alpha, prior):
    """Return the log-evidence for a fixed precision of weights, noise averaged on a grid."""
    betas = np.exp(np.linspace(np.log(1e-3), np.log(1e3), 4000))
    sizes, axes = np.linalg.eigh(X @ X.T)
    variances = 1 / betas[:, None] + sizes / alpha
    logs = -0.5 * (np.log(2 * np.pi * variances) + (axes.T @ y) ** 2 / variances).sum(axis=1)
    values = logs + gamma(prior[0], scale=1 / prior[1]).logpdf(betas) + np.log(betas)
    peak = values.max()
    return peak + np.log(np.trapezoid(np.exp(values - peak), np.log(betas)))


def test_the_bound_never_falls_and_stays_below_the_evidence(data):
    X, y = data
    learner = VariationalRegression(2.0, precision_prior=(2.0, 1.0), fit_intercept=False).fit(X, y)
    assert np.diff(learner.objective_curve_).min() > -1e-9
    exact = exact_evidence(X, y, 2.0, (2.0, 1.0))
    assert learner.lower_bound_ < exact
    assert exact - learner.lower_bound_ < 0.2


def test_a_learned_precision_is_averaged_too(data):
    X, y = data
    learner = VariationalRegression(precision_prior=(2.0, 1.0), fit_intercept=False).fit(X, y)
    alphas = np.exp(np.linspace(np.log(1e-2), np.log(50), 60))
    logs = [exact_evidence(X, y, alpha, (2.0, 1.0)) for alpha in alphas]
    values = np.array(logs) + gamma(2.0, scale=1.0).logpdf(alphas) + np.log(alphas)
    exact = values.max() + np.log(np.trapezoid(np.exp(values - values.max()), np.log(alphas)))
    assert exact - 0.5 < learner.lower_bound_ < exact


def test_known_precisions_give_the_exact_posterior(data):
    X, y = data
    learner = VariationalRegression(
        3.0, precision_prior=(4e8, 1e8), fit_intercept=False, max_iter=50
    ).fit(X, y)
    covariance = np.linalg.inv(3.0 * np.eye(3) + 4.0 * X.T @ X)
    np.testing.assert_allclose(learner.covariance_, covariance, rtol=1e-5)
    np.testing.assert_allclose(learner.coef_, 4.0 * covariance @ X.T @ y, rtol=1e-5)
    _, std = learner.predict(X[:2], return_std=True)
    np.testing.assert_allclose(std**2, 0.25 + np.diag(X[:2] @ covariance @ X[:2].T), rtol=1e-4)


def test_an_offset_moves_the_constant_alone(data):
    X, y = data
    plain, moved = (VariationalRegression().fit(X + s, y + s) for s in (0.0, 50.0))
    np.testing.assert_allclose(plain.coef_, moved.coef_, rtol=1e-6)
    np.testing.assert_allclose(plain.predict(X) + 50.0, moved.predict(X + 50.0), rtol=1e-8)


def test_a_wrong_update_is_refused():
    with pytest.raises(DataError, match="the bound fell from 0 to -1"):
        mean_field(0.0, [lambda m: m - 1.0], lambda m: m + 1.0)


def test_a_run_tells_whether_it_converged():
    run = mean_field(1.0, [lambda m: m / 2], lambda m: -(m**2), max_iter=3)
    assert isinstance(run, MeanFieldRun)
    assert not run.converged
    assert run.lower_bound == -(0.125**2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_field(0, [], abs), "updates must be a list of one function or more"),
        (lambda: mean_field(0, [abs], abs, max_iter=0), "max_iter must be a whole number"),
        (lambda: mean_field(0, [abs], lambda m: np.nan), "the bound is nan after cycle 1"),
        (
            lambda: VariationalRegression("auto").fit([[1.0], [2.0]], [1, 2]),
            "weight_precision must be a number above 0 or 'learned'",
        ),
        (
            lambda: VariationalRegression(precision_prior=(0, 1)).fit([[1.0], [2.0]], [1, 2]),
            "precision_prior must be two numbers above 0",
        ),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_too_few_cycles_are_told(data):
    with pytest.warns(ConvergenceWarning, match="had not converged after max_iter=1"):
        VariationalRegression(max_iter=1).fit(*data)
