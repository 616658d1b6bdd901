"""Sections of the main text: their titles, and which equations stand in them."""

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

Number = tuple[int, ...]

#: A number such as 13.8 or 8.8.2, after "§" where the map names a section for certain.
_NUMBER = re.compile(r"(§?)\b(\d+(?:\.\d+)+)")
#: Figures, tables and exercises have numbers of their own.
_NOT_A_PLACE = re.compile(
    r"\b(?:figs?|tables?)\b\.? ?\d[\d.,– ]*|\bex ?\d+(?:–\d+)?|\b[FT]\d[\d.]*(?:[–,][\d.]+)*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class TextSection:
    """One section of Alpaydin's book.

    Attributes
    ----------
    number
        As printed, such as ``13.8``.
    title
        As printed.
    equations
        First and last equation in it, or None where it has none.
    """

    number: str
    title: str
    equations: tuple[Number, Number] | None = None


@dataclass(frozen=True)
class Place:
    """A number, or a range of numbers, in the map's section column."""

    first: Number
    last: Number
    is_section: bool = False

    def overlaps(self, first: Number, last: Number) -> bool:
        """Tell whether the two ranges of equations share a number."""
        return self.first <= last and first <= self.last


@cache
def read_sections() -> dict[str, TextSection]:
    """Return the sections by number."""
    path = files("verulam.catalogue") / "sections.csv"
    with path.open(encoding="utf-8") as stream:
        return {row["section"]: _section(row) for row in csv.DictReader(stream)}


def _section(row: dict[str, str]) -> TextSection:
    equations = None
    if row["first_equation"]:
        equations = number(row["first_equation"]), number(row["last_equation"])
    return TextSection(row["section"], row["title"], equations)


def number(text: str) -> Number:
    """Return ``(13, 8)`` for ``13.8``, so that numbers sort and compare."""
    return tuple(int(part) for part in text.split("."))


@cache
def places(section: str) -> tuple[Place, ...]:
    """Return the numbers and ranges that one cell of the map's section column names.

    Examples
    --------
    >>> places("§8.2, 8.10–8.11, F8.3")
    (Place(first=(8, 2), last=(8, 2), is_section=True), Place(first=(8, 10), last=(8, 11), ...))
    """
    found: list[Place] = []
    for part in re.split(r"[;,]", _NOT_A_PLACE.sub(" ", section)):
        numbers = _NUMBER.findall(part)
        if not numbers:
            continue
        is_section = numbers[0][0] == "§"
        first, last = number(numbers[0][1]), number(numbers[-1][1])
        shortened = re.search(r"–(\d+)\s*$", part.strip())
        if shortened and len(numbers) == 1:
            last = (*first[:-1], int(shortened[1]))
        found.append(Place(first, last, is_section))
    return tuple(found)
