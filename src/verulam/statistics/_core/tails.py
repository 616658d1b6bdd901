"""Tails of distributions: p-values, critical values and the limits of intervals."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from verulam.statistics._core.checks import Vector, power_of_two
from verulam.statistics._core.result import Alternative, Assumption, ConfidenceInterval

# Shapiro and Wilk's approximation is tabulated between these sample sizes.
SMALLEST_NORMALITY_SAMPLE, LARGEST_NORMALITY_SAMPLE = 3, 5000
# At this level normality counts as refuted, in the words beside a test.
NORMALITY_LEVEL = 0.05


@dataclass(frozen=True)
class Tail:
    """p-value and critical value of a statistic."""

    p_value: float
    critical_value: float


def symmetric_p_values(statistic: ArrayLike, distribution: Any, alternative: Alternative) -> Vector:
    """Return p-values of statistics whose null distribution is symmetric about zero."""
    values = np.asarray(statistic, dtype=np.float64)
    if alternative == "two-sided":
        return np.minimum(1.0, 2.0 * distribution.sf(np.abs(values)))
    return distribution.sf(values) if alternative == "greater" else distribution.cdf(values)


def symmetric_tail(
    statistic: float, distribution: Any, alternative: Alternative, alpha: float
) -> Tail:
    """Return p-value and critical value for a symmetric null distribution."""
    # Half of the level on either side, all of it on the side that is claimed.
    share = alpha / 2 if alternative == "two-sided" else alpha
    limit = float(distribution.isf(share))
    p_value = float(symmetric_p_values(statistic, distribution, alternative))
    return Tail(p_value, -limit if alternative == "less" else limit)


def upper_tail(statistic: float, distribution: Any, alpha: float) -> Tail:
    """Return p-value and critical value of a statistic that rejects when it is large."""
    return Tail(float(distribution.sf(statistic)), float(distribution.isf(alpha)))


def symmetric_interval(
    estimate: float,
    standard_error: float,
    distribution: Any,
    alternative: Alternative,
    confidence: float,
    method: str,
) -> ConfidenceInterval:
    """Return estimate plus or minus a quantile of standard errors, open on one side if asked.

    As in a test, ``"greater"`` bounds from below and ``"less"`` from above.
    """
    share = (1 - confidence) / 2 if alternative == "two-sided" else 1 - confidence
    reach = float(distribution.isf(share)) * standard_error
    low = -np.inf if alternative == "less" else estimate - reach
    high = np.inf if alternative == "greater" else estimate + reach
    return ConfidenceInterval(float(low), float(high), confidence, float(estimate), method)


def normality(values: Vector, what: str) -> Assumption:
    """Ask Shapiro and Wilk whether the values look normal."""
    text = f"{what} are normal"
    if not SMALLEST_NORMALITY_SAMPLE <= len(values) <= LARGEST_NORMALITY_SAMPLE:
        return Assumption(text, None, f"{len(values)} values")
    if np.ptp(values) == 0:
        return Assumption(text, None, "all values are equal")
    # The statistic does not depend on the unit, but its algorithm takes ranges below 1e-19 for
    # none. A power of two changes no digit.
    p_value = float(stats.shapiro(values / power_of_two(np.ptp(values))).pvalue)
    return Assumption(text, p_value >= NORMALITY_LEVEL, f"Shapiro-Wilk p = {p_value:.2g}")
