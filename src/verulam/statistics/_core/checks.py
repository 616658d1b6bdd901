"""Checks that every test shares, each with a message that says what would be accepted."""

from collections.abc import Mapping, Sequence, Sized
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError

Vector = NDArray[np.float64]
ALTERNATIVES = ("two-sided", "less", "greater")
#: Numbers between these have squares, and sums of squares, that a double holds.
LARGEST, SMALLEST = 1e150, 1e-150


def checked_alternative(alternative: str) -> None:
    """Raise unless the alternative is one of the three."""
    if alternative not in ALTERNATIVES:
        raise ValueError(
            f"alternative must be one of {', '.join(ALTERNATIVES)}, got {alternative!r}."
        )


def checked_option(value: str, name: str, known: Sequence[str]) -> None:
    """Raise unless a named option is known."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}.")


def checked_number(value: Any, name: str) -> float:
    """Return a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be a number, but is {value!r}.") from error
    if not np.isfinite(number):
        raise DataError(f"{name} must be a finite number, but is {value}.")
    return number


def checked_level(value: float, name: str = "alpha") -> float:
    """Return a probability strictly between zero and one."""
    if not 0 < checked_number(value, name) < 1:
        raise DataError(f"{name} must lie strictly between 0 and 1, but is {value}.")
    return float(value)


def checked_positive(value: float, name: str) -> float:
    """Return a positive finite number."""
    if not checked_number(value, name) > 0:
        raise DataError(f"{name} must be positive, but is {value}.")
    return float(value)


