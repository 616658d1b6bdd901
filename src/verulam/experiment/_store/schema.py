"""The schema of a store: its tables, their version, and the migration of older files."""

import contextlib
import functools
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from verulam.base import DataError

#: Raised whenever older programs could not read what newer ones write.
SCHEMA_VERSION = 2

Transaction = Callable[[], AbstractContextManager[Any]]

#: Tables whose key is the hash of a run.
RUN_TABLES = ("runs", "tunings", "checks")
#: Tables that say what was planned and what came of it: all but the version of the schema.
TABLES = (
    "studies", "data", "splits", "draws", "nuisance", "row_weights", "row_groups", "notices",
    "environments", "planned", *RUN_TABLES, "finalisations",
)  # fmt: skip

_CREATE = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS studies (
    study TEXT PRIMARY KEY, content TEXT NOT NULL, added REAL NOT NULL);
CREATE TABLE IF NOT EXISTS data (
    data TEXT PRIMARY KEY, label TEXT NOT NULL, task TEXT NOT NULL, target TEXT NOT NULL,
    n_rows INTEGER NOT NULL, n_columns INTEGER NOT NULL, classes TEXT NOT NULL,
    targets BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS splits (
    split TEXT PRIMARY KEY, data TEXT NOT NULL, repeat INTEGER NOT NULL, fold INTEGER NOT NULL,
    train_rows INTEGER NOT NULL, test BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS environments (environment TEXT PRIMARY KEY, content TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS planned (
    study TEXT NOT NULL, position INTEGER NOT NULL, run TEXT NOT NULL, data TEXT NOT NULL,
    label TEXT NOT NULL, place INTEGER NOT NULL, learner TEXT NOT NULL, setting TEXT NOT NULL,
    levels TEXT NOT NULL, preparation TEXT NOT NULL, split TEXT NOT NULL, share REAL NOT NULL,
    seed INTEGER NOT NULL, PRIMARY KEY (study, position)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY, status TEXT NOT NULL, stage TEXT NOT NULL, error TEXT NOT NULL,
    warning TEXT NOT NULL, started REAL, fit_seconds REAL, predict_seconds REAL,
    peak_memory REAL, model_size REAL, environment TEXT NOT NULL,
    predicted BLOB, probabilities BLOB, scores BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tunings (
    run TEXT PRIMARY KEY, chosen TEXT NOT NULL, score REAL, measure TEXT NOT NULL,
    settings INTEGER NOT NULL, fits INTEGER NOT NULL, seconds REAL NOT NULL, trials TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS checks (run TEXT PRIMARY KEY, difference TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS nuisance (
    data TEXT NOT NULL, name TEXT NOT NULL, levels TEXT NOT NULL, codes BLOB NOT NULL,
    PRIMARY KEY (data, name));
CREATE TABLE IF NOT EXISTS row_weights (data TEXT PRIMARY KEY, weights BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS row_groups (
    study TEXT NOT NULL, data TEXT NOT NULL, codes BLOB NOT NULL, PRIMARY KEY (study, data));
CREATE TABLE IF NOT EXISTS notices (
    study TEXT NOT NULL, place INTEGER NOT NULL, notice TEXT NOT NULL, PRIMARY KEY (study, place));
CREATE TABLE IF NOT EXISTS draws (split TEXT PRIMARY KEY, train BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS finalisations (
    number INTEGER PRIMARY KEY, study TEXT NOT NULL, data TEXT NOT NULL, label TEXT NOT NULL,
    locked TEXT NOT NULL, contestant TEXT NOT NULL, opened REAL NOT NULL, who TEXT NOT NULL,
    forced INTEGER NOT NULL, response TEXT, model TEXT);
"""
_INSERT_VERSION = f"INSERT OR IGNORE INTO facts VALUES ('schema', '{SCHEMA_VERSION}')"  # noqa: S608 (a number of our own)
#: Tables that stores of every version have.
_ALWAYS = ("facts", "studies", "data", "splits", "environments", "planned", "runs")
_COLUMNS = """
SELECT m.name, c.name FROM main.sqlite_master m JOIN pragma_table_info(m.name, 'main') c
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, c.cid
"""
#: What the first schema kept otherwise: the label with the data, and runs of a study by their id.
_FIRST_PLANNED = """
SELECT p.study, p.position, p.run, p.data, d.label, d.rowid AS place, p.learner, p.setting,
       p.levels, p.preparation, p.split, p.share, p.seed
FROM main.{table} p JOIN main.data d ON d.data = p.data
"""


def read_as_current(connection: sqlite3.Connection, path: Path) -> None:
    """Let a file be read as if it had the present schema, whatever version it has.

    Parameters
    ----------
    connection
        The open file.
    path
        What it is called, for messages.
    """
    version = _stored_version(connection, path)
    _check_structure(connection, version)
    if version < SCHEMA_VERSION:
        view_as_current(connection)


def make_current(connection: sqlite3.Connection, path: Path, transaction: Transaction) -> None:
    """Give a file that is to be written the tables of the present schema.

    Parameters
    ----------
    connection
        The open file.
    path
        What it is called, for messages.
    transaction
        Begins one, for changes that are all made, or none of them.
    """
    _create_tables(connection)
    if _stored_version(connection, path) < SCHEMA_VERSION:
        with transaction():
            if _stored_version(connection, path) < SCHEMA_VERSION:  # else another was quicker
                _upgrade(connection)
    _check_structure(connection, SCHEMA_VERSION)


def _create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables that a file does not have yet; a new file gets the present version."""
    if _stored_columns(connection).keys() >= _columns().keys():
        return
    # All at once: a reader that comes in between would take the file for a damaged one.
    connection.executescript(f"BEGIN IMMEDIATE; {_CREATE}; {_INSERT_VERSION}; COMMIT")


def refuse_foreign(connection: sqlite3.Connection) -> None:
    """Refuse a file of another program, before anything is written to it."""
    present = _stored_columns(connection)
    if present and "facts" not in present:
        raise sqlite3.DatabaseError("it has tables of something else")


def _stored_columns(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the columns of each table that a file has."""
    columns: dict[str, list[str]] = {}
    for table, column in connection.execute(_COLUMNS):
        columns.setdefault(table, []).append(column)
    return columns


def _stored_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the schema that a file has; refuse one from the future."""
    row = connection.execute("SELECT value FROM facts WHERE name = 'schema'").fetchone()
    text = "" if row is None else str(row[0])
    if not text.isascii() or not text.isdigit():
        raise sqlite3.DatabaseError(f"the version of its schema is {text!r}, not a number")
    version = int(text)
    if version > SCHEMA_VERSION:
        raise DataError(
            f"The store {path} was written by a newer Verulam (schema {version}; this "
            f"one knows {SCHEMA_VERSION}). Upgrade Verulam to read it."
        )
    return version


def _check_structure(connection: sqlite3.Connection, version: int) -> None:
    """Refuse a file whose tables lack what every store of its version has."""
    present = _stored_columns(connection)
    for table in _ALWAYS:
        if table not in present:
            raise sqlite3.DatabaseError(f"it has no table {table}")
    for table, columns in _columns().items():
        if table == "planned" and version < SCHEMA_VERSION:
            continue
        missing = [name for name in columns if name not in present.get(table, columns)]
        if missing:
            raise sqlite3.DatabaseError(f"its table {table} has no column {missing[0]}")


@functools.cache
def _columns() -> dict[str, list[str]]:
    """Return the columns of each table of the present schema."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_CREATE)
        return _stored_columns(connection)


def view_as_current(connection: sqlite3.Connection) -> None:
    """Let queries see the plans of an older file as the present schema has them."""
    # A temporary view lies in memory and hides the table of the same name: the file, which may be
    # read-only, stays as it is.
    view = _FIRST_PLANNED.format(table="planned")
    connection.execute(f"CREATE TEMP VIEW planned AS {view}")


def _upgrade(connection: sqlite3.Connection) -> None:
    """Bring an older file to the present version, within a transaction of the caller."""
    connection.execute("ALTER TABLE planned RENAME TO planned_before")
    # One by one, since executescript would commit the transaction first.
    for statement in _CREATE.split(";"):
        connection.execute(statement)
    connection.execute(f"INSERT INTO planned {_FIRST_PLANNED.format(table='planned_before')}")
    connection.execute("DROP TABLE planned_before")
    connection.execute("UPDATE facts SET value = ? WHERE name = 'schema'", (SCHEMA_VERSION,))
