"""How the columns of a table lie in memory while a tree grows on them.

A column of few values is *coded*: one byte for each row, and a node counts its rows by code. Any
other column is *listed*: its rows in ascending order, each with the rank of its value, and a node
owns a part of the list. Where most of the rows share one value, the list leaves them out: they are
what the node has beside the listed ones. Rows without a value stand at the end of a list.

The layout depends on the table alone, so that many trees can be grown on one.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verulam.base import thread_map
from verulam.tree._growing.growth_parameters import MISSING_RANK, ROW_BITS, ROW_MASK
from verulam.tree._growing.lazy_memory import empty_pages
from verulam.tree._growing.numba_helpers import outer_loop_in_place
from verulam.tree._tuning import (
    COLUMNS_PER_TASK,
    COMMON_SHARE,
    SAMPLED_ROWS,
    SORTED_ROWS,
    THREADED_NUMBERS,
)

#: Most values of a coded column: a set of them is one word.
MOST_VALUES = 64
#: Where the rank of a value stands above its row in a signed word, and which bits are the row.
LOW_BITS, LOW_ROW = np.int64(ROW_BITS), np.int64(ROW_MASK)
#: Slots of the hash table in which values are looked up.
N_SLOTS = 256


class CodedColumns(NamedTuple):
    """Columns of few values.

    Attributes
    ----------
    columns : int64 ndarray
        Their numbers.
    codes : uint8 ndarray of shape (n_rows, n_coded)
        Place of each row's value among the levels of its column; those of a row lie side by side,
        because small nodes are searched in all columns while their rows are in the cache.
    levels : ndarray of shape (n_coded, MOST_VALUES)
        The values of each column in ascending order.
    """

    columns: NDArray[np.int64]
    codes: NDArray[np.uint8]
    levels: NDArray[np.float64]


class ListedColumns(NamedTuple):
    """Columns as lists of their rows in ascending order.

    Attributes
    ----------
    columns : int64 ndarray
        Their numbers.
    words : uint64 ndarray of shape (n_columns, n_rows)
        The lists, a line for each column of the table: the rank of a value above the number of its
        row. Growing divides them in place. What no list fills takes no memory.
    common_rank : uint64 ndarray of shape (n_columns,)
        Rank of the value that a list leaves out; above all others if it leaves out none.
    common_value : ndarray of shape (n_columns,)
        That value.
    """

    columns: NDArray[np.int64]
    words: NDArray[np.uint64]
    common_rank: NDArray[np.uint64]
    common_value: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of a table of numbers without gaps, each coded or listed.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        The table.
    coded, lists
        The columns.
    n_listed : int32 ndarray of shape (n_lists,)
        How many rows each list has.
    n_whole
        How many of the lists are of columns without gaps; the others come after them.
    place : int64 ndarray of shape (n_columns,)
        Where each column stands among those of its layout.
    n_levels : int64 ndarray of shape (n_columns,)
        How many values each coded column has; 0 for a listed one.
    """

    values: NDArray[np.float64]
    coded: CodedColumns
    lists: ListedColumns
    n_listed: NDArray[np.int32]
    n_whole: int
    place: NDArray[np.int64]
    n_levels: NDArray[np.int64]


