"""Which learners differ over many data sets: average ranks, critical differences, cliques."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from verulam.base import unknown_name
from verulam.statistics._adjust import adjust_p_values
from verulam.statistics._checks import checked_level, checked_option, result_table
from verulam.statistics._comparisons import Comparisons, tukey_hsd
from verulam.statistics._datasets import (
    friedman_table,
    friedman_test,
    iman_davenport_test,
    row_ranks,
)
from verulam.statistics._distributions import NORMAL
from verulam.statistics._result import TestResult
from verulam.statistics._tails import symmetric_p_values
from verulam.statistics._wilcoxon import wilcoxon_p_values

POST_HOC = ("nemenyi", "wilcoxon-holm")


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
    return Comparisons(name, pairs, alpha, "z", means, (), limit)


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
    differences = np.round(values[:, first] - values[:, second], 12)
    raw = wilcoxon_p_values(differences)
    adjusted = adjust_p_values(raw, adjust)
    pairs["statistic"] = np.median(differences, axis=0)
    pairs["p_value"], pairs["adjusted_p"], pairs["reject"] = raw, adjusted, adjusted < alpha
    return Comparisons(f"Pairwise Wilcoxon ({adjust})", pairs, alpha, "median difference", means)


def tukey_on_ranks(
    table: ArrayLike | pd.DataFrame,
    *,
    within_data_sets: bool = True,
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
    """
    frame = result_table(table)
    if within_data_sets:
        ranks = row_ranks(frame, greater_is_better)
    else:
        values = np.round(frame.to_numpy(), 12)
        ranks = stats.rankdata(-values if greater_is_better else values).reshape(values.shape)
    ranked = pd.DataFrame(ranks, columns=frame.columns)
    return tukey_hsd(ranked, blocked=within_data_sets, alpha=alpha)


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


@dataclass(frozen=True, eq=False)
class ManyComparison:
    """Everything that is said about several learners over several data sets.

    Parameters
    ----------
    friedman, iman_davenport
        The overall tests.
    ranks
        Mean ranks, best first.
    nemenyi, wilcoxon
        All pairs, by ranks and by signed ranks.
    post_hoc
        Which of the two the conclusion rests on.
    cliques
        Groups that do not differ, by `post_hoc`.
    """

    friedman: TestResult
    iman_davenport: TestResult
    ranks: pd.Series
    nemenyi: Comparisons
    wilcoxon: Comparisons
    post_hoc: str
    cliques: list[list[Any]]

    @property
    def pairs(self) -> Comparisons:
        """The comparisons that the conclusion rests on."""
        return self.nemenyi if self.post_hoc == "nemenyi" else self.wilcoxon

    def conclusion(self) -> str:
        """Return what may be said, in words."""
        best = self.ranks.index[0]
        if not self.iman_davenport.reject:
            return (
                "Fail to reject that all learners are equally good: choose the simplest. "
                f"({best} has the best mean rank, {self.ranks.iloc[0]:.2f}.)"
            )
        if not self.pairs.table["reject"].any():
            return (
                "The learners differ, but no pair can be named: more data sets are needed. "
                f"({best} has the best mean rank, {self.ranks.iloc[0]:.2f}.)"
            )
        top = next((group for group in self.cliques if best in group), [best])
        equal = [str(name) for name in top if name != best]
        if not equal:
            return f"{best} is the best learner, and differs from every other."
        return (
            f"{best} has the best mean rank, {self.ranks.iloc[0]:.2f}, but does not differ from "
            f"{', '.join(equal)}: choose the simplest of these."
        )

    def __str__(self) -> str:
        return f"{self.iman_davenport.headline()}. {self.conclusion()}"


def compare_many(
    table: ArrayLike | pd.DataFrame,
    *,
    greater_is_better: bool = False,
    post_hoc: str = "nemenyi",
    alpha: float = 0.05,
) -> ManyComparison:
    """Compare several learners over several data sets: overall, in pairs, and in groups.

    Parameters
    ----------
    table
        One row per data set, one column per learner.
    greater_is_better
        Direction of the results.
    post_hoc
        ``"nemenyi"`` or ``"wilcoxon-holm"``: the pairwise tests that the groups rest on.
    alpha
        Level of significance.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import compare_many
    >>> table = np.random.default_rng(0).normal(size=(20, 3)) + [0, 0, 1.5]
    >>> print(compare_many(table))
    F(2, 38) = 22.53, p < 0.0001. learner 2 has the best mean rank, 1.55, but does not differ
    from learner 1: choose the simplest of these.
    """
    checked_option(post_hoc, "post_hoc", POST_HOC)
    friedman = friedman_test(table, greater_is_better=greater_is_better, alpha=alpha)
    improved = iman_davenport_test(table, greater_is_better=greater_is_better, alpha=alpha)
    nemenyi = nemenyi_test(table, greater_is_better=greater_is_better, alpha=alpha)
    wilcoxon = wilcoxon_holm(table, greater_is_better=greater_is_better, alpha=alpha)
    pairs = nemenyi if post_hoc == "nemenyi" else wilcoxon
    return ManyComparison(
        friedman,
        improved,
        pairs.means.sort_values(kind="stable"),
        nemenyi,
        wilcoxon,
        post_hoc,
        cliques(pairs),
    )
