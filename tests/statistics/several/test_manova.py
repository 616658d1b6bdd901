"""MANOVA: statsmodels, identities of the eigenvalues, directions, singular scatter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.multivariate.manova import MANOVA

from verulam.statistics import (
    ManovaResult,
    hotelling_test,
    manova,
    one_way_anova,
    pairwise_hotelling,
)
from verulam.statistics._several.manova import directions_of, four_statistics, rao_power, scatter

VALUES = np.random.default_rng(11).normal(size=(4, 9, 3))
VALUES[1:, :, 0] += np.array([0.5, 1.0, 1.5])[:, None]


@pytest.mark.parametrize(
    ("groups", "rows", "size"),
    [(4, 9, 3), (2, 6, 4), (6, 4, 2), (3, 3, 4), (3, 4, 7), (3, 4, 5)],
)
def test_four_statistics_match_statsmodels(groups, rows, size):
    values = np.random.default_rng(groups).normal(size=(groups, rows, size))
    values[0] += 0.8
    labels = np.repeat(np.arange(groups), rows)
    design = (labels[:, None] == np.arange(groups)).astype(float)
    contrast = np.column_stack([np.ones(groups - 1), -np.eye(groups - 1)])
    fitted = MANOVA(values.reshape(-1, size), design)
    expected = fitted.mv_test([("group", contrast)]).results["group"]["stat"]
    statistics = manova(values).statistics
    assert_allclose(statistics.to_numpy(), expected.to_numpy(dtype=float), rtol=1e-8)


def test_where_the_peer_divides_by_zero():
    """Twelve results of six measures: the limit of the formula, with four degrees of freedom."""
    values = np.random.default_rng(0).normal(size=(3, 4, 6))
    row = manova(values).statistics.loc["Hotelling-Lawley trace"]
    assert row["denominator"] == 4
    assert 0 < row["p_value"] < 1


def test_wilks_is_a_product_of_eigenvalues():
    analysis = manova(VALUES)
    means = VALUES.mean(axis=1)
    off = means - VALUES.mean(axis=(0, 1))
    between = 9 * off.T @ off
    centred = (VALUES - means[:, None]).reshape(-1, 3)
    within = centred.T @ centred
    wilks = np.linalg.det(within) / np.linalg.det(within + between)
    assert_allclose(analysis.result.statistic, wilks)
    assert_allclose(analysis.result.statistic, np.prod(1 / (1 + analysis.eigenvalues)))
    values, _ = np.linalg.eig(np.linalg.solve(within, between))
    assert_allclose(analysis.eigenvalues, np.sort(values.real)[::-1])
    direction = analysis.directions["direction 1"].to_numpy()
    assert_allclose(
        np.linalg.solve(within, between) @ direction,
        analysis.eigenvalues[0] * direction,
        atol=1e-10,
    )
    assert_allclose(analysis.projections["direction 1"], means @ direction)


def test_small_lambda_rejects():
    apart = VALUES + 10 * np.arange(4)[:, None, None]
    near, far = manova(VALUES).result, manova(apart).result
    assert far.statistic < near.statistic
    assert far.p_value < near.p_value


def test_one_measure_is_the_analysis_of_variance():
    test = manova(VALUES[:, :, :1]).result
    expected = one_way_anova(VALUES[:, :, 0].T)
    assert_allclose(test.details["F"], expected.statistic)
    assert_allclose(test.p_value, expected.p_value)


def test_two_groups_agree_whatever_the_statistic():
    p_values = [
        manova(VALUES[:2], statistic=name).result.p_value
        for name in ("wilks", "pillai", "hotelling-lawley", "roy")
    ]
    assert_allclose(p_values, p_values[0])


def test_axes_are_the_smaller_of_measures_and_groups_less_one():
    assert manova(VALUES).eigenvalues.shape == (3,)
    assert manova(VALUES[:2]).eigenvalues.shape == (1,)
    assert manova(VALUES[:2]).one_axis
    assert_allclose(manova(VALUES).shares.sum(), 1)


def test_univariate_and_pairwise_follow():
    analysis = manova(VALUES, names=["error", "time", "size"])
    expected = [one_way_anova(VALUES[:, :, k].T).p_value for k in range(3)]
    assert_allclose(analysis.univariate["p_value"], expected)
    assert list(analysis.directions.index) == ["error", "time", "size"]
    pairs = pairwise_hotelling(VALUES)
    assert len(pairs) == 6
    assert_allclose(pairs["p_value"].iloc[0], hotelling_test(VALUES[0], VALUES[1]).p_value)


def test_dependent_measures_lose_nothing():
    extended = np.concatenate([VALUES, 1 - VALUES[:, :, :1]], axis=2)
    analysis = manova(extended)
    assert_allclose(analysis.result.statistic, manova(VALUES).result.statistic)
    assert "depend on one another" in str(analysis.result.caveats)


def test_singular_scatter_is_explained_and_answered():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 3, 9))
    analysis = manova(values)
    assert "permutation" in analysis.result.name
    assert "singular scatter" in str(analysis.result.caveats)
    assert analysis.statistics.empty
    assert 0 < analysis.result.p_value <= 1
    assert manova(values + 30 * np.arange(3)[:, None, None]).result.p_value < 0.05


def test_names_of_a_mapping():
    groups = {"tree": VALUES[0], "net": VALUES[1, :7]}
    analysis = manova(groups)
    assert list(analysis.projections.index) == ["tree", "net"]
    assert analysis.result.degrees_of_freedom == (3, 12)


def test_equal_means_give_no_evidence():
    base = np.random.default_rng(1).normal(size=(8, 2))
    analysis = manova(np.stack([base, base, base]))
    assert analysis.result.statistic == pytest.approx(1.0)
    assert analysis.result.p_value == pytest.approx(1.0)
    assert stats.f.sf(0, 4, 40) == 1.0


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_do_not_hide_a_measure(unit):
    shifts = np.array([[[0, 0]], [[2, 0]], [[1, 0]]])
    groups = np.random.default_rng(0).normal(size=(3, 12, 2)) + shifts
    plain, other = manova(groups), manova(groups * [1, unit])
    assert other.result.p_value == pytest.approx(plain.result.p_value)
    assert other.eigenvalues == pytest.approx(plain.eigenvalues)


def test_it_prints_sentences():
    groups = np.random.default_rng(0).normal(size=(2, 12, 2)) + np.array([[[0, 0]], [[3, 0]]])
    text = " ".join(str(manova(groups, names=["error", "time"])).split())
    assert text.startswith("Multivariate analysis of variance (Wilks' lambda): Lambda(2, 21) = ")
    assert "The first direction has 100.0% of the difference (one axis orders the learners)" in text
    assert text.endswith("Measures that differ by themselves, after Holm: error.")


@pytest.mark.parametrize(("second", "one_axis"), [(0.0, True), (4.0, False)])
def test_one_axis_is_enough_where_it_has_nine_tenths(second, one_axis):
    shifts = np.array([[[0, 0]], [[4, 0]], [[2, second]]])
    analysis = manova(np.random.default_rng(1).normal(size=(3, 20, 2)) + shifts)
    assert analysis.one_axis is one_axis
    assert (analysis.eigenvalues[0] / analysis.eigenvalues.sum() > 0.9) == one_axis
    # Learners lie along the first axis as their means along its direction do.
    spread = np.ptp(analysis.projections, axis=0)
    assert spread.iloc[0] > spread.iloc[1]


@pytest.mark.parametrize("statistic", ["wilks", "pillai", "hotelling-lawley", "roy"])
@pytest.mark.parametrize(("groups", "measures"), [(2, 1), (3, 2), (4, 3), (5, 2)])
def test_critical_value_decides_as_the_p_value_does(statistic, groups, measures):
    decisions = set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = rng.normal(size=(groups, 8, measures))
        values[0] += seed % 2
        result = manova(values, statistic=statistic).result
        assert result.tail == ("less" if statistic == "wilks" else "greater")
        gap = result.statistic - result.critical_value
        assert (gap < 0 if statistic == "wilks" else gap > 0) == result.reject
        decisions.add(result.reject)
        at_limit = manova(values, statistic=statistic, alpha=result.p_value).result
        assert_allclose(at_limit.critical_value, result.statistic)
    assert decisions == {True, False}


def test_two_groups_give_all_four_the_same_f():
    values = np.random.default_rng(0).normal(size=(2, 8, 3))
    table = manova(values).statistics
    assert_allclose(table["F"], table["F"].iloc[0])
    assert_allclose(table["p_value"], stats.f.sf(table["F"].iloc[0], 3, 12))


@pytest.mark.parametrize(
    ("size", "effect", "power"), [(1, 1, 1.0), (1, 5, 1.0), (2, 3, 2.0), (4, 2, 2.0)]
)
def test_rao_is_exact_for_one_or_two_measures_or_effects(size, effect, power):
    assert rao_power(size, effect) == pytest.approx(power)


def test_no_difference_at_all():
    table = four_statistics(np.zeros(2), 2, 3, 30)
    assert_allclose(table["value"], [1, 0, 0, 0])
    assert_allclose(table["p_value"], 1.0)


@pytest.mark.slow
def test_sizes_of_the_four_under_normal_measures():
    """Three hold their level; Roy's F is an upper bound, so that its test rejects too often."""
    repeats, groups, rows, measures = 10_000, 3, 30, 2
    rng = np.random.default_rng(0)
    rejected = np.zeros(4)
    for _ in range(repeats):
        values = rng.normal(size=(groups, rows, measures))
        parts = scatter(list(values))
        roots, _ = directions_of(parts.between, parts.within, groups - 1)
        table = four_statistics(roots, measures, groups, groups * rows)
        rejected += table["p_value"].to_numpy() < 0.05
    sizes = rejected / repeats
    assert_allclose(sizes[:3], 0.05, atol=3.3 * np.sqrt(0.05 * 0.95 / repeats))
    assert 0.1 < sizes[3] < 0.25


def test_one_axis_is_dominant_where_the_means_lie_on_a_line():
    random = np.random.default_rng(0)
    line = {
        name: shift + random.normal(size=(30, 2))
        for name, shift in {"a": 0.0, "b": 4.0, "c": 8.0}.items()
    }
    analysis = manova(line)
    assert isinstance(analysis, ManovaResult)
    assert analysis.shares[0] > 0.9
    assert analysis.one_axis
