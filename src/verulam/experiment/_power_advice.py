"""How much more it would take to tell two contestants apart, from the power of the tests."""

from math import ceil

import numpy as np

from verulam.base import DataError
from verulam.statistics import sample_size, t_power

POWER = 0.8
MANY_SPLITS = 100_000
#: Efficiency of the signed rank test relative to the t test, for normal differences.
SIGNED_RANK_EFFICIENCY = 3 / np.pi


def splits_needed(
    effect: float, test_share: float, *, alpha: float, power: float = POWER
) -> int | None:
    r"""Return how many splits the corrected resampled t test needs; None where none suffice.

    Parameters
    ----------
    effect
        Mean difference in standard deviations of the differences.
    test_share
        Share of the validation rows in a split.
    alpha
        Level of significance.
    power
        Wanted probability of rejecting.

    Notes
    -----
    The variance of the mean is :math:`(1/n + \rho) S^2` with :math:`\rho` the ratio of the
    validation rows to the training rows, and does not vanish for many splits: the same rows tell
    only so much.

    Examples
    --------
    >>> splits_needed(1.0, 0.1, alpha=0.05)
    77
    >>> splits_needed(0.2, 0.1, alpha=0.05) is None
    True
    """
    ratio = test_share / (1 - test_share)

    def reached(count: int) -> bool:
        return _power(effect, count, ratio, alpha) >= power

    low, high = 1, 2
    while not reached(high):
        low, high = high, 2 * high
        if high > MANY_SPLITS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def rows_needed(
    effect: float, splits: int, test_share: float, *, alpha: float, power: float = POWER
) -> float:
    """Return how many times as many rows would do with the same splits.

    The spread of differences is taken to shrink as the root of the number of validation rows.

    Parameters
    ----------
    effect, test_share, alpha, power
        As in `splits_needed`.
    splits
        Number of splits.

    Examples
    --------
    >>> round(rows_needed(0.5, 10, 0.1, alpha=0.05), 1)
    8.4
    """
    ratio = test_share / (1 - test_share)
    low, high = abs(effect), 2.0 * abs(effect)
    while _power(high, splits, ratio, alpha) < power:
        low, high = high, 2.0 * high
    for _ in range(40):
        middle = (low + high) / 2
        enough = _power(middle, splits, ratio, alpha) >= power
        low, high = (low, middle) if enough else (middle, high)
    return float((high / effect) ** 2)


def data_sets_needed(differences: np.ndarray, *, alpha: float, power: float = POWER) -> int | None:
    """Return how many data sets a test over data sets needs; None where too many to count.

    Parameters
    ----------
    differences
        Of the responses, or of the ranks, of two contestants: one value per data set.
    alpha, power
        As in `splits_needed`.

    Examples
    --------
    >>> data_sets_needed(np.array([1.0, -1.0, 1.0, 1.0]), alpha=0.05)
    36
    """
    spread = float(differences.std(ddof=1))
    count = _sample(float(differences.mean()), spread, alpha, power, known=False)
    return None if count is None else ceil(count / SIGNED_RANK_EFFICIENCY)


def data_sets_for_ranks(
    gap: float, contestants: int, *, alpha: float, power: float = POWER
) -> int | None:
    r"""Return how many data sets tell two mean ranks apart; None where too many to count.

    Parameters
    ----------
    gap
        Difference of the mean ranks.
    contestants
        How many are ranked.
    alpha, power
        As in `splits_needed`; the level of one pair.

    Notes
    -----
    The difference of two ranks on one data set has variance :math:`L (L + 1) / 6`.

    Examples
    --------
    >>> data_sets_for_ranks(1.0, 4, alpha=0.05)
    27
    """
    spread = float(np.sqrt(contestants * (contestants + 1) / 6))
    return _sample(gap, spread, alpha, power, known=True)


def _sample(mean: float, spread: float, alpha: float, power: float, *, known: bool) -> int | None:
    if spread == 0 or mean == 0:
        return None
    try:
        return sample_size(mean / spread, alpha=alpha, power=power, known_variance=known)
    except DataError:
        return None


def _power(effect: float, splits: int, ratio: float, alpha: float) -> float:
    # The correction makes n splits worth fewer independent ones: a smaller effect on as many.
    return float(t_power(abs(effect) / np.sqrt(1 + splits * ratio), splits, alpha=alpha))
