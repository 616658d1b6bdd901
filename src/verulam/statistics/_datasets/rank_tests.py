"""Sign test, Kruskal-Wallis test, Friedman and Iman-Davenport tests of learners by ranks."""

from math import factorial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from verulam.base import DataError
from verulam.statistics._core.checks import (
    Vector,
    checked_alternative,
    checked_level,
    checked_option,
    named_groups,
    pair,
    result_table,
    rounded,
    sample,
)
from verulam.statistics._core.distributions import NORMAL, ChiSquare, Fisher
from verulam.statistics._core.hypotheses import SWAPPED, Hypotheses, paired_hypotheses
from verulam.statistics._core.result import Alternative, Assumption, EffectSize, TestResult
from verulam.statistics._core.tails import symmetric_tail, upper_tail
from verulam.statistics._datasets.wilcoxon import few_pairs
from verulam.statistics._two.mcnemar import exact_critical

INDEPENDENT_DATA_SETS = Assumption("data sets are independent")
#: What the name of a test of ranks ends with where there were ties.
TIES_CORRECTED = " (corrected for ties)"
EQUAL_LEARNERS: Hypotheses = {
    "null": "all learners are equally good",
    "alternative": "at least two learners differ",
}


def sign_test(
    first: ArrayLike,
    second: ArrayLike | float,
    *,
    method: str = "exact",
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> TestResult:
    """Compare two learners over several data sets by counting wins.

    Parameters
    ----------
    first
        Result of the first learner on each data set.
    second
        Result of the second learner, or one number that the first is compared with.
    method
        ``"exact"`` by the binomial, ``"normal"`` by its approximation (exercise 6).
    alternative
        Claim about the first learner's values. The first wins where its value is smaller, so
        many wins support ``"less"``.
    alpha
        Level of significance.

    Notes
    -----
    Ties are split between both sides, an odd one is dropped (Alpaydin 19.13.1). The printed text
    exchanges the one-sided tails: wins of the first learner speak for a smaller error of it, so
    the claim "less" uses P{X >= wins}; exercise 6 likewise. Of so few data sets that no result can
    reject, the exact p-value is given all the same, and a caveat says so.

    Examples
    --------
    >>> from verulam.statistics import sign_test
    >>> first = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12]
    >>> second = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    >>> round(sign_test(first, second, alternative="less").p_value, 4)
    0.0107
    """
    checked_alternative(alternative)
    checked_level(alpha)
    checked_option(method, "method", ("exact", "normal"))
    one = sample(first, "first", 1, "data sets")
    constant = not isinstance(second, list | tuple) and np.ndim(second) == 0
    one, other = pair(one, np.full(len(one), second) if constant else second, 1, "data sets")
    differences = rounded(one - other, np.maximum(np.abs(one), np.abs(other)))
    wins, losses = int(np.sum(differences < 0)), int(np.sum(differences > 0))
    ties = len(one) - wins - losses
    if wins + losses == 0:
        raise DataError("All ties: the results are equal on every data set.")
    # Ties are shared between the learners; of an odd number one is dropped (Demsar 2006).
    total, count = len(one) - ties % 2, wins + ties // 2
    caveats = few_pairs(total, alternative, alpha)
    if caveats:
        # An approximation may reject where no result can.
        method = "exact"
    # Wins count up when values are small, so the tails change places.
    swapped = SWAPPED[alternative]
    if method == "exact":
        statistic, symbol = float(count), "wins"
        p_value = float(stats.binomtest(count, total, 0.5, swapped).pvalue)
        critical = exact_critical(total, swapped, alpha)
    else:
        statistic, symbol = (count - total / 2) / np.sqrt(total / 4), "z"
        tail = symmetric_tail(statistic, NORMAL, swapped, alpha)
        p_value, critical = tail.p_value, tail.critical_value
    return TestResult(
        name="Sign test" + (" (normal approximation)" if method == "normal" else ""),
        **paired_hypotheses("median", alternative),
        statistic=statistic,
        statistic_name=symbol,
        p_value=p_value,
        alpha=alpha,
        critical_value=critical,
        tail=alternative,
        effect_size=EffectSize("share of wins", count / total),
        assumptions=(INDEPENDENT_DATA_SETS,),
        caveats=(*caveats, f"{ties} ties, split between both") if ties else caveats,
        details={"wins": wins, "losses": losses, "ties": ties},
        source="Alpaydin 19.13.1, exercise 6",
    )


def kruskal_wallis(groups: Any, *, alpha: float = 0.05) -> TestResult:
    r"""Test by ranks of all results together whether several learners are equally good.

    Parameters
    ----------
    groups
        As in `one_way_anova`.
    alpha
        Level of significance.

    Notes
    -----
    :math:`H = \frac{12}{(M+1) L} \sum_i (\bar R_i - \frac{M+1}{2})^2` for M results without ties,
    chi-square with L - 1 degrees of freedom; ties are corrected for (Alpaydin 19.13.2). It does
    not know that results belong to the same data set: `friedman_test` does.

    Examples
    --------
    >>> from verulam.statistics import kruskal_wallis
    >>> groups = {"a": [1, 2, 3, 5], "b": [4, 6, 7, 9], "c": [8, 10, 11, 12]}
    >>> print(kruskal_wallis(groups).headline())
    chi2(2) = 8.654, p = 0.0132
    """
    checked_level(alpha)
    sets = list(named_groups(groups, 2).values())
    everything = np.concatenate(sets)
    if np.ptp(everything) == 0:
        raise DataError("All ties: every result is equal.")
    statistic = float(stats.kruskal(*sets).statistic)
    freedom = len(sets) - 1
    tail = upper_tail(statistic, ChiSquare(freedom), alpha)
    return TestResult(
        name="Kruskal-Wallis test",
        **EQUAL_LEARNERS,
        statistic=statistic,
        statistic_name="chi2",
        p_value=tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value,
        degrees_of_freedom=(freedom,),
        tail="greater",
        effect_size=EffectSize("epsilon squared", statistic / (len(everything) - 1)),
        assumptions=(Assumption("all results are independent, also on one data set"),),
        caveats=("ignores which results belong to the same data set; Friedman's test uses it",),
        source="Alpaydin 19.13.2",
    )


def row_ranks(table: pd.DataFrame, greater_is_better: bool = False) -> Vector:
    """Return the rank of each learner on each data set, 1 for the best, ties averaged."""
    values = table.to_numpy()
    values = rounded(values, np.abs(values).max(axis=1, keepdims=True))
    return stats.rankdata(-values if greater_is_better else values, axis=1)


def has_ties(ranks: Vector) -> bool:
    """Return whether any two learners share a rank on a data set."""
    return bool((np.diff(np.sort(ranks, axis=1), axis=1) == 0).any())


def friedman_statistics(ranks: Vector) -> Vector:
    """Return Friedman's statistic, corrected for ties, of ranks in the last two axes."""
    rows, columns = ranks.shape[-2:]
    centre = (columns + 1) / 2
    between = rows**2 * ((ranks.mean(axis=-2) - centre) ** 2).sum(axis=-1)
    # Without ties this sum is a constant, and the statistic is the one in textbooks; with ties it
    # corrects for them.
    within = ((ranks - centre) ** 2).sum(axis=(-2, -1))
    return (columns - 1) * between / within


def friedman_table(
    table: ArrayLike | pd.DataFrame, greater_is_better: bool, alpha: float
) -> tuple[pd.DataFrame, Vector]:
    """Check a table for Friedman's test and return it with its ranks."""
    checked_level(alpha)
    frame = result_table(table)
    rows, columns = frame.shape
    # The statistic is at most rows times (columns - 1): with fewer rows even perfect agreement does
    # not reach the critical value.
    fewest = int(np.floor(ChiSquare(columns - 1).isf(alpha) / (columns - 1))) + 1
    if rows < fewest:
        raise DataError(
            f"table has {rows} data sets: Friedman's test needs at least {fewest} to reject with "
            f"{columns} learners at alpha {alpha:g}."
        )
    ranks = row_ranks(frame, greater_is_better)
    if np.ptp(ranks) == 0:
        raise DataError("All ties: on every data set the learners are equal.")
    return frame, ranks


def friedman_test(
    table: ArrayLike | pd.DataFrame, *, greater_is_better: bool = False, alpha: float = 0.05
) -> TestResult:
    r"""Test by ranks within data sets whether several learners are equally good.

    Parameters
    ----------
    table
        One row per data set, one column per learner.
    greater_is_better
        Direction of the results: rank 1 is the best.
    alpha
        Level of significance.

    Notes
    -----
    :math:`\chi^2_F = \frac{12 N}{L (L+1)} \sum_i (\bar R_i - \frac{L+1}{2})^2` without ties; with
    them the factor is :math:`N^2 (L-1)` over the sum of squares of all ranks about their mean, and
    the name of the result says "corrected for ties". The companion of the Kruskal-Wallis test that
    respects blocks (Alpaydin 19.13.2, after Demsar).

    Examples
    --------
    >>> from verulam.statistics import friedman_test
    >>> table = [[0.1, 0.2, 0.3], [0.2, 0.3, 0.3], [0.1, 0.3, 0.4], [0.2, 0.1, 0.5]]
    >>> result = friedman_test(table)
    >>> print(f"{result.name}: {result.headline()}")
    Friedman's test (corrected for ties): chi2(2) = 5.733, p = 0.0569
    """
    frame, ranks = friedman_table(table, greater_is_better, alpha)
    rows, columns = frame.shape
    statistic = float(friedman_statistics(ranks))
    tail = upper_tail(statistic, ChiSquare(columns - 1), alpha)
    return TestResult(
        name="Friedman's test" + (TIES_CORRECTED if has_ties(ranks) else ""),
        **EQUAL_LEARNERS,
        statistic=statistic,
        statistic_name="chi2",
        p_value=tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value,
        degrees_of_freedom=(columns - 1,),
        tail="greater",
        effect_size=EffectSize("Kendall's W", statistic / (rows * (columns - 1))),
        assumptions=(INDEPENDENT_DATA_SETS,),
        caveats=("chi-square is a rough approximation for few data sets: see Iman and Davenport",),
        details={"average_ranks": pd.Series(ranks.mean(axis=0), frame.columns)},
        source="Alpaydin 19.13.2",
    )


def iman_davenport_statistics(chi_square: Vector, rows: int, columns: int) -> Vector:
    """Return the F statistic of Friedman's chi-square, infinite for perfect agreement."""
    left = np.maximum(rows * (columns - 1) - chi_square, 0.0)
    perfect = np.full_like(left, np.inf)
    return np.divide((rows - 1) * chi_square, left, out=perfect, where=left > 1e-9)


def agreement_chance(ranks: Vector, rows: int) -> float:
    """Return how often chance gives all data sets the same order: where F has no bound."""
    orders = factorial(len(ranks))
    # Tied ranks make some orders the same: a multinomial coefficient.
    for count in np.unique(ranks, return_counts=True)[1]:
        orders //= factorial(int(count))
    return float(orders) ** -(rows - 1)


def iman_davenport_test(
    table: ArrayLike | pd.DataFrame, *, greater_is_better: bool = False, alpha: float = 0.05
) -> TestResult:
    r"""Test as Friedman's test does, with a better approximation.

    Parameters
    ----------
    table, greater_is_better, alpha
        As in `friedman_test`.

    Notes
    -----
    :math:`F = (N-1) \chi^2_F / (N (L-1) - \chi^2_F)` with L - 1 and (L - 1)(N - 1) degrees of
    freedom, where the chi-square is corrected for ties as in `friedman_test`: it is the F of the
    analysis of variance of the ranks. When all data sets agree, F is infinite; the p-value is then
    the chance of that.

    Examples
    --------
    >>> from verulam.statistics import iman_davenport_test
    >>> table = [[0.1, 0.2, 0.3], [0.2, 0.3, 0.3], [0.1, 0.3, 0.4], [0.2, 0.1, 0.5]]
    >>> print(iman_davenport_test(table).headline())
    F(2, 6) = 7.588, p = 0.0227
    """
    frame, ranks = friedman_table(table, greater_is_better, alpha)
    rows, columns = frame.shape
    chi_square = friedman_statistics(ranks)
    statistic = float(iman_davenport_statistics(np.atleast_1d(chi_square), rows, columns)[0])
    freedom = (columns - 1, (columns - 1) * (rows - 1))
    tail = upper_tail(statistic, Fisher(*freedom), alpha)
    agreed = np.isinf(statistic)
    return TestResult(
        name="Iman-Davenport test" + (TIES_CORRECTED if has_ties(ranks) else ""),
        **EQUAL_LEARNERS,
        statistic=statistic,
        statistic_name="F",
        p_value=agreement_chance(ranks[0], rows) if agreed else tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value,
        degrees_of_freedom=freedom,
        tail="greater",
        effect_size=EffectSize("Kendall's W", float(chi_square) / (rows * (columns - 1))),
        assumptions=(INDEPENDENT_DATA_SETS,),
        caveats=("all data sets agree: the p-value is the chance of that",) if agreed else (),
        details={"average_ranks": pd.Series(ranks.mean(axis=0), frame.columns)},
        source="companion of Alpaydin 19.13.2",
    )
