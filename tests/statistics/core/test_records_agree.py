"""Statistic, p-value, critical value and interval of a record say the same at any level."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics import (
    calibrated_t_test,
    contrast,
    corrected_t_test,
    cv_t_test,
    fisher_lsd,
    five_by_two_f_test,
    five_by_two_t_test,
    friedman_test,
    hotelling_test,
    iman_davenport_test,
    kruskal_wallis,
    mcnemar,
    one_way_anova,
    repeated_anova,
    runs_t_test,
    scheffe,
    sign_test,
    t_test,
    tukey_hsd,
    tukey_on_ranks,
    wilcoxon_test,
    z_test,
)

TAILS = ("two-sided", "less", "greater")
LEVELS = (0.01, 0.05, 0.3)


def of_one(test, **options):
    """Return a test of the differences of two columns against zero."""
    return lambda table, **settings: test(table[:, 0] - table[:, 1], 0.0, **options, **settings)


def of_two(test, **options):
    return lambda table, **settings: test(table[:, 0], table[:, 1], **options, **settings)


def in_order_of_means(table, **settings):
    return contrast(table, [1.0, -1.0, 0.0, 0.0], **settings)


SYMMETRIC = {
    "t": of_one(t_test),
    "z": of_one(z_test, sigma=1.5),
    "runs t": of_one(runs_t_test),
    "cv t": of_two(cv_t_test),
    "corrected t": of_two(corrected_t_test, test_share=0.1),
    "calibrated t": of_two(calibrated_t_test, test_share=0.1),
    "5x2 t": of_two(five_by_two_t_test),
    "contrast": in_order_of_means,
    "blocked contrast": partial(in_order_of_means, blocked=True),
}

UPPER = {
    "5x2 F": of_two(five_by_two_f_test),
    "Hotelling": lambda table, **settings: hotelling_test(table[:, :2], table[:, 2:], **settings),
    "McNemar": lambda table, **settings: mcnemar(
        int(20 + 5 * table[0, 0]), int(20 - 5 * table[0, 1]), **settings
    ),
    "anova": one_way_anova,
    "repeated anova": repeated_anova,
    "Kruskal-Wallis": kruskal_wallis,
    "Friedman": friedman_test,
    "Iman-Davenport": iman_davenport_test,
}


def tables():
    """Return tables of ten rows and four columns that differ by nothing up to much."""
    random = np.random.default_rng(0)
    steps = np.linspace(-1.5, 1.5, 12)
    shifts = np.outer(steps, [1.0, 0.0, 0.5, 0.0])
    return [random.normal(shift, size=(10, 4)) for shift in shifts]


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_tests(name, tail):
    """The critical value and the interval decide as the p-value does."""
    decisions = set()
    for table in tables():
        for alpha in LEVELS:
            result = SYMMETRIC[name](table, alternative=tail, alpha=alpha)
            beyond = {
                "two-sided": abs(result.statistic) > result.critical_value,
                "less": result.statistic < result.critical_value,
                "greater": result.statistic > result.critical_value,
            }
            assert result.reject == beyond[tail]
            assert result.reject == (result.p_value < alpha)
            if result.interval is not None:
                assert result.interval.confidence == pytest.approx(1 - alpha)
                assert result.reject == (0.0 not in result.interval)
                assert np.isinf(result.interval.low) == (tail == "less")
                assert np.isinf(result.interval.high) == (tail == "greater")
            decisions.add(result.reject)
    assert decisions == {True, False}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_the_other_way_round(name):
    """With the columns swapped, less is greater and the difference has the other sign."""
    for table in tables():
        other = table[:, [1, 0, 2, 3]]
        less = SYMMETRIC[name](table, alternative="less")
        greater = SYMMETRIC[name](other, alternative="greater")
        assert_allclose(less.p_value, greater.p_value)
        assert_allclose(less.statistic, -greater.statistic)
        assert_allclose(less.critical_value, -greater.critical_value)
        two = SYMMETRIC[name](table, alternative="two-sided")
        assert_allclose(two.p_value, 2 * min(less.p_value, 1 - less.p_value))
        if less.interval is not None:
            assert_allclose(less.interval.high, -greater.interval.low)
            assert_allclose(less.interval.estimate, -greater.interval.estimate)
        if less.effect_size is not None:
            assert_allclose(less.effect_size.value, -greater.effect_size.value)


@pytest.mark.parametrize("name", UPPER)
def test_tests_of_large_values(name):
    decisions = set()
    for table in tables():
        for alpha in LEVELS:
            result = UPPER[name](table, alpha=alpha)
            assert result.reject == (result.statistic > result.critical_value)
            assert result.reject == (result.p_value < alpha)
            decisions.add(result.reject)
    assert decisions == {True, False}


@pytest.mark.parametrize(
    ("test", "tails"),
    [(fisher_lsd, TAILS), (tukey_hsd, TAILS), (tukey_on_ranks, TAILS), (scheffe, ("two-sided",))],
)
def test_pairs(test, tails):
    """Each pair is rejected by its adjusted p-value, its statistic and its interval alike."""
    for table in tables()[::3]:
        for tail in tails:
            options = {} if tail == "two-sided" else {"alternative": tail}
            pairs = test(table, **options)
            rejected = pairs.table["adjusted_p"] < pairs.alpha
            assert (pairs.table["reject"] == rejected).all()
            beyond = {
                "two-sided": pairs.table["statistic"].abs() > pairs.critical_value,
                "less": pairs.table["statistic"] < pairs.critical_value,
                "greater": pairs.table["statistic"] > pairs.critical_value,
            }
            assert (beyond[tail] == rejected).all()
            if "low" in pairs.table:
                outside = (pairs.table["low"] > 0) | (pairs.table["high"] < 0)
                assert (outside == rejected).all()


@pytest.mark.parametrize("test", [fisher_lsd, tukey_hsd])
def test_record_of_one_pair(test):
    """One row of the table as a record, in either order."""
    pairs = test(tables()[0])
    first, second = pairs.table.loc[0, ["first", "second"]]
    row, back = pairs.result(first, second), pairs.result(second, first)
    assert row.p_value == back.p_value == pairs.table.loc[0, "adjusted_p"]
    assert row.statistic == pairs.table.loc[0, "statistic"]
    # Tukey's q is a range, which has no sign.
    assert abs(back.statistic) == abs(row.statistic)
    assert row.effect_size.value == -back.effect_size.value == pairs.table.loc[0, "difference"]
    assert row.interval is None or row.interval.low == -back.interval.high


TABLE = tables()[2]
GAINS = TABLE[:, 0] - TABLE[:, 1]
EFFECTS = {
    "z": (SYMMETRIC["z"], GAINS.mean() / 1.5),
    "t": (SYMMETRIC["t"], GAINS.mean() / GAINS.std(ddof=1)),
    "runs t": (SYMMETRIC["runs t"], GAINS.mean() / GAINS.std(ddof=1)),
    "cv t": (SYMMETRIC["cv t"], GAINS.mean() / GAINS.std(ddof=1)),
    "corrected t": (SYMMETRIC["corrected t"], GAINS.mean() / GAINS.std(ddof=1)),
    "5x2 t": (SYMMETRIC["5x2 t"], GAINS.mean()),
    "5x2 F": (UPPER["5x2 F"], GAINS.mean()),
    "McNemar": (lambda table: mcnemar(15, 6), 15 / 6),
    "sign": (of_two(sign_test), np.mean(GAINS < 0)),
    "Wilcoxon": (of_two(wilcoxon_test), np.sign(GAINS) @ stats.rankdata(abs(GAINS)) / 55),
    "Kruskal-Wallis": (kruskal_wallis, stats.kruskal(*TABLE.T).statistic / 39),
    "Friedman": (friedman_test, stats.friedmanchisquare(*TABLE.T).statistic / (10 * 3)),
    "Iman-Davenport": (iman_davenport_test, stats.friedmanchisquare(*TABLE.T).statistic / 30),
    "Hotelling": (
        UPPER["Hotelling"],
        np.sqrt(
            (gaps := TABLE[:, :2] - TABLE[:, 2:]).mean(axis=0)
            @ np.linalg.solve(np.cov(gaps.T), gaps.mean(axis=0))
        ),
    ),
    "anova": (one_way_anova, 40 * TABLE.mean(axis=0).var() / (40 * TABLE.var())),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_effect_sizes_by_their_formulas(name):
    test, expected = EFFECTS[name]
    assert_allclose(test(TABLE).effect_size.value, expected)
