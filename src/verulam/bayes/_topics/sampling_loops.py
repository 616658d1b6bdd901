"""Compiled sweeps over the words of documents: C-arrays in, topics and counts changed in place.

Sweeps draw a topic for every token given those of all others. One that may count fractions computes
all probabilities; the sparse one splits their sum so that nearly always only the topics that the
word has are looked at. Words that very many topics have are rows of a table in it, whose products
fill whole registers.
"""

import numpy as np

from verulam.numerics import njit

#: Constants of the generator that sweeps draw from.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
UNIT = 2.0**-53
#: Topics whose sum is taken at once; rows of the table are padded to a multiple of it.
REGISTER = 16
ONE = np.float32(1.0)


@njit(cache=True, nogil=True)
def draw_uniform(state):
    """Return a number from 0 to 1, by Steele, Lea and Flood's generator."""
    # It needs no other memory than one number, unlike those of NumPy.
    state[0] += GOLDEN
    bits = (state[0] ^ (state[0] >> SHIFTS[0])) * FACTORS[0]
    bits = (bits ^ (bits >> SHIFTS[1])) * FACTORS[1]
    return ((bits ^ (bits >> SHIFTS[2])) >> SHIFTS[3]) * UNIT


@njit(cache=True, nogil=True)
def weighted_sweep(
    words, weights, topics, starts, doc_topic, word_topic, totals, alpha, beta, vocabulary,
    uniforms, mass,
):  # fmt: skip
    """Draw all topics anew, where a token may count as a part of a word."""
    n_topics = alpha.shape[0]
    for d in range(starts.shape[0] - 1):
        for i in range(starts[d], starts[d + 1]):
            w, z, weight = words[i], topics[i], weights[i]
            # Fractions do not cancel to the last digit.
            doc_topic[d, z] = max(doc_topic[d, z] - weight, 0.0)
            word_topic[w, z] = max(word_topic[w, z] - weight, 0.0)
            totals[z] = max(totals[z] - weight, 0.0)
            total = 0.0
            for k in range(n_topics):
                mass[k] = (doc_topic[d, k] + alpha[k]) * (word_topic[w, k] + beta)
                mass[k] /= totals[k] + vocabulary
                total += mass[k]
            rest = uniforms[i] * total
            z = np.int64(0)
            while z < n_topics - 1 and rest >= mass[z]:
                rest -= mass[z]
                z += 1
            topics[i] = z
            doc_topic[d, z] += weight
            word_topic[w, z] += weight
            totals[z] += weight


@njit(cache=True, nogil=True)
def digamma_exp(value):
    """Return exp(digamma(value)) for a positive number."""
    # Ten steps up the recurrence, then six terms of the asymptotic series.
    shift = 0.0
    while value < 10.0:
        shift += 1.0 / value
        value += 1.0
    square = 1.0 / (value * value)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    return np.exp(np.log(value) - 0.5 / value - series - shift)


@njit(cache=True, nogil=True)
def share_words(first, last, indices, data, topics, expected, following):
    """Add the words of a document to its topics by their shares in each word."""
    for i in range(first, last):
        w, total = indices[i], 1e-300
        for k in range(expected.shape[0]):
            total += expected[k] * topics[w, k]
        share = data[i] / total
        for k in range(expected.shape[0]):
            following[k] += share * expected[k] * topics[w, k]


@njit(cache=True, nogil=True)
def gather_words(first, last, indices, data, topics, expected, sums):
    """Add the words of a document to the sums by topic, and return their part of the bound."""
    bound = 0.0
    for i in range(first, last):
        w, total = indices[i], 1e-300
        for k in range(expected.shape[0]):
            total += expected[k] * topics[w, k]
        bound += data[i] * np.log(total)
        if sums.shape[0] > 1:
            for k in range(expected.shape[0]):
                sums[w, k] += data[i] * expected[k] * topics[w, k] / total
    return bound


