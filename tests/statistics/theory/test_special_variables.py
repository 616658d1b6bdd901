"""Named random variables against SciPy, simulation, and the rules for multiples and sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.base import DataError
from verulam.statistics import (
    BinomialVariable,
    MultinomialVariable,
    NormalVariable,
    UniformVariable,
)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("n_trials", [1, 12, 400])
def test_counts_of_successes_agree_with_scipy(n_trials, rate):
    variable, peer = BinomialVariable(n_trials, rate), stats.binom(n_trials, rate)
    assert_allclose([variable.mean, variable.variance], peer.stats())
    for count in (-1, 0, 1, n_trials // 3, n_trials, n_trials + 1):
        assert variable.mass(count) == pytest.approx(peer.pmf(count), rel=1e-10)
        assert variable.distribution(count) == pytest.approx(peer.cdf(count), rel=1e-10)
    assert variable.mass(0.5) == 0.0


def test_one_trial_is_a_bernoulli_variable():
    coin = BinomialVariable(1, 0.3)
    assert_allclose([coin.mass(0), coin.mass(1)], [0.7, 0.3])
    assert_allclose([coin.mean, coin.variance], [0.3, 0.3 * 0.7])
    table = BinomialVariable(12, 0.3).as_table()
    assert_allclose([table.mean, table.variance], [12 * 0.3, 12 * 0.3 * 0.7])


def test_independent_counts_add_up():
    first, second = BinomialVariable(3, 0.2), BinomialVariable(5, 0.2)
    both = first + second
    convolved = np.convolve(first.as_table().probabilities, second.as_table().probabilities)
    assert_allclose(both.as_table().probabilities, convolved)
    with pytest.raises(DataError, match=r"rate must be the same in both .* 0.2 and 0.3"):
        first + BinomialVariable(5, 0.3)
    with pytest.raises(DataError, match="not independent of itself"):
        first + first


def test_counts_of_several_outcomes_agree_with_scipy():
    rates = [0.2, 0.5, 0.3]
    variable, peer = MultinomialVariable(7, rates), stats.multinomial(7, rates)
    assert_allclose(variable.covariance, peer.cov())
    assert_allclose(variable.mean, 7 * np.array(rates))
    for counts in ([1, 4, 2], [7, 0, 0], [0, 0, 7]):
        assert variable.mass(counts) == pytest.approx(peer.pmf(counts))
    assert variable.mass([1, 1, 1]) == variable.mass([8, -1, 0]) == 0.0
    assert variable.count(1) == BinomialVariable(7, 0.5)
    single = MultinomialVariable(1, rates)
    assert [single.mass(row) for row in np.eye(3)] == pytest.approx(rates)


def test_uniform_agrees_with_scipy():
    variable, peer = UniformVariable(-1.0, 3.0), stats.uniform(-1.0, 4.0)
    assert_allclose([variable.mean, variable.variance], peer.stats())
    x = np.array([-2.0, -1.0, 0.5, 3.0, 4.0])
    assert_allclose(variable.density(x), peer.pdf(x))
    assert_allclose([variable.distribution(value) for value in x], peer.cdf(x))


def test_normal_agrees_with_scipy_and_the_shares_of_the_text():
    variable, peer = NormalVariable(2.0, 9.0), stats.norm(2.0, 3.0)
    x = np.linspace(-7.0, 11.0, 9)
    assert_allclose(variable.density(x), peer.pdf(x))
    assert_allclose([variable.distribution(value) for value in x], peer.cdf(x))
    shares = [round(100 * variable.within(k), 2) for k in (1, 2, 3)]
    assert shares == [68.27, 95.45, 99.73]


def test_multiples_and_constants():
    """Density of a X + b is that of X at (y - b) / a, divided by the size of a."""
    for variable in (UniformVariable(1.5, 5.0), NormalVariable(3.0, 4.0)):
        for factor, shift in ((2.0, 1.0), (-0.5, 4.0)):
            changed = factor * variable + shift
            y = np.linspace(-8.0, 14.0, 41) + 0.01
            expected = variable.density((y - shift) / factor) / abs(factor)
            assert_allclose(changed.density(y), expected)
            assert changed.mean == pytest.approx(factor * variable.mean + shift)
            assert changed.variance == pytest.approx(factor**2 * variable.variance)
        assert variable - 1.0 == -1.0 + variable
        assert 1.0 - variable == -1.0 * variable + 1.0


def test_sums_of_normal_variables_are_normal():
    first, second = NormalVariable(1.0, 4.0), NormalVariable(-3.0, 9.0)
    assert first + second == NormalVariable(-2.0, 13.0)
    assert first - second == NormalVariable(4.0, 13.0)
    drawn = first.sample(20_000, 0) + second.sample(20_000, 1)
    total = first + second
    assert stats.kstest(total.z(drawn), stats.norm.cdf).pvalue > 0.001
    assert abs(drawn.mean() - total.mean) < 4 * np.sqrt(13 / 20_000)
    with pytest.raises(DataError, match="not independent of itself"):
        first + first
    with pytest.raises(DataError, match="not independent of itself"):
        first - first


def test_z_normalisation_gives_the_unit_normal():
    variable = NormalVariable(5.0, 16.0)
    assert_allclose(variable.z([5.0, 13.0, -3.0]), [0.0, 2.0, -2.0])
    unit = (variable - 5.0) * 0.25
    assert unit == NormalVariable()
    z = variable.z(variable.sample(20_000, 0))
    assert stats.kstest(z, stats.norm.cdf).pvalue > 0.001


@pytest.mark.parametrize(
    "variable", [BinomialVariable(8, 0.3), UniformVariable(-2.0, 1.0), NormalVariable(3.0, 2.0)]
)
def test_samples_have_the_moments(variable):
    drawn = variable.sample(40_000, random_state=0)
    assert abs(drawn.mean() - variable.mean) < 4 * np.sqrt(variable.variance / 40_000)
    assert drawn.var() == pytest.approx(variable.variance, rel=0.05)
    assert np.array_equal(drawn[:5], variable.sample(40_000, random_state=0)[:5])


def test_samples_of_several_outcomes():
    variable = MultinomialVariable(6, [0.1, 0.2, 0.7])
    drawn = variable.sample(40_000, random_state=0)
    assert (drawn.sum(axis=1) == 6).all()
    assert_allclose(drawn.mean(axis=0), variable.mean, atol=0.03)
    assert_allclose(np.cov(drawn.T), variable.covariance, atol=0.03)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BinomialVariable(0, 0.5), "n_trials is 0: at least 1"),
        (lambda: BinomialVariable(3, 1.5), "rate must lie between 0 and 1, but is 1.5"),
        (lambda: MultinomialVariable(3, [0.5, 0.6]), "rates must be a column .* sums to one"),
        (lambda: MultinomialVariable(3, [0.5, 0.5]).mass([3]), "each of the 2 outcomes"),
        (lambda: UniformVariable(1.0, 1.0), "low must be below high"),
        (lambda: UniformVariable(0.0, 1.0) + UniformVariable(0.0, 1.0), "is not uniform"),
        (lambda: UniformVariable(0.0, 1.0) * 0, "factor must not be 0"),
        (lambda: NormalVariable(0.0, 0.0), "variance must be positive"),
        (lambda: NormalVariable() + "a", "shift must be a number"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
