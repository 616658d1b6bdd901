"""Losses over pairs of one group, without building the pairs; compiled."""

import numpy as np
from numba import njit

from verulam.linear._tuning import LARGE_GROUP

#: Square of what a pair lacks of the margin.
SQUARED_HINGE = 0
#: What a pair lacks of the margin.
HINGE = 1
#: Logarithm of one plus the exponential of minus the difference.
LOGISTIC = 2


@njit(cache=True, nogil=True)
def group_losses(scores, relevances, starts, margin, kind, gradient):  # pragma: no cover
    """Return the summed loss of all pairs, and write its gradient over the scores.

    Parameters
    ----------
    scores, relevances
        Score and relevance of each row; a pair is wrong where the more relevant has not the
        higher score by the margin.
    starts
        First row of each group, and the number of rows at the end.
    margin, kind
        Margin and code of the loss.
    gradient
        Filled with the derivative of the loss at each score.
    """
    total = 0.0
    gradient[:] = 0.0
    for group in range(len(starts) - 1):
        start, end = starts[group], starts[group + 1]
        if end - start > LARGE_GROUP and kind == SQUARED_HINGE:
            total += _sorted_group(
                scores[start:end], relevances[start:end], margin, gradient[start:end]
            )
            continue
        for better in range(start, end):
            for worse in range(start, end):
                if relevances[better] <= relevances[worse]:
                    continue
                lack = margin - scores[better] + scores[worse]
                if kind == LOGISTIC:
                    difference = scores[better] - scores[worse]
                    # log(1 + exp(-d)) without overflow on either side.
                    total += max(-difference, 0.0) + np.log1p(np.exp(-abs(difference)))
                    derivative = 1.0 / (1.0 + np.exp(difference))
                elif lack <= 0:
                    continue
                elif kind == HINGE:
                    total += lack
                    derivative = 1.0
                else:
                    total += lack * lack
                    derivative = 2.0 * lack
                gradient[better] -= derivative
                gradient[worse] += derivative
    return total


@njit(cache=True, nogil=True)
def _sorted_group(scores, relevances, margin, gradient):  # pragma: no cover
    """Return the squared hinge of one group in n log n, by counts and sums over sorted scores.

    For a row of score g the pairs that lack something are those with less relevant rows of score
    above g minus the margin. Rows enter a Fenwick tree of sums in the order of their relevance, so
    that a look-up sees just the less relevant ones; a second round in the other order does the same
    for the worse row of each pair.
    """
    n_rows = len(scores)
    # Ranks of the scores are the positions in the tree.
    by_score = np.argsort(scores)
    ordered = scores[by_score]
    place = np.empty(n_rows, dtype=np.int64)
    for position in range(n_rows):
        place[by_score[position]] = position
    by_relevance = np.argsort(relevances)
    total = 0.0
    for direction in (1, -1):
        counts, sums, squares = np.zeros(n_rows + 1), np.zeros(n_rows + 1), np.zeros(n_rows + 1)
        inside = 0
        inside_sum, inside_squares = 0.0, 0.0
        first = 0
        while first < n_rows:
            last = first
            rank = by_relevance[first] if direction == 1 else by_relevance[n_rows - 1 - first]
            level = relevances[rank]
            # Rows of the same relevance are no pairs: all are looked up before any is entered.
            while last < n_rows:
                row = by_relevance[last] if direction == 1 else by_relevance[n_rows - 1 - last]
                if relevances[row] != level:
                    break
                last += 1
            for entry in range(first, last):
                row = by_relevance[entry] if direction == 1 else by_relevance[n_rows - 1 - entry]
                score = scores[row]
                if direction == 1:
                    below = np.searchsorted(ordered, score - margin, side="right")
                    count, part, square = _prefix(counts, sums, squares, below)
                    count, part = inside - count, inside_sum - part
                    square = inside_squares - square
                    # The sum of (gap + s)^2 over the scores s of those rows, expanded.
                    gap = margin - score
                    total += count * gap * gap + 2.0 * gap * part + square
                    gradient[row] -= 2.0 * (count * gap + part)
                else:
                    above = np.searchsorted(ordered, score + margin, side="left")
                    count, part, square = _prefix(counts, sums, squares, above)
                    gradient[row] += 2.0 * (count * (margin + score) - part)
            for entry in range(first, last):
                row = by_relevance[entry] if direction == 1 else by_relevance[n_rows - 1 - entry]
                _insert(counts, sums, squares, place[row], scores[row])
                inside += 1
                inside_sum += scores[row]
                inside_squares += scores[row] * scores[row]
            first = last
    return total


@njit(cache=True, nogil=True)
def _insert(counts, sums, squares, position, score):  # pragma: no cover
    # A Fenwick tree: each node holds the sums of a range whose length is its lowest set bit.
    node = position + 1
    while node < len(counts):
        counts[node] += 1.0
        sums[node] += score
        squares[node] += score * score
        node += node & -node


@njit(cache=True, nogil=True)
def _prefix(counts, sums, squares, length):  # pragma: no cover
    count, part, square = 0.0, 0.0, 0.0
    node = length
    while node > 0:
        count += counts[node]
        part += sums[node]
        square += squares[node]
        node -= node & -node
    return count, part, square


@njit(cache=True, nogil=True)
def ranker_pass(inputs, order, better, worse, weights, rate, margin):  # pragma: no cover
    """Go once through the pairs, correcting the weights after each that lacks the margin.

    Returns
    -------
    Number of corrections.
    """
    corrections = 0
    for place in range(len(order)):
        pair = order[place]
        difference = 0.0
        for column in range(inputs.shape[1]):
            difference += weights[column] * (
                inputs[better[pair], column] - inputs[worse[pair], column]
            )
        if difference > margin:
            continue
        corrections += 1
        for column in range(inputs.shape[1]):
            weights[column] += rate * (inputs[better[pair], column] - inputs[worse[pair], column])
    return corrections


@njit(cache=True, nogil=True)
def sparse_ranker_pass(
    values, columns, starts, order, better, worse, weights, rate, margin
):  # pragma: no cover
    """Go once through the pairs of rows in sparse (CSR) form; see `ranker_pass`."""
    corrections = 0
    for place in range(len(order)):
        pair = order[place]
        first, second = better[pair], worse[pair]
        difference = 0.0
        for entry in range(starts[first], starts[first + 1]):
            difference += weights[columns[entry]] * values[entry]
        for entry in range(starts[second], starts[second + 1]):
            difference -= weights[columns[entry]] * values[entry]
        if difference > margin:
            continue
        corrections += 1
        for entry in range(starts[first], starts[first + 1]):
            weights[columns[entry]] += rate * values[entry]
        for entry in range(starts[second], starts[second + 1]):
            weights[columns[entry]] -= rate * values[entry]
    return corrections
