"""Finding a section or a method: rows of the map, and learners, ranked."""

import csv
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from verulam.base import nearest_names
from verulam.catalogue._entries import Entry, agent_entries, entries
from verulam.catalogue._map import MapRow, read_map
from verulam.catalogue._synonyms import ELSEWHERE, SYNONYMS

#: A number of a section or an equation, as it may be asked for by itself.
_PLACE = re.compile(r"§?(\d+(?:\.\d+)*)")
#: Behind every rank that words of a question can add up to.
_LINKED = 1000
#: ``13.8`` as ``(13, 8)``.
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
class SearchResult:
    """What a search gave.

    Attributes
    ----------
    section
        The section of the main text that was asked for by number, if any.
    rows
        Rows of the map, best first.
    learners
        Learners and agents in the catalogue, best first.
    suggestions
        What looks most like the question, where nothing was found.
    elsewhere
        What is no method of the texts, and where it is.

    Examples
    --------
    >>> from verulam.catalogue import find
    >>> matches = find("bagging")
    >>> matches.rows[0].section, "bagging" in [item.name for item in matches.learners]
    ('17.6', True)
    """

    section: TextSection | None
    rows: tuple[MapRow, ...]
    learners: tuple[Entry, ...]
    suggestions: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


def find(question: str) -> SearchResult:
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
    >>> find("knn").learners[0].spoken
    'k-nearest neighbours classifier'
    """
    asked = _in_their_words(_plain(question))
    words = asked.split()
    row_ranks = {row.id: _row_rank(row, words) for row in read_map()}
    known_learners = entries() + agent_entries()
    learner_ranks = {item.name: _learner_rank(item, words) for item in known_learners}
    # Rows and learners lead to one another: who asks for a method wants its place, and vice versa.
    by_learner = {
        row for item in known_learners if learner_ranks[item.name] is not None for row in item.rows
    }
    rows = _ranked((_or_linked(row_ranks[row.id], row.id in by_learner), row) for row in read_map())
    learners = _ranked(
        (
            _or_linked(
                learner_ranks[item.name], any(row_ranks[row] is not None for row in item.rows)
            ),
            item,
        )
        for item in known_learners
    )
    suggestions: tuple[str, ...] = ()
    elsewhere = _elsewhere(_plain(question))
    if not rows and not learners and not elsewhere:
        known = {_plain(row.capability): row.capability for row in read_map()}
        known |= {_plain(item.spoken): item.spoken for item in known_learners}
        suggestions = tuple(known[name] for name in nearest_names(_plain(question), known))
    section = read_sections().get(question.strip().removeprefix("§").strip())
    return SearchResult(section, rows, learners, suggestions, elsewhere)


def _in_their_words(question: str) -> str:
    """Return a question in the words of the texts: synonyms, "chapter 9" as 9, no plurals."""
    question = re.sub(r"\b(chapter|ch\.?|section)\s+(?=\d)", "", question.strip())
    question = SYNONYMS.get(question, question)
    known = " ".join(
        [_plain(row.capability) for row in read_map()] + [_plain(item.spoken) for item in entries()]
    )
    words = []
    for word in question.split():
        singular = word.removesuffix("s")
        words.append(singular if word not in known and singular in known else word)
    return " ".join(words)


def _elsewhere(question: str) -> tuple[str, ...]:
    """Return where things are that are no methods of the texts."""
    lines = []
    for name, place in ELSEWHERE.items():
        if re.search(rf"\b{name}", question):
            other = place.removeprefix("see ")
            lines.append(f"{name}: {ELSEWHERE.get(other, place)}")
    return tuple(lines)


def _ranked(candidates: Iterable[tuple[int | None, Any]]) -> tuple[Any, ...]:
    matches = [(rank, item) for rank, item in candidates if rank is not None]
    # Sorting is stable: among equals the order of the texts stays.
    return tuple(item for _, item in sorted(matches, key=lambda pair: pair[0]))


def _or_linked(rank: int | None, linked: bool) -> int | None:
    """Return the rank, or a late one for what is linked to something that matched."""
    return _LINKED if rank is None and linked else rank


def _row_rank(row: MapRow, words: list[str]) -> int | None:
    """Return how far a row is from the question, 0 being exact, or None where it does not match."""
    return _sum_of_ranks([_word_rank(row, word) for word in words])


def _word_rank(row: MapRow, word: str) -> int | None:
    if word == row.id.lower():
        return 0
    place = _PLACE.fullmatch(word)
    if place:
        return _place_rank(row, place[1])
    return _text_rank(word, _plain(row.capability), _plain(f"{row.id} {row.source} {row.section}"))


def _text_rank(word: str, text: str, other: str) -> int | None:
    """Rank a word: the beginning of one in `text`, within one, or the beginning in `other`."""
    if re.search(rf"\b{re.escape(word)}", text):
        return 1
    # Three letters stand within too many words: "roc" in "process".
    if len(word) > 3 and word in text:
        return 2
    return 3 if re.search(rf"\b{re.escape(word)}", other) else None


def _place_rank(row: MapRow, text: str) -> int | None:
    """Rank a number: the section itself, what lies inside it, then ranges of equations."""
    asked = number(text)
    if len(asked) == 1:
        return 1 if re.match(rf"[UB]?{text}\.", row.id) else None
    named = places(row.section)
    if any(place.is_section and place.first == asked for place in named):
        return 1
    if any(asked in (place.first, place.last) and place.first == place.last for place in named):
        return 2
    if any(place.first[: len(asked)] == asked for place in named):
        return 2
    if row.source == "alpaydin" and _inside(row, text):
        return 2
    equations = [place for place in named if not place.is_section]
    return 3 if any(place.overlaps(asked, asked) for place in equations) else None


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
    return _sum_of_ranks(ranks)


def _sum_of_ranks(ranks: list[int | None]) -> int | None:
    """Return the sum, or None where some word does not match."""
    matched = [rank for rank in ranks if rank is not None]
    return sum(matched) if matched and len(matched) == len(ranks) else None


def _plain(text: str) -> str:
    """Return lower case without accents, so that "naive" finds "Naïve"."""
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


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
    ranges: list[Place] = []
    for part in re.split(r"[;,]", _NOT_A_PLACE.sub(" ", section)):
        numbers = _NUMBER.findall(part)
        if not numbers:
            continue
        is_section = numbers[0][0] == "§"
        first, last = number(numbers[0][1]), number(numbers[-1][1])
        shortened = re.search(r"–(\d+)\s*$", part.strip())
        if shortened and len(numbers) == 1:
            last = (*first[:-1], int(shortened[1]))
        ranges.append(Place(first, last, is_section))
    return tuple(ranges)