def lay_out(values: NDArray[np.float64]) -> Layout:
    """Return the columns of a table, each in the layout that suits it."""
    n_rows, n_columns = values.shape
    sorted_layout = _lay_out_sorted(values) if n_rows <= SORTED_ROWS else None
    if sorted_layout is not None:
        return sorted_layout
    # NaN spreads through a minimum.
    gaps = np.isnan(values.min(axis=0))
    words = empty_pages(values.size, np.uint64).reshape(n_columns, n_rows)
    common_rank, common_value = np.empty(n_columns, dtype=np.uint64), np.full(n_columns, np.inf)
    n_listed = np.zeros(n_columns, dtype=np.int32)
    coded: list[Code | None] = [None] * n_columns

    def lay_block(first: int) -> None:
        # A sum with zero copies the block, and makes one of the two zeros.
        block = np.add(values[:, first : first + COLUMNS_PER_TASK].T, 0.0, order="C")
        for column, numbers in enumerate(block, first):
            common = None if gaps[column] else _common_value(numbers)
            if gaps[column]:
                # NaN is sorted behind all numbers.
                order, n_known = np.argsort(numbers), np.count_nonzero(~np.isnan(numbers))
                words[column, n_known:] = (MISSING_RANK << ROW_BITS) | order[n_known:].view(
                    np.uint64
                )
                n_listed[column] = n_rows
                pack_ranks(numbers, order[:n_known], np.inf, words[column])
                continue
            if common is None:
                coded[column] = _code(numbers)
                if coded[column] is not None:
                    continue
                order = np.argsort(numbers)
            else:
                common_value[column] = common
                rows = np.flatnonzero(numbers != common)
                order = rows[np.argsort(numbers[rows])]
            n_listed[column] = len(order)
            common_rank[column] = pack_ranks(numbers, order, common_value[column], words[column])

    starts = range(0, n_columns, COLUMNS_PER_TASK)
    thread_map(lay_block, starts, 0 if values.size >= THREADED_NUMBERS else 1)
    is_coded = np.array([code is not None for code in coded])
    columns = np.concatenate([np.flatnonzero(~is_coded & ~gaps), np.flatnonzero(gaps)])
    place = np.cumsum(is_coded) - 1
    place[columns] = np.arange(len(columns))
    return Layout(
        values=values,
        coded=_side_by_side(coded, n_rows),
        lists=ListedColumns(columns, words, common_rank, common_value),
        n_listed=n_listed[columns],
        n_whole=int(np.count_nonzero(~is_coded & ~gaps)),
        place=place,
        n_levels=np.array([0 if code is None else len(code.levels) for code in coded]),
    )


def _lay_out_sorted(values: NDArray[np.float64]) -> Layout | None:
    """Return the columns of a small table, all sorted by one call; None where there are gaps.

    No list leaves rows out.
    """
    n_rows, n_columns = values.shape
    by_column = np.add(values.T, 0.0, order="C")  # one of the two zeros
    order = by_column.argsort(axis=1)
    codes, levels = np.empty(values.size, dtype=np.uint8), np.zeros((n_columns, MOST_VALUES))
    place, n_levels = np.empty((2, n_columns), dtype=np.int64)
    n_coded = rank_columns(by_column, order, codes, levels, place, n_levels)
    if n_coded < 0:
        return None
    columns = np.flatnonzero(n_levels == 0)
    # Ranks are below the number of rows, so that none is taken for the common one.
    common_rank, common_value = np.full(n_columns, n_rows, np.uint64), np.full(n_columns, np.inf)
    return Layout(
        values=values,
        coded=CodedColumns(
            np.flatnonzero(n_levels),
            codes[: n_rows * n_coded].reshape(n_rows, n_coded),
            levels[:n_coded],
        ),
        lists=ListedColumns(columns, order.view(np.uint64), common_rank, common_value),
        n_listed=np.full(len(columns), n_rows, dtype=np.int32),
        n_whole=len(columns),
        place=place,
        n_levels=n_levels,
    )


