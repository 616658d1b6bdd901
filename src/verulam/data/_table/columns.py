"""What kind of values a column holds, and the one form in which each kind is kept."""

import re
from collections.abc import Sequence
from datetime import time
from typing import Any, Literal

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.data._table.written_values import (
    Reading,
    join_spellings,
    joined_spellings,
    read_dates,
    read_numbers,
    read_times,
    scale_of,
    spans_in_days,
)

Kind = Literal["numeric", "categorical", "ordinal", "boolean", "text", "date"]

#: A column of strings with at most this many distinct values may be a category.
MAX_CATEGORIES = 100

_ISO_DATE = (
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z| ?UTC| ?[+-]\d{2}:?\d{2})?)?"
)
#: What data bases write where there is no date.
_NO_DATES = ("0000-00-00", "0000-00-00 00:00:00")
#: A cell that a spreadsheet wrote so that it stays text, such as a code with a zero in front.
_FORCED_TEXT = r'="([^"]*)"'
_DIGIT = re.compile(r"\d")


def kind_of(column: pd.Series) -> Kind:
    """Return the kind that the dtype of a normalised column stands for."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "ordinal" if dtype.ordered else "categorical"
    if pd.api.types.is_bool_dtype(dtype):
        return "boolean"
    if pd.api.types.is_numeric_dtype(dtype):
        return "numeric"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "date"
    return "text"


def normalised(column: pd.Series) -> Reading:
    """Return `column` in the form its kind is kept in, and what was read into its strings.

    Numbers become NumPy numbers with NaN for missing, truth values NumPy booleans (a category
    where some are missing), dates ``datetime64[us]`` in UTC, strings a category where few differ.
    """
    dtype = column.dtype
    if pd.api.types.is_string_dtype(dtype) and not pd.api.types.is_object_dtype(dtype):
        return _strings(column)
    if (
        pd.api.types.is_object_dtype(dtype)
        and pd.api.types.infer_dtype(column, skipna=True) == "string"
    ):
        return _strings(column)
    if pd.api.types.is_timedelta64_dtype(dtype):
        return Reading(spans_in_days(column), "time spans, in days")
    if pd.api.types.is_object_dtype(dtype) and pd.api.types.infer_dtype(column) == "time":
        return _strings(column.map(time.isoformat, na_action="ignore"))
    return Reading(_normalised_values(column), "")


def _normalised_values(column: pd.Series) -> pd.Series:
    """Return a column of anything but strings in the form its kind is kept in."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _plain_categories(column)
    if pd.api.types.is_bool_dtype(dtype):
        return _booleans(column)
    if pd.api.types.is_complex_dtype(dtype):
        raise DataError(
            f"Column {column.name!r} has dtype {dtype}; convert it to real numbers first."
        )
    if pd.api.types.is_numeric_dtype(dtype):
        return _numbers(column)
    if isinstance(dtype, pd.PeriodDtype):
        return _dates(column.dt.to_timestamp())
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return _dates(column)
    return _objects(column.astype(object))


def as_category(
    column: pd.Series, levels: Sequence[Any] | None = None, *, ordered: bool = False
) -> pd.Series:
    """Return `column` as a category, with the given `levels` or those that occur.

    Raises
    ------
    DataError
        If a value is none of the levels; it would silently become missing.
    """
    if levels is None:
        return _plain_categories(column.astype("category"))
    stray = column[column.notna() & ~column.isin(list(levels))]
    if len(stray):
        raise DataError(
            f"Column {column.name!r} has the value {stray.iloc[0]!r} in row {stray.index[0]} "
            f"(counted from 0), which is none of its levels {list(levels)}."
        )
    values = column.astype(object)
    return values.astype(pd.CategoricalDtype(list(levels), ordered=ordered))


def has_few_values(n_distinct: int, n_present: int) -> bool:
    """Tell whether that many distinct strings among that many look like categories.

    At most two distinct values, or at most 100 that occur twice on average.
    """
    return n_distinct <= 2 or (n_distinct <= MAX_CATEGORIES and 2 * n_distinct <= n_present)


def are_dates(present: pd.Series) -> bool:
    """Tell whether all of these strings are ISO dates, such as 2024-02-29 or 2024-02-29 12:30."""
    if present.empty:
        return False
    looks = all(re.fullmatch(_ISO_DATE, text) for text in present.iloc[:20])
    # A string such as 2023-02-30 looks like a date and is none.
    return looks and bool(
        present.str.fullmatch(_ISO_DATE).all() and parsed_dates(present).notna().all()
    )


def parsed_dates(column: pd.Series) -> pd.Series:
    """Return ISO dates as dates, missing where a string is none."""
    column = column.str.replace(r" ?UTC$", "Z", regex=True)
    return _dates(pd.to_datetime(column, format="ISO8601", errors="coerce", utc=True))


def boolean_dtype(*, has_missing: bool) -> Any:
    """Return the dtype of truth values: NumPy's bool has no missing value, a category has."""
    return pd.CategoricalDtype([False, True]) if has_missing else np.dtype(bool)


def _numbers(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, np.dtype):
        # Numbers longer than 8 bytes differ from platform to platform.
        is_long = column.dtype.itemsize > 8
        return column.astype("float64" if is_long else column.dtype.newbyteorder("="))
    if column.isna().any() or pd.api.types.is_float_dtype(column.dtype):
        return column.astype("float64")
    return column.astype("int64")


