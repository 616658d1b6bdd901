"""Power of the z and t tests, and the sample that a difference needs."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from verulam.base import DataError
from verulam.statistics._checks import (
    Vector,
    checked_alternative,
    checked_count,
    checked_level,
    checked_number,
    checked_positive,
    numbers,
    sample,
)
from verulam.statistics._result import Alternative

LARGEST_SAMPLE = 10_000_000


def z_power(
    difference: ArrayLike,
    sigma: float,
    sample_size: int,
    *,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> Vector:
    r"""Return the probability that a z test rejects when the true mean is off by `difference`.

    Parameters
    ----------
    difference
        True mean minus hypothetical mean; one value or several.
    sigma
        Known standard deviation.
    sample_size
        Number of values N.
    alpha
        Level of significance.
    alternative
        As in `z_test`.

    Notes
    -----
    :math:`1 - \beta(\mu)` with :math:`\beta` the probability of not rejecting (Alpaydin 19.9
    (19.6)). The error of the second kind is one minus this.

    Examples
    --------
    >>> from verulam.statistics import z_power
    >>> z_power([0.0, 0.5], sigma=1.0, sample_size=32).round(3)
    array([0.05 , 0.807])
    """
    checked_alternative(alternative)
    checked_level(alpha)
    size = checked_count(sample_size, "sample_size")
    shift = numbers(difference, "difference") * np.sqrt(size)
    shift = shift / checked_positive(sigma, "sigma")
    if alternative == "two-sided":
        limit = stats.norm.isf(alpha / 2)
        return stats.norm.sf(limit - shift) + stats.norm.cdf(-limit - shift)
    return stats.norm.sf(stats.norm.isf(alpha) - (shift if alternative == "greater" else -shift))


def t_power(
    effect: ArrayLike,
    sample_size: int,
    *,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> Vector:
    """Return the probability that a one-sample or paired t test rejects.

    Parameters
    ----------
    effect
        True difference in standard deviations (Cohen's d); one value or several.
    sample_size
        Number of values, or of pairs.
    alpha
        Level of significance.
    alternative
        As in `z_test`.

    Examples
    --------
    >>> from verulam.statistics import t_power
    >>> t_power([0.0, 0.5], 34).round(3)
    array([0.05 , 0.808])
    """
    checked_alternative(alternative)
    checked_level(alpha)
    size = checked_count(sample_size, "sample_size")
    if size < 2:
        raise DataError(f"sample_size is {size}: a t test needs at least 2.")
    shift = numbers(effect, "effect") * np.sqrt(size)
    freedom = size - 1
    if alternative == "two-sided":
        # The far tail is taken by symmetry: as a lower tail SciPy does not always compute it.
        limit = stats.t.isf(alpha / 2, freedom)
        return stats.nct.sf(limit, freedom, shift) + stats.nct.sf(limit, freedom, -shift)
    towards = shift if alternative == "greater" else -shift
    return stats.nct.sf(stats.t.isf(alpha, freedom), freedom, towards)


def sample_size(
    effect: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    known_variance: bool = False,
) -> int:
    r"""Return the smallest sample that detects an effect with the wanted power.

    Parameters
    ----------
    effect
        Difference to detect, in standard deviations.
    power
        Wanted probability of rejecting.
    alpha
        Level of significance.
    alternative
        ``"two-sided"``, or either one-sided test.
    known_variance
        Plan for a z test instead of a t test.

    Notes
    -----
    For the z test nearly :math:`((z_{\alpha/2} + z_\beta)\, \sigma / \delta)^2` (Alpaydin 19.9).

    Examples
    --------
    >>> from verulam.statistics import sample_size
    >>> sample_size(0.5, known_variance=True), sample_size(0.5)
    (32, 34)
    """
    checked_alternative(alternative)
    checked_level(power, "power")
    size = abs(checked_number(effect, "effect"))
    if size == 0:
        raise DataError("effect is zero: no sample can detect it.")
    towards: Alternative = "two-sided" if alternative == "two-sided" else "greater"

    def reached(count: int) -> bool:
        if known_variance:
            return bool(z_power(size, 1.0, count, alpha=alpha, alternative=towards) >= power)
        return bool(t_power(size, count, alpha=alpha, alternative=towards) >= power)

    low, high = (0, 1) if known_variance else (1, 2)
    while not reached(high):
        low, high = high, 2 * high
        if high > LARGEST_SAMPLE:
            raise DataError(f"effect={effect} needs more than {LARGEST_SAMPLE} values.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


@dataclass(frozen=True, eq=False)
class PowerCurve:
    """Power against effect, one column per sample size.

    Parameters
    ----------
    table
        Power, with effects in the index.
    alpha
        Level of significance.
    """

    table: pd.DataFrame
    alpha: float


def power_curve(
    effects: ArrayLike,
    sample_sizes: ArrayLike,
    *,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    known_variance: bool = False,
) -> PowerCurve:
    """Return the power function of the t test, or of the z test, for several sample sizes.

    Parameters are those of `sample_size`.

    Examples
    --------
    >>> from verulam.statistics import power_curve
    >>> power_curve([0, 0.5, 1], [10, 20]).table.round(2)
            10    20
    effect
    0.0     0.05  0.05
    0.5     0.29  0.56
    1.0     0.80  0.99
    """
    grid = sample(np.atleast_1d(numbers(effects, "effects")), "effects", 1)
    columns = {}
    for count in np.atleast_1d(np.asarray(sample_sizes)):
        if known_variance:
            columns[int(count)] = z_power(grid, 1.0, count, alpha=alpha, alternative=alternative)
        else:
            columns[int(count)] = t_power(grid, count, alpha=alpha, alternative=alternative)
    return PowerCurve(pd.DataFrame(columns, index=pd.Index(grid, name="effect")), alpha)
