"""Compiled forward-backward recursions: float64 C-arrays in, arrays out, no checks.

Sequences lie one after the other; `starts` holds where each begins and, at its end, the number of
steps. Emissions are relative: each row is divided by a factor that cancels in the posteriors.
"""

from typing import NamedTuple

import numpy as np

from verulam.numerics import njit

#: Sums may be reordered and fused; infinities and NaN keep their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}
#: Smaller shares are set to zero before they become denormal, which processors are slow at.
TINY = 1e-280
#: On the way back shares below this count as zero: products of two such would be denormal, too.
FAINT = 1e-150
#: Posteriors that are relative to less than this may lack what was faint: they are computed
#: again in logarithms.
LOST = 1e-130

DENSE, DIAGONALS, EDGES = 0, 1, 2


class Layout(NamedTuple):
    """Transitions as the loops read them; of the three forms, `kind` tells which is filled.

    Attributes
    ----------
    kind
        DENSE, DIAGONALS or EDGES.
    dense : ndarray of shape (1 or n_steps, n_states, n_states)
        One matrix, or one per step: the matrix at a step leads into that step.
    offsets : ndarray of shape (n_diagonals,)
        Target less source of each diagonal.
    diagonals : ndarray of shape (n_diagonals, n_states)
        Weight of the transition on each diagonal, by source.
    sources, targets, weights : ndarray of shape (n_edges,)
        Transitions sorted by source, then target.
    pointers : ndarray of shape (n_states + 1,)
        Where the edges of each source begin.
    """

    kind: int
    dense: np.ndarray
    offsets: np.ndarray
    diagonals: np.ndarray
    sources: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    pointers: np.ndarray


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def push_dense(matrix, previous, row):
    """Write ``previous @ matrix`` into `row`; four rows of the matrix at a time."""
    n_states = row.shape[0]
    for j in range(n_states):
        row[j] = 0.0
    # Sums over rows, not dot products by column: the inner loop then runs along memory, and each
    # entry of `row` is loaded and stored once for four rows of the matrix.
    whole = n_states - n_states % 4
    for i in range(0, whole, 4):
        a, b, c, d = previous[i], previous[i + 1], previous[i + 2], previous[i + 3]
        from_a, from_b, from_c, from_d = matrix[i], matrix[i + 1], matrix[i + 2], matrix[i + 3]
        for j in range(n_states):
            row[j] += (a * from_a[j] + b * from_b[j]) + (c * from_c[j] + d * from_d[j])
    for i in range(whole, n_states):
        a = previous[i]
        from_a = matrix[i]
        for j in range(n_states):
            row[j] += a * from_a[j]


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def push_edges(sources, targets, weights, previous, row):
    """Write ``previous @ transitions`` into `row` at the cost of the transitions there are."""
    for j in range(row.shape[0]):
        row[j] = 0.0
    for e in range(weights.shape[0]):
        row[targets[e]] += previous[sources[e]] * weights[e]


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def weigh(row, emission, factor):
    """Multiply `row` by the emissions and a factor, and return its sum."""
    total = 0.0
    for j in range(row.shape[0]):
        share = row[j] * (emission[j] * factor)
        share = share if share > TINY else 0.0
        row[j] = share
        total += share
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def forward_dense(emissions, starts, initial, dense, alpha, scales, failures):
    """Fill the forward shares and their scales; note the step of an impossible sequence.

    Row t of `alpha` sums to ``scales[t]``: dividing a step late keeps the division off the path
    that every step waits for.
    """
    for s in range(starts.shape[0] - 1):
        failures[s] = -1
        factor = 1.0
        for t in range(starts[s], starts[s + 1]):
            if t == starts[s]:
                for j in range(initial.shape[0]):
                    alpha[t, j] = initial[j]
            else:
                push_dense(dense[t if dense.shape[0] > 1 else 0], alpha[t - 1], alpha[t])
            total = weigh(alpha[t], emissions[t], factor)
            scales[t] = total
            # Written so that NaN fails, too. All shares are zero where a sequence is impossible,
            # or where they underflow; which of the two, the recursion in logarithms finds out.
            if not total > 0.0:
                failures[s] = t
                break
            factor = 1.0 / total


