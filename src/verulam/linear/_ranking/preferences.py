"""Preferences: which of two rows should come first, from ranks, orders, ratings and clicks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.linear._training.tables import as_numbers


@dataclass(frozen=True)
class Preferences:
    """Pairs of rows, the first of which should be ranked above the second.

    Attributes
    ----------
    better, worse : ndarray of shape (n_pairs,)
        Positions of the rows.

    Examples
    --------
    >>> clicked = preferences_from_clicks([[7, 4, 9, 2]], [[9]])
    >>> list(zip(clicked.better.tolist(), clicked.worse.tolist()))
    [(9, 7), (9, 4)]
    """

    better: np.ndarray
    worse: np.ndarray

    def __len__(self) -> int:
        return len(self.better)

    def __add__(self, other: "Preferences") -> "Preferences":
        return Preferences(
            np.concatenate([self.better, other.better]), np.concatenate([self.worse, other.worse])
        )


def preferences_from_relevance(
    relevance: ArrayLike, groups: ArrayLike | None = None
) -> Preferences:
    """Return every pair of a group in which one row is more relevant: from ratings or full ranks.

    Parameters
    ----------
    relevance
        Number of each row, higher is better; negate ranks.
    groups
        Query or user of each row; rows of different groups are not compared.

    Examples
    --------
    >>> pairs = preferences_from_relevance([2, 0, 1], ["q", "q", "q"])
    >>> sorted(zip(pairs.better.tolist(), pairs.worse.tolist()))
    [(0, 1), (0, 2), (2, 1)]
    """
    values = as_numbers(relevance, "relevance")
    if not len(values) or np.isnan(values).any():
        raise DataError("relevance must be a number for each row, and some rows there must be.")
    labels = np.zeros(len(values)) if groups is None else np.asarray(groups)
    if labels.shape != values.shape:
        raise DataError(
            f"groups must have {len(values)} entries, one for each relevance; got {labels.shape}."
        )
    better, worse = [], []
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        # Every row of the group against every other, in one comparison.
        first, second = np.nonzero(values[rows][:, None] > values[rows][None, :])
        better.append(rows[first])
        worse.append(rows[second])
    return Preferences(np.concatenate(better), np.concatenate(worse))


def preferences_from_order(pairs: Iterable[tuple[int, int]]) -> Preferences:
    """Return the preferences of a partial order given by pairs, with all that follow from them.

    Parameters
    ----------
    pairs
        Pairs (better, worse).

    Examples
    --------
    >>> closure = preferences_from_order([(0, 1), (1, 2)])
    >>> sorted(zip(closure.better.tolist(), closure.worse.tolist()))
    [(0, 1), (0, 2), (1, 2)]
    """
    import networkx as nx

    edges = [tuple(pair) for pair in pairs]
    if not all(len(edge) == 2 and all(isinstance(row, Integral) for row in edge) for edge in edges):
        raise DataError("pairs must be pairs of the positions of two rows: (better, worse).")
    graph = nx.DiGraph(edges)
    if not nx.is_directed_acyclic_graph(graph):
        circle = [first for first, _ in nx.find_cycle(graph)]
        raise DataError(f"the preferences contradict one another: {circle} go round in a circle.")
    closure = np.array(list(nx.transitive_closure_dag(graph).edges), dtype=np.int64)
    return Preferences(*closure.reshape(-1, 2).T)


def preferences_from_clicks(
    shown: Sequence[Sequence[int]], clicked: Sequence[Sequence[int]]
) -> Preferences:
    """Return what clicks tell: a clicked row is preferred to those shown above it and passed over.

    Parameters
    ----------
    shown
        Rows in the order in which each list showed them.
    clicked
        Rows of each list that were clicked.

    Notes
    -----
    See Alpaydin 10.9: the third clicked means that it is preferred to the first and the second.
    """
    if len(shown) != len(clicked):
        raise DataError(f"shown has {len(shown)} lists and clicked {len(clicked)}.")
    better, worse = [], []
    for rows, hits in zip(shown, clicked, strict=True):
        unknown = set(hits) - set(rows)
        if unknown:
            raise DataError(f"clicked has {sorted(unknown)}, which the list {list(rows)} lacks.")
        for row in dict.fromkeys(hits):
            # What stands below a click may never have been looked at.
            above = rows[: list(rows).index(row)]
            passed = [other for other in above if other not in set(hits)]
            better += [row] * len(passed)
            worse += passed
    return Preferences(np.array(better, dtype=np.int64), np.array(worse, dtype=np.int64))
