"""Compiled split search for regression: least error of an ordered column, no checks."""

import numpy as np

from verulam.tree._growing.growth_parameters import (
    ABSOLUTE,
    DECREASE,
    MISSING_TO,
    N_FIRST,
    ROW_BITS,
    ROW_MASK,
    VARIANCE,
    WORST,
    WORST_OF_MEAN,
)
from verulam.tree._growing.numba_helpers import inner_loop, part_of_loop, sort_order, total_of


@inner_loop
def weighted_median(numbers, weights):
    """Return the median, halfway between two numbers where half the weight is on either side."""
    order = np.empty(numbers.shape[0], dtype=np.int64)
    sort_order(numbers, order, numbers.shape[0])
    half, passed = 0.5 * total_of(weights), 0.0
    for place in range(order.shape[0]):
        passed += weights[order[place]]
        if passed > half * (1.0 + 1e-12):
            return numbers[order[place]]
        if passed >= half * (1.0 - 1e-12) and place + 1 < order.shape[0]:
            return 0.5 * (numbers[order[place]] + numbers[order[place + 1]])
    return numbers[order[-1]]


@inner_loop
def summarise_targets(rows, sample, criterion):
    """Return the weight of some rows, the number to predict for them, and its mean error."""
    weight = total = squares = 0.0
    low, high = np.inf, -np.inf
    for row in rows:
        w = sample.weights[row] if sample.weights.shape[0] > 0 else 1.0
        number = sample.targets[row]
        weight += w
        total += w * number
        squares += w * number * number
        low, high = min(low, number), max(high, number)
    if criterion == WORST:
        return weight, 0.5 * (low + high), 0.5 * (high - low)
    if low == high:
        return weight, low, 0.0
    mean = total / weight
    if criterion == WORST_OF_MEAN:
        return weight, mean, max(mean - low, high - mean)
    if criterion == VARIANCE:
        return weight, mean, max(0.0, squares / weight - mean * mean)
    numbers = np.empty(rows.shape[0])
    weights = np.ones(rows.shape[0])
    for place in range(rows.shape[0]):
        numbers[place] = sample.targets[rows[place]]
        if sample.weights.shape[0] > 0:
            weights[place] = sample.weights[rows[place]]
    median = weighted_median(numbers, weights)
    error = 0.0
    for place in range(rows.shape[0]):
        error += weights[place] * abs(numbers[place] - median)
    return weight, median, error / weight


@inner_loop
def scan_plain_variance(words, total, targets, inverse, min_leaf):
    """Search one ordered column without gaps or weights.

    Returns the largest sum of squared sums over rows, and the number of rows on the first side.
    It takes bare arrays, because most nodes have a handful of rows, and then it is the call that
    costs.
    """
    # The squared error of a side is the sum of its squares less (sum)^2 / n, and the squares of
    # both sides add up to the same whatever the cut: the largest sum of (sum)^2 / n has the least
    # error. The inverses are tabled because a division is slow.
    n, best, first, n_first = words.shape[0], -np.inf, 0.0, 0
    previous = words[0] >> ROW_BITS
    for i in range(n):
        rank = words[i] >> ROW_BITS
        if rank != previous:
            previous = rank
            second = total - first
            score = first * first * inverse[i] + second * second * inverse[n - i]
            if score > best and min_leaf <= i <= n - min_leaf:
                best, n_first = score, i
        first += targets[words[i] & ROW_MASK]
    return best, n_first


