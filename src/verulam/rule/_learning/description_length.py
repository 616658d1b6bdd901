"""Minimum description length: bits to send a rule base and the exceptions to it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from verulam.rule._learning.description_length_loops import (
    exception_bits,
    rule_bits,
    shorten,
)


@dataclass(frozen=True)
class RuleCounts:
    """What a sequence of rules covers, each the rows that the earlier ones leave over.

    Attributes
    ----------
    positives, negatives : ndarray of shape (n_rules,)
        Weight of the rows of either kind that each rule covers.
    missed, rejected
        Weight of the positives and of the negatives that no rule covers.
    lengths : ndarray of shape (n_rules,)
        Number of conditions of each rule, as float64.
    """

    positives: np.ndarray
    negatives: np.ndarray
    missed: float
    rejected: float
    lengths: np.ndarray


def description_length(
    rule_lengths: ArrayLike,
    *,
    covered: float,
    uncovered: float,
    false_positives: float,
    false_negatives: float,
    n_conditions: float,
    positive_share: float = 0.5,
) -> float:
    r"""Return the bits of a rule base: those of its rules and those of its exceptions.

    Parameters
    ----------
    rule_lengths
        Number of conditions of each rule.
    covered, uncovered
        Weight of the rows that some rule covers, and of the rest.
    false_positives
        Weight of negatives among the covered.
    false_negatives
        Weight of positives among the uncovered.
    n_conditions
        Number of conditions that a rule could choose from.
    positive_share
        Share of errors that are expected to be false positives.

    Notes
    -----
    A subset of :math:`k` out of :math:`n` with expected share :math:`p` takes
    :math:`S(n, k, p) = -k \log_2 p - (n - k) \log_2 (1 - p)` bits. A rule of :math:`k` conditions
    takes half of :math:`\log_2 k + 2 \log_2 \log_2 k + S(m, k, k/m)`, half because its conditions
    may come in any order; the exceptions are two subsets, the larger side's with the share that
    is expected, the other's with its own. See Alpaydin 9.5; the code is Quinlan's of 1995.

    Examples
    --------
    Three exceptions in a hundred rows cost less to list than the class of each row:

    >>> from verulam.rule import description_length
    >>> bits = description_length(
    ...     [2], covered=40, uncovered=60, false_positives=1, false_negatives=2, n_conditions=50
    ... )
    >>> round(bits, 1)
    32.7
    """
    theory = sum(rule_bits(float(length), float(n_conditions)) for length in np.ravel(rule_lengths))
    return float(
        theory
        + exception_bits(
            positive_share,
            float(covered),
            float(uncovered),
            float(false_positives),
            float(false_negatives),
        )
    )


def rules_that_shorten(
    counts: RuleCounts, n_conditions: float, positive_share: float, *, strict: bool = True
) -> np.ndarray:
    """Return which rules stay, looking from the last to the first for shorter descriptions.

    A `strict` look also takes out rules that are wrong as often as right.
    """
    stays, _ = _shortened(counts, 0, n_conditions, positive_share, strict)
    return stays


def least_bits(counts: RuleCounts, first: int, n_conditions: float, positive_share: float) -> float:
    """Return the bits of the exceptions, once rules from `first` on that do not pay are gone."""
    false_positives = float(counts.negatives.sum())
    covered = float(counts.positives.sum()) + false_positives
    bits = exception_bits(
        positive_share, covered, counts.missed + counts.rejected, false_positives, counts.missed
    )
    _, saved = _shortened(counts, first, n_conditions, positive_share, strict=True)
    return float(bits - saved)


def _shortened(
    counts: RuleCounts, first: int, n_conditions: float, positive_share: float, strict: bool
) -> tuple[np.ndarray, float]:
    stays = np.ones(len(counts.positives), dtype=np.bool_)
    saved = shorten(
        counts.positives,
        counts.negatives,
        (counts.missed, counts.rejected),
        counts.lengths,
        first,
        n_conditions,
        positive_share,
        strict,
        stays,
    )
    return stays, saved
