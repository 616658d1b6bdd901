"""Whether a table has what a model needs, and the one form in which the model is given it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, nearest_names
from verulam.data import same_word, written_numbers
from verulam.experiment._final.card import ColumnCard, ModelCard

#: What to do about categories that the model has never seen.
UNSEEN = ("refuse", "missing")
#: What to do about gaps where the model knows none.
GAPS = ("refuse", "typical")
#: Names less alike than this are not taken for one another's misspelling.
ALIKE = 0.6
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def check_names(names: Iterable[str], card: ModelCard, *, source: str = "the table") -> list[str]:
    """Return the columns that the model does not know; refuse where one that it needs is missing.

    Parameters
    ----------
    names
        Columns of a table.
    card
        The card of the model.
    source
        What to call the table in messages.
    """
    present = list(names)
    repeated = sorted({name for name in present if present.count(name) > 1})
    if repeated:
        raise DataError(f"{source}: the column {repeated[0]!r} is there twice.")
    known = {column.name for column in card.columns}
    extra = [name for name in present if name not in known]
    missing = [column.name for column in card.inputs if column.name not in present]
    if missing:
        lines = [f"{name!r}{_nearest(name, extra)}" for name in missing[:5]]
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        word = "the column" if len(missing) == 1 else "the columns"
        raise DataError(f"{source} lacks {word} {', '.join(lines)}{more}, which the model needs.")
    return extra


def model_inputs(
    table: pd.DataFrame,
    card: ModelCard,
    *,
    unseen: str = "refuse",
    missing: str = "refuse",
    first_row: int = 1,
    source: str = "the table",
) -> pd.DataFrame:
    """Return the inputs of a model from a table, in the types that it was made with.

    Parameters
    ----------
    table
        Any columns, in any order; numbers and categories may be written as words.
    card
        The card of the model.
    unseen
        "refuse" categories that the model has never seen, or take them for "missing"; a model made
        from complete rows takes the commonest category instead.
    missing
        "refuse" gaps where the model was made from complete rows, or take the "typical" value.
    first_row
        Number of the first row, for messages.
    source
        What to call the table in messages.
    """
    if unseen not in UNSEEN:
        raise DataError(f"unseen: {unseen!r}; expected {' or '.join(UNSEEN)}.")
    if missing not in GAPS:
        raise DataError(f"missing: {missing!r}; expected {' or '.join(GAPS)}.")
    columns = {}
    for column in card.inputs:
        place = _Place(source, column.name, first_row)
        values = table[column.name].reset_index(drop=True)
        if column.kind == "numeric":
            columns[column.name] = _numbers(values, column, place)
        elif column.kind == "date":
            columns[column.name] = _dates(values, column, place)
        elif column.kind == "text":
            columns[column.name] = values.astype(object).where(values.notna(), None)
        else:
            instead = None if card.accepts_missing else column.typical
            columns[column.name] = _categories(values, column, place, unseen, instead)
        gaps = columns[column.name].isna()
        if column.kind == "text" or card.accepts_missing or not gaps.any():
            continue
        if missing == "typical" and column.typical is not None:
            columns[column.name] = columns[column.name].fillna(_typical(column))
        else:
            first = int(np.argmax(gaps.to_numpy()))
            value = values.iloc[first]
            why = "is missing" if pd.isna(value) else f"{str(value)!r} is unseen, taken for missing"
            raise place.error(
                first,
                f"{why}; the model was made from complete rows, and cannot do without; "
                'missing="typical" (--missing typical) takes the typical value',
            )
    return pd.DataFrame(columns)


def outside_counts(inputs: pd.DataFrame, card: ModelCard) -> pd.Series:
    """Return for each numeric input how many values lie outside of those the model has seen.

    Parameters
    ----------
    inputs
        What `model_inputs` gave.
    card
        The card of the model.
    """
    counts = {
        column.name: int(
            ((inputs[column.name] < column.low) | (inputs[column.name] > column.high)).sum()
        )
        for column in card.inputs
        if column.low is not None
    }
    return pd.Series(counts, dtype=np.int64)


class _Place:
    """Where a value stands, for messages that lead to it."""

    def __init__(self, source: str, column: str, first_row: int) -> None:
        self.source, self.column, self.first_row = source, column, first_row

    def error(self, place: int, words: str) -> DataError:
        row = self.first_row + place
        return DataError(f"{self.source}, column {self.column!r}, row {row}: {words}.")


def _nearest(name: str, names: Sequence[str]) -> str:
    nearest = nearest_names(name, names, count=1)
    if not nearest or SequenceMatcher(None, name.lower(), nearest[0].lower()).ratio() < ALIKE:
        return ""
    return f" (nearest: {nearest[0]!r})"


def _dates(values: pd.Series, column: ColumnCard, place: _Place) -> pd.Series:
    if column.form and values.dtype.kind != "M":
        stripped = values.astype(object).map(lambda v: v.strip() if isinstance(v, str) else v)
        dates = pd.to_datetime(stripped, format=column.form, errors="coerce")
    else:
        dates = pd.to_datetime(values, format="ISO8601", errors="coerce", utc=True)
        dates = dates.dt.tz_localize(None)
    wrong = dates.isna() & values.notna()
    if wrong.any():
        first = int(np.argmax(wrong.to_numpy()))
        example = pd.Timestamp(2024, 2, 29).strftime(column.form) if column.form else "2024-02-29"
        expected = f"such as {example}"
        raise place.error(first, f"{str(values.iloc[first])!r} is not a date {expected}")
    return dates.astype("datetime64[us]")


def _numbers(values: pd.Series, column: ColumnCard, place: _Place) -> pd.Series:
    if pd.api.types.is_bool_dtype(values) or isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object)
    is_span = pd.api.types.is_timedelta64_dtype(values)
    if is_span or (column.form and not pd.api.types.is_numeric_dtype(values)):
        values = written_numbers(values, column.form)
    numbers = pd.to_numeric(values, errors="coerce").astype(np.float64)
    wrong = (numbers.isna() & values.notna()) | np.isinf(numbers)
    if wrong.any():
        first = int(np.argmax(wrong.to_numpy()))
        value = values.iloc[first]
        shown = repr(value.item() if isinstance(value, np.generic) else value)
        kind = "a finite number" if np.isinf(numbers.iloc[first]) else "a number"
        kind += f" in {column.form[1:]}" if column.form[1:] else ""
        kind = "a time such as 14:05" if column.form == ":" else kind
        raise place.error(first, f"{shown} is not {kind}")
    return numbers


def unseen_counts(table: pd.DataFrame, card: ModelCard) -> dict[str, int]:
    """Return for each column of categories how many values the model has never seen.

    Parameters
    ----------
    table
        Any columns, as `model_inputs` takes them.
    card
        The card of the model.
    """
    counts = {}
    for column in card.inputs:
        if column.levels:
            values = table[column.name].astype(object)
            strangers = [value for value, code in _codes_of(values, column).items() if code < 0]
            counts[column.name] = int(values.isin(strangers).sum())
    return counts


def gap_counts(table: pd.DataFrame, card: ModelCard) -> dict[str, int]:
    """Return for each column how many values are missing where the model knows no gaps.

    Parameters
    ----------
    table
        Any columns, as `model_inputs` takes them.
    card
        The card of the model.
    """
    if card.accepts_missing:
        return {}
    inputs = [column.name for column in card.inputs if column.kind != "text"]
    return {name: int(table[name].isna().sum()) for name in inputs}


def gap_remarks(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield what was done with gaps that the model knows none of.

    Parameters
    ----------
    counts
        What `gap_counts` gave.
    """
    for name, count in counts.items():
        if count:
            are = "value of {!r} is" if count == 1 else "values of {!r} are"
            yield f"{count} {are.format(name)} missing, and the typical one was taken."


