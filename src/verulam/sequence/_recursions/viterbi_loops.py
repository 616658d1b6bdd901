"""Compiled Viterbi algorithm, and forward-backward in logarithms where scaled numbers underflow."""

import numpy as np

from verulam.numerics import njit
from verulam.sequence._recursions.inference_loops import DENSE, DIAGONALS, out_edges

#: Logarithms may be minus infinity, never NaN.
FAST = {"contract", "nsz", "nnan"}


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def push_best_dense(matrix, previous, row):
    """Write into `row` the best of ``previous + log transition`` over the sources."""
    n_states = row.shape[0]
    for j in range(n_states):
        row[j] = -np.inf
    whole = n_states - n_states % 4
    for i in range(0, whole, 4):
        a, b, c, d = previous[i], previous[i + 1], previous[i + 2], previous[i + 3]
        from_a, from_b, from_c, from_d = matrix[i], matrix[i + 1], matrix[i + 2], matrix[i + 3]
        for j in range(n_states):
            # Two maxima that do not wait for one another.
            best_ab = max(a + from_a[j], b + from_b[j])
            best_cd = max(c + from_c[j], d + from_d[j])
            row[j] = max(row[j], best_ab, best_cd)
    for i in range(whole, n_states):
        a = previous[i]
        from_a = matrix[i]
        for j in range(n_states):
            row[j] = max(row[j], a + from_a[j])


@njit(cache=True, nogil=True, fastmath=FAST)
def push_best_sparse(kind, offsets, diagonals, sources, targets, weights, previous, row):
    """Do as `push_best_dense` at the cost of the transitions there are."""
    n_states = row.shape[0]
    for j in range(n_states):
        row[j] = -np.inf
    if kind == DIAGONALS:
        for p in range(offsets.shape[0]):
            offset = offsets[p]
            first, last = max(0, -offset), min(n_states, n_states - offset)
            reached = row[first + offset : last + offset]
            left = previous[first:last]
            weight = diagonals[p, first:last]
            for i in range(last - first):
                candidate = left[i] + weight[i]
                # A choice of values, not a branch: it can be computed for several states at once.
                reached[i] = candidate if candidate > reached[i] else reached[i]
    else:
        for e in range(weights.shape[0]):
            candidate = previous[sources[e]] + weights[e]
            if candidate > row[targets[e]]:
                row[targets[e]] = candidate


@njit(cache=True, nogil=True, fastmath=FAST)
def best_scores_dense(log_emissions, starts, log_initial, dense, scores):
    """Fill the log-probability of the best path into each state at each step."""
    for s in range(starts.shape[0] - 1):
        for t in range(starts[s], starts[s + 1]):
            if t == starts[s]:
                for j in range(scores.shape[1]):
                    scores[t, j] = log_initial[j]
            else:
                push_best_dense(dense[t if dense.shape[0] > 1 else 0], scores[t - 1], scores[t])
            for j in range(scores.shape[1]):
                scores[t, j] += log_emissions[t, j]


@njit(cache=True, nogil=True, fastmath=FAST)
def best_scores_sparse(log_emissions, log_initial, edges, scores):
    """Do as `best_scores_dense` for one sequence, at the cost of the transitions there are."""
    kind, _, offsets, diagonals, sources, targets, weights, _ = edges
    for t in range(scores.shape[0]):
        if t == 0:
            for j in range(scores.shape[1]):
                scores[t, j] = log_initial[j]
        else:
            push_best_sparse(
                kind, offsets, diagonals, sources, targets, weights, scores[t - 1], scores[t]
            )
        for j in range(scores.shape[1]):
            scores[t, j] += log_emissions[t, j]


