"""Compiled split search for classification: least impurity of an ordered column, no checks.

Impurities are multiplied by the weight of their rows, so that those of two sides add up.
"""

import numpy as np

from verulam.tree._growing.growth_parameters import (
    DECREASE,
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
def impurity_sum(counts, extra, use_extra, parameters):
    """Return the weight times the impurity of class counts, with `extra` counts added on demand."""
    n_classes = counts.shape[0]
    total = 0.0
    if parameters.criterion == GINI:
        # N times 1 - sum p_k^2 is N - sum n_k^2 / N.
        squares = 0.0
        for k in range(n_classes):
            count = counts[k] + extra[k] if use_extra else counts[k]
            total += count
            squares += count * count
        return total - squares / total if total > 0.0 else 0.0
    if parameters.criterion == ENTROPY:
        # N times -sum p_k log p_k is N log N - sum n_k log n_k: no division, and the terms of whole
        # counts can be tabled.
        logs = 0.0
        for k in range(n_classes):
            count = counts[k] + extra[k] if use_extra else counts[k]
            total += count
            logs += weighted_log(count, parameters.table)
        return weighted_log(total, parameters.table) - logs
    # The risk is that of the best action.
    least = np.inf
    for action in range(parameters.loss.shape[0]):
        risk = 0.0
        for k in range(n_classes):
            count = counts[k] + extra[k] if use_extra else counts[k]
            risk += parameters.loss[action, k] * count
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
def least_rows(n_known, parameters):
    """Return the fewest rows of a side; C4.5 asks for more where there are many to choose from."""
    if not parameters.gain_ratio:
        return parameters.min_leaf
    return max(parameters.min_leaf, min(25, np.int64(0.1 * n_known / parameters.n_classes)))


@part_of_loop
def pair_sum(one, other, entropy, logs):
    """Return the weight times the impurity of two whole class counts, not both 0."""
    # As in `impurity_sum`; the Gini index of two classes is 2 p (1 - p).
    if entropy:
        return logs[one + other] - logs[one] - logs[other]
    return 2.0 * np.float64(one) * other / (one + other)


@inner_loop
def scan_two_classes(words, n_known, node_counts, missing, sample, parameters, split):
    """Search one ordered column, for two classes of equal weights; return the least impurity."""
    n_missing, best = words.shape[0] - n_known, np.inf
    min_leaf = least_rows(n_known, parameters)
    # Rows without weights are whole numbers, and of two classes one is enough: `left1` counts it,
    # the other is the rest of the rows passed.
    lost0, lost1 = int(missing[0]), int(missing[1])
    total0, total1 = int(node_counts[0]) - lost0, int(node_counts[1]) - lost1
    entropy, logs, classes = parameters.criterion == ENTROPY, parameters.table, sample.classes
    if min(n_known, n_missing) >= min_leaf:
        # A threshold above all known values: these on one side, the missing ones on the other.
        best = pair_sum(total0, total1, entropy, logs) + pair_sum(lost0, lost1, entropy, logs)
        split[N_FIRST], split[MISSING_TO] = n_known, 1.0
    left1, group, previous = 0, MIXED, words[0] >> ROW_BITS
    for i in range(n_known):
        word = words[i]
        rank = word >> ROW_BITS
        k = int(classes[word & ROW_MASK])
        if rank != previous:
            # A cut between two neighbouring values of one class is never better than both cuts
            # around them (boundary points of Fayyad and Irani, 1992). Of the value that starts
            # here, it is known to be of one class where it has a single row.
            pure = group == k and (i + 1 == n_known or words[i + 1] >> ROW_BITS != rank)
            if not (pure and parameters.boundaries_only):
                left0, right1 = i - left1, total1 - left1
                right0 = total0 - left0
                if i + n_missing >= min_leaf and n_known - i >= min_leaf:
                    score = pair_sum(left0 + lost0, left1 + lost1, entropy, logs)
                    score += pair_sum(right0, right1, entropy, logs)
                    if score < best:
                        best, split[N_FIRST], split[MISSING_TO] = score, i, 0.0
                if n_missing > 0 and i >= min_leaf and n_known - i + n_missing >= min_leaf:
                    score = pair_sum(left0, left1, entropy, logs)
                    score += pair_sum(right0 + lost0, right1 + lost1, entropy, logs)
                    if score < best:
                        best, split[N_FIRST], split[MISSING_TO] = score, i, 1.0
            group, previous = k, rank
        elif group != k:
            group = MIXED if i > 0 else k
        left1 += k
    if n_missing == 0:
        split[MISSING_TO] = -1.0
    return best


@inner_loop
def scan_classes(words, n_known, node_counts, sample, parameters, scratch, split):
    """Search one ordered column for the threshold of least impurity.

    `words` are a node's rows by rank, the missing ones last. The drop of the impurity times
    weight, the number of known rows on the first side and the side of the missing ones are
    written into `split`.
    """
    weights, classes, counts = sample.weights, sample.classes, scratch.counts
    n_missing = words.shape[0] - n_known
    whole = weights.shape[0] == 0 and not parameters.fractional
    split[MISSING_TO] = -1.0
    first, second, missing = counts[1], counts[2], counts[3]
    count_missing(words, n_known, sample, missing)
    if parameters.n_classes == 2 and whole and parameters.criterion <= ENTROPY:
        best = scan_two_classes(words, n_known, node_counts, missing, sample, parameters, split)
        split[DECREASE] = impurity_sum(node_counts, node_counts, False, parameters) - best
        return
    for k in range(parameters.n_classes):
        first[k], second[k] = 0.0, node_counts[k] - missing[k]
    with_missing = n_missing > 0 and not parameters.fractional
    min_leaf = least_rows(n_known, parameters)
    parent = impurity_sum(second, missing, with_missing, parameters)
    best = np.inf
    if with_missing and min(n_known, n_missing) >= min_leaf:
        # The known values on one side, the missing ones on the other.
        best = impurity_sum(second, missing, False, parameters)
        best += impurity_sum(missing, missing, False, parameters)
        split[N_FIRST], split[MISSING_TO] = n_known, 1.0
    group = MIXED
    previous = words[0] >> ROW_BITS
    for i in range(n_known):
        word = words[i]
        rank = word >> ROW_BITS
        row = word & ROW_MASK
        k = int(classes[row])
        if rank != previous:
            pure = group == k and (i + 1 == n_known or words[i + 1] >> ROW_BITS != rank)
            # See `scan_two_classes` for the points that are left out.
            if not (pure and parameters.boundaries_only):
                for side in range(2 if with_missing else 1):
                    n_first = i + (n_missing if with_missing and side == 0 else 0)
                    n_second = n_known - i + (n_missing if with_missing and side == 1 else 0)
                    if min(n_first, n_second) < min_leaf:
                        continue
                    score = impurity_sum(first, missing, with_missing and side == 0, parameters)
                    score += impurity_sum(second, missing, with_missing and side == 1, parameters)
                    if score < best:
                        best = score
                        split[N_FIRST] = i
                        split[MISSING_TO] = side if with_missing else -1.0
            group, previous = k, rank
        elif group != k:
            group = MIXED if i > 0 else k
        weight = weights[row] if weights.shape[0] > 0 else 1.0
        first[k] += weight
        second[k] -= weight
    split[DECREASE] = parent - best


@inner_loop
def group_classes(words, n_known, node_counts, sample, parameters, scratch, split):
    """Judge the n-way split of a column ordered by category."""
    weights, classes, counts = sample.weights, sample.classes, scratch.counts
    n_missing = words.shape[0] - n_known
    missing, group, known = counts[3], counts[1], counts[2]
    count_missing(words, n_known, sample, missing)
    for k in range(parameters.n_classes):
        known[k], group[k] = node_counts[k] - missing[k], 0.0
    total, saved, n_groups, n_large, start = 0.0, np.inf, 0, 0, 0
    with_missing = n_missing > 0 and not parameters.fractional
    for i in range(n_known):
        row = words[i] & ROW_MASK
        group[classes[row]] += weights[row] if weights.shape[0] > 0 else 1.0
        if i + 1 == n_known or words[i + 1] >> ROW_BITS != words[i] >> ROW_BITS:
            alone = impurity_sum(group, missing, False, parameters)
            total += alone
            if with_missing:
                # Of the impurities only that of the group which takes the missing rows changes, so
                # that each is tried at the cost of one.
                change = impurity_sum(group, missing, True, parameters) - alone
                if change < saved:
                    saved = change
                    split[MISSING_TO] = n_groups
            n_large += i + 1 - start >= parameters.min_leaf
            n_groups, start = n_groups + 1, i + 1
            for k in range(parameters.n_classes):
                group[k] = 0.0
    if n_groups < 2 or n_large < 2:
        split[DECREASE] = -np.inf
        return
    if with_missing:
        total += saved
        split[DECREASE] = impurity_sum(node_counts, missing, False, parameters) - total
    else:
        split[MISSING_TO] = -1.0
        split[DECREASE] = impurity_sum(known, missing, False, parameters) - total
    split[N_FIRST] = n_groups
