"""Tables larger than memory, one chunk of rows after the other, all with the same dtypes."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import refuse_duplicate_names
from verulam.data._readers.csv import (
    check_rectangle,
    exceeds_floats,
    open_table,
    pandas_options,
    translated_errors,
)
from verulam.data._readers.csv_layout import CsvLayout, csv_layout
from verulam.data._table.columns import (
    MAX_CATEGORIES,
    are_dates,
    boolean_dtype,
    has_few_values,
    kind_of,
    parsed_dates,
)
from verulam.data._table.files import (
    checked_path,
    file_named,
    is_unnamed_index,
    stored_roles,
    unreadable_parquet,
    with_levels,
)
from verulam.data._table.normalise_frame import missing_column, missing_target

_WORDS = np.dtype(object)

Item = pd.DataFrame | tuple[pd.DataFrame, pd.Series]


def stream(
    path: str | Path,
    *,
    target: str | None = None,
    columns: Sequence[str] | None = None,
    categorical: Iterable[str] = (),
    chunk_rows: int = 100_000,
    drop_missing_target: bool = False,
) -> "ChunkStream":
    r"""Open a CSV or Parquet file as a stream of chunks, for files larger than memory.

    Parameters
    ----------
    path
        The file; what its name does not end in ``.parquet`` or ``.pq`` is read as CSV.
    target
        The column to predict. With it the chunks are pairs of inputs and target.
    columns
        The columns to read, besides the target; all if not given.
    categorical
        Columns that are categories, whatever they look like.
    chunk_rows
        The largest number of rows in a chunk.
    drop_missing_target
        Drop the rows whose target is missing, instead of refusing them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from verulam.data import stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "big.csv")
    ...     _ = path.write_text("size,colour\n1,red\n2,red\n3,blue\n4,blue\n5,red\n")
    ...     for inputs, target in stream(path, target="colour", chunk_rows=2):
    ...         print(len(inputs), target.cat.categories.tolist())
    2 ['blue', 'red']
    2 ['blue', 'red']
    1 ['blue', 'red']
    """
    if chunk_rows < 1:
        raise ValueError(f"chunk_rows={chunk_rows}; at least 1 is needed.")
    path = checked_path(path)
    is_parquet = path.suffix.lower() in {".parquet", ".pq"}
    source = ParquetChunks(path) if is_parquet else CsvChunks(path)
    for argument, names in (("target", [target] if target else []), ("columns", columns or [])):
        for name in names:
            if name not in source.names:
                raise missing_column(argument, name, source.names)
    return ChunkStream(source, target, columns, tuple(categorical), chunk_rows, drop_missing_target)


class CsvChunks:
    """The chunks of a CSV file, as pandas reads them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.layout: CsvLayout = csv_layout(path)
        self.names = list(self.layout.names)

    def check(self) -> None:
        """Refuse a file with lines of different lengths."""
        check_rectangle(self.path, self.layout)

    def frames(
        self, names: Sequence[str], chunk_rows: int, dtypes: Mapping[str, Any]
    ) -> Iterator[pd.DataFrame]:
        """Yield the chunks of the named columns; those in `dtypes` are not guessed."""
        parsed = {name: _parser_dtype(dtype) for name, dtype in dtypes.items()}
        known = {name: dtype for name, dtype in parsed.items() if dtype is not None}
        with (
            translated_errors(self.path, self.layout),
            open_table(self.path, self.layout) as file,
            pd.read_csv(
                file,
                usecols=list(names),
                chunksize=chunk_rows,
                low_memory=False,
                **pandas_options(self.layout, dtypes=known),
            ) as reader,
        ):
            yield from reader


