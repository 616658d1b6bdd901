"""Saving what is intact of a damaged store."""

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from verulam.base import DataError
from verulam.experiment._store.rows import unpack
from verulam.experiment._store.schema import RUN_TABLES, TABLES
from verulam.experiment._store.store import Store
from verulam.experiment._text import counted

#: What a table is called in messages.
_WORDS = {
    "studies": "the study",
    "data": "targets of the data sets",
    "splits": "the splits",
    "draws": "rows drawn with replacement",
    "nuisance": "nuisance factors",
    "notices": "notices",
    "environments": "versions",
    "planned": "the plan",
    "runs": "runs",
    "tunings": "what was tuned",
    "checks": "checks whether runs repeat",
}
_DIGITS = "0123456789abcdef"


@dataclass(frozen=True)
class Recovery:
    """What was saved.

    Attributes
    ----------
    path
        The new store.
    rows
        For each table the number of rows that were saved.
    damaged
        Tables of which something could not be read.
    """

    path: Path
    rows: dict[str, int]
    damaged: tuple[str, ...]

    def __str__(self) -> str:
        parts = ", ".join(_WORDS[name] for name in self.damaged)
        lost = f"; some of these could not be read: {parts}" if parts else ""
        return f"{counted(self.rows.get('runs', 0), 'run')} saved in {self.path}{lost}"


def recover(path: str | Path, target: str | Path) -> Recovery:
    """Save the intact rows of a damaged store in a new one.

    The damaged store stays as it is. Carrying out the study on the new store runs only what
    was lost.

    Parameters
    ----------
    path
        The damaged store.
    target
        The new store, which must not be there yet.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> Store(f"{folder.name}/runs.sqlite").close()
    >>> recover(f"{folder.name}/runs.sqlite", f"{folder.name}/saved.sqlite").rows["runs"]
    0
    >>> folder.cleanup()
    """
    path, target = Path(path), Path(target)
    if not path.is_file():
        raise DataError(f"There is no store {path}.")
    if target.exists():
        raise DataError(f"{target} is already there and is left as it is; name another.")
    rows, damaged = {}, []
    with (
        contextlib.closing(sqlite3.connect(path.absolute().as_uri(), uri=True)) as connection,
        Store(target) as store,
    ):
        for table in TABLES:
            source = _Table(connection, table)
            rows[table] = store.add_rows(table, source.rows())
            if source.damaged:
                damaged.append(table)
        if "planned" in damaged:
            # A part of a plan would pass for the whole; running the study writes it anew.
            with store.transaction() as writing:
                writing.execute("DELETE FROM planned")
            rows["planned"] = 0
    if not any(rows.values()) and damaged:
        target.unlink()
        raise DataError(f"Nothing in {path} can be read; it may never have been a store.")
    return Recovery(target, rows, tuple(damaged))


class _Table:
    """One table of a damaged file, read around what cannot be."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection, self._name = connection, name
        self.damaged = False

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that are intact, some of them perhaps twice."""
        if self._name not in RUN_TABLES:
            yield from self._read("")
            return
        # Read in small ranges of the keys: damage costs the rows of its range, and no others.
        for digits in product(_DIGITS, repeat=3):
            start = "".join(digits)
            before = self.damaged
            self.damaged = False
            yield from self._read("WHERE run >= ? AND run < ?", start, f"{start}g")
            if self.damaged:
                # From both ends, up to the damage.
                yield from self._one_by_one(start, f"{start}g", "ASC")
                yield from self._one_by_one(start, f"{start}g", "DESC")
            self.damaged = self.damaged or before

    def _one_by_one(self, low: str, high: str, order: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a range, up to the damage, with a query for each.

        Python's cursor is always a row ahead, and loses the row before an error.
        """
        condition = f"WHERE run >= ? AND run < ? ORDER BY run {order} LIMIT 1"
        while rows := list(self._read_raw(condition, low, high)):
            row = rows[0]
            run = row[0]
            if not isinstance(run, str) or not low <= run < high:
                # Damaged keys need not be in order: without this, one might go in circles.
                self.damaged = True
                return
            if self._is_sound(row):
                yield row
            low, high = (f"{run}\0", high) if order == "ASC" else (low, run)

    def _read(self, condition: str, *keys: str) -> Iterator[tuple[Any, ...]]:
        for row in self._read_raw(condition, *keys):
            if self._is_sound(row):
                yield row
            else:
                self.damaged = True

    def _read_raw(self, condition: str, *keys: str) -> Iterator[tuple[Any, ...]]:
        query = f"SELECT * FROM {self._name} {condition}"  # noqa: S608 (names of our own)
        try:
            yield from self._connection.execute(query, keys)
        except sqlite3.OperationalError as error:
            # A store of before the table was thought of.
            self.damaged = self.damaged or "no such table" not in str(error)
        except sqlite3.DatabaseError:
            self.damaged = True

    def _is_sound(self, row: tuple[Any, ...]) -> bool:
        if self._name != "runs":
            return True
        try:
            return all(unpack(value) is not None for value in row if isinstance(value, bytes))
        except DataError:
            return False
