"""How a CSV file is laid out, worked out from its first lines."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TextIO

from verulam.base import refuse_duplicate_names
from verulam.data._table.files import file_error, file_named, open_bytes, undecodable, unreadable

#: Strings that stand for a missing value.
MISSING_MARKERS: tuple[str, ...] = (
    *("", "?", "-", "--", ".", "NA", "N/A", "n/a", "na", "#N/A", "<NA>"),
    *("NaN", "nan", "-nan", "NULL", "Null", "null", "None", "none", "missing"),
)
#: Those that are words: among other words they are values, as in a column of illnesses.
WORD_MARKERS = frozenset({"none", "missing"})
#: From this size on, a float does not tell a whole number from the next.
LARGEST_WHOLE = 2**53

#: So much is looked at, and more where that holds fewer lines: headers can be long.
_HEAD_BYTES = 2**16
_HEAD_LINES = 20
#: Only the first two lines are waited for beyond this, and nothing beyond the second.
_LONG_HEAD, _LONGEST_HEAD = 2**22, 2**26
# Excel's own first line, which names the delimiter.
_SEPARATOR_LINE = re.compile(r"\ufeff?\"?sep=([^\w\"\r\n])\"?[ \t]*(?:\r\n|\r|\n)", re.IGNORECASE)
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# In order of preference: in "1,5;2,5" both fit, and the semicolon is the one meant.
_DELIMITERS = ("\t", ";", "|", ",")
#: Numbers and truth values that are written in letters.
_LETTERS_ONLY = frozenset({"inf", "infinity", "true", "false"})
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_ZERO_IN_FRONT = re.compile(r"[+-]?0+\d+")
#: Marks that may be words or short for some: Namibia, a surname, a programming language.
_MARKERS_IN_LETTERS = frozenset({"NA", "na", "None", "NULL", "Null", "null", "NaN", "nan"})
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


class RecordError(Exception):
    """A record that the csv module cannot read, and the line where it starts."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line


@dataclass(frozen=True)
class CsvLayout:
    """How to read a CSV file.

    Attributes
    ----------
    encoding
        Name of the character encoding.
    delimiter
        What separates fields; a space stands for any run of white space.
    decimal
        Decimal point or comma.
    header
        Whether the first line holds names.
    names
        Column names, from the header or ``column_1``, ``column_2``, ...
    codes
        Columns of digits that are no numbers: of one length, some with a zero in front (01067 is a
        place), or more of them than a float holds.
    words
        Columns of words, in which "none" and "missing" are values.
    skipped
        Lines before the first record: 1 where a line such as ``sep=;`` names the delimiter.
    hints
        Column to what its fields in the file say and its values do not.
    """

    encoding: str
    delimiter: str
    decimal: str
    header: bool
    names: tuple[str, ...]
    codes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    skipped: int = 0
    hints: Mapping[str, str] = field(default_factory=dict)

    def missing_markers(self) -> list[str] | dict[str, list[str]]:
        """Return the fields that stand for a missing value, by column where they differ."""
        if not self.words:
            return list(MISSING_MARKERS)
        return {
            name: [
                marker
                for marker in MISSING_MARKERS
                if name not in self.words or marker not in WORD_MARKERS
            ]
            for name in self.names
        }


def csv_layout(
    path: Path,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
) -> CsvLayout:
    """Return the layout of a file; what the caller says is taken as given."""
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"delimiter={delimiter!r}; expected one character.")
    encoding, text, whole = _head_text(path, encoding)
    separator = _SEPARATOR_LINE.match(text)
    skipped = int(separator is not None)
    if separator is not None:
        delimiter, text = delimiter or separator[1], text[separator.end() :]
    if not text.strip():
        raise file_error(path, "holds nothing but white space.")
    delimiter = delimiter or _delimiter(text, whole)
    try:
        records, whole = _records(text, delimiter, whole)
    except RecordError as error:
        raise file_error(path, f"{error}. Is a quote left open?", error.line + skipped) from error
    header = _has_header(records) if header is None else header
    body = records[1:] if header else records
    if whole and not body:
        raise file_error(path, f"has a header and no rows: {', '.join(records[0])}.")
    decimal = decimal or ("," if delimiter != "," and _has_decimal_comma(body) else ".")
    names = _names(path, records, header, 1 + skipped)
    columns = dict(zip(names, zip_longest(*body, fillvalue=""), strict=False))
    present = {name: _present(column) for name, column in columns.items()}
    codes = tuple(name for name, fields in present.items() if _is_code(fields))
    words = tuple(name for name, fields in present.items() if _has_words(fields))
    return CsvLayout(
        encoding,
        delimiter,
        decimal,
        header,
        names,
        codes,
        words,
        skipped,
        _hints(columns, codes, words),
    )


