"""How a CSV file is laid out, worked out from its first lines."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile, zip_longest
from pathlib import Path
from typing import TextIO

from verulam.base import DataError, refuse_duplicate_names
from verulam.data._table.files import (
    file_error,
    file_named,
    first_undecodable,
    open_bytes,
    undecodable,
    unreadable,
)

#: Strings that stand for a missing value.
MISSING_MARKERS: tuple[str, ...] = (
    *("", "?", "-", "--", ".", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "n.a.", "N.A."),
    *("NaN", "nan", "-nan", "NULL", "Null", "null", "None", "none", "missing", "unknown"),
    # Of data bases, of pandas, of C on Windows, and "keine Angabe".
    *("\\N", "(null)", "#NA", "NaT", "-NaN", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "k.A."),
    # What spreadsheets write where a formula failed.
    *("#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!"),
)
_MARKERS = frozenset(MISSING_MARKERS)
#: Those that are words: among other words they are values, as in a column of illnesses.
WORD_MARKERS = frozenset({"none", "missing", "unknown"})
#: From this size on, a float does not tell a whole number from the next.
LARGEST_WHOLE = 2**53

#: Marks without a width that programs leave at the start of a file.
_INVISIBLE = "\ufeff\u200b\u200e\u200f\u2060"
#: So much is looked at, and more where that holds fewer lines: headers can be long.
_HEAD_BYTES = 2**16
#: Lines that tell separator, header and decimal mark, and are looked at with these bytes.
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
#: First bytes of files that are no text but may be called so, and what to do with them. Where they
#: are letters, a column may be called so: what follows in such files alone is asked for too.
_BINARY = {
    rb"\x1f\x8b": "packed by gzip; let its name end in .gz.",
    rb"\xfd7zXZ\x00": "packed by xz; let its name end in .xz.",
    rb"BZh[1-9](1AY&SY|\x17rE8P\x90)": "packed by bzip2; let its name end in .bz2.",
    rb"PK\x03\x04": "a zip archive or a spreadsheet; let its name end in .zip or .xlsx.",
    rb"\xd0\xcf\x11\xe0": "an old spreadsheet, whose name must end in .xls, or a document.",
    rb"PAR1.*\x00": "a Parquet file; let its name end in .parquet.",
    rb"%PDF": "a PDF, and no table.",
}
_JSON = "JSON; let its name end in .json, or .jsonl with an object a line"
# In order of preference: in "1,5;2,5" both fit, and the semicolon is the one meant.
_DELIMITERS = ("\t", ";", "|", ",")
#: Tried where none of the others is there; each record must then have as many.
_RARE_DELIMITERS = ("~", "^", "¦", "\x01", "\x1f")
#: Numbers and truth values that are written in letters.
_LETTERS_ONLY = frozenset({"inf", "infinity", "true", "false"})
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
#: Numbers, one in a line, that are no codes and that no zeros stand in front of.
_PLAIN_NUMBERS = re.compile(r"(?>-?(?>0|[1-9][0-9]{0,13}+)(?>\.[0-9]{1,13}+)?+\n)*+")
_ZERO_IN_FRONT = re.compile(r"[+-]?0+\d+")
_LINE_WITH_ZERO = re.compile(r"^\s*[+-]?0+\d", re.MULTILINE)
#: Marks that may be words or short for some: Namibia, a surname, a programming language.
_MARKERS_IN_LETTERS = frozenset({"NA", "na", "None", "NULL", "Null", "null", "NaN", "nan"})
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")

#: Complete records, and whether they are all there is.
_Cut = tuple[list[list[str]], bool]


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
    strings
        Columns with fields, be they words, codes or others, that are no numbers.
    skipped
        Lines before the first record: one such as ``sep=;`` that names the delimiter, and titles.
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
    strings: frozenset[str] = frozenset()
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
    cut = None
    if delimiter is None:
        delimiter, cut = _best_cut(text, whole)
    try:
        records, whole = cut or _records(text, delimiter, whole)
    except RecordError as error:
        raise file_error(path, f"{error}. Is a quote left open?", error.line + skipped) from error
    titles = records[: title_records(records) if header is not False and delimiter != " " else 0]
    records = records[len(titles) :]
    header = _has_header(records) if header is None else header
    body = records[1:] if header else records
    if whole and not body:
        raise file_error(path, f"has a header and no rows: {', '.join(records[0])}.")
    # Where the names stand, and the row below them.
    lines = numbered_records(io.StringIO(text, newline=""), delimiter)
    starts = [line for line, _ in islice(lines, len(titles) + min(2, len(records)))]
    name_line = skipped + starts[len(titles)]
    names = _names(path, records, header, name_line)
    if titles:
        skipped = name_line - 1
    if header and (longer := _names_of_longer_rows(names, body)):
        # A line of names that is too short for the parser is left out, since they are known.
        skipped, names, header = name_line - 1 + starts[-1] - starts[-2], longer, False
    decimal = decimal or ("," if delimiter != "," and _has_decimal_comma(body) else ".")
    columns = {
        # What is asked of columns is asked of their different fields.
        name: tuple(dict.fromkeys(column))
        for name, column in zip(names, _columns(body), strict=False)
        # Most columns are plain numbers, and one search tells.
        if not _are_plain_numbers(column)
    }
    present = {name: _present(column) for name, column in columns.items()}
    codes = tuple(name for name, fields in present.items() if _is_code(fields))
    words = tuple(name for name, fields in present.items() if _has_words(fields))
    strings = {name for name, fields in present.items() if not all(map(_may_be_number, fields))}
    strings |= {*codes, *words}
    hints = _hints(columns, codes, words)
    if titles:
        hints[names[0]] = ", ".join(filter(None, [hints.get(names[0]), title_hint(titles)]))
    return CsvLayout(
        encoding,
        delimiter,
        decimal,
        header,
        names,
        codes,
        words,
        frozenset(strings),
        skipped,
        hints,
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
    for start, words in _BINARY.items():
        if re.match(start, head, re.DOTALL):
            raise file_error(path, f"is {words}")
    if b"\x00" in head:
        raise file_error(
            path,
            "holds zero bytes, so it is not text; save UTF-16 with a mark, or name the encoding in "
            "Python.",
        )
    if opening := re.match(
        rb"\s*(<(?:!DOCTYPE|\?xml|html|table)\b|[\[{]\s*[{\"])", head, re.IGNORECASE
    ):
        what = "HTML or XML, and no table" if opening[1].startswith(b"<") else _JSON
        raise file_error(path, f"is {what}.")
    if _decodes(path, "utf-8"):
        return "utf-8"
    _refuse_damaged(path)
    return "cp1252" if _decodes(path, "cp1252") else "latin-1"


def _decodes(path: Path, name: str) -> bool:
    """Tell whether the whole file is valid in that encoding: the head of one may be plain ASCII."""
    decoder = codecs.getincrementaldecoder(name)()
    n_bytes = 0
    try:
        with open_bytes(path) as file:
            while block := file.read(2**20):
                if (place := block.find(b"\x00")) >= 0:
                    raise _zero_byte(path, n_bytes + place)
                n_bytes += len(block)
                # Of plain ASCII nothing needs decoding, unless a character has begun before it.
                if not block.isascii() or decoder.getstate()[0]:
                    decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _zero_byte(path: Path, place: int) -> DataError:
    """Return the error for a zero byte at that place of a file."""
    n_lines = 1
    with open_bytes(path) as file:
        while place > 0 and (block := file.read(min(place, 2**20))):
            n_lines += block.count(b"\n")
            place -= len(block)
    return file_error(path, "holds a zero byte, so it is damaged.", n_lines)


def _refuse_damaged(path: Path) -> None:
    """Refuse a file of UTF-8 but for a few bytes, all else of which would come out wrong."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    n_damaged = n_sound = 0
    with open_bytes(path) as file:
        while block := file.read(2**20):
            text = decoder.decode(block)
            n_damaged += (damaged := text.count("\ufffd"))
            n_sound += len(re.findall(r"[^\x00-\x7f]", text)) - damaged
    # Letters of another encoding make hardly ever a character of UTF-8.
    if n_sound > n_damaged:
        problem = (
            "a letter is no UTF-8, though others of this file are; mend it, or name the encoding "
            "in Python."
        )
        raise file_error(path, problem, first_undecodable(path, "utf-8"))


