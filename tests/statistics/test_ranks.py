"""Critical differences, controls, cliques and the whole comparison."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics import (
    adjust_p_values,
    average_ranks,
    cliques,
    control_test,
    nemenyi_test,
    tukey_hsd,
    tukey_on_ranks,
    wilcoxon_holm,
    wilcoxon_test,
)
from verulam.statistics._pairwise import Comparisons

TABLE = pd.DataFrame(
    np.random.default_rng(9).normal([0, 0.1, 0.8, 1.6], size=(15, 4)), columns=list("abcd")
)
#: Demsar's table of critical values for the Nemenyi test at 0.05, for 2 to 10 learners.
NEMENYI_05 = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


@pytest.mark.parametrize("count", range(2, 11))
def test_published_critical_values(count):
    table = np.random.default_rng(count).normal(size=(20, count))
    error = np.sqrt(count * (count + 1) / (6 * 20))
    nemenyi = nemenyi_test(table).critical_difference / error
    assert nemenyi == pytest.approx(NEMENYI_05[count - 2], abs=1e-3)
    dunn = control_test(table, "learner 1", adjust="bonferroni").critical_difference / error
    assert dunn == pytest.approx(stats.norm.isf(0.025 / (count - 1)))


def test_nemenyi_p_values_are_dual_to_the_critical_difference():
    for seed in range(20):
        found = nemenyi_test(np.random.default_rng(seed).normal([0, 0, 0, 1], size=(12, 4)))
        beyond = found.table["difference"].abs() > found.critical_difference
        assert (beyond == found.table["reject"]).all()


def test_nemenyi_by_the_definition_of_the_range():
    """The p-value is the chance that the range of L unit normals exceeds the statistic."""
    found = nemenyi_test(TABLE).table
    z = np.linspace(-12, 12, 6001)
    for q, p_value in zip(found["statistic"], found["adjusted_p"], strict=True):
        inside = stats.norm.cdf(z) - stats.norm.cdf(z - q)
        cumulative = 4 * np.trapezoid(stats.norm.pdf(z) * inside**3, z)
        assert_allclose(p_value, 1 - cumulative, atol=1e-10)


@pytest.mark.parametrize("adjust", ["bonferroni", "holm", "hochberg"])
def test_control_by_hand(adjust):
    found = control_test(TABLE, "a", adjust=adjust).table
    ranks = TABLE.rank(axis=1).mean()
    z = (ranks["a"] - ranks[["b", "c", "d"]]) / np.sqrt(4 * 5 / (6 * 15))
    raw = 2 * stats.norm.sf(np.abs(z))
    assert_allclose(found["statistic"], z)
    assert_allclose(found["adjusted_p"], adjust_p_values(raw, adjust))
    assert found["second"].tolist() == ["b", "c", "d"]


def test_pairwise_wilcoxon():
    found = wilcoxon_holm(TABLE).table
    raw = [
        wilcoxon_test(TABLE[one], TABLE[other]).p_value
        for one, other in zip(found["first"], found["second"], strict=True)
    ]
    assert_allclose(found["p_value"], raw)
    assert_allclose(found["adjusted_p"], adjust_p_values(raw))


def test_tukey_on_ranks_is_tukey_of_ranks():
    within = tukey_on_ranks(TABLE)
    expected = tukey_hsd(TABLE.rank(axis=1), blocked=True)
    assert_allclose(within.table["adjusted_p"], expected.table["adjusted_p"])
    pooled = tukey_on_ranks(TABLE, within_data_sets=False)
    ranks = stats.rankdata(TABLE.to_numpy()).reshape(TABLE.shape)
    expected = stats.tukey_hsd(*ranks.T)
    assert_allclose(pooled.table["adjusted_p"], expected.pvalue[np.triu_indices(4, 1)], atol=1e-10)


@pytest.mark.parametrize("within", [True, False])
def test_tukey_on_ranks_follows_the_direction(within):
    found = tukey_on_ranks(TABLE, within_data_sets=within, greater_is_better=True)
    expected = tukey_on_ranks(-TABLE, within_data_sets=within)
    assert_allclose(found.means, expected.means)
    assert_allclose(found.table["difference"], expected.table["difference"])
    # The largest results have the smallest ranks.
    assert found.means.idxmin() == "d"


def test_ordered_ranks_reject_in_one_direction_only():
    both = tukey_on_ranks(TABLE).table
    less = tukey_on_ranks(TABLE, alternative="less")
    greater = tukey_on_ranks(TABLE, alternative="greater")
    assert_allclose(less.table["statistic"].abs(), both["statistic"])
    rising = (both["difference"] < 0).to_numpy()
    assert (less.table["adjusted_p"][rising] < both["adjusted_p"][rising]).all()
    assert (greater.table["adjusted_p"][rising] > 0.5).all()
    assert less.result("a", "d").reject
    assert not greater.result("a", "d").reject
    turned = tukey_on_ranks(TABLE[list("dcba")], alternative="greater").result("d", "a")
    assert_allclose(turned.p_value, less.result("a", "d").p_value)


def comparisons_with(differing, ranks):
    names = list(ranks)
    rows = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    table = pd.DataFrame(rows, columns=["first", "second"])
    pairs = {frozenset(pair) for pair in differing}
    table["adjusted_p"] = [0.001 if frozenset(row) in pairs else 0.9 for row in rows]
    return Comparisons("test", table, 0.05, "q", pd.Series(ranks))


@pytest.mark.parametrize(
    ("differing", "groups"),
    [
        ([], [["a", "b", "c", "d"]]),
        (["ad"], [["a", "b", "c"], ["b", "c", "d"]]),
        (["ac", "ad", "bd"], [["a", "b"], ["b", "c"], ["c", "d"]]),
        (["ab", "ac", "ad", "bc", "bd", "cd"], []),
        # Neighbours only: b and c differ, so that no bar may pass over both.
        (["bc"], [["a", "b"], ["c", "d"]]),
    ],
)
def test_cliques(differing, groups):
    found = comparisons_with(differing, {"c": 3.0, "a": 1.0, "d": 4.0, "b": 2.0})
    assert cliques(found) == groups


def test_every_pair_in_a_clique_is_alike_and_no_pair_is_lost():
    for seed in range(10):
        found = nemenyi_test(np.random.default_rng(seed).normal(np.arange(8) / 4, size=(10, 8)))
        groups = cliques(found)
        matrix = found.p_matrix()
        for group in groups:
            assert (matrix.loc[group, group].to_numpy() >= 0.05).all()
        for row in found.table.itertuples():
            together = any(row.first in group and row.second in group for group in groups)
            assert together == (not row.reject)


def test_average_ranks_follow_the_direction():
    assert average_ranks(TABLE).index[0] in ("a", "b")
    assert average_ranks(TABLE, greater_is_better=True).index[0] == "d"
    assert average_ranks(TABLE).sum() == pytest.approx(10)