def _head_text(path: Path, encoding: str | None) -> tuple[str, str, bool]:
    """Return the encoding, the first lines, and whether they are all there is."""
    with unreadable(path):
        head, whole = _head_bytes(path)
        encoding = encoding or _encoding(path, head)
    try:
        return encoding, codecs.getincrementaldecoder(encoding)().decode(head, final=whole), whole
    except LookupError:
        raise ValueError(f"encoding={encoding!r} is no encoding that Python knows.") from None
    except UnicodeError as error:
        raise undecodable(path, error) from error


def _head_bytes(path: Path) -> tuple[bytes, bool]:
    """Return the first bytes, at least so many lines of them, and whether they are all there is."""
    with open_bytes(path) as file:
        head, n_lines = file.read(_HEAD_BYTES), 0
        while len(head) < _LONGEST_HEAD:
            n_lines = max(head.count(b"\n"), head.count(b"\r"))
            if n_lines >= (_HEAD_LINES if len(head) < _LONG_HEAD else 3):
                break
            # Twice as much each time, so that the copies add up to twice the head.
            block = file.read(len(head))
            if not block:
                return head, True
            head += block
        return head, not file.read(1)


def _encoding(path: Path, head: bytes) -> str:
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    if b"\x00" in head:
        raise file_error(
            path,
            "holds zero bytes, so it is not text; save UTF-16 with a mark, or name the encoding in "
            "Python.",
        )
    return next((name for name in ("utf-8", "cp1252") if _decodes(path, name)), "latin-1")


def _decodes(path: Path, encoding: str) -> bool:
    """Tell whether the whole file is valid in that encoding: the head of one may be plain ASCII."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with open_bytes(path) as file:
            while block := file.read(2**20):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _delimiter(text: str, whole: bool) -> str:
    """Return the delimiter that cuts most records into the same number of fields."""
    shares = {mark: _agreement(text, mark, whole) for mark in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda mark: shares[mark])
    if shares[best] >= 0.5:
        return best
    # Words in a column of texts are separated by spaces too, so those must agree better.
    return " " if _agreement(text, " ", whole) >= 0.9 else ","


def _agreement(text: str, delimiter: str, whole: bool) -> float:
    """Return the share of records with the commonest number of fields, if that is above one."""
    try:
        records, _ = _records(text, delimiter, whole)
    except RecordError:
        # A line that this delimiter does not cut is one field, and longer than the parser takes.
        return 0.0
    (n_fields, count), *_ = Counter(map(len, records)).most_common(1)
    return count / len(records) if n_fields > 1 else 0.0


def _records(text: str, delimiter: str, whole: bool) -> tuple[list[list[str]], bool]:
    """Return the complete records, and whether they are all there is."""
    lines, records = io.StringIO(text, newline=""), list[list[str]]()
    try:
        for _, record in numbered_records(lines, delimiter):
            records.append(record)
    except RecordError:
        # One field is longer than this parser takes; those that read the file take it.
        if not records:
            raise
        return records, False
    return (records, whole) if whole or len(records) < 2 else (records[:-1], whole)


def numbered_records(lines: TextIO, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each record that is not blank with the number of the line where it starts."""
    source = (line.strip() + "\n" for line in lines) if delimiter == " " else lines
    reader = csv.reader(source, delimiter=delimiter, skipinitialspace=True)
    start = 1
    try:
        for record in reader:
            if record and record != [""]:
                yield start, record
            start = reader.line_num + 1
    except csv.Error as error:
        raise RecordError(str(error), start) from error


