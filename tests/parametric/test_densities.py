"""Maximum-likelihood densities: formulas, SciPy's numbers, samples that fit back."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.base import DataError
from verulam.parametric import BernoulliDensity, GaussianDensity, MultinomialDensity


def test_bernoulli_is_the_share_of_ones():
    X = np.array([[1, 0], [1, 1], [0, 0], [1, 0]])
    density = BernoulliDensity().fit(X)
    assert_allclose(density.probabilities_, [0.75, 0.25])
    expected = stats.bernoulli(density.probabilities_).logpmf(X).sum(axis=1)
    assert_allclose(density.score_samples(X), expected)
    assert density.score(X) == pytest.approx(expected.sum())


def test_bernoulli_maximises_the_likelihood():
    X = np.array([[1], [1], [0]])
    density = BernoulliDensity().fit(X)
    best = density.score(X)
    for shift in (-0.05, 0.05):
        density.probabilities_ = np.array([2 / 3 + shift])
        assert density.score(X) < best


def test_bernoulli_certain_columns_stay_finite():
    density = BernoulliDensity().fit([[1, 0], [1, 0]])
    assert density.score_samples([[1, 0]]) == [0.0]
    assert density.score_samples([[0, 0]]) == [-np.inf]


def test_bernoulli_refuses_other_numbers():
    with pytest.raises(DataError, match="X has 2 in row 1, column 0; accepted are 0 and 1"):
        BernoulliDensity().fit([[1], [2]])


def test_multinomial_agrees_with_scipy():
    X = np.array([[2, 1, 0], [0, 3, 1], [1, 1, 1]])
    density = MultinomialDensity().fit(X)
    assert_allclose(density.probabilities_, X.sum(axis=0) / X.sum())
    expected = [stats.multinomial(row.sum(), density.probabilities_).logpmf(row) for row in X]
    assert_allclose(density.score_samples(X), expected)


def test_multinomial_smoothing_and_bad_counts():
    assert_allclose(MultinomialDensity(alpha=1).fit([[3, 0]]).probabilities_, [0.8, 0.2])
    with pytest.raises(DataError, match="-1 in row 0, column 1; counts are needed"):
        MultinomialDensity().fit([[1, -1]])
    with pytest.raises(DataError, match="All counts are zero"):
        MultinomialDensity().fit([[0, 0]])


@pytest.mark.parametrize("covariance_type", ["full", "diag", "spherical"])
def test_gaussian_agrees_with_scipy(covariance_type):
    X = np.random.default_rng(0).normal(size=(80, 3)) @ np.diag([1.0, 2.0, 3.0]) + 5.0
    density = GaussianDensity(covariance_type=covariance_type).fit(X)
    matrix = np.cov(X.T, ddof=0)
    if covariance_type != "full":
        matrix = np.diag(np.diag(matrix))
    if covariance_type == "spherical":
        matrix = np.eye(3) * np.trace(matrix) / 3
    assert_allclose(density.mean_, X.mean(axis=0))
    assert_allclose(density.covariance_matrix_, matrix)
    expected = stats.multivariate_normal(X.mean(axis=0), matrix).logpdf(X)
    assert_allclose(density.score_samples(X), expected)


def test_one_dimension_has_sigma_outside_the_root():
    X = np.array([[1.0], [3.0], [5.0]])
    mean, deviation = stats.norm.fit(X[:, 0])
    density = GaussianDensity().fit(X)
    assert_allclose(density.score_samples(X), stats.norm(mean, deviation).logpdf(X[:, 0]))


@pytest.mark.parametrize(
    "density",
    [
        BernoulliDensity().fit([[1, 0], [0, 0], [1, 1], [1, 0]]),
        MultinomialDensity().fit([[5, 3, 2]]),
        GaussianDensity().fit([[0.0, 1.0], [2.0, 2.0], [4.0, 9.0]]),
    ],
    ids=lambda density: type(density).__name__,
)
def test_samples_follow_the_density(density):
    drawn = density.sample(20_000, random_state=0)
    again = type(density)().fit(drawn)
    for name in ("probabilities_", "mean_", "covariance_matrix_"):
        if hasattr(density, name):
            assert_allclose(getattr(again, name), getattr(density, name), rtol=0.06, atol=0.02)
    assert_allclose(density.sample(5, random_state=1), density.sample(5, random_state=1))
