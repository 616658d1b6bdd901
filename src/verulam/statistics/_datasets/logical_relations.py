"""Shaffer's and Bergmann and Hommel's procedures: which pairs can be equal at the same time."""

from functools import cache
from itertools import combinations
from math import comb, isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.statistics._core.checks import Vector, checked_option, checked_p_values
from verulam.statistics._core.multiple_comparisons import ADJUSTMENTS, adjust_p_values

PAIR_ADJUSTMENTS = (*ADJUSTMENTS, "shaffer", "bergmann-hommel")
#: What the adjustments are called in names of procedures.
ADJUSTMENT_NAMES = {
    "none": "no adjustment",
    "bonferroni": "Bonferroni's adjustment",
    "holm": "Holm's procedure",
    "hochberg": "Hochberg's procedure",
    "benjamini-hochberg": "Benjamini and Hochberg's procedure",
    "shaffer": "Shaffer's procedure",
    "bergmann-hommel": "Bergmann and Hommel's procedure",
}
#: Ten learners have 115,975 partitions, which take tens of milliseconds; twelve have 4 million.
MOST_LEARNERS = 10


def adjust_pairs(p_values: ArrayLike, method: str = "shaffer") -> Vector:
    r"""Return p-values of all pairs of learners that can be compared with one overall level.

    Parameters
    ----------
    p_values
        p-values of the :math:`m = k(k-1)/2` pairs of k learners in the order of
        `itertools.combinations`: first and second, first and third, up to the last two.
    method
        ``"shaffer"``, for any number of learners; ``"bergmann-hommel"``, which rejects more, for
        up to ten; or a method of `adjust_p_values`, which does not know that these are pairs.

    Notes
    -----
    When a differs from b, then c differs from at least one of them: not every set of pairs can be
    equal at the same time. Those sets that can are called exhaustive: the pairs inside the blocks
    of a partition of the learners.

    Shaffer's static procedure [shaffer1986]_ takes the p-values in ascending order and multiplies
    the i-th by the largest number :math:`t_i` of pairs that can be equal when i - 1 are not:

    .. math:: \min\{1, \max_{j \le i} t_j\, p_{(j)}\}, \qquad
              t_j = \max\{s \in S(k): s \le m - j + 1\}, \qquad
              S(k) = \bigcup_{j=1}^{k} \{j(j-1)/2 + s: s \in S(k-j)\}

    with :math:`S(0) = S(1) = \{0\}`. Bergmann and Hommel's procedure [bergmann1988]_ looks at each
    exhaustive set I of which the pair i is one:

    .. math:: \min\{1, \max\{|I| \min_{j \in I} p_j: i \in I\}\}

    Both hold the chance of any false rejection below the level, whatever the dependence of the
    tests. Adjusted by Bergmann and Hommel, a p-value is never above Shaffer's, and Shaffer's never
    above Holm's [garcia2008]_. A pair with a larger p-value than another can have a smaller
    adjusted one by Bergmann and Hommel, because it is in other exhaustive sets.

    References
    ----------
    .. [shaffer1986] J. P. Shaffer, "Modified sequentially rejective multiple test procedures",
       Journal of the American Statistical Association 81, 1986.
    .. [bergmann1988] B. Bergmann and G. Hommel, "Improvements of general multiple test procedures
       for redundant systems of hypotheses", in Multiple Hypotheses Testing, Springer, 1988.
    .. [garcia2008] S. Garcia and F. Herrera, "An extension on 'Statistical comparisons of
       classifiers over multiple data sets' for all pairwise comparisons", Journal of Machine
       Learning Research 9, 2008.

    Examples
    --------
    Three learners. When one pair differs, at most one of the other two pairs is equal:

    >>> from verulam.statistics import adjust_pairs
    >>> adjust_pairs([0.01, 0.03, 0.04], "holm")
    array([0.03, 0.06, 0.06])
    >>> adjust_pairs([0.01, 0.03, 0.04], "shaffer")
    array([0.03, 0.03, 0.04])
    """
    checked_option(method, "method", PAIR_ADJUSTMENTS)
    values = checked_p_values(p_values)
    learners = learner_count(len(values))
    if method == "shaffer":
        return shaffer_adjusted(values, learners)
    if method == "bergmann-hommel":
        return bergmann_hommel_adjusted(values, learners)
    return adjust_p_values(values, method)


