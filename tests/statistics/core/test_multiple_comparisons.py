"""The record of all pairs: either order, either side, limits and words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.multitest import multipletests

from verulam.statistics import (
    adjust_p_values,
    fisher_lsd,
    nemenyi_test,
    newman_keuls,
    scheffe,
    tukey_hsd,
)

TABLE = np.random.default_rng(7).normal([0, 0.5, 1, 2], size=(8, 4))
NAMES = [f"learner {k}" for k in range(1, 5)]


def test_record_of_pairs():
    comparisons = tukey_hsd(TABLE)
    one = comparisons.result(NAMES[0], NAMES[3])
    other = comparisons.result(NAMES[3], NAMES[0])
    assert one.p_value == other.p_value
    assert one.effect_size.value == -other.effect_size.value
    assert "adjusted for 6 comparisons" in str(one.caveats)
    matrix = comparisons.p_matrix()
    assert_allclose(matrix, matrix.T)
    assert str(comparisons).startswith("Tukey's HSD: ")
    assert len(comparisons.rejected()) == comparisons.table["reject"].sum()


def test_only_signed_statistics_change_sign_with_the_order():
    for procedure in (tukey_hsd, scheffe, newman_keuls):
        comparisons = procedure(TABLE)
        one, other = comparisons.result(NAMES[0], NAMES[3]), comparisons.result(NAMES[3], NAMES[0])
        assert one.statistic == other.statistic > 0
    comparisons = fisher_lsd(TABLE)
    assert (
        comparisons.result(NAMES[0], NAMES[3]).statistic
        == -comparisons.result(*NAMES[::-3]).statistic
    )


def test_one_sided_pairs_turn_round():
    comparisons = fisher_lsd(TABLE, alternative="less")
    straight, turned = (
        comparisons.result(NAMES[0], NAMES[3]),
        comparisons.result(NAMES[3], NAMES[0]),
    )
    assert straight.alternative == "learner 1 is below learner 4"
    assert straight.null == "learner 1 is not below learner 4"
    assert turned.alternative == "learner 4 is above learner 1"
    assert (straight.tail, turned.tail) == ("less", "greater")
    assert straight.p_value == turned.p_value
    assert (
        straight.critical_value == -turned.critical_value == pytest.approx(-stats.t.isf(0.05, 28))
    )
    assert straight.statistic < straight.critical_value
    assert straight.caveats[-1] == "p-value not adjusted for 6 comparisons"


def test_statistics_and_critical_values_decide_as_p_values_do():
    for procedure in (
        tukey_hsd,
        scheffe,
        fisher_lsd,
        lambda table: fisher_lsd(table, adjust="bonferroni"),
        nemenyi_test,
    ):
        comparisons = procedure(TABLE)
        beyond = comparisons.table["statistic"].abs() > comparisons.critical_value
        assert (beyond == comparisons.table["reject"]).all()
        assert comparisons.result(NAMES[0], NAMES[3]).critical_value == comparisons.critical_value


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("bonferroni", "bonferroni"),
        ("holm", "holm"),
        ("hochberg", "simes-hochberg"),
        ("benjamini-hochberg", "fdr_bh"),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_matches_statsmodels(ours, theirs, seed):
    rng = np.random.default_rng(seed)
    values = np.round(rng.uniform(size=20) ** 3, 2)
    assert_allclose(
        adjust_p_values(values, ours), multipletests(values, method=theirs)[1], atol=1e-12
    )


def test_six_intervals_hold_together_with_seventy_percent():
    """Six tests at five percent: at most thirty percent for a false rejection."""
    assert_allclose(adjust_p_values([0.05] * 6, "bonferroni"), 0.3)


def test_order_of_strictness():
    values = np.random.default_rng(0).uniform(size=30) ** 2
    none, bh, hochberg, holm, bonferroni = (
        adjust_p_values(values, method)
        for method in ("none", "benjamini-hochberg", "hochberg", "holm", "bonferroni")
    )
    for smaller, larger in ((none, bh), (bh, hochberg), (hochberg, holm), (holm, bonferroni)):
        assert (smaller <= larger + 1e-15).all()
    assert bonferroni.max() <= 1
