"""Compiled arithmetic of minimum description length, and deletion of rules by it."""

import numpy as np

from verulam.numerics import njit


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
    # log k + 2 log log k approximates the universal code of the integer k.
    bits = np.log2(length)
    if length > 1.0:
        bits += 2.0 * np.log2(bits)
    # Redundant conditions can make a rule longer than the list it chooses from.
    choices = max(n_conditions, length)
    return 0.5 * (bits + subset_bits(choices, length, length / choices))


@njit(cache=True, nogil=True)
def exception_bits(positive_share, covered, uncovered, false_positives, false_negatives):
    """Return the bits to point out the errors among covered and uncovered rows."""
    # The number of errors is sent first, of which the larger side has a share that is agreed upon;
    # what is left of them, and so the share of the other side, is then known (Quinlan 1995).
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
def shorten(
    positives, negatives, uncovered, lengths, first, n_conditions, positive_share, strict, stays
):
    """Return the bits saved and mark which rules stay, from the last rule back to `first`.

    `uncovered` are the weights of positives and negatives that no rule covers; a `strict` look
    also takes out rules that are wrong as often as right.
    """
    false_positives = covered = 0.0
    for k in range(positives.shape[0]):
        false_positives += negatives[k]
        covered += positives[k] + negatives[k]
    missed = uncovered[0]
    others = uncovered[0] + uncovered[1]
    saved = 0.0
    current = exception_bits(positive_share, covered, others, false_positives, missed)
    # The rows of a rule that goes count as uncovered, though a later rule may cover them.
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
            stays[k] = False
            saved += gain
            current = without
            covered -= weight
            others += weight
            false_positives -= negatives[k]
            missed += positives[k]
    return saved


@njit(cache=True, nogil=True)
def covered_bits(right, wrong, positives, total):
    """Return the bits of the exceptions where rules cover so much of either side."""
    covered = right + wrong
    missed = max(positives - right, 0.0)
    return exception_bits(positives / total, covered, total - covered, wrong, missed)


@njit(cache=True, nogil=True)
def least_useful(right, wrong, alone, stays, theory, positives, total):
    """Return the rule whose deletion saves the most bits, or -1 if none saves any."""
    present = covered_bits(right, wrong, positives, total)
    worst, most = -1, 0.0
    for rule in range(stays.shape[0]):
        if stays[rule]:
            still_right = max(right - alone[rule, 0], 0.0)
            still_wrong = max(wrong - alone[rule, 1], 0.0)
            without = covered_bits(still_right, still_wrong, positives, total)
            if present + theory[rule] - without > most:
                worst, most = rule, present + theory[rule] - without
    return worst


@njit(cache=True, nogil=True)
def rules_that_pay(coverage, positives, negatives, theory):
    """Return which rules stay after deleting, one at a time, the one that saves the most bits.

    `coverage` has a line for each rule and tells which rows it covers; the rows have a weight as
    `positives` or as `negatives`, the rules their bits in `theory`.
    """
    n_rules, n_rows = coverage.shape
    times = np.zeros(n_rows, dtype=np.int32)
    # Where one rule is left, the sum of the places of a row's rules is its place.
    places = np.zeros(n_rows, dtype=np.int64)
    for rule in range(n_rules):
        for row in range(n_rows):
            if coverage[rule, row]:
                times[row] += 1
                places[row] += rule
    alone = np.zeros((n_rules, 2))
    right = positives[times > 0].sum()
    wrong = negatives[times > 0].sum()
    for once in np.flatnonzero(times == 1):
        alone[places[once], 0] += positives[once]
        alone[places[once], 1] += negatives[once]
    all_positives = positives.sum()
    total = all_positives + negatives.sum()
    stays = np.ones(n_rules, dtype=np.bool_)
    while True:
        worst = least_useful(right, wrong, alone, stays, theory, all_positives, total)
        if worst < 0:
            return stays
        stays[worst] = False
        right = max(right - alone[worst, 0], 0.0)
        wrong = max(wrong - alone[worst, 1], 0.0)
        # Rows that are left with one rule now depend on that one alone.
        for freed in np.flatnonzero(coverage[worst]):
            times[freed] -= 1
            places[freed] -= worst
            if times[freed] == 1:
                alone[places[freed], 0] += positives[freed]
                alone[places[freed], 1] += negatives[freed]
