"""Reading the map; tests/test_map.py checks what stands in it."""

import csv
from pathlib import Path

import verulam
from verulam.catalogue import read_map
from verulam.catalogue._map import _several


def test_rows_are_those_of_the_file():
    with (Path(verulam.__file__).parent / "map.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row.id for row in read_map()] == [row["id"] for row in rows]
    assert [row.capability for row in read_map()] == [row["capability"] for row in rows]


def test_several_in_one_cell():
    assert _several("") == ()
    assert _several("one") == ("one",)
    assert _several("one; two;") == ("one", "two")
