"""Checks that every test shares, each with a message that says what would be accepted."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError

Vector = NDArray[np.float64]
ALTERNATIVES = ("two-sided", "less", "greater")


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


def checked_level(value: float, name: str = "alpha") -> float:
    """Return a probability strictly between zero and one."""
    if not 0 < value < 1:
        raise DataError(f"{name} must lie strictly between 0 and 1, but is {value}.")
    return float(value)


def checked_positive(value: float, name: str) -> float:
    """Return a positive finite number."""
    if not (np.isfinite(value) and value > 0):
        raise DataError(f"{name} must be positive, but is {value}.")
    return float(value)


def checked_count(value: float, name: str) -> int:
    """Return a whole number that is not negative."""
    if not np.isfinite(value) or value != np.floor(value) or value < 0:
        raise DataError(f"{name} must be a whole number, not negative, but is {value}.")
    return int(value)


def checked_p_values(p_values: ArrayLike) -> Vector:
    """Return p-values, refusing what is no probability."""
    values = sample(p_values, "p_values", 1)
    if (values < 0).any() or (values > 1).any():
        row = int(np.argmax((values < 0) | (values > 1)))
        raise DataError(f"p_values must lie in [0, 1], but entry {row} is {values[row]}.")
    return values


def sample(values: ArrayLike, name: str, minimum: int = 2, what: str = "values") -> Vector:
    """Return one column of at least `minimum` finite numbers."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise DataError(f"{name} must have one dimension, but its shape is {array.shape}.")
    refuse_missing(array, name)
    if len(array) < minimum:
        raise DataError(f"{name} has {len(array)} {what}: at least {minimum} are needed.")
    return array


def refuse_missing(array: NDArray[Any], name: str) -> None:
    """Raise for the first row that holds NaN or infinity."""
    bad = ~np.isfinite(array)
    if bad.any():
        place = np.argwhere(bad)[0]
        where = f"row {place[0]}" + (f", column {place[1]}" if len(place) > 1 else "")
        raise DataError(f"{name} has a missing or infinite value in {where}.")


def pair(
    first: ArrayLike, second: ArrayLike, minimum: int = 2, what: str = "values"
) -> tuple[Vector, Vector]:
    """Return two columns of equal length: the same splits or data sets for both learners."""
    one, other = sample(first, "first", minimum, what), sample(second, "second", minimum, what)
    if len(one) != len(other):
        raise DataError(
            f"first has {len(one)} values and second has {len(other)}: a paired test needs the "
            "same splits for both."
        )
    return one, other


def rounded(values: Vector, scale: ArrayLike) -> Vector:
    """Return values to twelve digits of `scale`, so that decimals that tie on paper tie."""
    size = np.asarray(scale, dtype=np.float64)
    step = 10.0 ** (np.floor(np.log10(np.where(size > 0, size, 1.0))) - 11)
    return np.round(values / step) * step


def varying(values: Vector, what: str) -> None:
    """Raise when all values are equal up to rounding, so that nothing can be divided by."""
    scale = max(1e-300, float(np.abs(values).max()))
    if np.ptp(values) <= 1e-12 * scale:
        raise DataError(
            f"All {what} equal {values[0]:.6g}: with zero variance the statistic is undefined."
        )


def result_table(
    table: ArrayLike | pd.DataFrame,
    *,
    rows: str = "data sets",
    minimum_rows: int = 2,
    minimum_columns: int = 2,
) -> pd.DataFrame:
    """Return a table with one column per learner, checked for holes and size."""
    frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(np.asarray(table))
    if not isinstance(table, pd.DataFrame):
        frame.columns = [f"learner {column + 1}" for column in range(frame.shape[1])]
    frame = frame.astype(np.float64)
    values = frame.to_numpy()
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise DataError(
            f"table has a missing or infinite value in row {frame.index[row]!r}, "
            f"column {frame.columns[column]!r}."
        )
    if not frame.columns.is_unique:
        raise DataError(f"table has repeated learners: {list(frame.columns)}.")
    if values.shape[1] < minimum_columns:
        raise DataError(
            f"table has {values.shape[1]} learner(s): at least {minimum_columns} are needed."
        )
    if values.shape[0] < minimum_rows:
        raise DataError(f"table has {values.shape[0]} {rows}: at least {minimum_rows} are needed.")
    return frame


def named_groups(groups: Any, minimum: int = 2) -> dict[Any, Vector]:
    """Return groups of numbers by name, from a table or a mapping of unequal groups."""
    if not isinstance(groups, Mapping):
        frame = result_table(groups, rows="replications", minimum_rows=minimum)
        return {name: frame[name].to_numpy() for name in frame.columns}
    if len(groups) < 2:
        raise DataError(f"There is {len(groups)} group: at least 2 are needed.")
    return {name: sample(values, f"group {name!r}", minimum) for name, values in groups.items()}
