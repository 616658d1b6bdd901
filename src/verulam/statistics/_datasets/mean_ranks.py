"""Post-hoc tests over data sets: Nemenyi, tests against a control, signed ranks, cliques."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from verulam.base import unknown_name
from verulam.statistics._core.checks import checked_level, result_table, rounded
from verulam.statistics._core.distributions import NORMAL
from verulam.statistics._core.multiple_comparisons import Comparisons, adjust_p_values
from verulam.statistics._core.result import Alternative, capital
from verulam.statistics._core.tails import symmetric_p_values
from verulam.statistics._datasets.logical_relations import ADJUSTMENT_NAMES, adjust_pairs
from verulam.statistics._datasets.rank_tests import friedman_table, has_ties, row_ranks
from verulam.statistics._datasets.studentised_range import range_quantile, range_tail
from verulam.statistics._datasets.wilcoxon import signed_ranks, wilcoxon_p_values
from verulam.statistics._several.after_anova import tukey_hsd

POOL = "a pair's verdict depends on which other learners take part"
TIES = "the standard error is that of ranks without ties, which makes the test cautious"
TRANSITIVE = "takes for granted that learners which equal a third equal one another"


def average_ranks(table: ArrayLike | pd.DataFrame, *, greater_is_better: bool = False) -> pd.Series:
    """Return the mean rank of each learner over the data sets, best first.

    Parameters
    ----------
    table
        One row per data set, one column per learner.
    greater_is_better
        Direction of the results.

    Examples
    --------
    >>> from verulam.statistics import average_ranks
    >>> average_ranks([[0.3, 0.1], [0.4, 0.2], [0.2, 0.2]]).round(3).to_dict()
    {'learner 2': 1.167, 'learner 1': 1.833}
    """
    frame = result_table(table, minimum_rows=1)
    return pd.Series(row_ranks(frame, greater_is_better).mean(axis=0), frame.columns).sort_values(
        kind="stable"
    )


def rank_pairs(ranks: pd.Series) -> tuple[pd.DataFrame, NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of learners with the difference of their mean ranks."""
    first, second = np.array(list(combinations(range(len(ranks)), 2))).T
    values, names = ranks.to_numpy(), ranks.index.to_numpy()
    table = pd.DataFrame(
        {
            "first": names[first],
            "second": names[second],
            "difference": values[first] - values[second],
        }
    )
    return table, first, second


def rank_error(rows: int, columns: int) -> float:
    """Return the standard error of the difference of two mean ranks."""
    return float(np.sqrt(columns * (columns + 1) / (6 * rows)))


def rank_caveats(ranks: NDArray[np.float64]) -> tuple[str, ...]:
    """Return what a reader should be told of tests of mean ranks."""
    return (POOL, TIES) if has_ties(ranks) else (POOL,)


def nemenyi_test(
    table: ArrayLike | pd.DataFrame, *, greater_is_better: bool = False, alpha: float = 0.05
) -> Comparisons:
    r"""Compare all pairs of learners by their mean ranks.

    Parameters
    ----------
    table, greater_is_better, alpha
        As in `friedman_test`.

    Notes
    -----
    Mean ranks differ when they are at least :math:`q_\alpha \sqrt{L (L+1) / (6N)}` apart, with
    :math:`q_\alpha` the studentised range for infinite degrees of freedom over
    :math:`\sqrt 2` [demsar2006]_. The text's limit uses the spread of the ranks instead; it must
    be the standard error of a mean rank, as in `tukey_on_ranks`.

    References
    ----------
    .. [demsar2006] J. Demsar, "Statistical comparisons of classifiers over multiple data sets",
       Journal of Machine Learning Research 7, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import nemenyi_test
    >>> table = np.random.default_rng(0).normal(size=(20, 3)) + [0, 0, 1.5]
    >>> pairs = nemenyi_test(table)
    >>> round(pairs.critical_difference, 3), pairs.table["reject"].tolist()
    (0.741, [False, True, True])
    """
    frame, ranks = friedman_table(table, greater_is_better, alpha)
    means = pd.Series(ranks.mean(axis=0), frame.columns)
    rows, columns = frame.shape
    pairs, _, _ = rank_pairs(means)
    z = pairs["difference"].to_numpy() / rank_error(rows, columns)
    # The studentised range is in units of one mean's standard error, not of a difference's.
    q = np.abs(z) * np.sqrt(2)
    pairs["statistic"] = q
    pairs["p_value"] = symmetric_p_values(z, NORMAL, "two-sided")
    pairs["adjusted_p"] = range_tail(q, columns)
    pairs["reject"] = pairs["adjusted_p"] < alpha
    limit = range_quantile(alpha, columns) / np.sqrt(2)
    return Comparisons(
        "Nemenyi's test",
        pairs,
        alpha,
        "q",
        means,
        rank_caveats(ranks),
        float(limit * rank_error(rows, columns)),
        critical_value=float(limit * np.sqrt(2)),
    )


