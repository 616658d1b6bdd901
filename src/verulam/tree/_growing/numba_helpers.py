"""Small compiled helpers, written as plain loops because those compile much faster."""

from typing import Any

from verulam.numerics import njit

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
#: The same, for loops that make no arrays: nobody counts who holds those that they are handed,
#: which takes time at each call, and more of it to compile.
outer_loop_in_place = njit(**_OUTER, _nrt=False)
inner_loop_in_place = njit(**_INNER, _nrt=False)
#: For parts of one loop, or a few lines: machine code is made of every other loop by itself and
#: once more in each that calls it, of these only in the latter.
part_of_loop = njit(cache=True, nogil=True, inline="always")


@part_of_loop
def is_before(keys, one, other):
    """Compare by key, then by position."""
    return keys[one] < keys[other] or (keys[one] == keys[other] and one < other)


@inner_loop
def sort_order(keys, order, count):
    """Fill `order` with the positions of the first `count` keys in ascending order; ties stay."""
    for place in range(count):
        order[place] = place
    # Heapsort: in place, without recursion, and short to compile.
    start, stop = count // 2, count
    while stop > 1:
        # First the heap is built, from its last parent to the root; then its top goes behind it.
        if start > 0:
            start -= 1
        else:
            stop -= 1
            order[0], order[stop] = order[stop], order[0]
        root = start
        while 2 * root + 1 < stop:
            child = 2 * root + 1
            if child + 1 < stop and is_before(keys, order[child], order[child + 1]):
                child += 1
            if not is_before(keys, order[root], order[child]):
                break
            order[root], order[child] = order[child], order[root]
            root = child


@part_of_loop
def copy_into(target, source):
    """Copy the numbers of one array into another."""
    for place in range(target.shape[0]):
        target[place] = source[place]


@part_of_loop
def total_of(numbers):
    """Return the sum of an array."""
    total = 0.0
    for place in range(numbers.shape[0]):
        total += numbers[place]
    return total


@part_of_loop
def largest_place(numbers, count):
    """Return the position of the first largest of the first `count` entries."""
    best = 0
    for place in range(1, count):
        if numbers[place] > numbers[best]:
            best = place
    return best
