"""Wilcoxon's signed rank test with its exact null distribution, ties and zeros included."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from verulam.base import DataError
from verulam.statistics._core.checks import (
    Vector,
    checked_alternative,
    checked_level,
    checked_option,
    pair,
    rounded,
)
from verulam.statistics._core.distributions import NORMAL
from verulam.statistics._core.hypotheses import paired_hypotheses
from verulam.statistics._core.result import Alternative, Assumption, EffectSize, TestResult
from verulam.statistics._core.tails import symmetric_p_values

ZERO_METHODS = ("wilcox", "pratt", "zsplit")
METHODS = ("auto", "exact", "normal")
# Of more differences the normal approximation is close, as SciPy has it too.
LARGEST_EXACT = 50


def fewest_pairs(alternative: Alternative, alpha: float) -> int:
    """Return the smallest number of pairs with which a test of signs or ranks can reject."""
    sides = 2 if alternative == "two-sided" else 1
    return int(np.floor(np.log2(sides / alpha))) + 1


def few_pairs(count: int, alternative: Alternative, alpha: float) -> tuple[str, ...]:
    """Return the caveat, if any, that not even a clean sweep of so many pairs would reject."""
    minimum = fewest_pairs(alternative, alpha)
    if count >= minimum:
        return ()
    pairs = "1 pair that differs" if count == 1 else f"{count} pairs that differ"
    least = min(1.0, (2 if alternative == "two-sided" else 1) * 0.5**count)
    caveat = (
        f"with {pairs} no result can reject at alpha {alpha:g} ({alternative}): the smallest "
        f"p-value is {least:.4g}, and at least {minimum} are needed; the p-value is exact"
    )
    return (caveat,)


def signed_ranks(differences: Vector, zeros: str) -> tuple[Vector, Vector]:
    """Return ranks of the absolute differences down each column, and what zeros add to each side.

    Rows of zeros get rank zero; "wilcox" leaves them out before ranking, "pratt" after, and
    "zsplit" gives half of their ranks to either side.
    """
    sizes = np.abs(differences)
    if zeros == "wilcox":
        # Zeros rank last as infinities and then drop out, which leaves the others' ranks alone.
        ranks = stats.rankdata(np.where(sizes == 0, np.inf, sizes), axis=0)
    else:
        ranks = stats.rankdata(sizes, axis=0)
    ties = np.where(differences == 0, ranks, 0.0).sum(axis=0)
    split = ties / 2 if zeros == "zsplit" else np.zeros_like(ties)
    return np.where(differences == 0, 0.0, ranks), split


@lru_cache(maxsize=4096)
def null_counts(doubled_ranks: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the probability of each sum of doubled ranks under random signs."""
    total = sum(doubled_ranks)
    shares = np.zeros(total + 1)
    shares[0] = 1.0
    reached = 0
    for rank in doubled_ranks:
        shares[rank : reached + rank + 1] += shares[: reached + 1].copy()
        reached += rank
        shares[: reached + 1] *= 0.5
    return shares


def null_shares(ranks: Vector) -> NDArray[np.float64]:
    """Return the null distribution of twice the sum of positive ranks, given all ranks."""
    return null_counts(tuple(np.sort(np.rint(2 * ranks[ranks > 0]).astype(int)).tolist()))


def exact_critical_sum(ranks: Vector, alternative: Alternative, alpha: float) -> float:
    """Return the sum of ranks that just rejects: large for "greater", otherwise small."""
    shares = null_shares(ranks)
    # The distribution is symmetric: large sums mirror small ones.
    limit = alpha / 2 if alternative == "two-sided" else alpha
    sums = np.flatnonzero((np.cumsum(shares) < limit) & (shares > 0))
    if len(sums) == 0:
        return np.nan
    smallest = float(sums[-1]) / 2
    return float(ranks.sum()) - smallest if alternative == "greater" else smallest


def exact_p_value(ranks: Vector, positive_sum: float, alternative: Alternative) -> float:
    """Return the exact p-value of a sum of positive ranks, given all ranks."""
    shares = null_shares(ranks)
    place = round(2 * positive_sum)
    lower, upper = float(shares[: place + 1].sum()), float(shares[place:].sum())
    if alternative == "two-sided":
        return min(1.0, 2 * min(lower, upper))
    return min(1.0, upper if alternative == "greater" else lower)


