"""Compiled search for the split of least impurity, for classes: no checks."""

import numpy as np

from verulam.tree._growing.growth_parameters import (
    DROP,
    ENTROPY,
    GINI,
    MISSING_TO,
    N_FIRST,
    ROW_BITS,
    ROW_MASK,
)
from verulam.tree._growing.numba_helpers import inner_loop, part_of_loop

#: Class of a group of equal values that are not all of one class.
MIXED = -1


@part_of_loop
def weighted_log(count, log_table):
    """Return ``count * log2(count)``, looked up where counts are whole."""
    if log_table.shape[0] > 0:
        return log_table[np.int64(count)]
    if count <= 0.0:
        return 0.0
    return count * np.log2(count)


@inner_loop
def impurity_sum(counts, extra, use_extra, rules):
    """Return the weight times the impurity of class counts, with `extra` counts added on demand."""
    n_classes = counts.shape[0]
    total = 0.0
    if rules.criterion == GINI:
        squares = 0.0
        for k in range(n_classes):
            count = counts[k] + extra[k] if use_extra else counts[k]
            total += count
            squares += count * count
        return total - squares / total if total > 0.0 else 0.0
    if rules.criterion == ENTROPY:
        logs = 0.0
        for k in range(n_classes):
            count = counts[k] + extra[k] if use_extra else counts[k]
            total += count
            logs += weighted_log(count, rules.table)
        return weighted_log(total, rules.table) - logs
    least = np.inf
    for action in range(rules.loss.shape[0]):
        risk = 0.0
        for k in range(n_classes):
            count = counts[k] + extra[k] if use_extra else counts[k]
            risk += rules.loss[action, k] * count
        least = min(least, risk)
    return least


@part_of_loop
def count_missing(words, n_known, sample, missing):
    """Count the classes of the rows behind the known ones."""
    weights, classes = sample.weights, sample.classes
    for k in range(missing.shape[0]):
        missing[k] = 0.0
    for i in range(n_known, words.shape[0]):
        row = words[i] & ROW_MASK
        missing[classes[row]] += weights[row] if weights.shape[0] > 0 else 1.0


@part_of_loop
def least_rows(n_known, rules):
    """Return the fewest rows of a side; C4.5 asks for more where there are many to choose from."""
    if not rules.gain_ratio:
        return rules.min_leaf
    return max(rules.min_leaf, min(25, np.int64(0.1 * n_known / rules.n_classes)))


@part_of_loop
def pair_sum(one, other, entropy, logs):
    """Return the weight times the impurity of two whole class counts, not both 0."""
    if entropy:
        return logs[one + other] - logs[one] - logs[other]
    return 2.0 * np.float64(one) * other / (one + other)


@inner_loop
def scan_two_classes(words, n_known, node_counts, missing, sample, rules, found):
    """Search one ordered column, for two classes of equal weights; return the least impurity."""
    n_missing, best = words.shape[0] - n_known, np.inf
    min_leaf = least_rows(n_known, rules)
    lost0, lost1 = int(missing[0]), int(missing[1])
    total0, total1 = int(node_counts[0]) - lost0, int(node_counts[1]) - lost1
    entropy, logs, classes = rules.criterion == ENTROPY, rules.table, sample.classes
    if min(n_known, n_missing) >= min_leaf:
        best = pair_sum(total0, total1, entropy, logs) + pair_sum(lost0, lost1, entropy, logs)
        found[N_FIRST], found[MISSING_TO] = n_known, 1.0
    left1, group, previous = 0, MIXED, words[0] >> ROW_BITS
    for i in range(n_known):
        word = words[i]
        rank = word >> ROW_BITS
        k = int(classes[word & ROW_MASK])
        if rank != previous:
            pure = group == k and (i + 1 == n_known or words[i + 1] >> ROW_BITS != rank)
            if not (pure and rules.boundaries_only):
                left0, right1 = i - left1, total1 - left1
                right0 = total0 - left0
                if i + n_missing >= min_leaf and n_known - i >= min_leaf:
                    score = pair_sum(left0 + lost0, left1 + lost1, entropy, logs)
                    score += pair_sum(right0, right1, entropy, logs)
                    if score < best:
                        best, found[N_FIRST], found[MISSING_TO] = score, i, 0.0
                if n_missing > 0 and i >= min_leaf and n_known - i + n_missing >= min_leaf:
                    score = pair_sum(left0, left1, entropy, logs)
                    score += pair_sum(right0 + lost0, right1 + lost1, entropy, logs)
                    if score < best:
                        best, found[N_FIRST], found[MISSING_TO] = score, i, 1.0
            group, previous = k, rank
        elif group != k:
            group = MIXED if i > 0 else k
        left1 += k
    if n_missing == 0:
        found[MISSING_TO] = -1.0
    return best


