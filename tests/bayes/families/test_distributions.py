"""Distributions against SciPy's, and against their own draws and integrals."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from verulam.base import DataError
from verulam.bayes import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gamma,
    InverseChiSquare,
    InverseGamma,
    InverseWishart,
    LaplaceDistribution,
    MultivariateNormal,
    MultivariateT,
    Normal,
    StudentT,
    Wishart,
)

ONE = {
    "beta": (Beta(2.5, 4.0), stats.beta(2.5, 4.0), (0, 1)),
    "normal": (Normal(1.0, 4.0), stats.norm(1.0, 2.0), (-20, 20)),
    "laplace": (LaplaceDistribution(1.0, 2.0), stats.laplace(1.0, 2.0), (-40, 40)),
    "t": (StudentT(5.0, 1.0, 4.0), stats.t(5.0, 1.0, 2.0), (-300, 300)),
    "gamma": (Gamma(3.0, 2.0), stats.gamma(3.0, scale=0.5), (0, 30)),
    "inverse gamma": (InverseGamma(4.0, 2.0), stats.invgamma(4.0, scale=2.0), (0, 80)),
    "inverse chi": (InverseChiSquare.of(8.0, 0.5), stats.invgamma(4.0, scale=2.0), (0, 80)),
}
EYE = np.array([[2.0, 0.5], [0.5, 1.0]])


@pytest.mark.parametrize(("ours", "theirs", "range_"), ONE.values(), ids=ONE)
def test_one_number(ours, theirs, range_):
    points = theirs.ppf([0.1, 0.5, 0.8])
    np.testing.assert_allclose(ours.log_density(points), theirs.logpdf(points))
    np.testing.assert_allclose(ours.cumulative(points), [0.1, 0.5, 0.8])
    assert ours.mean == pytest.approx(theirs.mean())
    assert ours.variance == pytest.approx(theirs.var())
    assert ours.interval(0.8) == pytest.approx(theirs.interval(0.8))
    draws = ours.sample(3000, random_state=0)
    assert stats.kstest(draws, theirs.cdf).pvalue > 1e-3
    np.testing.assert_array_equal(draws, ours.sample(3000, random_state=0))
    assert quad(ours.density, *range_, limit=200)[0] == pytest.approx(1.0, abs=1e-4)
    heights = ours.density(np.linspace(*theirs.interval(0.999), 4001))
    assert ours.density(ours.mode) >= heights.max() * (1 - 1e-9)


def test_degenerate_modes():
    assert np.isnan(Beta(1.0, 1.0).mode)
    assert np.isnan(Beta(0.5, 0.5).mode)
    assert (Beta(1.0, 3.0).mode, Beta(3.0, 1.0).mode) == (0.0, 1.0)
    assert Gamma(0.5, 1.0).mode == 0.0
    assert (Bernoulli(0.7).mode, Bernoulli(0.2).mode) == (1.0, 0.0)
    assert np.isnan(Dirichlet([0.5, 3.0]).mode).all()
    assert InverseChiSquare.of(8.0, 0.5).df == 8.0


def test_classes():
    one = Categorical([0.2, 0.5, 0.3])
    np.testing.assert_allclose(one.density([0, 1, 2]), [0.2, 0.5, 0.3])
    assert one.mode == 1
    counts = np.bincount(one.sample(5000, random_state=0), minlength=3) / 5000
    np.testing.assert_allclose(counts, one.mean, atol=0.03)
    shares = Dirichlet([2.0, 3.0, 1.5])
    reference = stats.dirichlet([2.0, 3.0, 1.5])
    points = shares.sample(50, random_state=1)
    np.testing.assert_allclose(shares.log_density(points), reference.logpdf(points.T))
    np.testing.assert_allclose(shares.sample(8000, 2).mean(axis=0), shares.mean, atol=0.02)
    assert shares.log_density([0.5, 0.5, 0.5]) == -np.inf


@pytest.mark.parametrize(
    "ours", [MultivariateNormal([1.0, 0.0], EYE), MultivariateT(6.0, [1.0, 0.0], EYE)]
)
def test_vectors(ours):
    heavy = isinstance(ours, MultivariateT)
    reference = (
        stats.multivariate_t([1.0, 0.0], EYE, df=6.0)
        if heavy
        else stats.multivariate_normal([1.0, 0.0], EYE)
    )
    points = np.array([[0.0, 1.0], [2.0, 2.0]])
    np.testing.assert_allclose(ours.log_density(points), reference.logpdf(points))
    assert ours.log_density(points[0]) == pytest.approx(reference.logpdf(points[0]))
    draws = ours.sample(20_000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0), ours.mean, atol=0.05)
    np.testing.assert_allclose(draws.var(axis=0), ours.variance, rtol=0.06)
    np.testing.assert_allclose(ours.variance, np.diag(EYE) * (1.5 if heavy else 1.0))
    with pytest.raises(DataError, match="2 columns"):
        ours.log_density([1.0, 2.0, 3.0])


def test_matrices():
    precision, covariance = Wishart(5.0, EYE), InverseWishart(6.0, EYE)
    points = precision.sample(40, random_state=0)
    theirs = stats.wishart(5.0, EYE)
    np.testing.assert_allclose(precision.log_density(points), [theirs.logpdf(p) for p in points])
    np.testing.assert_allclose(precision.mean, theirs.mean())
    np.testing.assert_allclose(precision.mode, theirs.mode())
    inverse = stats.invwishart(6.0, EYE)
    assert covariance.log_density(EYE) == pytest.approx(inverse.logpdf(EYE))
    np.testing.assert_allclose(covariance.mean, inverse.mean())
    np.testing.assert_allclose(covariance.mode, inverse.mode())
    np.testing.assert_allclose(
        covariance.sample(4000, random_state=1).mean(axis=0), covariance.mean, atol=0.1
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Normal(0.0, 0.0), "variance of Normal must be a finite number above 0; got 0.0"),
        (lambda: Normal(np.nan, 1.0), "mean of Normal must be a finite number"),
        (lambda: Gamma(1.0, True), "rate of Gamma"),
        (lambda: Bernoulli(1.2), "from 0 to 1"),
        (lambda: InverseChiSquare.of(0.0, 1.0), "df must be"),
        (lambda: Categorical([0.5, 0.6]), "sum to 1"),
        (lambda: Dirichlet(["a", "b"]), "vector of finite numbers"),
        (lambda: Wishart(0.5, EYE), "df of Wishart must be above"),
        (lambda: MultivariateNormal([0.0, 0.0], [[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (lambda: Normal(0.0, 1.0).interval(1.0), "level must be a number between 0 and 1"),
    ],
)
def test_wrong_parameters_are_named(make, message):
    with pytest.raises(DataError, match=message):
        make()
