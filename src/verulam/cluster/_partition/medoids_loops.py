"""Compiled loops of k-medoids: the two nearest medoids, what swaps gain, and swapping."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def nearest_two(table, medoids, rows, nearest, second, near, far):
    """Write the nearest and the second medoid of some rows, and their distances."""
    for place in range(rows.shape[0]):
        o = rows[place]
        near[o] = far[o] = np.inf
        nearest[o] = second[o] = 0
        for k in range(medoids.shape[0]):
            distance = table[medoids[k], o]
            if distance < near[o]:
                far[o] = near[o]
                second[o] = nearest[o]
                near[o] = distance
                nearest[o] = k
            elif distance < far[o]:
                far[o] = distance
                second[o] = k


@njit(cache=True, nogil=True)
def swap_changes(distances, nearest, near, far, changes, closer):
    """Add up what a new medoid changes in the place of each; return the part that all share.

    Most rows are nearer to two medoids than to the candidate and change nothing. They are sorted
    out first, without branches: which ones they are cannot be foreseen. `changes` has two rows,
    the cost of leaving alone and zeros: neighbours of one cluster would otherwise wait for each
    other's sum. `closer` is room for as many row numbers as there are.
    """
    count = np.uint64(0)  # unsigned: a negative number would count from the end
    for o in range(distances.shape[0]):
        closer[count] = o
        count += np.uint64(distances[o] < far[o])
    common = 0.0
    for place in range(np.int64(count)):
        o = closer[place]
        distance = distances[o]
        common += min(distance - near[o], 0.0)
        changes[place & 1, nearest[o]] += max(distance, near[o]) - far[o]
    return common


@njit(cache=True, nogil=True)
def leaving_costs(nearest, near, far, costs):
    """Write what it costs if a medoid leaves: its rows go to their second one."""
    for k in range(costs.shape[0]):
        costs[k] = 0.0
    for o in range(nearest.shape[0]):
        costs[nearest[o]] += far[o] - near[o]


@njit(cache=True, nogil=True)
def swap(table, medoids, leaver, newcomer, nearest, second, near, far, affected):
    """Let one row take a medoid's place, and mend the two nearest medoids of all rows."""
    medoids[leaver] = newcomer
    count = np.int64(0)
    for o in range(nearest.shape[0]):
        distance = table[newcomer, o]
        # Who loses one of its two nearest may find any other medoid next, and is compared anew.
        if nearest[o] == leaver or second[o] == leaver:
            affected[count] = o
            count += 1
        elif distance < near[o]:
            far[o] = near[o]
            second[o] = nearest[o]
            near[o] = distance
            nearest[o] = leaver
        elif distance < far[o]:
            far[o] = distance
            second[o] = leaver
    nearest_two(table, medoids, affected[:count], nearest, second, near, far)


@njit(cache=True, nogil=True)
def eager_swaps(table, medoids, max_passes, nearest, second, near, far, affected):
    """Swap medoids for rows as soon as that lowers the cost; return passes, swaps and settled.

    One pass over a candidate's distances tells what it would change in the place of every medoid;
    the search ends when all rows have been tried since the last swap.
    """
    n = table.shape[0]
    costs = np.zeros(medoids.shape[0])
    changes = np.zeros((2, medoids.shape[0]))
    closer = np.empty(n, dtype=np.int32)
    leaving_costs(nearest, near, far, costs)
    swaps = np.int64(0)
    last = np.int64(-1)
    for step in range(max_passes * n):
        candidate = step % n
        if candidate == last:  # a whole round without a swap
            return step // n + 1, swaps, True
        if near[candidate] == 0.0 and medoids[nearest[candidate]] == candidate:
            if last < 0:
                last = candidate
            continue
        for k in range(costs.shape[0]):
            changes[0, k], changes[1, k] = costs[k], 0.0
        common = swap_changes(table[candidate], nearest, near, far, changes, closer)
        best, least = np.int64(0), np.inf
        for k in range(costs.shape[0]):
            change = changes[0, k] + changes[1, k]
            if change < least:
                best, least = np.int64(k), change
        total = least + common
        # By gains that are rounding alone the search might go round in circles.
        if total < -1e-12 * (costs[best] + near[candidate]):
            swap(table, medoids, best, candidate, nearest, second, near, far, affected)
            leaving_costs(nearest, near, far, costs)
            swaps += 1
            last = candidate
        elif last < 0:
            last = candidate
    return np.int64(max_passes), swaps, False
