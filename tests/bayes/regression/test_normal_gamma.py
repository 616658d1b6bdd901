"""Regression with unknown noise: formulas, the erratum, and the t distribution of targets."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, Ridge

from verulam.base import DataError
from verulam.bayes import NormalGammaRegression

RNG = np.random.default_rng(1)
X = RNG.normal(size=(12, 2))
Y = X @ [1.0, -1.0] + RNG.normal(scale=0.5, size=12)
NEW = RNG.normal(size=(5, 2))
MATRIX = np.array([[2.0, 0.3], [0.3, 1.0]])
SETTINGS = {
    "prior_mean": [0.5, -0.2],
    "prior_precision": MATRIX,
    "noise_shape": 2.0,
    "noise_rate": 1.5,
    "fit_intercept": False,
}


def test_posterior_by_the_text():
    """Erratum 5: Sigma_0 is a precision, and b_N has the inverse of Sigma_N."""
    learner = NormalGammaRegression(**SETTINGS).fit(X, Y)
    m0 = np.array([0.5, -0.2])
    covariance = np.linalg.inv(X.T @ X + MATRIX)
    mean = covariance @ (X.T @ Y + MATRIX @ m0)
    np.testing.assert_allclose(learner.covariance_, covariance, rtol=1e-10)
    np.testing.assert_allclose(learner.coef_, mean, rtol=1e-10)
    assert learner.noise_shape_ == 2.0 + 6.0
    rate = 1.5 + 0.5 * (Y @ Y + m0 @ MATRIX @ m0 - mean @ np.linalg.inv(covariance) @ mean)
    assert learner.noise_rate_ == pytest.approx(rate)
    # The form as it is printed, with Sigma_N in place of its inverse, is another number.
    printed = 1.5 + 0.5 * (Y @ Y + m0 @ MATRIX @ m0 - mean @ covariance @ mean)
    assert abs(printed - rate) > 0.1


def test_predictions_are_t():
    learner = NormalGammaRegression(**SETTINGS).fit(X, Y)
    scale = learner.noise_rate_ / learner.noise_shape_
    scale = scale * (1 + np.einsum("ij,jk,ik->i", NEW, learner.covariance_, NEW))
    reference = stats.t(16.0, NEW @ learner.coef_, np.sqrt(scale))
    predictions = learner.predict_distribution(NEW)
    np.testing.assert_allclose(predictions.log_density(Y[:5]), reference.logpdf(Y[:5]))
    np.testing.assert_allclose(predictions.std, reference.std())
    np.testing.assert_allclose(predictions.interval(0.9).lower, reference.ppf(0.05))


def test_evidence_is_a_multivariate_t_of_the_targets():
    learner = NormalGammaRegression(**SETTINGS).fit(X, Y)
    scale = 1.5 / 2.0 * (np.eye(12) + X @ np.linalg.inv(MATRIX) @ X.T)
    expected = stats.multivariate_t(X @ [0.5, -0.2], scale, df=4.0).logpdf(Y)
    assert learner.log_evidence_ == pytest.approx(expected)


def test_chain_of_predictives_is_the_evidence():
    first = NormalGammaRegression(**SETTINGS).fit(X[:1], Y[:1])
    total = first.log_evidence_
    for t in range(1, 12):
        total += first.predict_distribution(X[t : t + 1]).log_density(Y[t : t + 1])[0]
        first.partial_fit(X[t : t + 1], Y[t : t + 1])
    assert first.log_evidence_ == pytest.approx(total)


def test_a_multiple_of_the_identity_is_ridge():
    learner = NormalGammaRegression(prior_precision=0.8).fit(X, Y)
    ridge = Ridge(alpha=0.8).fit(X, Y)
    np.testing.assert_allclose(learner.coef_, ridge.coef_, rtol=1e-10)
    assert learner.intercept_ == pytest.approx(ridge.intercept_)


def test_three_estimates():
    full = NormalGammaRegression(**SETTINGS).fit(X, Y)
    likeliest = NormalGammaRegression(**SETTINGS, estimate="map").fit(X, Y)
    np.testing.assert_allclose(likeliest.coef_, full.coef_)
    precision = (full.noise_shape_ + 1.0 - 1.0) / full.noise_rate_
    np.testing.assert_allclose(likeliest.predict(NEW, return_std=True)[1], precision**-0.5)
    plain = NormalGammaRegression(estimate="ml").fit(X, Y)
    np.testing.assert_allclose(plain.coef_, LinearRegression().fit(X, Y).coef_, rtol=1e-8)
    assert np.isnan(plain.log_evidence_)


def test_likeliest_precision_is_the_mode_of_the_joint_density():
    full = NormalGammaRegression(**SETTINGS).fit(X, Y)
    grid = np.linspace(0.05, 20, 20_000)
    heights = stats.gamma.logpdf(grid, full.noise_shape_, scale=1 / full.noise_rate_)
    heights += np.log(grid)  # two weights, each with a root of the precision
    likeliest = NormalGammaRegression(**SETTINGS, estimate="map").fit(X, Y)
    std = likeliest.predict(NEW, return_std=True)[1][0]
    assert std**-2 == pytest.approx(grid[heights.argmax()], abs=2e-3)


def test_ten_models_are_drawn_and_many_average_to_the_mean():
    """Figure 16.5: beta ~ Gamma, then w ~ N(mu_N, Sigma_N / beta)."""
    learner = NormalGammaRegression(**SETTINGS).fit(X, Y)
    weights, precisions = learner.sample_models(random_state=0)
    assert weights.shape == (10, 2)
    assert precisions.shape == (10,)
    weights, precisions = learner.sample_models(20_000, random_state=0)
    assert precisions.mean() == pytest.approx(learner.noise_shape_ / learner.noise_rate_, rel=0.02)
    np.testing.assert_allclose(weights.mean(axis=0), learner.coef_, atol=0.01)
    expected = learner.covariance_ * (1 / precisions).mean()
    np.testing.assert_allclose(np.cov(weights.T), expected, rtol=0.08, atol=1e-3)
    functions = learner.sample_functions(NEW, 20_000, random_state=1)
    np.testing.assert_allclose(functions.mean(axis=0), learner.predict(NEW), atol=0.02)
    centred = NormalGammaRegression().fit(X, Y)
    spread = centred.sample_functions(NEW, 20_000, random_state=1)
    np.testing.assert_allclose(spread.mean(axis=0), centred.predict(NEW), atol=0.02)


def test_dual_equals_primal():
    learner = NormalGammaRegression(prior_precision=0.8, degree=2).fit(X, Y)
    np.testing.assert_allclose(
        learner.equivalent_kernel(NEW, X) @ Y, learner.predict(NEW), rtol=0, atol=1e-10
    )


def test_intervals_cover_what_they_say():
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(1000):
        precision = rng.gamma(2.0, 1 / 1.5)
        weights = rng.multivariate_normal([0.5, -0.2], np.linalg.inv(MATRIX) / precision)
        rows = rng.normal(size=(7, 2))
        targets = rows @ weights + rng.normal(scale=precision**-0.5, size=7)
        learner = NormalGammaRegression(**SETTINGS).fit(rows[:6], targets[:6])
        inside += learner.predict_interval(rows[6:], 0.95).covers(targets[6:])[0]
    assert 930 <= inside <= 970


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior_mean": [1.0]}, "prior_mean must be a finite number or one for each of the 2"),
        ({"prior_precision": -np.eye(2)}, "prior_precision must be positive definite"),
        ({"prior_precision": np.eye(3)}, "prior_precision must be a square matrix"),
    ],
)
def test_improper_priors_are_named(options, message):
    with pytest.raises(DataError, match=message):
        NormalGammaRegression(**options).fit(X, Y)
    with pytest.raises(ValueError, match="'noise_rate' parameter"):
        NormalGammaRegression(noise_rate=0.0).fit(X, Y)
