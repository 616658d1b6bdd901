"""Sampling: large numbers, central limit, constructed distributions, estimators."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.base import DataError
from verulam.statistics import (
    EstimatorStudy,
    SamplingDistribution,
    bootstrap_left_out,
    chi_square_draws,
    estimator_study,
    f_draws,
    running_means,
    sampling_distribution,
    standardised_sums,
    t_draws,
)

SIZE = 50_000


def test_running_means_close_in():
    paths = running_means(stats.bernoulli(0.3), 4000, paths=50, random_state=0)
    assert paths.shape == (50, 4000)
    early, late = np.abs(paths[:, 39] - 0.3).mean(), np.abs(paths[:, -1] - 0.3).mean()
    assert late < 0.15 * early
    assert np.isin(paths[:, 0], [0, 1]).all()


@pytest.mark.parametrize(
    "distribution", [stats.uniform(), stats.expon(), stats.bernoulli(0.3)], ids=["u", "e", "b"]
)
def test_sums_become_normal(distribution):
    few, many = (
        stats.kstest(standardised_sums(distribution, n, 5000, random_state=0), "norm").statistic
        for n in (1, 200)
    )
    assert many < 0.05 < few


def test_twelve_uniforms():
    sums = standardised_sums(stats.uniform(), 12, SIZE, random_state=0)
    assert_allclose([sums.mean(), sums.var()], [0, 1], atol=0.02)
    assert stats.kstest(sums[:5000], "norm").pvalue > 0.01


def test_constructed_distributions():
    rng = np.random.default_rng(0)
    for drawn, exact in (
        (chi_square_draws(4, SIZE, random_state=rng), stats.chi2(4)),
        (t_draws(6, SIZE, random_state=rng), stats.t(6)),
        (f_draws(3, 12, SIZE, random_state=rng), stats.f(3, 12)),
    ):
        assert stats.kstest(drawn[:5000], exact.cdf).pvalue > 0.01
        assert drawn.mean() == pytest.approx(exact.mean(), abs=0.05)


def test_moments_of_the_text():
    """E and Var of chi-square, t and F as printed in A.3.6 to A.3.8."""
    n, m = 3, 12
    rng = np.random.default_rng(1)
    chi_square = chi_square_draws(n, SIZE, random_state=rng)
    assert_allclose([chi_square.mean(), chi_square.var()], [n, 2 * n], rtol=0.04)
    assert_allclose(t_draws(m, SIZE, random_state=rng).var(), m / (m - 2), rtol=0.04)
    ratios = f_draws(n, m, SIZE, random_state=rng)
    variance = m**2 * (2 * m + 2 * n - 4) / (n * (m - 2) ** 2 * (m - 4))
    assert_allclose([ratios.mean(), ratios.var()], [m / (m - 2), variance], rtol=0.08)


def test_normal_masses_of_the_text():
    masses = [stats.norm.cdf(k) - stats.norm.cdf(-k) for k in (1, 2, 3)]
    assert_allclose(masses, [0.6827, 0.9545, 0.9973], atol=5e-5)


def test_sampling_distribution_of_mean_and_variance():
    distribution = sampling_distribution(stats.norm(5, 2), 10, SIZE, random_state=0)
    assert distribution.means.mean() == pytest.approx(5, abs=0.02)
    assert distribution.means.var() == pytest.approx(0.4, rel=0.03)
    scaled = 9 * distribution.variances / 4
    assert stats.kstest(scaled[:5000], stats.chi2(9).cdf).pvalue > 0.01
    assert abs(distribution.correlation) < 0.02
    skewed = sampling_distribution(stats.expon(), 10, SIZE, random_state=0)
    assert skewed.correlation > 0.5
    with pytest.raises(DataError, match="sample_size must be at least 2"):
        sampling_distribution(stats.norm(), 1, 5)


def test_bias_of_the_divided_variance():
    study = estimator_study(
        np.var, stats.norm(0, 2), 4.0, sample_size=8, repeats=SIZE, random_state=0
    )
    assert study.bias == pytest.approx(-4 / 8, abs=0.03)
    assert study.mean_squared_error == pytest.approx(study.variance + study.bias**2)
    mean = estimator_study(np.mean, stats.norm(1, 2), 1.0, sample_size=8, random_state=0)
    assert mean.bias == pytest.approx(0, abs=0.03)
    assert mean.variance == pytest.approx(0.5, rel=0.05)


def test_bootstrap_leaves_out_a_third():
    shares = bootstrap_left_out([10, 10**6])
    assert shares[10] == pytest.approx(0.3487, abs=5e-5)
    assert shares[10**6] == pytest.approx(np.exp(-1), abs=1e-6)


def test_records_of_the_demonstrations():
    distribution = SamplingDistribution(np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0]), 5)
    assert distribution.correlation == pytest.approx(-1.0)
    study = estimator_study(np.mean, stats.norm(), 0.0, sample_size=5, random_state=0)
    assert isinstance(study, EstimatorStudy)
    assert study.mean_squared_error == pytest.approx(study.bias**2 + study.variance, rel=1e-2)
