"""Frequent, closed and maximal item sets: in memory, in parts, from a stream or a cluster."""

import gc
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.association._search_loops import (
    closed_sets,
    item_bits,
    list_items,
    sets_of_bits,
    sets_of_rows,
    sort_sets,
)
from verulam.association._transactions import Transactions, as_transactions
from verulam.association._transactions_loops import transpose
from verulam.base import (
    NONE,
    NUMBER,
    TEXT,
    WHOLE,
    DataError,
    checked_arguments,
)

KINDS = ("all", "closed", "maximal")
#: Beyond so many bytes of bits, transactions are searched in parts.
MOST_BYTES = 2**29
#: Pairs of more items than this are not counted in a table.
MOST_PAIRED = 8_192
#: Words that are intersected in the time that counts one pair of items.
WORDS_PER_PAIR = 10
#: Longest set that is looked for where no length is named.
LONGEST = 1_000


@dataclass(frozen=True, eq=False)
class ItemSets:
    """Sets of items that occur together often enough.

    Attributes
    ----------
    items
        Names of all items.
    n_transactions
        Number of transactions they were counted in.
    least_count
        Least number of transactions that a set had to be in.
    kind
        "all", "closed" or "maximal".
    starts, codes
        Items of each set: ``codes[starts[k]:starts[k + 1]]`` are positions in `items`, in order.
        All sets stand by length, and then by their items.
    counts : ndarray of int
        Number of transactions that each set is in.
    prefixes : ndarray of int
        Where each set without its last item stands, -1 for single items; of closed and maximal
        sets empty.

    Examples
    --------
    >>> from verulam.association import frequent_itemsets
    >>> baskets = [["beer", "chips"], ["beer", "chips", "salsa"], ["chips", "salsa"], ["beer"]]
    >>> print(frequent_itemsets(baskets, 0.5))
           items  count  support
            beer      3     0.75
           chips      3     0.75
           salsa      2     0.50
     beer, chips      2     0.50
    chips, salsa      2     0.50
    """

    items: tuple[Any, ...]
    n_transactions: int
    least_count: int
    kind: str
    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    prefixes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, place: int) -> tuple[Any, ...]:
        codes = self.codes[self.starts[place] : self.starts[place + 1]]
        return tuple(self.items[code] for code in codes)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        with _no_collection():
            return iter(self._lengthened() if len(self.prefixes) else self._columns())

    def _lengthened(self) -> list[tuple[Any, ...]]:
        """Return the items of each set, as those of its prefix and one more."""
        singles = np.fromiter(((name,) for name in self.items), object, len(self.items))
        last = singles[self.codes[self.starts[1:] - 1]]
        ends = np.cumsum(np.bincount(self.lengths)).tolist()
        level = last[: ends[1]]
        listed = level.tolist()
        for before, start, end in zip(ends, ends[1:], ends[2:], strict=False):
            # The sum of two tuples is made faster than a tuple of as many items.
            level = level[self.prefixes[start:end] - before] + last[start:end]
            listed += level.tolist()
        return listed

    def _columns(self) -> list[tuple[Any, ...]]:
        """Return the items of each set: those of one length make a table of columns."""
        names = np.fromiter(self.items, object, len(self.items))
        listed, lengths = np.empty(len(self), dtype=object), self.lengths
        for length in np.unique(lengths):
            places = np.flatnonzero(lengths == length)
            members = self.codes[self.starts[places][:, None] + np.arange(length)]
            columns = names[members].T.tolist()
            listed[places] = np.fromiter(zip(*columns, strict=True), object, len(places))
        return listed.tolist()

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of items of each set."""
        return np.diff(self.starts)

    @property
    def supports(self) -> NDArray[np.float64]:
        """Share of the transactions that each set is in."""
        return self.counts / self.n_transactions

    @cached_property
    def _places(self) -> dict[frozenset[Any], int]:
        return {frozenset(items): place for place, items in enumerate(self)}

    def count(self, items: Iterable[Any]) -> int:
        """Return how many transactions a set is in; one that is not among them is an error."""
        if isinstance(items, str):
            raise DataError(f"items is {items!r}; expected a list of items.")
        place = self._places.get(frozenset(items))
        if place is None:
            raise DataError(f"{sorted(map(str, items))} is not among the {len(self):,} sets.")
        return int(self.counts[place])

    def to_frame(self) -> pd.DataFrame:
        """Return a row per set, short ones first, then the most frequent."""
        frame = pd.DataFrame(
            {
                "items": list(self),
                "length": self.lengths,
                "count": self.counts,
                "support": self.supports,
            }
        )
        order = ["length", "count"]
        frame = frame.sort_values(order, ascending=[True, False], kind="stable")
        return frame.reset_index(drop=True)

    def __str__(self) -> str:
        if not len(self):
            return f"No set of items is in {self.least_count:,} or more transactions."
        frame = self.to_frame()
        frame["items"] = [", ".join(map(str, items)) for items in frame["items"]]
        shown = frame.drop(columns="length").head(20)
        text = shown.to_string(index=False)
        left = len(frame) - len(shown)
        return f"{text}\n... and {left:,} more" if left else text


@contextmanager
def _no_collection() -> Iterator[None]:
    """Make very many objects that stay, without looking through them for garbage again and again.

    That would take as long as to make them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@checked_arguments(min_support=NUMBER, kind=TEXT, max_length=WHOLE | NONE, max_itemsets=WHOLE)
