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


# Distances are finite, which lets minima run in vector registers.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "nnan"})
def swap_changes(distances, nearest, near, far, changes):
    """Add to the cost of each medoid's leaving what a new one changes; return the common part.

    `changes` begins as the cost of leaving alone: rows go to their second medoid. Without
    branches, for which of the three distances is least cannot be foreseen.
    """
    common = 0.0
    for o in range(distances.shape[0]):
        distance = distances[o]
        common += min(distance - near[o], 0.0)
        changes[nearest[o]] += max(min(distance, far[o]), near[o]) - far[o]
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
    changes = np.zeros(medoids.shape[0])
    leaving_costs(nearest, near, far, costs)
    swaps = np.int64(0)
    last = np.int64(-1)
    for step in range(max_passes * n):
        candidate = step % n
        if candidate == last:
            return step // n + 1, swaps, True
        if near[candidate] == 0.0 and medoids[nearest[candidate]] == candidate:
            if last < 0:
                last = candidate
            continue
        for k in range(costs.shape[0]):
            changes[k] = costs[k]
        common = swap_changes(table[candidate], nearest, near, far, changes)
        best = np.int64(0)
        for k in range(1, costs.shape[0]):
            if changes[k] < changes[best]:
                best = np.int64(k)
        total = changes[best] + common
        if total < -1e-12 * (costs[best] + near[candidate]):
            swap(table, medoids, best, candidate, nearest, second, near, far, affected)
            leaving_costs(nearest, near, far, costs)
            swaps += 1
            last = candidate
        elif last < 0:
            last = candidate
    return np.int64(max_passes), swaps, False
