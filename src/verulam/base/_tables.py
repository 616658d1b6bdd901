"""Tables of mixed columns, encoded once for the learners that can use categories.

A pandas column of dtype ``category`` or ``bool`` is categorical; numbers are numeric; text and
dates are refused with the encoder to put in front. Missing entries become NaN, or code -1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base._errors import DataError, nearest_names
from verulam.base._inputs import refuse_dates, refuse_duplicate_names

Column = str | int


@dataclass(frozen=True)
class TableSchema:
    """Names and kinds of the columns, and the categories of those that have them.

    Attributes
    ----------
    names
        Column names, or positions where the table has none.
    categories
        For each column its categories in order, or None for a numeric column.
    """

    names: tuple[Column, ...]
    categories: tuple[np.ndarray | None, ...]

    @property
    def numeric(self) -> tuple[Column, ...]:
        """The names of the numeric columns."""
        pairs = zip(self.names, self.categories, strict=True)
        return tuple(name for name, categories in pairs if categories is None)

    @property
    def categorical(self) -> tuple[Column, ...]:
        """The names of the categorical columns."""
        pairs = zip(self.names, self.categories, strict=True)
        return tuple(name for name, categories in pairs if categories is not None)

    def categories_of(self, name: Column) -> np.ndarray:
        """Return the categories of one categorical column."""
        categories = self.categories[self.names.index(name)]
        if categories is None:
            raise ValueError(f"Column {name!r} is numeric and has no categories.")
        return categories


@dataclass(frozen=True)
class EncodedTable:
    """The rows of a mixed table as two arrays.

    Attributes
    ----------
    schema
        What the columns mean.
    numbers : ndarray of shape (n_rows, n_numeric)
        Numeric columns; NaN where missing.
    codes : ndarray of shape (n_rows, n_categorical)
        Position of each category in the schema; -1 where missing.
    """

    schema: TableSchema
    numbers: np.ndarray
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: slice) -> "EncodedTable":
        return EncodedTable(self.schema, self.numbers[rows], self.codes[rows])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the table."""
        return len(self), len(self.schema.names)


def as_frame(X: Any) -> pd.DataFrame:
    """Return a table with columns, whatever two-dimensional data was given."""
    if isinstance(X, pd.DataFrame):
        refuse_duplicate_names(X.columns)
        return X
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: "
            "X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        )
    frame = pd.DataFrame(array)
    return frame.infer_objects() if array.dtype == object else frame


def read_schema(frame: pd.DataFrame, categorical: Sequence[Column] = ()) -> TableSchema:
    """Return the schema of a table, taking the columns named in `categorical` as categories."""
    refuse_duplicate_names(frame.columns)
    unknown = [name for name in categorical if name not in frame.columns]
    if unknown:
        nearest = nearest_names(str(unknown[0]), [str(name) for name in frame.columns])
        raise DataError(f"There is no column {unknown[0]!r}. Nearest: {', '.join(nearest)}.")
    categories: list[np.ndarray | None] = []
    for name in frame.columns:
        column = frame[name]
        if name in categorical or is_categorical(column):
            categories.append(_categories(column))
        else:
            _refuse_unusable(name, column)
            categories.append(None)
    return TableSchema(tuple(frame.columns), tuple(categories))


def encode_table(
    frame: pd.DataFrame, schema: TableSchema, *, unseen: str = "error", advice: str = ""
) -> EncodedTable:
    """Return the table as numbers and category codes.

    Parameters
    ----------
    frame
        A table with the columns of the schema, in its order.
    schema
        The schema found in training.
    unseen
        What to do with a category that the schema does not know: "error", or "missing" to
        encode it as a missing entry.
    advice
        What the message about such a category ends with.
    """
    numbers = np.empty((len(frame), len(schema.numeric)))
    codes = np.empty((len(frame), len(schema.categorical)), dtype=np.int32)
    n_numeric = n_categorical = 0
    for name, categories in zip(schema.names, schema.categories, strict=True):
        column = frame[name]
        if categories is None:
            numbers[:, n_numeric] = _as_numbers(name, column)
            n_numeric += 1
        else:
            codes[:, n_categorical] = _as_codes(name, column, categories, unseen, advice)
            n_categorical += 1
    return EncodedTable(schema, numbers, codes)


def is_categorical(column: pd.Series) -> bool:
    """Tell whether a column declares itself categorical."""
    return isinstance(column.dtype, pd.CategoricalDtype) or _is_boolean(column)


def _is_boolean(column: pd.Series) -> bool:
    if column.dtype == object:  # where pandas keeps booleans beside missing values
        return pd.api.types.infer_dtype(column, skipna=True) == "boolean"
    return pd.api.types.is_bool_dtype(column)


def _categories(column: pd.Series) -> np.ndarray:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return np.asarray(column.dtype.categories)
    if _is_boolean(column):
        return np.array([False, True])
    return np.sort(np.asarray(column.dropna().unique()))


def _refuse_unusable(name: Column, column: pd.Series) -> None:
    if pd.api.types.is_numeric_dtype(column):
        return
    if column.isna().all():
        return
    refuse_dates(name, column)
    values = column.dropna()
    words = values[pd.to_numeric(values, errors="coerce").isna()]
    example = (words if len(words) else values).iloc[0]
    raise DataError(
        f"Column {name!r} holds text, such as {str(example)[:40]!r}. If its values are categories, "
        f"convert it with X[{name!r}].astype('category'); otherwise put an encoder such as "
        "sklearn.feature_extraction.text.CountVectorizer in front."
    )


def _as_numbers(name: Column, column: pd.Series) -> np.ndarray:
    try:
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"Column {name!r} was numeric in training and is now of type {column.dtype}."
        ) from error
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise DataError(f"Column {name!r} contains infinity, first at row {row}.")
    return numbers


def _as_codes(
    name: Column, column: pd.Series, categories: np.ndarray, unseen: str, advice: str
) -> np.ndarray:
    known = pd.Index(categories)
    if isinstance(column.dtype, pd.CategoricalDtype):
        positions = known.get_indexer(column.dtype.categories)
        # The last entry is what code -1, a missing value, is looked up as.
        codes = np.append(positions, -1)[column.cat.codes.to_numpy()]
    else:
        codes = known.get_indexer(pd.Index(column))
    codes = codes.astype(np.int32)
    stray = (codes < 0) & column.notna().to_numpy()
    if stray.any() and unseen == "error":
        value = column.iloc[int(np.argmax(stray))]
        shown = ", ".join(map(str, categories[:8])) + (", ..." if len(categories) > 8 else "")
        raise DataError(
            f"Column {name!r} has the category {value!r}, which was not there in training "
            f"(known: {shown}).{advice}"
        )
    return codes


def check_same_kinds(expected: TableSchema, frame: pd.DataFrame) -> None:
    """Raise where a column has turned from numbers to categories."""
    for name, categories in zip(expected.names, expected.categories, strict=True):
        if categories is None and isinstance(frame[name].dtype, pd.CategoricalDtype):
            raise DataError(f"Column {name!r} was numeric in training and is now categorical.")


def named_kinds(kinds: Mapping[Column, str], kind: str) -> list[Column]:
    """Return the columns that a mapping declares to be of one kind."""
    return [name for name, declared in kinds.items() if declared == kind]
