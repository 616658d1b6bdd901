"""A table with roles: what to learn from, what to predict, what to leave alone."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, unknown_name, visible_text
from verulam.data._table.columns import Kind, kind_of
from verulam.data._table.files import TEXTS, write_parquet
from verulam.data._table.normalise_frame import (
    Task,
    arrays_to_frame,
    complete_target,
    normalised_frame,
    task_of,
    typed_target,
)
from verulam.data._table.summary import summarise

Role = Literal["input", "target", "identifier", "ignored"]
ROLES: tuple[Role, ...] = ("input", "target", "identifier", "ignored")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table, the role of each column, and where it all came from.

    Make one with :meth:`from_frame`, :meth:`from_arrays` or a reader such as
    :func:`~verulam.data.read`; the constructor itself checks nothing.

    Attributes
    ----------
    table
        Every column, in the form its kind is kept in.
    target
        Name of the column to predict, or None.
    task
        ``"classification"``, ``"regression"``, or None where there is no target.
    identifiers
        Columns that name a row; learners do not see them.
    ignored
        Columns kept in the table but left out of the inputs.
    name, description, source, licence
        What it is called, what it holds, where it comes from, under which terms.
    dropped_rows
        How many rows were left out because their target was missing.
    hints
        Column to what its file says of it and its values do not, such as zeros in front that were
        lost; :meth:`summary` shows them.
    forms
        Column to how its numbers or dates were written: a decimal sign with the unit behind it, or
        a format of dates.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.data import Dataset
    >>> frame = pd.DataFrame({"size": [1.5, 2.0, None], "colour": ["red", "red", "blue"],
    ...                       "ripe": ["yes", "no", "yes"]})
    >>> fruit = Dataset.from_frame(frame, target="ripe", name="fruit")
    >>> fruit
    Dataset 'fruit': 3 rows, classification of 'ripe' (no, yes)
      numeric: size (1 missing)
      categorical: colour
    >>> fruit.inputs.shape, fruit.classes
    ((3, 2), ['no', 'yes'])
    """

    table: pd.DataFrame
    target: str | None = None
    task: Task | None = None
    identifiers: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    name: str = "data"
    description: str = ""
    source: str = ""
    licence: str = ""
    dropped_rows: int = 0
    hints: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        target: str | None = None,
        task: Task | None = None,
        categorical: Iterable[str] = (),
        ordinal: Mapping[str, Sequence[Any]] | None = None,
        text: Iterable[str] = (),
        identifiers: Iterable[str] = (),
        ignored: Iterable[str] = (),
        drop_missing_target: bool = False,
        name: str = "data",
        description: str = "",
        source: str = "",
        licence: str = "",
        hints: Mapping[str, str] | None = None,
    ) -> Self:
        """Return the data set held by a DataFrame, without its index.

        Parameters
        ----------
        frame
            Of pandas, polars or Arrow, with columns of numbers, strings, categories, truth values
            or dates. Strings that are all numbers or dates as people write them ("£1,200.50",
            "80 kg", "29/02/2024") are read as such; few different ones are categories, spellings
            of one word joined ("Yes", "yes").
        target
            The column to predict.
        task
            Overrides the rule: strings, categories, truth values and integers with few distinct
            values are classes, other numbers a regression target.
        categorical
            Columns that are categories, whatever they look like (postcodes, number codes).
        ordinal
            Ordered categories: column to its levels, lowest first.
        text
            Columns of strings that stay text even where few values differ.
        identifiers, ignored
            Columns that are no inputs.
        drop_missing_target
            Drop the rows whose target is missing, instead of refusing them.
        name, description, source, licence
            Kept with the data.
        hints
            Column to what is known of it and its values do not show.
        """
        ordinal = dict(ordinal or {})
        lists = {
            "target": [] if target is None else [target],
            "categorical": list(categorical),
            "ordinal": list(ordinal),
            "text": list(text),
            "identifiers": list(identifiers),
            "ignored": list(ignored),
        }
        table, readings = normalised_frame(frame, lists, ordinal)
        n_rows = len(table)
        if target is not None:
            table = complete_target(table, target, drop_missing=drop_missing_target)
            task = task or task_of(table[target])
            table = typed_target(table, target, task)
        elif task is not None:
            raise ValueError(f"task={task!r} needs a target; pass target=, the column to predict.")
        roles = (target, task, tuple(lists["identifiers"]), tuple(lists["ignored"]))
        dropped = n_rows - len(table)
        notes = {column: reading.note for column, reading in readings.items()}
        forms = {column: reading.form for column, reading in readings.items() if reading.form}
        remarks = {
            column: ", ".join(filter(None, [notes.get(column), words]))
            for column, words in (hints or {}).items()
        }
        hints = notes | remarks
        return cls(table, *roles, name, description, source, licence, dropped, hints, forms)

    @classmethod
    def from_arrays(
        cls,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        feature_names: Sequence[str] | None = None,
        target_name: str = "target",
        **options: Any,
    ) -> Self:
        """Return the data set held by an array of inputs and one of targets.

        Parameters
        ----------
        X
            Two-dimensional; a one-dimensional array is a single column.
        y
            One target per row.
        feature_names
            Names of the columns of `X`; ``x1``, ``x2``, ... if not given.
        target_name
            What the target is called.
        **options
            Passed on to :meth:`from_frame`.
        """
        frame = arrays_to_frame(X, y, feature_names, target_name)
        return cls.from_frame(frame, target=None if y is None else target_name, **options)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.table)

    @property
    def n_columns(self) -> int:
        """The number of columns, whatever their role."""
        return self.table.shape[1]

    @property
    def kinds(self) -> dict[str, Kind]:
        """Column to kind: numeric, categorical, ordinal, boolean, text or date."""
        return {name: kind_of(self.table[name]) for name in self.table.columns}

    @property
    def roles(self) -> dict[str, Role]:
        """Column to role: input, target, identifier or ignored."""
        return {name: self._role(name) for name in self.table.columns}

    @property
    def input_names(self) -> list[str]:
        """The names of the input columns."""
        return [name for name in self.table.columns if self._role(name) == "input"]

    @property
    def missing(self) -> dict[str, int]:
        """Column to number of missing values, for the columns that have any."""
        counts = self.table.isna().sum()
        return {str(name): int(count) for name, count in counts.items() if count}

    @property
    def inputs(self) -> pd.DataFrame:
        """The columns to learn from."""
        return self.table[self.input_names].copy()

    @property
    def target_values(self) -> pd.Series:
        """The column to predict."""
        if self.target is None:
            raise DataError(
                f"Data set {self.name!r} has no target; choose one with with_target(). "
                f"Its columns: {', '.join(self.table.columns)}."
            )
        return self.table[self.target].copy()

    @property
    def classes(self) -> list[Any] | None:
        """The classes that occur, in order; None unless the task is classification."""
        if self.task != "classification":
            return None
        present = set(self.target_values.unique())
        return [value for value in self.target_values.cat.categories if value in present]

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of the columns, their values and roles; the name and the texts do not count."""
        return fingerprint(self.table, {"roles": self.roles, "task": self.task})

    def summary(self) -> pd.DataFrame:
        """Return one row per column: kind, role, missing, distinct, range, and a note."""
        return summarise(self.table, self.roles, self.hints)

    def head(self, n_rows: int = 5) -> pd.DataFrame:
        """Return the first rows of the table."""
        return self.table.head(n_rows)

    def with_target(self, target: str | None, *, task: Task | None = None) -> Self:
        """Return the data set with another column to predict."""
        return self._rebuilt(self.table, target, task)

    def with_roles(self, roles: Mapping[str, Role]) -> Self:
        """Return the data set with other roles for the columns named in `roles`."""
        merged: dict[str, Role] = dict(self.roles)
        for column, role in roles.items():
            if column not in merged:
                raise unknown_name("column", column, merged)
            if role not in ROLES:
                raise unknown_name("role", role, ROLES)
            if role == "target":
                # A new target takes the place of the old one.
                merged = {name: "input" if old == role else old for name, old in merged.items()}
            merged[column] = role
        named = {role: [name for name in merged if merged[name] == role] for role in ROLES}
        changed = replace(
            self, identifiers=tuple(named["identifier"]), ignored=tuple(named["ignored"])
        )
        target = named["target"][0] if named["target"] else None
        return changed if target == self.target else changed.with_target(target)

    def with_table(self, table: pd.DataFrame) -> Self:
        """Return the same roles and texts over a changed table; its new columns are inputs."""
        columns = set(table.columns)
        if self.target is not None and self.target not in columns:
            raise DataError(f"The new table lacks the target {self.target!r}.")
        return self._rebuilt(table, self.target, self.task)

    def to_parquet(self, path: str | Path) -> None:
        """Write the table, its roles and its texts to a Parquet file."""
        roles = {
            "target": self.target,
            "task": self.task,
            "identifiers": self.identifiers,
            "ignored": self.ignored,
            "text": [name for name, kind in self.kinds.items() if kind == "text"],
            **{text: getattr(self, text) for text in TEXTS},
        }
        write_parquet(self.table, roles, path)

    def _rebuilt(self, table: pd.DataFrame, target: str | None, task: Task | None) -> Self:
        """Return this data set over another table or with another target."""
        others = [name for name in table.columns if name != target]
        changed = type(self).from_frame(
            table,
            target=target,
            task=task,
            # Fewer rows must not turn a text into a category.
            text=[name for name in others if name in self.table and self.kinds[name] == "text"],
            identifiers=[name for name in others if name in self.identifiers],
            ignored=[name for name in others if name in self.ignored],
        )
        fields = ("table", "target", "task", "identifiers", "ignored")
        return replace(self, **{field: getattr(changed, field) for field in fields})

    def _role(self, column: str) -> Role:
        if column == self.target:
            return "target"
        if column in self.identifiers:
            return "identifier"
        return "ignored" if column in self.ignored else "input"

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        lines = [self._headline(), *(f"  {line}" for line in self._kind_lines())]
        return "\n".join(map(visible_text, lines))

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(self._headline())}</p>{self.summary().to_html()}"

    def _headline(self) -> str:
        headline = f"Dataset {self.name!r}: {self.n_rows} row{'s' * (self.n_rows != 1)}"
        if self.target is None:
            return f"{headline}, no target"
        headline += f", {self.task} of {self.target!r}"
        if self.classes is None:
            return headline
        labels = [str(label) for label in self.classes]
        shown = ", ".join(
            labels if len(labels) <= 5 else [*labels[:3], f"... {len(labels)} in all"]
        )
        return f"{headline} ({shown})"

    def _kind_lines(self) -> list[str]:
        missing, groups = self.missing, dict[str, list[str]]()
        for name, kind in self.kinds.items():
            role = self._role(name)
            if role == "target":
                continue
            label = f"{name} ({missing[name]} missing)" if name in missing else name
            groups.setdefault(kind if role == "input" else role, []).append(label)
        return [
            f"{group}: {', '.join(names[:8])}" + (f", ... {len(names)} in all" * (len(names) > 8))
            for group, names in groups.items()
        ]


def fingerprint(table: pd.DataFrame, about: Mapping[str, Any]) -> str:
    """Return the SHA-256 of names, kinds, dtypes, categories and values, and of `about`."""
    digest = hashlib.sha256()
    _add(digest, json.dumps(about, sort_keys=True, ensure_ascii=True).encode())
    for name in table.columns:
        column = table[name]
        heading = {"name": name, "kind": kind_of(column), "dtype": _dtype_label(column)}
        _add(digest, json.dumps(heading, sort_keys=True).encode())
        for part in _column_bytes(column):
            _add(digest, part)
    return digest.hexdigest()


def _add(digest: Any, part: bytes) -> None:
    # The length in front keeps two different lists of parts from reading the same.
    digest.update(len(part).to_bytes(8, "little"))
    digest.update(part)


def _dtype_label(column: pd.Series) -> Any:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [_plain(category) for category in column.cat.categories]
    # Strings have several dtypes in pandas, which hold the same values.
    return "text" if kind_of(column) == "text" else str(column.dtype)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _column_bytes(column: pd.Series) -> list[bytes]:
    match kind_of(column):
        case "categorical" | "ordinal":
            # In 32 bits always: pandas takes the smallest type that the number of categories
            # allows.
            return [column.cat.codes.to_numpy().astype("<i4").tobytes()]
        case "text":
            return _text_bytes(column)
        case "date":
            return [column.to_numpy().astype("datetime64[us]").astype("<i8").tobytes()]
        case _:
            return [_number_bytes(column.to_numpy())]


def _number_bytes(values: np.ndarray) -> bytes:
    if values.dtype.kind == "f":
        # One bit pattern for all NaNs, and one for both zeros.
        values = np.where(np.isnan(values), np.nan, values) + values.dtype.type(0)
    return np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()


def _text_bytes(column: pd.Series) -> list[bytes]:
    encoded = [
        None if missing else str(value).encode("utf-8", "surrogatepass")
        for value, missing in zip(column, column.isna(), strict=True)
    ]
    # Lengths first, so that ("ab", "c") and ("a", "bc") differ; -1 tells missing from empty.
    lengths = np.array([-1 if part is None else len(part) for part in encoded], dtype="<i8")
    return [lengths.tobytes(), b"".join(part for part in encoded if part is not None)]
