"""Compiled searches for item sets and rules, over 64 transactions at a time."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def fill_bits(starts, codes, rank, words):
    """Set the bit of every transaction in the words of its items; a rank below 0 is left out."""
    for row in range(starts.shape[0] - 1):
        mask = np.uint64(1) << np.uint64(row % 64)
        for place in range(starts[row], starts[row + 1]):
            if rank[codes[place]] >= 0:
                words[rank[codes[place]], row // 64] |= mask


@njit(cache=True, nogil=True)
def count_pairs(starts, codes, rank, pairs):
    """Count how many transactions every two items share, the smaller rank first."""
    for row in range(starts.shape[0] - 1):
        for place in range(starts[row], starts[row + 1]):
            first = rank[codes[place]]
            if first < 0:
                continue
            for other in range(place + 1, starts[row + 1]):
                second = rank[codes[other]]
                if second >= 0:
                    pairs[min(first, second), max(first, second)] += 1


@njit(cache=True, nogil=True)
def intersect_sets(bits, counts, pairs, least, most_length, limit):
    """Return (parent, item, count) of every frequent set, by bits of the transactions it is in.

    Eclat: the transactions of a set are those of its items at once, 64 to a machine word. A frame
    of the search keeps the items that may follow, with the words they share with the set so far.
    Where `pairs` has the counts of all pairs, those that are infrequent are not intersected. The
    search stops once there are more than `limit` sets.
    """
    n_items = bits.shape[0]
    set_parent = np.empty(4096, np.int32)
    set_item = np.empty(4096, np.int32)
    set_count = np.empty(4096, np.int64)
    n_sets = 0
    # Frames share one store, as a stack: those of a deeper one lie behind.
    words = np.empty((2 * n_items + 64, bits.shape[1]), np.uint64)
    which = np.empty(words.shape[0], np.int32)
    shared = np.empty(words.shape[0], np.int64)
    depth_limit = min(most_length, n_items) + 2
    last = np.zeros(depth_limit, np.int64)
    place = np.zeros(depth_limit, np.int64)
    frame_set = np.full(depth_limit, np.int64(-1))
    last[0] = _frequent_items(bits, counts, least, words, which, shared)
    depth = 0
    while depth >= 0:
        here = place[depth]
        if here == last[depth]:
            depth -= 1
            continue
        place[depth] = here + 1
        if n_sets == set_item.shape[0]:
            set_parent = _longer(set_parent, 2 * n_sets)
            set_item = _longer(set_item, 2 * n_sets)
            set_count = _longer(set_count, 2 * n_sets)
        set_parent[n_sets] = frame_set[depth]
        set_item[n_sets] = which[here]
        set_count[n_sets] = shared[here]
        n_sets += 1
        if n_sets > limit:
            break
        if depth + 1 >= most_length:
            continue
        start = last[depth]
        if 2 * start - here > words.shape[0]:
            words = _wider(words, start, 4 * start)
            which = _longer(which, 4 * start)
            shared = _longer(shared, 4 * start)
        counted = depth == 0 and pairs.shape[0] > 0
        end = _extend(words, which, shared, here, start, pairs, counted, least)
        if end > start:
            depth += 1
            last[depth] = end
            place[depth] = start
            frame_set[depth] = n_sets - 1
    return set_parent[:n_sets].copy(), set_item[:n_sets].copy(), set_count[:n_sets].copy()


@njit(cache=True, nogil=True)
def _frequent_items(bits, counts, least, words, which, shared):
    """Write the first frame: every frequent item. Return their number."""
    end = 0
    for item in range(bits.shape[0]):
        if counts[item] >= least:
            for word in range(bits.shape[1]):
                words[end, word] = bits[item, word]
            which[end] = item
            shared[end] = counts[item]
            end += 1
    return end


@njit(cache=True, nogil=True)
def _extend(words, which, shared, here, start, pairs, counted, least):
    """Write the frame of a set behind `start`: the items that may follow. Return its end."""
    end = start
    for other in range(here + 1, start):
        if counted and pairs[which[here], which[other]] < least:
            continue
        common = 0
        for word in range(words.shape[1]):
            both = words[here, word] & words[other, word]
            words[end, word] = both
            common += _ones(both)
        if common >= least:
            which[end] = which[other]
            shared[end] = common
            end += 1
    return end


@njit(cache=True, nogil=True)
def _longer(values, size):
    longer = np.empty(size, values.dtype)
    for place in range(values.shape[0]):
        longer[place] = values[place]
    return longer


@njit(cache=True, nogil=True)
def _wider(words, n_rows, size):
    wider = np.empty((size, words.shape[1]), np.uint64)
    for row in range(n_rows):
        for word in range(words.shape[1]):
            wider[row, word] = words[row, word]
    return wider


@njit(cache=True, nogil=True, inline="always")
def _ones(word):
    """Return how many bits of a word are set."""
    # LLVM knows this idiom and makes one machine instruction of it.
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    low = word & np.uint64(0x3333333333333333)
    word = low + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def closed_sets(bits, counts, n_rows, least, maximal, limit):
    """Return starts, items and counts of every closed frequent set, or of the maximal ones.

    Prefix-preserving closure extension (LCM): the closure of a set and an item is new only if it
    adds no item before that one, so that every closed set is met once and none need be stored to
    be compared with. The search stops once there are more than `limit` sets.
    """
    n_items = bits.shape[0]
    starts = np.zeros(1025, np.int64)
    members = np.empty(8192, np.int32)
    supports = np.empty(1024, np.int64)
    n_sets = 0
    rows = np.empty((n_items + 2, bits.shape[1]), np.uint64)
    rows[0, :] = np.uint64(0xFFFFFFFFFFFFFFFF)
    member = np.zeros((n_items + 2, n_items), np.bool_)
    support = np.empty(n_items + 2, np.int64)
    following = np.zeros(n_items + 2, np.int64)
    # The first set is the closure of none: the items that all transactions have.
    for item in range(n_items):
        member[0, item] = counts[item] == n_rows
    support[0] = n_rows
    depth = 0
    entered = member[0].any()
    while depth >= 0:
        if entered and not (maximal and _extends(bits, rows, member, depth, least)):
            if n_sets + 1 == starts.shape[0]:
                starts = _longer(starts, 2 * n_sets + 3)
                supports = _longer(supports, 2 * n_sets + 2)
            if starts[n_sets] + n_items > members.shape[0]:
                members = _longer(members, 2 * (starts[n_sets] + n_items))
            starts[n_sets + 1] = _write(member, depth, members, starts[n_sets])
            supports[n_sets] = support[depth]
            n_sets += 1
            if n_sets > limit:
                break
        entered = False
        item = following[depth]
        if item == n_items:
            depth -= 1
            continue
        following[depth] = item + 1
        if member[depth, item]:
            continue
        common = _intersect(rows, depth, bits, item)
        if common >= least and _close(rows, member, depth, bits, item):
            depth += 1
            support[depth] = common
            following[depth] = item + 1
            entered = True
    return starts[: n_sets + 1].copy(), members[: starts[n_sets]].copy(), supports[:n_sets].copy()


@njit(cache=True, nogil=True)
def _write(member, depth, members, place):
    """Write the items of a frame's set, and return where they end."""
    for item in range(member.shape[1]):
        if member[depth, item]:
            members[place] = item
            place += 1
    return place


