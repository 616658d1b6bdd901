"""One-against-rest learning problem, and conjunctions that are grown, pruned and counted."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from verulam.rule._learning.grow_loops import (
    AT_LEAST,
    AT_MOST,
    EQUAL,
    FOIL_GAIN,
    POSITIVE_SHARE,
    best_condition,
    prefix_counts,
    select_growing,
    shrink,
    side_weights,
)

#: No rule needs more conditions than this to be of use.
MOST_CONDITIONS = 64
#: Which entries meet a condition, by its kind.
_HOLDS = {AT_MOST: np.less_equal, AT_LEAST: np.greater_equal, EQUAL: np.equal}
CRITERIA = {"foil": FOIL_GAIN, "entropy": POSITIVE_SHARE}


@dataclass(frozen=True)
class SortedColumns:
    """A table by columns, each sorted once.

    Attributes
    ----------
    columns : ndarray of shape (n_columns, n_rows)
        Numbers, or codes of categories; NaN where missing.
    orders : ndarray of shape (n_columns, n_rows)
        Rows of each column by rising value, the missing last.
    known : ndarray of shape (n_columns,)
        How many values of each column are not missing.
    n_categories : ndarray of shape (n_columns,)
        Number of categories; 0 for a numeric column.
    n_conditions
        Number of conditions that can be put on these columns.
    """

    columns: NDArray[np.float64]
    orders: NDArray[np.int32]
    known: NDArray[np.int64]
    n_categories: NDArray[np.int64]
    n_conditions: float


@dataclass(frozen=True)
class GrowthOptions:
    """How a conjunction is grown.

    Attributes
    ----------
    criterion
        "foil" or "entropy".
    smoothing
        Pseudo-count of shares.
    least_positives
        Least weight of positives that a further condition must keep.
    most_conditions
        Where growth ends.
    midway
        Whether thresholds lie midway between neighbouring values.
    """

    criterion: str = "foil"
    smoothing: float = 1.0
    least_positives: float = 2.0
    most_conditions: int = MOST_CONDITIONS
    midway: bool = True

    def as_tuple(self) -> tuple[int, float, float, int, bool]:
        """Return the options as the compiled loops take them."""
        return (
            CRITERIA[self.criterion],
            float(self.smoothing),
            float(self.least_positives),
            int(self.most_conditions),
            bool(self.midway),
        )


@dataclass(frozen=True, eq=False)
class Conjunction:
    """Conditions that must all hold.

    Attributes
    ----------
    kinds, places, values : ndarray of shape (n_conditions,)
        What is asked, of which column, and the threshold or code.
    covered : ndarray of shape (n_rows,)
        1 for each row that meets them, else 0.
    """

    kinds: NDArray[np.int64]
    places: NDArray[np.int64]
    values: NDArray[np.float64]
    covered: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.kinds)


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows of one class against those of the others.

    Attributes
    ----------
    table
        The sorted columns.
    positive : ndarray of shape (n_rows,)
        1 for rows of the class, else 0.
    weights : ndarray of shape (n_rows,)
        Weight of each row.
    """

    table: SortedColumns
    positive: NDArray[np.uint8]
    weights: NDArray[np.float64]

    def conjunction(
        self, kinds: NDArray[np.int64], places: NDArray[np.int64], values: NDArray[np.float64]
    ) -> Conjunction:
        """Return the conditions with the rows that they cover."""
        covered = np.ones(self.table.columns.shape[1], dtype=np.uint8)
        for kind, place, value in zip(kinds, places, values, strict=True):
            covered &= _HOLDS[kind](self.table.columns[place], value)
        return Conjunction(kinds, places, values, covered)

    def empty(self) -> Conjunction:
        """Return the conjunction that covers every row."""
        none = np.empty(0, dtype=np.int64)
        return self.conjunction(none, none, np.empty(0))

    def grow(
        self, rows: NDArray[np.int32], options: GrowthOptions, start: Conjunction | None = None
    ) -> Conjunction:
        """Return `start` with conditions added until it covers no negatives of the rows."""
        table = self.table
        growing = np.zeros(table.columns.shape[1], dtype=np.uint8)
        used = np.zeros(len(table.columns), dtype=np.uint8)
        start = start or self.empty()
        growing[rows] = start.covered[rows]
        used[start.places[start.kinds == EQUAL]] = 1
        added = self._conditions(growing, used, options)
        return self.conjunction(
            np.append(start.kinds, np.array([kind for kind, _, _ in added], dtype=np.int64)),
            np.append(start.places, np.array([place for _, place, _ in added], dtype=np.int64)),
            np.append(start.values, np.array([value for _, _, value in added])),
        )

    def _conditions(
        self, growing: NDArray[np.uint8], used: NDArray[np.uint8], options: GrowthOptions
    ) -> list[tuple[int, int, float]]:
        """Return kind, column and value of the conditions, added one at a time.

        `growing` marks the rows to grow on and ends up marking those still covered; `used` marks
        the categorical columns that already have a condition.
        """
        table, sides = self.table, (self.positive, self.weights)
        rows = np.flatnonzero(growing).astype(np.int32)
        # One place more, for what is written last may be of no row to grow on.
        current = np.empty((len(table.columns), len(rows) + 1), dtype=np.int32)
        counts = np.zeros(len(table.columns), dtype=np.int64)
        tallies = np.empty((2, int(table.n_categories.max(initial=0))))
        select_growing(table.orders, table.known, table.n_categories, growing, current, counts)
        settings, n_rows = options.as_tuple(), len(rows)
        conditions: list[tuple[int, int, float]] = []
        while len(conditions) < options.most_conditions:
            kind, place, value, covered = best_condition(
                table.columns,
                current,
                counts,
                table.n_categories,
                rows[:n_rows],
                *sides,
                used,
                settings,
                tallies,
            )
            if kind < 0 or covered < options.least_positives:
                break
            conditions.append((kind, place, value))
            # A column may be bounded many times; a second category of it would cover nothing.
            used[place] = 1
            n_rows = shrink(
                kind, value, table.columns[place], rows, n_rows, current, counts, growing
            )
        return conditions

    def prefix_counts(
        self, conjunction: Conjunction, rows: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Return the weights of positives and negatives that each prefix covers."""
        counts = np.zeros((len(conjunction) + 1, 2))
        prefix_counts(
            conjunction.kinds,
            conjunction.places,
            conjunction.values,
            self.table.columns,
            rows,
            self.positive,
            self.weights,
            counts,
        )
        return counts

    def shortened(self, conjunction: Conjunction, length: int) -> Conjunction:
        """Return the first conditions alone."""
        if length == len(conjunction):
            return conjunction
        return self.conjunction(
            conjunction.kinds[:length], conjunction.places[:length], conjunction.values[:length]
        )

    def weight_of(self, rows: NDArray[np.int32]) -> tuple[float, float]:
        """Return the weight of the positives and of the negatives among the rows."""
        return side_weights(rows, self.positive, self.weights)


def sort_columns(rows: NDArray[np.float64], n_categories: NDArray[np.int32]) -> SortedColumns:
    """Return the columns of an encoded table, each sorted."""
    # A copy even of one column: a read-only table would have the loops compiled anew.
    columns = np.array(rows.T, order="C")
    orders = np.argsort(columns, axis=1, kind="stable").astype(np.int32)
    known = np.count_nonzero(~np.isnan(columns), axis=1)
    choices = 0.0
    for column, order, count, categories in zip(columns, orders, known, n_categories, strict=True):
        if categories:
            choices += 2.0 * categories
        elif count:
            # Each distinct value may bound from above and from below.
            ordered = column[order[:count]]
            choices += 2.0 * (1 + np.count_nonzero(ordered[1:] != ordered[:-1]))
    return SortedColumns(columns, orders, known, n_categories.astype(np.int64), choices)


def without_redundancy(conjunction: Conjunction) -> Conjunction:
    """Return the conjunction with the tightest bound alone of each side of each column."""
    tightest: dict[tuple[int, int], int] = {}
    for i, (kind, place) in enumerate(zip(conjunction.kinds, conjunction.places, strict=True)):
        key = (int(kind), int(place))
        earlier = tightest.get(key)
        if earlier is None:
            tightest[key] = i
            continue
        here, there = conjunction.values[i], conjunction.values[earlier]
        if (kind == AT_MOST and here < there) or (kind == AT_LEAST and here > there):
            tightest[key] = i
    needed = sorted(tightest.values())
    return replace(
        conjunction,
        kinds=conjunction.kinds[needed],
        places=conjunction.places[needed],
        values=conjunction.values[needed],
    )
