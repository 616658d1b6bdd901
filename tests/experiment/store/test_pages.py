"""Rows read page by page are those that SQLite reads."""

import contextlib
import sqlite3
import statistics

import pytest

from verulam.base import DataError
from verulam.experiment._store.pages import Pages, TableForm, opened_pages

KEYED = TableForm(("TEXT", "REAL", "INTEGER", "BLOB"), (False, True, True, True), False, True)
NUMBERED = TableForm(("INTEGER", "TEXT", "REAL"), (False, False, False), True, False)
INTEGERS = [0, 1, -1, 127, -128, 40_000, -(2**20), 2**30, -(2**45), 2**62, None]


@pytest.fixture(params=[512, 4096, 65536])
def path(request, tmp_path):
    """Return a file with two tables, whose rows need from a few bytes to many pages."""
    path = tmp_path / "file.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size = {request.param}")
        connection.execute(
            "CREATE TABLE keyed (k TEXT PRIMARY KEY, r REAL, i INTEGER, b BLOB) WITHOUT ROWID"
        )
        connection.execute("CREATE TABLE numbered (n INTEGER PRIMARY KEY, t TEXT, r REAL)")
        for number in range(300):
            content = bytes([number % 256]) * (number**2 % 9000)
            key = f"{number * 7919 % 1000:032x}"
            integer = INTEGERS[number % len(INTEGERS)]
            values = (key, number / 4, integer, content if number % 5 else None)
            connection.execute("INSERT INTO keyed VALUES (?, ?, ?, ?)", values)
            values = (number * 1000, "ä" * (number % 700), number / 3)
            connection.execute("INSERT INTO numbered VALUES (?, ?, ?)", values)
        connection.commit()
    return path


def read(path, **forms):
    with opened_pages(path) as pages:
        return list(pages.rows(forms))


def test_every_row_is_read(path):
    rows = read(path, keyed=KEYED, numbered=NUMBERED)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for name in ("keyed", "numbered"):
            expected = connection.execute(f"SELECT * FROM {name}").fetchall()
            assert sorted(row for table, row in rows if table == name) == sorted(expected)
    assert len(rows) == 600


def test_no_damage_raises_or_repeats_for_ever(path):
    """Whatever a byte becomes: most rows do not touch it and are the same."""
    content = path.read_bytes()
    intact = set(read(path, keyed=KEYED))
    counts = []
    for start in range(0, len(content), max(len(content) // 150, 1)):
        damaged = bytearray(content)
        damaged[start : start + 3] = b"\xff\xff\xff"
        rows = list(Pages(bytes(damaged)).rows({"keyed": KEYED, "numbered": NUMBERED}))
        assert len(rows) <= 700
        counts.append(len(intact.intersection(rows)))
    assert statistics.median(counts) >= 298


def test_an_empty_file_is_told(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(DataError, match="is empty"), opened_pages(tmp_path / "empty"):
        pass