# Each form has its own loops: code for the others in the loop, though never run, would keep the
# compiler from the quickest code. Those for diagonals are in a module of their own.
@njit(cache=True, nogil=True, fastmath=FAST)
def forward_edges(emissions, starts, initial, edges, alpha, scales, failures):
    """Do as `forward_dense` at the cost of the transitions there are."""
    # To reach into the tuple at each step would cost as much as the step.
    sources, targets, weights = edges.sources, edges.targets, edges.weights
    for s in range(starts.shape[0] - 1):
        failures[s] = -1
        factor = 1.0
        for t in range(starts[s], starts[s + 1]):
            if t == starts[s]:
                for j in range(initial.shape[0]):
                    alpha[t, j] = initial[j]
            else:
                push_edges(sources, targets, weights, alpha[t - 1], alpha[t])
            total = weigh(alpha[t], emissions[t], factor)
            scales[t] = total
            if not total > 0.0:
                failures[s] = t
                break
            factor = 1.0 / total


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def join(alpha, beta, gamma):
    """Fill one row of posteriors and return the factor that makes them sum to one.

    Faint shares are set to zero; the factor is zero where they might matter.
    """
    total = 0.0
    for j in range(alpha.shape[0]):
        share = alpha[j]
        share = share if share > FAINT else 0.0
        alpha[j] = share
        total += share * beta[j]
    if not total > LOST:
        return 0.0
    # Normalising the product makes the scales of alpha and beta cancel, so that the two recursions
    # may be scaled in ways of their own.
    share = 1.0 / total
    for j in range(alpha.shape[0]):
        gamma[j] = alpha[j] * beta[j] * share
    return share


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def look_back(emission, beta, ahead, share, factor):
    """Turn `ahead` into what the step before looks at; leave in `emission` what followed."""
    summed = 0.0
    for j in range(beta.shape[0]):
        left = emission[j] * beta[j] * factor
        left = left if left > FAINT else 0.0
        # The emission is read for the last time here: its place keeps what the sums of transitions
        # need, which saves another array of the size of the data.
        emission[j] = ahead[j] * share
        ahead[j] = left
        summed += left
    return 1.0 / summed if summed > 0.0 else 1.0


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def add_outer(alpha, ahead, share, sums):
    """Add the posteriors of one step's transitions, without their weights."""
    for i in range(alpha.shape[0]):
        left = alpha[i] * share
        row = sums[i]
        for j in range(ahead.shape[0]):
            row[j] += left * ahead[j]


@njit(cache=True, nogil=True, fastmath=FAST)
def backward_dense(emissions, starts, dense, alpha, gamma, sums, failures, tail, count_tail):
    """Fill the posteriors; the emissions are used up, and `dense` is transposed.

    Row t of `emissions` becomes what follows t, such that ``alpha[t]`` times it, times the
    transitions, are the posteriors of the transitions out of t; zero at the end of a sequence.
    A `tail` that is not empty is what follows the last step of all; what precedes the first
    step is returned, so that a long sequence can be worked through in blocks. Where `sums` is not
    empty, the posteriors of the transitions are added up there, without their weights; that into
    the tail where `count_tail` says so.
    """
    n_states = alpha.shape[1]
    ahead, beta = np.empty(n_states), np.empty(n_states)
    by_sequence = np.empty(sums.shape)
    adds = sums.shape[0] > 0
    for s in range(starts.shape[0] - 1):
        if failures[s] >= 0:
            continue
        factor = 1.0
        # Added to `sums` at the end only: a sequence that fails half-way must leave nothing behind.
        by_sequence[:] = 0.0
        for j in range(n_states):
            ahead[j] = tail[j] if tail.shape[0] > 0 else 0.0
        for t in range(starts[s + 1] - 1, starts[s] - 1, -1):
            is_last = t == starts[s + 1] - 1
            if is_last and tail.shape[0] == 0:
                for j in range(n_states):
                    beta[j] = 1.0
            else:
                push_dense(dense[t + 1 if dense.shape[0] > 1 else 0], ahead, beta)
            share = join(alpha[t], beta, gamma[t])
            if share == 0.0:
                failures[s] = t
                break
            if adds and (count_tail or not is_last):
                add_outer(alpha[t], ahead, share, by_sequence)
            factor = look_back(emissions[t], beta, ahead, share, factor)
        if failures[s] < 0:
            for i in range(sums.shape[0]):
                for j in range(n_states):
                    sums[i, j] += by_sequence[i, j]
    return ahead


