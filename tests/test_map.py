"""The map: every row of the texts, pointing at objects and tests that exist."""

import ast
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from verulam.catalogue import read_map

ROOT = Path(__file__).parents[1]
FILE = ROOT / "src" / "verulam" / "map.csv"
ROWS = read_map()


def test_every_row_is_there():
    assert Counter(row.source for row in ROWS) == {
        "alpaydin": 525,
        "bartkowiak": 107,
        "sit1305": 132,
    }
    assert len({row.id for row in ROWS}) == 764


def test_ids_run_without_gaps():
    """Within a chapter: a, b, ... z, aa, ab, ..."""
    seen = Counter()
    for row in ROWS:
        chapter, _, letters = row.id.partition(".")
        place = seen[chapter]
        expected = chr(97 + place % 26)
        if place >= 26:
            expected = chr(96 + place // 26) + expected
        assert letters == expected, row.id
        seen[chapter] += 1
    assert set(seen) == {
        *map(str, range(8, 20)), "A", *(f"U{unit}" for unit in range(1, 6)),
        *(f"B{chapter}" for chapter in (2, 4, 5, 6, 7, 8)), "BP",
    }  # fmt: skip


def test_cells_are_filled_and_tidy():
    for row in ROWS:
        assert row.section.strip() == row.section != "", row.id
        assert row.capability.strip() == row.capability != "", row.id
    text = FILE.read_bytes().decode("utf-8")
    assert "\r" not in text
    assert text.startswith("id,source,section,capability,where,verified_by\n")


def test_what_is_somewhere_is_verified_and_the_reverse():
    for row in ROWS:
        assert bool(row.where) == bool(row.verified_by), row.id


def test_where_imports():
    for path in sorted({path for row in ROWS for path in row.where}):
        assert resolve(path) is not None, path


def test_verified_by_exists():
    named = sorted({test for row in ROWS for test in row.verified_by})
    assert [test for test in named if not exists(test)] == []


def resolve(path):
    """Return the object behind a dotted name: the longest importable module, then attributes."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(path)


def exists(test):
    """Tell whether ``tests/x/test_y.py::test_name`` (or ``::Class::method``) is there."""
    path, *names = test.partition("[")[0].split("::")
    file = ROOT / path
    return file.is_file() and bool(names) and tuple(names) in defined(file)


@cache
def defined(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.add((node.name,))
        elif isinstance(node, ast.ClassDef):
            found |= {
                (node.name, part.name) for part in node.body if isinstance(part, ast.FunctionDef)
            }
    return found


def test_the_checks_can_fail():
    assert resolve("verulam.catalogue.MapRow.where") == ()
    with pytest.raises(AttributeError):
        resolve("verulam.catalogue.NoSuchThing")
    with pytest.raises(ModuleNotFoundError):
        resolve("nowhere.at.all")
    assert exists("tests/test_map.py::test_where_imports[some-parameter]")
    assert not exists("tests/test_map.py::test_that_never_was")
    assert not exists("tests/test_map.py")
    assert not exists("tests/no_such_file.py::test_x")
