"""Cheaper searches for one nearest neighbour, with an account of what they save."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from verulam.base import DataError
from verulam.nonparametric._neighbours.inputs import check_at_least, checked_rows
from verulam.numerics import njit


@dataclass(frozen=True)
class PartialSearch:
    """Nearest rows, and the work of finding them.

    Attributes
    ----------
    rows : ndarray
        Nearest stored row of each query; -1 where none is within the bound.
    distances : ndarray
        How far it is; infinite where there is none.
    operations : ndarray
        Coordinate differences that were computed for each query.
    share : float
        Operations over those of a full search.
    """

    rows: np.ndarray
    distances: np.ndarray
    operations: np.ndarray
    share: float


def partial_distance_search(
    queries: ArrayLike, stored: ArrayLike, *, step: int = 1, bound: float = np.inf
) -> PartialSearch:
    r"""Return nearest rows, giving up on a row once part of its distance is too large.

    Parameters
    ----------
    queries
        One row per query.
    stored
        One row per prototype.
    step
        Coordinates added between two comparisons.
    bound
        Only rows within this distance count. Infinite leaves the search exact, with the best
        distance so far as its bound.

    Notes
    -----
    The sum over :math:`r < d` coordinates only grows, so that a row whose part exceeds the best
    whole cannot win. See Bartkowiak 4.4.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> search = partial_distance_search(rng.normal(size=(5, 20)), rng.normal(size=(500, 20)))
    >>> search.share < 0.6
    True
    """
    prototypes = checked_rows(stored, "stored")
    rows = checked_rows(queries, "queries", prototypes.shape[1])
    check_at_least(step, 1, "step")
    if not bound > 0:
        raise DataError(f"bound must be above 0, not {bound}.")
    nearest = np.empty(len(rows), dtype=np.intp)
    squares = np.empty(len(rows))
    work = np.zeros(len(rows), dtype=np.int64)
    search_loop(rows, prototypes, step, float(bound) ** 2, nearest, squares, work)
    share = work.sum() / max(1, rows.size * len(prototypes))
    return PartialSearch(nearest, np.sqrt(squares), work, float(share))


@njit(cache=True, nogil=True)
def search_loop(queries, stored, step, bound, rows, squares, work):
    """Find each query's nearest row, giving up on a row once its partial sum is too large."""
    n_columns = queries.shape[1]
    for query in range(len(queries)):
        best, limit = -1, bound
        for row in range(len(stored)):
            total = 0.0
            column = 0
            # The sum of squares only grows: beyond the best so far, the rest need not be added.
            while column < n_columns and total <= limit:
                stop = min(column + step, n_columns)
                for inner in range(column, stop):
                    difference = queries[query, inner] - stored[row, inner]
                    total += difference * difference
                work[query] += stop - column
                column = stop
            if column == n_columns and (total < limit or (best < 0 and total <= limit)):
                limit = total
                best = row
        rows[query] = best
        squares[query] = limit if best >= 0 else np.inf


class PrestructuredPrototypes:
    r"""Stored rows in buckets; a query looks only into the bucket of the nearest representative.

    Parameters
    ----------
    stored
        One row per prototype.
    n_columns
        Widest columns that are cut at their medians: :math:`2^m` buckets, four by default.

    Notes
    -----
    With four quadrants about three quarters of the prototypes are never looked at. The answer
    may be wrong near the cuts: `recall` says how often. See Bartkowiak 4.4.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import PrestructuredPrototypes
    >>> rng = np.random.default_rng(0)
    >>> prototypes = PrestructuredPrototypes(rng.normal(size=(1000, 2)))
    >>> search = prototypes.query(rng.normal(size=(200, 2)))
    >>> round(search.share, 2)
    0.25
    """

    def __init__(self, stored: ArrayLike, n_columns: int = 2) -> None:
        self.stored = checked_rows(stored, "stored").copy()
        if not 1 <= n_columns <= min(self.stored.shape[1], 16):
            raise DataError(
                f"n_columns must lie between 1 and {min(self.stored.shape[1], 16)}, "
                f"not {n_columns}."
            )
        widest = np.argsort(-self.stored.std(axis=0))[:n_columns]
        above = self.stored[:, widest] > np.median(self.stored[:, widest], axis=0)
        # The sides of all cuts, as the bits of a number.
        buckets = above @ (1 << np.arange(n_columns))
        self.buckets = [np.flatnonzero(buckets == bucket) for bucket in np.unique(buckets)]
        means = [self.stored[rows].mean(axis=0) for rows in self.buckets]
        self.representatives = np.stack(means)

    def query(self, queries: ArrayLike) -> PartialSearch:
        """Return the nearest row in the bucket of the nearest representative."""
        inputs = checked_rows(queries, "queries", self.stored.shape[1])
        nearest_bucket = cdist(inputs, self.representatives).argmin(axis=1)
        rows = np.empty(len(inputs), dtype=np.intp)
        distances = np.empty(len(inputs))
        looked_at = np.empty(len(inputs), dtype=np.int64)
        for bucket, members in enumerate(self.buckets):
            asking = np.flatnonzero(nearest_bucket == bucket)
            table = cdist(inputs[asking], self.stored[members])
            best = table.argmin(axis=1)
            rows[asking], distances[asking] = members[best], table[np.arange(len(asking)), best]
            looked_at[asking] = len(members)
        share = float(looked_at.mean() / len(self.stored)) if len(inputs) else 0.0
        operations = (looked_at + len(self.buckets)) * inputs.shape[1]
        return PartialSearch(rows, distances, operations, share)

    def recall(self, queries: ArrayLike) -> float:
        """Return the share of queries whose answer is as near as the true nearest row."""
        inputs = checked_rows(queries, "queries", self.stored.shape[1])
        truth = cdist(inputs, self.stored).min(axis=1)
        return float(np.mean(self.query(inputs).distances <= truth * (1.0 + 1e-12)))
