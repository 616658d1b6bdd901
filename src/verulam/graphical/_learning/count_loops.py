"""Counts of combinations of states, and scores of changes of a family."""

from math import lgamma

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def count_scopes(codes, targets, weights, scopes, members, counts):
    """Add each row's weight to its cell of every scope whose variables it all has.

    Rows of `scopes` are the first and number of its `members` (pairs of column and stride) and
    the place of its table in a row of `counts`, of which there is one for each target.
    """
    for row in range(codes.shape[0]):
        target = targets[row]
        for s in range(scopes.shape[0]):
            cell = scopes[s, 2]
            complete = True
            for m in range(scopes[s, 0], scopes[s, 0] + scopes[s, 1]):
                state = codes[row, members[m, 0]]
                if state < 0:
                    complete = False
                    break
                cell += state * members[m, 1]
            if complete:
                counts[target, cell] += weights[row]


@njit(cache=True, nogil=True)
def pack_configurations(columns, sizes, child, parents, configurations):
    """Write the number of each row's combination of the states of parents and child, child last."""
    n_rows = columns.shape[1]
    n_cells = np.int64(1)
    for row in range(n_rows):
        configurations[row] = 0
    for k in range(parents.shape[0] + 1):
        v = parents[k] if k < parents.shape[0] else child
        size = sizes[v]
        for row in range(n_rows):
            configurations[row] = configurations[row] * size + columns[v, row]
        n_cells *= size
    return n_cells


@njit(cache=True, nogil=True)
def count_additions(places, configurations, weights, counts):
    """Count each configuration of a family together with each state of every variable.

    Row r of `places` has, for every variable, the column of `counts` of the state that it has in
    row r. Increments that follow one another go to different cells, so that none has to wait.
    """
    for row in range(places.shape[0]):
        configuration = configurations[row]
        weight = weights[row]
        for v in range(places.shape[1]):
            counts[configuration, places[row, v]] += weight


@njit(cache=True, nogil=True)
def score_addition(counts, n_states, first, size, bayesian, mass):
    """Return the score of a family with a further parent, whose states begin at column `first`.

    The log-likelihood at the frequencies, or with `bayesian` the log marginal likelihood under
    Dirichlet priors: of one for each cell (K2) where `mass` is zero, else of `mass` in all (BDeu).
    """
    # By states of the parents: the log of a Dirichlet-multinomial, or the sum of n log n less
    # N log N, which is the largest log-likelihood.
    score = 0.0
    n_rows = counts.shape[0] // n_states
    prior = mass / (n_rows * size * n_states) if mass > 0.0 else 1.0
    for row in range(n_rows):
        for f in range(first, first + size):
            total = 0.0
            for state in range(row * n_states, (row + 1) * n_states):
                count = float(counts[state, f])
                if count > 0.0:
                    total += count
                    if bayesian:
                        score += lgamma(count + prior) - lgamma(prior)
                    else:
                        score += count * np.log(count)
            if total > 0.0:
                if bayesian:
                    score += lgamma(prior * n_states) - lgamma(total + prior * n_states)
                else:
                    score -= total * np.log(total)
    return score


@njit(cache=True, nogil=True)
def score_additions(counts, starts, n_states, bayesian, mass, penalty, scores):
    """Write the family's score with each variable added, and last as it is."""
    n_rows = counts.shape[0] // n_states
    for v in range(starts.shape[0] - 1):
        size = starts[v + 1] - starts[v]
        score = score_addition(counts, n_states, starts[v], size, bayesian, mass)
        scores[v] = score - penalty * n_rows * size * (n_states - 1)


@njit(cache=True, nogil=True)
def reaches(arcs, start, end, waiting, seen, skip_direct):
    """Tell whether a path leads from one node to another, the arc between them left out or not."""
    n_nodes = arcs.shape[0]
    for v in range(n_nodes):
        seen[v] = False
    waiting[0] = start
    count = np.int64(1)
    seen[start] = True
    while count > 0:
        count -= 1
        v = waiting[count]
        for child in range(n_nodes):
            if arcs[v, child] and not seen[child]:
                if skip_direct and v == start and child == end:
                    continue
                if child == end:
                    return True
                seen[child] = True
                waiting[count] = child
                count += 1
    return False


@njit(cache=True, nogil=True)
def best_move(
    arcs, gains, fixed, forbidden, n_parents, max_parents, tabu, needed, waiting, seen, move
):
    """Find the best legal change of an arc; write its parent, child and kind, return its gain.

    Kinds: 0 adds, 1 removes, 2 reverses. A pair whose `tabu` is set counts only where the move
    gains more than `needed`.
    """
    best = -np.inf
    n_nodes = arcs.shape[0]
    for parent in range(n_nodes):
        for child in range(n_nodes):
            if parent == child:
                continue
            if arcs[parent, child]:
                if fixed[parent, child]:
                    continue
                gain = gains[parent, child]
                if gain > best and (not tabu[parent, child] or gain > needed):
                    best = gain
                    move[0], move[1], move[2] = parent, child, 1
                # To reverse is to remove and to add, which makes a cycle where another way leads
                # from the parent to the child; such a walk is only made for moves that would win.
                gain += gains[child, parent]
                legal = not forbidden[child, parent] and n_parents[parent] < max_parents
                better = gain > best and (not tabu[parent, child] or gain > needed)
                if legal and better and not reaches(arcs, parent, child, waiting, seen, True):
                    best = gain
                    move[0], move[1], move[2] = parent, child, 2
            elif not arcs[child, parent]:
                gain = gains[parent, child]
                legal = not forbidden[parent, child] and n_parents[child] < max_parents
                better = gain > best and (not tabu[parent, child] or gain > needed)
                if legal and better and not reaches(arcs, child, parent, waiting, seen, False):
                    best = gain
                    move[0], move[1], move[2] = parent, child, 0
    return best
