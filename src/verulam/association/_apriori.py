"""Apriori as it is taught: candidates, prunings and counts of every level."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd

from verulam.association._item_sets import least_count
from verulam.association._transactions import as_transactions
from verulam.base import (
    NUMBER,
    WHOLE,
    DataError,
    checked_arguments,
)

ItemTuple = tuple[Any, ...]


@dataclass(frozen=True)
class AprioriLevel:
    """What Apriori did with sets of one length.

    Attributes
    ----------
    length
        Number of items.
    joined
        Candidates that two frequent sets of the level before make, which share all items but
        their last.
    pruned
        Those with an infrequent part, and that part.
    counts
        Number of transactions of every other candidate.
    frequent
        Those of them that are in enough transactions, with their counts.
    """

    length: int
    joined: tuple[ItemTuple, ...]
    pruned: dict[ItemTuple, ItemTuple]
    counts: dict[ItemTuple, int]
    frequent: dict[ItemTuple, int]


@dataclass(frozen=True)
class AprioriTrace:
    """Every level of Apriori.

    Attributes
    ----------
    n_transactions
        Number of transactions.
    least_count
        Least number of transactions of a frequent set.
    levels
        What was done with sets of 1, 2, ... items.

    Examples
    --------
    >>> from verulam.association import apriori
    >>> from verulam.data import dataset
    >>> trace = apriori(dataset("baskets").inputs, 2)
    >>> print(trace)
    Sets of 1: 5 candidates, 5 frequent
    Sets of 2: 10 candidates, 6 frequent
    Sets of 3: 6 candidates, 4 pruned, 2 frequent
    Sets of 4: 1 candidates, 1 pruned, 0 frequent
    """

    n_transactions: int
    least_count: int
    levels: tuple[AprioriLevel, ...]

    @property
    def frequent(self) -> dict[ItemTuple, int]:
        """All frequent sets with their counts."""
        return {items: count for level in self.levels for items, count in level.frequent.items()}

    def to_frame(self) -> pd.DataFrame:
        """Return a row per candidate: its length, its count, and what became of it."""
        rows = []
        for level in self.levels:
            for items in level.joined:
                part = level.pruned.get(items)
                fate = "frequent" if items in level.frequent else "infrequent"
                rows.append(
                    {
                        "length": level.length,
                        "items": items,
                        "count": level.counts.get(items),
                        "fate": fate if part is None else "pruned",
                        "infrequent_part": part,
                    }
                )
        frame = pd.DataFrame(rows, columns=["length", "items", "count", "fate", "infrequent_part"])
        return frame.astype({"count": "Int64"})

    def __str__(self) -> str:
        lines = []
        for level in self.levels:
            pruned = f"{len(level.pruned)} pruned, " if level.pruned else ""
            lines.append(
                f"Sets of {level.length}: {len(level.joined)} candidates, {pruned}"
                f"{len(level.frequent)} frequent"
            )
        return "\n".join(lines)


@checked_arguments(min_support=NUMBER, max_candidates=WHOLE)
def apriori(
    transactions: Any, min_support: float = 0.1, *, max_candidates: int = 100_000
) -> AprioriTrace:
    """Find frequent sets level by level, and keep every step.

    Parameters
    ----------
    transactions
        As for `frequent_itemsets`, which is the one to use where only the result counts.
    min_support
        Least share of the transactions, or a whole number of them.
    max_candidates
        More candidates of one length than this are refused.

    Notes
    -----
    Two frequent sets of k items that share the first k - 1, in the order of the items, are joined
    into a candidate; a candidate with an infrequent part of k items cannot be frequent, and is not
    counted. See SIT1305 II, "Association rules".
    """
    baskets = as_transactions(transactions)
    least = least_count(min_support, len(baskets))
    names = _sorted_names(baskets.items)
    counts = {(name,): baskets.counts([name]) for name in names}
    level = _level(1, tuple(counts), {}, counts, least)
    levels = [level]
    while len(level.frequent) > 1:
        joined = _join(list(level.frequent), names)
        if not joined:
            break
        if len(joined) > max_candidates:
            raise DataError(
                f"{len(joined):,} candidates of {level.length + 1} items; frequent_itemsets finds "
                "the sets without them, or raise min_support."
            )
        pruned = {
            items: part
            for items in joined
            for part in [_infrequent_part(items, level.frequent)]
            if part is not None
        }
        counts = {items: baskets.counts(items) for items in joined if items not in pruned}
        level = _level(level.length + 1, tuple(joined), pruned, counts, least)
        levels.append(level)
    return AprioriTrace(len(baskets), least, tuple(levels))


def _level(
    length: int,
    joined: tuple[ItemTuple, ...],
    pruned: dict[ItemTuple, ItemTuple],
    counts: dict[ItemTuple, int],
    least: int,
) -> AprioriLevel:
    frequent = {items: count for items, count in counts.items() if count >= least}
    return AprioriLevel(length, joined, pruned, counts, frequent)


def _sorted_names(items: tuple[Any, ...]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:  # names of several types have no order of their own
        return sorted(items, key=str)


def _join(frequent: list[ItemTuple], names: list[Any]) -> list[ItemTuple]:
    rank = {name: place for place, name in enumerate(names)}
    joined = []
    by_prefix: dict[ItemTuple, list[Any]] = {}
    for items in frequent:
        by_prefix.setdefault(items[:-1], []).append(items[-1])
    for prefix, lasts in by_prefix.items():
        lasts.sort(key=rank.__getitem__)
        joined += [(*prefix, first, second) for first, second in combinations(lasts, 2)]
    return joined


def _infrequent_part(items: ItemTuple, frequent: dict[ItemTuple, int]) -> ItemTuple | None:
    parts = (items[:place] + items[place + 1 :] for place in range(len(items)))
    return next((part for part in parts if part not in frequent), None)
