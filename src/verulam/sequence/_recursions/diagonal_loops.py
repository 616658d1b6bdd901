"""Compiled recursions for transitions along a few diagonals, such as from left to right.

Rows of states are kept in buffers whose width is a multiple of `LANES`, with zeros around them, so
that each diagonal is one run of vector instructions without a beginning or an end to look after.
Few arrays are touched in each inner loop: with more the compiler gives vectors up, because it
cannot tell that they do not overlap.
"""

import numpy as np

from verulam.numerics import njit
from verulam.sequence._recursions.inference_loops import FAINT, FAST, LOST, TINY
from verulam.sequence._tuning import LANES

#: Diagonals that are added at a time, and steps whose transitions are: the loops are written out
#: for three.
GROUP = 3


@njit(cache=True, nogil=True)
def by_target(offsets, diagonals):
    """Return weights by target in padded rows, the offsets padded alike, and the widest offset."""
    count, n_states = diagonals.shape
    bands = np.zeros((count + (-count) % GROUP, n_states + (-n_states) % LANES))
    shifts = np.zeros(bands.shape[0], dtype=np.int64)
    margin = 0
    for p in range(count):
        shift = offsets[p]
        shifts[p] = shift
        margin = max(margin, abs(shift))
        for i in range(max(0, -shift), min(n_states, n_states - shift)):
            # By target, the sum into a state reads the same place of every band.
            bands[p, i + shift] = diagonals[p, i]
    return bands, shifts, margin


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def push_bands(bands, shifts, margin, before, row, start):
    """Write the sums over the sources of `before` into `row`, which is the states from `start`."""
    width = row.shape[0]
    stop = start + width
    for p in range(0, shifts.shape[0], GROUP):
        first = margin + start
        a, b, c = first - shifts[p], first - shifts[p + 1], first - shifts[p + 2]
        from_a, from_b, from_c = before[a : a + width], before[b : b + width], before[c : c + width]
        by_a, by_b, by_c = bands[p, start:stop], bands[p + 1, start:stop], bands[p + 2, start:stop]
        # The first group overwrites the row, which saves clearing it.
        if p == 0:
            for j in range(width):
                row[j] = by_a[j] * from_a[j] + by_b[j] * from_b[j] + by_c[j] * from_c[j]
        else:
            for j in range(width):
                row[j] += by_a[j] * from_a[j] + by_b[j] * from_b[j] + by_c[j] * from_c[j]


@njit(cache=True, nogil=True, fastmath=FAST)
def forward_diagonals(emissions, starts, initial, offsets, diagonals, alpha, scales, failures):
    """Do as `forward_dense` for diagonals by source."""
    bands, shifts, margin = by_target(offsets, diagonals)
    n_states, width = alpha.shape[1], bands.shape[1]
    before, row = np.zeros(width + 2 * margin), np.zeros(width)
    inner = before[margin : margin + n_states]
    for s in range(starts.shape[0] - 1):
        failures[s] = -1
        factor = 1.0
        for t in range(starts[s], starts[s + 1]):
            if t == starts[s]:
                for j in range(n_states):
                    row[j] = initial[j]
            else:
                push_bands(bands, shifts, margin, before, row, 0)
            emission, shares = emissions[t], alpha[t]
            total = 0.0
            for j in range(n_states):
                share = row[j] * (emission[j] * factor)
                share = share if share > TINY else 0.0
                # Once into the padded buffer that the next step reads, once into the result.
                inner[j] = share
                shares[j] = share
                total += share
            scales[t] = total
            if not total > 0.0:
                failures[s] = t
                break
            factor = 1.0 / total


@njit(cache=True, nogil=True, fastmath=FAST)
def add_steps(known, ahead, shares, shifts, margin, sums):
    """Add the shares of the transitions of `GROUP` steps, without their weights, to `sums`."""
    # Three steps in one pass, so that each sum is loaded and stored a third as often.
    width = known.shape[1]
    known_a, known_b, known_c = known[0], known[1], known[2]
    share_a, share_b, share_c = shares[0], shares[1], shares[2]
    for p in range(sums.shape[0]):
        first = margin - shifts[p]
        last = first + width
        to_a, to_b, to_c = ahead[0, first:last], ahead[1, first:last], ahead[2, first:last]
        total = sums[p]
        for i in range(width):
            total[i] += (
                share_a * known_a[i] * to_a[i]
                + share_b * known_b[i] * to_b[i]
                + share_c * known_c[i] * to_c[i]
            )


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def joint_total(alpha, beta, known):
    """Fill `known` with the shares that are not faint, and return their sum times `beta`."""
    total = 0.0
    for j in range(alpha.shape[0]):
        share = alpha[j]
        share = share if share > FAINT else 0.0
        known[j] = share
        total += share * beta[j]
    return total


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def step_back(emission, beta, factor, inner):
    """Fill what the step before looks at, and return the factor that makes it sum to one."""
    total = 0.0
    for j in range(emission.shape[0]):
        left = emission[j] * beta[j] * factor
        left = left if left > FAINT else 0.0
        inner[j] = left
        total += left
    return 1.0 / total if total > 0.0 else 1.0


@njit(cache=True, nogil=True, fastmath=FAST)
def backward_diagonals(
    emissions, starts, offsets, diagonals, alpha, gamma, sums, failures, tail, count_tail
):
    """Do as `backward_edges`; the diagonals are those of the transposed transitions."""
    bands, shifts, margin = by_target(offsets, diagonals)
    n_states, width = alpha.shape[1], bands.shape[1]
    beta, known, shares = np.zeros(width), np.zeros((GROUP, width)), np.zeros(GROUP)
    # Two groups of steps: one to add up while the other begins.
    ahead = np.zeros((2 * GROUP, width + 2 * margin))
    by_sequence = np.zeros((offsets.shape[0], width))
    place = 0
    for s in range(starts.shape[0] - 1):
        if failures[s] >= 0:
            continue
        factor, count, base, place = 1.0, 0, 0, 0
        by_sequence[:] = 0.0
        for j in range(n_states):
            ahead[0, margin + j] = tail[j] if tail.shape[0] > 0 else 0.0
        for t in range(starts[s + 1] - 1, starts[s] - 1, -1):
            is_last = t == starts[s + 1] - 1
            if is_last and tail.shape[0] == 0:
                beta[:n_states] = 1.0
            else:
                push_bands(bands, shifts, margin, ahead[place], beta, 0)
            total = joint_total(alpha[t], beta, known[count])
            if not total > LOST:
                failures[s] = t
                break
            share = 1.0 / total
            # A weight of zero leaves a step out of the sums without a branch in their loop.
            shares[count] = share if count_tail or not is_last else 0.0
            row, left = gamma[t], known[count]
            for j in range(n_states):
                row[j] = left[j] * beta[j] * share
            place = (place + 1) % (2 * GROUP)
            factor = step_back(emissions[t], beta, factor, ahead[place, margin : margin + n_states])
            count += 1
            if count == GROUP:
                add_steps(known, ahead[base : base + GROUP], shares, shifts, margin, by_sequence)
                count, base = 0, GROUP - base
        if failures[s] < 0:
            # The group that was begun is filled up with steps of no weight.
            shares[count:] = 0.0
            add_steps(known, ahead[base : base + GROUP], shares, shifts, margin, by_sequence)
            sums += by_sequence[:, :n_states]
    return ahead[place, margin : margin + n_states].copy()