@inner_loop
def scan_classes(words, n_known, node_counts, sample, rules, scratch, found):
    """Search one ordered column for the threshold of least impurity.

    `words` are a node's rows by rank, the missing ones last. The drop of the impurity times
    weight, the number of known rows on the first side and the side of the missing ones are
    written into `found`.
    """
    weights, classes, counts = sample.weights, sample.classes, scratch.counts
    n_missing = words.shape[0] - n_known
    whole = weights.shape[0] == 0 and not rules.fractional
    found[MISSING_TO] = -1.0
    first, second, missing = counts[1], counts[2], counts[3]
    count_missing(words, n_known, sample, missing)
    if rules.n_classes == 2 and whole and rules.criterion <= ENTROPY:
        best = scan_two_classes(words, n_known, node_counts, missing, sample, rules, found)
        found[DROP] = impurity_sum(node_counts, node_counts, False, rules) - best
        return
    for k in range(rules.n_classes):
        first[k], second[k] = 0.0, node_counts[k] - missing[k]
    own_branch = n_missing > 0 and not rules.fractional
    min_leaf = least_rows(n_known, rules)
    parent = impurity_sum(second, missing, own_branch, rules)
    best = np.inf
    if own_branch and min(n_known, n_missing) >= min_leaf:
        best = impurity_sum(second, missing, False, rules)
        best += impurity_sum(missing, missing, False, rules)
        found[N_FIRST], found[MISSING_TO] = n_known, 1.0
    group = MIXED
    previous = words[0] >> ROW_BITS
    for i in range(n_known):
        word = words[i]
        rank = word >> ROW_BITS
        row = word & ROW_MASK
        k = int(classes[row])
        if rank != previous:
            pure = group == k and (i + 1 == n_known or words[i + 1] >> ROW_BITS != rank)
            if not (pure and rules.boundaries_only):
                for side in range(2 if own_branch else 1):
                    n_first = i + (n_missing if own_branch and side == 0 else 0)
                    n_second = n_known - i + (n_missing if own_branch and side == 1 else 0)
                    if min(n_first, n_second) < min_leaf:
                        continue
                    score = impurity_sum(first, missing, own_branch and side == 0, rules)
                    score += impurity_sum(second, missing, own_branch and side == 1, rules)
                    if score < best:
                        best = score
                        found[N_FIRST] = i
                        found[MISSING_TO] = side if own_branch else -1.0
            group, previous = k, rank
        elif group != k:
            group = MIXED if i > 0 else k
        weight = weights[row] if weights.shape[0] > 0 else 1.0
        first[k] += weight
        second[k] -= weight
    found[DROP] = parent - best


@inner_loop
def group_classes(words, n_known, node_counts, sample, rules, scratch, found):
    """Judge the n-way split of a column ordered by category."""
    weights, classes, counts = sample.weights, sample.classes, scratch.counts
    n_missing = words.shape[0] - n_known
    missing, group, known = counts[3], counts[1], counts[2]
    count_missing(words, n_known, sample, missing)
    for k in range(rules.n_classes):
        known[k], group[k] = node_counts[k] - missing[k], 0.0
    total, saved, n_groups, n_large, start = 0.0, np.inf, 0, 0, 0
    own_branch = n_missing > 0 and not rules.fractional
    for i in range(n_known):
        row = words[i] & ROW_MASK
        group[classes[row]] += weights[row] if weights.shape[0] > 0 else 1.0
        if i + 1 == n_known or words[i + 1] >> ROW_BITS != words[i] >> ROW_BITS:
            alone = impurity_sum(group, missing, False, rules)
            total += alone
            if own_branch:
                change = impurity_sum(group, missing, True, rules) - alone
                if change < saved:
                    saved = change
                    found[MISSING_TO] = n_groups
            n_large += i + 1 - start >= rules.min_leaf
            n_groups, start = n_groups + 1, i + 1
            for k in range(rules.n_classes):
                group[k] = 0.0
    if n_groups < 2 or n_large < 2:
        found[DROP] = -np.inf
        return
    if own_branch:
        total += saved
        found[DROP] = impurity_sum(node_counts, missing, False, rules) - total
    else:
        found[MISSING_TO] = -1.0
        found[DROP] = impurity_sum(known, missing, False, rules) - total
    found[N_FIRST] = n_groups