def _typical(column: ColumnCard) -> Any:
    return pd.Timestamp(column.typical) if column.kind == "date" else column.typical


def _codes_of(values: pd.Series, column: ColumnCard) -> dict[Any, int]:
    """Return the place of each value among the levels, -1 for strangers: 1, 1.0 and "1" are one."""
    levels = list(column.levels)
    by_text = {_written(level): position for position, level in enumerate(levels)}
    # Spellings that differ by case or outer spaces were joined when the model was made.
    by_word = {key: place for level, place in by_text.items() if (key := same_word(level))}
    codes = {}
    for value in values.dropna().unique():
        word = by_word.get(same_word(str(value), by_word), _truth_place(value, levels))
        codes[value] = by_text.get(_written(value), word)
    return codes


def _categories(
    values: pd.Series, column: ColumnCard, place: _Place, unseen: str, instead: Any
) -> pd.Series:
    """Return values as categories; of strangers, `instead` takes the place where it is one."""
    levels, values = list(column.levels), values.astype(object)
    codes = _codes_of(values, column)
    strangers = [value for value, code in codes.items() if code < 0]
    if strangers and unseen == "refuse":
        first = int(np.argmax((values == strangers[0]).to_numpy()))
        texts = [str(level) for level in levels]
        nearest = ", ".join(nearest_names(str(strangers[0]), texts))
        raise place.error(
            first,
            f"{str(strangers[0])!r} is none of the categories of the model. Nearest: {nearest}",
        )
    if instead in levels:
        codes |= dict.fromkeys(strangers, levels.index(instead))
    positions = values.map(codes).fillna(-1).astype(np.int64).to_numpy()
    dtype = pd.CategoricalDtype(levels, ordered=column.kind == "ordinal")
    return pd.Series(pd.Categorical.from_codes(positions, dtype=dtype), name=column.name)


def _written(value: Any) -> str:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return value
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    return f"{float(value)!r}" if isinstance(value, int | float | np.number) else str(value)


def _truth_place(value: Any, levels: Sequence[Any]) -> int:
    """Return the position of a truth value however it is written; -1 for anything else."""
    if not all(isinstance(level, bool) for level in levels):
        return -1
    truth = _TRUTH.get(str(value).lower())
    return levels.index(truth) if truth in levels else -1
