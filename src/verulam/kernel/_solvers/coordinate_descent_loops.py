"""Compiled loops of dual coordinate descent for the linear kernel."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True, fastmath=True)
def descend_coordinates(
    rows, row_of, squares, linear, lower, upper, max_steps, tol, beta, plane, order
):
    """Improve `beta` and the plane that they make in place; return steps made.

    Each coefficient in turn goes to its best value. One that rests at a bound, further beyond it
    than anything moved in the last pass, is left out until the rest has settled (shrinking).

    Parameters
    ----------
    rows
        Inputs.
    row_of, squares
        Row of each coefficient, and its squared length.
    linear, lower, upper
        Linear term and bounds.
    max_steps
        Most steps, which a pass begins with: where few coefficients are left, passes are short.
    tol
        Largest violation at the end.
    beta, plane
        Coefficients, and their sum of rows.
    order
        Positions of all coefficients, which are mixed.
    """
    size, width = beta.shape[0], rows.shape[1]
    state, n_active = np.int64(1), size
    shrunk, shrink_above, shrink_below = False, np.inf, -np.inf
    n_steps = np.int64(0)
    while n_steps < max_steps:
        highest, lowest = -np.inf, np.inf
        # In a new order each time: a fixed one may go round in circles.
        state = _shuffle(order[:n_active], state)
        place, n_steps = 0, n_steps + n_active
        while place < n_active:
            k = order[place]
            row = rows[row_of[k]]
            # Of the dual objective, which is maximised: if positive, the coefficient should rise.
            gradient = -linear[k]
            for column in range(width):
                gradient -= plane[column] * row[column]
            at_top, at_bottom = beta[k] >= upper[k], beta[k] <= lower[k]
            if (at_top and gradient > shrink_above) or (at_bottom and gradient < shrink_below):
                n_active -= 1
                order[place], order[n_active] = order[n_active], order[place]
                continue
            place += 1
            if (at_top and gradient > 0.0) or (at_bottom and gradient < 0.0):
                continue
            highest, lowest = max(highest, gradient), min(lowest, gradient)
            target = min(max(beta[k] + gradient / squares[k], lower[k]), upper[k])
            step = target - beta[k]
            if step != 0.0:
                beta[k] = target
                for column in range(width):
                    plane[column] += step * row[column]
        if max(highest, -lowest) <= tol:
            if not shrunk:
                return n_steps
            # What was left out has its say again before the end.
            n_active = size
            shrunk, shrink_above, shrink_below = False, np.inf, -np.inf
        else:
            shrunk = True
            # Nothing is left out for a gradient that the next passes may well turn.
            shrink_above = max(highest, 0.0) + tol if highest > 0.0 else np.inf
            shrink_below = min(lowest, 0.0) - tol if lowest < 0.0 else -np.inf
    return n_steps


@njit(cache=True, nogil=True)
def _shuffle(order, state):
    """Mix the order by a generator of its own (Park and Miller 1988), the same for every call."""
    for place in range(order.shape[0] - 1, 0, -1):
        state = state * 48271 % 2147483647
        other = state % (place + 1)
        order[place], order[other] = order[other], order[place]
    return state