def _has_header(records: list[list[str]]) -> bool:
    """Tell whether the first record holds names.

    It does if it is a word above numbers; it does not if it holds a number, repeats itself, or
    is seen again below.
    """
    first, *body = records
    present = [field for field in first if field]
    if any(map(_is_number, present)):
        return False
    columns = zip_longest(*body, fillvalue="")
    if any(
        field not in MISSING_MARKERS and all(map(_is_number, column))
        for field, column in zip(first, columns, strict=False)
    ):
        return True
    if len(set(present)) < len(present):
        return False
    again = sum(
        any(len(record) > position and record[position] == field for record in body)
        for position, field in enumerate(first)
        if field
    )
    return 2 * again < max(1, len(present))


def _is_number(field: str) -> bool:
    field = field.strip()
    return bool(_NUMBER.fullmatch(field) or _COMMA_NUMBER.fullmatch(field))


def _present(column: tuple[str, ...]) -> list[str]:
    """Return the fields that do not stand for a missing value wherever they are."""
    fields = (field.strip() for field in column)
    return [field for field in fields if field in WORD_MARKERS or field not in MISSING_MARKERS]


def _has_words(fields: list[str]) -> bool:
    others = [field for field in fields if field not in WORD_MARKERS]
    # Nothing but "none" for long is a class with rare others rather than a column of numbers.
    if fields and not others:
        return True
    return any(field[0].isalpha() and field.lower() not in _LETTERS_ONLY for field in others)


def _is_code(fields: list[str]) -> bool:
    fields = [field for field in fields if field not in WORD_MARKERS]
    lengths = {len(field) for field in fields}
    if are_long_codes(fields):
        return True
    return (
        len(lengths) == 1
        and lengths != {1}
        and all(field.isdecimal() for field in fields)
        and any(field.startswith("0") for field in fields)
    )


def are_long_codes(fields: Sequence[str]) -> bool:
    """Tell whether all fields are digits, and some have more of them than a float holds."""
    return any(len(field) > 15 for field in fields) and (
        all(field.isdecimal() for field in fields)
        and any(_exceeds_floats(field) for field in fields)
    )


def _exceeds_floats(digits: str) -> bool:
    digits = digits.lstrip("0")
    # Python refuses to make numbers of thousands of digits.
    return len(digits) > 16 or (len(digits) == 16 and int(digits) > LARGEST_WHOLE)


def _hints(
    columns: Mapping[str, Sequence[str]], codes: Sequence[str], words: Sequence[str]
) -> dict[str, str]:
    """Return what is lost when the fields of a column become values."""
    hints = {}
    for name, column in columns.items():
        if name in words:
            markers = dict.fromkeys(field for field in column if field in _MARKERS_IN_LETTERS)
            if markers:
                listing = " and ".join(map(repr, markers))
                hints[name] = f"{listing} among words: read as missing, or as missing_values says"
        elif name not in codes:
            zeros = [field for field in column if _ZERO_IN_FRONT.fullmatch(field.strip())]
            if zeros and all(map(_is_number, _present(tuple(column)))):
                hints[name] = f"numbers that were written with zeros in front, such as {zeros[0]}"
    return hints


def _has_decimal_comma(records: list[list[str]]) -> bool:
    fields = [field.strip() for record in records for field in record]
    with_comma = sum(bool(_COMMA_NUMBER.fullmatch(field)) for field in fields)
    with_point = sum("." in field and bool(_NUMBER.fullmatch(field)) for field in fields)
    return with_comma > with_point


def _names(path: Path, records: list[list[str]], header: bool, line: int) -> tuple[str, ...]:
    if not header:
        (n_fields, _), *_ = Counter(map(len, records)).most_common(1)
        return tuple(f"column_{number + 1}" for number in range(n_fields))
    names = [field.strip() or f"column_{number + 1}" for number, field in enumerate(records[0])]
    with file_named(path, line):
        refuse_duplicate_names(names)
    return tuple(names)
