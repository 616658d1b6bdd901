"""The pocket algorithm, compiled."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def weighted_errors(inputs, signs, row_weights, rows, weights):  # pragma: no cover
    """Return the weight of the chosen rows that are not on their side."""
    wrong = 0.0
    for place in range(len(rows)):
        row = rows[place]
        value = weights[0]
        for column in range(inputs.shape[1]):
            value += weights[column + 1] * inputs[row, column]
        if signs[row] * value <= 0:
            wrong += row_weights[row]
    return wrong


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def pocket_pass(
    inputs, signs, row_weights, order, samples, updates, weights, pocket, state, history
):  # pragma: no cover
    """Go once through the rows, in place.

    Parameters
    ----------
    inputs, signs, row_weights
        Rows, their signs and what they weigh.
    order
        Positions in the order of presentation.
    samples
        One row of positions for each comparison of this pass, used in turn.
    updates
        Corrections between two comparisons.
    weights, pocket
        Current weights and the best; both change.
    state
        Weight of errors of the pocket, and corrections since the last comparison; both change.
    history
        Contents of the pocket after each change, until it is full.

    Returns
    -------
    Corrections in this pass, and number of changes of the pocket.
    """
    n_columns = inputs.shape[1]
    everything = np.arange(len(signs))
    corrections, changes, comparisons = 0, 0, 0
    for place in range(len(order)):
        row = order[place]
        value = weights[0]
        for column in range(n_columns):
            value += weights[column + 1] * inputs[row, column]
        if signs[row] * value > 0:
            continue
        corrections += 1
        weights[0] += signs[row]
        for column in range(n_columns):
            weights[column + 1] += signs[row] * inputs[row, column]
        state[1] += 1
        if state[1] < updates:
            continue
        state[1] = 0
        sample = samples[comparisons % len(samples)]
        comparisons += 1
        tried = weighted_errors(inputs, signs, row_weights, sample, weights)
        if tried >= weighted_errors(inputs, signs, row_weights, sample, pocket):
            continue
        wrong = weighted_errors(inputs, signs, row_weights, everything, weights)
        if wrong < state[0]:
            state[0] = wrong
            pocket[:] = weights
            if changes < len(history):
                history[changes] = pocket
            changes += 1
    return corrections, changes
