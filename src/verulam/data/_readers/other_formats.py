"""Reading spreadsheets, JSON lines and Feather files, and tables of other libraries."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from verulam.base import DataError, refuse_duplicate_names
from verulam.data._dataset import Dataset
from verulam.data._readers.csv_layout import MISSING_MARKERS, title_hint, title_records
from verulam.data._table.files import (
    checked_path,
    data_name,
    file_error,
    file_named,
    open_bytes,
    unreadable,
)

#: So many rows of a sheet are looked at for titles above the names.
_HEAD_ROWS = 30


def read_excel(
    path: str | Path, *, target: str | None = None, sheet: str | int = 0, **options: Any
) -> Dataset:
    """Read one sheet of a spreadsheet (.xlsx, .xlsm, .xls, .xlsb or .ods), names in its first row.

    Parameters
    ----------
    path
        The file.
    target
        The column to predict.
    sheet
        Name or number of the sheet; the first if not given.
    **options
        Passed on to :meth:`Dataset.from_frame`.
    """
    path = checked_path(path)
    try:
        import python_calamine  # noqa: F401 (what pandas reads with)
    except ImportError:
        raise DataError(
            f"{path}: spreadsheets are read by python-calamine; pip install 'verulam[excel]', or "
            "save the sheet as CSV."
        ) from None
    with unreadable(path, "cannot be read as a spreadsheet"):
        book = pd.ExcelFile(path, engine="calamine")
    with book:
        numbers = range(len(book.sheet_names))
        if isinstance(sheet, bool) or (sheet not in book.sheet_names and sheet not in numbers):
            names = ", ".join(map(repr, book.sheet_names))
            raise file_error(path, f"has no sheet {sheet!r}; it has {names}, numbered from 0.")
        with unreadable(path, "cannot be read as a spreadsheet"):
            head = pd.read_excel(
                book, sheet_name=sheet, header=None, nrows=_HEAD_ROWS, dtype=str, na_filter=False
            )
            records = head.to_numpy(dtype=object).tolist()
            titles = records[: title_records(records) if records else 0]
            frame = pd.read_excel(book, sheet_name=sheet, skiprows=len(titles))
    if records:
        # pandas tells names apart that are there twice; a CSV file with such names is refused.
        with file_named(path):
            refuse_duplicate_names([name for name in records[len(titles)] if name])
    # Rows and columns without anything in them are the margins of a sheet.
    unnamed = [name for name in frame.columns if str(name).startswith("Unnamed:")]
    empty = [name for name in unnamed if frame[name].isna().all()]
    frame = frame.drop(columns=empty).dropna(how="all").reset_index(drop=True).infer_objects()
    if titles and len(frame.columns):
        options = {"hints": {str(frame.columns[0]): title_hint(titles)}, **options}
    return _from_file(frame, path, target, options)


def read_json(path: str | Path, *, target: str | None = None, **options: Any) -> Dataset:
    """Read JSON lines, an object a row, or one list of such objects.

    Parameters
    ----------
    path
        The file, perhaps packed.
    target
        The column to predict.
    **options
        Passed on to :meth:`Dataset.from_frame`.
    """
    path = checked_path(path)
    with unreadable(path), open_bytes(path) as file:
        content = file.read().decode("utf-8-sig")
    if content.lstrip().startswith("["):
        try:
            rows = json.loads(content)
        except json.JSONDecodeError as error:
            raise file_error(path, f"is no JSON: {error.msg}.", error.lineno) from error
    else:
        # Not splitlines: texts may hold other ends of lines than this one.
        rows = [_row(path, number, line) for number, line in enumerate(content.split("\n"), 1)]
        rows = [row for row in rows if row is not None]
    for place, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise file_error(path, f"row {place} is no object with names, but {str(row)[:20]}.")
        nested = [name for name, value in row.items() if isinstance(value, dict | list)]
        if nested:
            raise file_error(
                path, f"row {place} holds a table within {nested[0]!r}; make it flat first."
            )
    return _from_file(pd.DataFrame(rows), path, target, options)


def _row(path: Path, number: int, line: str) -> Any:
    if not line.strip():
        return None
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise file_error(path, f"is no JSON: {error.msg}.", number) from error


def read_feather(path: str | Path, *, target: str | None = None, **options: Any) -> Dataset:
    """Read a Feather (Arrow) file.

    Parameters
    ----------
    path
        The file.
    target
        The column to predict.
    **options
        Passed on to :meth:`Dataset.from_frame`.
    """
    import pyarrow.feather

    path = checked_path(path)
    with unreadable(path, "cannot be read as a Feather file"):
        frame = pyarrow.feather.read_table(path).to_pandas(ignore_metadata=True)
    return _from_file(frame, path, target, options)


def _from_file(
    frame: pd.DataFrame, path: Path, target: str | None, options: dict[str, Any]
) -> Dataset:
    with file_named(path):
        frame.columns = [str(name) for name in frame.columns]
        refuse_duplicate_names(frame.columns)
        frame = frame.apply(_one_type)
        defaults = {"name": data_name(path), "source": path.name}
        return Dataset.from_frame(frame, target=target, **{**defaults, **options})


def _one_type(column: pd.Series) -> pd.Series:
    """Return a column whose cells are of several types as text, which is then read as in CSV."""
    mixed = pd.api.types.infer_dtype(column, skipna=True).startswith("mixed")
    if not (pd.api.types.is_object_dtype(column) and mixed):
        return column
    words = column[column.map(lambda cell: isinstance(cell, str))]
    if words.str.strip().isin(MISSING_MARKERS).all():
        return column.drop(words.index).reindex(column.index).infer_objects()
    return column.map(_written_cell, na_action="ignore")


def _written_cell(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).removesuffix(" 00:00:00") if isinstance(value, datetime) else str(value)