def _best_cut(text: str, whole: bool) -> tuple[str, _Cut | None]:
    """Return the delimiter that cuts most records into the same number of fields, and those."""
    cuts = {mark: _cut(text, mark, whole) for mark in _DELIMITERS if mark in text}
    best = max(_DELIMITERS, key=lambda mark: _agreement(cuts.get(mark)))
    if _agreement(cuts.get(best)) >= 0.5:
        return best, cuts[best]
    # Words in a column of texts are separated by spaces too, so those must agree better.
    by_space = _cut(text, " ", whole)
    if _agreement(by_space) >= 0.9:
        return " ", by_space
    rare = {mark: _cut(text, mark, whole) for mark in _RARE_DELIMITERS if mark in text}
    return next(
        ((mark, cut) for mark, cut in rare.items() if _agreement(cut) == 1.0), (",", cuts.get(","))
    )


def _cut(text: str, delimiter: str, whole: bool) -> _Cut | None:
    try:
        return _records(text, delimiter, whole)
    except RecordError:
        # A line that this delimiter does not cut is one field, and longer than the parser takes.
        return None


def _agreement(cut: _Cut | None) -> float:
    """Return the share of records with the commonest number of fields, if that is above one."""
    if cut is None:
        return 0.0
    records, _ = cut
    (n_fields, count), *_ = Counter(map(len, records)).most_common(1)
    return count / len(records) if n_fields > 1 else 0.0