def _booleans(column: pd.Series) -> pd.Series:
    return column.astype(object).astype(boolean_dtype(has_missing=bool(column.isna().any())))


def _dates(column: pd.Series) -> pd.Series:
    if not isinstance(column.dtype, np.dtype | pd.DatetimeTZDtype):  # of Arrow
        column = pd.Series(column.to_numpy("datetime64[us]"), column.index, name=column.name)
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    return column.astype("datetime64[us]")


def _plain_categories(column: pd.Series) -> pd.Series:
    """Return a category whose categories are numbers, strings or truth values."""
    categories = column.cat.categories
    inferred = pd.api.types.infer_dtype(categories, skipna=False)
    if inferred in {"string", "integer", "floating", "boolean", "empty", "mixed-integer-float"}:
        return column
    labels = [str(category) for category in categories]
    if len(set(labels)) < len(labels):
        raise DataError(
            f"Column {column.name!r} has categories that read the same, such as 1 and '1'."
        )
    return column.cat.rename_categories(labels)


def _objects(column: pd.Series) -> pd.Series:
    """Return a column of Python objects as the kind that all of them have."""
    inferred = pd.api.types.infer_dtype(column, skipna=True)
    if inferred == "empty":
        return column.astype("float64")
    if inferred == "boolean":
        return _booleans(column)
    if inferred in {"integer", "floating", "mixed-integer-float", "decimal"}:
        numbers = pd.to_numeric(column.where(column.notna(), np.nan))
        # Whole numbers beyond 64 bits are left as objects.
        return _numbers(numbers.astype("float64") if numbers.dtype == object else numbers)
    if inferred in {"date", "datetime", "datetime64"}:
        return _dates(pd.to_datetime(column))
    present = column.dropna()
    types = sorted({type(value).__name__ for value in present})
    raise DataError(
        f"Column {column.name!r} holds values of type {' and '.join(types)}; "
        "convert it to one type: numbers, strings, truth values or dates."
    )


def _strings(column: pd.Series) -> Reading:
    """Return strings as the dates, numbers or categories that all of them are, else as text."""
    if (words := _plain_words(column)) is not None:
        return words
    present = column.dropna()
    # Spaces of any kind alone are a gap.
    if present.str.isspace().eq(True).any():
        # Strings among objects have truth values among objects, which `~` would turn into numbers.
        column = column.mask(column.str.isspace().eq(True))
        present = column.dropna()
    if present.empty:
        return Reading(column.astype("float64"), "")
    if present.iloc[0].startswith('="') and present.str.fullmatch(_FORCED_TEXT).all():
        inner = _strings(column.str.extract(_FORCED_TEXT, expand=False).replace("", np.nan))
        note = f"text, written as {present.iloc[0]!r}"
        return Reading(inner.values, ", ".join(filter(None, [note, inner.note])), inner.form)
    if are_dates(present[~present.isin(_NO_DATES)]):
        return Reading(parsed_dates(column), "")
    reading = read_numbers(column) or read_dates(column) or read_times(column)
    if reading is not None:
        return reading
    # One more than the limit is enough to know: a column of long texts is not counted in full.
    head_distinct = present.iloc[: 100 * MAX_CATEGORIES].nunique()
    if head_distinct <= MAX_CATEGORIES and has_few_values(present.nunique(), len(present)):
        return _words(column)
    return Reading(column, "")


def _plain_words(column: pd.Series) -> Reading | None:
    """Return few words that differ in more than spelling as categories; None of other strings.

    What the others may be is asked of each string, and here of the different ones alone.
    """
    head = 100 * MAX_CATEGORIES
    if len(column) > head and column.iloc[:head].nunique() > MAX_CATEGORIES:
        return None
    codes, words = pd.factorize(column)
    if not has_few_values(len(words), int(np.count_nonzero(codes >= 0))):
        return None
    texts = list(words)
    # Numbers, dates and times are such where all strings have digits.
    if all(map(_DIGIT.search, texts)) or any(map(_is_odd, texts)) or joined_spellings(texts):
        return None
    order = sorted(range(len(texts)), key=texts.__getitem__)
    places = np.empty(len(texts) + 1, np.int64)
    places[order], places[-1] = np.arange(len(texts)), -1
    values = pd.Categorical.from_codes(places[codes], pd.Index(sorted(texts)))
    return _ordered(pd.Series(values, column.index, name=column.name), "")


def _is_odd(text: str) -> bool:
    """Tell whether a string is a gap, or one that a spreadsheet forced to be text."""
    return text.isspace() or text.startswith('="')


def _words(column: pd.Series) -> Reading:
    """Return strings, few of them different, as categories, ordered where they are a scale."""
    joined = join_spellings(column)
    return _ordered(_plain_categories(joined.values.astype("category")), joined.note)


def _ordered(categories: pd.Series, remark: str) -> Reading:
    """Return categories, in the order that they stand for where they are a scale."""
    levels = scale_of(list(categories.cat.categories))
    if levels is None:
        return Reading(categories, remark)
    note = f"ordered: {' < '.join(levels)}"
    ordered = categories.cat.set_categories(levels, ordered=True)
    return Reading(ordered, ", ".join(filter(None, [remark, note])))
