"""Logistic and probit regression with a prior: modes, three integrals, shrunken probabilities."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, ndtr
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from statsmodels.discrete.discrete_model import Probit

from verulam.base import DataError
from verulam.bayes import BayesianLogisticRegression, averaged_probability, laplace
from verulam.bayes._classification.logistic import _inverse
from verulam.bayes._families.multivariate import as_definite

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = (RNG.random(60) < expit(X @ [2.0, -1.0] + 0.5)).astype(int)
NEW = RNG.normal(scale=3.0, size=(9, 2))


def test_map_is_the_penalised_logistic_regression():
    ours = BayesianLogisticRegression(estimate="map", prior_covariance=2.0).fit(X, Y)
    theirs = LogisticRegression(C=2.0, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW), atol=1e-4)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_mode_and_precision_are_those_of_laplaces_method(link):
    """Erratum 7: S_N is a precision; the covariance of the weights is its inverse."""
    mean, covariance = np.array([0.5, 0.0]), np.array([[2.0, 0.4], [0.4, 1.0]])
    ours = BayesianLogisticRegression(
        link=link, prior_mean=mean, prior_covariance=covariance, fit_intercept=False
    ).fit(X, Y)
    function = expit if link == "logit" else ndtr
    signs = 2 * Y - 1
    precision = np.linalg.inv(covariance)

    def log_joint(w):
        prior = -0.5 * (w - mean) @ precision @ (w - mean)
        normaliser = -0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1]
        return prior + normaliser + np.log(function(signs * (X @ w))).sum()

    reference = laplace(log_joint, [0.0, 0.0])
    np.testing.assert_allclose(ours.coef_[0], reference.mode, atol=1e-4)
    np.testing.assert_allclose(ours.covariances_[0], reference.covariance, rtol=2e-3)
    assert ours.log_evidence_ == pytest.approx(reference.log_normaliser, abs=1e-3)
    if link == "logit":
        y = expit(X @ ours.coef_[0])
        expected = precision + (X.T * (y * (1 - y))) @ X
        np.testing.assert_allclose(np.linalg.inv(ours.covariances_[0]), expected, rtol=1e-6)


def test_ml_is_without_a_prior():
    logit = BayesianLogisticRegression(estimate="ml").fit(X, Y)
    theirs = LogisticRegression(C=np.inf, tol=1e-12).fit(X, Y)
    np.testing.assert_allclose(logit.coef_, theirs.coef_, rtol=1e-3)
    probit = BayesianLogisticRegression(estimate="ml", link="probit").fit(X, Y)
    reference = Probit(Y, np.column_stack([np.ones(60), X])).fit(disp=0)
    np.testing.assert_allclose(probit.coef_[0], reference.params[1:], rtol=1e-4)
    assert np.isnan(probit.log_evidence_)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_averaging_draws_probabilities_to_one_half(link):
    likeliest = BayesianLogisticRegression(estimate="map", link=link).fit(X, Y)
    averaged = BayesianLogisticRegression(estimate="full", link=link).fit(X, Y)
    first, second = likeliest.predict_proba(NEW)[:, 1], averaged.predict_proba(NEW)[:, 1]
    assert (np.abs(second - 0.5) < np.abs(first - 0.5)).all()
    np.testing.assert_array_equal(likeliest.predict(NEW), averaged.predict(NEW))


MEANS, VARIANCES = np.array([-2.0, 0.3, 1.5]), np.array([0.5, 4.0, 9.0])


@pytest.mark.parametrize(
    ("link", "integral", "tolerance"),
    [
        ("probit", "closed", 1e-12),
        ("probit", "quadrature", 1e-4),
        ("probit", "sampling", 0.02),
        ("logit", "closed", 0.005),
        ("logit", "quadrature", 1e-6),
        ("logit", "sampling", 0.02),
    ],
)
def test_three_ways_to_the_integral(link, integral, tolerance):
    function = expit if link == "logit" else ndtr
    exact = [
        quad(lambda a, m=m, v=v: function(a) * norm.pdf(a, m, v**0.5), m - 40, m + 40, limit=200)[0]
        for m, v in zip(MEANS, VARIANCES, strict=True)
    ]
    ours = averaged_probability(
        MEANS, VARIANCES, link=link, integral=integral, n_draws=4000, random_state=0
    )
    np.testing.assert_allclose(ours, exact, atol=tolerance)


@pytest.mark.parametrize("integral", ["closed", "quadrature", "sampling"])
def test_learners_average_by_each_way(integral):
    learner = BayesianLogisticRegression(integral=integral).fit(X, Y)
    closed = BayesianLogisticRegression(integral="quadrature").fit(X, Y)
    np.testing.assert_allclose(learner.predict_proba(NEW), closed.predict_proba(NEW), atol=0.03)


def test_three_classes_are_one_against_the_rest():
    labels = np.array(["a", "b", "c"])[(X[:, 0] > 0.5).astype(int) + (X[:, 0] > -0.5)]
    learner = BayesianLogisticRegression(prior_covariance=10.0).fit(X, labels)
    shares = learner.predict_proba(NEW)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert learner.coef_.shape == (3, 2)
    single = BayesianLogisticRegression(prior_covariance=10.0).fit(X, labels == "b")
    np.testing.assert_allclose(learner.coef_[1], single.coef_[0], rtol=1e-6)
    assert learner.score(X, labels) > 0.7


def test_separable_classes_without_a_prior_are_named():
    rows, labels = [[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1]
    with pytest.warns(ConvergenceWarning, match="may be separable"):
        BayesianLogisticRegression(estimate="ml", max_iter=10).fit(rows, labels)
    assert np.isfinite(BayesianLogisticRegression().fit(rows, labels).coef_).all()


def test_wrong_input_is_refused():
    with pytest.raises(DataError, match="two classes or more; got 1 class"):
        BayesianLogisticRegression().fit(X, np.zeros(60))
    with pytest.raises(DataError, match="prior_covariance must be positive definite"):
        BayesianLogisticRegression(prior_covariance=-np.eye(2)).fit(X, Y)
    with pytest.raises(DataError, match="one for each of the 2 weights"):
        BayesianLogisticRegression(prior_mean=[1.0, 2.0, 3.0]).fit(X, Y)
    with pytest.raises(DataError, match='link must be "logit" or "probit"'):
        averaged_probability([0.0], [1.0], link="cauchit")
    with pytest.raises(DataError, match="integral must be"):
        averaged_probability([0.0], [1.0], integral="exact")


@pytest.mark.parametrize("integral", ["closed", "quadrature"])
def test_negative_variances_are_refused(integral):
    with pytest.raises(DataError, match="variance must be 0 or more; got -1"):
        averaged_probability([0.0, 1.0], [2.0, -1.0], integral=integral)


def test_a_precision_without_an_inverse_leaves_its_direction_out():
    inverse, log_determinant = _inverse(np.diag([2.0, 0.0]))
    np.testing.assert_allclose(inverse, np.diag([0.5, 0.0]))
    assert log_determinant == -np.inf
    inverse, log_determinant = _inverse(np.array([[2.0, 1.0], [1.0, 3.0]]))
    np.testing.assert_allclose(inverse, np.array([[3.0, -1.0], [-1.0, 2.0]]) / 5.0)
    assert log_determinant == pytest.approx(np.log(5.0))


def test_a_prior_that_is_none_is_told_by_its_smallest_eigenvalue():
    with pytest.raises(DataError, match="positive definite; its smallest eigenvalue is -2"):
        as_definite([[1.0, 3.0], [3.0, 1.0]], "covariance")
