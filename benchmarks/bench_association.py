"""Frequent item sets beside pyfim and mlxtend: the same sets asserted, lists in and tuples out.

Of every set a tuple of items and a number are made in Python: ours stand in two lists, pyfim's in
one of pairs, mlxtend's in a table.
"""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._timing import Work, print_races, race
from verulam.association import frequent_itemsets

#: Sets that are allowed.
MOST = 10**8
#: Rows, items, mean share of items in a row, least count.
SHAPES = (
    (10_000, 500, 0.01, 40),
    (20_000, 100, 0.03, 200),
    (5_000, 100, 0.10, 150),
    (2_000, 60, 0.20, 200),
    (1_000, 40, 0.40, 250),
)


def run() -> None:
    """Print races over sparse, ordinary and dense transactions."""
    races = []
    for n_rows, n_items, share, least in SHAPES:
        present = transactions(n_rows, n_items, share)
        lists = [np.flatnonzero(row).tolist() for row in present]
        sets = frequent_itemsets(lists, least, max_itemsets=MOST)
        name = f"{n_rows:,} x {n_items:,}, {share:.0%} ({len(sets):,} sets)"
        ours = partial(_listed, lists, least)
        for peer, theirs in _peers(lists, present, least, len(sets)).items():
            same = partial(_same, table=peer == "mlxtend")
            races.append(race(name, ours, peer, theirs, same=same))
    print_races("Item sets", races)


def _listed(lists: list, least: int) -> tuple[list, list]:
    sets = frequent_itemsets(lists, least, max_itemsets=MOST)
    return list(sets), sets.counts.tolist()


def _same(ours: tuple[list, list], theirs: Any, *, table: bool) -> None:
    """Compare all sets and, but for mlxtend's table of shares, their counts."""
    counts = {frozenset(items): count for items, count in zip(*ours, strict=True)}
    if table:
        assert set(theirs["itemsets"]) == set(counts)
    else:
        assert {frozenset(items): count for items, count in theirs} == counts


def transactions(n_rows: int, n_items: int, share: float) -> np.ndarray:
    """Return which row has which item: some items are common, and some rows buy more of all."""
    random = np.random.default_rng(1)
    shares = np.clip(share * 3.0 ** np.linspace(1, -1, n_items), 0, 0.95)
    eager = random.random((n_rows, 1)) < 0.3
    return random.random((n_rows, n_items)) < np.where(
        eager, np.minimum(1.8 * shares, 0.97), shares
    )


def _peers(lists: list, present: np.ndarray, least: int, n_sets: int) -> dict[str, Work]:
    """Return the searches of the peers that are installed.

    mlxtend takes its own input, a table of True and False; it is left out of the larger searches.
    """
    searches: dict[str, Work] = {}
    try:
        import fim
    except ImportError:
        print("  pyfim is not installed")
    else:
        searches["pyfim eclat"] = partial(fim.eclat, lists, supp=-least, zmin=1)
        searches["pyfim fpgrowth"] = partial(fim.fpgrowth, lists, supp=-least, zmin=1)
    try:
        from mlxtend.frequent_patterns import fpgrowth
    except ImportError:
        print("  mlxtend is not installed")
    else:
        table = pd.DataFrame(present)
        if n_sets < 5_000:
            searches["mlxtend"] = partial(fpgrowth, table, min_support=least / len(table))
    return searches