@njit(cache=True, nogil=True)
def _intersect(rows, depth, bits, item):
    """Write the transactions of a frame that have an item into the next, and count them."""
    common = 0
    for word in range(bits.shape[1]):
        both = rows[depth, word] & bits[item, word]
        rows[depth + 1, word] = both
        common += _ones(both)
    return common


@njit(cache=True, nogil=True)
def _close(rows, member, depth, bits, item):
    """Write the closure of the next frame's set; return False if it adds an item before `item`."""
    for other in range(bits.shape[0]):
        inside = member[depth, other] or other == item
        if not inside:
            inside = _covers(rows, depth + 1, bits, other)
            if inside and other < item:
                return False
        member[depth + 1, other] = inside
    return True


@njit(cache=True, nogil=True)
def _covers(rows, depth, bits, item):
    """Return whether an item is in all the transactions of a frame."""
    outside = np.uint64(0)
    # Most items fail at the first words.
    for word in range(bits.shape[1]):
        outside = rows[depth, word] & ~bits[item, word]
        if outside != 0:
            break
    return outside == 0


@njit(cache=True, nogil=True)
def _extends(bits, rows, member, depth, least):
    """Return whether a set with one item more is still frequent."""
    for item in range(bits.shape[0]):
        if not member[depth, item]:
            common = 0
            for word in range(bits.shape[1]):
                common += _ones(rows[depth, word] & bits[item, word])
            if common >= least:
                return True
    return False


