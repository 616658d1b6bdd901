"""One reader for all formats."""

from pathlib import Path
from typing import Any

from verulam.data._dataset import Dataset
from verulam.data._readers.arff import read_arff
from verulam.data._readers.csv import read_csv
from verulam.data._readers.npz import read_npz
from verulam.data._readers.other_formats import read_excel, read_feather, read_json
from verulam.data._readers.parquet import read_parquet
from verulam.data._table.files import PACKED, checked_path, open_bytes, unreadable
from verulam.data._table.normalise_frame import as_pandas

_READERS = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".txt": read_csv,
    ".data": read_csv,
    ".arff": read_arff,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".npz": read_npz,
    ".feather": read_feather,
    ".arrow": read_feather,
    ".json": read_json,
    ".jsonl": read_json,
    ".ndjson": read_json,
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"), read_excel),
}


def read(source: Any, *, target: str | None = None, **options: Any) -> Dataset:
    r"""Read a table from a file of any known format, or take a DataFrame.

    Parameters
    ----------
    source
        A DataFrame of pandas, polars or Arrow, or the name of a CSV, Parquet, Feather, JSON lines,
        Excel, ARFF (also in KEEL's form) or NPZ file. The suffix tells the format (``.gz``,
        ``.bz2``, ``.xz`` and ``.zip`` aside); without a known one, the first bytes do.
    target
        The column to predict.
    **options
        Passed on to the reader and to :meth:`Dataset.from_frame`.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.data import read
    >>> read(pd.DataFrame({"mileage": [1e4, 5e4, 9e4], "price": [9e3, 7e3, 4e3]}), target="price")
    Dataset 'data': 3 rows, regression of 'price'
      numeric: mileage
    """
    frame = as_pandas(source)
    if frame is not None:
        return Dataset.from_frame(frame, target=target, **options)
    path = checked_path(source)
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in PACKED]
    reader = _READERS.get(suffixes[-1] if suffixes else "")
    return (reader or _reader_by_content(path))(path, target=target, **options)


def _reader_by_content(path: Path) -> Any:
    with unreadable(path), open_bytes(path) as file:
        head = file.read(4096)
    # A first column may be called so, in a file of text.
    if head.startswith(b"PAR1") and b"\x00" in head:
        return read_parquet
    if head.startswith(b"PK\x03\x04"):
        return read_npz
    starts = [line.strip().lower() for line in head.splitlines() if line.strip()]
    is_arff = any(line.startswith(b"@relation") for line in starts)
    return read_arff if is_arff else read_csv