def _records(text: str, delimiter: str, whole: bool) -> _Cut:
    """Return the complete records, and whether they are all there is."""
    lines, records = io.StringIO(text, newline=""), list[list[str]]()
    try:
        if delimiter != " " and '"' not in text:
            # Each line is a record, so that none need be counted.
            records = _lines_cut(text, delimiter)
        for _, record in () if records else numbered_records(lines, delimiter):
            records.append(record)
    except RecordError:
        # One field is longer than this parser takes; those that read the file take it.
        if not records:
            raise
        return records, False
    return (records, whole) if whole or len(records) < 2 else (records[:-1], whole)


def _lines_cut(text: str, delimiter: str) -> list[list[str]]:
    """Return the records of a text without quotes; none where one has a field that is too long."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    # Where no space has to be left out, cutting by hand takes half as long.
    spaces = (f"{delimiter} ", "\n ")
    if len(text) <= csv.field_size_limit() and not any(mark in f"\n{text}" for mark in spaces):
        return [line.split(delimiter) for line in text.split("\n") if line]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        return [record for record in reader if record and record != [""]]
    except csv.Error:
        return []


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


def title_records(records: Sequence[Sequence[str]]) -> int:
    """Return how many records in front are titles: one cell each, above a line of names.

    Parameters
    ----------
    records
        The first records of a table.

    Examples
    --------
    >>> title_records([["Sales of 2024"], ["shop", "sum"], ["A", "7"], ["B", "9"]])
    1
    """
    (width, _), *_ = Counter(map(len, records)).most_common(1)

    def is_title(record: Sequence[str]) -> bool:
        if record[0].startswith("#") and len(record) != width:
            return True
        filled = sum(bool(field.strip()) for field in record)
        # Of two columns the first may have no name, as a written index has none.
        in_front = len(record) == width and not any(map(str.strip, record[1:]))
        return filled <= 1 and width > 1 and (len(record) == 1 or width > 2 or in_front)

    titles = len(list(takewhile(is_title, records)))
    if not titles:
        return 0
    rest = [list(record) for record in records[titles:]]
    # Not every line that is too short is a title: names must follow, and rows below them.
    return titles if len(rest) > 2 and _has_header(rest) else 0


def title_hint(titles: Sequence[Sequence[str]]) -> str:
    """Return the remark on titles above the names.

    Parameters
    ----------
    titles
        Their records.
    """
    texts = [text.strip() for record in titles for text in record if text.strip()]
    return f"above the names, left out: {'; '.join(map(repr, texts[:2]))}" if texts else ""


def _has_header(records: list[list[str]]) -> bool:
    """Tell whether the first record holds names.

    It does if it is a word above numbers; it does not if it holds a number, repeats itself, or
    is seen again below.
    """
    first, *body = records
    present = [field for field in first if field]
    others = [record for record in body if record != first]
    if len(others) < len(body) and _stand_above_numbers(first, others):
        return True  # files with one line of names each, put together: refused when read
    if all(map(_is_number, first)) and len(set(first)) == len(first) and body:
        # Years above words, say: numbers are names where no column has any below.
        return not any(_is_number(field) for record in body for field in record)
    if any(map(_is_number, present)):
        return False
    if _stand_above_numbers(first, body):
        return True
    if len(set(present)) < len(present):
        return False
    again = sum(
        any(len(record) > position and record[position] == field for record in body)
        for position, field in enumerate(first)
        if field
    )
    return 2 * again < max(1, len(present))


def _stand_above_numbers(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Tell whether a word of the first record has nothing but numbers below it."""
    if any(_is_number(field) for field in first):
        return False
    return any(
        field not in _MARKERS and _are_numbers(column)
        for field, column in zip(first, _columns(body), strict=False)
    )


