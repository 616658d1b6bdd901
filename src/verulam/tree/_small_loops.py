"""Small compiled helpers, written as plain loops because those compile much faster."""

from typing import Any

from numba import njit

_OUTER: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
_INNER: dict[str, Any] = {**_OUTER, "no_cpython_wrapper": True}
#: For loops that Python calls.
outer_loop = njit(**_OUTER)
#: For loops that only loops call: the entry for Python is left out, because to unpack so many
#: arrays takes longer to compile than most of the loops themselves.
inner_loop = njit(**_INNER)


@inner_loop
def sink(keys, order, root, stop):
    """Let an entry of a heap sink to its place."""
    while 2 * root + 1 < stop:
        child = 2 * root + 1
        if child + 1 < stop and is_before(keys, order[child], order[child + 1]):
            child += 1
        if not is_before(keys, order[root], order[child]):
            return
        order[root], order[child] = order[child], order[root]
        root = child


@njit(cache=True, nogil=True, inline="always")
def is_before(keys, one, other):
    """Compare by key, then by position."""
    return keys[one] < keys[other] or (keys[one] == keys[other] and one < other)


@inner_loop
def sort_order(keys, order, count):
    """Fill `order` with the positions of the first `count` keys in ascending order; ties stay."""
    for place in range(count):
        order[place] = place
    for root in range(count // 2 - 1, -1, -1):
        sink(keys, order, root, count)
    for stop in range(count - 1, 0, -1):
        order[0], order[stop] = order[stop], order[0]
        sink(keys, order, 0, stop)


@njit(cache=True, nogil=True, inline="always")
def copy_into(target, source):
    """Copy the numbers of one array into another."""
    for place in range(target.shape[0]):
        target[place] = source[place]


@njit(cache=True, nogil=True, inline="always")
def total_of(numbers):
    """Return the sum of an array."""
    total = 0.0
    for place in range(numbers.shape[0]):
        total += numbers[place]
    return total


@njit(cache=True, nogil=True, inline="always")
def largest_place(numbers, count):
    """Return the position of the first largest of the first `count` entries."""
    best = 0
    for place in range(1, count):
        if numbers[place] > numbers[best]:
            best = place
    return best
