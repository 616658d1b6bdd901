"""Saving what is intact of a damaged store."""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from verulam.base import DataError, keep_on_disk
from verulam.experiment._store.damage import is_sound
from verulam.experiment._store.pages import TableForm, opened_pages
from verulam.experiment._store.schema import RUN_TABLES, TABLES, view_as_current
from verulam.experiment._store.store import Store
from verulam.experiment._text import counted

#: What a table is called in messages.
_WORDS = {
    "studies": "the study",
    "data": "targets of the data sets",
    "splits": "the splits",
    "draws": "rows drawn with replacement",
    "nuisance": "nuisance factors",
    "row_weights": "weights of rows",
    "row_groups": "groups of rows",
    "notices": "notices",
    "environments": "versions",
    "planned": "the plan",
    "runs": "runs",
    "tunings": "what was tuned",
    "checks": "checks whether runs repeat",
    "finalisations": "uses of locked test parts",
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
        if "finalisations" in self.damaged:
            lost += ". Take locked test parts for used: the record of their uses may have gaps"
        return f"{counted(self.rows.get('runs', 0), 'run')} saved in {self.path}{lost}"


def recover(path: str | Path, target: str | Path) -> Recovery:
    """Save the intact rows of a damaged store in a new one.

    The damaged store stays as it is. Carrying out the study on the new store runs only what
    was lost: runs whose predictions do not fit their checksum are lost as well. A locked test
    part that was used stays used.

    Parameters
    ----------
    path
        The damaged store. What SQLite cannot read any more, as where the end of the file is
        missing, is read from the pages that are there.
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
    if not target.resolve().parent.is_dir():
        raise DataError(f"target: {target} cannot be written; name a file in a folder that exists.")
    with _new_store(target) as store, _opened(path) as connection:
        tables = [_Table(connection, table) for table in TABLES]
        rows = {table.name: store.add_rows(table.name, table.rows()) for table in tables}
        damaged = tuple(table.name for table in tables if table.damaged)
        if damaged:
            _add_from_pages(store, path, damaged, rows)
        if "planned" in damaged:
            # A part of a plan would pass for the whole; running the study writes it anew.
            with store.transaction() as writing:
                writing.execute("DELETE FROM planned")
            rows["planned"] = 0
        if not any(rows.values()) and (damaged or not any(table.is_there for table in tables)):
            raise DataError(f"Nothing in {path} can be read; it may never have been a store.")
    return Recovery(target, rows, damaged)


@contextlib.contextmanager
def _new_store(target: Path) -> Iterator[Store]:
    """Give a store that is there under its name once it is complete, and else not at all."""
    # In a folder of its own, for SQLite has files beside it while it is written.
    with tempfile.TemporaryDirectory(dir=target.resolve().parent, suffix=".part") as folder:
        draft = Path(folder, target.name)
        try:
            with Store(draft) as store:
                yield store
            keep_on_disk(draft)
            os.replace(draft, target)
        except DataError as error:
            raise DataError(str(error).replace(str(draft), str(target))) from error
        except OSError as error:
            raise type(error)(error.errno, error.strerror or str(error), str(target)) from error


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection to a file that is not changed, however little is left of it."""
    log = path.with_name(f"{path.name}-wal")
    has_log = log.is_file() and log.stat().st_size
    # Without a log the file is all there is, and nothing need be written beside it.
    address = path.absolute().as_uri() + ("?mode=ro" if has_log else "?mode=ro&immutable=1")
    with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
        # Otherwise SQLite reads nothing of a file that is shorter than it was.
        connection.execute("PRAGMA writable_schema = ON")
        with contextlib.suppress(sqlite3.DatabaseError):
            columns = {name for _, name, *_ in connection.execute("PRAGMA table_info(planned)")}
            if columns and "label" not in columns:
                view_as_current(connection)
        yield connection


def _add_from_pages(store: Store, path: Path, damaged: Sequence[str], rows: dict[str, int]) -> None:
    """Add the rows of damaged tables that lie on pages to which nothing leads any more."""
    forms = {name: _form(store, name) for name in damaged}
    with opened_pages(path) as pages:
        for name in damaged:
            intact = (row for _, row in pages.rows({name: forms[name]}) if is_sound(row))
            rows[name] += store.add_rows(name, intact)


def _form(store: Store, table: str) -> TableForm:
    """Return what the rows of a table look like in a sound store."""
    columns = list(store.rows(f"PRAGMA table_info({table})"))
    query = "SELECT sql FROM sqlite_master WHERE name = ?"
    ((statement,),) = store.rows(query, (table,))
    keyed = "WITHOUT ROWID" in statement
    types = tuple(kind for _, _, kind, *_ in columns)
    return TableForm(
        types,
        tuple(not required for *_, required, _, _ in columns),
        numbered=not keyed and types[0] == "INTEGER",
        keyed=keyed,
    )


class _Table:
    """One table of a damaged file, read around what cannot be."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection, self.name = connection, name
        self.damaged, self.is_there = False, True

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that are intact, some of them perhaps twice."""
        if self.name not in RUN_TABLES:
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
            if is_sound(row):
                yield row
            low, high = (f"{run}\0", high) if order == "ASC" else (low, run)

    def _read(self, condition: str, *keys: str) -> Iterator[tuple[Any, ...]]:
        for row in self._read_raw(condition, *keys):
            if is_sound(row):
                yield row
            else:
                self.damaged = True

    def _read_raw(self, condition: str, *keys: str) -> Iterator[tuple[Any, ...]]:
        query = f"SELECT * FROM {self.name} {condition}"  # noqa: S608 (names of our own)
        try:
            yield from self._connection.execute(query, keys)
        except sqlite3.OperationalError as error:
            # A store of before the table was thought of.
            self.is_there = "no such table" not in str(error)
            self.damaged = self.damaged or self.is_there
        except sqlite3.DatabaseError:
            self.damaged = True
