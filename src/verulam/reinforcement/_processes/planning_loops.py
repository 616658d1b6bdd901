"""Sweeps over all states: the best value of each, from those of its successors.

Places are unsigned: a signed one is looked at before every access, whether it counts from the end.
"""

import numpy as np

from verulam.numerics import njit


@njit()
def sweep(starts, successors, shares, rewards, discount, values, updated, policy, n_actions):
    """Back up every state; return the largest change, and count policy changes.

    Where `updated` is `values` itself, later states see the new values of earlier ones.
    """
    change, moved = 0.0, np.int64(0)
    # Without a sign, indices need no test for counting from the end.
    row, place, one = np.uint64(0), np.uint64(0), np.uint64(1)
    for state in range(len(policy)):
        best, choice = -np.inf, np.int64(-1)
        for action in range(n_actions):
            last = np.uint64(starts[row + one])
            if place < last:
                total = 0.0
                while place < last:
                    total += shares[place] * values[np.uint64(successors[place])]
                    place += one
                total = rewards[row] + discount * total
                if total > best:
                    best, choice = total, np.int64(action)
            row += one
        change = max(change, abs(best - values[state]))
        moved += choice != policy[state]
        updated[state] = best
        policy[state] = choice
    return change, moved


@njit()
def policy_sweep(starts, successors, shares, rewards, discount, values, rows):
    """Back up every state by the action of a policy, in place; return the largest change."""
    change = 0.0
    for state in range(len(rows)):
        row = np.uint64(rows[state])
        total = 0.0
        for place in range(np.uint64(starts[row]), np.uint64(starts[row + np.uint64(1)])):
            total += shares[place] * values[np.uint64(successors[place])]
        total = rewards[row] + discount * total
        change = max(change, abs(total - values[state]))
        values[state] = total
    return change