def mean_rank_test(
    table: ArrayLike | pd.DataFrame,
    *,
    adjust: str = "shaffer",
    greater_is_better: bool = False,
    alpha: float = 0.05,
) -> Comparisons:
    r"""Compare all pairs of learners by their mean ranks, adjusted for their number.

    Parameters
    ----------
    table
        One row per data set, one column per learner.
    adjust
        A method of `adjust_pairs`: ``"holm"``, ``"shaffer"`` or ``"bergmann-hommel"``, from the
        least to the most powerful, the last for up to ten learners.
    greater_is_better, alpha
        As in `friedman_test`.

    Notes
    -----
    :math:`z = (\bar R_i - \bar R_j) / \sqrt{L (L+1) / (6N)}`, two-sided by the normal distribution,
    then adjusted [garcia2008]_. There is no single critical difference: how far apart mean ranks
    must be depends on the other pairs.

    References
    ----------
    .. [garcia2008] S. Garcia and F. Herrera, "An extension on 'Statistical comparisons of
       classifiers over multiple data sets' for all pairwise comparisons", Journal of Machine
       Learning Research 9, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import mean_rank_test
    >>> table = np.random.default_rng(0).normal(size=(20, 3)) + [0, 0, 1.5]
    >>> print(mean_rank_test(table))
    Shaffer's procedure on mean ranks: 2 of 3 pairs differ at 0.05.
      learner 1 - learner 3: -1.25 (adjusted p 0.000118)
      learner 2 - learner 3: -1.3 (adjusted p 0.000118)
    """
    frame, ranks = friedman_table(table, greater_is_better, alpha)
    means = pd.Series(ranks.mean(axis=0), frame.columns)
    pairs, _, _ = rank_pairs(means)
    z = pairs["difference"].to_numpy() / rank_error(*frame.shape)
    raw = symmetric_p_values(z, NORMAL, "two-sided")
    adjusted = adjust_pairs(raw, adjust)
    pairs["statistic"], pairs["p_value"], pairs["adjusted_p"] = z, raw, adjusted
    pairs["reject"] = adjusted < alpha
    return Comparisons(
        f"{capital(ADJUSTMENT_NAMES[adjust])} on mean ranks",
        pairs,
        alpha,
        "z",
        means,
        rank_caveats(ranks),
        adjusted=adjust != "none",
    )


