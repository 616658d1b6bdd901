"""Passes of messages over a junction tree, for all rows of a table of evidence.

A clique's table is flat. Of each, only the entries that agree with the row's evidence are visited:
`active` lists them, so that evidence makes a row cheaper instead of multiplying zeros. The columns
of `layout` are offset, size, parent, offset and size of the separator, the places of its maps from
the entries of the clique and of the parent, and the first and number of its `members`, which are
triples of variable, stride and number of states.
"""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def activate(codes, base, layout, members, active, counts, work):
    """List the entries of each clique that agree with a row, and copy their potentials."""
    for k in range(layout.shape[0]):
        offset = layout[k, 0]
        first, n_members = layout[k, 7], layout[k, 8]
        start = np.int64(0)
        for m in range(first, first + n_members):
            state = codes[members[m, 0]]
            if state >= 0:
                start += state * members[m, 1]
        active[offset] = start
        count = np.int64(1)
        for m in range(first + n_members - 1, first - 1, -1):
            if codes[members[m, 0]] < 0:
                stride = members[m, 1]
                for state in range(1, members[m, 2]):
                    for i in range(count):
                        active[offset + state * count + i] = active[offset + i] + state * stride
                count *= members[m, 2]
        counts[k] = count
        for i in range(count):
            work[offset + i] = base[offset + active[offset + i]]


@njit(cache=True, nogil=True)
def collect(layout, maps, active, counts, work, separators, scales, maximise):
    """Pass messages to the root; return the logarithm of the total, or of the maximum."""
    log_total = 0.0
    for k in range(layout.shape[0] - 1, 0, -1):
        offset, parent, place, length = layout[k, 0], layout[k, 2], layout[k, 3], layout[k, 4]
        child_map, parent_map = layout[k, 5], layout[k, 6]
        for s in range(place, place + length):
            separators[s] = 0.0
        total = 0.0
        if maximise:
            for i in range(counts[k]):
                s = place + maps[child_map + active[offset + i]]
                separators[s] = max(separators[s], work[offset + i])
                total = max(total, work[offset + i])
        else:
            for i in range(counts[k]):
                separators[place + maps[child_map + active[offset + i]]] += work[offset + i]
                total += work[offset + i]
        if total <= 0.0:
            return -np.inf
        log_total += np.log(total)
        # Messages are scaled to one, so that trees of any size neither vanish nor overflow.
        scales[k] = 1.0 / total
        for s in range(place, place + length):
            separators[s] *= scales[k]
        up = layout[parent, 0]
        for i in range(counts[parent]):
            work[up + i] *= separators[place + maps[parent_map + active[up + i]]]
    total = 0.0
    for i in range(counts[0]):
        total = max(total, work[i]) if maximise else total + work[i]
    if total <= 0.0:
        return -np.inf
    for i in range(counts[0]):
        work[i] /= total
    return log_total + np.log(total)


@njit(cache=True, nogil=True)
def distribute(layout, maps, active, counts, work, separators, scales, ratios, path):
    """Pass messages from the root to the cliques of a path, whose tables become posteriors."""
    for p in range(path.shape[0]):
        k = path[p]
        offset, parent, place, length = layout[k, 0], layout[k, 2], layout[k, 3], layout[k, 4]
        child_map, parent_map = layout[k, 5], layout[k, 6]
        for s in range(length):
            ratios[s] = 0.0
        up = layout[parent, 0]
        for i in range(counts[parent]):
            ratios[maps[parent_map + active[up + i]]] += work[up + i]
        for s in range(length):
            posterior = ratios[s]
            # What the separator held is part of the child's table already: divided out.
            old = separators[place + s]
            ratios[s] = posterior * scales[k] / old if posterior > 0.0 else 0.0
            separators[place + s] = posterior
        for i in range(counts[k]):
            work[offset + i] *= ratios[maps[child_map + active[offset + i]]]


