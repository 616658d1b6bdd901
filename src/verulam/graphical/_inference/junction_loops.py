"""Passes of messages over a junction tree, for all rows of a table of evidence.

A clique's table is flat. Of each, only the entries that agree with the row's evidence are visited:
`active` lists them, so that evidence makes a row cheaper instead of multiplying zeros. Places of
entries are unsigned, and tables are sliced before they are indexed, so that no index is asked
whether it counts from the end.
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
def make_scratch(base, layout):
    """Return room for what is found out of one row, which serves the next one too."""
    n_cliques = layout.shape[0]
    n_separator_entries, widest = np.int64(0), np.int64(0)
    for k in range(n_cliques):
        n_separator_entries += layout[k, LENGTH]
        widest = max(widest, layout[k, LENGTH])
    active = np.empty(base.shape[0], dtype=np.uint32)
    counts = np.empty(n_cliques, dtype=np.int64)
    work, separators = np.empty(base.shape[0]), np.empty(n_separator_entries)
    return active, counts, work, separators, np.empty(n_cliques), np.empty(widest)


@njit(cache=True, nogil=True)
def activate(codes, base, layout, members, active, counts, work):
    """List the entries of each clique that agree with a row, and copy their potentials."""
    for k in range(layout.shape[0]):
        offset, size = layout[k, OFFSET], layout[k, SIZE]
        first, n_members = layout[k, FIRST], layout[k, N_MEMBERS]
        start = np.int64(0)
        for m in range(first, first + n_members):
            state = codes[members[m, VARIABLE]]
            if state >= 0:
                start += state * members[m, STRIDE]
        entries = active[offset : offset + size]
        entries[0] = start
        count = np.int64(1)
        # Each variable without evidence repeats the list once for each of its further states; from
        # the last one on, whose states are next to each other, so that the list ascends.
        for m in range(first + n_members - 1, first - 1, -1):
            if codes[members[m, VARIABLE]] < 0:
                for state in range(1, members[m, STATES]):
                    step = np.uint32(state * members[m, STRIDE])
                    copies = entries[state * count : (state + 1) * count]
                    for i in range(count):
                        copies[i] = entries[i] + step
                count *= members[m, STATES]
        counts[k] = count
        potentials, table = base[offset : offset + size], work[offset : offset + size]
        for i in range(count):
            table[i] = potentials[entries[i]]


@njit(cache=True, nogil=True)
def gather(table, entries, child_map, message, maximise):
    """Write the sums, or maxima, of a table by entry of the separator, and return that of all."""
    message[:] = 0.0
    total = 0.0
    if maximise:
        for i in range(table.shape[0]):
            s = child_map[entries[i]]
            message[s] = max(message[s], table[i])
            total = max(total, table[i])
    else:
        for i in range(table.shape[0]):
            message[child_map[entries[i]]] += table[i]
            total += table[i]
    return total


@njit(cache=True, nogil=True)
def collect(layout, maps, active, counts, work, separators, scales, maximise):
    """Pass messages to the root; return the logarithm of the total, or of the maximum."""
    log_total, product = 0.0, 1.0
    for k in range(layout.shape[0] - 1, 0, -1):
        offset, parent = layout[k, OFFSET], layout[k, PARENT]
        place, length = layout[k, PLACE], layout[k, LENGTH]
        entries, table = active[offset : offset + counts[k]], work[offset : offset + counts[k]]
        child_map = maps[layout[k, CHILD_MAP] : layout[k, CHILD_MAP] + layout[k, SIZE]]
        message = separators[place : place + length]
        total = gather(table, entries, child_map, message, maximise)
        if total <= 0.0:
            return -np.inf
        # A logarithm for each message would take as long as the message itself.
        if 1e-100 < total < 1e100:
            product *= total
            if product < 1e-200 or product > 1e200:
                log_total += np.log(product)
                product = 1.0
        else:
            log_total += np.log(total)
        # Messages are scaled to one, so that trees of any size neither vanish nor overflow.
        scales[k] = 1.0 / total
        for s in range(length):
            message[s] *= scales[k]
        up, n_above = layout[parent, OFFSET], counts[parent]
        entries, table = active[up : up + n_above], work[up : up + n_above]
        parent_map = maps[layout[k, PARENT_MAP] : layout[k, PARENT_MAP] + layout[parent, SIZE]]
        for i in range(n_above):
            table[i] *= message[parent_map[entries[i]]]
    total = 0.0
    for i in range(counts[0]):
        total = max(total, work[i]) if maximise else total + work[i]
    if total <= 0.0:
        return -np.inf
    for i in range(counts[0]):
        work[i] /= total
    return log_total + np.log(product) + np.log(total)


@njit(cache=True, nogil=True)
def distribute(layout, maps, active, counts, work, separators, scales, ratios, path):
    """Pass messages from the root to the cliques of a path, whose tables become posteriors."""
    for p in range(path.shape[0]):
        k = path[p]
        offset, parent = layout[k, OFFSET], layout[k, PARENT]
        place, length = layout[k, PLACE], layout[k, LENGTH]
        up, n_above = layout[parent, OFFSET], counts[parent]
        entries, table = active[up : up + n_above], work[up : up + n_above]
        parent_map = maps[layout[k, PARENT_MAP] : layout[k, PARENT_MAP] + layout[parent, SIZE]]
        message, ratio = separators[place : place + length], ratios[:length]
        ratio[:] = 0.0
        for i in range(n_above):
            ratio[parent_map[entries[i]]] += table[i]
        for s in range(length):
            posterior = ratio[s]
            # What the separator held is part of the child's table already: divided out.
            ratio[s] = posterior * scales[k] / message[s] if posterior > 0.0 else 0.0
            message[s] = posterior
        entries, table = active[offset : offset + counts[k]], work[offset : offset + counts[k]]
        child_map = maps[layout[k, CHILD_MAP] : layout[k, CHILD_MAP] + layout[k, SIZE]]
        for i in range(table.shape[0]):
            table[i] *= ratio[child_map[entries[i]]]


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
def posterior_rows(codes, base, layout, members, maps, homes, path, asked, marginals, log_evidence):
    """Write the marginals asked for of each row, and the log probability of its evidence."""
    active, counts, work, separators, scales, ratios = make_scratch(base, layout)
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
def evidence_rows(codes, base, layout, members, maps, log_evidence):
    """Write the logarithm of the probability of each row's evidence."""
    active, counts, work, separators, scales, _ = make_scratch(base, layout)
    for row in range(codes.shape[0]):
        activate(codes[row], base, layout, members, active, counts, work)
        log_evidence[row] = collect(layout, maps, active, counts, work, separators, scales, False)


@njit(cache=True, nogil=True)
def expected_rows(
    codes, weights, base, layout, members, maps, families, path, expected, log_evidence
):
    """Add each row's posterior of every family of child and parents to `expected`."""
    active, counts, work, separators, scales, ratios = make_scratch(base, layout)
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
def explanation_rows(codes, base, layout, members, maps, states, log_maxima):
    """Write the most probable states of all variables that agree with each row."""
    active, counts, work, separators, scales, _ = make_scratch(base, layout)
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
                entry = np.int64(0)
                for m in range(
                    layout[parent, FIRST], layout[parent, FIRST] + layout[parent, N_MEMBERS]
                ):
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
                states[row, members[m, VARIABLE]] = (choice // members[m, STRIDE]) % members[
                    m, STATES
                ]