def checked_count(value: float, name: str, minimum: int = 0) -> int:
    """Return a whole number that is not negative, nor below the minimum."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number) or number != np.floor(number) or number < 0:
        raise DataError(f"{name} must be a whole number, not negative, but is {value!r}.")
    if number < minimum:
        raise DataError(f"{name} is {value}: at least {minimum} is needed.")
    return int(value)


def checked_p_values(p_values: ArrayLike) -> Vector:
    """Return p-values, refusing what is no probability."""
    values = sample(p_values, "p_values", 1)
    if (values < 0).any() or (values > 1).any():
        row = int(np.argmax((values < 0) | (values > 1)))
        raise DataError(f"p_values must lie in [0, 1], but entry {row} is {values[row]}.")
    return values


def numbers(values: Any, name: str) -> Vector:
    """Return an array of finite numbers whose squares are finite."""
    array = any_numbers(values, name)
    refuse_missing(array, name)
    return array


def any_numbers(values: Any, name: str) -> Vector:
    """Return an array of numbers, of which some may be missing or infinite."""
    lengths = unequal_lengths(values)
    if lengths:
        raise DataError(f"{name} must hold numbers, but holds lists of {lengths} values.")
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must hold numbers: {error}.") from error


def label_column(values: Any, name: str) -> NDArray[Any]:
    """Return an array of labels, one for each instance unless the caller checks its shape."""
    lengths = unequal_lengths(values)
    if lengths:
        raise DataError(f"{name} must be one column, but holds lists of {lengths} values.")
    return np.asarray(values)


def unequal_lengths(values: Any) -> str:
    """Return the lengths of lists that no table can hold, in words; empty where it can."""
    if not isinstance(values, list | tuple):
        return ""
    lengths = [len(part) for part in values if isinstance(part, Sized) and not _is_text(part)]
    if len(set(lengths)) < 2:
        return ""
    *first, last = (str(length) for length in lengths)
    return f"{', '.join(first)} and {last}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str | bytes)


def sample(values: ArrayLike, name: str, minimum: int = 2, what: str = "values") -> Vector:
    """Return one column of at least `minimum` finite numbers."""
    array = numbers(values, name)
    if array.ndim != 1:
        raise DataError(f"{name} must have one dimension, but its shape is {array.shape}.")
    if len(array) < minimum:
        raise too_few(len(array), name, minimum, what)
    return array


def too_few(count: int, name: str, minimum: int, what: str) -> DataError:
    """Return the error that says how many there are, and how many are needed."""
    needed = "is" if minimum == 1 else "are"
    return DataError(f"{name} has {counted(count, what)}: at least {minimum} {needed} needed.")


def counted(count: int, what: str) -> str:
    """Return a number with its noun, whose plural is given."""
    return f"{count} {what.removesuffix('s') if count == 1 else what}"


def refuse_missing(array: NDArray[Any], name: str) -> None:
    """Raise for the first row that holds NaN, infinity, or what has no square."""
    bad = ~np.isfinite(array)
    if bad.any():
        raise DataError(f"{name} has a missing or infinite value in {_first_place(bad)}.")
    huge = np.abs(array) > LARGEST
    if huge.any():
        raise DataError(
            f"{name} has a value too large to be squared in {_first_place(huge)}: divide all by "
            "a constant first."
        )


def _first_place(mask: NDArray[np.bool_]) -> str:
    place = np.argwhere(mask)[0]
    if not len(place):
        return "it"
    return f"row {place[0]}" + (f", column {place[1]}" if len(place) > 1 else "")


def pair(
    first: ArrayLike, second: ArrayLike, minimum: int = 2, what: str = "values"
) -> tuple[Vector, Vector]:
    """Return two columns of equal length: the same splits or data sets for both learners."""
    if isinstance(first, pd.Series) and isinstance(second, pd.Series):
        second = in_the_order_of(first, second)
    one, other = sample(first, "first", 0, what), sample(second, "second", 0, what)
    if len(one) != len(other):
        raise DataError(
            f"first has {counted(len(one), 'values')} and second has {len(other)}: a paired test "
            "needs the same splits for both."
        )
    if len(one) < minimum:
        raise too_few(len(one), "Each of both", minimum, what)
    return one, other


def in_the_order_of(first: pd.Series, second: pd.Series) -> pd.Series:
    """Return the second series with its labels in the order of the first.

    Series that have no label in common, such as two parts of one long table, stay as they are.
    """
    if len(first) != len(second) or first.index.equals(second.index):
        return second
    if not first.index.isin(second.index).any():
        return second
    if first.index.is_unique and second.index.is_unique and first.index.isin(second.index).all():
        return second.loc[first.index]
    raise DataError(
        "first and second share some labels of their index, but not all: give both the same "
        "labels, or pair them by position with first.to_numpy()."
    )


def rounded(values: Vector, scale: ArrayLike) -> Vector:
    """Return values to twelve digits of `scale`, so that decimals that tie on paper tie."""
    size = np.asarray(scale, dtype=np.float64)
    # Scores that agree to twelve digits differ by the order of a sum; ranks must not see that.
    step = 10.0 ** (np.floor(np.log10(np.where(size > 0, size, 1.0))) - 11)
    return np.round(values / step) * step


def power_of_two(size: float) -> float:
    """Return the largest power of two up to a positive number: a unit whose division is exact."""
    return float(np.ldexp(0.5, np.frexp(size)[1]))


def varying(values: Vector, what: str) -> None:
    """Raise when all values are equal up to rounding, so that nothing can be divided by."""
    scale = max(1e-300, float(np.abs(values).max()))
    if np.ptp(values) <= 1e-12 * scale:
        raise DataError(
            f"All {what} equal {values[0]:.6g}: with zero variance the statistic is undefined."
        )
    if np.ptp(values) < SMALLEST:
        raise DataError(
            f"The {what} are too small to be squared: multiply all by a constant first."
        )


def result_table(
    table: ArrayLike | pd.DataFrame,
    *,
    name: str = "table",
    rows: str = "data sets",
    minimum_rows: int = 2,
    minimum_columns: int = 2,
) -> pd.DataFrame:
    """Return a table with one column per learner, checked for holes and size."""
    wish = f"{name} must hold numbers, a row for each of the {rows} and a column for each learner"
    columns = list(table.values()) if isinstance(table, Mapping) else None
    lengths = unequal_lengths(table if columns is None else columns)
    if lengths:
        parts = "rows" if columns is None else "columns"
        raise DataError(f"{wish}, but its {parts} have {lengths} values.")
    try:
        frame = _as_frame(table).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{wish}: {error}.") from error
    values = frame.to_numpy()
    for bad, what in (
        (~np.isfinite(values), "missing or infinite value"),
        (np.abs(values) > LARGEST, "value too large to be squared"),
    ):
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise DataError(
                f"{name} has a {what} in row {frame.index[row]!r}, column "
                f"{frame.columns[column]!r}."
            )
    if not frame.columns.is_unique:
        raise DataError(f"{name} has repeated learners: {list(frame.columns)}.")
    if values.shape[1] < minimum_columns:
        raise too_few(values.shape[1], name, minimum_columns, "learners")
    if values.shape[0] < minimum_rows:
        raise too_few(values.shape[0], name, minimum_rows, rows)
    return frame


def _as_frame(table: Any) -> pd.DataFrame:
    if isinstance(table, pd.DataFrame):
        return table
    if isinstance(table, Mapping):
        return pd.DataFrame(dict(table))
    array = np.asarray(table)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise ValueError(f"its shape is {array.shape}")
    return pd.DataFrame(array, columns=[f"learner {k + 1}" for k in range(array.shape[1])])


def named_groups(groups: Any, minimum: int = 2) -> dict[Any, Vector]:
    """Return groups of numbers by name, from a table or a mapping of unequal groups."""
    if not isinstance(groups, Mapping):
        lengths = unequal_lengths(groups)
        if lengths:
            raise DataError(
                f"groups has lists of {lengths} values: groups of unequal size are given as a "
                'dictionary with the results of each learner by its name, such as {"a": [...], '
                '"b": [...]}.'
            )
        frame = result_table(groups, name="groups", rows="replications", minimum_rows=minimum)
        return {name: frame[name].to_numpy() for name in frame.columns}
    if len(groups) < 2:
        raise too_few(len(groups), "groups", 2, "learners")
    return {name: sample(values, f"group {name!r}", minimum) for name, values in groups.items()}
