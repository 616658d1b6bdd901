"""How many data sets it would take to tell two contestants apart, from the power of the tests."""

from math import ceil

import numpy as np

from verulam.base import DataError
from verulam.statistics import sample_size

POWER = 0.8
#: Efficiency of the signed rank test relative to the t test, for normal differences.
SIGNED_RANK_EFFICIENCY = 3 / np.pi


def data_sets_needed(differences: np.ndarray, *, alpha: float, power: float = POWER) -> int | None:
    """Return how many data sets a test over data sets needs; None where too many to count.

    Parameters
    ----------
    differences
        Of the responses, or of the ranks, of two contestants: one value per data set.
    alpha
        Level of significance.
    power
        Wanted probability of rejecting.

    Examples
    --------
    >>> import numpy as np
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
        As in `data_sets_needed`; the level of one pair.

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
