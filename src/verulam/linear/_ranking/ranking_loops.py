"""Losses over pairs of one group, without building the pairs; compiled."""

import numpy as np

from verulam.linear._tuning import LARGE_GROUP
from verulam.numerics import njit

#: Square of what a pair lacks of the margin.
SQUARED_HINGE = 0
#: What a pair lacks of the margin.
HINGE = 1
#: Logarithm of one plus the exponential of minus the difference.
LOGISTIC = 2


def group_losses(
    scores: np.ndarray,
    relevances: np.ndarray,
    starts: np.ndarray,
    margin: float,
    kind: int,
    gradient: np.ndarray,
) -> float:
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
    gradient[:] = 0.0
    largest = LARGE_GROUP if kind == SQUARED_HINGE else len(scores)
    total = 0.0
    sizes = np.diff(starts)
    if (sizes <= largest).any():
        total += pair_losses(scores, relevances, starts, margin, kind, largest, gradient)
    for group in np.flatnonzero(sizes > largest):
        part = slice(starts[group], starts[group + 1])
        total += _sorted_loss(scores[part], relevances[part], margin, gradient[part])
    return float(total)


def _sorted_loss(
    scores: np.ndarray, relevances: np.ndarray, margin: float, gradient: np.ndarray
) -> float:
    """Sort the rows of a group for `sorted_group`, and find the bounds of each row's pairs."""
    by_score = np.argsort(scores)
    ordered = scores[by_score]
    # Ranks of the scores are the positions in the tree.
    places = np.empty_like(by_score)
    places[by_score] = np.arange(len(scores))
    below = np.searchsorted(ordered, scores - margin, side="right")
    above = np.searchsorted(ordered, scores + margin, side="left")
    by_relevance = np.argsort(relevances, kind="stable")
    tree = np.empty((3, len(scores) + 1))
    loss = 0.0
    # Upwards for the better row of each pair, and back down for the worse one.
    for order, bounds, better in ((by_relevance, below, True), (by_relevance[::-1], above, False)):
        order = np.ascontiguousarray(order)
        loss += sorted_group(
            scores, relevances, margin, order, places, bounds, better, tree, gradient
        )
    return loss


@njit(cache=True, nogil=True)
def pair_losses(scores, relevances, starts, margin, kind, largest, gradient):  # pragma: no cover
    """Return the summed loss of the pairs of all groups with at most `largest` rows."""
    total = 0.0
    for group in range(len(starts) - 1):
        start, end = starts[group], starts[group + 1]
        if end - start > largest:
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
def sorted_group(
    scores, relevances, margin, order, places, bounds, better, tree, gradient
):  # pragma: no cover
    """Return the squared hinge of one group in n log n, by counts and sums over sorted scores.

    For a row of score g the pairs that lack something are those with less relevant rows of score
    above g minus the margin. Rows enter Fenwick trees of counts, sums and squares in the order of
    their relevance, so that a look-up sees just the less relevant ones; a second round in the
    other order does the same for the worse row of each pair, whose loss is counted already.
    """
    n_rows = len(scores)
    tree[:] = 0.0
    total, inside, inside_sum, inside_squares = 0.0, 0.0, 0.0, 0.0
    first = 0
    while first < n_rows:
        last = first
        # Rows of the same relevance are no pairs: all are looked up before any is entered.
        while last < n_rows and relevances[order[last]] == relevances[order[first]]:
            last += 1
        for entry in range(first, last):
            row = order[entry]
            score = scores[row]
            count, part, square = 0.0, 0.0, 0.0
            # Each node of a Fenwick tree holds a range whose length is its lowest set bit.
            node = bounds[row]
            while node > 0:
                count += tree[0, node]
                part += tree[1, node]
                square += tree[2, node]
                node -= node & -node
            if better:
                count, part, square = inside - count, inside_sum - part, inside_squares - square
                # The sum of (gap + s)^2 over the scores s of those rows, expanded.
                gap = margin - score
                total += count * gap * gap + 2.0 * gap * part + square
                gradient[row] -= 2.0 * (count * gap + part)
            else:
                gradient[row] += 2.0 * (count * (margin + score) - part)
        for entry in range(first, last):
            score = scores[order[entry]]
            node = places[order[entry]] + 1
            while node <= n_rows:
                tree[0, node] += 1.0
                tree[1, node] += score
                tree[2, node] += score * score
                node += node & -node
            inside += 1.0
            inside_sum += score
            inside_squares += score * score
        first = last
    return total


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
