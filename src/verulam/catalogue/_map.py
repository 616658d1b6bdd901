"""The map: what the texts ask for, where it lives, and which test shows it."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class MapRow:
    """One capability of the texts.

    Attributes
    ----------
    id
        Short name of the row, such as ``13.w``.
    source
        The text: alpaydin, bartkowiak or sit1305.
    section
        Sections, equations, figures and exercises, as printed.
    capability
        What a reader of that place wants to do.
    where
        Dotted names of the objects that do it; empty until there are some.
    verified_by
        Tests that show it, as ``tests/file.py::test_name``.

    Examples
    --------
    >>> from verulam.catalogue import read_map
    >>> [row.id for row in read_map() if row.capability == "Bagging"]
    ['17.u', 'U5.t', 'B7.e']
    """

    id: str
    source: str
    section: str
    capability: str
    where: tuple[str, ...] = ()
    verified_by: tuple[str, ...] = ()


@cache
def read_map() -> tuple[MapRow, ...]:
    """Return every row of the map, in the order of the texts.

    Examples
    --------
    >>> read_map()[0].capability
    'Histogram and naive density'
    """
    with (files("verulam") / "map.csv").open(encoding="utf-8") as stream:
        return tuple(
            MapRow(
                row["id"],
                row["source"],
                row["section"],
                row["capability"],
                _several(row["where"]),
                _several(row["verified_by"]),
            )
            for row in csv.DictReader(stream)
        )


def _several(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(";") if part.strip())
