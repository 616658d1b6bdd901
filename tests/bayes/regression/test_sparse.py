"""Priors that make zeros: the lasso as MAP, and Figueiredo's adaptive sparseness."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from verulam.base import DataError
from verulam.bayes import SparseRegression

RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 8))
TRUE = np.array([3.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 1.0])
Y = X @ TRUE + 2.0 + RNG.normal(scale=0.5, size=60)


def test_laplace_prior_is_the_lasso():
    """The penalty 2 sigma^2 alpha of the text is N sigma^2 alpha / N of scikit-learn."""
    ours = SparseRegression(alpha=20.0, noise_variance=0.3).fit(X, Y)
    theirs = Lasso(alpha=0.3 * 20.0 / 60, tol=1e-12, max_iter=100_000).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)
    assert np.count_nonzero(ours.coef_) < 8


def test_weights_maximise_the_posterior():
    ours = SparseRegression(alpha=20.0, noise_variance=0.3, fit_intercept=False).fit(X, Y)

    def objective(weights):
        return ((Y - X @ weights) ** 2).sum() + 2 * 0.3 * 20.0 * np.abs(weights).sum()

    best = objective(ours.coef_)
    for _ in range(100):
        assert objective(ours.coef_ + RNG.normal(scale=0.01, size=8)) > best


def test_noise_is_estimated_with_the_weights():
    ours = SparseRegression(alpha=1.0).fit(X, Y)
    residual = Y - ours.predict(X)
    freedom = 60 - np.count_nonzero(ours.coef_)
    assert ours.noise_variance_ == pytest.approx(residual @ residual / freedom, rel=1e-3)
    assert ours.noise_variance_ == pytest.approx(0.25, rel=0.5)


def test_jeffreys_prior_finds_the_columns_and_shrinks_them_little():
    ours = SparseRegression(prior="jeffreys").fit(X, Y)
    np.testing.assert_array_equal(ours.coef_ != 0, TRUE != 0)
    np.testing.assert_allclose(ours.coef_, TRUE, atol=0.25)
    # A fixed point of EM: w = (X'X + sigma^2 / w^2)^-1 X'r on the columns that are left.
    alive = ours.coef_ != 0
    rows, targets = X[:, alive] - X[:, alive].mean(axis=0), Y - Y.mean()
    system = rows.T @ rows + ours.noise_variance_ * np.diag(ours.coef_[alive] ** -2.0)
    np.testing.assert_allclose(np.linalg.solve(system, rows.T @ targets), ours.coef_[alive], 1e-4)


def test_absolute_values_prefer_one_axis():
    """(1, 0) and (1, 1) / sqrt 2 have one length, but 1 and sqrt 2 as sums of absolute values."""
    first, second = np.array([1.0, 0.0]), np.full(2, 0.5**0.5)
    assert first @ first == pytest.approx(second @ second)
    assert np.abs(second).sum() == pytest.approx(2**0.5 * np.abs(first).sum())
    # Two columns alike: the penalty lets either alone carry the weight, never more in sum.
    double = SparseRegression(alpha=5.0, noise_variance=0.1).fit(X[:, [0, 0]], X[:, 0])
    single = SparseRegression(alpha=5.0, noise_variance=0.1).fit(X[:, [0]], X[:, 0])
    assert double.coef_.sum() == pytest.approx(single.coef_[0], abs=1e-4)


def test_more_columns_than_rows():
    wide = RNG.normal(size=(30, 80))
    targets = 4.0 * wide[:, 7] - 3.0 * wide[:, 40] + RNG.normal(scale=0.2, size=30)
    ours = SparseRegression(alpha=3.0, noise_variance=0.04 * 10).fit(wide, targets)
    assert {7, 40} <= set(np.argsort(-np.abs(ours.coef_))[:3])


def test_wrong_input_is_refused():
    with pytest.raises(DataError, match="n_samples = 1"):
        SparseRegression().fit([[1.0]], [1.0])
    with pytest.raises(ValueError, match="'prior' parameter"):
        SparseRegression(prior="gauss").fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        SparseRegression(prior="jeffreys", max_iter=1).fit(X, Y)
