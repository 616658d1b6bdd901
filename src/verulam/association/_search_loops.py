"""Compiled searches for item sets and rules, over 64 transactions at a time."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def item_bits(item_starts, item_rows, order, n_rows):
    """Return the transactions of each item of an order, 64 to a word."""
    words = np.zeros((order.shape[0], (n_rows + 63) // 64), np.uint64)
    for rank in range(order.shape[0]):
        for place in range(item_starts[order[rank]], item_starts[order[rank] + 1]):
            row = item_rows[place]
            words[rank, row // 64] |= np.uint64(1) << np.uint64(row % 64)
    return words


@njit(cache=True, nogil=True)
def sets_of_bits(bits, counts, least, longest, limit):
    """Return the (parent, item, count) of every frequent set, by the bits of all transactions.

    Sets stand depth first, each behind its parent, which has all its items but the last. The search
    stops once there are more than `limit`.
    """
    n_items = bits.shape[0]
    items = np.empty((n_items, 2), np.int32)
    for item in range(n_items):
        items[item, 0] = item
        items[item, 1] = counts[item]
    sets, n_sets = np.empty((4096, 3), np.int32), 0
    sets, n_sets = _descend(sets, n_sets, bits, items, -1, least, longest, limit)
    return sets[:n_sets]


@njit(cache=True, nogil=True)
def sets_of_rows(starts, ranks, item_starts, item_rows, order, pairs, least, longest, limit):
    """Return what `sets_of_bits` returns, by the bits of the transactions of one item at a time.

    `ranks` are the places in `order` of the items of each transaction, sorted; `pairs` is a table
    of zeros for the counts of pairs, or empty where it would be too large. The sets that begin with
    an item are looked for among its transactions alone: where each item is in few of many
    transactions, few words are left of each.
    """
    n_items = order.shape[0]
    counted = pairs.shape[0] > 0
    if counted:
        _count_pairs(starts, ranks, pairs)
    together = np.zeros(n_items, np.int32)
    sets, n_sets = np.empty((4096, 3), np.int32), 0
    for rank in range(n_items):
        rows = item_rows[item_starts[order[rank]] : item_starts[order[rank] + 1]]
        if n_sets == sets.shape[0]:
            sets = _taller(sets, n_sets, 4 * n_sets)
        sets[n_sets, 0], sets[n_sets, 1], sets[n_sets, 2] = -1, rank, rows.shape[0]
        n_sets += 1
        if n_sets > limit:
            break
        if longest == 1:
            continue
        if counted:
            together = pairs[rank]
        else:
            _count_followers(starts, ranks, rows, together)
        words, items = _followers(starts, ranks, rows, rank, together, least)
        root = n_sets - 1
        sets, n_sets = _descend(sets, n_sets, words, items, root, least, longest - 1, limit)
    return sets[:n_sets]


@njit(cache=True, nogil=True)
def _count_pairs(starts, ranks, pairs):
    """Count how many transactions every two items share, the smaller rank first."""
    for row in range(starts.shape[0] - 1):
        for place in range(starts[row], starts[row + 1]):
            together = pairs[ranks[place]]
            for other in range(place + 1, starts[row + 1]):
                together[ranks[other]] += 1


@njit(cache=True, nogil=True)
def _count_followers(starts, ranks, rows, together):
    """Count how many of some transactions have each item."""
    for item in range(together.shape[0]):
        together[item] = 0
    for row in rows:
        for place in range(starts[row], starts[row + 1]):
            together[ranks[place]] += 1


@njit(cache=True, nogil=True)
def _followers(starts, ranks, rows, rank, together, least):
    """Return bits in an item's transactions, and (item, count), of those that may follow it."""
    frequent = rank + 1 + np.flatnonzero(together[rank + 1 :] >= least)
    n_items = frequent.shape[0]
    words = np.zeros((n_items, (rows.shape[0] + 63) // 64), np.uint64)
    items = np.empty((n_items, 2), np.int32)
    for place in range(n_items):
        items[place, 0], items[place, 1] = frequent[place], together[frequent[place]]
    if n_items > 1:
        place_of = np.full(together.shape[0], np.int32(-1))
        for place in range(n_items):
            place_of[frequent[place]] = place
        for number in range(rows.shape[0]):
            mask = np.uint64(1) << np.uint64(number % 64)
            for place in range(starts[rows[number]], starts[rows[number] + 1]):
                follower = place_of[ranks[place]]
                if follower >= 0:
                    words[follower, number // 64] |= mask
    return words, items


@njit(cache=True, nogil=True)
def _descend(sets, n_sets, words, items, root, least, longest, limit):
    """Return sets, and their number, with those that begin with a root and one of some items.

    Eclat: the transactions of a set are those of its items at once, 64 to a machine word. Frames of
    the search share one store, as a stack: each has the items that may follow a set, with the words
    that they share with it, behind those of the set it is made of.
    """
    depths = min(longest, items.shape[0]) + 1
    last, place = np.zeros(depths, np.int64), np.zeros(depths, np.int64)
    frame_set = np.full(depths, np.int64(root))
    last[0] = items.shape[0]
    depth = 0
    while depth >= 0:
        here = place[depth]
        if here == last[depth]:
            depth -= 1
            continue
        place[depth] = here + 1
        if n_sets == sets.shape[0]:
            sets = _taller(sets, n_sets, 4 * n_sets)
        sets[n_sets, 0] = frame_set[depth]
        sets[n_sets, 1], sets[n_sets, 2] = items[here, 0], items[here, 1]
        n_sets += 1
        if n_sets > limit:
            break
        start = last[depth]
        if depth + 1 == longest or here + 1 == start:
            continue
        if 2 * start - here > words.shape[0]:
            words, items = _taller(words, start, 4 * start), _taller(items, start, 4 * start)
        end = _extend(words, items, here, start, least)
        if end > start:
            depth += 1
            last[depth], place[depth] = end, start
            frame_set[depth] = n_sets - 1
    return sets, n_sets


@njit(cache=True, nogil=True)
def _extend(words, items, here, start, least):
    """Write the frame of a set behind `start`: the items that may follow. Return its end."""
    end = start
    extended = words[here]
    for other in range(here + 1, start):
        following, both = words[other], words[end]
        common = 0
        for word in range(extended.shape[0]):
            shared = extended[word] & following[word]
            both[word] = shared
            common += _ones(shared)
        if common >= least:
            items[end, 0], items[end, 1] = items[other, 0], common
            end += 1
    return end


@njit(cache=True, nogil=True)
def _taller(table, n_rows, size):
    # An assignment to a slice would take a second to compile.
    taller = np.empty((size, table.shape[1]), table.dtype)
    for row in range(n_rows):
        for column in range(table.shape[1]):
            taller[row, column] = table[row, column]
    return taller


@njit(cache=True, nogil=True)
def _longer(values, size):
    longer = np.empty(size, values.dtype)
    for place in range(values.shape[0]):
        longer[place] = values[place]
    return longer


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
def sort_sets(parents, added):
    """Sort all frequent sets by length and then by their items.

    `parents` and `added` are of a search depth first in any order of the items: the set without the
    item that was added last, below 0 for none, and that item. Return for each place the set that
    belongs there, the place of its prefix, without its last item, and that item.
    """
    n_sets = parents.shape[0]
    prefix, unsorted = _prefixes(parents, added)
    # Pushed in front of lists with the largest item first, the suffixes of a set are in order.
    suffix, following = np.full(n_sets + 1, -1, np.int32), np.empty(n_sets, np.int32)
    for number in _by_item(unsorted):
        following[number] = suffix[prefix[number]]
        suffix[prefix[number]] = number
    sets, prefixes = np.empty(n_sets, np.int32), np.empty(n_sets, np.int32)
    last = np.empty(n_sets, np.int32)
    end = 0
    for place in range(-1, n_sets):
        number = suffix[sets[place]] if place >= 0 else suffix[-1]
        while number >= 0:
            sets[end], prefixes[end], last[end] = number, place, unsorted[number]
            end += 1
            number = following[number]
    return sets, prefixes, last


@njit(cache=True, nogil=True)
def _prefixes(parents, added):
    """Return each set without its last item, below 0 for none, and that item."""
    n_sets = parents.shape[0]
    siblings, youngest = np.full(n_sets, -1, np.int32), np.full(n_sets + 1, -1, np.int32)
    for number in range(n_sets):
        if youngest[parents[number]] >= 0:
            siblings[youngest[parents[number]]] = number
        youngest[parents[number]] = number
    prefix, last = parents.copy(), added.copy()
    met = np.full(n_sets + 1, -1, np.int32)
    for number in range(n_sets):
        parent = parents[number]
        if parent < 0 or last[parent] < added[number]:
            continue
        # The set is its parent's prefix and the item, which is among those that follow the prefix,
        # in the order in which they follow the parent. First of them is the next in the search.
        other = met[parent] if met[parent] >= 0 else prefix[parent] + 1
        while added[other] != added[number]:
            other = siblings[other]
        met[parent] = prefix[number] = other
        last[number] = last[parent]
    return prefix, last


@njit(cache=True, nogil=True)
def _by_item(last):
    """Return all sets, those with the largest last item first."""
    largest = -1
    for item in last:
        largest = max(largest, item)
    ends = np.zeros(largest + 2, np.int64)
    for item in last:
        ends[item] += 1
    for item in range(ends.shape[0] - 2, -1, -1):
        ends[item] += ends[item + 1]
    sets = np.empty(last.shape[0], np.int32)
    for number in range(last.shape[0]):
        ends[last[number]] -= 1
        sets[ends[last[number]]] = number
    return sets


@njit(cache=True, nogil=True)
def list_items(prefixes, last):
    """Return starts and members of sets, each of which has its last item behind its prefix's."""
    n_sets = prefixes.shape[0]
    starts = np.zeros(n_sets + 1, np.int64)
    for number in range(n_sets):
        prefix = prefixes[number]
        length = 1 if prefix < 0 else starts[prefix + 1] - starts[prefix] + 1
        starts[number + 1] = starts[number] + length
    members = np.empty(starts[n_sets], np.int32)
    for number in range(n_sets):
        end = starts[number + 1] - 1
        if prefixes[number] >= 0:
            shift = starts[prefixes[number]] - starts[number]
            for place in range(starts[number], end):
                members[place] = members[place + shift]
        members[end] = last[number]
    return starts, members


@njit(cache=True, nogil=True)
def find_rules(parent, item, count, starts, least_confidence, longest_consequent, limit):
    """Return (whole, antecedent, consequent) of every rule that is confident enough, as sets.

    Every proper part of a frequent set is frequent itself, and so is found in the tree of sets:
    the children of set k, sorted by item, stand from ``starts[k + 1]`` to ``starts[k + 2]``.
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
            antecedent = _find(path, length, mask, 0, item, starts)
            if count[number] < least_confidence * count[antecedent]:
                continue
            consequent = _find(path, length, mask, 1, item, starts)
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
def _find(path, length, mask, side, item, starts):
    """Return the set of those items of a path whose bit of the mask is `side`."""
    node = np.int64(-1)
    for place in range(length):
        if (mask >> place) & 1 == side:
            low, high = starts[node + 1], starts[node + 2]
            while low < high:
                middle = (low + high) // 2
                if item[middle] < path[place]:
                    low = middle + 1
                else:
                    high = middle
            node = np.int64(low)
    return node
