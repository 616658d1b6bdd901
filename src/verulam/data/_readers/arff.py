"""Reading ARFF, the format of Weka: a typed header, then dense or sparse rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, refuse_duplicate_names
from verulam.data._dataset import Dataset
from verulam.data._readers.arff_syntax import (
    ArffSyntaxError,
    Attribute,
    Row,
    parse_attribute,
    parse_name,
    parse_row,
)
from verulam.data._table.files import (
    checked_path,
    data_name,
    file_error,
    file_named,
    open_bytes,
    unreadable,
)

#: Column that keeps the weights of rows, where the file has any.
WEIGHT = "instance_weight"


def read_arff(path: str | Path, *, target: str | None = None, **options: Any) -> Dataset:
    r"""Read an ARFF file, plain or packed (gz, bz2, xz, zip).

    Nominal attributes become categories with the declared levels, dates become dates, sparse
    rows are filled up (zero, or the first level), and weights of rows become an ignored column
    ``instance_weight``.

    Parameters
    ----------
    path
        The file, in UTF-8 or Latin-1.
    target
        The column to predict; None takes what ``@outputs`` of a KEEL file names.
    **options
        Passed on to :meth:`Dataset.from_frame`.

    Raises
    ------
    DataError
        Names the file, the line, the column and the problem.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from verulam.data import read_arff
    >>> text = "@relation fruit\n@attribute size numeric\n@attribute 'is ripe' {no, yes}\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "fruit.arff")
    ...     _ = path.write_text(text + "@data\n1.5, yes\n?, no\n{1 yes}\n")
    ...     read_arff(path, target="is ripe")
    Dataset 'fruit': 3 rows, classification of 'is ripe' (no, yes)
      numeric: size (1 missing)
    """
    path = checked_path(path)
    lines = _numbered_lines(path)
    header = _read_header(path, lines)
    body = _read_body(path, lines, header.attributes)
    columns = {
        attribute.name: _column(path, attribute, position, body)
        for position, attribute in enumerate(header.attributes)
    }
    ignored = list(options.pop("ignored", ()))
    if any(row.weight != 1 for row in body.rows):
        columns[WEIGHT] = pd.Series([row.weight for row in body.rows])
        ignored.append(WEIGHT)
    texts = [attribute.name for attribute in header.attributes if attribute.type == "string"]
    defaults = {"name": header.relation or data_name(path), "source": path.name, "text": texts}
    with file_named(path):
        return Dataset.from_frame(
            pd.DataFrame(columns),
            target=target or header.output,
            ignored=ignored,
            **{**defaults, **options},
        )


@dataclass(frozen=True)
class _Header:
    """The name of the table, its columns, and the one to predict where the file says it."""

    relation: str
    attributes: list[Attribute]
    output: str | None = None


@dataclass(frozen=True)
class _Body:
    """The rows and the line that each stands on."""

    rows: list[Row]
    lines: list[int]


def _numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Return the lines that are neither blank nor comments, with their numbers."""
    with unreadable(path), open_bytes(path) as file:
        content = file.read()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if line and not line.startswith("%"):
            yield number, line


def _read_header(path: Path, lines: Iterable[tuple[int, str]]) -> _Header:
    relation, attributes, number = "", dict[str, Attribute](), 0
    outputs: list[str] = []
    for number, line in lines:
        keyword, _, rest = line.partition(" " if " " in line else "\t")
        keyword = keyword.split("\t")[0].lower()
        rest = line[len(keyword) :].strip()
        try:
            match keyword:
                case "@relation":
                    relation = parse_name(rest)[0]
                case "@attribute":
                    attribute = parse_attribute(rest)
                    with file_named(path, number):
                        refuse_duplicate_names([*attributes, attribute.name])
                    attributes[attribute.name] = attribute
                case "@inputs" | "@input":  # KEEL's: all that are no outputs
                    pass
                case "@outputs" | "@output":
                    outputs = [name.strip() for name in rest.split(",")]
                case "@data" if attributes:
                    output = outputs[0] if len(outputs) == 1 and outputs[0] in attributes else None
                    return _Header(relation, list(attributes.values()), output)
                case "@data":
                    raise ArffSyntaxError("there are no attributes before @data")
                case _:
                    raise ArffSyntaxError("expected @relation, @attribute or @data")
        except ArffSyntaxError as problem:
            raise file_error(path, f"{problem}.", number) from None
    raise file_error(path, "the header ends without @data; is this an ARFF file?", number or None)


def _read_body(path: Path, lines: Iterable[tuple[int, str]], attributes: list[Attribute]) -> _Body:
    rows, numbers = [], []
    defaults = [attribute.zero for attribute in attributes]
    for number, line in lines:
        try:
            rows.append(parse_row(line, defaults))
        except ArffSyntaxError as problem:
            raise file_error(path, f"{problem}.", number) from None
        numbers.append(number)
    if not rows:
        raise file_error(path, "has a header and no rows.")
    return _Body(rows, numbers)


def _column(path: Path, attribute: Attribute, position: int, body: _Body) -> pd.Series:
    """Return one column, converted to its declared type."""
    values = [row.values[position] for row in body.rows]

    def bad_value(row: int, expected: str) -> DataError:
        problem = f"column {attribute.name!r}: {values[row]!r} is not {expected}."
        return file_error(path, problem, body.lines[row])

    if attribute.type == "string":
        return pd.Series(values, dtype=object)
    if attribute.type == "nominal":
        dtype = pd.CategoricalDtype(list(attribute.levels))
        known = {None, *attribute.levels}
        for row in compress(range(len(values)), (value not in known for value in values)):
            raise bad_value(row, f"one of {{{', '.join(attribute.levels)}}}")
        return pd.Series(pd.Categorical(values, dtype=dtype))
    if attribute.type == "date":
        dates = pd.to_datetime(
            pd.Series(values, dtype=object), format=attribute.date_format, errors="coerce"
        )
        present = np.array([value is not None for value in values])
        for row in np.flatnonzero(dates.isna().to_numpy() & present).tolist():
            raise bad_value(row, f"a date of the form {attribute.date_format}")
        return dates
    try:
        numbers = np.array([np.nan if value is None else value for value in values], dtype=float)
    except ValueError:
        row = next(row for row, value in enumerate(values) if not _is_number(value))
        raise bad_value(row, "a number") from None
    whole = attribute.type == "integer" and np.isfinite(numbers).all()
    return pd.Series(numbers.astype("int64") if whole else numbers)


def _is_number(value: str | None) -> bool:
    try:
        float("nan" if value is None else value)
    except ValueError:
        return False
    return True
