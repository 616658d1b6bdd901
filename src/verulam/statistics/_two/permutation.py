"""Exchanging two learners at random in pairs of results, as a permutation test does."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from verulam.statistics._core.result import Alternative

#: Entries of the table of signs that is made at a time.
BLOCK = 4_000_000


class Exchanged(NamedTuple):
    """The statistic, the share of exchanges that are as extreme, and their number."""

    statistic: float
    p_value: float
    exchanges: int


def exchanged(
    differences: NDArray[np.float64],
    statistic: Callable[..., Any],
    alternative: Alternative,
    resamples: int,
    random: np.random.Generator,
) -> Exchanged:
    """Return how extreme a statistic of the differences is among those with other signs.

    Parameters
    ----------
    differences
        Of the two learners in each pair.
    statistic
        Function of the differences, with an ``axis``.
    alternative
        Which side is extreme.
    resamples
        Number of random exchanges; all are tried where there are no more than these.
    random
        Source of the exchanges.
    """
    count = len(differences)
    if statistic is np.mean and count * np.log(2.0) > np.log(resamples):
        return _random_means(differences, alternative, resamples, random)
    found = stats.permutation_test(
        (differences,),
        statistic,
        permutation_type="samples",
        alternative=alternative,
        n_resamples=resamples,
        batch=max(1, BLOCK // count),
        rng=random,
    )
    return Exchanged(float(found.statistic), float(found.pvalue), len(found.null_distribution))


def _random_means(
    differences: NDArray[np.float64],
    alternative: Alternative,
    resamples: int,
    random: np.random.Generator,
) -> Exchanged:
    """Do the same for means: a sum of random signs is a product with random bits."""
    # Pairs without a difference are the same whatever the sign.
    present = differences[differences != 0]
    observed = float(present.sum())
    tolerance = 1e-12 * float(np.abs(present).sum())
    above = below = 0
    rows = max(1, BLOCK // len(present))
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        bits = np.unpackbits(
            random.integers(0, 256, size=(size, -(-len(present) // 8)), dtype=np.uint8), axis=1
        )[:, : len(present)]
        sums = 2.0 * (bits.astype(np.float64) @ present) - observed
        above += int((sums >= observed - tolerance).sum())
        below += int((sums <= observed + tolerance).sum())
    # The observed assignment is one of those that could have been drawn.
    greater, less = ((each + 1) / (resamples + 1) for each in (above, below))
    sides = {"greater": greater, "less": less, "two-sided": min(1.0, 2.0 * min(greater, less))}
    return Exchanged(observed / len(differences), sides[alternative], resamples)