@njit(cache=True, nogil=True)
def list_sets(parents, items, codes):
    """Return starts and members of the sets of a prefix tree, as sorted codes of their items."""
    n_sets = parents.shape[0]
    starts = np.empty(n_sets + 1, np.int64)
    starts[0] = 0
    for number in range(n_sets):
        length = np.int64(1)
        if parents[number] >= 0:
            length += starts[parents[number] + 1] - starts[parents[number]]
        starts[number + 1] = starts[number] + length
    members = np.empty(starts[n_sets], np.int32)
    for number in range(n_sets):
        start, stop = starts[number], starts[number + 1] - 1
        code = codes[items[number]]
        # The parent's members are sorted already: the new one is put into its place.
        if parents[number] >= 0:
            source = starts[parents[number]]
            place = stop
            for offset in range(stop - start - 1, -1, -1):
                other = members[source + offset]
                if place == start + offset + 1 and other > code:
                    members[place] = other
                    place = start + offset
                else:
                    members[start + offset] = other
            members[place] = code
        else:
            members[start] = code
    return starts, members


@njit(cache=True, nogil=True)
def tree_parents(starts):
    """Return the parent of each set of a list in depth-first order: the last one shorter by one."""
    n_sets = starts.shape[0] - 1
    parents = np.empty(n_sets, np.int32)
    latest = np.full(1024, np.int32(-1))
    for number in range(n_sets):
        length = starts[number + 1] - starts[number]
        parents[number] = latest[length - 1] if length > 1 else np.int32(-1)
        latest[length] = number
    return parents


@njit(cache=True, nogil=True)
def find_rules(parent, item, count, starts, order, least_confidence, longest_consequent, limit):
    """Return (whole, antecedent, consequent) of every rule that is confident enough, as sets.

    Every proper part of a frequent set is frequent itself, and so is found in the tree of sets;
    `starts` and `order` list the children of each, sorted by item.
    """
    capacity = 4096
    whole = np.empty(capacity, np.int32)
    left = np.empty(capacity, np.int32)
    right = np.empty(capacity, np.int32)
    n_rules = 0
    path = np.empty(64, np.int32)
    for number in range(parent.shape[0]):
        length = 0
        node = np.int64(number)
        while node >= 0:
            length += 1
            node = parent[node]
        if length < 2 or length > 30:
            continue
        node = np.int64(number)
        for place in range(length - 1, -1, -1):
            path[place] = item[node]
            node = parent[node]
        # Each mask but none and all puts some items after the arrow, and the others before it.
        for mask in range(1, 2**length - 1):
            size = 0
            for place in range(length):
                size += (mask >> place) & 1
            if size > longest_consequent:
                continue
            antecedent = _find(path, length, mask, 0, item, starts, order)
            if count[number] < least_confidence * count[antecedent]:
                continue
            consequent = _find(path, length, mask, 1, item, starts, order)
            if n_rules == capacity:
                capacity *= 2
                whole = _longer(whole, capacity)
                left = _longer(left, capacity)
                right = _longer(right, capacity)
            whole[n_rules] = number
            left[n_rules] = antecedent
            right[n_rules] = consequent
            n_rules += 1
            if n_rules > limit:
                return whole[:n_rules].copy(), left[:n_rules].copy(), right[:n_rules].copy()
    return whole[:n_rules].copy(), left[:n_rules].copy(), right[:n_rules].copy()


@njit(cache=True, nogil=True)
def _find(path, length, mask, side, item, starts, order):
    """Return the set of those items of a path whose bit of the mask is `side`."""
    node = np.int64(-1)
    for place in range(length):
        if (mask >> place) & 1 == side:
            low, high = starts[node + 1], starts[node + 2]
            while low < high:
                middle = (low + high) // 2
                if item[order[middle]] < path[place]:
                    low = middle + 1
                else:
                    high = middle
            node = np.int64(order[low])
    return node