@njit(cache=True, nogil=True, fastmath=FAST)
def backward_edges(
    emissions, starts, edges, transposed, alpha, gamma, sums, failures, tail, count_tail
):
    """Do as `backward_dense`, and add up the transitions on the way, without their weights.

    The transition into what follows the last step of all is added where `count_tail` says so.
    """
    back_sources, back_targets, back_weights = (
        transposed.sources,
        transposed.targets,
        transposed.weights,
    )
    sources, targets = edges.sources, edges.targets
    n_states = alpha.shape[1]
    ahead, beta = np.zeros(n_states), np.empty(n_states)
    by_sequence = np.zeros(sums.shape[0])
    for s in range(starts.shape[0] - 1):
        if failures[s] >= 0:
            continue
        factor = 1.0
        # As there: a sequence that fails half-way leaves nothing behind.
        by_sequence[:] = 0.0
        for j in range(n_states):
            ahead[j] = tail[j] if tail.shape[0] > 0 else 0.0
        for t in range(starts[s + 1] - 1, starts[s] - 1, -1):
            is_last = t == starts[s + 1] - 1
            if is_last and tail.shape[0] == 0:
                for j in range(n_states):
                    beta[j] = 1.0
            else:
                push_edges(back_sources, back_targets, back_weights, ahead, beta)
            share = join(alpha[t], beta, gamma[t])
            if share == 0.0:
                failures[s] = t
                break
            if count_tail or not is_last:
                for e in range(sources.shape[0]):
                    by_sequence[e] += share * alpha[t, sources[e]] * ahead[targets[e]]
            factor = look_back(emissions[t], beta, ahead, share, factor)
        if failures[s] < 0:
            sums += by_sequence
    return ahead


@njit(cache=True, nogil=True, fastmath=FAST)
def dense_transition_sums(alpha, ahead, dense, sums):
    """Fill each step's posteriors of the transitions out of it, for matrices that vary."""
    for t in range(alpha.shape[0] - 1):
        matrix = dense[t + 1 if dense.shape[0] > 1 else 0]
        for i in range(alpha.shape[1]):
            for j in range(alpha.shape[1]):
                sums[t + 1, i, j] = alpha[t, i] * matrix[i, j] * ahead[t, j]


@njit(cache=True, nogil=True)
def out_edges(layout, step, state, others, weights):
    """Fill the transitions out of one state and return their number."""
    count = 0
    if layout.kind == DENSE:
        matrix = layout.dense[step if layout.dense.shape[0] > 1 else 0]
        for j in range(matrix.shape[1]):
            others[j] = j
            weights[j] = matrix[state, j]
        return matrix.shape[1]
    if layout.kind == DIAGONALS:
        n_states = layout.diagonals.shape[1]
        for p in range(layout.offsets.shape[0]):
            other = state + layout.offsets[p]
            if 0 <= other < n_states:
                others[count] = other
                weights[count] = layout.diagonals[p, state]
                count += 1
        return count
    for e in range(layout.pointers[state], layout.pointers[state + 1]):
        others[count] = layout.targets[e]
        weights[count] = layout.weights[e]
        count += 1
    return count


@njit(cache=True, nogil=True)
def sample_paths(alpha, starts, transposed, uniforms, paths):
    """Draw one path per sequence from its posterior, backwards through the forward shares."""
    n_states = alpha.shape[1]
    others, weights = np.empty(n_states, dtype=np.int64), np.empty(n_states)
    for s in range(starts.shape[0] - 1):
        for t in range(starts[s + 1] - 1, starts[s] - 1, -1):
            if t == starts[s + 1] - 1:
                count = n_states
                for j in range(n_states):
                    others[j] = j
                    weights[j] = alpha[t, j]
            else:
                # P(q_t | q_t+1, O_1..O_t) is in proportion to alpha_t(i) a_ij: later observations
                # say nothing more once q_t+1 is known.
                count = out_edges(transposed, t + 1, paths[t + 1], others, weights)
                for k in range(count):
                    weights[k] *= alpha[t, others[k]]
            total = 0.0
            for k in range(count):
                total += weights[k]
            left = uniforms[t] * total
            # Only states with weight can be drawn: rounding may leave `left` above zero at the end.
            drawn = -1
            for k in range(count):
                if weights[k] > 0.0:
                    drawn = k
                    left -= weights[k]
                    if left < 0.0:
                        break
            paths[t] = others[max(drawn, 0)]
