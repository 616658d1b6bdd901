"""Reading CSV files: the layout is worked out, the bulk is read by compiled code."""

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from verulam.data._dataset import Dataset
from verulam.data._readers.csv_layout import (
    LARGEST_WHOLE,
    CsvLayout,
    RecordError,
    are_long_codes,
    csv_layout,
    numbered_records,
)
from verulam.data._table.files import (
    checked_path,
    data_name,
    file_error,
    file_named,
    open_bytes,
    undecodable,
    unreadable,
)

#: A record may not be longer than this for the quick check; a slower one takes over then.
_BLOCK_BYTES = 2**24


def read_csv(
    path: str | Path,
    *,
    target: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    missing_values: Iterable[str] | None = None,
    **options: Any,
) -> Dataset:
    r"""Read a CSV file, plain or packed (gz, bz2, xz, or a zip of one file).

    Parameters
    ----------
    path
        The file.
    target
        The column to predict.
    delimiter
        Comma, semicolon, tab, bar or space (any run of white space); worked out if not given.
    encoding
        Worked out if not given: UTF-8, UTF-16 or UTF-32 with a mark, Windows-1252 or Latin-1.
    decimal
        Decimal point or comma; worked out if not given.
    header
        Whether the first line holds names; worked out if not given.
    missing_values
        Fields that stand for a missing value; the usual ones if not given, "none" and "missing"
        only where the other fields of the column are no words.
    **options
        Passed on to :meth:`Dataset.from_frame`.

    Raises
    ------
    DataError
        Names the file, the line and the problem: a line with too many or too few fields, an
        unclosed quote, bytes that cannot be decoded, an empty file, a header without rows.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from verulam.data import read_csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "prices.csv")
    ...     _ = path.write_text("size;price\n1,5;10\n2,5;?\n")
    ...     read_csv(path)
    Dataset 'prices': 2 rows, no target
      numeric: size, price (1 missing)
    """
    path = checked_path(path)
    layout = csv_layout(
        path, encoding=encoding, delimiter=delimiter, decimal=decimal, header=header
    )
    check_rectangle(path, layout)
    markers = None if missing_values is None else list(missing_values)
    with translated_errors(path, layout), open_bytes(path) as file:
        frame = pd.read_csv(file, low_memory=False, **pandas_options(layout, markers))
    hints = {
        name: words
        for name, words in layout.hints.items()
        # Who names the markers has decided what is missing.
        if markers is None or name not in layout.words
    }
    if rounded := _large_columns(frame):
        with translated_errors(path, layout), open_bytes(path) as file:
            options_as_text = pandas_options(layout, markers, dict.fromkeys(rounded, str))
            written = pd.read_csv(file, usecols=rounded, **options_as_text)
        frame, hints = _with_long_codes(frame, written, hints)
    options = {"name": data_name(path), "source": path.name, "hints": hints, **options}
    with file_named(path):
        return Dataset.from_frame(frame, target=target, **options)


def _large_columns(frame: pd.DataFrame) -> list[str]:
    numbers = frame.select_dtypes("number")
    objects = [name for name, dtype in frame.dtypes.items() if pd.api.types.is_object_dtype(dtype)]
    return [
        # All at once: column by column takes long in a wide table.
        *numbers.columns[(numbers.abs().max() > LARGEST_WHOLE).to_numpy(bool)],
        *(name for name in objects if exceeds_floats(frame[name])),
    ]


def exceeds_floats(column: pd.Series) -> bool:
    """Tell whether a column of numbers has some so large that a float rounds whole numbers."""
    if column.dtype == object:
        # Beyond 64 bits pandas keeps whole numbers as objects.
        return pd.api.types.infer_dtype(column, skipna=True) == "integer"
    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return False
    return bool(len(column) and column.abs().max() > LARGEST_WHOLE)