@inner_loop
def scan_variance(words, n_known, node_sums, sample, parameters, split):
    """Search one ordered column for the threshold of least squared error.

    `node_sums` holds the weight of the node's rows and the weighted sum of their targets.
    """
    n = words.shape[0]
    n_missing = n - n_known
    split[MISSING_TO] = -1.0
    if n_missing == 0 and parameters.table.shape[0] > 0:
        best, n_first = scan_plain_variance(
            words, node_sums[1], sample.targets, parameters.table, parameters.min_leaf
        )
        split[DECREASE] = best - node_sums[1] * node_sums[1] / node_sums[0]
        split[N_FIRST] = n_first
        return
    lost_weight = lost_sum = 0.0
    for i in range(n_known, n):
        row = words[i] & ROW_MASK
        weight = sample.weights[row] if sample.weights.shape[0] > 0 else 1.0
        lost_weight += weight
        lost_sum += weight * sample.targets[row]
    second_weight, second_sum = node_sums[0] - lost_weight, node_sums[1] - lost_sum
    with_missing = n_missing > 0 and not parameters.fractional
    parent_weight, parent_sum = second_weight, second_sum
    if with_missing:
        parent_weight, parent_sum = second_weight + lost_weight, second_sum + lost_sum
    best, first_weight, first_sum = -np.inf, 0.0, 0.0
    # The known values on one side, the missing ones on the other.
    if with_missing and min(n_known, n_missing) >= parameters.min_leaf:
        best = second_sum * second_sum / second_weight + lost_sum * lost_sum / lost_weight
        split[N_FIRST], split[MISSING_TO] = n_known, 1.0
    previous = words[0] >> ROW_BITS
    for i in range(n_known):
        rank = words[i] >> ROW_BITS
        row = words[i] & ROW_MASK
        if rank != previous:
            previous = rank
            for side in range(2 if with_missing else 1):
                n_first, n_second = i, n_known - i
                weight1, sum1, weight2, sum2 = first_weight, first_sum, second_weight, second_sum
                if with_missing and side == 0:
                    n_first, weight1, sum1 = i + n_missing, weight1 + lost_weight, sum1 + lost_sum
                elif with_missing:
                    n_second, weight2, sum2 = (
                        n_second + n_missing,
                        weight2 + lost_weight,
                        sum2 + lost_sum,
                    )
                if min(n_first, n_second) < parameters.min_leaf:
                    continue
                # Both quotients on one denominator: one division instead of two.
                score = (sum1 * sum1 * weight2 + sum2 * sum2 * weight1) / (weight1 * weight2)
                if score > best:
                    best = score
                    split[N_FIRST] = i
                    split[MISSING_TO] = side if with_missing else -1.0
        weight = sample.weights[row] if sample.weights.shape[0] > 0 else 1.0
        moved = weight * sample.targets[row]
        first_weight += weight
        first_sum += moved
        second_weight -= weight
        second_sum -= moved
    split[DECREASE] = best - parent_sum * parent_sum / parent_weight


@inner_loop
def running_errors(words, n_known, missing_side, backwards, sample, criterion, ranks, errors):
    """Fill ``errors[i]`` with the weight times error of the first i known rows (or the last i).

    `missing_side` says whether the rows with a missing value belong to the running side.
    """
    n = words.shape[0]
    weight, low, high = 0.0, np.inf, -np.inf
    if criterion == ABSOLUTE:
        # Fenwick trees over the ranks of the targets hold weights and weighted sums: a row is
        # added, and the median found, in log n steps.
        tree_weight, tree_sum = np.zeros(n + 1), np.zeros(n + 1)
        by_rank = np.empty(n)
        for i in range(n):
            row = words[i] & ROW_MASK
            by_rank[ranks[row]] = sample.targets[row]
    total = 0.0
    # Missing rows that belong to this side are on it from the start: they are the steps below 0.
    n_extra = n - n_known if missing_side else 0
    for step in range(-n_extra, n_known):
        known = n_known - 1 - step if backwards else step
        place = known if step >= 0 else n + step
        row = words[place] & ROW_MASK
        w = sample.weights[row] if sample.weights.shape[0] > 0 else 1.0
        number = sample.targets[row]
        weight += w
        total += w * number
        if criterion >= WORST:
            low, high = min(low, number), max(high, number)
            centre = 0.5 * (low + high) if criterion == WORST else total / weight
            error = max(centre - low, high - centre)
        else:
            add_at(tree_weight, ranks[row], w)
            add_at(tree_sum, ranks[row], w * number)
            below, sum_below, place_of = weight_below(tree_weight, tree_sum, 0.5 * weight)
            # The sum of |r - m| is m W - S over what is below the median, and S - m W over the
            # rest.
            median = by_rank[min(place_of, n - 1)]
            error = median * below - sum_below + (total - sum_below) - median * (weight - below)
        if step >= 0:
            errors[step + 1] = max(0.0, error)


@part_of_loop
def add_at(tree, place, amount):
    """Add to one entry of a Fenwick tree (binary indexed tree) of sums."""
    place += 1
    while place < tree.shape[0]:
        tree[place] += amount
        place += place & -place


@part_of_loop
def weight_below(tree_weight, tree_sum, half):
    """Return weight and sum of the entries before the one where the weight passes `half`."""
    n = tree_weight.shape[0] - 1
    # Down the tree from its largest power of two: each step either takes the whole block of entries
    # or halves it.
    step = 1
    while step * 2 <= n:
        step *= 2
    place, below, sum_below = 0, 0.0, 0.0
    while step > 0:
        if place + step <= n and below + tree_weight[place + step] < half:
            place += step
            below += tree_weight[place]
            sum_below += tree_sum[place]
        step //= 2
    return below, sum_below, place