def learner_count(pairs: int) -> int:
    """Return how many learners have so many pairs."""
    count = (1 + isqrt(1 + 8 * pairs)) // 2
    if comb(count, 2) != pairs:
        raise DataError(
            f"p_values has {pairs} values, but needs one for each pair of k learners, "
            f"k (k - 1) / 2 in all: {count} learners have {comb(count, 2)} and {count + 1} have "
            f"{comb(count + 1, 2)}."
        )
    return count


@cache
def equal_counts(learners: int) -> NDArray[np.intp]:
    """Return S(k): how many pairs of k learners can be equal together, ascending."""
    # Bit s of the k-th number is set where s is in S(k), so that adding is shifting.
    sets = [1]
    for count in range(1, learners + 1):
        bits = 0
        # One learner's block has `block` members, all equal in pairs; the rest is partitioned in
        # turn.
        for block in range(1, count + 1):
            bits |= sets[count - block] << comb(block, 2)
        sets.append(bits)
    return np.flatnonzero(np.array(list(f"{sets[learners]:b}"[::-1])) == "1")


def shaffer_factors(learners: int) -> NDArray[np.intp]:
    """Return the largest number of equal pairs when 0, 1, 2, ... pairs are known to differ."""
    counts, pairs = equal_counts(learners), comb(learners, 2)
    # With i - 1 pairs known to differ, at most the largest possible count of what is left can be
    # equal, which is never more than Holm assumes.
    return counts[np.searchsorted(counts, np.arange(pairs, 0, -1), side="right") - 1]


def shaffer_adjusted(p_values: Vector, learners: int) -> Vector:
    """Return the p-values of all pairs, adjusted by Shaffer's static procedure."""
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    stepped = np.maximum.accumulate(p_values[order] * shaffer_factors(learners))
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted


@cache
def partitions(learners: int) -> NDArray[np.int8]:
    """Return the block of each learner (row) in each partition of the learners (column)."""
    blocks = np.zeros((1, 1), dtype=np.int8)
    for _ in range(learners - 1):
        # The next learner joins a block that there is, or opens the next one.
        choices = blocks.max(axis=0).astype(np.intp) + 2
        starts = np.repeat(np.cumsum(choices) - choices, choices)
        joined = (np.arange(choices.sum()) - starts).astype(np.int8)
        blocks = np.vstack([np.repeat(blocks, choices, axis=1), joined])
    return blocks


def bergmann_hommel_adjusted(p_values: Vector, learners: int) -> Vector:
    """Return the p-values of all pairs, adjusted by Bergmann and Hommel's procedure."""
    if learners > MOST_LEARNERS:
        raise ValueError(
            f"bergmann-hommel takes at most {MOST_LEARNERS} learners, because it goes through all "
            f"their partitions, but there are {learners}: use shaffer, which takes any number."
        )
    blocks = partitions(learners)
    pairs = list(combinations(range(learners), 2))
    sizes, smallest = np.zeros(blocks.shape[1]), np.ones(blocks.shape[1])
    for (first, second), p_value in zip(pairs, p_values, strict=True):
        together = blocks[first] == blocks[second]
        sizes += together
        np.minimum(smallest, p_value, out=smallest, where=together)
    # Each partition is a set of pairs that can be equal at the same time. Bonferroni inside of it,
    # and a pair is as safe as the worst set that it belongs to.
    bounds = np.minimum(1.0, sizes * smallest)
    return np.array([bounds[blocks[first] == blocks[second]].max() for first, second in pairs])
