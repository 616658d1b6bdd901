"""Power of the z and t tests, and the sample or the rows that a difference needs."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from verulam.base import DataError, Seed, generator
from verulam.statistics._core.checks import (
    Vector,
    any_numbers,
    checked_alternative,
    checked_count,
    checked_level,
    checked_number,
    checked_positive,
    numbers,
    sample,
)
from verulam.statistics._core.result import Alternative
from verulam.statistics._several.joint_posterior import SPLITS_IN_CLAIMS, UNKNOWN_SPLITS

#: A search for more values ends with an error: nobody will draw them.
LARGEST_SAMPLE = 10_000_000
#: Of more rows than this, so many stand for all where studies of more rows are simulated.
MOST_ROWS = 10_000


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

    # Power grows with the sample: double until it is reached, then halve the interval.
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
    for count in np.atleast_1d(numbers(sample_sizes, "sample_sizes")):
        if known_variance:
            columns[int(count)] = z_power(grid, 1.0, count, alpha=alpha, alternative=alternative)
        else:
            columns[int(count)] = t_power(grid, count, alpha=alpha, alternative=alternative)
    return PowerCurve(pd.DataFrame(columns, index=pd.Index(grid, name="effect")), alpha)


def rows_to_tell(
    values: ArrayLike,
    ahead: float,
    critical: float,
    *,
    power: float = 0.8,
    most: int = 256,
    draws: int = 200,
    random_state: Seed = 0,
) -> float | None:
    """Return how many times as many rows would show a difference; None where too many to count.

    Parameters
    ----------
    values
        Influence of each row on the difference of two contestants: repeats x rows.
    ahead
        The difference, in the direction in which it was seen.
    critical
        Value that the difference must exceed, in its standard errors, to be claimed.
    power
        Wanted probability of the claim.
    most
        Times as many rows at the most.
    draws
        Studies that are simulated for each number of rows.
    random_state
        Seed.

    Notes
    -----
    Studies of m rows are simulated by drawing rows with replacement from those that there are,
    with their predictions; each is tested as the study itself was. The difference is taken to stay
    what it was, the learners to learn nothing more from more rows.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import rows_to_tell
    >>> differences = np.random.default_rng(0).normal(0.02, 0.3, size=(2, 500))
    >>> rows_to_tell(differences, 0.02, 2.0)
    12.0
    """
    losses = any_numbers(values, "values")
    checked_positive(critical, "critical")
    if losses.ndim != 2 or losses.shape[1] < 2:
        raise DataError("values: expected repeats x rows, with at least 2 rows.")
    random = generator(random_state)
    n_rows = losses.shape[1]
    if n_rows > MOST_ROWS:
        losses = losses[:, np.sort(random.choice(n_rows, MOST_ROWS, replace=False))]
    times = [1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256]
    for factor in times:
        if factor > most:
            break
        if _claimed_share(losses, ahead, critical, round(factor * n_rows), draws, random) >= power:
            return float(factor)
    return None


def _claimed_share(
    losses: Vector,
    ahead: float,
    critical: float,
    size: int,
    draws: int,
    random: np.random.Generator,
) -> float:
    """Return in which share of simulated studies of more rows a difference would be claimed."""
    repeats, count = losses.shape
    # How often each row is drawn, for all studies at once.
    weights = random.multinomial(size, np.full(count, 1.0 / count), size=draws) / size
    average = losses.mean(axis=0)
    # Shifted so that the simulated truth is the difference asked about, not the one that was
    # observed.
    means = weights @ average - average.mean() + abs(ahead)
    squares = weights @ (losses**2).mean(axis=0)
    # E x^2 - (E x)^2 within each repeat: one product with the weights does for all studies.
    within = squares - ((weights @ losses.T) ** 2).mean(axis=1)
    between = UNKNOWN_SPLITS * within
    if repeats > 1:
        between = weights @ losses.var(axis=0, ddof=1)
    errors = np.sqrt(np.maximum(within + SPLITS_IN_CLAIMS * between, 0.0) / size)
    return float(np.mean(means > critical * errors))
