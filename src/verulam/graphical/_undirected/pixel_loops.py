"""Messages between the pixels of a grid."""

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def pixel_sweep(evidence, messages, ratio, steps, beliefs, maximise):
    """Send messages over the grid in all four directions; return the largest change.

    Entry (d, r, c) of `messages` is what the neighbour in direction d tells pixel (r, c). With
    Potts potentials a message is the sender's belief, mixed with its sum (or largest value).
    """
    n_rows, n_columns, n_states = evidence.shape
    change = 0.0
    for d in range(4):
        down, right = steps[d, 0], steps[d, 1]
        back = steps[d, 2]
        # With the direction of the message, so that it travels across the grid in one sweep.
        for i in range(n_rows):
            r = i if down >= 0 else n_rows - 1 - i
            for j in range(n_columns):
                c = j if right >= 0 else n_columns - 1 - j
                to_row, to_column = r + down, c + right
                if to_row < 0 or to_row >= n_rows or to_column < 0 or to_column >= n_columns:
                    continue
                total = 0.0
                for k in range(n_states):
                    value = evidence[r, c, k]
                    for e in range(4):
                        if e != back:
                            value *= messages[e, r, c, k]
                    beliefs[k] = value
                    total = max(total, value) if maximise else total + value
                norm = 0.0
                for k in range(n_states):
                    if maximise:
                        beliefs[k] = max(beliefs[k], ratio * total)
                    else:
                        beliefs[k] = ratio * total + (1.0 - ratio) * beliefs[k]
                    norm += beliefs[k]
                for k in range(n_states):
                    value = beliefs[k] / norm
                    change = max(change, abs(value - messages[d, to_row, to_column, k]))
                    messages[d, to_row, to_column, k] = value
    return change