def wilcoxon_p_values(
    differences: Vector,
    alternative: Alternative = "two-sided",
    zeros: str = "wilcox",
    method: str = "auto",
) -> Vector:
    """Return the p-value of every column of differences; one where all differences are zero."""
    ranks, _ = signed_ranks(differences, zeros)
    positive = np.where(differences > 0, ranks, 0.0).sum(axis=0)
    counts = (ranks > 0).sum(axis=0)
    # Under random signs the mean is half the sum of the ranks and the variance a quarter of the
    # sum of their squares, whatever the ties.
    spread = np.sqrt((ranks**2).sum(axis=0)) / 2
    z = np.divide(
        positive - ranks.sum(axis=0) / 2, spread, out=np.zeros_like(spread), where=spread > 0
    )
    p_values = np.where(counts > 0, symmetric_p_values(z, NORMAL, alternative), 1.0)
    exact = counts > 0
    if method == "auto":
        exact &= counts <= LARGEST_EXACT
    if method != "normal":
        for column in np.flatnonzero(exact):
            p_values[column] = exact_p_value(ranks[:, column], positive[column], alternative)
    return p_values


def wilcoxon_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    zeros: str = "wilcox",
    method: str = "auto",
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> TestResult:
    """Compare two learners over several data sets by the ranks of their differences.

    Parameters
    ----------
    first, second
        Result of either learner on each data set.
    zeros
        What to do with equal results: ``"wilcox"`` leaves them out, ``"pratt"`` ranks them and
        then leaves them out, ``"zsplit"`` gives half of their ranks to each side.
    method
        ``"exact"`` counts all signs, with ties too; ``"normal"`` approximates; ``"auto"`` is
        exact up to fifty differences.
    alternative
        Claim about the first learner's values: ``"less"`` when small ranks sum up on the
        positive side of first minus second.
    alpha
        Level of significance.

    Notes
    -----
    Magnitudes 2, 1, 2, 4 have ranks 2.5, 1, 2.5, 4 (Alpaydin 19.13.1). The statistic is the
    smaller of the rank sums of positive and negative differences first minus second, or that of
    the positive ones for a one-sided claim; both are in ``details``. Which tail supports a claim
    depends on what "positive" means, so the sign is stated here. Of so few data sets that no result
    can reject, the exact p-value is given all the same, and a caveat says so.

    Examples
    --------
    >>> from verulam.statistics import wilcoxon_test
    >>> first = [0.10, 0.12, 0.20, 0.31, 0.15, 0.22, 0.18, 0.09]
    >>> second = [0.12, 0.15, 0.19, 0.37, 0.20, 0.26, 0.25, 0.17]
    >>> print(wilcoxon_test(first, second).headline())
    W = 1, p = 0.0156
    """
    checked_alternative(alternative)
    checked_level(alpha)
    checked_option(zeros, "zeros", ZERO_METHODS)
    checked_option(method, "method", METHODS)
    one, other = pair(first, second, 1, "data sets")
    # Decimal results such as 0.12 - 0.10 and 0.32 - 0.30 tie only up to rounding.
    differences = rounded(one - other, max(np.abs(one).max(), np.abs(other).max()))
    differing = int(np.count_nonzero(differences))
    if differing == 0:
        raise DataError("All ties: the results are equal on every data set.")
    caveats = few_pairs(differing, alternative, alpha)
    if caveats:
        # An approximation may reject where no result can.
        method = "exact"
    column = differences[:, np.newaxis]
    ranks, split = signed_ranks(column, zeros)
    plus = float(ranks[column > 0].sum() + split[0])
    minus = float(ranks[column < 0].sum() + split[0])
    exact = method == "exact" or (method == "auto" and differing <= LARGEST_EXACT)
    sided = alternative != "two-sided"
    critical = exact_critical_sum(ranks, alternative, alpha) + split[0] if exact else np.nan
    return TestResult(
        name="Wilcoxon signed rank test" + (" (exact)" if exact else ""),
        **paired_hypotheses("median", alternative),
        statistic=plus if sided else min(plus, minus),
        statistic_name="W+" if sided else "W",
        p_value=float(wilcoxon_p_values(column, alternative, zeros, method)[0]),
        alpha=alpha,
        critical_value=float(critical),
        tail=alternative,
        effect_size=EffectSize("rank-biserial correlation", (plus - minus) / (plus + minus)),
        assumptions=(
            Assumption("data sets are independent"),
            Assumption("differences are symmetric about their median"),
        ),
        caveats=caveats if differing == len(one) else (*caveats, f"{len(one) - differing} ties"),
        details={"positive_ranks": plus, "negative_ranks": minus},
        source="Alpaydin 19.13.1",
    )
