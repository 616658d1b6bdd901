"""Nearest-neighbour search among rows that are no vectors: mixed tables, categories, objects.

Tables are compared by Gower's distance, categories by Hamming's with weights, objects such as
strings by any function of two of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from verulam.base import (
    DataError,
    EncodedTable,
    TableSchema,
    as_frame,
    check_same_kinds,
    encode_table,
    read_schema,
)
from verulam.nonparametric._neighbours.brute_search import (
    Neighbours,
    check_neighbour_count,
    nearest_by_distances,
)
from verulam.numerics import njit

Comparison = Callable[[Any, Any], float]


@dataclass(frozen=True)
class GowerIndex:
    r"""Stored rows of a mixed table, ready to be searched.

    Attributes
    ----------
    table : EncodedTable
        The stored rows.
    scales : ndarray
        One over the range of each numeric column, 0 where it is constant.
    weights : ndarray
        Weight of each column, numeric ones first.

    Notes
    -----
    The distance is the weighted mean over columns of :math:`|a - b| / \text{range}` for numbers
    (at most 1) and of :math:`[a \ne b]` for categories, which on its own is Hamming's distance.
    Columns where either row has a gap are left out.
    """

    table: EncodedTable
    scales: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.table)

    def query(self, queries: EncodedTable, k: int) -> Neighbours:
        """Return the `k` nearest stored rows of each query."""
        return nearest_by_distances(self.measure, queries, k)

    def measure(self, queries: EncodedTable) -> np.ndarray:
        """Return the distance of each query to each stored row."""
        n_numeric, n_codes = queries.numbers.shape[1], queries.codes.shape[1]
        stored = self.table
        if (
            stored.numbers.shape != (len(self), n_numeric)
            or stored.codes.shape != (len(self), n_codes)
            or (len(self.scales), len(self.weights)) != (n_numeric, n_numeric + n_codes)
        ):
            raise DataError("queries: the stored rows have other columns.")
        return gower_distances(
            np.ascontiguousarray(queries.numbers),
            np.ascontiguousarray(queries.codes),
            self.table.numbers,
            self.table.codes,
            self.scales,
            self.weights,
        )


def gower_index(X: Any, column_weights: np.ndarray | None = None) -> GowerIndex:
    """Return an index over the rows of a table; `column_weights` are in its order of columns."""
    frame = as_frame(X)
    schema = read_schema(frame)
    table = encode_table(frame, schema)
    infinite = np.isinf(table.numbers)
    if infinite.any():
        raise DataError("X contains infinity.")
    low = np.nanmin(table.numbers, axis=0, initial=np.inf)
    high = np.nanmax(table.numbers, axis=0, initial=-np.inf)
    ranges = np.where(high > low, high - low, 0.0)
    scales = np.divide(1.0, ranges, out=np.zeros_like(ranges), where=ranges > 0)
    weights = np.ones(len(schema.names)) if column_weights is None else column_weights
    return GowerIndex(table, scales, _numeric_first(schema, weights))


def encode_queries(X: Any, schema: TableSchema) -> EncodedTable:
    """Return rows as the stored ones are; an unknown category differs from all."""
    frame = as_frame(X)
    check_same_kinds(schema, frame)
    table = encode_table(frame, schema, unseen="missing")
    codes = table.codes.copy()
    names = list(schema.categorical)
    for place, name in enumerate(names):
        # A code beyond all stored ones: equal to none of them, and no gap.
        stray = (codes[:, place] < 0) & frame[name].notna().to_numpy()
        codes[stray, place] = len(schema.categories_of(name))
    return EncodedTable(schema, table.numbers, codes)


def _numeric_first(schema: TableSchema, weights: np.ndarray) -> np.ndarray:
    by_name = dict(zip(schema.names, weights, strict=True))
    return np.array([by_name[name] for name in (*schema.numeric, *schema.categorical)], dtype=float)


@njit(cache=True, nogil=True, error_model="numpy")
def gower_distances(numbers, codes, stored_numbers, stored_codes, scales, weights):
    """Return Gower's distances: the weighted mean of differences over the columns both have."""
    n_numeric, n_codes = numbers.shape[1], codes.shape[1]
    distances = np.empty((len(numbers), len(stored_numbers)))
    for query in range(len(numbers)):
        for row in range(len(stored_numbers)):
            total = 0.0
            weight_sum = 0.0
            for column in range(n_numeric):
                difference = abs(numbers[query, column] - stored_numbers[row, column])
                if not np.isnan(difference):
                    total += weights[column] * min(difference * scales[column], 1.0)
                    weight_sum += weights[column]
            for column in range(n_codes):
                code, stored_code = codes[query, column], stored_codes[row, column]
                if code != -1 and stored_code != -1:
                    weight = weights[n_numeric + column]
                    total += weight * (code != stored_code)
                    weight_sum += weight
            # Two rows without a column in common are as far apart as can be.
            distances[query, row] = total / weight_sum if weight_sum > 0.0 else 1.0
    return distances


@dataclass(frozen=True)
class WeightedHamming:
    """Stored rows, ready to be searched by the share of the columns' weights that differ.

    Attributes
    ----------
    stored : ndarray of shape (n_rows, n_columns)
        The rows.
    weights : ndarray of shape (n_columns,)
        Importance of each column.
    """

    stored: np.ndarray
    weights: np.ndarray

    def query(self, queries: np.ndarray, k: int) -> Neighbours:
        """Return the `k` nearest stored rows of each query."""
        return nearest_by_distances(
            lambda few: cdist(few, self.stored, "hamming", w=self.weights), queries, k
        )


def objects_of(X: Any) -> np.ndarray | None:
    """Return the objects in an array of one dimension, or None where X is a table of numbers.

    Sequences of different lengths are objects, too.

    Examples
    --------
    >>> objects_of(["cat", "cart"])
    array(['cat', 'cart'], dtype=object)
    >>> objects_of([[1.0, 2.0], [3.0, 4.0]]) is None
    True
    """
    if isinstance(X, np.ndarray | pd.Series):
        array = np.asarray(X)
        return array.astype(object) if array.ndim == 1 and array.dtype.kind in "OUS" else None
    if not isinstance(X, list | tuple) or not X:
        return None
    try:
        np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        objects = np.empty(len(X), dtype=object)
        objects[:] = X if np.ndim(X[0]) == 0 else [*X]
        return objects
    return None


def compare_objects(function: Comparison, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the function of each object of the first with each of the second."""
    table = np.array(
        [[function(one, other) for other in second] for one in first], dtype=np.float64
    ).reshape(len(first), len(second))
    if np.isnan(table).any():
        raise DataError("The function must return a number for every pair of objects.")
    return table


@dataclass(frozen=True)
class ObjectIndex:
    """Stored objects, ready to be searched.

    Attributes
    ----------
    stored
        The objects.
    metric
        Distance of two of them.
    """

    stored: np.ndarray
    metric: Comparison

    def query(self, queries: Any, k: int) -> Neighbours:
        """Return the `k` nearest stored objects of each query."""
        objects = as_queries(queries)
        check_neighbour_count(k, len(self.stored))
        return nearest_by_distances(
            lambda few: compare_objects(self.metric, few, self.stored), objects, k
        )


def as_queries(X: Any) -> np.ndarray:
    """Return the objects of a query, or say that there are none."""
    objects = objects_of(X)
    if objects is None:
        raise DataError(
            "X must be a list of objects, such as strings, because the training data were one."
        )
    return objects
