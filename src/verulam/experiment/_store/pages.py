"""Rows of a file of SQLite, read page by page, for files that SQLite itself gives up on.

The format is that of https://sqlite.org/fileformat2.html. Every leaf says of itself what it is, so
that rows are found without the pages that would lead to them.
"""

import mmap
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verulam.base import DataError

MAGIC = b"SQLite format 3\0"
#: The first page begins with a header of this length (SQLite's file format, 1.3).
HEADER_BYTES = 100
#: What SQLite, and a store, has where the header cannot be read.
USUAL_PAGE_SIZE = 4096
#: Kinds of pages by their first byte: where rows are kept by key, in the middle of a tree and at
#: its ends, and where they are kept by number.
KEYS_WITHIN, KEYS_AT_END, ROWS_AT_END = 2, 10, 13
_ROW_BEGINS = {KEYS_WITHIN: 12, KEYS_AT_END: 8, ROWS_AT_END: 8}
#: Hexadecimal digits of the hashes that are keys of runs.
_KEY_DIGITS = 32


@dataclass(frozen=True)
class TableForm:
    """What the rows of a table look like.

    Attributes
    ----------
    types
        Declared type of each column: TEXT, REAL, INTEGER or BLOB.
    optional
        Which columns may be empty.
    numbered
        Whether the first column is the number by which SQLite keeps the row.
    keyed
        Whether the rows are kept by key, and not by number.
    """

    types: tuple[str, ...]
    optional: tuple[bool, ...]
    numbered: bool
    keyed: bool

    def row(self, kind: int, number: int, values: Sequence[Any]) -> tuple[Any, ...] | None:
        """Return a record as a row of the table; None where it is none of its rows."""
        if len(values) != len(self.types) or self.keyed == (kind == ROWS_AT_END):
            return None
        row = (number, *values[1:]) if self.numbered else tuple(values)
        fits = all(map(_fits, row, self.types, self.optional))
        return row if fits and (self.numbered or _is_key(row[0])) else None