@njit(cache=True, nogil=True)
def infer_documents(
    indptr, indices, data, topics, alpha, gamma, max_iter, tol, expected, following, sums
):
    """Fit each document's distribution over topics; return the words' part of the bound.

    `topics` has a row for each word; `gamma` starts where it was left. The expected counts of
    words by topic are added to `sums`, if that has more than one row.
    """
    n_topics = alpha.shape[0]
    bound = 0.0
    for d in range(indptr.shape[0] - 1):
        first, last = indptr[d], indptr[d + 1]
        for step in range(max_iter):
            for k in range(n_topics):
                expected[k] = digamma_exp(gamma[d, k])
                following[k] = alpha[k]
            share_words(first, last, indices, data, topics, expected, following)
            change, size = 0.0, 0.0
            for k in range(n_topics):
                change += abs(following[k] - gamma[d, k])
                size += following[k]
            # Expectations stay those of the counts that are left.
            if change <= tol * size or step == max_iter - 1:
                break
            for k in range(n_topics):
                gamma[d, k] = following[k]
        whole, n_words = 0.0, 0.0
        for k in range(n_topics):
            whole += gamma[d, k]
        for i in range(first, last):
            n_words += data[i]
        bound -= n_words * np.log(digamma_exp(whole))
        bound += gather_words(first, last, indices, data, topics, expected, sums)
    return bound


@njit(cache=True, nogil=True)
def move_topic(place, k, begin, lists):
    """Count the topic at a place of a word's list once less, and another one once more."""
    lists[place + 1] -= 1
    if lists[place + 1] == 0:
        lists[begin] -= 1
        last = begin + 1 + 2 * lists[begin]
        lists[place] = lists[last]
        lists[place + 1] = lists[last + 1]
    j = begin + 1
    end = j + 2 * lists[begin]
    while j < end and lists[j] != k:
        j += 2
    if j == end:
        lists[j] = k
        lists[j + 1] = 0
        lists[begin] += 1
    lists[j + 1] += 1
    # Frequent topics move to the front, where they are met first.
    if j > begin + 1 and lists[j + 1] > lists[j - 1]:
        lists[j], lists[j - 2] = lists[j - 2], lists[j]
        lists[j + 1], lists[j - 1] = lists[j - 1], lists[j + 1]


@njit(cache=True, nogil=True)
def sum_over_counts(begins, lists, table, values):
    """Return the sum of what `values` has for each count of a word in a topic."""
    total = 0.0
    for w in range(begins.shape[0]):
        begin = begins[w]
        for place in range(lists[begin]):
            total += values[lists[begin + 2 + 2 * place]]
        if lists[begin] < 0:
            for k in range(table.shape[1]):
                total += values[np.int64(table[lists[begin + 1], k])]
    return total


@njit(cache=True, nogil=True)
def spread_lists(begins, rows, lists, table, longest):
    """Move words with more than `longest` topics to the table, and back when they have few again.

    A word in the table has -1 for the length of its list, and then its row.
    """
    for w in range(begins.shape[0]):
        begin, row = begins[w], rows[w]
        if row < 0:
            continue
        if lists[begin] > longest:
            for j in range(begin + 1, begin + 1 + 2 * lists[begin], 2):
                table[row, lists[j]] = lists[j + 1]
            lists[begin] = -1
            lists[begin + 1] = row
        elif lists[begin] < 0:
            size = np.int64(0)
            for k in range(table.shape[1]):
                size += table[row, k] > 0
            # Words at the edge stay where they are.
            if size < longest:
                j = begin + 1
                for k in range(table.shape[1]):
                    if table[row, k] > 0:
                        lists[j] = k
                        lists[j + 1] = np.int64(table[row, k])
                        j += 2
                        table[row, k] = 0.0
                lists[begin] = size


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def topic_of_row(row, table, coefficients, beta, uniform, mass, parts):
    """Return a topic drawn from all, for a word of the table."""
    total = np.float32(0.0)
    for b in range(parts.shape[0]):
        part = np.float32(0.0)
        for k in range(REGISTER * b, REGISTER * b + REGISTER):
            mass[k] = (table[row, k] + beta) * coefficients[k]
            part += mass[k]
        parts[b] = part
        total += part
    rest = uniform * total
    block = np.int64(0)
    while block < parts.shape[0] - 1 and rest >= parts[block]:
        rest -= parts[block]
        block += 1
    topic = REGISTER * block
    last = topic + REGISTER - 1
    while topic < last and rest >= mass[topic]:
        rest -= mass[topic]
        topic += 1
    # Rounding may have left over a little more than the last topic has.
    while mass[topic] <= 0.0:
        topic -= 1
    return topic