@njit(cache=True, nogil=True)
def trace_back(scores, first, last, transposed, path):
    """Fill the path that ends in ``path[last]``, back to step `first`."""
    n_states = scores.shape[1]
    others, weights = np.empty(n_states, dtype=np.int64), np.empty(n_states)
    for t in range(last - 1, first - 1, -1):
        count = out_edges(transposed, t + 1, path[t + 1], others, weights)
        best, value = others[0], -np.inf
        for k in range(count):
            candidate = scores[t - first, others[k]] + weights[k]
            if candidate > value:
                best, value = others[k], candidate
        path[t] = best


@njit(cache=True, nogil=True, fastmath=FAST)
def trace_back_dense(scores, starts, dense, paths, values):
    """Fill the best path of each sequence and its log-probability; the matrix is transposed.

    The best source is found again along the path alone, which is cheaper than noting it for
    every state on the way forward.
    """
    for s in range(starts.shape[0] - 1):
        values[s] = 0.0
        last = starts[s + 1] - 1
        for t in range(last, starts[s] - 1, -1):
            step = t + 1 if dense.shape[0] > 1 else 0
            best, value = np.int64(0), -np.inf
            for k in range(scores.shape[1]):
                candidate = scores[t, k]
                if t < last:
                    candidate += dense[step, paths[t + 1], k]
                if candidate > value:
                    best, value = np.int64(k), candidate
            paths[t] = best
            if t == last:
                values[s] = value


@njit(cache=True, nogil=True)
def viterbi_sparse(log_emissions, starts, log_initial, layout, transposed, scores, paths, values):
    """Fill the best path of each sequence and its log-probability, for diagonals or edges."""
    for s in range(starts.shape[0] - 1):
        first, last = starts[s], starts[s + 1] - 1
        values[s] = 0.0
        if first <= last:
            rows = scores[first : last + 1]
            best_scores_sparse(log_emissions[first : last + 1], log_initial, layout, rows)
            best = np.int64(0)
            for k in range(1, scores.shape[1]):
                best = np.int64(k) if scores[last, k] > scores[last, best] else best
            paths[last], values[s] = best, scores[last, best]
            trace_back(rows, first, last, transposed, paths)


@njit(cache=True, nogil=True)
def push_log_sum(layout, step, previous, row, others, weights):
    """Write into `row` the logarithm of the sum over sources, for a layout of logarithms."""
    # log-sum-exp: with the largest term taken out, no exponential overflows and one of them is 1.
    peaks = np.full(row.shape[0], -np.inf)
    if layout.kind == DENSE:
        push_best_dense(layout.dense[step if layout.dense.shape[0] > 1 else 0], previous, peaks)
    else:
        kind, _, offsets, diagonals, sources, targets, known, _ = layout
        push_best_sparse(kind, offsets, diagonals, sources, targets, known, previous, peaks)
    row[:] = 0.0
    for i in range(row.shape[0]):
        count = out_edges(layout, step, i, others, weights)
        for k in range(count):
            j = others[k]
            if peaks[j] > -np.inf:
                row[j] += np.exp(previous[i] + weights[k] - peaks[j])
    for j in range(row.shape[0]):
        row[j] = peaks[j] + np.log(row[j]) if peaks[j] > -np.inf else -np.inf


@njit(cache=True, nogil=True)
def log_forward_backward(log_emissions, first, log_initial, layout, transposed):
    """Return the forward and backward logarithms of one sequence that begins at step `first`."""
    n_steps, n_states = log_emissions.shape
    alpha, beta = np.empty((n_steps, n_states)), np.zeros((n_steps, n_states))
    others, weights = np.empty(n_states, dtype=np.int64), np.empty(n_states)
    alpha[0] = log_initial + log_emissions[0]
    for t in range(1, n_steps):
        push_log_sum(layout, first + t, alpha[t - 1], alpha[t], others, weights)
        alpha[t] += log_emissions[t]
    for t in range(n_steps - 2, -1, -1):
        ahead = log_emissions[t + 1] + beta[t + 1]
        push_log_sum(transposed, first + t + 1, ahead, beta[t], others, weights)
    return alpha, beta
