"""Gower's distance for tables of numbers and categories, with gaps."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import (
    DataError,
    EncodedTable,
    TableSchema,
    as_frame,
    check_same_kinds,
    encode_table,
    read_schema,
)
from verulam.nonparametric._neighbours.index import Neighbours, nearest_by_distances
from verulam.nonparametric._neighbours.index_loops import mixed_distances


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
        return mixed_distances(
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
        stray = (codes[:, place] < 0) & frame[name].notna().to_numpy()
        codes[stray, place] = len(schema.categories_of(name))
    return EncodedTable(schema, table.numbers, codes)


def _numeric_first(schema: TableSchema, weights: np.ndarray) -> np.ndarray:
    by_name = dict(zip(schema.names, weights, strict=True))
    return np.array([by_name[name] for name in (*schema.numeric, *schema.categorical)], dtype=float)
