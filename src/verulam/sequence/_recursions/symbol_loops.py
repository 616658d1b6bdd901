"""Compiled sums of Baum-Welch for symbols, where transitions lie along a few diagonals.

One call works through whole sequences: emissions are looked up where they are used, and posteriors
are added to the counts of their symbol at once, so that only the forward shares are ever stored.
The buffers are those of `diagonal_loops`.
"""

import numpy as np

from verulam.numerics import njit
from verulam.sequence._recursions.diagonal_loops import GROUP, by_target, push_bands
from verulam.sequence._recursions.inference_loops import FAINT, FAST, LOST, Layout
from verulam.sequence._tuning import LANES


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def weigh_padded(row, emission, factor):
    """Multiply `row` by the emissions and a factor, drop what is faint, and return the sum."""
    total = 0.0
    for j in range(row.shape[0]):
        share = row[j] * (emission[j] * factor)
        share = share if share > FAINT else 0.0
        row[j] = share
        total += share
    return total


@njit(cache=True, nogil=True)
def shrink(row, low, high):
    """Return the part of `row` from `low` to `high` beyond which all is zero, in whole lanes."""
    while low < high and row[low] == 0.0:
        low += 1
    while high > low and row[high - 1] == 0.0:
        high -= 1
    return low - low % LANES, high + (-high) % LANES


@njit(cache=True, nogil=True, fastmath=FAST)
def fill_shares(codes, table, initial, bands, shifts, margin, rows, scales, windows):
    """Fill the forward shares of one sequence and their sums; return whether it is possible.

    Only the states that can be reached are looked at; `windows` notes from where to where.
    """
    width, factor = table.shape[1], 1.0
    up, down = max(0, shifts.max()), max(0, -shifts.min())
    low, high = 0, width
    for t in range(codes.shape[0]):
        if t > 0:
            # From left to right, only few states have a share at first, and early ones fade: the
            # window moves with the states that have any, a step by at most the longest jump.
            low, high = max(0, low - down), min(width, high + up)
            low, high = low - low % LANES, high + (-high) % LANES
        row = rows[t, margin + low : margin + high]
        if t == 0:
            row[:] = initial
        else:
            push_bands(bands, shifts, margin, rows[t - 1], row, low)
        total = weigh_padded(row, table[codes[t], low:high], factor)
        scales[t] = total
        if not total > 0.0:
            return False
        factor = 1.0 / total
        low, high = shrink(rows[t, margin : margin + width], low, high)
        # The rows are memory used again: outside of the window stands what was there before.
        rows[t, : margin + low] = 0.0
        rows[t, margin + high :] = 0.0
        windows[t, 0], windows[t, 1] = low, high
    return True


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def add_posteriors(alpha, beta, factor, totals):
    """Add the posteriors of one step."""
    for j in range(totals.shape[0]):
        totals[j] += alpha[j] * (beta[j] * factor)


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def look_ahead(emission, beta, factor, ahead):
    """Fill what the step before looks at; return the sum of what is left to explain."""
    total = 0.0
    for j in range(beta.shape[0]):
        left = beta[j] * factor
        total += left
        left = emission[j] * left
        ahead[j] = left if left > FAINT else 0.0
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def add_transitions(rows, windows, ahead, factors, shifts, margin, sums):
    """Add the transitions of `GROUP` steps, the last step first in `ahead` and in `factors`."""
    # Three steps in one pass, so that each sum is loaded and stored a third as often.
    low = min(windows[0, 0], windows[1, 0], windows[2, 0])
    high = max(windows[0, 1], windows[1, 1], windows[2, 1])
    width, start, stop = high - low, margin + low, margin + high
    known_a, known_b, known_c = rows[2, start:stop], rows[1, start:stop], rows[0, start:stop]
    factor_a, factor_b, factor_c = factors[0], factors[1], factors[2]
    for p in range(sums.shape[0]):
        first = start - shifts[p]
        last = first + width
        to_a, to_b, to_c = ahead[0, first:last], ahead[1, first:last], ahead[2, first:last]
        total = sums[p, low:high]
        for i in range(width):
            total[i] += (
                factor_a * known_a[i] * to_a[i]
                + factor_b * known_b[i] * to_b[i]
                + factor_c * known_c[i] * to_c[i]
            )


