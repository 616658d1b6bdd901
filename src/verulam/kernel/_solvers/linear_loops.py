"""Compiled dual coordinate descent for the linear kernel."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath=True)
def descend_coordinates(rows, owners, linear, lower, upper, most_passes, tolerance, values, plane):
    """Improve `values` and the plane that they make in place; return passes made.

    Each coefficient in turn goes to its best value. One that rests at a bound, further beyond it
    than anything moved in the last pass, is left out until the rest has settled (Hsieh and others
    2008).

    Parameters
    ----------
    rows
        Inputs.
    owners
        Row of each coefficient.
    linear, lower, upper
        Linear part and bounds.
    most_passes
        Most passes.
    tolerance
        Largest violation at the end.
    values, plane
        Coefficients, and their sum of rows.
    """
    size, width = values.shape[0], rows.shape[1]
    squares = np.empty(size)
    for k in range(size):
        total = 0.0
        for column in range(width):
            total += rows[owners[k], column] ** 2
        squares[k] = max(total, 1e-12)
    state = np.int64(1)
    order, n_active = np.arange(size), size
    whole, most_up, most_down = True, np.inf, -np.inf
    for n_passes in range(most_passes):
        highest, lowest = -np.inf, np.inf
        state = _shuffle(order[:n_active], state)
        place = 0
        while place < n_active:
            k = order[place]
            row = rows[owners[k]]
            slope = -linear[k]
            for column in range(width):
                slope -= plane[column] * row[column]
            # Positive: the coefficient wants to rise.
            at_top, at_bottom = values[k] >= upper[k], values[k] <= lower[k]
            if (at_top and slope > most_up) or (at_bottom and slope < most_down):
                n_active -= 1
                order[place], order[n_active] = order[n_active], order[place]
                continue
            place += 1
            if (at_top and slope > 0.0) or (at_bottom and slope < 0.0):
                continue
            highest, lowest = max(highest, slope), min(lowest, slope)
            target = min(max(values[k] + slope / squares[k], lower[k]), upper[k])
            step = target - values[k]
            if step != 0.0:
                values[k] = target
                for column in range(width):
                    plane[column] += step * row[column]
        if max(highest, -lowest) <= tolerance:
            if whole:
                return n_passes + 1
            n_active = size
            whole, most_up, most_down = True, np.inf, -np.inf
        else:
            whole = False
            # Nothing is left out for a slope that the next passes may well turn.
            most_up = max(highest, 0.0) + tolerance if highest > 0.0 else np.inf
            most_down = min(lowest, 0.0) - tolerance if lowest < 0.0 else -np.inf
    return most_passes


@njit(cache=True, nogil=True)
def _shuffle(order, state):
    """Mix the order by a generator of its own (Park and Miller 1988), the same for every call."""
    for place in range(order.shape[0] - 1, 0, -1):
        state = state * 48271 % 2147483647
        other = state % (place + 1)
        order[place], order[other] = order[other], order[place]
    return state
