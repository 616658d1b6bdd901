"""Post-hoc tests after an analysis of variance: Fisher, Tukey, Scheffe, Newman-Keuls, contrasts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from verulam.base import DataError, unknown_name
from verulam.statistics._core.checks import (
    Vector,
    checked_alternative,
    checked_level,
    named_groups,
    numbers,
)
from verulam.statistics._core.distributions import Fisher, OrderedRange, Student
from verulam.statistics._core.hypotheses import hypotheses
from verulam.statistics._core.multiple_comparisons import Comparisons, adjust_p_values
from verulam.statistics._core.result import Alternative, Assumption, EffectSize, TestResult
from verulam.statistics._core.tails import symmetric_interval, symmetric_p_values, symmetric_tail
from verulam.statistics._several.anova import blocked_sums, refuse_no_error


@dataclass(frozen=True, eq=False)
class ErrorTerm:
    """Means of the learners and the variance they are compared with."""

    means: pd.Series
    sizes: Vector
    mean_square: float
    degrees_of_freedom: int

    def pairs(self) -> pd.DataFrame:
        """Return all pairs with difference and standard error."""
        names, means = list(self.means.index), self.means.to_numpy()
        first, second = np.array(list(combinations(range(len(names)), 2))).T
        return pd.DataFrame(
            {
                "first": [names[position] for position in first],
                "second": [names[position] for position in second],
                "difference": means[first] - means[second],
                "standard_error": np.sqrt(
                    self.mean_square * (1 / self.sizes[first] + 1 / self.sizes[second])
                ),
            }
        )


def error_term(groups: Any, blocked: bool) -> ErrorTerm:
    """Return the error of a one-way analysis, or of one in blocks."""
    named = named_groups(groups)
    sizes = np.array([len(values) for values in named.values()])
    means = pd.Series({name: values.mean() for name, values in named.items()})
    # In blocks, what the rows have in common is no error: only what neither row nor column
    # explains.
    if blocked:
        if np.ptp(sizes) > 0:
            raise DataError("blocked=True needs every learner in every block.")
        values = np.column_stack(list(named.values()))
        residual = float(blocked_sums(values).residual)
        freedom = (len(named) - 1) * (int(sizes[0]) - 1)
    else:
        residual = sum(float(((v - v.mean()) ** 2).sum()) for v in named.values())
        freedom = int(sizes.sum()) - len(named)
    everything = np.concatenate(list(named.values()))
    refuse_no_error(residual, residual + float(means.var(ddof=0)), everything)
    return ErrorTerm(means, sizes.astype(float), residual / freedom, freedom)


def comparisons(
    name: str,
    term: ErrorTerm,
    pairs: pd.DataFrame,
    statistic: tuple[str, Vector],
    p_values: tuple[Vector, Vector],
    alpha: float,
    reach: float | None = None,
    **fields: Any,
) -> Comparisons:
    """Return the record of a procedure, with limits where they are `reach` standard errors off."""
    table = pairs.copy()
    table["statistic"] = statistic[1]
    table["p_value"], table["adjusted_p"] = p_values
    table["reject"] = table["adjusted_p"] < alpha
    if reach is not None:
        table["low"] = table["difference"] - reach * table["standard_error"]
        table["high"] = table["difference"] + reach * table["standard_error"]
    return Comparisons(name, table, alpha, statistic[0], term.means, **fields)


def fisher_lsd(
    groups: Any,
    *,
    adjust: str = "none",
    alternative: Alternative = "two-sided",
    blocked: bool = False,
    alpha: float = 0.05,
) -> Comparisons:
    r"""Compare all pairs of learners by Fisher's least significant difference.

    Parameters
    ----------
    groups
        As in `one_way_anova`.
    adjust
        Adjustment for the number of pairs, a method of `adjust_p_values`; plain LSD has none and
        is meant for use after a rejecting analysis of variance.
    alternative
        Claim about the first of each pair.
    blocked
        Rows are blocks shared by all learners.
    alpha
        Level of significance.

    Notes
    -----
    :math:`t = (m_i - m_j) / \sqrt{2 MS_w / K}` (Alpaydin 19.12).

    Examples
    --------
    >>> from verulam.statistics import fisher_lsd
    >>> print(fisher_lsd({"a": [1, 2, 3], "b": [2, 3, 4], "c": [5, 6, 7]}, adjust="bonferroni"))
    Fisher's LSD (bonferroni): 2 of 3 pairs differ at 0.05.
      a - c: -4 (adjusted p 0.00814)
      b - c: -3 (adjusted p 0.0312)
    """
    checked_alternative(alternative)
    checked_level(alpha)
    term = error_term(groups, blocked)
    pairs = term.pairs()
    t = (pairs["difference"] / pairs["standard_error"]).to_numpy()
    distribution = Student(term.degrees_of_freedom)
    raw = symmetric_p_values(t, distribution, alternative)
    # Only these two have one limit for all pairs; step-wise adjustments have one per step.
    level = {"none": alpha, "bonferroni": alpha / len(pairs)}.get(adjust)
    limit = (
        symmetric_tail(0.0, distribution, alternative, level).critical_value if level else np.nan
    )
    return comparisons(
        "Fisher's LSD" + ("" if adjust == "none" else f" ({adjust})"),
        term,
        pairs,
        ("t", t),
        (raw, adjust_p_values(raw, adjust)),
        alpha,
        alternative=alternative,
        critical_value=limit,
        adjusted=adjust != "none",
    )


def studentized(pairs: pd.DataFrame) -> Vector:
    """Return the studentised ranges of all pairs."""
    # The range is divided by the standard error of a mean, which is that of a difference over root
    # two.
    return (pairs["difference"].abs() / pairs["standard_error"]).to_numpy() * np.sqrt(2)


def tukey_hsd(
    groups: Any,
    *,
    alternative: Alternative = "two-sided",
    blocked: bool = False,
    alpha: float = 0.05,
) -> Comparisons:
    """Compare all pairs by Tukey's honestly significant difference, with joint intervals.

    Parameters
    ----------
    groups, blocked, alpha
        As in `fisher_lsd`. Unequal groups are handled after Kramer.
    alternative
        Claim about the first of each pair: with ``"less"`` the learners are claimed to be in
        order, that of the smallest mean first. The order must not come from the same results.

    Notes
    -----
    The range of the means over the standard error of one mean has the studentised range
    distribution (Alpaydin 19.13.2, where it is applied to ranks and the standard error must be
    that of a mean rank). For a claimed order, only differences in its direction count, which
    reject from a smaller size on [hayter1990]_.

    References
    ----------
    .. [hayter1990] A. J. Hayter, "A one-sided studentized range test for testing against a simple
       ordered alternative", Journal of the American Statistical Association 85, 1990.

    Examples
    --------
    >>> from verulam.statistics import tukey_hsd
    >>> found = tukey_hsd({"a": [1, 2, 3], "b": [2, 3, 4], "c": [5, 6, 7]})
    >>> found.table[["first", "second", "adjusted_p", "low", "high"]].round(3)
      first second  adjusted_p    low   high
    0     a      b       0.483 -3.505  1.505
    1     a      c       0.006 -6.505 -1.495
    2     b      c       0.024 -5.505 -0.495
    """
    checked_alternative(alternative)
    checked_level(alpha)
    term = error_term(groups, blocked)
    pairs = term.pairs()
    if alternative != "two-sided":
        return ordered_tukey(term, pairs, alternative, alpha)
    q, count = studentized(pairs), len(term.means)
    adjusted = stats.studentized_range.sf(q, count, term.degrees_of_freedom)
    raw = symmetric_p_values(q / np.sqrt(2), Student(term.degrees_of_freedom), "two-sided")
    limit = float(stats.studentized_range.isf(alpha, count, term.degrees_of_freedom))
    return comparisons(
        "Tukey's HSD",
        term,
        pairs,
        ("q", q),
        (raw, adjusted),
        alpha,
        limit / np.sqrt(2),
        critical_value=limit,
    )


def ordered_tukey(
    term: ErrorTerm, pairs: pd.DataFrame, alternative: Alternative, alpha: float
) -> Comparisons:
    """Compare all pairs where the first of each is claimed to be the smaller, or the larger."""
    if np.ptp(term.sizes) > 0:
        raise DataError(f"alternative={alternative!r} needs groups of equal size.")
    t = (pairs["difference"] / pairs["standard_error"]).to_numpy()
    sign = 1.0 if alternative == "greater" else -1.0
    whole = OrderedRange(len(term.means), term.degrees_of_freedom)
    limit = whole.isf(alpha)
    intervals = comparisons(
        "Tukey's HSD in order",
        term,
        pairs,
        ("h", t * np.sqrt(2)),
        (
            symmetric_p_values(t, Student(term.degrees_of_freedom), alternative),
            whole.sf(sign * t * np.sqrt(2)),
        ),
        alpha,
        limit / np.sqrt(2),
        alternative=alternative,
        critical_value=sign * limit,
    )
    # A one-sided claim bounds the difference on one side only.
    intervals.table["low" if alternative == "less" else "high"] = sign * np.inf
    return intervals


def scheffe(groups: Any, *, blocked: bool = False, alpha: float = 0.05) -> Comparisons:
    """Compare all pairs at a level that holds for every contrast at once (Scheffe).

    Parameters
    ----------
    groups, blocked, alpha
        As in `fisher_lsd`.

    Examples
    --------
    >>> from verulam.statistics import scheffe
    >>> found = scheffe({"a": [1, 2, 3], "b": [2, 3, 4], "c": [5, 6, 7]})
    >>> found.table["adjusted_p"].round(3).tolist()
    [0.512, 0.008, 0.029]
    """
    checked_level(alpha)
    term = error_term(groups, blocked)
    pairs = term.pairs()
    t = (pairs["difference"] / pairs["standard_error"]).to_numpy()
    freedom = len(term.means) - 1
    # The largest contrast of all has t^2 = (k - 1) F, so a limit for it holds for every contrast,
    # also for those that the data suggested.
    statistic = t**2 / freedom
    whole = Fisher(freedom, term.degrees_of_freedom)
    adjusted = whole.sf(statistic)
    raw = symmetric_p_values(t, Student(term.degrees_of_freedom), "two-sided")
    limit = float(whole.isf(alpha))
    return comparisons(
        "Scheffe's test",
        term,
        pairs,
        ("F", statistic),
        (raw, adjusted),
        alpha,
        float(np.sqrt(freedom * limit)),
        critical_value=limit,
    )


def newman_keuls(groups: Any, *, blocked: bool = False, alpha: float = 0.05) -> Comparisons:
    """Compare ranges of sorted means step by step (Newman and Keuls).

    Parameters
    ----------
    groups, blocked, alpha
        As in `fisher_lsd`.

    Notes
    -----
    A range of r means is judged by the studentised range of r; nothing inside a range that does
    not reject can reject, so that adjusted p-values are maxima over enclosing ranges. The overall
    level is not held when some means are equal and others not.

    Examples
    --------
    >>> from verulam.statistics import newman_keuls
    >>> found = newman_keuls({"a": [1, 2, 3], "b": [2, 3, 4], "c": [5, 6, 7]})
    >>> found.table["adjusted_p"].round(3).tolist()
    [0.267, 0.006, 0.01]
    """
    checked_level(alpha)
    term = error_term(groups, blocked)
    pairs = term.pairs()
    count = len(term.means)
    place = pd.Series(
        np.argsort(np.argsort(term.means.to_numpy(), kind="stable")), term.means.index
    )
    ends = np.sort(
        np.column_stack([place[pairs["first"]].to_numpy(), place[pairs["second"]].to_numpy()])
    )
    q = studentized(pairs)
    # A range over fewer sorted means is smaller by chance: each has the distribution of its own
    # span.
    spans = ends[:, 1] - ends[:, 0] + 1
    raw = stats.studentized_range.sf(q, spans, term.degrees_of_freedom)
    ranges = np.zeros((count, count))
    ranges[ends[:, 0], ends[:, 1]] = raw
    # A range inside of one that does not reject must not reject: the largest p-value of all ranges
    # that enclose it. Rows run to earlier starts, reversed columns to later ends.
    enclosing = np.maximum.accumulate(np.maximum.accumulate(ranges, axis=0)[:, ::-1], axis=1)
    adjusted = enclosing[:, ::-1][ends[:, 0], ends[:, 1]]
    return comparisons("Newman-Keuls test", term, pairs, ("q", q), (raw, adjusted), alpha)


def contrast(
    groups: Any,
    coefficients: Mapping[Any, float] | Sequence[float],
    *,
    alternative: Alternative = "two-sided",
    blocked: bool = False,
    alpha: float = 0.05,
) -> TestResult:
    r"""Test a weighted comparison of means, such as one family of learners against another.

    Parameters
    ----------
    groups
        As in `one_way_anova`.
    coefficients
        Weight of each learner, summing to zero; learners missing from a mapping have zero.
    alternative
        Claim about the contrast.
    blocked, alpha
        As in `fisher_lsd`.

    Notes
    -----
    :math:`t = \sum_j c_j m_j / \sqrt{MS_w \sum_j c_j^2 / K_j}` (Alpaydin 19.15, exercise 8).

    Examples
    --------
    >>> from verulam.statistics import contrast
    >>> groups = {"a": [1, 2, 3], "b": [2, 3, 4], "c": [5, 6, 7]}
    >>> print(contrast(groups, {"a": 0.5, "b": 0.5, "c": -1}).headline())
    t(6) = -4.95, p = 0.00258
    """
    checked_alternative(alternative)
    checked_level(alpha)
    term = error_term(groups, blocked)
    if isinstance(coefficients, Mapping):
        for name in coefficients:
            if name not in term.means.index:
                raise unknown_name("learner", str(name), [str(key) for key in term.means.index])
        weights = np.array([float(coefficients.get(name, 0.0)) for name in term.means.index])
    else:
        weights = numbers(coefficients, "coefficients")
    # With a sum of zero the overall level cancels, and equal means give zero.
    if weights.shape != (len(term.means),) or abs(weights.sum()) > 1e-9 or not weights.any():
        raise DataError(
            f"coefficients must be {len(term.means)} numbers that sum to zero, not all zero."
        )
    estimate = float(weights @ term.means.to_numpy())
    error = float(np.sqrt(term.mean_square * (weights**2 / term.sizes).sum()))
    distribution = Student(term.degrees_of_freedom)
    tail = symmetric_tail(estimate / error, distribution, alternative, alpha)
    return TestResult(
        name="Contrast",
        **hypotheses("the contrast", 0.0, alternative),
        statistic=estimate / error,
        statistic_name="t",
        p_value=tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value,
        degrees_of_freedom=(term.degrees_of_freedom,),
        tail=alternative,
        estimate_name="contrast",
        interval=symmetric_interval(estimate, error, distribution, alternative, 1 - alpha, "t"),
        effect_size=EffectSize(
            "standardised contrast", estimate / float(np.sqrt(term.mean_square))
        ),
        assumptions=(
            Assumption("residuals are independent and normal with one variance"),
            Assumption("the contrast was chosen before looking at the means"),
        ),
        source="Alpaydin 19.15, exercise 8",
    )
