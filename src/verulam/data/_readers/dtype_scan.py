"""A first run over the chunks of a file, to give every chunk the same dtypes."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from verulam.data._table.columns import (
    MAX_CATEGORIES,
    are_dates,
    boolean_dtype,
    has_few_values,
    kind_of,
    parsed_dates,
)


@dataclass
class ColumnScan:
    """What has been seen of a column so far; constant memory, however long the file.

    Attributes
    ----------
    keep_all
        Whether every distinct string is kept: for columns known to be categories.
    """

    keep_all: bool = False
    kinds: set[str] = field(default_factory=set)
    is_whole: bool = True
    has_missing: bool = False
    are_dates: bool = True
    is_ordered: bool = False
    n_present: int = 0
    values: dict[Any, None] = field(default_factory=dict)

    def see(self, column: pd.Series) -> None:
        """Take one chunk into account."""
        present = column.dropna()
        self.n_present += len(present)
        self.has_missing |= len(present) < len(column)
        if isinstance(column.dtype, pd.CategoricalDtype):
            self.kinds.add("categorical")
            self.is_ordered |= bool(column.cat.ordered)
            self.values |= dict.fromkeys(column.cat.categories)
            return
        if present.empty:
            return
        kind = kind_of(present.infer_objects())
        self.kinds.add(kind)
        if kind == "numeric":
            self.is_whole &= pd.api.types.is_integer_dtype(column.dtype) or bool(
                # Next to missing values pandas stores integers as floats.
                len(present) < len(column) and (present == present.round()).all()
            )
        if self.keep_all or (kind == "text" and len(self.values) <= MAX_CATEGORIES):
            self.values |= dict.fromkeys(present.unique())
        if kind == "text":
            self.are_dates = self.are_dates and are_dates(present)

    def dtype(self) -> Any:
        """Return the dtype for all chunks: a NumPy or category dtype, or ``object`` for text."""
        if not self.kinds:
            return np.dtype("float64")
        if self.keep_all or "categorical" in self.kinds:
            values = list(self.values) if self.is_ordered else sorted(self.values, key=_sort_key)
            return pd.CategoricalDtype(values, ordered=self.is_ordered)
        if self.kinds == {"boolean"}:
            return boolean_dtype(has_missing=self.has_missing)
        if self.kinds == {"numeric"}:
            return np.dtype("int64" if self.is_whole and not self.has_missing else "float64")
        if self.kinds == {"date"} or self.are_dates:
            return np.dtype("datetime64[us]")
        if has_few_values(len(self.values), self.n_present):
            return pd.CategoricalDtype(sorted(self.values))
        return np.dtype(object)


def scan(chunks: Iterable[pd.DataFrame], categorical: Collection[str]) -> dict[str, ColumnScan]:
    """Return what each column of all chunks holds."""
    scans: dict[str, ColumnScan] = {}
    for chunk in chunks:
        for name in chunk.columns:
            scans.setdefault(name, ColumnScan(keep_all=name in categorical)).see(chunk[name])
    return scans


def conformed(column: pd.Series, dtype: Any) -> pd.Series:
    """Return one chunk of a column with the dtype that all chunks share."""
    if column.dtype == dtype:
        return column
    if dtype == np.dtype(object):
        return column
    if isinstance(dtype, np.dtype) and dtype.kind == "M":
        return parsed_dates(column) if kind_of(column) == "text" else column.astype(dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        return column.astype(object).astype(dtype)
    return column.astype(dtype)


def _sort_key(value: Any) -> tuple[str, Any]:
    # Numbers sort as numbers, strings as strings, and never one against the other.
    return ("number", value) if isinstance(value, int | float | np.number) else ("text", str(value))
