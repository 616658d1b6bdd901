"""The data of a study: opened from a name, a file or a table, with a target that can be learnt."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from verulam.base import DataError, UnknownNameError, unknown_name
from verulam.data import Dataset, as_pandas, dataset, read
from verulam.experiment._text import counted

if TYPE_CHECKING:
    from verulam.experiment._study.choices import DataChoice

#: A class with fewer rows is rare.
FEWEST_ROWS = 5
#: So many classes are named, then their number is said.
MOST_NAMED = 10
#: What may be done with rare classes.
RARE = ("keep", "drop", "join")

_REMEDY = (
    'Leave their rows out or join them: rare = "drop" or "join" in Python and as a key of the data '
    "in a study file, --rare drop or --rare join for a command."
)
_STILL_FEW = (
    'Joining rare classes does not help; leave their rows out: rare = "drop" in Python and as a '
    "key of the data in a study file, --rare drop for a command."
)


def open_data(
    data: str | Path | pd.DataFrame | Dataset,
    *,
    target: str | None = None,
    drop_missing_target: bool = False,
    leave_out: Sequence[str] = (),
    categorical: Sequence[str] = (),
) -> Dataset:
    """Return the data set behind whatever the caller has.

    Parameters
    ----------
    data
        A data set, a DataFrame, the name of a bundled data set, or the path of a file.
    target
        The column to predict, where it is not the data set's own.
    drop_missing_target
        Leave out the rows whose target is missing, instead of refusing them.
    leave_out
        Columns that are no inputs, such as the number of a customer.
    categorical
        Columns of numbers that are codes.

    Examples
    --------
    >>> open_data("iris").n_rows
    150
    """
    if not isinstance(data, str | Path | Dataset):
        frame = as_pandas(data)
        if frame is None:
            raise DataError(f"data: {_type_problem(data)}")
        data = frame
    opened = _opened(data, None if categorical else target, drop_missing=drop_missing_target)
    if categorical:
        opened = _for_target(
            _with_codes(opened, categorical), target, drop_missing=drop_missing_target
        )
    return _without_columns(opened, leave_out)


def _opened(
    data: str | Path | pd.DataFrame | Dataset, target: str | None, *, drop_missing: bool
) -> Dataset:
    if isinstance(data, Dataset):
        return _for_target(data, target, drop_missing=drop_missing)
    if isinstance(data, pd.DataFrame) or _is_path(data):
        return read(data, target=target, drop_missing_target=drop_missing)
    try:
        bundled = dataset(str(data))
    except UnknownNameError as error:
        raise UnknownNameError(f"{error} No file has that name either.") from None
    return _for_target(bundled, target, drop_missing=drop_missing)


def _type_problem(data: Any) -> str:
    """Return what to do about data of a type that is not accepted."""
    words = f"got {type(data).__name__}; expected a name, a file, a DataFrame or a Dataset."
    if isinstance(data, list | tuple) and data and all(isinstance(source, str) for source in data):
        return f"{words} For several data sets, make a Study and carry it out with run."
    if isinstance(data, np.ndarray | list | tuple):
        return (
            f"{words} Make a data set of arrays with verulam.data.Dataset.from_arrays(X, y), or "
            "put them into a DataFrame and name the target."
        )
    return words


def _with_codes(data: Dataset, categorical: Sequence[str]) -> Dataset:
    """Return the data set with some columns as categories, the target among them as classes."""
    for name in categorical:
        if name not in data.table:
            problem = unknown_name("column", name, data.table.columns)
            raise UnknownNameError(f"categorical: {problem}")
    coded = data.table.assign(**{name: data.table[name].astype("category") for name in categorical})
    if data.target in categorical:
        return data.with_target(None).with_table(coded).with_target(data.target)
    return data.with_table(coded)


def _without_columns(data: Dataset, leave_out: Sequence[str]) -> Dataset:
    """Return the data set with some columns that are no inputs."""
    for name in leave_out:
        if name not in data.table:
            raise UnknownNameError(f"leave_out: {unknown_name('column', name, data.table.columns)}")
        if name == data.target:
            raise DataError(f"leave_out: {name!r} is the target.")
    return data.with_roles(dict.fromkeys(leave_out, "ignored")) if leave_out else data


def open_choice(choice: "DataChoice") -> Dataset:
    """Return the data set of a study; where its target is incomplete, say all that is wrong.

    Parameters
    ----------
    choice
        The data set as the study has it.
    """
    if choice.outputs:
        return _with_outputs(choice)
    opened = partial(
        open_data,
        choice.source,
        target=choice.target,
        leave_out=choice.leave_out,
        categorical=choice.categorical,
    )
    if choice.drop_missing_target:
        return opened(drop_missing_target=True)
    try:
        return opened()
    except DataError as error:
        try:
            complete = opened(drop_missing_target=True)
        except DataError:
            raise error from None
        # Only the gaps stood in the way so far; what comes next is said now.
        problem = target_problem(complete) if choice.rare == "keep" else ""
        raise DataError(f"{error} {problem}".strip()) from None


def _with_outputs(choice: "DataChoice") -> Dataset:
    """Return the data set of several columns to predict, the others of which are no inputs."""
    data = open_data(choice.source, leave_out=choice.leave_out, categorical=choice.categorical)
    table, names = data.table, list(choice.outputs)
    for name in names:
        if name not in table:
            raise UnknownNameError(f"target: {unknown_name('column', name, table.columns)}")
        column = table[name]
        if name in choice.leave_out:
            raise DataError(f"leave_out: {name!r} is the target.")
        if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
            raise DataError(
                f"target: several columns are learnt together where all are numbers, and {name!r} "
                "is not; predict it by itself."
            )
        if np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan)).any():
            raise DataError(f"target: column {name!r} is infinite in places.")
    gaps = table[names].isna().any(axis=1)
    if gaps.any() and not choice.drop_missing_target:
        raise DataError(
            f"target: {counted(int(gaps.sum()), 'row')} without a value of {' or '.join(names)}; "
            "leave them out (drop_missing_target, --drop-missing-target of a command)."
        )
    if gaps.any():
        data = replace(data.with_table(table[~gaps]), dropped_rows=int(gaps.sum()))
    data = data.with_target(names[0], task="regression")
    return data.with_roles(dict.fromkeys(names[1:], "ignored"))


def _for_target(data: Dataset, target: str | None, *, drop_missing: bool) -> Dataset:
    if target is None:
        return data
    if drop_missing and target in data.table and data.table[target].isna().any():
        complete = data.table[data.table[target].notna()]
        dropped = data.dropped_rows + len(data.table) - len(complete)
        data = replace(data.with_table(complete), dropped_rows=dropped)
    return data.with_target(target)


def _is_path(data: str | Path) -> bool:
    # A dot or a slash means a file, so that a mistyped path is not searched among the names.
    return isinstance(data, Path) or Path(data).exists() or any(sign in data for sign in "./\\")


class SettledTarget(NamedTuple):
    """A data set whose target can be learnt, and what was done to that end.

    Attributes
    ----------
    data
        The data set.
    notice
        What was done with rare classes; empty for nothing.
    """

    data: Dataset
    notice: str


def settled_target(data: Dataset, rare: str = "keep") -> SettledTarget:
    """Return the data set with its rare classes as asked for, or say what stands in the way.

    Parameters
    ----------
    data
        The data set.
    rare
        What is done with classes of fewer than 5 rows: "keep", "drop" leaves their rows out,
        "join" makes one class of them.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"x": range(9), "y": [*"aaaabbbbc"]})
    >>> settled_target(Dataset.from_frame(pd.concat([table] * 3), target="y"), "drop").notice
    "Rare classes left out with their rows: 'c' (3 rows)."
    """
    if data.target is None:
        raise DataError(
            f"Data set {data.name!r} has no target; name the column to predict (--target of a "
            f"command, target in Python and in a study file). Its columns: "
            f"{', '.join(data.table.columns)}."
        )
    settled = SettledTarget(data, "")
    if rare != "keep" and data.task != "classification":
        settled = SettledTarget(data, f"{data.target!r} is a number: it has no rare classes.")
    elif rare != "keep" and not _is_free_text(data):
        settled = _dropped(data) if rare == "drop" else _joined(data)
    if problem := target_problem(settled.data, _STILL_FEW if rare == "join" else _REMEDY):
        raise DataError(problem)
    return settled


def target_problem(data: Dataset, remedy: str = _REMEDY) -> str:
    """Return what stands in the way of learning the target, in sentences; empty for nothing.

    Parameters
    ----------
    data
        A data set with a target.
    remedy
        What to do about classes of a single row.
    """
    if data.task != "classification":
        return _infinite(data)
    if _is_free_text(data):
        distinct = data.target_values.nunique()
        return (
            f"Column {data.target!r} holds {distinct} different texts in {data.n_rows} rows: that "
            "is free text, or names the rows, and no class to predict. Choose another column."
        )
    counts = _counts(data)
    if len(counts) == 1:
        return (
            f"Column {data.target!r} has only the class {counts.index[0]!r}; at least two classes "
            "are needed."
        )
    single = counts[counts < 2]
    if single.empty:
        return ""
    others = counts[(counts >= 2) & (counts < FEWEST_ROWS)]
    also = f" Also rare: {_named(others)}." if len(others) else ""
    few = f"{_subject(single)} of {data.target!r}, too few to learn from and to test on."
    return f"{few}{also} {remedy}"


def _infinite(data: Dataset) -> str:
    """Return where numbers to predict are infinite, in a sentence; empty for nowhere."""
    places = np.flatnonzero(np.isinf(data.target_values.to_numpy(dtype=np.float64)))
    if not len(places):
        return ""
    rows = ", ".join(map(str, places[:MOST_NAMED]))
    more = ", ..." if len(places) > MOST_NAMED else ""
    return (
        f"Column {data.target!r} is infinite in {counted(len(places), 'row')}: {rows}{more} "
        "(counted from 0). Replace these values, or leave the rows out."
    )


def _subject(single: pd.Series) -> str:
    names = [repr(label) for label in single.index]
    if len(names) == 1:
        return f"There is 1 row of class {names[0]}"
    shown = ", ".join(names[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED} others" if len(names) > MOST_NAMED else ""
    return f"There is 1 row each of the classes {shown}{more}"


def _is_free_text(data: Dataset) -> bool:
    """Tell whether most rows have a text of their own."""
    values = data.target_values
    labels = values.cat.categories
    return (
        pd.api.types.is_string_dtype(labels.astype(object))
        and data.n_rows >= 2 * FEWEST_ROWS
        and values.nunique() > data.n_rows / 2
    )


def _counts(data: Dataset) -> pd.Series:
    counts = data.target_values.value_counts(sort=False)
    return counts[counts > 0].rename(index=str).sort_index()


def _named(counts: pd.Series) -> str:
    named = [f"{label!r} ({counted(count, 'row')})" for label, count in counts.items()]
    more = f" and {len(named) - MOST_NAMED} others" if len(named) > MOST_NAMED else ""
    return f"{', '.join(named[:MOST_NAMED])}{more}"


def _rare(data: Dataset) -> pd.Series:
    counts = _counts(data)
    return counts[counts < FEWEST_ROWS]


def _dropped(data: Dataset) -> SettledTarget:
    rare = _rare(data)
    if rare.empty:
        return SettledTarget(data, "")
    labels = data.target_values.astype(str)
    if len(rare) == labels.nunique():
        raise DataError(
            f"rare: every class of {data.target!r} has fewer than {FEWEST_ROWS} rows, and none "
            "would be left."
        )
    frequent = data.table[~labels.isin(rare.index)].reset_index(drop=True)
    target = frequent[str(data.target)].cat.remove_unused_categories()
    changed = data.with_table(frequent.assign(**{str(data.target): target}))
    return SettledTarget(
        replace(changed, dropped_rows=data.dropped_rows),
        f"Rare classes left out with their rows: {_named(rare)}.",
    )


def _joined(data: Dataset) -> SettledTarget:
    rare = _rare(data)
    if rare.empty:
        return SettledTarget(data, "")
    labels = data.target_values.astype(str)
    name = "other" if "other" not in set(labels) - set(rare.index) else "other (rare)"
    joined = labels.where(~labels.isin(rare.index), name).astype("category")
    changed = data.with_table(data.table.assign(**{str(data.target): joined}))
    return SettledTarget(
        replace(changed, dropped_rows=data.dropped_rows),
        f"Rare classes joined into {name!r}: {_named(rare)}.",
    )
