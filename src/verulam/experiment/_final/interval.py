"""Intervals of figures on a test part, whose rows may come in groups that are alike within."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verulam.statistics import rate_interval

CONFIDENCE = 0.95
RESAMPLES = 500


@dataclass(frozen=True)
class FigureInterval:
    """Limits of a figure, None where there are none, and how they were found."""

    low: float | None
    high: float | None
    method: str


def rate_in_groups(counted: NDArray[np.bool_], groups: NDArray[np.intp] | None) -> FigureInterval:
    r"""Return the interval of the share of rows that count.

    Parameters
    ----------
    counted
        Whether each row counts.
    groups
        The group of each row; None where each row is by itself.

    Notes
    -----
    With groups the rate is a ratio of two sums over the :math:`G` groups, of what counts,
    :math:`e_g`, and of rows, :math:`n_g`, and its t interval has :math:`G - 1` degrees of freedom:

    .. math:: s^2 = \frac{G}{G - 1} \frac{\sum_g (e_g - p\, n_g)^2}{(\sum_g n_g)^2}

    Where the groups do not vary, each counts as one row, since no error in a few groups does not
    make the rate certain.

    Examples
    --------
    >>> import numpy as np
    >>> errors = np.repeat([True, False, False, False, False], 20)
    >>> found = rate_in_groups(errors, np.repeat(np.arange(5), 20))
    >>> round(found.low, 3), round(found.high, 3), found.method
    (0.0, 0.755, 't interval over 5 groups')
    """
    if groups is None:
        interval = rate_interval(int(counted.sum()), len(counted), confidence=CONFIDENCE)
        method = f"{interval.method.capitalize()} interval of a rate"
        return FigureInterval(interval.low, interval.high, method)
    codes = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(codes)
    n_groups, rate = len(sizes), float(counted.mean())
    if n_groups < 2:
        return FigureInterval(None, None, "")
    gaps = np.bincount(codes, weights=counted) - rate * sizes
    if np.allclose(gaps, 0.0):
        interval = rate_interval(round(rate * n_groups), n_groups, confidence=CONFIDENCE)
        method = f"{interval.method.capitalize()} interval of a rate, a group as one row"
        return FigureInterval(min(interval.low, rate), max(interval.high, rate), method)
    from scipy.stats import t

    variance = n_groups / (n_groups - 1) * np.sum(gaps**2) / sizes.sum() ** 2
    half = float(t.ppf(0.5 + CONFIDENCE / 2, n_groups - 1) * np.sqrt(variance))
    method = f"t interval over {n_groups} groups"
    return FigureInterval(max(0.0, rate - half), min(1.0, rate + half), method)


def bootstrap_in_groups(
    statistic: Callable[[NDArray[np.intp]], float],
    n_rows: int,
    groups: NDArray[np.intp] | None,
    *,
    seed: int,
) -> FigureInterval:
    """Return the interval of a figure by drawing rows, or whole groups, with replacement.

    Parameters
    ----------
    statistic
        From row numbers to the figure; NaN where it has none.
    n_rows
        Number of rows.
    groups
        The group of each row; None where each row is by itself.
    seed
        Seed of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.repeat([0.0, 1.0, 2.0, 3.0], 10)
    >>> mean = lambda rows: float(values[rows].mean())
    >>> by_rows = bootstrap_in_groups(mean, 40, None, seed=0)
    >>> by_groups = bootstrap_in_groups(mean, 40, np.repeat(np.arange(4), 10), seed=0)
    >>> by_groups.high - by_groups.low > 2 * (by_rows.high - by_rows.low)
    True
    """
    rng = np.random.default_rng(seed)
    if groups is None:
        members, method = None, "bootstrap of the rows, percentiles"
        n_drawn = n_rows
    else:
        members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
        method, n_drawn = f"bootstrap of {len(members)} groups, percentiles", len(members)
    draws = np.empty(RESAMPLES)
    for number in range(RESAMPLES):
        drawn = rng.integers(n_drawn, size=n_drawn)
        rows = drawn if members is None else np.concatenate([members[place] for place in drawn])
        draws[number] = statistic(rows)
    draws = draws[~np.isnan(draws)]
    if n_drawn < 2 or len(draws) < RESAMPLES // 2:
        return FigureInterval(None, None, "")
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(draws, [tail, 100.0 - tail])
    return FigureInterval(float(low), float(high), method)