@inner_loop
def scan_errors(words, n_known, sample, parameters, scratch, parent, split):
    """Search one ordered column for the threshold of least absolute or worst error."""
    n = words.shape[0]
    first, second = scratch.numbers[0], scratch.numbers[1]
    with_missing = n > n_known and not parameters.fractional
    n_missing = n - n_known
    best = np.inf
    split[MISSING_TO] = -1.0
    worst = parameters.criterion >= WORST
    ranks = scratch.ranks
    for side in range(2 if with_missing else 1):
        running_errors(
            words,
            n_known,
            with_missing and side == 0,
            False,
            sample,
            parameters.criterion,
            ranks,
            first,
        )
        running_errors(
            words,
            n_known,
            with_missing and side == 1,
            True,
            sample,
            parameters.criterion,
            ranks,
            second,
        )
        for i in range(1, n_known):
            if words[i] >> ROW_BITS == words[i - 1] >> ROW_BITS:
                continue
            n_first, n_second = i, n_known - i
            if with_missing and side == 0:
                n_first += n_missing
            elif with_missing:
                n_second += n_missing
            if min(n_first, n_second) < parameters.min_leaf:
                continue
            one, other = first[i], second[n_known - i]
            # The worst error of both sides decides; their sum breaks ties.
            score = max(one, other) + 1e-9 * (one + other) if worst else one + other
            if score < best:
                best = score
                split[N_FIRST] = i
                split[MISSING_TO] = side if with_missing else -1.0
    # Neither side is worse than the whole but around its mean: less than no drop is rounding.
    split[DECREASE] = max(0.0, parent - best) if best < np.inf else -np.inf


@inner_loop
def worst_of_groups(errors, joined, n_groups):
    """Return the largest error where one group takes the missing rows, and the best such group.

    `errors` are those of the groups alone, and `joined` those of each with the missing rows.
    """
    # The two largest errors of the groups alone: the second counts where the group that has the
    # largest takes the missing rows.
    first, second, place = 0.0, 0.0, 0
    for group in range(n_groups):
        if errors[group] > first:
            first, second, place = errors[group], first, group
        else:
            second = max(second, errors[group])
    best, best_group = np.inf, 0
    for group in range(n_groups):
        largest = max(joined[group], second if group == place else first)
        # Of groups that leave the same worst error, that which has the least itself.
        if largest < best or (largest == best and joined[group] < joined[best_group]):
            best, best_group = largest, group
    return best, best_group


@inner_loop
def group_targets(words, n_known, sample, parameters, scratch, parent, split):
    """Judge the n-way split of a column ordered by category."""
    n = words.shape[0]
    n_missing = n - n_known
    rows = scratch.rows
    with_missing = n_missing > 0 and not parameters.fractional
    worst = parameters.criterion >= WORST
    total, saved, n_groups, n_large, start = 0.0, np.inf, 0, 0, 0
    split[MISSING_TO] = -1.0
    for i in range(n_known):
        rows[i - start] = words[i] & ROW_MASK
        if i + 1 == n_known or words[i + 1] >> ROW_BITS != words[i] >> ROW_BITS:
            count = i + 1 - start
            weight, _, error = summarise_targets(rows[:count], sample, parameters.criterion)
            alone = weight * error
            total += alone
            if worst:
                # A worst error is no sum: it needs the errors of all groups, alone and joined.
                scratch.numbers[0, n_groups] = scratch.numbers[1, n_groups] = error
            if with_missing:
                for place in range(n_missing):
                    rows[count + place] = words[n_known + place] & ROW_MASK
                weight, _, error = summarise_targets(
                    rows[: count + n_missing], sample, parameters.criterion
                )
                if worst:
                    scratch.numbers[1, n_groups] = error
                elif weight * error - alone < saved:
                    saved = weight * error - alone
                    split[MISSING_TO] = n_groups
            n_large += count >= parameters.min_leaf
            n_groups, start = n_groups + 1, i + 1
    if n_groups < 2 or n_large < 2:
        split[DECREASE] = -np.inf
        return
    split[N_FIRST] = n_groups
    if worst:
        largest, branch = worst_of_groups(scratch.numbers[0], scratch.numbers[1], n_groups)
        split[DECREASE] = max(0.0, parent - largest)
        split[MISSING_TO] = branch if with_missing else -1.0
    else:
        split[DECREASE] = parent - total - (saved if with_missing else 0.0)
