"""Worked numbers and errata of the conjugate families, one by one."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from verulam.base import DataError
from verulam.bayes import (
    BetaBernoulli,
    DirichletMultinomial,
    GaussianMean,
    GaussianMeanVector,
    GaussianParameters,
    GaussianPrecision,
    NormalGamma,
    NormalWishart,
)

NUMBERS = np.array([4.1, 5.5, 7.2, 6.6, 6.0])
ROWS = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 1.5], [3.0, 0.0]])


def test_figure_16_3():
    """Twenty draws with mean 6 and deviation 1.5, prior N(4, .8^2)."""
    posterior = GaussianMean(4.0, 0.8**2, 1.5**2).posterior(np.full(20, 6.0))
    assert posterior.prior_variance == pytest.approx(0.095681, abs=5e-7)
    assert posterior.prior_variance**0.5 == pytest.approx(0.30932, abs=5e-6)
    assert posterior.predictive.variance == pytest.approx(2.345681, abs=5e-7)
    assert posterior.mean == pytest.approx(5.7, abs=0.005)
    share = (posterior.mean - 4.0) / 2.0
    assert share == pytest.approx(0.850498, abs=5e-7)
    assert 1.0 - share == pytest.approx(0.149502, abs=5e-7)


def test_posterior_mean_lies_between_prior_and_data():
    prior = GaussianMean(4.0, 0.64, 2.25)
    for n in (1, 5, 50):
        posterior = prior.posterior(np.full(n, 6.0))
        assert 4.0 < posterior.mean < 6.0
        assert posterior.prior_variance < min(0.64, 2.25 / n)


def test_prior_mean_is_not_squared():
    """Erratum 2: the printed prior has the mean mu_0 squared."""
    prior = GaussianMean(3.0, 1.0, 1.0)
    assert prior.mean == 3.0
    assert prior.posterior([3.0]).mean == 3.0


def test_interval_of_belief_becomes_a_prior():
    """Informal prior: near 2, most of it between 1 and 3."""
    prior = GaussianMean.from_interval(1.0, 3.0)
    assert prior.mean == 2.0
    assert prior.distribution.interval(0.95) == pytest.approx((1.0, 3.0))
    with pytest.raises(DataError, match="lower must be below upper"):
        GaussianMean.from_interval(3.0, 1.0)


def test_beta_posterior_has_one_minus_q():
    """Erratum 1: likelihood q^A (1 - q)^(N - A), not (1 - p)."""
    posterior = BetaBernoulli(2.0, 3.0).posterior([1, 0, 1, 1])
    grid = np.linspace(0.05, 0.95, 7)
    likelihood = grid**3 * (1 - grid)
    product = likelihood * stats.beta.pdf(grid, 2.0, 3.0)
    ratio = product / np.exp(posterior.log_density(grid))
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)


def test_beta_moments_and_strength_of_belief():
    assert BetaBernoulli(2.0, 3.0).mean == pytest.approx(0.4)
    few, many = BetaBernoulli(6.0, 4.0), BetaBernoulli(60.0, 40.0)
    assert few.mean == many.mean == pytest.approx(0.6)
    assert many.distribution.variance < few.distribution.variance
    assert BetaBernoulli.from_mean(0.6, 10.0) == few
    # Exercise 2: a uniform prior and x of n gives Beta(x + 1, n - x + 1).
    assert BetaBernoulli.uniform().posterior([1] * 3 + [0] * 4) == BetaBernoulli(4.0, 5.0)


def test_beta_is_dirichlet_of_two_classes():
    flips = np.array([1, 0, 1, 1, 0, 1])
    beta = BetaBernoulli(2.0, 0.5).posterior(flips)
    dirichlet = DirichletMultinomial([2.0, 0.5]).posterior(np.column_stack([flips, 1 - flips]))
    np.testing.assert_allclose(dirichlet.alpha, [beta.a, beta.b])
    assert dirichlet.mean[0] == pytest.approx(beta.mean)
    assert dirichlet.mode[0] == pytest.approx(beta.mode)


def test_dirichlet_posterior_from_rows_or_counts():
    rows = np.eye(3)[[0, 2, 2, 1, 2]]
    prior = DirichletMultinomial.from_shares([0.5, 0.25, 0.25], size=8.0)
    posterior = prior.posterior(rows)
    np.testing.assert_allclose(posterior.alpha, [5.0, 3.0, 5.0])
    np.testing.assert_allclose(prior.posterior([1, 1, 3]).alpha, posterior.alpha)
    np.testing.assert_allclose(posterior.mode, np.array([4.0, 2.0, 4.0]) / 10.0)
    reference = stats.dirichlet([5.0, 3.0, 5.0])
    np.testing.assert_allclose(posterior.mean, reference.mean())
    point = np.array([0.2, 0.3, 0.5])
    assert posterior.log_density(point) == pytest.approx(reference.logpdf(point))
    np.testing.assert_allclose(posterior.distribution.variance, reference.var())


def test_precision_uses_a_rate():
    posterior = GaussianPrecision(2.0, 3.0, known_mean=5.0).posterior(NUMBERS)
    squares = ((NUMBERS - 5.0) ** 2).sum()
    assert posterior.shape == 4.5
    assert posterior.rate == pytest.approx(3.0 + squares / 2)
    reference = stats.gamma(posterior.shape, scale=1.0 / posterior.rate)
    assert posterior.mean == pytest.approx(reference.mean())
    assert posterior.log_density(0.7) == pytest.approx(reference.logpdf(0.7))
    same = GaussianPrecision.from_variance(df=4.0, variance=1.5, known_mean=5.0)
    assert same == GaussianPrecision(2.0, 3.0, known_mean=5.0)


def test_normal_gamma_centres_squares_on_the_sample_mean():
    """Erratum 3: s^2 is about m here, and the t parameter is a squared scale."""
    prior = NormalGamma(3.0, 2.0, 1.5, 2.5)
    posterior = prior.posterior(NUMBERS)
    n, m = len(NUMBERS), NUMBERS.mean()
    squares = ((NUMBERS - m) ** 2).sum()
    assert posterior.kappa == 7.0
    assert posterior.prior_mean == pytest.approx((2.0 * 3.0 + n * m) / 7.0)
    assert posterior.shape == 4.0
    assert posterior.rate == pytest.approx(2.5 + squares / 2 + 2.0 * n * (m - 3.0) ** 2 / 14.0)
    predictive = posterior.predictive
    assert predictive.df == 8.0
    scale = posterior.rate * 8.0 / (4.0 * 7.0)
    assert predictive.squared_scale == pytest.approx(scale)
    assert predictive.variance == pytest.approx(scale * 8.0 / 6.0)


def test_normal_gamma_predictive_by_quadrature():
    posterior = NormalGamma(3.0, 2.0, 1.5, 2.5).posterior(NUMBERS)

    def height(precision, x):
        spread = (1.0 + 1.0 / posterior.kappa) / precision
        of_x = stats.norm.pdf(x, posterior.prior_mean, spread**0.5)
        return of_x * stats.gamma.pdf(precision, posterior.shape, scale=1.0 / posterior.rate)

    for x in (2.0, 6.0):
        integral = quad(height, 0.0, 20.0, args=(x,))[0]
        assert posterior.predictive.density(x) == pytest.approx(integral, rel=1e-8)


def test_normal_gamma_of_a_variance():
    prior = NormalGamma.from_variance(1.0, kappa=2.0, df=6.0, variance=1.5)
    assert prior == NormalGamma(1.0, 2.0, 3.0, 4.5)
    assert prior.variance_distribution.mean == pytest.approx(4.5 / 2.0)
    draws = np.array([1.0 / pair.precision for pair in prior.sample(4000, random_state=0)])
    assert draws.mean() == pytest.approx(2.25, rel=0.05)
    assert prior.mean_distribution.variance == pytest.approx(2.25 / 2.0)
    assert GaussianPrecision(3.0, 4.5).variance_distribution.mean == pytest.approx(2.25)


def test_normal_wishart_by_hand():
    prior = NormalWishart([1.0, 0.0], 2.0, 4.0, [[3.0, 1.0], [1.0, 2.0]])
    posterior = prior.posterior(ROWS)
    mean = ROWS.mean(axis=0)
    centred = ROWS - mean
    shift = mean - [1.0, 0.0]
    expected = prior.scatter + centred.T @ centred + 2.0 * 4 / 6.0 * np.outer(shift, shift)
    np.testing.assert_allclose(posterior.scatter, expected)
    assert (posterior.kappa, posterior.df) == (6.0, 8.0)
    predictive = posterior.predictive
    assert predictive.df == 7.0
    np.testing.assert_allclose(predictive.squared_scale, 7.0 / (6.0 * 7.0) * expected)
    reference = stats.multivariate_t(posterior.prior_mean, predictive.squared_scale, df=7.0)
    np.testing.assert_allclose(predictive.log_density(ROWS), reference.logpdf(ROWS))


def test_covariance_of_the_mean_is_the_inverse_of_kappa_times_precision():
    """Erratum 4."""
    family = NormalWishart([0.0, 0.0], 4.0, 50.0, 50.0 * np.diag([1.0, 9.0]))
    parameter = GaussianParameters(np.array([0.3, -0.5]), np.diag([1.0, 1.0 / 9.0]))
    of_mean = stats.multivariate_normal([0.0, 0.0], np.diag([1.0, 9.0]) / 4.0)
    of_precision = stats.wishart(50.0, np.linalg.inv(family.scatter))
    expected = of_mean.logpdf(parameter.mean) + of_precision.logpdf(parameter.precision)
    assert family.log_density(parameter) == pytest.approx(expected)
    means = np.array([draw.mean for draw in family.sample(6000, random_state=0)])
    np.testing.assert_allclose(means.var(axis=0), [1.0 / 4 * 50 / 47, 9.0 / 4 * 50 / 47], rtol=0.1)


def test_one_column_of_normal_wishart_is_normal_gamma():
    wide = NormalWishart([1.0], 2.0, 3.0, [[4.0]]).posterior(NUMBERS[:, None])
    narrow = NormalGamma(1.0, 2.0, 1.5, 2.0).posterior(NUMBERS)
    assert wide.predictive.df == pytest.approx(narrow.predictive.df)
    assert wide.predictive.squared_scale[0, 0] == pytest.approx(narrow.predictive.squared_scale)
    single = NormalWishart([1.0], 2.0, 3.0, [[4.0]]).log_evidence(NUMBERS[:, None])
    assert single == pytest.approx(NormalGamma(1.0, 2.0, 1.5, 2.0).log_evidence(NUMBERS))
    assert wide.mode.precision[0, 0] == pytest.approx(narrow.mode.precision)


def test_modes_of_precision_and_covariance_differ():
    """Erratum 10: (nu - d) V in one space, V^-1 / (nu + d + 2) in the other."""
    family = NormalWishart([0.0, 0.0], 1.0, 7.0, [[2.0, 0.3], [0.3, 1.0]])
    np.testing.assert_allclose(family.mode.precision, 5.0 * np.linalg.inv(family.scatter))
    np.testing.assert_allclose(family.covariance_mode, family.scatter / 11.0)
    top = family.log_density(family.mode)
    for factor in (0.97, 1.03):
        other = GaussianParameters(family.mode.mean, factor * family.mode.precision)
        assert family.log_density(other) < top
    of_covariance = family.covariance_distribution
    np.testing.assert_allclose(of_covariance.mean, family.scatter / 4.0)


def test_known_covariance_by_precisions():
    prior_covariance, noise = np.array([[2.0, 0.5], [0.5, 1.0]]), np.diag([1.0, 3.0])
    posterior = GaussianMeanVector([1.0, 0.0], prior_covariance, noise).posterior(ROWS)
    precision = np.linalg.inv(prior_covariance) + 4 * np.linalg.inv(noise)
    np.testing.assert_allclose(posterior.prior_covariance, np.linalg.inv(precision))
    total = np.linalg.inv(prior_covariance) @ [1.0, 0.0] + np.linalg.inv(noise) @ ROWS.sum(axis=0)
    np.testing.assert_allclose(posterior.mean, np.linalg.solve(precision, total))


def test_expected_precision_of_a_covariance():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    prior = NormalWishart.from_covariance([0.0, 0.0], 1.0, 6.0, covariance)
    np.testing.assert_allclose(prior.mean.precision, np.linalg.inv(covariance))


def test_intervals_of_a_mean_cover_what_they_say():
    """95 % intervals over 1,000 data sets whose parameters come from the prior."""
    prior = NormalGamma(0.0, 1.0, 3.0, 3.0)
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(1000):
        _, data = prior.simulate(6, rng)
        lower, upper = prior.posterior(data[:5]).predictive.interval(0.95)
        inside += lower <= data[5] <= upper
    assert 930 <= inside <= 970


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BetaBernoulli(0.0, 1.0), "a of BetaBernoulli must be a finite number above 0"),
        (lambda: BetaBernoulli(1.0, -2.0), "b of BetaBernoulli"),
        (lambda: BetaBernoulli("a", 1.0), "a of BetaBernoulli"),
        (lambda: DirichletMultinomial([1.0, 0.0]), "entry 1 is 0"),
        (lambda: DirichletMultinomial([[1.0]]), "alpha must be a vector"),
        (lambda: DirichletMultinomial.from_shares([0.4, 0.4], 1.0), "sum to 1"),
        (lambda: GaussianMean(0.0, -1.0), "prior_variance of GaussianMean"),
        (lambda: GaussianMean(0.0, 1.0, 0.0), "noise_variance of GaussianMean"),
        (lambda: GaussianPrecision(1.0, 0.0), "rate of GaussianPrecision"),
        (lambda: NormalGamma(0.0, 0.0, 1.0, 1.0), "kappa of NormalGamma"),
        (lambda: NormalGamma(0.0, 1.0, -1.0, 1.0), "shape of NormalGamma"),
        (lambda: NormalWishart([0.0, 0.0], 1.0, 1.0, np.eye(2)), "above the number of columns"),
        (lambda: NormalWishart([0.0, 0.0], 1.0, 3.0, np.ones((2, 2))), "scatter .* positive def"),
        (lambda: NormalWishart([0.0, 0.0], 1.0, 3.0, np.eye(3)), "with 2 rows"),
    ],
)
def test_improper_parameters_are_named(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_jeffreys_priors_become_proper_with_data():
    assert BetaBernoulli.jeffreys() == BetaBernoulli(0.5, 0.5)
    np.testing.assert_allclose(DirichletMultinomial.jeffreys(3).alpha, 0.5)
    assert GaussianMean.jeffreys(2.0).posterior(NUMBERS).mean == pytest.approx(NUMBERS.mean())
    posterior = NormalGamma.jeffreys().posterior(NUMBERS)
    interval = posterior.mean_distribution.interval(0.95)
    # The classical interval of the mean.
    expected = stats.t(4, NUMBERS.mean(), NUMBERS.std(ddof=1) / 5**0.5).interval(0.95)
    assert interval == pytest.approx(expected)
    for prior in (GaussianMean.uniform(), GaussianPrecision.jeffreys(), NormalGamma.jeffreys()):
        with pytest.raises(DataError, match="improper as it stands"):
            prior.log_evidence([1.0, 2.0])
        with pytest.raises(DataError, match="improper as it stands"):
            _ = prior.predictive
        with pytest.raises(DataError, match="improper as it stands"):
            prior.sample(1)
    with pytest.raises(DataError, match="two observations or more"):
        NormalGamma.jeffreys().posterior([1.0])


def test_singular_scatter_has_no_maximum_of_likelihood_but_a_posterior():
    alike = np.ones((5, 2))
    prior = NormalWishart([0.0, 0.0], 1.0, 3.0, np.eye(2))
    assert np.isfinite(prior.predict(alike).log_density(alike)).all()
    with pytest.raises(DataError, match="covariance of the data must be positive definite"):
        prior.predict(alike, estimate="ml")
    with pytest.raises(DataError, match="all alike"):
        NormalGamma().predict([2.0, 2.0], estimate="ml")
