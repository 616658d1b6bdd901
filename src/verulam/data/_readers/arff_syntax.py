"""The syntax of ARFF: quoted names, attribute types, dense and sparse rows."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from verulam.base import DataError

AttributeType = Literal["numeric", "integer", "nominal", "string", "date"]

_TYPES: dict[str, AttributeType] = {
    "numeric": "numeric",
    "real": "numeric",
    "integer": "integer",
    "string": "string",
}
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_FIELD = re.compile(rf"\s*({_QUOTED}|[^,'\"]*)\s*(,|$)")
_NAME = re.compile(rf"({_QUOTED}|[^\s{{'\"]+)\s*(.*)", re.DOTALL)
_SPARSE_FIELD = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,'\"]+?)\s*(,|$)")
_ROW_WEIGHT = re.compile(r",\s*\{\s*([^{}\s]+)\s*\}$")
_RANGE = re.compile(r"(?<=[A-Za-z])\s*\[[^\[\]]*\]$")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
# Java's letters for dates, and what Python calls them.
_DATE_PARTS = {
    "yyyy": "%Y",
    "yy": "%y",
    "MMM": "%b",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "hh": "%I",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%f",
    "a": "%p",
    "Z": "%z",
}
_DATE_TOKEN = re.compile(r"'([^']*)'|([A-Za-z])\2*|.")


class ArffSyntaxError(DataError):
    """Part of a line that is not ARFF; the reader adds file and line."""


@dataclass(frozen=True)
class Attribute:
    """One column as declared: its type, and its levels or date format where it has them."""

    name: str
    type: AttributeType
    levels: tuple[str, ...] = ()
    date_format: str = ""

    @cached_property
    def zero(self) -> str | None:
        """What a sparse row means by leaving this column out."""
        if self.type == "nominal":
            return self.levels[0]
        return "0" if self.type in {"numeric", "integer"} else None


@dataclass(frozen=True)
class Row:
    """The fields of a row, None for missing ones, and its weight."""

    values: list[str | None]
    weight: float = 1.0


def parse_name(text: str) -> tuple[str, str]:
    """Return the leading name, unquoted, and what follows it."""
    match = _NAME.fullmatch(text)
    if match is None:
        raise ArffSyntaxError(f"expected a name, found {text[:40]!r}; is a quote left open?")
    return _unquoted(match[1]), match[2]


def parse_attribute(text: str) -> Attribute:
    """Return the attribute declared by what follows ``@attribute``."""
    name, declared = parse_name(text)
    if declared.startswith("{"):
        if not declared.endswith("}"):
            raise ArffSyntaxError(f"column {name!r}: the brace around its levels is not closed")
        levels = [level for level in _fields(declared[1:-1]) if level is not None]
        if not levels or len(set(levels)) < len(levels):
            raise ArffSyntaxError(f"column {name!r}: its levels are empty or repeated: {levels}")
        return Attribute(name, "nominal", tuple(levels))
    # KEEL writes the range behind the type; the values themselves tell it.
    declared = _RANGE.sub("", declared).strip()
    keyword, _, rest = declared.partition(" ")
    keyword = keyword.strip().lower()
    if keyword == "date":
        java = _unquoted(rest.strip()) or "yyyy-MM-dd'T'HH:mm:ss"
        return Attribute(name, "date", date_format=_python_date_format(name, java))
    if keyword not in _TYPES or rest.strip():
        raise ArffSyntaxError(
            f"column {name!r} has the type {declared!r}; accepted are numeric, real, integer, "
            "string, date and a list of levels in braces"
        )
    return Attribute(name, _TYPES[keyword])


def parse_row(line: str, defaults: list[str | None]) -> Row:
    """Return the fields of a data row; `defaults` fill up a sparse one."""
    if line.startswith("{"):
        return _sparse_row(line, defaults)
    weight = 1.0
    if line.endswith("}"):
        line, weight = _without_weight(line)
    values = _fields(line)
    if len(values) != len(defaults):
        raise ArffSyntaxError(f"expected {len(defaults)} fields, found {len(values)}")
    return Row(values, weight)


def _sparse_row(line: str, defaults: list[str | None]) -> Row:
    weight = 1.0
    if _ROW_WEIGHT.search(line):
        line, weight = _without_weight(line)
    if not line.endswith("}"):
        raise ArffSyntaxError("the brace of this sparse row is not closed")
    inside, values, position = line[1:-1].strip(), list(defaults), 0
    while position < len(inside):
        match = _SPARSE_FIELD.match(inside, position)
        if match is None:
            raise ArffSyntaxError(
                f"expected a column number and a value, found {inside[position : position + 40]!r}"
            )
        column = int(match[1])
        if column >= len(values):
            raise ArffSyntaxError(
                f"column number {column} is beyond the last, {len(values) - 1} (counted from 0)"
            )
        values[column] = _value(match[2])
        position = match.end()
    return Row(values, weight)


def _without_weight(line: str) -> tuple[str, float]:
    match = _ROW_WEIGHT.search(line)
    if match is None:
        raise ArffSyntaxError("expected a weight in braces at the end of the row")
    try:
        return line[: match.start()], float(match[1])
    except ValueError:
        raise ArffSyntaxError(f"the weight {match[1]!r} is not a number") from None


def _fields(text: str) -> list[str | None]:
    """Return the fields between commas, None for a bare question mark or KEEL's <null>."""
    if "'" not in text and '"' not in text:
        return [_value(field.strip()) for field in text.split(",")]
    fields, position = [], 0
    while True:
        match = _FIELD.match(text, position)
        if match is None:
            raise ArffSyntaxError(
                f"cannot read {text[position : position + 40]!r}; is a quote left open?"
            )
        fields.append(_value(match[1].rstrip()))
        position = match.end()
        if not match[2]:
            return fields


def _value(field: str) -> str | None:
    return None if field in ("?", "<null>") else _unquoted(field)


def _unquoted(token: str) -> str:
    if len(token) >= 2 and token[0] in "'\"" and token[-1] == token[0]:
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), token[1:-1])
    return token


def _python_date_format(name: str, java: str) -> str:
    """Return the format in Python's terms."""
    parts = []
    for match in _DATE_TOKEN.finditer(java):
        piece, literal, letter = match[0], match[1], match[2]
        if literal is not None:
            parts.append(literal or "'")
        elif letter is None:
            parts.append(piece.replace("%", "%%"))
        elif piece in _DATE_PARTS:
            parts.append(_DATE_PARTS[piece])
        else:
            raise ArffSyntaxError(
                f"column {name!r}: {piece!r} in the date format {java!r} is unknown"
            )
    return "".join(parts)
