"""Which learners differ over many data sets: average ranks, critical differences, cliques."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from verulam.base import unknown_name
from verulam.statistics._adjust import adjust_p_values
from verulam.statistics._checks import checked_level, result_table, rounded
from verulam.statistics._comparisons import tukey_hsd
from verulam.statistics._datasets import (
    friedman_table,
    row_ranks,
)
from verulam.statistics._distributions import NORMAL
from verulam.statistics._pairwise import Comparisons
from verulam.statistics._result import Alternative
from verulam.statistics._tails import symmetric_p_values
from verulam.statistics._wilcoxon import wilcoxon_p_values


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
    >>> found = nemenyi_test(table)
    >>> round(found.critical_difference, 3), found.table["reject"].tolist()
    (0.741, [False, True, True])
    """
    frame, ranks = friedman_table(table, greater_is_better, alpha)
    means = pd.Series(ranks.mean(axis=0), frame.columns)
    rows, columns = frame.shape
    pairs, _, _ = rank_pairs(means)
    z = pairs["difference"].to_numpy() / rank_error(rows, columns)
    q = np.abs(z) * np.sqrt(2)
    pairs["statistic"] = q
    pairs["p_value"] = symmetric_p_values(z, NORMAL, "two-sided")
    pairs["adjusted_p"] = stats.studentized_range.sf(q, columns, np.inf)
    pairs["reject"] = pairs["adjusted_p"] < alpha
    limit = float(stats.studentized_range.isf(alpha, columns, np.inf)) / np.sqrt(2)
    return Comparisons(
        "Nemenyi test",
        pairs,
        alpha,
        "q",
        means,
        ("a pair's verdict depends on which other learners take part",),
        float(limit * rank_error(rows, columns)),
        critical_value=float(limit * np.sqrt(2)),
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
    >>> found = control_test(table, "learner 1", adjust="bonferroni")
    >>> round(found.critical_difference, 3), found.table["reject"].tolist()
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
        A method of `adjust_p_values`.
    greater_is_better
        Direction of the results, for the ranks.
    alpha
        Overall level of significance.

    Notes
    -----
    Unlike the Nemenyi test, a pair's statistic does not depend on the other learners.

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
    adjusted = adjust_p_values(raw, adjust)
    pairs["statistic"] = np.median(differences, axis=0)
    pairs["p_value"], pairs["adjusted_p"], pairs["reject"] = raw, adjusted, adjusted < alpha
    return Comparisons(
        f"Pairwise Wilcoxon ({adjust})",
        pairs,
        alpha,
        "median difference",
        means,
        adjusted=adjust != "none",
    )


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


def cliques(found: Comparisons) -> list[list[Any]]:
    """Return the largest groups of neighbours in rank that do not differ from one another.

    Parameters
    ----------
    found
        All pairwise comparisons, such as those of `nemenyi_test`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import cliques, nemenyi_test
    >>> table = np.random.default_rng(0).normal(size=(20, 3)) + [0, 0, 1.5]
    >>> cliques(nemenyi_test(table))
    [['learner 2', 'learner 1']]
    """
    ordered = found.means.sort_values(kind="stable").index
    differ = (found.p_matrix().loc[ordered, ordered] < found.alpha).to_numpy()
    groups: list[list[Any]] = []
    reached = 0
    for start in range(len(ordered)):
        end = start + 1
        while end < len(ordered) and not differ[start : end + 1, end].any():
            end += 1
        # A group inside the one before it says nothing new.
        if end - start > 1 and end > reached:
            groups.append(list(ordered[start:end]))
            reached = end
    return groups
