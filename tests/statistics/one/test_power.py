"""Power: formulas, statsmodels, and the sample size of the specification."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.power import TTestPower

from verulam.base import DataError
from verulam.statistics import (
    PowerCurve,
    power_curve,
    rows_to_tell,
    sample_size,
    simulate,
    t_power,
    z_power,
)
from verulam.statistics._one.power import _claimed_share


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
    rejection_rate = simulate("t", [0.5], size=20, repeats=20_000).table["rejection_rate"][0]
    assert rejection_rate == pytest.approx(float(t_power(0.5, 20)), abs=0.015)


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


def normal_rows(ahead, repeats=1, count=400, seed=0):
    """Return differences of rows with this mean and the deviation one, the same in all repeats."""
    values = np.random.default_rng(seed).normal(size=count)
    values = ahead + (values - values.mean()) / values.std()
    return np.tile(values, (repeats, 1))


@pytest.mark.parametrize("ahead", [0.045, 0.09, 0.12, 0.2])
def test_rows_to_tell_are_those_of_the_formula(ahead):
    """With equal repeats there is no noise of the splits, and power has a formula."""
    critical, power = 1.96, 0.8
    needed = ((critical + stats.norm.isf(1 - power)) / ahead) ** 2 / 400
    expected = next(times for times in [1, 1.5, 2, 3, 4, 6, 8, 12] if times >= needed)
    assert rows_to_tell(normal_rows(ahead, 2), ahead, critical, draws=1000) == expected


def test_rows_to_tell_grow_with_what_is_asked():
    rows = normal_rows(0.1, 2)
    base = rows_to_tell(rows, 0.1, 2.0)
    assert rows_to_tell(rows, 0.1, 4.0) > base
    assert rows_to_tell(rows, 0.1, 2.0, power=0.99) > base
    assert rows_to_tell(rows, 0.05, 2.0) > base
    assert rows_to_tell(rows, 0.5, 2.0) == 1.0


def test_rows_to_tell_count_the_splits_thrice():
    random = np.random.default_rng(0)
    calm = normal_rows(0.1, 4)
    restless = calm + random.normal(size=calm.shape)
    assert rows_to_tell(restless, 0.1, 2.0) > rows_to_tell(calm, 0.1, 2.0)
    alone, twice = rows_to_tell(calm[:1], 0.1, 2.0), rows_to_tell(calm[:2], 0.1, 2.0)
    # One repeat takes the splits for half of the rows: 1 + 3/2 times the variance.
    assert alone / twice == pytest.approx(2.5, rel=0.3)


def test_rows_to_tell_end_somewhere():
    assert rows_to_tell(normal_rows(0.001), 0.001, 2.0) is None
    assert rows_to_tell(normal_rows(0.1, 2), 0.1, 2.0, most=1) is None


def test_rows_to_tell_do_not_depend_on_the_sign_of_the_difference():
    rows = normal_rows(0.1, 2)
    assert rows_to_tell(rows, -0.1, 2.0) == rows_to_tell(rows, 0.1, 2.0)
    assert rows_to_tell(rows, 0.1, 2.0) == rows_to_tell(rows + 5.0, 0.1, 2.0)


def test_rows_to_tell_of_many_rows_take_no_longer(monkeypatch):
    rows = normal_rows(0.02, 2, count=3000)
    whole = rows_to_tell(rows, 0.02, 2.0)
    shapes = []

    def counted(losses, *numbers):
        shapes.append(losses.shape)
        return _claimed_share(losses, *numbers)

    monkeypatch.setattr("verulam.statistics._one.power.MOST_ROWS", 500)
    monkeypatch.setattr("verulam.statistics._one.power._claimed_share", counted)
    assert whole / 2 <= rows_to_tell(rows, 0.02, 2.0) <= 2 * whole
    assert set(shapes) == {(2, 500)}


@pytest.mark.parametrize(
    ("values", "critical"), [(np.zeros(5), 2.0), (np.zeros((2, 1)), 2.0), (np.zeros((2, 5)), 0.0)]
)
def test_rows_to_tell_refuses(values, critical):
    with pytest.raises(DataError):
        rows_to_tell(values, 0.1, critical)


def test_a_power_curve_is_a_table_at_a_level():
    curve = power_curve([0.2, 0.5, 1.0], 20, alpha=0.1)
    assert isinstance(curve, PowerCurve)
    assert curve.alpha == 0.1
    assert curve.table.iloc[:, -1].is_monotonic_increasing