def frequent_itemsets(
    transactions: Any,
    min_support: float = 0.1,
    *,
    kind: str = "all",
    max_length: int | None = None,
    max_itemsets: int = 1_000_000,
) -> ItemSets:
    """Find the sets of items that enough transactions have.

    Parameters
    ----------
    transactions
        `Transactions`, a list of lists, or a table (`Transactions.from_table`). Where they do not
        fit into memory: a function that returns an iterator over parts of them, or a Dask
        DataFrame.
    min_support
        Least share of the transactions, between 0 and 1, or a least number of them, from 1 on
        (a whole number).
    kind
        "all" frequent sets; "closed" ones, which no item can join without losing transactions;
        or "maximal" ones, which no item can join and stay frequent.
    max_length
        Most items of a set, for all sets.
    max_itemsets
        Where there are more sets than this, the search stops with an error that names a support
        with fewer.

    Notes
    -----
    Every part of a frequent set is frequent, so that a set is tried only if the parts before it
    are; its transactions are the intersection of theirs, 64 at a time (Eclat). Closed sets are
    found by prefix-preserving closure extension. Parts of a stream are read twice: what is frequent
    in all of it is frequent in some part, and is then counted in all.
    """
    _check_options(kind, max_length, max_itemsets)
    if hasattr(transactions, "__dask_graph__") or callable(transactions):
        if kind != "all":
            raise DataError(f"kind={kind!r} needs all transactions in memory.")
        return _from_parts(_reader(transactions), min_support, max_length, max_itemsets)
    baskets = as_transactions(transactions)
    least = least_count(min_support, len(baskets))
    n_parts = _parts_in_memory(baskets, least)
    if n_parts > 1 and kind == "all":
        rows = np.array_split(np.arange(len(baskets)), n_parts)
        parts = [baskets.take(part) for part in rows]
        return _from_parts(_reader(lambda: iter(parts)), least, max_length, max_itemsets)
    sets = _search(baskets, least, kind, max_length, max_itemsets)
    if sets is None:
        raise DataError(_explosion(baskets, least, kind, max_length, max_itemsets))
    return sets


def _parts_in_memory(baskets: Transactions, least: int) -> int:
    """Return how many parts the transactions make, so that the bits of one fit into memory."""
    n_items = int((baskets.item_counts >= least).sum())
    return max(1, math.ceil(n_items * len(baskets) / 8 / MOST_BYTES))