def _columns(records: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield the columns of records, of which short ones are filled up."""
    if len(set(map(len, records))) == 1:
        return zip(*records, strict=True)
    return zip_longest(*records, fillvalue="")


def _are_numbers(column: tuple[str, ...]) -> bool:
    return _are_plain_numbers(column) or all(map(_is_number, column))


def _are_plain_numbers(column: tuple[str, ...]) -> bool:
    return _PLAIN_NUMBERS.fullmatch("\n".join([*column, ""])) is not None


def _may_be_number(field: str) -> bool:
    letters = field.lower().lstrip("+-")
    return _is_number(field.replace(",", ".")) or letters in _LETTERS_ONLY | WORD_MARKERS


def _is_number(field: str) -> bool:
    field = field.strip()
    return bool(_NUMBER.fullmatch(field) or _COMMA_NUMBER.fullmatch(field))


def _present(column: tuple[str, ...]) -> list[str]:
    """Return the fields that do not stand for a missing value wherever they are."""
    fields = map(str.strip, column)
    return [field for field in fields if field not in _MARKERS or field in WORD_MARKERS]


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
            # Most columns have none, and one search tells.
            if not _LINE_WITH_ZERO.search("\n".join(column)):
                continue
            zeros = [field for field in column if _ZERO_IN_FRONT.fullmatch(field.strip())]
            if zeros and all(map(_is_number, _present(tuple(column)))):
                hints[name] = f"numbers that were written with zeros in front, such as {zeros[0]}"
    return hints


def _names_of_longer_rows(
    names: tuple[str, ...], body: Sequence[Sequence[str]]
) -> tuple[str, ...] | None:
    """Return names for rows that all have one field more than there are names, where it is plain.

    The first column has none where R wrote the names of its rows, and the last where every row
    ends in a delimiter.
    """
    if len(names) < 2 or set(map(len, body)) != {len(names) + 1}:
        return None
    if not any(record[-1].strip() for record in body):
        return (*names, f"column_{len(names) + 1}")
    firsts = [record[0].strip() for record in body]
    counted = firsts == [str(number) for number in range(1, len(firsts) + 1)]
    words = len(set(firsts)) == len(firsts) and not any(map(_is_number, firsts))
    return ("column_1", *names) if (counted or words) and "column_1" not in names else None


def _has_decimal_comma(records: list[list[str]]) -> bool:
    fields = [field.strip() for record in records for field in record]
    with_comma = sum(bool(_COMMA_NUMBER.fullmatch(field)) for field in fields)
    with_point = sum("." in field and bool(_NUMBER.fullmatch(field)) for field in fields)
    return with_comma > with_point


def _names(path: Path, records: list[list[str]], header: bool, line: int) -> tuple[str, ...]:
    if not header:
        (n_fields, _), *_ = Counter(map(len, records)).most_common(1)
        return tuple(f"column_{number + 1}" for number in range(n_fields))
    names = [
        field.strip(_INVISIBLE).strip() or f"column_{number + 1}"
        for number, field in enumerate(records[0])
    ]
    with file_named(path, line):
        refuse_duplicate_names(names)
    return tuple(names)
