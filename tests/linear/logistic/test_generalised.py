"""Generalised linear models: agreement with their special cases."""

import numpy as np
import pytest
from sklearn.linear_model import GammaRegressor, LinearRegression, PoissonRegressor
from tests.linear.examples import overlapping

from verulam.base import DataError, DataWarning
from verulam.linear import GeneralisedLinear, LogisticDiscriminant

ROWS, CLASSES = overlapping()


def test_bernoulli_is_logistic_discrimination():
    model = GeneralisedLinear(family="bernoulli").fit(ROWS, CLASSES)
    logistic = LogisticDiscriminant(penalty=None, standard_errors=True, tolerance=1e-10)
    logistic.fit(ROWS, CLASSES)
    assert np.allclose(model.coef_, logistic.coef_[0], atol=1e-6)
    assert np.allclose(model.predict(ROWS), logistic.predict_proba(ROWS)[:, 1], atol=1e-6)
    assert np.allclose(model.standard_errors_, logistic.report()["standard error"], atol=1e-6)
    assert model.deviance_ == pytest.approx(-2 * logistic.log_likelihood_)


def test_gaussian_is_least_squares():
    targets = ROWS @ [1.0, 2.0, 3.0] + np.random.default_rng(0).normal(size=200)
    model = GeneralisedLinear().fit(ROWS, targets)
    assert np.allclose(model.coef_, LinearRegression().fit(ROWS, targets).coef_)


def test_poisson_agrees_with_scikit_learn():
    counts = np.random.default_rng(0).poisson(np.exp(0.3 * ROWS[:, 0]))
    model = GeneralisedLinear(family="poisson").fit(ROWS, counts)
    theirs = PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=1000).fit(ROWS, counts)
    assert np.allclose(model.coef_, theirs.coef_, atol=1e-5)
    assert np.allclose(model.predict(ROWS), theirs.predict(ROWS), atol=1e-5)


def test_gamma_means_are_positive():
    targets = np.random.default_rng(0).gamma(2.0, np.exp(0.3 * ROWS[:, 0]))
    model = GeneralisedLinear(family="gamma").fit(ROWS, targets)
    assert (model.predict(10 * ROWS) > 0).all()
    assert model.coef_[0] == pytest.approx(0.3, abs=0.15)


def test_gamma_agrees_with_scikit_learn():
    targets = np.random.default_rng(0).gamma(2.0, np.exp(0.3 * ROWS[:, 0]))
    model = GeneralisedLinear(family="gamma").fit(ROWS, targets)
    theirs = GammaRegressor(alpha=0.0, tol=1e-10, max_iter=1000).fit(ROWS, targets)
    assert np.allclose(model.coef_, theirs.coef_, atol=1e-5)
    assert np.allclose(model.predict(ROWS), theirs.predict(ROWS), rtol=1e-5)


@pytest.mark.parametrize(
    ("family", "targets"), [("bernoulli", [0, 2]), ("poisson", [-1, 2]), ("gamma", [0, 1])]
)
def test_values_that_a_family_cannot_give_are_refused(family, targets):
    with pytest.raises(DataError, match=f"for the {family} family"):
        GeneralisedLinear(family=family).fit([[0.0], [1.0]], targets)


def test_dependent_inputs_are_said():
    targets = ROWS @ [1.0, 2.0, 3.0]
    with pytest.warns(DataWarning, match="depend on one another"):
        model = GeneralisedLinear().fit(np.c_[ROWS, ROWS[:, 0]], targets)
    assert model.coef_[0] == pytest.approx(model.coef_[3])


@pytest.mark.parametrize(
    ("family", "value"), [("gaussian", -3.0), ("bernoulli", 0.25), ("poisson", 4.0), ("gamma", 0.5)]
)
def test_constant_targets_are_predicted(family, value):
    model = GeneralisedLinear(family=family).fit(ROWS, np.full(200, value))
    assert np.allclose(model.predict(ROWS + 5.0), value)
    assert model.deviance_ == 0.0
    assert not model.coef_.any()


@pytest.mark.parametrize(("family", "value"), [("bernoulli", 1), ("bernoulli", 0), ("poisson", 0)])
def test_constant_targets_at_the_border_are_refused(family, value):
    with pytest.raises(DataError, match=f"y is {value} in every row"):
        GeneralisedLinear(family=family).fit(ROWS, np.full(200, value))


def test_true_and_false_are_one_and_zero():
    rows, classes = overlapping()
    by_number = GeneralisedLinear(family="bernoulli").fit(rows, classes)
    by_truth = GeneralisedLinear(family="bernoulli").fit(rows, classes == 1)
    assert np.allclose(by_truth.coef_, by_number.coef_)
