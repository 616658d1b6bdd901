"""Compiled sweeps where topics are few: every word has a row of counts, summed in registers.

A token mostly keeps its topic, so that this is asked first, before anything is changed; only then
is another one looked for. Topics are summed by lanes, the places of a register: topic 0 with topics
8 and 16, topic 1 with 9 and 17, and so on. Which lane, and which topic in it, is counted instead of
searched, as the end of a search is what processors guess wrong.
"""

import numpy as np

from verulam.bayes._topics.sampling_loops import draw_uniform
from verulam.numerics import njit

#: Topics that are summed side by side; rows of the table are padded to a multiple of it.
LANES = 8
ONE, ZERO = np.float32(1.0), np.float32(0.0)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def sum_lanes(row, coefficients, beta, k, mass, lanes):
    """Write the mass of each topic but `k`, and the sum of each lane."""
    for j in range(row.shape[0]):
        mass[j] = (row[j] + beta) * coefficients[j]
    mass[k] = ZERO
    for j in range(LANES):
        lanes[j] = mass[j]
    for block in range(LANES, row.shape[0], LANES):
        for j in range(LANES):
            lanes[j] += mass[block + j]


@njit(cache=True, nogil=True)
def end_lanes(lanes):
    """Replace sums of lanes by where each lane ends, and return the last of these."""
    # Sums of pairs do not wait for one another.
    second, fourth = lanes[0] + lanes[1], lanes[2] + lanes[3]
    sixth, eighth = lanes[4] + lanes[5], lanes[6] + lanes[7]
    fourth += second
    lanes[2] += second
    lanes[4] += fourth
    sixth += fourth
    lanes[6] += sixth
    lanes[1], lanes[3], lanes[5], lanes[7] = second, fourth, sixth, sixth + eighth
    return lanes[7]


@njit(cache=True, nogil=True)
def topic_at(rest, mass, ends):
    """Return the topic whose mass covers a place on the line of all lanes."""
    lane, begin = np.int64(0), ZERO
    for j in range(LANES - 1):
        begin = ends[j] if rest >= ends[j] else begin
        lane += rest >= ends[j]
    topic = lane
    for j in range(lane + LANES, mass.shape[0], LANES):
        begin += mass[j - LANES]
        topic = np.int64(j) if rest >= begin else topic
    # Rounding may lead to a topic without mass, beside one that has some.
    while mass[topic] <= ZERO:
        topic = topic - 1 if topic > 0 else mass.shape[0] - 1
    return topic


@njit(cache=True, nogil=True)
def set_inverses(totals, vocabulary, inverses):
    """Write one over each topic's total, and over totals of one token less and one more."""
    for k in range(totals.shape[0]):
        for step in range(3):
            inverses[step, k] = 1.0 / (max(totals[k] + (step - 1), 0.0) + vocabulary)


@njit(cache=True, nogil=True, error_model="numpy")
def row_sweep(
    words, topics, starts, doc_topic, table, totals, alpha, beta, vocabulary, state,
    inverses, coefficients, mass, lanes,
):  # fmt: skip
    """Draw all topics anew; counts are whole numbers, and `table` has those of each word."""
    set_inverses(totals, vocabulary, inverses)
    below, present, above = inverses[0], inverses[1], inverses[2]
    smoothing = np.float32(beta)
    for d in range(starts.shape[0] - 1):
        counts = doc_topic[d]
        for j in range(alpha.shape[0]):
            coefficients[j] = (alpha[j] + counts[j]) * present[j]
        for i in range(starts[d], starts[d + 1]):
            k, row = np.int64(topics[i]), table[words[i]]
            # Never quite zero, so that a topic stays where no other one has any mass.
            stay = (alpha[k] + counts[k] - 1.0) * below[k] * (row[k] - ONE + beta) + 1e-300
            sum_lanes(row, coefficients, smoothing, k, mass, lanes)
            rest = draw_uniform(state) * (stay + end_lanes(lanes)) - stay
            if rest <= 0.0:
                continue
            new = topic_at(np.float32(rest), mass, lanes)
            row[k] -= ONE
            row[new] += ONE
            topics[i] = new
            counts[k] -= 1
            counts[new] += 1
            totals[k] -= 1.0
            totals[new] += 1.0
            coefficients[k] = (alpha[k] + counts[k]) * below[k]
            coefficients[new] = (alpha[new] + counts[new]) * above[new]
            # The division is for a later token: this one's has been there before.
            above[k], present[k] = present[k], below[k]
            below[k] = 1.0 / (max(totals[k] - 1.0, 0.0) + vocabulary)
            below[new], present[new] = present[new], above[new]
            above[new] = 1.0 / (totals[new] + 1.0 + vocabulary)