def least_count(min_support: float, n_transactions: int) -> int:
    """Return the least number of transactions that a support stands for."""
    if not n_transactions:
        raise DataError("There are no transactions.")
    whole = isinstance(min_support, int | np.integer) and not isinstance(min_support, bool)
    if whole and min_support >= 1:
        return int(min_support)
    if not 0.0 < min_support < 1.0:
        raise DataError(
            f"min_support is {min_support}; expected a share between 0 and 1, or a whole number "
            "of transactions from 1 on."
        )
    # A share that is a whole number of transactions must not be missed by rounding.
    return max(1, int(np.ceil(min_support * n_transactions - 1e-9)))


def _check_options(kind: str, max_length: int | None, max_itemsets: int) -> None:
    if kind not in KINDS:
        raise DataError(f"kind is {kind!r}; expected one of {', '.join(map(repr, KINDS))}.")
    if max_length is not None and max_length < 1:
        raise DataError(f"max_length must be at least 1, but is {max_length}.")
    if max_length is not None and kind != "all":
        raise DataError(f"max_length goes with kind='all'; {kind} sets have the length they have.")
    if max_itemsets < 1:
        raise DataError(f"max_itemsets must be at least 1, but is {max_itemsets}.")


def _search(
    baskets: Transactions,
    least: int,
    kind: str,
    max_length: int | None,
    limit: int,
) -> ItemSets | None:
    """Return the sets, or None where there are more than the limit."""
    counts = baskets.item_counts
    # The rarest first: sets that begin with them have the fewest transactions to look at.
    sorted_items = np.lexsort((np.arange(len(counts)), counts)).astype(np.int32)
    order: NDArray[np.int32] = sorted_items[counts[sorted_items] >= least]
    if kind != "all":
        starts, ranks, supports = closed_sets(
            _bits(baskets, order), counts[order], len(baskets), least, kind == "maximal", limit
        )
        if len(supports) > limit:
            return None
        codes = order[ranks]
        owner = np.repeat(np.arange(len(supports)), np.diff(starts))
        codes = codes[np.lexsort((codes, owner))]
        none = np.empty(0, dtype=np.int32)
        return ItemSets(baskets.items, len(baskets), least, kind, starts, codes, supports, none)
    longest = min(max_length or LONGEST, LONGEST)
    if _are_dense(baskets, order):
        sets = sets_of_bits(_bits(baskets, order), counts[order], least, longest, limit)
    else:
        item_starts, rows = baskets._rows_by_item
        starts, ranks = transpose(item_starts, rows, order, len(baskets))
        n_paired = len(order) if len(order) <= MOST_PAIRED else 0
        pairs = np.zeros((n_paired, n_paired), dtype=np.int32)
        sets = sets_of_rows(starts, ranks, item_starts, rows, order, pairs, least, longest, limit)
    if len(sets) > limit:
        return None
    places, prefixes, last = sort_sets(sets[:, 0], order[sets[:, 1]])
    starts, codes = list_items(prefixes, last)
    supports = sets[places, 2].astype(np.int64)
    return ItemSets(baskets.items, len(baskets), least, kind, starts, codes, supports, prefixes)


