"""McNemar's test, and the overlap of two classifiers' errors on the same instances."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from verulam.base import DataError
from verulam.statistics._core.checks import (
    Vector,
    checked_alternative,
    checked_count,
    checked_level,
    checked_option,
    label_column,
)
from verulam.statistics._core.distributions import NORMAL, ChiSquare
from verulam.statistics._core.hypotheses import paired_hypotheses
from verulam.statistics._core.result import Alternative, Assumption, EffectSize, TestResult
from verulam.statistics._core.tails import symmetric_tail

# With fewer disagreements the chi-square is a poor approximation; 25 is the usual bound.
SMALLEST_DISAGREEMENT = 25
MCNEMAR_METHODS = ("chi-square", "exact")


@dataclass(frozen=True)
class ErrorOverlap:
    """On how many instances two classifiers err, together and alone.

    Parameters
    ----------
    both_wrong, only_first_wrong, only_second_wrong, both_right
        Counts: e00, e01, e10 and e11 of the text, where 0 stands for wrong.

    Notes
    -----
    Equal error rates need not mean the same errors (Alpaydin 19.11.1, 19.15): the larger the
    disagreement, the more an ensemble can gain.

    Examples
    --------
    >>> from verulam.statistics import error_overlap
    >>> overlap = error_overlap([1, 1, 0, 0, 1], [1, 0, 1, 0, 1], [1, 0, 0, 1, 1])
    >>> overlap.to_frame()
                  second wrong  second right
    first wrong              1             1
    first right              1             2
    >>> overlap.disagreement
    0.4
    """

    both_wrong: int
    only_first_wrong: int
    only_second_wrong: int
    both_right: int

    @property
    def total(self) -> int:
        """Number of instances."""
        return self.both_wrong + self.only_first_wrong + self.only_second_wrong + self.both_right

    @property
    def disagreement(self) -> float:
        """Share of the instances on which exactly one errs."""
        return (self.only_first_wrong + self.only_second_wrong) / self.total

    def to_frame(self) -> pd.DataFrame:
        """Return the contingency table."""
        return pd.DataFrame(
            [[self.both_wrong, self.only_first_wrong], [self.only_second_wrong, self.both_right]],
            index=["first wrong", "first right"],
            columns=["second wrong", "second right"],
        )

    def mcnemar(self, **options: Any) -> TestResult:
        """Test whether the error rates are equal; options as in `mcnemar`."""
        return mcnemar(self.only_first_wrong, self.only_second_wrong, **options)


def error_overlap(y_true: ArrayLike, first: ArrayLike, second: ArrayLike) -> ErrorOverlap:
    """Count where two classifiers err.

    Parameters
    ----------
    y_true
        True labels.
    first, second
        Labels predicted by either classifier for the same instances.
    """
    named = {"y_true": y_true, "first": first, "second": second}
    true, one, other = (label_column(values, name) for name, values in named.items())
    if not true.shape == one.shape == other.shape or true.ndim != 1 or true.size == 0:
        raise DataError(
            f"y_true, first and second have shapes {true.shape}, {one.shape} and {other.shape}: "
            "they must be columns of equal length."
        )
    wrong, other_wrong = one != true, other != true
    return ErrorOverlap(
        int(np.sum(wrong & other_wrong)),
        int(np.sum(wrong & ~other_wrong)),
        int(np.sum(~wrong & other_wrong)),
        int(np.sum(~wrong & ~other_wrong)),
    )


def mcnemar_z(only_first: ArrayLike, only_second: ArrayLike, correction: bool = True) -> Vector:
    """Return the signed root of McNemar's statistic, zero where there is no disagreement."""
    one, other = np.asarray(only_first, np.float64), np.asarray(only_second, np.float64)
    gap = one - other
    # Edwards' correction: counts are whole numbers, the chi-square is continuous.
    size = np.maximum(np.abs(gap) - 1.0, 0.0) if correction else np.abs(gap)
    return np.sign(gap) * size / np.sqrt(np.maximum(one + other, 1.0))


def mcnemar(
    only_first_wrong: int,
    only_second_wrong: int,
    *,
    method: str = "chi-square",
    correction: bool = True,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> TestResult:
    r"""Test whether two classifiers have the same error rate on one validation set.

    Parameters
    ----------
    only_first_wrong, only_second_wrong
        Number of instances on which only that classifier errs; see `error_overlap`.
    method
        ``"chi-square"``, or ``"exact"`` by the binomial, which small counts need.
    correction
        Subtract one for continuity in the chi-square statistic.
    alternative
        Claim about the first error rate: ``"two-sided"``, ``"less"`` or ``"greater"``.
    alpha
        Level of significance.

    Notes
    -----
    :math:`(|e_{01} - e_{10}| - 1)^2 / (e_{01} + e_{10}) \sim \chi^2_1` (Alpaydin 19.11.1 (19.13);
    Bartkowiak 7.1). The text writes 0 for wrong, so that :math:`e_{01}` counts errors of the
    first classifier alone. The corrected difference is not allowed to change its sign. A
    one-sided claim is tested by the signed root z.
    """
    checked_alternative(alternative)
    checked_level(alpha)
    checked_option(method, "method", MCNEMAR_METHODS)
    one = checked_count(only_first_wrong, "only_first_wrong")
    other = checked_count(only_second_wrong, "only_second_wrong")
    total = one + other
    if total == 0:
        raise DataError("All ties: the classifiers never disagree, so that nothing can be tested.")
    freedom: tuple[float, ...]
    caveats = ["says nothing about other training sets of the same size"]
    if method == "exact":
        p_value = float(stats.binomtest(one, total, 0.5, alternative).pvalue)
        statistic, symbol = float(one), "n01"
        critical = exact_critical(total, alternative, alpha)
        freedom = ()
    else:
        z = float(mcnemar_z(one, other, correction))
        tail = symmetric_tail(z, NORMAL, alternative, alpha)
        p_value = tail.p_value
        if alternative == "two-sided":
            statistic, symbol, freedom = z**2, "chi2", (1,)
            critical = float(ChiSquare(1).isf(alpha))
        else:
            # A square has lost the side that the claim is about.
            statistic, symbol, freedom = z, "z", ()
            critical = tail.critical_value
        if total < SMALLEST_DISAGREEMENT:
            caveats.append(f"only {total} disagreements: prefer the exact test")
    return TestResult(
        name="McNemar's test" + (" (exact)" if method == "exact" else ""),
        **paired_hypotheses("error rate", alternative),
        statistic=statistic,
        statistic_name=symbol,
        p_value=p_value,
        alpha=alpha,
        critical_value=critical,
        degrees_of_freedom=freedom,
        tail=alternative,
        effect_size=EffectSize("odds ratio", one / other if other else np.inf),
        assumptions=(Assumption("one training and one validation set, the same for both"),),
        caveats=tuple(caveats),
        source="Alpaydin 19.11.1 (19.13)",
    )


def exact_critical(total: int, alternative: Alternative, alpha: float) -> float:
    """Return the count of the larger (or smaller, for "less") side that just rejects."""
    share = alpha / 2 if alternative == "two-sided" else alpha
    counts = np.arange(total + 1)
    rejecting = counts[stats.binom.sf(counts - 1, total, 0.5) < share]
    if len(rejecting) == 0:
        return np.nan
    return float(total - rejecting[0] if alternative == "less" else rejecting[0])