class Pages:
    """The pages of a file, some of which may be damaged or not there at all.

    Parameters
    ----------
    content
        The file.
    """

    def __init__(self, content: bytes | mmap.mmap) -> None:
        self._content = content
        header = content[:HEADER_BYTES]
        size = int.from_bytes(header[16:18], "big") if header.startswith(MAGIC) else 0
        # 1 stands for 65536, which two bytes do not hold.
        size = 65536 if size == 1 else size
        self._size = size if size >= 512 and size & (size - 1) == 0 else USUAL_PAGE_SIZE
        self._usable = self._size - (header[20] if header.startswith(MAGIC) else 0)
        # The last page may be there in part.
        self._count = -(-len(content) // self._size)

    def rows(self, forms: Mapping[str, TableForm]) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Yield every row of some tables that can be read, with the name of its table.

        Parameters
        ----------
        forms
            The tables; a row belongs to the first that it fits.
        """
        free = self._free_pages()
        for number in range(1, self._count + 1):
            page = self._page(number)
            start = HEADER_BYTES if number == 1 else 0
            kind = page[start] if len(page) > start else 0
            if kind not in _ROW_BEGINS or number in free:
                continue
            for row_number, payload in self._payloads(page, start, kind):
                values = _record(payload)
                for name, form in forms.items() if values else ():
                    row = form.row(kind, row_number, values or ())
                    if row is not None:
                        yield name, row
                        break

    def _page(self, number: int) -> bytes:
        return self._content[(number - 1) * self._size : number * self._size]

    def _free_pages(self) -> set[int]:
        """Return pages that are no longer in use; what they hold was deleted."""
        trunk = int.from_bytes(self._content[32:36], "big")
        free: set[int] = set()
        while 0 < trunk <= self._count and trunk not in free:
            free.add(trunk)
            page = self._page(trunk)
            count = min(int.from_bytes(page[4:8], "big"), max(len(page) // 4 - 2, 0))
            free.update(struct.unpack_from(f">{count}I", page, 8))
            trunk = int.from_bytes(page[:4], "big")
        return free

    def _payloads(self, page: bytes, start: int, kind: int) -> Iterator[tuple[int, bytes]]:
        """Yield number and content of each cell of a page; those that make no sense are left."""
        count = int.from_bytes(page[start + 3 : start + 5], "big")
        first = start + _ROW_BEGINS[kind]
        for place in range(first, min(first + 2 * count, self._usable - 1), 2):
            position = int.from_bytes(page[place : place + 2], "big")
            position += 4 if kind == KEYS_WITHIN else 0
            number = 0
            try:
                length, position = _varint(page, position)
                if kind == ROWS_AT_END:
                    number, position = _varint(page, position)
                payload = self._payload(page, position, length, kind)
            except IndexError:
                continue
            if payload is not None:
                yield number, payload

    def _payload(self, page: bytes, position: int, length: int, kind: int) -> bytes | None:
        """Return the content of a cell, with what did not fit on its page; None where that is lost.

        The sizes are those of section 1.6 of the format.
        """
        usable = self._usable
        most = usable - 35 if kind == ROWS_AT_END else (usable - 12) * 64 // 255 - 23
        if length <= most:
            payload = page[position : min(position + length, usable)]
            return payload if len(payload) == length else None
        least = (usable - 12) * 32 // 255 - 23
        local = least + (length - least) % (usable - 4)
        local = local if local <= most else least
        parts = [page[position : position + local]]
        following = int.from_bytes(page[position + local : position + local + 4], "big")
        left = length - local
        if left > len(self._content):
            return None
        while left > 0:
            if not 0 < following <= self._count:
                return None
            further = self._page(following)
            parts.append(further[4 : 4 + min(left, usable - 4)])
            left -= usable - 4
            following = int.from_bytes(further[:4], "big")
        payload = b"".join(parts)
        # The last page of a chain says that none follows.
        return payload if following == 0 and len(payload) == length else None


@contextmanager
def opened_pages(path: Path) -> Iterator[Pages]:
    """Give the pages of a file, which is not read into memory as a whole.

    Parameters
    ----------
    path
        The file.
    """
    with path.open("rb") as file:
        if not path.stat().st_size:
            raise DataError(f"{path} is empty.")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield Pages(content)


def _varint(page: bytes, position: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and where it ends."""
    value = 0
    for place in range(position, position + 8):
        byte = page[place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + 1
    return value << 8 | page[position + 8], position + 9


def _record(payload: bytes) -> list[Any] | None:
    """Return the values of a record; None where it is none."""
    try:
        end, position = _varint(payload, 0)
        kinds = []
        while position < end:
            kind, position = _varint(payload, position)
            kinds.append(kind)
        values, place = [], end
        for kind in kinds:
            size = _width(kind)
            values.append(_value(kind, payload[place : place + size]))
            place += size
    except (IndexError, ValueError, struct.error):
        return None
    return values if place == len(payload) and position == end else None


def _width(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]


def _value(kind: int, content: bytes) -> Any:
    """Return a value by the kind that its record gives it."""
    if kind >= 12:
        return content.decode() if kind % 2 else content
    if kind == 7:
        return struct.unpack(">d", content)[0]
    if kind in (8, 9):
        return kind - 8
    return int.from_bytes(content, "big", signed=True) if kind else None


def _fits(value: Any, declared: str, optional: bool) -> bool:
    if value is None:
        return optional
    if declared == "REAL":
        # SQLite keeps whole numbers as such.
        return isinstance(value, float | int)
    return isinstance(value, {"TEXT": str, "INTEGER": int, "BLOB": bytes}[declared])


def _is_key(value: Any) -> bool:
    """Return whether a value is a hash, as the keys of all tables are."""
    return (
        isinstance(value, str)
        and len(value) == _KEY_DIGITS
        and set(value) <= set("0123456789abcdef")
    )