class ParquetChunks:
    """The chunks of a Parquet file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.schema = self._open().schema_arrow
        with file_named(path):
            refuse_duplicate_names(self.schema.names)
        self.names = [name for name in self.schema.names if not is_unnamed_index(name)]

    def _open(self) -> Any:
        import pyarrow.parquet

        with unreadable_parquet(self.path):
            return pyarrow.parquet.ParquetFile(self.path)

    def check(self) -> None:
        """Do nothing: a Parquet file is a rectangle."""

    def frames(
        self,
        names: Sequence[str],
        chunk_rows: int,
        dtypes: Mapping[str, Any],
    ) -> Iterator[pd.DataFrame]:
        """Yield the chunks of the named columns."""
        levels = stored_roles(self.schema, self.path).get("levels", {})
        with unreadable_parquet(self.path), self._open() as file:
            for batch in file.iter_batches(batch_size=chunk_rows, columns=list(names)):
                batch.validate(full=True)
                yield with_levels(batch.to_pandas(ignore_metadata=True), levels)


class ChunkStream:
    r"""Chunks of a file that can be run through again and again; made by :func:`stream`.

    Iterating, or calling it and iterating over the answer, yields pairs of inputs and target, or
    just the table where there is no target. All chunks have the same dtypes and categories, found
    by one run over the file before the first chunk: strings are categories by the same rule as in
    :meth:`Dataset.from_frame`, and a target of strings always is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from verulam.data import stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "letters.csv"
    ...     _ = path.write_text("x,y\n1,a\n2,b\n3,a\n")
    ...     for inputs, target in stream(path, target="y", chunk_rows=2):
    ...         print(inputs["x"].tolist(), target.tolist())
    [1, 2] ['a', 'b']
    [3] ['a']
    """

    def __init__(
        self,
        source: CsvChunks | ParquetChunks,
        target: str | None,
        columns: Sequence[str] | None,
        categorical: Sequence[str],
        chunk_rows: int,
        drop_missing_target: bool,
    ) -> None:
        self.source = source
        self.target = target
        self.input_names = [name for name in columns or source.names if name != target]
        self.categorical = categorical
        self.chunk_rows = chunk_rows
        self.drop_missing_target = drop_missing_target

    @cached_property
    def dtypes(self) -> dict[str, Any]:
        """Column to the dtype it has in every chunk."""
        self.source.check()
        scans = self._scan(self._names, {}, self.categorical)
        # Numbers in one chunk and words in another: read again, as words.
        mixed = [name for name, seen in scans.items() if len(seen.kinds) > 1]
        if mixed:
            scans |= self._scan(mixed, dict.fromkeys(mixed, _WORDS), self.categorical)
        large = [name for name, seen in scans.items() if seen.exceeds_floats]
        if large:
            written = self._scan(large, dict.fromkeys(large, _WORDS), self.categorical)
            scans |= {name: seen for name, seen in written.items() if seen.are_digits}
        dtypes = {name: seen.dtype() for name, seen in scans.items()}
        if self.target is not None and dtypes[self.target] == _WORDS:
            words = [self.target]
            dtypes[self.target] = self._scan(words, {self.target: _WORDS}, words)[
                self.target
            ].dtype()
        return dtypes

    def __iter__(self) -> Iterator[Item]:
        dtypes, first_row = self.dtypes, 0
        for frame in self.source.frames(self._names, self.chunk_rows, dtypes):
            frame = frame.reset_index(drop=True)
            n_rows = len(frame)
            if self.target is not None:
                frame = self._with_target(frame, first_row)
            chunk = pd.DataFrame(
                {name: conformed(frame[name], dtypes[name]) for name in self._names}
            )
            first_row += n_rows
            if self.target is None:
                yield chunk
            elif len(chunk):
                yield chunk[self.input_names], chunk[self.target]

    def __call__(self) -> Iterator[Item]:
        """Return a fresh iterator over the chunks."""
        return iter(self)

    def __repr__(self) -> str:
        target = "" if self.target is None else f", target {self.target!r}"
        return (
            f"ChunkStream of {self.source.path.name!r}: {len(self.input_names)} inputs{target}, "
            f"up to {self.chunk_rows} rows at a time"
        )

    @property
    def _names(self) -> list[str]:
        return self.input_names + ([] if self.target is None else [self.target])

    def _scan(
        self, names: Sequence[str], dtypes: Mapping[str, Any], categorical: Sequence[str]
    ) -> "dict[str, ColumnScan]":
        return scan(self.source.frames(names, self.chunk_rows, dtypes), categorical)

    def _with_target(self, frame: pd.DataFrame, first_row: int) -> pd.DataFrame:
        """Return the rows of a chunk whose target is known, or refuse the others."""
        is_missing = frame[self.target].isna()
        if is_missing.any() and not self.drop_missing_target:
            raise missing_target(str(self.target), np.flatnonzero(is_missing) + first_row)
        return frame[~is_missing].reset_index(drop=True)


def _parser_dtype(dtype: Any) -> Any:
    """Return what to tell the CSV parser: numbers and strings as such, truth values as found."""
    if isinstance(dtype, pd.CategoricalDtype):
        texts = all(isinstance(category, str) for category in dtype.categories)
        return str if texts else None
    if dtype.kind in "iuf":
        return dtype
    return None if dtype.kind == "b" else str


@dataclass
class ColumnScan:
    """What has been seen of a column so far; constant memory, however long the file.

    Attributes
    ----------
    keep_all
        Whether every distinct string is kept: for columns known to be categories.
    """

    keep_all: bool = False
    kinds: set[str] = field(default_factory=set)
    is_whole: bool = True
    has_missing: bool = False
    are_dates: bool = True
    are_digits: bool = False
    is_ordered: bool = False
    exceeds_floats: bool = False
    n_present: int = 0
    values: dict[Any, None] = field(default_factory=dict)

    def see(self, column: pd.Series) -> None:
        """Take one chunk into account."""
        present = column.dropna()
        self.n_present += len(present)
        self.has_missing |= len(present) < len(column)
        if isinstance(column.dtype, pd.CategoricalDtype):
            self.kinds.add("categorical")
            self.is_ordered |= bool(column.cat.ordered)
            self.values |= dict.fromkeys(column.cat.categories)
            return
        if present.empty:
            return
        is_large = exceeds_floats(present)
        self.exceeds_floats |= is_large
        kind = "numeric" if is_large else kind_of(present.infer_objects())
        if kind == "text":
            self.are_digits = (self.are_digits or not self.kinds) and bool(
                present.str.strip().str.isdecimal().all()
            )
        self.kinds.add(kind)
        if kind == "numeric":
            self.is_whole &= pd.api.types.is_integer_dtype(column.dtype) or bool(
                # Next to missing values pandas stores integers as floats.
                len(present) < len(column) and (present == present.round()).all()
            )
        if self.keep_all or (kind == "text" and len(self.values) <= MAX_CATEGORIES):
            self.values |= dict.fromkeys(present.unique())
        if kind == "text":
            self.are_dates = self.are_dates and are_dates(present)

    def dtype(self) -> Any:
        """Return the dtype for all chunks: a NumPy or category dtype, or ``object`` for text."""
        if not self.kinds:
            return np.dtype("float64")
        if self.keep_all or "categorical" in self.kinds:
            values = list(self.values) if self.is_ordered else sorted(self.values, key=_sort_key)
            return pd.CategoricalDtype(values, ordered=self.is_ordered)
        if self.kinds == {"boolean"}:
            return boolean_dtype(has_missing=self.has_missing)
        if self.kinds == {"numeric"}:
            return np.dtype("int64" if self.is_whole and not self.has_missing else "float64")
        if self.kinds == {"date"} or self.are_dates:
            return np.dtype("datetime64[us]")
        if has_few_values(len(self.values), self.n_present):
            return pd.CategoricalDtype(sorted(self.values))
        return np.dtype(object)


def scan(chunks: Iterable[pd.DataFrame], categorical: Collection[str]) -> dict[str, ColumnScan]:
    """Return what each column of all chunks holds."""
    scans: dict[str, ColumnScan] = {}
    for chunk in chunks:
        for name in chunk.columns:
            scans.setdefault(name, ColumnScan(keep_all=name in categorical)).see(chunk[name])
    return scans


def conformed(column: pd.Series, dtype: Any) -> pd.Series:
    """Return one chunk of a column with the dtype that all chunks share."""
    if column.dtype == dtype:
        return column
    if dtype == np.dtype(object):
        return column
    if isinstance(dtype, np.dtype) and dtype.kind == "M":
        return parsed_dates(column) if kind_of(column) == "text" else column.astype(dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        return column.astype(object).astype(dtype)
    return column.astype(dtype)


def _sort_key(value: Any) -> tuple[str, Any]:
    # Numbers sort as numbers, strings as strings, and never one against the other.
    return ("number", value) if isinstance(value, int | float | np.number) else ("text", str(value))
