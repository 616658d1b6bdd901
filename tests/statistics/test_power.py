"""Power: formulas, statsmodels, and the sample size of the specification."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.power import TTestPower

from verulam.base import DataError
from verulam.statistics import power_curve, sample_size, simulate, t_power, z_power


def test_z_power_is_one_minus_the_second_error():
    effect, count = 0.4, 25
    shift = effect * np.sqrt(count)
    beta = stats.norm.cdf(1.959964 - shift) - stats.norm.cdf(-1.959964 - shift)
    assert_allclose(z_power(effect, 1.0, count), 1 - beta, atol=1e-7)
    assert_allclose(z_power(0.0, 1.0, count), 0.05)
    assert_allclose(z_power(effect, 1.0, count, alternative="less"),
                    stats.norm.sf(1.644854 + shift), atol=1e-7)  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs"), [("two-sided", "two-sided"), ("greater", "larger")])
def test_t_power_matches_statsmodels(ours, theirs):
    effects = np.array([0.1, 0.5, 1.0])
    expected = TTestPower().power(effects, 15, 0.05, alternative=theirs)
    assert_allclose(t_power(effects, 15, alternative=ours), expected, rtol=1e-8)


def test_half_a_deviation_with_power_four_fifths_needs_32():
    assert sample_size(0.5, known_variance=True) == 32
    exact = TTestPower().solve_power(0.5, alpha=0.05, power=0.8)
    assert sample_size(0.5) == np.ceil(exact) == 34


@pytest.mark.parametrize("known", [True, False])
def test_sample_size_is_the_smallest(known):
    count = sample_size(0.3, power=0.9, alternative="less", known_variance=known)
    for size, enough in ((count, True), (count - 1, False)):
        power = (
            z_power(0.3, 1.0, size, alternative="greater")
            if known
            else t_power(0.3, size, alternative="greater")
        )
        assert (power >= 0.9) == enough


def test_impossible_sample_size():
    with pytest.raises(DataError, match="needs more than"):
        sample_size(1e-6)


def test_power_curve_rises_with_effect_and_size():
    curve = power_curve(np.linspace(0, 1, 11), [10, 40], known_variance=True)
    assert (curve.table.diff().iloc[1:] > 0).all().all()
    assert (curve.table[40].iloc[1:] > curve.table[10].iloc[1:]).all()
    assert_allclose(power_curve([0.5], [20]).table.iloc[0, 0], t_power(0.5, 20))


def test_simulation_confirms_the_power():
    found = simulate("t", [0.5], size=20, repeats=20_000).table["rejection_rate"][0]
    assert found == pytest.approx(float(t_power(0.5, 20)), abs=0.015)


@pytest.mark.parametrize(("effect", "count"), [(3, 4), (10, 3), (40, 2)])
def test_huge_effects_need_few_values(effect, count):
    """The far tail is below the accuracy of its computation, but both together are not."""
    assert sample_size(effect) == count
    chance = np.random.default_rng(0)
    t = (chance.normal(size=200_000) + effect * np.sqrt(count)) / np.sqrt(
        chance.chisquare(count - 1, 200_000) / (count - 1)
    )
    simulated = np.mean(np.abs(t) > stats.t.isf(0.025, count - 1))
    assert t_power(effect, count) == pytest.approx(simulated, abs=0.002)