def _with_long_codes(
    frame: pd.DataFrame, written: pd.DataFrame, hints: dict[str, str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return codes of digits as they are written, and what became infinite as a hint."""
    for name in written.columns:
        fields = written[name].dropna().str.strip()
        if are_long_codes(fields.tolist()):
            frame = frame.assign(**{name: written[name]})
            continue
        infinite = fields[np.isinf(frame[name].reindex(fields.index).to_numpy(float))]
        too_large = infinite[infinite.str.contains(r"\d")]
        if len(too_large):
            hints[name] = f"{too_large.iloc[0]} is too large for a number: read as infinite"
    return frame, hints


def pandas_options(
    layout: CsvLayout,
    missing_values: Iterable[str] | None = None,
    dtypes: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the arguments that make pandas read a file of that layout, with the given dtypes."""
    return {
        "sep": r"\s+" if layout.delimiter == " " else layout.delimiter,
        "encoding": layout.encoding,
        "decimal": layout.decimal,
        "header": 0 if layout.header else None,
        "names": list(layout.names),
        "skiprows": layout.skipped,
        "dtype": dict.fromkeys(layout.codes, str) | dict(dtypes or {}),
        "index_col": False,
        "na_values": layout.missing_markers() if missing_values is None else list(missing_values),
        "keep_default_na": False,
        "skipinitialspace": True,
        "engine": "c",
        # Files are handed over unpacked.
        "compression": None,
    }


@contextmanager
def translated_errors(path: Path, layout: CsvLayout) -> Iterator[None]:
    """Turn the parser's errors into ones that name the file and the line."""
    with unreadable(path):
        try:
            yield
        except pd.errors.ParserError as error:
            if "EOF inside string" not in str(error):
                raise file_error(path, f"cannot be read as CSV: {error}") from error
            problem = "a quote is opened here and never closed."
            raise file_error(path, problem, _last_record_line(path, layout)) from error
        except UnicodeError as error:
            raise undecodable(path, error) from error


def check_rectangle(path: Path, layout: CsvLayout) -> None:
    """Raise an error that names the first line with too many or too few fields.

    pandas fills up short lines without a word, so a strict parser looks first; it is quick, and
    only where it objects are the lines counted one by one.
    """
    expected = len(layout.names)
    with translated_errors(path, layout):
        if layout.delimiter != " " and _is_rectangular(path, layout):
            return
    with translated_errors(path, layout), _numbered(path, layout) as records:
        for line, record in records:
            if len(record) != expected:
                hint = " Is a quote left open?" if any("\n" in field for field in record) else ""
                fields = "1 field" if expected == 1 else f"{expected} fields"
                raise file_error(path, f"expected {fields}, found {len(record)}.{hint}", line)


@contextmanager
def _numbered(path: Path, layout: CsvLayout) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Open the file as records with line numbers, line ends inside of quotes untouched."""
    with io.TextIOWrapper(open_bytes(path), encoding=layout.encoding, newline="") as text:
        for _ in range(layout.skipped):
            text.readline()
        records = numbered_records(text, layout.delimiter)
        try:
            yield ((line + layout.skipped, record) for line, record in records)
        except RecordError as error:
            line = error.line + layout.skipped
            raise file_error(path, f"{error}. Is a quote left open?", line) from error


def _is_rectangular(path: Path, layout: CsvLayout) -> bool:
    import pyarrow as pa
    import pyarrow.csv

    names = [str(number) for number in range(len(layout.names))]
    encoding = {"utf-8": "utf8", "utf-8-sig": "utf8"}.get(layout.encoding, layout.encoding)
    reading = pyarrow.csv.ReadOptions(
        column_names=names, encoding=encoding, block_size=_BLOCK_BYTES, skip_rows=layout.skipped
    )
    parsing = pyarrow.csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True)
    # All fields are counted, one column is converted, and bytes need no decoding.
    conversion = pyarrow.csv.ConvertOptions(
        include_columns=names[:1], column_types={"0": pa.binary()}
    )
    try:
        with open_bytes(path) as file:
            for _ in pyarrow.csv.open_csv(file, reading, parsing, conversion):
                pass
    except pa.ArrowInvalid:
        return False
    return True


def _last_record_line(path: Path, layout: CsvLayout) -> int:
    with _numbered(path, layout) as records:
        return max(line for line, _ in records)