def _bits(baskets: Transactions, order: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return the transactions of the items of an order, 64 to a word."""
    return item_bits(*baskets._rows_by_item, order, len(baskets))


def _are_dense(baskets: Transactions, order: NDArray[np.int32]) -> bool:
    """Return whether to intersect all items is less work than to count pairs in transactions."""
    n_pairs = float((np.diff(baskets.starts).astype(np.float64) ** 2).sum())
    n_words = float(len(order)) ** 2 * len(baskets) / 64
    return n_words < WORDS_PER_PAIR * n_pairs


def _explosion(
    baskets: Transactions,
    least: int,
    kind: str,
    max_length: int | None,
    limit: int,
) -> str:
    """Return what to say of too many sets, with a support that has few enough."""
    top = int(baskets.item_counts.max(initial=1))
    low, high = least, max(least, top) + 1
    # That no support has few enough is certain only once the largest was tried.
    while high - low > (1 if high > top else max(1, low // 20)):
        middle = int(np.sqrt(low * high)) if high > 2 * low else (low + high) // 2
        few = _search(baskets, middle, kind, max_length, limit) is not None
        low, high = (low, middle) if few else (middle, high)
    many = (
        f"More than {limit:,} {'' if kind == 'all' else kind + ' '}sets are in at least {least:,} "
        f"transactions ({least / len(baskets):.3g})."
    )
    if high > top:
        return (
            f"{many} No support that leaves any set has fewer: leave out some of the items that "
            "always occur together, name a max_length, or raise max_itemsets."
        )
    return (
        f"{many} With min_support={_support_text(high, top, len(baskets))} "
        f"there are at most {limit:,}; or raise max_itemsets, or name a max_length."
    )


def _support_text(least: int, most: int, total: int) -> str:
    """Return the shortest share that stands for a count in those bounds, or the lower bound."""
    texts = (f"{least / total:.{digits}g}" for digits in range(3, 17))
    # 1 would be one transaction.
    shares = (text for text in texts if float(text) < 1.0)
    fitting = (text for text in shares if least <= least_count(float(text), total) <= most)
    return next(fitting, str(least))


# Parts that are read twice ---------------------------------------------------------------------

Read = Callable[[Callable[[Transactions], Any]], list[Any]]
"""Applies a function to every part, and returns the results in order."""


def _reader(source: Any) -> Read:
    if hasattr(source, "__dask_graph__"):

        def read(function: Callable[[Transactions], Any]) -> list[Any]:
            import dask

            task = dask.delayed(lambda part: function(as_transactions(part)))
            return list(dask.compute(*[task(part) for part in source.to_delayed()]))

        return read
    return lambda function: [function(as_transactions(part)) for part in source()]


def _from_parts(read: Read, min_support: float, max_length: int | None, limit: int) -> ItemSets:
    sizes = read(len)
    total = sum(sizes)
    least = least_count(min_support, total)
    share = least / total

    def local(part: Transactions) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
        if not len(part):
            return part.items, []
        count = max(1, int(np.ceil(share * len(part) - 1e-9)))
        sets = _search(part, count, "all", max_length, limit)
        if sets is None:
            raise DataError(_explosion(part, count, "all", max_length, limit))
        return part.items, list(sets)

    candidates: dict[frozenset[Any], int] = {}
    names: dict[Any, int] = {}
    for items, sets in read(local):
        for item in items:
            names.setdefault(item, len(names))
        for items_of_set in sets:
            candidates.setdefault(frozenset(items_of_set), len(candidates))
    pending = list(candidates)
    counts = sum(read(lambda part: _count_sets(part, pending)), np.zeros(len(pending), np.int64))
    frequent = {
        items: int(count) for items, count in zip(pending, counts, strict=True) if count >= least
    }
    return _listed(tuple(names), total, least, frequent)


def _listed(
    items: tuple[Any, ...], total: int, least: int, counts: dict[frozenset[Any], int]
) -> ItemSets:
    """Return counted sets in the order of those that are found in memory."""
    codes = {item: code for code, item in enumerate(items)}
    rows = sorted(
        (len(members), tuple(sorted(map(codes.__getitem__, members))), count)
        for members, count in counts.items()
    )
    places = {members: place for place, (_, members, _) in enumerate(rows)}
    return ItemSets(
        items,
        total,
        least,
        "all",
        np.cumsum([0, *(length for length, _, _ in rows)], dtype=np.int64),
        np.array([code for _, members, _ in rows for code in members], dtype=np.int32),
        np.array([count for _, _, count in rows], dtype=np.int64),
        np.array([places.get(members[:-1], -1) for _, members, _ in rows], dtype=np.int32),
    )


def _count_sets(part: Transactions, sets: list[frozenset[Any]]) -> NDArray[np.int64]:
    """Return how many transactions of a part have each set; unknown items are in none."""
    known = set(part.items)
    return np.array([part.counts(items) if items <= known else 0 for items in sets], dtype=np.int64)