@njit(cache=True, nogil=True)
def read_marginals(codes, homes, asked, maps, active, counts, work, separators, result):
    """Sum the posterior of each variable asked for out of the smallest table that has it."""
    for a in range(asked.shape[0]):
        v = asked[a]
        place, n_states = homes[v, 4], homes[v, 5]
        for state in range(n_states):
            result[place + state] = 0.0
        if codes[v] >= 0:
            result[place + codes[v]] = 1.0
            continue
        offset, var_map = homes[v, 2], homes[v, 3]
        if homes[v, 0] == 0:
            for i in range(counts[homes[v, 1]]):
                result[place + maps[var_map + active[offset + i]]] += work[offset + i]
        else:
            for s in range(homes[v, 1]):
                result[place + maps[var_map + s]] += separators[offset + s]
        total = 0.0
        for state in range(n_states):
            total += result[place + state]
        if total > 0.0:
            for state in range(n_states):
                result[place + state] /= total


@njit(cache=True, nogil=True)
def posterior_rows(
    codes, base, layout, members, maps, homes, path, asked,
    active, counts, work, separators, scales, ratios, marginals, log_evidence,
):  # fmt: skip
    """Write the marginals asked for of each row, and the log probability of its evidence."""
    for row in range(codes.shape[0]):
        activate(codes[row], base, layout, members, active, counts, work)
        log_evidence[row] = collect(layout, maps, active, counts, work, separators, scales, False)
        if log_evidence[row] == -np.inf:
            continue
        distribute(layout, maps, active, counts, work, separators, scales, ratios, path)
        read_marginals(
            codes[row], homes, asked, maps, active, counts, work, separators, marginals[row]
        )


@njit(cache=True, nogil=True)
def evidence_rows(
    codes, base, layout, members, maps, active, counts, work, separators, scales, log_evidence
):
    """Write the logarithm of the probability of each row's evidence."""
    for row in range(codes.shape[0]):
        activate(codes[row], base, layout, members, active, counts, work)
        log_evidence[row] = collect(layout, maps, active, counts, work, separators, scales, False)


@njit(cache=True, nogil=True)
def expected_rows(
    codes, weights, base, layout, members, maps, families, path,
    active, counts, work, separators, scales, ratios, expected, log_evidence,
):  # fmt: skip
    """Add each row's posterior of every family of child and parents to `expected`."""
    for row in range(codes.shape[0]):
        activate(codes[row], base, layout, members, active, counts, work)
        log_evidence[row] = collect(layout, maps, active, counts, work, separators, scales, False)
        if log_evidence[row] == -np.inf:
            continue
        distribute(layout, maps, active, counts, work, separators, scales, ratios, path)
        for f in range(families.shape[0]):
            offset, clique_map, place = families[f, 1], families[f, 2], families[f, 3]
            for i in range(counts[families[f, 0]]):
                entry = place + maps[clique_map + active[offset + i]]
                expected[entry] += weights[row] * work[offset + i]


@njit(cache=True, nogil=True)
def explanation_rows(
    codes, base, layout, members, maps, active, counts, work, separators, scales, states, log_maxima
):
    """Write the most probable states of all variables that agree with each row."""
    for row in range(codes.shape[0]):
        activate(codes[row], base, layout, members, active, counts, work)
        log_maxima[row] = collect(layout, maps, active, counts, work, separators, scales, True)
        if log_maxima[row] == -np.inf:
            continue
        for k in range(layout.shape[0]):
            offset = layout[k, 0]
            # What the cliques above have settled already fixes the state of the separator.
            target = np.int64(-1)
            if k > 0:
                parent = layout[k, 2]
                entry = np.int64(0)
                for m in range(layout[parent, 7], layout[parent, 7] + layout[parent, 8]):
                    entry += states[row, members[m, 0]] * members[m, 1]
                target = np.int64(maps[layout[k, 6] + entry])
            best = -1.0
            choice = np.int64(0)
            for i in range(counts[k]):
                agrees = k == 0 or maps[layout[k, 5] + active[offset + i]] == target
                if agrees and work[offset + i] > best:
                    best = work[offset + i]
                    choice = active[offset + i]
            for m in range(layout[k, 7], layout[k, 7] + layout[k, 8]):
                states[row, members[m, 0]] = (choice // members[m, 1]) % members[m, 2]
