"""Compiled arithmetic of description lengths."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def subset_bits(n, k, share):
    """Return the bits to point out `k` of `n` where a share is expected."""
    # A worse rule than chance can expect more errors than there are rows.
    share = min(share, 1.0 - 1e-6)
    if share <= 0.0:
        return 0.0
    return -k * np.log2(share) - (n - k) * np.log2(1.0 - share)


@njit(cache=True, nogil=True)
def rule_bits(length, n_conditions):
    """Return the bits of a rule that has `length` of `n_conditions` possible conditions."""
    if length == 0.0:
        return 0.0
    bits = np.log2(length)
    if length > 1.0:
        bits += 2.0 * np.log2(bits)
    # Redundant conditions can make a rule longer than the list it chooses from.
    choices = max(n_conditions, length)
    return 0.5 * (bits + subset_bits(choices, length, length / choices))


@njit(cache=True, nogil=True)
def exception_bits(positive_share, covered, uncovered, false_positives, false_negatives):
    """Return the bits to point out the errors among covered and uncovered rows."""
    bits = np.log2(covered + uncovered + 1.0)
    errors = false_positives + false_negatives
    if covered > uncovered:
        bits += subset_bits(covered, false_positives, positive_share * errors / covered)
        if uncovered > 0.0:
            bits += subset_bits(uncovered, false_negatives, false_negatives / uncovered)
    else:
        if covered > 0.0:
            bits += subset_bits(covered, false_positives, false_positives / covered)
        if uncovered > 0.0:
            bits += subset_bits(
                uncovered, false_negatives, (1.0 - positive_share) * errors / uncovered
            )
    return bits


@njit(cache=True, nogil=True)
def shorten(positives, negatives, uncovered, lengths, first, n_conditions, positive_share, strict):
    """Return which rules stay and the bits saved, from the last rule back to `first`.

    `uncovered` are the weights of positives and negatives that no rule covers; a `strict` look
    also takes out rules that are wrong as often as right.
    """
    kept = np.ones(positives.shape[0], dtype=np.bool_)
    false_positives = negatives.sum()
    covered = positives.sum() + false_positives
    missed = uncovered[0]
    others = uncovered[0] + uncovered[1]
    saved = 0.0
    current = exception_bits(positive_share, covered, others, false_positives, missed)
    for k in range(positives.shape[0] - 1, first - 1, -1):
        weight = positives[k] + negatives[k]
        without = exception_bits(
            positive_share,
            covered - weight,
            others + weight,
            false_positives - negatives[k],
            missed + positives[k],
        )
        gain = current + rule_bits(lengths[k], n_conditions) - without
        if gain >= 0.0 or (strict and negatives[k] >= 0.5 * weight):
            kept[k] = False
            saved += gain
            current = without
            covered -= weight
            others += weight
            false_positives -= negatives[k]
            missed += positives[k]
    return kept, saved