def control_test(
    table: ArrayLike | pd.DataFrame,
    control: Any,
    *,
    adjust: str = "holm",
    greater_is_better: bool = False,
    alpha: float = 0.05,
) -> Comparisons:
    """Compare every learner with one control by mean ranks.

    Parameters
    ----------
    table
        One row per data set, one column per learner.
    control
        Name of the column that the others are compared with.
    adjust
        ``"bonferroni"`` for the Bonferroni-Dunn test, which has a critical difference; ``"holm"``
        or ``"hochberg"`` for the step procedures, which are more powerful.
    greater_is_better, alpha
        As in `friedman_test`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import control_test
    >>> table = np.random.default_rng(0).normal(size=(20, 3)) + [0, 0, 1.5]
    >>> pairs = control_test(table, "learner 1", adjust="bonferroni")
    >>> round(pairs.critical_difference, 3), pairs.table["reject"].tolist()
    (0.709, [False, True])
    """
    frame, ranks = friedman_table(table, greater_is_better, alpha)
    means = pd.Series(ranks.mean(axis=0), frame.columns)
    if control not in means.index:
        raise unknown_name("learner", str(control), [str(name) for name in means.index])
    others = means.drop(control)
    error = rank_error(*frame.shape)
    z = ((means[control] - others) / error).to_numpy()
    raw = symmetric_p_values(z, NORMAL, "two-sided")
    adjusted = adjust_p_values(raw, adjust)
    pairs = pd.DataFrame(
        {
            "first": [control] * len(others),
            "second": others.index.to_numpy(),
            "difference": (means[control] - others).to_numpy(),
            "statistic": z,
            "p_value": raw,
            "adjusted_p": adjusted,
            "reject": adjusted < alpha,
        }
    )
    # Only Bonferroni has one critical difference for all; step-down procedures have one per step.
    limit = np.nan
    if adjust == "bonferroni":
        limit = float(NORMAL.isf(alpha / 2 / len(others)) * error)
    name = "Bonferroni-Dunn test" if adjust == "bonferroni" else f"Ranks against control ({adjust})"
    adjusted_at_all = adjust != "none"
    return Comparisons(name, pairs, alpha, "z", means, (), limit, adjusted=adjusted_at_all)


def wilcoxon_holm(
    table: ArrayLike | pd.DataFrame,
    *,
    adjust: str = "holm",
    greater_is_better: bool = False,
    alpha: float = 0.05,
) -> Comparisons:
    """Compare all pairs of learners by signed rank tests, adjusted for their number.

    Parameters
    ----------
    table
        One row per data set, one column per learner.
    adjust
        A method of `adjust_pairs`.
    greater_is_better
        Direction of the results, for the ranks.
    alpha
        Overall level of significance.

    Notes
    -----
    Unlike the Nemenyi test, a pair's statistic does not depend on the other learners, so that the
    pair may be decided against the order of the mean ranks. The column ``rank_biserial`` says for
    whom: it is negative where the signed ranks favour the first learner. ``"shaffer"`` and
    ``"bergmann-hommel"`` hold their level where learners that equal a third equal one another.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import wilcoxon_holm
    >>> table = np.random.default_rng(0).normal(size=(20, 3)) + [0, 0, 1.5]
    >>> wilcoxon_holm(table).table["reject"].tolist()
    [False, True, True]
    """
    checked_level(alpha)
    frame = result_table(table)
    means = pd.Series(row_ranks(frame, greater_is_better).mean(axis=0), frame.columns)
    pairs, first, second = rank_pairs(means)
    values = frame.to_numpy()
    largest = np.abs(values).max(axis=0)
    scale = np.maximum(largest[first], largest[second])
    differences = rounded(values[:, first] - values[:, second], scale)
    raw = wilcoxon_p_values(differences)
    adjusted = adjust_pairs(raw, adjust)
    pairs["statistic"] = np.median(differences, axis=0)
    pairs["p_value"], pairs["adjusted_p"], pairs["reject"] = raw, adjusted, adjusted < alpha
    pairs["rank_biserial"] = rank_biserial(-differences if greater_is_better else differences)
    return Comparisons(
        f"Wilcoxon's signed rank test with {ADJUSTMENT_NAMES[adjust]}",
        pairs,
        alpha,
        "median difference",
        means,
        (TRANSITIVE,) if adjust in ("shaffer", "bergmann-hommel") else (),
        adjusted=adjust != "none",
        direction="rank_biserial",
    )


