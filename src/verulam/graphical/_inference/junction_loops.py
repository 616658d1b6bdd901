"""Passes of messages over a junction tree, for all rows of a table of evidence.

A clique's table is flat. Of each, only the entries that agree with the row's evidence are visited:
`active` lists them, so that evidence makes a row cheaper instead of multiplying zeros.
"""

import numpy as np

from verulam.numerics import njit

#: Columns of `layout`, a row per clique, parents first: where its table begins and how long it is,
#: its parent, where the table of the separator between them begins and how long that is, where the
#: maps to it begin from the entries of the clique and of the parent, its first member and how many.
OFFSET, SIZE, PARENT, PLACE, LENGTH, CHILD_MAP, PARENT_MAP, FIRST, N_MEMBERS = range(9)
#: Columns of `members`: the variable, the step between its states in the table, and their number.
VARIABLE, STRIDE, STATES = range(3)
#: Columns of `homes`, a row per variable: whether its marginal is read from a separator, the clique
#: (or the length of the separator), where that table begins, the map from it to the states, where
#: the marginal goes, and the number of states.
IN_SEPARATOR, TABLE, START, MAP, RESULT, N_STATES = range(6)


@njit(cache=True, nogil=True)
def activate(codes, base, layout, members, active, counts, work):
    """List the entries of each clique that agree with a row, and copy their potentials."""
    for k in range(layout.shape[0]):
        offset = layout[k, OFFSET]
        first, n_members = layout[k, FIRST], layout[k, N_MEMBERS]
        start = np.int64(0)
        for m in range(first, first + n_members):
            state = codes[members[m, VARIABLE]]
            if state >= 0:
                start += state * members[m, STRIDE]
        active[offset] = start
        count = np.int64(1)
        # Each variable without evidence repeats the list once for each of its further states; from
        # the last one on, whose states are next to each other, so that the list ascends.
        for m in range(first + n_members - 1, first - 1, -1):
            if codes[members[m, VARIABLE]] < 0:
                stride = members[m, STRIDE]
                for state in range(1, members[m, STATES]):
                    for i in range(count):
                        active[offset + state * count + i] = active[offset + i] + state * stride
                count *= members[m, STATES]
        counts[k] = count
        for i in range(count):
            work[offset + i] = base[offset + active[offset + i]]


@njit(cache=True, nogil=True)
def collect(layout, maps, active, counts, work, separators, scales, maximise):
    """Pass messages to the root; return the logarithm of the total, or of the maximum."""
    log_total = 0.0
    for k in range(layout.shape[0] - 1, 0, -1):
        offset, parent = layout[k, OFFSET], layout[k, PARENT]
        place, length = layout[k, PLACE], layout[k, LENGTH]
        child_map, parent_map = layout[k, CHILD_MAP], layout[k, PARENT_MAP]
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
        up = layout[parent, OFFSET]
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
        offset, parent = layout[k, OFFSET], layout[k, PARENT]
        place, length = layout[k, PLACE], layout[k, LENGTH]
        child_map, parent_map = layout[k, CHILD_MAP], layout[k, PARENT_MAP]
        for s in range(length):
            ratios[s] = 0.0
        up = layout[parent, OFFSET]
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
        place, n_states = homes[v, RESULT], homes[v, N_STATES]
        for state in range(n_states):
            result[place + state] = 0.0
        if codes[v] >= 0:
            result[place + codes[v]] = 1.0
            continue
        offset, var_map = homes[v, START], homes[v, MAP]
        if homes[v, IN_SEPARATOR] == 0:
            for i in range(counts[homes[v, TABLE]]):
                result[place + maps[var_map + active[offset + i]]] += work[offset + i]
        else:
            for s in range(homes[v, TABLE]):
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
            offset = layout[k, OFFSET]
            # What the cliques above have settled already fixes the state of the separator.
            target = np.int64(-1)
            if k > 0:
                parent = layout[k, PARENT]
                first, entry = layout[parent, FIRST], np.int64(0)
                for m in range(first, first + layout[parent, N_MEMBERS]):
                    entry += states[row, members[m, VARIABLE]] * members[m, STRIDE]
                target = np.int64(maps[layout[k, PARENT_MAP] + entry])
            best = -1.0
            choice = np.int64(0)
            for i in range(counts[k]):
                agrees = k == 0 or maps[layout[k, CHILD_MAP] + active[offset + i]] == target
                if agrees and work[offset + i] > best:
                    best = work[offset + i]
                    choice = active[offset + i]
            for m in range(layout[k, FIRST], layout[k, FIRST] + layout[k, N_MEMBERS]):
                state = (choice // members[m, STRIDE]) % members[m, STATES]
                states[row, members[m, VARIABLE]] = state
