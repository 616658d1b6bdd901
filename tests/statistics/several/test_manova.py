"""MANOVA: statsmodels, identities of the eigenvalues, directions, singular scatter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.multivariate.manova import MANOVA

from verulam.statistics import (
    hotelling_test,
    manova,
    one_way_anova,
    pairwise_hotelling,
)

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
    found = manova(values).statistics
    assert_allclose(found.to_numpy(), expected.to_numpy(dtype=float), rtol=1e-8)


def test_where_the_peer_divides_by_zero():
    """Twelve results of six measures: the limit of the formula, with four degrees of freedom."""
    values = np.random.default_rng(0).normal(size=(3, 4, 6))
    row = manova(values).statistics.loc["Hotelling-Lawley trace"]
    assert row["denominator"] == 4
    assert 0 < row["p_value"] < 1


def test_wilks_is_a_product_of_eigenvalues():
    found = manova(VALUES)
    means = VALUES.mean(axis=1)
    off = means - VALUES.mean(axis=(0, 1))
    between = 9 * off.T @ off
    centred = (VALUES - means[:, None]).reshape(-1, 3)
    within = centred.T @ centred
    wilks = np.linalg.det(within) / np.linalg.det(within + between)
    assert_allclose(found.result.statistic, wilks)
    assert_allclose(found.result.statistic, np.prod(1 / (1 + found.eigenvalues)))
    values, _ = np.linalg.eig(np.linalg.solve(within, between))
    assert_allclose(found.eigenvalues, np.sort(values.real)[::-1])
    direction = found.directions["direction 1"].to_numpy()
    assert_allclose(
        np.linalg.solve(within, between) @ direction, found.eigenvalues[0] * direction, atol=1e-10
    )
    assert_allclose(found.projections["direction 1"], means @ direction)


def test_small_lambda_rejects():
    apart = VALUES + 10 * np.arange(4)[:, None, None]
    near, far = manova(VALUES).result, manova(apart).result
    assert far.statistic < near.statistic
    assert far.p_value < near.p_value


def test_one_measure_is_the_analysis_of_variance():
    found = manova(VALUES[:, :, :1]).result
    expected = one_way_anova(VALUES[:, :, 0].T)
    assert_allclose(found.details["F"], expected.statistic)
    assert_allclose(found.p_value, expected.p_value)


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
    found = manova(VALUES, names=["error", "time", "size"])
    expected = [one_way_anova(VALUES[:, :, k].T).p_value for k in range(3)]
    assert_allclose(found.univariate["p_value"], expected)
    assert list(found.directions.index) == ["error", "time", "size"]
    pairs = pairwise_hotelling(VALUES)
    assert len(pairs) == 6
    assert_allclose(pairs["p_value"].iloc[0], hotelling_test(VALUES[0], VALUES[1]).p_value)


def test_dependent_measures_lose_nothing():
    extended = np.concatenate([VALUES, 1 - VALUES[:, :, :1]], axis=2)
    found = manova(extended)
    assert_allclose(found.result.statistic, manova(VALUES).result.statistic)
    assert "depend on one another" in str(found.result.caveats)


def test_singular_scatter_is_explained_and_answered():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 3, 9))
    found = manova(values)
    assert "permutation" in found.result.name
    assert "singular scatter" in str(found.result.caveats)
    assert found.statistics.empty
    assert 0 < found.result.p_value <= 1
    assert manova(values + 30 * np.arange(3)[:, None, None]).result.p_value < 0.05


def test_names_of_a_mapping():
    groups = {"tree": VALUES[0], "net": VALUES[1, :7]}
    found = manova(groups)
    assert list(found.projections.index) == ["tree", "net"]
    assert found.result.degrees_of_freedom == (3, 12)


def test_equal_means_give_no_evidence():
    base = np.random.default_rng(1).normal(size=(8, 2))
    found = manova(np.stack([base, base, base]))
    assert found.result.statistic == pytest.approx(1.0)
    assert found.result.p_value == pytest.approx(1.0)
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
    found = manova(np.random.default_rng(1).normal(size=(3, 20, 2)) + shifts)
    assert found.one_axis is one_axis
    assert (found.eigenvalues[0] / found.eigenvalues.sum() > 0.9) == one_axis
    # Learners lie along the first axis as their means along its direction do.
    spread = np.ptp(found.projections, axis=0)
    assert spread.iloc[0] > spread.iloc[1]