def rank_biserial(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of positive less that of negative signed ranks in each column."""
    # Zeros get no rank, so that the effect lies between -1 and 1 whatever their number.
    ranks, _ = signed_ranks(differences, "wilcox")
    sums = ranks.sum(axis=0)
    balance = (np.sign(differences) * ranks).sum(axis=0)
    return np.divide(balance, sums, out=np.zeros_like(sums), where=sums > 0)


def tukey_on_ranks(
    table: ArrayLike | pd.DataFrame,
    *,
    within_data_sets: bool = True,
    alternative: Alternative = "two-sided",
    greater_is_better: bool = False,
    alpha: float = 0.05,
) -> Comparisons:
    """Compare all pairs by Tukey's test on ranks (Alpaydin 19.13.2).

    Parameters
    ----------
    table
        One row per data set, one column per learner.
    within_data_sets
        Rank within each data set, from 1 to the number of learners; otherwise rank all results
        together, as the Kruskal-Wallis test does.
    alternative
        Claim about the rank of the first of each pair: ``"less"`` claims that the columns are in
        order, the best learner first. The order must not come from the same results.
    greater_is_better
        Direction of the results.
    alpha
        Level of significance.

    Notes
    -----
    The text's limit lacks the division that makes the spread of the ranks a standard error of a
    mean rank; here it is the square root of the mean square over the number of data sets.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import tukey_on_ranks
    >>> table = np.random.default_rng(0).normal(size=(20, 3)) + [0, 0, 1.5]
    >>> tukey_on_ranks(table).table["reject"].tolist()
    [False, True, True]
    >>> tukey_on_ranks(table, alternative="greater").table["reject"].tolist()
    [False, False, False]
    """
    frame = result_table(table)
    if within_data_sets:
        ranks = row_ranks(frame, greater_is_better)
    else:
        values = rounded(frame.to_numpy(), np.abs(frame.to_numpy()).max())
        ranks = stats.rankdata(-values if greater_is_better else values).reshape(values.shape)
    ranked = pd.DataFrame(ranks, columns=frame.columns)
    return tukey_hsd(ranked, alternative=alternative, blocked=within_data_sets, alpha=alpha)


def cliques(pairs: Comparisons) -> list[list[Any]]:
    """Return the largest groups of neighbours in rank no two of which are told apart.

    Parameters
    ----------
    pairs
        All pairwise comparisons, such as those of `nemenyi_test`.

    Notes
    -----
    A group is a bar of the critical-difference diagram. It holds all learners from its best to its
    worst mean rank, and no pair of them is rejected. Where a rejected pair lies in between, as can
    happen with signed rank tests, which need not follow the mean ranks, the group ends before it:
    a bar never passes over a rejected pair. So learners without a common bar need not differ; the
    table of pairs says. Learners with equal mean ranks are in the same groups, because a bar that
    reaches one reaches the other.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import cliques, nemenyi_test
    >>> table = np.random.default_rng(0).normal(size=(20, 3)) + [0, 0, 1.5]
    >>> cliques(nemenyi_test(table))
    [['learner 2', 'learner 1']]
    """
    ordered = pairs.means.sort_values(kind="stable")
    names = ordered.index
    differ = (pairs.p_matrix().loc[names, names] < pairs.alpha).to_numpy()
    # Sums of the same ranks in another order can differ in their last digit.
    steps = np.flatnonzero(np.diff(ordered.to_numpy(dtype=float)) > 1e-9) + 1
    bounds = [0, *steps.tolist(), len(names)]
    groups: list[list[Any]] = []
    reached = 0
    for start in bounds[:-1]:
        ends = [end for end in bounds if end > start and not differ[start:end, start:end].any()]
        # A group inside the one before it says nothing new.
        if ends and ends[-1] - start > 1 and ends[-1] > reached:
            reached = ends[-1]
            groups.append(list(names[start:reached]))
    return groups
