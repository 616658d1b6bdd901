"""Passes of a perceptron whose vectors will vote, compiled."""

from numba import njit


@njit(cache=True, nogil=True)
def voting_pass(inputs, signs, order, weights, rows, survivals):  # pragma: no cover
    """Go once through the rows, in place.

    Parameters
    ----------
    inputs, signs
        Rows and their signs.
    order
        Positions in the order of presentation.
    weights
        Bias and weights.
    rows
        Filled with the rows that corrected.
    survivals
        Rows that the vector from before the pass got right, then one and the same for each
        vector made by a correction; zeros at first.

    Returns
    -------
    Number of corrections in this pass.
    """
    n_columns = inputs.shape[1]
    made = 0
    for place in range(len(order)):
        row = order[place]
        value = weights[0]
        for column in range(n_columns):
            value += weights[column + 1] * inputs[row, column]
        if signs[row] * value <= 0:
            weights[0] += signs[row]
            for column in range(n_columns):
                weights[column + 1] += signs[row] * inputs[row, column]
            rows[made] = row
            made += 1
        survivals[made] += 1
    return made
