"""Finding a section or a method: rows of the map, and learners, ranked."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from verulam.base import nearest_names
from verulam.catalogue._entries import Entry, entries
from verulam.catalogue._map import MapRow, read_map
from verulam.catalogue._sections import TextSection, number, places, read_sections

_PLACE = re.compile(r"§?(\d+(?:\.\d+)*)")
#: Behind every rank that words of a question can add up to.
_LINKED = 1000


@dataclass(frozen=True)
class Found:
    """What a search gave.

    Attributes
    ----------
    section
        The section of the main text that was asked for by number, if any.
    rows
        Rows of the map, best first.
    learners
        Learners in the catalogue, best first.
    suggestions
        What looks most like the question, where nothing was found.

    Examples
    --------
    >>> from verulam.catalogue import find
    >>> found = find("bagging")
    >>> found.rows[0].section, found.learners[0].name
    ('17.6', 'bagging')
    """

    section: TextSection | None
    rows: tuple[MapRow, ...]
    learners: tuple[Entry, ...]
    suggestions: tuple[str, ...] = ()


def find(question: str) -> Found:
    """Search the map and the catalogue; every word of the question must match.

    Parameters
    ----------
    question
        Words, a section number, an equation number or the name of a row of the map.

    Examples
    --------
    >>> find("13.8").section.title
    'Multiple Kernel Learning'
    >>> [row.id for row in find("multiple kernel").rows]
    ['13.w', 'U5.z']
    """
    words = _plain(question).split()
    row_ranks = {row.id: _row_rank(row, words) for row in read_map()}
    learner_ranks = {item.name: _learner_rank(item, words) for item in entries()}
    by_learner = {
        row for item in entries() if learner_ranks[item.name] is not None for row in item.rows
    }
    rows = _ranked((_or_linked(row_ranks[row.id], row.id in by_learner), row) for row in read_map())
    learners = _ranked(
        (
            _or_linked(
                learner_ranks[item.name], any(row_ranks[row] is not None for row in item.rows)
            ),
            item,
        )
        for item in entries()
    )
    suggestions: tuple[str, ...] = ()
    if not rows and not learners:
        known = {_plain(row.capability): row.capability for row in read_map()}
        known |= {_plain(item.spoken): item.spoken for item in entries()}
        suggestions = tuple(known[name] for name in nearest_names(_plain(question), known))
    section = read_sections().get(question.strip().removeprefix("§").strip())
    return Found(section, rows, learners, suggestions)


def _ranked(candidates: Iterable[tuple[int | None, Any]]) -> tuple[Any, ...]:
    kept = [(rank, item) for rank, item in candidates if rank is not None]
    return tuple(item for _, item in sorted(kept, key=lambda pair: pair[0]))


def _or_linked(rank: int | None, linked: bool) -> int | None:
    """Return the rank, or a late one for what is linked to something that matched."""
    return _LINKED if rank is None and linked else rank


def _row_rank(row: MapRow, words: list[str]) -> int | None:
    """Return how far a row is from the question, 0 being exact, or None where it does not match."""
    return _total([_word_rank(row, word) for word in words])


def _word_rank(row: MapRow, word: str) -> int | None:
    if word == row.id.lower():
        return 0
    place = _PLACE.fullmatch(word)
    if place:
        return _place_rank(row, place[1])
    return _text_rank(word, _plain(row.capability), _plain(f"{row.id} {row.source} {row.section}"))


def _text_rank(word: str, text: str, other: str) -> int | None:
    if re.search(rf"\b{re.escape(word)}", text):
        return 1
    if word in text:
        return 2
    return 3 if re.search(rf"\b{re.escape(word)}", other) else None


def _place_rank(row: MapRow, text: str) -> int | None:
    """Rank a number: the section itself, what lies inside it, then ranges of equations."""
    wanted = number(text)
    if len(wanted) == 1:
        return 1 if re.match(rf"[UB]?{text}\.", row.id) else None
    named = places(row.section)
    if any(place.is_section and place.first == wanted for place in named):
        return 1
    if any(wanted in (place.first, place.last) and place.first == place.last for place in named):
        return 2
    if any(place.first[: len(wanted)] == wanted for place in named):
        return 2
    if row.source == "alpaydin" and _inside(row, text):
        return 2
    is_equation = [place for place in named if not place.is_section]
    return 3 if any(place.overlaps(wanted, wanted) for place in is_equation) else None


def _inside(row: MapRow, text: str) -> bool:
    """Tell whether the row names an equation that stands in the section or a subsection of it."""
    for section in read_sections().values():
        within = section.number == text or section.number.startswith(f"{text}.")
        if within and section.equations is not None:
            first, last = section.equations
            if any(place.overlaps(first, last) for place in places(row.section)):
                return True
    return False


def _learner_rank(item: Entry, words: list[str]) -> int | None:
    """Rank a learner by its name and section."""
    section = item.section.lower().split()
    ranks = [
        (1 if word in section else None)
        if _PLACE.fullmatch(word)
        else _text_rank(word, _plain(item.spoken), _plain(" ".join(item.names)))
        for word in words
    ]
    return _total(ranks)


def _total(ranks: list[int | None]) -> int | None:
    found = [rank for rank in ranks if rank is not None]
    return sum(found) if found and len(found) == len(ranks) else None


def _plain(text: str) -> str:
    """Return lower case without accents, so that "naive" finds "Naïve"."""
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
