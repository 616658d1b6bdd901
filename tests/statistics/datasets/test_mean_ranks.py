"""Critical differences, controls, cliques and the whole comparison."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics import (
    adjust_p_values,
    adjust_pairs,
    average_ranks,
    cliques,
    control_test,
    mean_rank_test,
    nemenyi_test,
    tukey_hsd,
    tukey_on_ranks,
    wilcoxon_holm,
    wilcoxon_test,
)
from verulam.statistics._core.multiple_comparisons import Comparisons

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
        comparisons = nemenyi_test(np.random.default_rng(seed).normal([0, 0, 0, 1], size=(12, 4)))
        beyond = comparisons.table["difference"].abs() > comparisons.critical_difference
        assert (beyond == comparisons.table["reject"]).all()


def test_nemenyi_by_the_definition_of_the_range():
    """The p-value is the chance that the range of L unit normals exceeds the statistic."""
    pairs = nemenyi_test(TABLE).table
    z = np.linspace(-12, 12, 6001)
    for q, p_value in zip(pairs["statistic"], pairs["adjusted_p"], strict=True):
        inside = stats.norm.cdf(z) - stats.norm.cdf(z - q)
        cumulative = 4 * np.trapezoid(stats.norm.pdf(z) * inside**3, z)
        assert_allclose(p_value, 1 - cumulative, atol=1e-10)


@pytest.mark.parametrize("adjust", ["bonferroni", "holm", "hochberg"])
def test_control_by_hand(adjust):
    pairs = control_test(TABLE, "a", adjust=adjust).table
    ranks = TABLE.rank(axis=1).mean()
    z = (ranks["a"] - ranks[["b", "c", "d"]]) / np.sqrt(4 * 5 / (6 * 15))
    raw = 2 * stats.norm.sf(np.abs(z))
    assert_allclose(pairs["statistic"], z)
    assert_allclose(pairs["adjusted_p"], adjust_p_values(raw, adjust))
    assert pairs["second"].tolist() == ["b", "c", "d"]


@pytest.mark.parametrize("adjust", ["none", "holm", "shaffer", "bergmann-hommel"])
def test_mean_ranks_by_hand(adjust):
    pairs = mean_rank_test(TABLE, adjust=adjust)
    ranks = TABLE.rank(axis=1).mean().to_numpy()
    first, second = np.triu_indices(4, 1)
    z = (ranks[first] - ranks[second]) / np.sqrt(4 * 5 / (6 * 15))
    raw = 2 * stats.norm.sf(np.abs(z))
    assert_allclose(pairs.table["statistic"], z)
    assert_allclose(pairs.table["p_value"], raw)
    assert_allclose(pairs.table["adjusted_p"], adjust_pairs(raw, adjust))
    assert (pairs.table["reject"] == (pairs.table["adjusted_p"] < 0.05)).all()
    assert np.isnan(pairs.critical_difference)
    assert pairs.result("b", "a").statistic == pytest.approx(-z[0])
    note = "not adjusted" if adjust == "none" else "p-value adjusted"
    assert note in pairs.result("a", "b").caveats[-1]
    turned = mean_rank_test(-TABLE, adjust=adjust, greater_is_better=True)
    assert_allclose(turned.table["adjusted_p"], pairs.table["adjusted_p"])


def test_caveats_of_mean_ranks():
    for procedure in (nemenyi_test, mean_rank_test):
        assert len(procedure(TABLE).caveats) == 1
        assert "ranks without ties" in procedure(TABLE.round(0)).caveats[1]


@pytest.mark.parametrize("adjust", ["holm", "shaffer", "bergmann-hommel"])
def test_pairwise_wilcoxon(adjust):
    pairs = wilcoxon_holm(TABLE, adjust=adjust)
    table = pairs.table
    raw = [
        wilcoxon_test(TABLE[one], TABLE[other]).p_value
        for one, other in zip(table["first"], table["second"], strict=True)
    ]
    assert_allclose(table["p_value"], raw)
    assert_allclose(table["adjusted_p"], adjust_pairs(raw, adjust))
    assert bool(pairs.caveats) == (adjust != "holm")


def test_wilcoxon_says_whom_the_signed_ranks_favour():
    pairs = wilcoxon_holm(TABLE)
    expected = [
        wilcoxon_test(TABLE[one], TABLE[other]).effect_size.value
        for one, other in zip(pairs.table["first"], pairs.table["second"], strict=True)
    ]
    assert_allclose(pairs.table[pairs.direction], expected)
    turned = wilcoxon_holm(TABLE, greater_is_better=True)
    assert_allclose(turned.table[turned.direction], -np.array(expected))
    equal = wilcoxon_holm(np.ones((8, 2)))
    assert equal.table[equal.direction].tolist() == [0.0]


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
    comparisons = tukey_on_ranks(TABLE, within_data_sets=within, greater_is_better=True)
    expected = tukey_on_ranks(-TABLE, within_data_sets=within)
    assert_allclose(comparisons.means, expected.means)
    assert_allclose(comparisons.table["difference"], expected.table["difference"])
    # The largest results have the smallest ranks.
    assert comparisons.means.idxmin() == "d"


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
    comparisons = comparisons_with(differing, {"c": 3.0, "a": 1.0, "d": 4.0, "b": 2.0})
    assert cliques(comparisons) == groups


@pytest.mark.parametrize(
    ("differing", "groups"),
    [
        # a and b share a rank, so that a bar to one of them reaches the other.
        ([], [["b", "a", "c", "d"]]),
        (["bc", "bd"], [["b", "a"], ["c", "d"]]),
        (["ac", "ad"], [["b", "a"], ["c", "d"]]),
        (["ab"], [["c", "d"]]),
        (["ab", "cd"], []),
    ],
)
def test_cliques_with_a_shared_rank(differing, groups):
    ranks = {"b": 0.1 + 0.2 + 1.2, "a": 1.5, "c": 3.0, "d": 4.0}
    assert cliques(comparisons_with(differing, ranks)) == groups


def test_cliques_never_pass_over_a_rejected_pair():
    for seed in range(20):
        table = np.random.default_rng(seed).standard_t(2, size=(15, 7)) + np.arange(7) / 3
        pairs = wilcoxon_holm(table, adjust="shaffer")
        matrix = pairs.p_matrix()
        ordered = list(pairs.means.sort_values(kind="stable").index)
        for group in cliques(pairs):
            assert (matrix.loc[group, group].to_numpy() >= 0.05).all()
            start = ordered.index(group[0])
            assert ordered[start : start + len(group)] == group


@pytest.mark.parametrize("procedure", [nemenyi_test, mean_rank_test])
def test_every_pair_in_a_clique_is_alike_and_no_pair_is_lost(procedure):
    for seed in range(10):
        comparisons = procedure(np.random.default_rng(seed).normal(np.arange(8) / 4, size=(10, 8)))
        groups = cliques(comparisons)
        matrix = comparisons.p_matrix()
        for group in groups:
            assert (matrix.loc[group, group].to_numpy() >= 0.05).all()
        for row in comparisons.table.itertuples():
            together = any(row.first in group and row.second in group for group in groups)
            assert together == (not row.reject)


def test_average_ranks_follow_the_direction():
    assert average_ranks(TABLE).index[0] in ("a", "b")
    assert average_ranks(TABLE, greater_is_better=True).index[0] == "d"
    assert average_ranks(TABLE).sum() == pytest.approx(10)
