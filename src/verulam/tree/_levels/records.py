"""What the loops over all nodes of a level read and write, as arrays and named tuples of them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from verulam.tree._growing.lazy_memory import empty_pages

#: Stands for no column where the first of several is looked for.
NO_COLUMN = 2**31 - 1
#: The best split of a node so far: the decrease of weight times impurity, the values between which
#: its threshold lies, its column (-1 for none), the first listed row of the second child or the
#: last code of the first, the first column that leaves no impurity, or `NO_COLUMN`, and the child
#: of rows without a value, -1 where there are none.
SPLIT = np.dtype(
    [
        *((name, np.float64) for name in ("decrease", "low", "high")),
        *((name, np.int32) for name in ("column", "cut", "perfect", "missing_to")),
    ]
)


class LevelRows(NamedTuple):
    """The training rows in the order of the nodes that own them.

    Attributes
    ----------
    rows : int32 ndarray
        Their numbers.
    targets : ndarray
        Their classes or numbers to predict.
    side : uint8 ndarray
        Which child each row, by its number, went to last.
    """

    rows: Any
    targets: Any
    side: Any


class Front(NamedTuple):
    """The nodes of a level that are to be split.

    Attributes
    ----------
    active : int32 ndarray
        Their numbers.
    first, last : int32 ndarrays of shape (n_lists, n_active)
        Which part of each list a node owns.
    constant : bool ndarray of shape (n_active, n_coded)
        Coded columns that are known to have one value in a node.
    """

    active: Any
    first: Any
    last: Any
    constant: Any


class Scoring(NamedTuple):
    """How splits are judged.

    Attributes
    ----------
    entropy
        Whether by entropy, instead of Gini index or squared error.
    min_leaf
        Fewest rows of a child.
    table : ndarray
        As in `GrowthParameters`.
    """

    entropy: bool
    min_leaf: int
    table: Any


class StoppingRules(NamedTuple):
    """When a node is a leaf, as in `GrowthParameters`; and whether entropy is the impurity."""

    min_split: int
    max_depth: int
    threshold: float
    purity: float
    entropy: bool


class Task(NamedTuple):
    """What one call of a search has to do.

    Attributes
    ----------
    first, last
        The first column of its layout and the one behind the last.
    n_active
        How many nodes the front has.
    drawn : bool ndarray of shape (1 or n_active, n_columns)
        Columns that take part.
    step
        0 where `drawn` has one line for all nodes, else 1.
    """

    first: int
    last: int
    n_active: int
    drawn: Any
    step: int


def make_front(capacity: int, n_lists: int, n_coded: int) -> Front:
    """Return a front with room for so many nodes; memory is taken only as it is written to."""
    first, last = (
        empty_pages(n_lists * capacity, np.int32).reshape(n_lists, capacity) for _ in range(2)
    )
    constant = empty_pages(capacity * n_coded, np.bool_).reshape(capacity, n_coded)
    return Front(empty_pages(capacity, np.int32), first, last, constant)


def no_splits(n_nodes: int) -> NDArray[np.void]:
    """Return the best splits of nodes before any column is searched."""
    best = np.empty(n_nodes, dtype=SPLIT)
    best["decrease"], best["column"], best["perfect"] = -np.inf, -1, NO_COLUMN
    return best