@njit(cache=True, nogil=True)
def begin_document(counts, totals, alpha, vocabulary, inverses, coefficients, present):
    """Prepare a document: return the sums of both smoothing parts, and how many topics it has."""
    # (n_dk + alpha_k) (n_kw + beta) / N_k in parts: times beta these sums stand for all words.
    smooth, common, n_present = 0.0, 0.0, np.int64(0)
    for k in range(alpha.shape[0]):
        inverses[k] = 1.0 / (totals[k] + vocabulary)
        coefficients[k] = (alpha[k] + counts[k]) * inverses[k]
        smooth += alpha[k] * inverses[k]
        if counts[k] > 0:
            present[n_present] = k
            n_present += 1
            common += counts[k] * inverses[k]
    return smooth, common, n_present


@njit(cache=True, nogil=True)
def smoothed_topic(rest, counts, alpha, inverses, common, present, n_present):
    """Return a topic drawn by what the document has of it, or by the prior alone."""
    k = present[0] if n_present > 0 else np.int64(0)
    if rest < common and n_present > 0:
        for j in range(n_present):
            k = present[j]
            rest -= counts[k] * inverses[k]
            if rest < 0.0:
                break
        return k
    rest -= common
    for j in range(alpha.shape[0]):
        if alpha[j] > 0.0:
            k = np.int64(j)
            rest -= alpha[j] * inverses[j]
            if rest < 0.0:
                break
    return k


@njit(cache=True, nogil=True)
def drop_topic(k, present, last):
    """Put the last topic of a document in the place of another one."""
    j = np.int64(0)
    while present[j] != k:
        j += 1
    present[j] = present[last]


@njit(cache=True, nogil=True)
def sparse_sweep(
    begins, topics, starts, doc_topic, lists, table, totals, alpha, beta, vocabulary, state,
    inverses, coefficients, present, mass, parts,
):  # fmt: skip
    """Draw all topics anew; counts are whole numbers.

    The list of a word holds how many topics it has, then topic after topic with its count;
    `begins` tells where the list of each token's word begins.
    """
    for d in range(starts.shape[0] - 1):
        counts = doc_topic[d]
        smooth, common, n_present = begin_document(
            counts, totals, alpha, vocabulary, inverses, coefficients, present
        )
        for i in range(starts[d], starts[d + 1]):
            begin, k = begins[i], np.int64(topics[i])
            # Without the token; what was is put back if its topic stays, as it mostly does.
            old, weight, sums = inverses[k], coefficients[k], (smooth, common)
            inverse = 1.0 / (totals[k] - 1.0 + vocabulary)
            count = counts[k] - 1
            smooth += alpha[k] * (inverse - old)
            common += count * inverse - (count + 1) * old
            inverses[k], counts[k] = inverse, count
            coefficients[k] = (alpha[k] + count) * inverse
            uniform = draw_uniform(state)
            if lists[begin] < 0:
                row = lists[begin + 1]
                table[row, k] -= ONE
                new = topic_of_row(row, table, coefficients, np.float32(beta), uniform, mass, parts)
                table[row, new] += ONE
            else:
                size, shared, place = lists[begin], 0.0, begin
                for entry in range(size):
                    topic, times = lists[begin + 1 + 2 * entry], lists[begin + 2 + 2 * entry]
                    if topic == k:
                        place = begin + 1 + 2 * entry
                        times -= 1
                    mass[entry] = times * coefficients[topic]
                    shared += mass[entry]
                rest = uniform * (beta * (smooth + common) + shared)
                if rest < shared:
                    j = np.int64(0)
                    while j < size - 1 and rest >= mass[j]:
                        rest -= mass[j]
                        j += 1
                    new = np.int64(lists[begin + 1 + 2 * j])
                else:
                    rest = (rest - shared) / beta
                    new = smoothed_topic(rest, counts, alpha, inverses, common, present, n_present)
                if new != k:
                    move_topic(place, new, begin, lists)
            if new == k:
                inverses[k], coefficients[k], counts[k] = old, weight, count + 1
                smooth, common = sums
                continue
            totals[k] -= 1
            if count == 0:
                n_present -= 1
                drop_topic(k, present, n_present)
            topics[i], old = new, inverses[new]
            totals[new] += 1
            inverse = 1.0 / (totals[new] + vocabulary)
            count = counts[new] + 1
            if count == 1:
                present[n_present] = new
                n_present += 1
            smooth += alpha[new] * (inverse - old)
            common += count * inverse - (count - 1) * old
            inverses[new], counts[new] = inverse, count
            coefficients[new] = (alpha[new] + count) * inverse
