"""Which learners differ: SciPy, statsmodels, formulas and the order of strictness."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.base import DataError
from verulam.statistics import (
    contrast,
    cv_t_test,
    fisher_lsd,
    newman_keuls,
    one_way_anova,
    repeated_anova,
    scheffe,
    tukey_hsd,
)
from verulam.statistics._core.distributions import OrderedRange

TABLE = np.random.default_rng(7).normal([0, 0.5, 1, 2], size=(8, 4))
NAMES = [f"learner {k}" for k in range(1, 5)]


def mean_square():
    return ((TABLE - TABLE.mean(axis=0)) ** 2).sum() / 28


def test_lsd_formula():
    pairs = fisher_lsd(TABLE).table
    means = TABLE.mean(axis=0)
    t = (means[0] - means[3]) / np.sqrt(2 * mean_square() / 8)
    row = pairs[(pairs["first"] == NAMES[0]) & (pairs["second"] == NAMES[3])].iloc[0]
    assert_allclose(row["statistic"], t)
    assert_allclose(row["p_value"], 2 * stats.t.sf(abs(t), 28))
    less = fisher_lsd(TABLE, alternative="less").table
    assert less["p_value"].iloc[2] == pytest.approx(stats.t.cdf(t, 28))


def test_adjusted_lsd():
    raw = fisher_lsd(TABLE).table["p_value"]
    assert_allclose(fisher_lsd(TABLE, adjust="bonferroni").table["adjusted_p"],
                    np.minimum(1, 6 * raw))  # fmt: skip


@pytest.mark.parametrize("equal", [True, False])
def test_tukey_matches_scipy(equal):
    groups = {name: TABLE[: 8 if equal else 8 - k, k] for k, name in enumerate(NAMES)}
    comparisons = tukey_hsd(groups)
    expected = stats.tukey_hsd(*groups.values())
    upper = np.triu_indices(4, 1)
    assert_allclose(comparisons.table["adjusted_p"], expected.pvalue[upper], atol=1e-10)
    interval = expected.confidence_interval()
    assert_allclose(comparisons.table["low"], interval.low[upper], atol=1e-6)
    assert_allclose(comparisons.table["high"], interval.high[upper], atol=1e-6)


def test_tukey_in_a_claimed_order():
    first, second = TABLE[:, 0], TABLE[:, 1]
    for tail in ("less", "greater"):
        comparisons = tukey_hsd(TABLE[:, :2], blocked=True, alternative=tail).table
        single = cv_t_test(first, second, alternative=tail)
        assert_allclose(comparisons["adjusted_p"].iloc[0], single.p_value, atol=3e-6)
        ends = [single.interval.low, single.interval.high]
        assert_allclose(comparisons[["low", "high"]].iloc[0], ends, atol=1e-4)
    comparisons = tukey_hsd(TABLE, alternative="less")
    beyond = comparisons.table["statistic"] < comparisons.critical_value
    assert (beyond == comparisons.table["reject"]).all()
    assert (comparisons.table["high"] < 0).equals(comparisons.table["reject"])
    with pytest.raises(DataError, match="alternative='less' needs groups of equal size"):
        tukey_hsd({"a": [1, 2, 3], "b": [2, 4]}, alternative="less")


def test_tukey_in_order_holds_its_level():
    random = np.random.default_rng(5)
    ranges = OrderedRange(4, 36).isf(0.05)
    tables = random.normal(size=(4000, 10, 4))
    means, spreads = tables.mean(axis=1), tables.var(axis=1, ddof=1).mean(axis=1)
    falls = np.maximum.accumulate(means, axis=1)[:, :-1] - means[:, 1:]
    share = np.mean(falls.max(axis=1) / np.sqrt(spreads / 10) > ranges)
    assert 0.04 < share < 0.06
    one = tukey_hsd(tables[0], alternative="greater")
    assert_allclose(one.table["statistic"].max(), falls[0].max() / np.sqrt(spreads[0] / 10))


def test_scheffe_by_hand():
    pairs = scheffe(TABLE).table
    t = fisher_lsd(TABLE).table["statistic"]
    assert_allclose(pairs["adjusted_p"], stats.f.sf(t**2 / 3, 3, 28))
    inside = (pairs["low"] < 0) & (pairs["high"] > 0)
    assert (inside == ~pairs["reject"]).all()


def test_newman_keuls_by_hand():
    means = np.sort(TABLE.mean(axis=0))
    order = np.argsort(TABLE.mean(axis=0))
    error = np.sqrt(mean_square() / 8)
    raw = {
        (i, j): stats.studentized_range.sf((means[j] - means[i]) / error, j - i + 1, 28)
        for i in range(4)
        for j in range(i + 1, 4)
    }
    expected = {(i, j): max(p for (a, b), p in raw.items() if a <= i and b >= j) for i, j in raw}
    p_matrix = newman_keuls(TABLE).p_matrix().to_numpy()
    for (i, j), p_value in expected.items():
        assert_allclose(p_matrix[order[i], order[j]], p_value, atol=1e-10)


def test_order_of_strictness():
    lsd, keuls, tukey, wide = (
        procedure(TABLE).table["adjusted_p"].to_numpy()
        for procedure in (fisher_lsd, newman_keuls, tukey_hsd, scheffe)
    )
    assert (lsd <= keuls + 1e-9).all()
    assert (keuls <= tukey + 1e-9).all()
    assert (tukey <= wide + 1e-9).all()


def test_two_groups_agree_with_the_analysis_of_variance():
    pair = TABLE[:, :2]
    whole = one_way_anova(pair).p_value
    for procedure in (fisher_lsd, tukey_hsd, scheffe, newman_keuls):
        assert_allclose(procedure(pair).table["adjusted_p"].iloc[0], whole, atol=1e-8)
    assert_allclose(
        tukey_hsd(pair, blocked=True).table["adjusted_p"].iloc[0],
        repeated_anova(pair).p_value,
        atol=1e-8,
    )


def test_contrast_of_families():
    """Exercise 8: two variants of A against three of B."""
    values = np.random.default_rng(0).normal([1, 1, 0, 0, 0], size=(6, 5))
    weights = np.array([1 / 2, 1 / 2, -1 / 3, -1 / 3, -1 / 3])
    result = contrast(values, weights)
    within = ((values - values.mean(axis=0)) ** 2).sum() / 25
    estimate = weights @ values.mean(axis=0)
    assert_allclose(result.statistic, estimate / np.sqrt(within * (weights**2).sum() / 6))
    assert result.degrees_of_freedom == (25,)
    assert result.interval.estimate == pytest.approx(estimate)
    assert result.null == "the contrast equals 0"


def test_pairwise_contrast_is_the_lsd():
    result = contrast(TABLE, {NAMES[0]: 1, NAMES[3]: -1})
    assert_allclose(result.p_value, fisher_lsd(TABLE).table["p_value"].iloc[2])