@njit(cache=True, nogil=True, fastmath=FAST)
def add_backwards(codes, table, bands, shifts, margin, rows, scales, windows, totals):
    """Add the posteriors of one sequence; return whether nothing that matters was faint.

    Dividing by the forward scales makes shares times what is ahead of them sum to one at every
    step, so no further sums are needed; where what is ahead of a share is so large that shares
    dropped as faint might have mattered, the sums are not to be used.
    """
    counts, firsts, sums = totals
    width, last = table.shape[1], codes.shape[0] - 1
    beta, factors = np.ones(width), np.zeros(GROUP)
    # Two groups of steps: one to add up while the other begins.
    ahead = np.zeros((2 * GROUP, width + 2 * margin))
    place, count, base = 0, 0, 0
    for t in range(last, -1, -1):
        if t < last:
            push_bands(bands, shifts, margin, ahead[place], beta, 0)
        code, factor, low, high = codes[t], 1.0 / scales[t], windows[t, 0], windows[t, 1]
        alpha, seen = rows[t, margin + low : margin + high], beta[low:high]
        add_posteriors(alpha, seen, factor, counts[code, low:high])
        if t == 0:
            add_posteriors(alpha, seen, factor, firsts[low:high])
        factors[count] = factor
        place = (place + 1) % (2 * GROUP)
        total = look_ahead(table[code], beta, factor, ahead[place, margin : margin + width])
        # Written so that NaN fails, too.
        if not total * LOST < 1.0:
            return False
        count += 1
        if count == GROUP:
            known, places = rows[t : t + GROUP], windows[t : t + GROUP]
            steps = ahead[base : base + GROUP]
            add_transitions(known, places, steps, factors, shifts, margin, sums)
            count, base = 0, GROUP - base
    # The first steps of the sequence, fewer than a group.
    for k in range(count):
        alpha = rows[count - 1 - k, margin : margin + width]
        for p in range(sums.shape[0]):
            first = margin - shifts[p]
            for i in range(width):
                sums[p, i] += factors[k] * alpha[i] * ahead[base + k, first + i]
    return True


def shares_shape(starts: np.ndarray, layout: Layout) -> tuple[int, int]:
    """Return the shape of the room that `sum_symbols` needs."""
    n_states = layout.diagonals.shape[1]
    margin = int(np.abs(layout.offsets).max())
    return int(np.diff(starts).max()), n_states + (-n_states) % LANES + 2 * margin


@njit(cache=True, nogil=True)
def padded(array, width):
    """Return the rows with zeros after them."""
    wide = np.zeros((array.shape[0], width))
    wide[:, : array.shape[1]] = array
    return wide


@njit(cache=True, nogil=True)
def sum_symbols(
    codes, table, starts, initial, forward, transposed, rows, counts, firsts, sums, scales
):
    """Add up symbols, first states and transitions; return whether all could be done like this.

    Row ``codes[t]`` of `table` holds the emissions at a step: a code of -1 stands for the last
    one. The posteriors are added to the same row of `counts`. Those of the transitions are by
    the diagonals of the transposed transitions, without their weights. `rows` is room to work in.
    """
    n_states = initial.shape[0]
    bands, shifts, margin = by_target(forward.offsets, forward.diagonals)
    back_bands, back_shifts, _ = by_target(transposed.offsets, transposed.diagonals)
    width = bands.shape[1]
    table, totals = padded(table, width), np.zeros((table.shape[0], width))
    first = np.zeros(width)
    first[:n_states] = initial
    padded_firsts, padded_sums = np.zeros(width), np.zeros((sums.shape[0], width))
    windows = np.zeros((rows.shape[0], 2), dtype=np.int64)
    for s in range(starts.shape[0] - 1):
        steps = slice(starts[s], starts[s + 1])
        piece, sizes = codes[steps], scales[steps]
        if piece.shape[0] == 0:
            continue
        ahead = (bands, shifts, margin, rows, sizes, windows)
        if not fill_shares(piece, table, first, *ahead):
            return False
        back = (back_bands, back_shifts, margin, rows, sizes, windows)
        if not add_backwards(piece, table, *back, (totals, padded_firsts, padded_sums)):
            return False
    counts += totals[:, :n_states]
    firsts += padded_firsts[:n_states]
    sums += padded_sums[:, :n_states]
    return True
