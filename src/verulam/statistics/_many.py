"""Several learners over several data sets: the whole comparison, with a conclusion in words."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike

from verulam.statistics._checks import checked_option
from verulam.statistics._datasets import friedman_test, iman_davenport_test
from verulam.statistics._pairwise import Comparisons
from verulam.statistics._ranks import cliques, nemenyi_test, wilcoxon_holm
from verulam.statistics._result import TestResult

POST_HOC = ("nemenyi", "wilcoxon-holm")


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
    def overall(self) -> TestResult:
        """The overall test that decides: Iman and Davenport's, the better approximation."""
        return self.iman_davenport

    @property
    def pairs(self) -> Comparisons:
        """The comparisons that the conclusion rests on."""
        return self.nemenyi if self.post_hoc == "nemenyi" else self.wilcoxon

    def conclusion(self) -> str:
        """Return what may be said, in words."""
        best = self.ranks.index[0]
        if not self.overall.reject:
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
        return f"{self.overall.headline()}. {self.conclusion()}"


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
