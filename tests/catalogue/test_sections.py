"""Numbers in the map's section column, and the sections they belong to."""

from itertools import pairwise

import pytest

from verulam.catalogue import read_map
from verulam.catalogue._sections import Place, number, places, read_sections


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("§8.8.2", [Place((8, 8, 2), (8, 8, 2), True)]),
        ("8.10–8.11", [Place((8, 10), (8, 11))]),
        ("19.18–25, T19.4", [Place((19, 18), (19, 25))]),
        ("13.16, F13.3, 13.43, F13.6", [Place((13, 16), (13, 16)), Place((13, 43), (13, 43))]),
        ("F13.1,4,5,7–11", []),
        ("11.4; tables 11.1–11.2; figs 11.4–11.5", [Place((11, 4), (11, 4))]),
        ("figs 11.9, 11.13", []),
        ("11.9; fig 11.17; ex 8", [Place((11, 9), (11, 9))]),
        ("(4.1)–(4.4)", [Place((4, 1), (4, 4))]),
        ("§13.7, ex3", [Place((13, 7), (13, 7), True)]),
        ("ex 8–11", []),
        ("Bayes (8.10)", [Place((8, 10), (8, 10))]),
        ("Associations", []),
    ],
)
def test_places(cell, expected):
    assert list(places(cell)) == expected


def test_every_cell_can_be_read():
    assert sum(bool(places(row.section)) for row in read_map()) > 500


def test_equations_run_on_from_section_to_section():
    by_chapter = {}
    for section in read_sections().values():
        if section.equations:
            first, last = section.equations
            assert first <= last
            assert first[0] == last[0] == number(section.number)[0]
            by_chapter.setdefault(first[0], []).append((first, last))
    assert set(by_chapter) == set(range(8, 20))
    for chapter, ranges in by_chapter.items():
        for (_, last), (first, _) in pairwise(ranges):
            assert first[1] == last[1] + 1, (chapter, first)
