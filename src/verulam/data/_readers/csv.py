"""Reading CSV files: the layout is worked out, the bulk is read by compiled code."""

import io
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TextIO

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from verulam.data._dataset import Dataset
from verulam.data._readers.csv_layout import (
    LARGEST_WHOLE,
    MISSING_MARKERS,
    WORD_MARKERS,
    CsvLayout,
    RecordError,
    are_long_codes,
    csv_layout,
    numbered_records,
)
from verulam.data._readers.csv_quick import quick_frame
from verulam.data._table.files import (
    PACKED,
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
#: Larger files are not held in memory beside their table.
_MOST_PLAIN_BYTES = 2**29
#: So many columns are worth putting together before each is looked at.
_MANY_COLUMNS = 100
#: Encodings in which a delimiter is one byte, and that byte is nothing else.
_PLAIN_ENCODINGS = frozenset({"utf-8", "utf-8-sig", "cp1252", "latin-1"})


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
        Fields that stand for a missing value; the usual ones if not given, "none", "missing" and
        "unknown" only where the other fields of the column are no words.
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
    markers = None if missing_values is None else list(missing_values)
    content = plain_content(path, layout)
    frame = None if content is None or markers is not None else quick_frame(content, layout)
    # What is quick to read holds no numbers that a float rounds.
    is_quick = frame is not None
    if frame is None and content is not None:
        frame = plain_frame(content, layout, markers)
    if frame is None:
        check_rectangle(path, layout)
        with translated_errors(path, layout), open_table(path, layout) as file:
            frame = pd.read_csv(file, low_memory=False, **pandas_options(layout, markers))
    _refuse_repeated_names(path, layout, frame)
    hints = {
        name: words
        for name, words in layout.hints.items()
        # Who names the markers has decided what is missing.
        if markers is None or name not in layout.words
    }
    if rounded := [] if is_quick else _large_columns(frame):
        with translated_errors(path, layout), open_table(path, layout) as file:
            options_as_text = pandas_options(layout, markers, dict.fromkeys(rounded, str))
            written = pd.read_csv(file, usecols=rounded, **options_as_text)
        frame, hints = _with_long_codes(frame, written, hints)
    options = {"name": data_name(path), "source": path.name, "hints": hints, **options}
    with file_named(path):
        return Dataset.from_frame(frame, target=target, **options)


def plain_content(path: Path, layout: CsvLayout) -> bytes | None:
    """Return all of a file, None where it has quotes or another way of reading suits it better."""
    if layout.delimiter == " " or layout.skipped or layout.encoding not in _PLAIN_ENCODINGS:
        return None
    with unreadable(path), open_bytes(path) as file:
        # No more than the file has: room for the most would be cleared, which takes long.
        is_packed = path.suffix.lower() in PACKED
        most = _MOST_PLAIN_BYTES if is_packed else min(_MOST_PLAIN_BYTES, path.stat().st_size)
        content = file.read(most)
        return None if file.read(1) or b'"' in content or len(layout.names) < 2 else content


def plain_frame(
    content: bytes, layout: CsvLayout, markers: list[str] | None = None
) -> pd.DataFrame | None:
    """Return the table of a plain file in one pass, with what its other lines need left out.

    Parameters
    ----------
    content
        All of the file, which has no quotes.
    layout
        How it is laid out.
    markers
        Fields that stand for a missing value; None for the usual ones.

    Returns
    -------
        None where that might not be the same: columns whose fields are of several types, and
        lines of unequal length, which the other way reports.
    """
    mark = layout.delimiter.encode()
    # Markers by column take long in a wide table: those that all share are tried first.
    shared = None
    if markers is None and layout.words:
        shared = [marker for marker in MISSING_MARKERS if marker not in WORD_MARKERS]
    options = pandas_options(layout, markers if shared is None else shared)
    if not options["dtype"]:
        del options["dtype"]  # which is asked for each column, even if it has none
    if b" " not in content and (b"\t" not in content or mark == b"\t"):
        del options["skipinitialspace"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            frame = pd.read_csv(io.BytesIO(content), **options)
            if shared is not None and _has_other_strings(frame, layout):
                options["na_values"] = layout.missing_markers()
                frame = pd.read_csv(io.BytesIO(content), **options)
    except (ValueError, Warning):
        return None
    # pandas fills up short lines. Where the last field is nowhere missing there are none, and
    # then the number of delimiters tells that there are no long ones either.
    lines = len(frame) + int(layout.header)
    delimiters = (len(layout.names) - 1) * lines
    n_delimiters = np.count_nonzero(np.frombuffer(content, np.uint8) == mark[0])
    if n_delimiters != delimiters or frame.iloc[:, -1].isna().any():
        return None
    # Parts of a column that were read apart may differ in type.
    if any(map(pd.api.types.is_object_dtype, frame.dtypes)):
        return None
    # A copy lies in one piece for each type, where the parser leaves one for each column.
    return frame.copy() if frame.shape[1] > _MANY_COLUMNS else frame


def _refuse_repeated_names(path: Path, layout: CsvLayout, frame: pd.DataFrame) -> None:
    """Refuse a table in which the line of names is there again, between the rows."""
    # Beside numbers no column has its own name among its values.
    if not layout.header or len(frame.columns) < 2 or frame.dtypes.map(is_numeric_dtype).any():
        return
    if not (frame == list(layout.names)).all(axis=1).any():
        return
    with _numbered(path, layout) as records:
        lines = [line for line, record in records if [*map(str.strip, record)] == [*layout.names]]
    problem = "has the names of the columns again; put files together without those lines."
    raise file_error(path, problem, lines[1] if len(lines) > 1 else None)


def _has_other_strings(frame: pd.DataFrame, layout: CsvLayout) -> bool:
    """Tell whether columns hold strings that began neither as words nor as codes."""
    known = {*layout.words, *layout.codes}
    return any(
        not isinstance(dtype, np.dtype) or dtype.kind not in "iufb"
        for name, dtype in frame.dtypes.items()
        if name not in known
    )


def _large_columns(frame: pd.DataFrame) -> list[str]:
    numbers = frame.select_dtypes("number")
    # One pass tells of most columns that they have none; NaN has to be looked at.
    values = numbers.to_numpy(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->j", values, values)
    numbers = numbers.loc[:, ~(squares <= LARGEST_WHOLE**2)]
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


def open_table(path: Path, layout: CsvLayout) -> IO[Any]:
    """Open a file where its table begins.

    Told how many lines to skip, pandas counts a title of two lines in quotes as one.
    """
    return _open_text(path, layout) if layout.skipped else open_bytes(path)


def _open_text(path: Path, layout: CsvLayout) -> TextIO:
    """Open a file as text, line ends untouched, below the lines that are no part of the table."""
    text = io.TextIOWrapper(open_bytes(path), encoding=layout.encoding, newline="")
    for _ in range(layout.skipped):
        text.readline()
    return text


def pandas_options(
    layout: CsvLayout,
    missing_values: Iterable[str] | None = None,
    dtypes: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the arguments that make pandas read a table of that layout, with the given dtypes."""
    return {
        "sep": r"\s+" if layout.delimiter == " " else layout.delimiter,
        "encoding": layout.encoding,
        "decimal": layout.decimal,
        "header": 0 if layout.header else None,
        "names": list(layout.names),
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
    with _open_text(path, layout) as text:
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
