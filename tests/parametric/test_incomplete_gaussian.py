"""IncompleteGaussianDensity: complete data, monotone likelihood, a maximum, a closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from verulam.base import DataError
from verulam.parametric import GaussianDensity, IncompleteGaussianDensity


@pytest.fixture
def gappy():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([1.0, -1.0, 0.0], [[2, 1, 0.5], [1, 2, 0], [0.5, 0, 1]], size=300)
    X[rng.random(X.shape) < 0.25] = np.nan
    return X


def test_without_gaps_it_is_the_plain_estimate():
    X = np.random.default_rng(0).normal(size=(100, 3))
    ours, plain = IncompleteGaussianDensity().fit(X), GaussianDensity().fit(X)
    assert_allclose(ours.mean_, plain.mean_)
    assert_allclose(ours.covariance_matrix_, plain.covariance_matrix_)
    assert_allclose(ours.score_samples(X), plain.score_samples(X))


def test_likelihood_never_falls(gappy):
    density = IncompleteGaussianDensity(tol=1e-10).fit(gappy)
    assert density.converged_
    assert density.n_iter_ == len(density.objective_curve_) > 3
    assert (np.diff(density.objective_curve_) > -1e-12).all()


def test_the_result_is_a_maximum(gappy):
    density = IncompleteGaussianDensity(tol=1e-12).fit(gappy)
    best = density.score(gappy)
    rng = np.random.default_rng(1)
    for _ in range(10):
        moved = IncompleteGaussianDensity().fit(gappy)
        moved.mean_ = density.mean_ + 0.02 * rng.normal(size=3)
        change = 0.02 * rng.normal(size=(3, 3))
        moved.covariance_matrix_ = density.covariance_matrix_ + change + change.T
        assert moved.score(gappy) < best


def test_monotone_pattern_has_a_closed_form():
    """Where only the second column has gaps, regression on the first gives the answer."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    y = 2 * x + rng.normal(size=200)
    X = np.column_stack([x, y])
    X[120:, 1] = np.nan
    density = IncompleteGaussianDensity(tol=1e-13, max_iter=2000).fit(X)
    slope, intercept = np.polyfit(x[:120], y[:120], 1)
    residual = np.mean((y[:120] - slope * x[:120] - intercept) ** 2)
    assert_allclose(density.mean_, [x.mean(), intercept + slope * x.mean()], rtol=1e-4)
    assert_allclose(density.covariance_matrix_[1, 1], residual + slope**2 * x.var(), rtol=1e-4)


def test_score_uses_what_is_there(gappy):
    density = IncompleteGaussianDensity().fit(gappy)
    marginal = multivariate_normal(density.mean_[:2], density.covariance_matrix_[:2, :2])
    scores = density.score_samples([[0.3, 0.1, np.nan], [np.nan] * 3])
    assert_allclose(scores, [marginal.logpdf([0.3, 0.1]), 0.0])


def test_column_without_values():
    with pytest.raises(DataError, match=r"All values are missing in column 1 \(counted from 0\)"):
        IncompleteGaussianDensity().fit([[1.0, np.nan], [2.0, np.nan]])