def _common_value(numbers: NDArray[np.float64]) -> float | None:
    """Return the value that most rows have, or None if there is none such."""
    # What most rows have is also the median of some of them.
    some = np.sort(numbers[:: len(numbers) // SAMPLED_ROWS + 1])
    common = some[len(some) // 2]
    is_common = np.count_nonzero(numbers == common) > COMMON_SHARE * len(numbers)
    return float(common) if is_common else None


@dataclass(frozen=True, eq=False)
class Code:
    """The codes of one column, and what they stand for."""

    codes: NDArray[np.uint8]
    levels: NDArray[np.float64]


def _code(numbers: NDArray[np.float64]) -> Code | None:
    """Return the codes of a column, or None if it has too many values."""
    known, slots = np.empty(MOST_VALUES), np.full(N_SLOTS, -1, dtype=np.int64)
    codes = np.empty(len(numbers), dtype=np.uint8)
    n_levels = encode(numbers, numbers.view(np.uint64), codes, known, slots)
    if n_levels < 0:
        return None
    order = np.argsort(known[:n_levels])
    # Codes came in the order of the rows; now they are to ascend with the values.
    return Code(np.argsort(order).astype(np.uint8)[codes], known[order])


def _side_by_side(coded: list[Code | None], n_rows: int) -> CodedColumns:
    """Return the coded columns as one array."""
    columns = [column for column, code in enumerate(coded) if code is not None]
    codes = np.empty((n_rows, len(columns)), dtype=np.uint8)
    levels = np.zeros((len(columns), MOST_VALUES))
    for place, code in enumerate(code for code in coded if code is not None):
        codes[:, place], levels[place, : len(code.levels)] = code.codes, code.levels
    return CodedColumns(np.array(columns, dtype=np.int64), codes, levels)


@outer_loop_in_place
def encode(numbers, bits, codes, known, slots):
    """Write codes in the order in which values are met; return how many, or -1 if too many.

    `bits` are the numbers as whole ones, `known` takes the values and `slots` is a hash table.
    """
    n_known = np.int64(0)
    for row in range(numbers.shape[0]):
        # Fibonacci hashing: the top bits of the product depend on all bits of the number.
        slot = np.int64((bits[row] * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(56))
        while slots[slot] >= 0 and known[slots[slot]] != numbers[row]:
            slot = (slot + 1) & np.int64(N_SLOTS - 1)
        if slots[slot] < 0:
            if n_known == MOST_VALUES:
                return np.int64(-1)
            slots[slot], known[n_known] = n_known, numbers[row]
            n_known += 1
        codes[row] = slots[slot]
    return n_known


@outer_loop_in_place
def pack_ranks(numbers, order, common, words):
    """Write ordered rows, each with the rank of its number; return the rank of the common value.

    That one stands between two others, and is not among the rows.
    """
    rank, common_rank, passed = np.uint64(0), np.uint64(0), False
    for place in range(order.shape[0]):
        number = numbers[order[place]]
        if place > 0 and number != numbers[order[place - 1]]:
            rank += np.uint64(1)
        if number > common and not passed:
            common_rank, passed = rank, True
            rank += np.uint64(1)
        words[place] = (rank << ROW_BITS) | np.uint64(order[place])
    return common_rank if passed else rank + np.uint64(1)


@outer_loop_in_place
def rank_columns(numbers, order, codes, levels, place, n_levels):
    """Put the rank of its number above each ordered row; return how many columns have few values.

    Of those, `codes` takes the ranks by row, `levels` the values and `n_levels` their number, which
    is 0 for other columns; `place` tells where each column stands among those of its kind. Where a
    number is NaN, -1 is returned.
    """
    n_coded = n_listed = np.int64(0)
    for column in range(order.shape[0]):
        # NaN is sorted behind all numbers.
        if np.isnan(numbers[column, order[column, -1]]):
            return np.int64(-1)
        rank = np.int64(0)
        for i in range(order.shape[1]):
            row = order[column, i]
            if i > 0 and numbers[column, row] != numbers[column, order[column, i - 1] & LOW_ROW]:
                rank += 1
            order[column, i] = (rank << LOW_BITS) | row
        is_coded = rank < MOST_VALUES
        n_levels[column] = rank + 1 if is_coded else 0
        place[column] = n_coded if is_coded else n_listed
        n_coded += is_coded
        n_listed += not is_coded
    for column in range(order.shape[0]):
        if n_levels[column] == 0:
            continue
        for i in range(order.shape[1]):
            row, rank = order[column, i] & LOW_ROW, order[column, i] >> LOW_BITS
            codes[row * n_coded + place[column]] = rank
            levels[place[column], rank] = numbers[column, row]
    return n_coded
