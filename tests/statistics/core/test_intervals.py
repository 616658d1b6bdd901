"""Intervals: formulas, agreement with SciPy and statsmodels, coverage."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from verulam.base import DataError
from verulam.statistics import (
    BootstrapResult,
    bootstrap_interval,
    rate_interval,
    t_interval,
    z_interval,
)

VALUES = np.random.default_rng(0).normal(5, 2, 25)


def test_known_variance_formula():
    interval = z_interval(VALUES, 2.0)
    ends = VALUES.mean() + np.array([-1, 1]) * 1.959964 * 0.4
    assert_allclose([interval.low, interval.high], ends, atol=1e-6)
    wider = z_interval(VALUES, 2.0, confidence=0.99)
    assert wider.width / interval.width == pytest.approx(2.5758 / 1.96, abs=1e-3)


def test_one_sided_intervals_bound_one_side():
    lower = z_interval(VALUES, 2.0, alternative="greater")
    assert (lower.low, lower.high) == (
        pytest.approx(VALUES.mean() - 1.6449 * 0.4, abs=1e-4),
        np.inf,
    )
    assert z_interval(VALUES, 2.0, alternative="less").low == -np.inf


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_t_interval_matches_scipy(alternative):
    interval = t_interval(VALUES, confidence=0.9, alternative=alternative)
    expected = stats.ttest_1samp(VALUES, 0, alternative=alternative).confidence_interval(0.9)
    assert_allclose([interval.low, interval.high], expected, rtol=1e-12)


def test_t_is_wider_than_z():
    spread = VALUES.std(ddof=1)
    assert t_interval(VALUES).width > z_interval(VALUES, spread).width


@pytest.mark.parametrize(
    ("ours", "theirs"), [("wilson", "wilson"), ("clopper-pearson", "beta"), ("normal", "normal")]
)
@pytest.mark.parametrize("errors", [0, 3, 20, 40])
def test_rate_intervals_match_statsmodels(ours, theirs, errors):
    interval = rate_interval(errors, 40, method=ours)
    expected = proportion_confint(errors, 40, method=theirs)
    assert_allclose([interval.low, interval.high], expected, atol=1e-10)


def test_exact_interval_covers_at_least_its_confidence():
    counts = np.arange(31)
    limits = [rate_interval(int(count), 30, method="clopper-pearson") for count in counts]
    for rate in (0.05, 0.3, 0.62):
        covered = np.array([rate in interval for interval in limits])
        assert stats.binom.pmf(counts, 30, rate)[covered].sum() >= 0.95


@pytest.mark.parametrize("method", ["percentile", "bca", "basic"])
def test_bootstrap_of_the_mean_is_near_the_t_interval(method):
    bootstrap = bootstrap_interval(VALUES, method=method, random_state=0)
    exact = t_interval(VALUES)
    assert_allclose(
        [bootstrap.interval.low, bootstrap.interval.high], [exact.low, exact.high], atol=0.15
    )
    # The replicates of a mean have the variance s²/n with divisor n.
    assert bootstrap.variance == pytest.approx(VALUES.var() / 25, rel=0.05)
    assert abs(bootstrap.bias) < 0.02


def test_bootstrap_of_a_table_draws_rows_together():
    x = np.random.default_rng(1).normal(size=60)
    table = np.column_stack([x, x + 0.5 * np.random.default_rng(2).normal(size=60)])
    bootstrap = bootstrap_interval(table, lambda rows: np.corrcoef(rows.T)[0, 1], resamples=500,
                               random_state=0)  # fmt: skip
    assert bootstrap.interval.estimate == pytest.approx(np.corrcoef(table.T)[0, 1])
    assert 0.7 < bootstrap.interval.low < bootstrap.interval.estimate < bootstrap.interval.high < 1


@pytest.mark.parametrize("method", ["bca", "percentile", "basic"])
@pytest.mark.parametrize("statistic", [np.median, np.std, np.max])
def test_bootstrap_is_of_the_statistic_that_is_asked_for(statistic, method):
    bootstrap = bootstrap_interval(VALUES, statistic, method=method, resamples=400, random_state=5)
    peer = stats.bootstrap(
        (VALUES,),
        statistic,
        n_resamples=400,
        method={"bca": "BCa"}.get(method, method),
        rng=np.random.default_rng(5),
    )
    assert bootstrap.interval.estimate == pytest.approx(statistic(VALUES))
    assert_allclose(bootstrap.replicates, peer.bootstrap_distribution)
    limits = [bootstrap.interval.low, bootstrap.interval.high]
    assert_allclose(limits, [*peer.confidence_interval])
    means = bootstrap_interval(VALUES, method=method, resamples=400, random_state=5)
    assert not np.allclose(bootstrap.replicates, means.replicates, atol=0.01)


def test_bootstrap_repeats_with_its_seed():
    first, second = (bootstrap_interval(VALUES, resamples=200, random_state=3) for _ in range(2))
    assert first.interval == second.interval


@pytest.mark.parametrize("unit", [1e120, 1e-120])
def test_bootstrap_refuses_what_cannot_be_cubed(unit):
    values = unit * np.arange(1.0, 9.0)
    with pytest.raises(DataError, match="cubed"):
        bootstrap_interval(values, random_state=0)
    scaled = bootstrap_interval(values, method="basic", random_state=0).interval
    plain = bootstrap_interval(values / unit, method="basic", random_state=0).interval
    assert_allclose(scaled.low, unit * plain.low)


def test_replicates_have_mean_variance_and_bias():
    bootstrap = bootstrap_interval(VALUES, random_state=0)
    assert isinstance(bootstrap, BootstrapResult)
    assert_allclose(bootstrap.mean, bootstrap.replicates.mean())
    assert_allclose(bootstrap.variance, bootstrap.replicates.var())
    assert_allclose(bootstrap.bias, bootstrap.replicates.mean() - VALUES.mean())


def test_two_resamples_are_the_least_that_vary():
    assert len(bootstrap_interval(VALUES, method="basic", resamples=2).replicates) == 2
    with pytest.raises(DataError, match="resamples is 1: at least 2 is needed"):
        bootstrap_interval(VALUES, resamples=1)
