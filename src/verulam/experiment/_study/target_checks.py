"""The column to predict: everything that stands in the way of learning it, said at once."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.data import Dataset
from verulam.experiment._text import counted

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
