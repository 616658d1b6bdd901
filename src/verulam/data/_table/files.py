"""Tables on disk: checked paths, errors that name the file, and roles inside of Parquet files."""

import bz2
import codecs
import gzip
import json
import lzma
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import pandas as pd

from verulam.base import DataError, draft_of

if TYPE_CHECKING:
    import pyarrow as pa

#: The texts about a data set that travel with its table.
TEXTS = ("name", "description", "source", "licence")

#: Under this key of a Parquet schema's metadata stand the roles and texts.
_KEY = b"verulam"
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
#: Suffix of a packed file to the library that unpacks it; a zip has one file inside.
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
PACKED = frozenset({*_OPENERS, ".zip"})


def file_error(path: Path, problem: str, line: int | None = None) -> DataError:
    """Return the error that names the file, the line (counted from 1) and the problem."""
    place = str(path) if line is None else f"{path}, line {line}"
    return DataError(f"{place}: {problem}")


def checked_path(path: str | Path) -> Path:
    """Return `path` if it is a file with something in it."""
    path = Path(path)
    if path.is_dir():
        raise file_error(path, "is a directory; pass the name of a file in it.")
    if not path.exists():
        raise file_error(path, "no such file.")
    if path.stat().st_size == 0:
        raise file_error(path, "the file is empty.")
    return path


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, unpacked where its name ends in one of `PACKED`."""
    suffix = path.suffix.lower()
    if suffix == ".zip":
        return _only_member(path)
    return cast(BinaryIO, _OPENERS[suffix](path, "rb") if suffix in _OPENERS else path.open("rb"))


def _only_member(path: Path) -> BinaryIO:
    with zipfile.ZipFile(path) as archive:
        # A Mac packs notes of its own beside each file.
        names = [name for name in archive.namelist() if not re.match(r"__MACOSX/|.*/$", name)]
        if len(names) != 1:
            listing = f"{', '.join(names[:3])}, ..." if len(names) > 3 else ", ".join(names)
            raise file_error(
                path, f"expected one file in it, found {len(names)}{listing and f': {listing}'}."
            )
        # The archive stays open for as long as its member does.
        return cast(BinaryIO, archive.open(names[0]))


@contextmanager
def unreadable(path: Path, problem: str = "cannot be read") -> Iterator[None]:
    """Turn whatever another library makes of a damaged file into an error that names the file.

    Those libraries raise errors of many types where bytes make no sense to them, and document few
    of them; so all are caught, and nothing but their work belongs inside.
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        words = str(error).rstrip(".") or type(error).__name__
        raise file_error(path, f"{problem}: {words}.") from error


@contextmanager
def file_named(path: Path, line: int | None = None) -> Iterator[None]:
    """Put the name of the file, and the line, before what is said of the table in it."""
    try:
        yield
    except DataError as error:
        if str(error).startswith(str(path)):
            raise
        raise file_error(path, str(error), line) from error


def data_name(path: Path) -> str:
    """Return the name of a data set read from that file: without folder and suffixes."""
    return path.name.split(".")[0] or path.name


def undecodable(path: Path, error: UnicodeError) -> DataError:
    """Return the error for bytes that are no text in the encoding of the file."""
    encoding = getattr(error, "encoding", "")
    line = first_undecodable(path, encoding) if encoding in {"utf-8", "ascii"} else None
    return file_error(
        path,
        f"cannot be decoded ({error}); save it as UTF-8, or name its encoding in Python.",
        line,
    )


def first_undecodable(path: Path, encoding: str) -> int | None:
    """Return the first line that is no text in an encoding of single bytes for line ends."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            try:
                decoder.decode(line)
            except UnicodeError:
                return number
    return None


def write_parquet(table: pd.DataFrame, roles: dict[str, Any], path: str | Path) -> None:
    """Write a table, with its roles, texts and the full list of categories of each column."""
    import pyarrow as pa
    import pyarrow.parquet

    categories = {
        name: column.dtype
        for name, column in table.items()
        if isinstance(column.dtype, pd.CategoricalDtype)
    }
    # Parquet keeps only the categories that occur, and not their order.
    levels = {
        name: [dtype.categories.tolist(), bool(dtype.ordered)] for name, dtype in categories.items()
    }
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    stored = json.dumps({**roles, "levels": levels}).encode()
    metadata = {**(arrow.schema.metadata or {}), _KEY: stored}
    arrow = arrow.replace_schema_metadata(metadata)
    with draft_of(path) as draft:
        pyarrow.parquet.write_table(arrow, draft, compression="zstd", compression_level=19)


def stored_roles(schema: "pa.Schema", path: Path) -> dict[str, Any]:
    """Return what `write_parquet` stored next to the table, or nothing."""
    metadata = (schema.metadata or {}).get(_KEY)
    if metadata is None:
        return {}
    with unreadable(path, "its verulam metadata is damaged"):
        stored = dict(json.loads(metadata).items())
        known = {key: stored[key] for key in stored if key in _STORED}
        for key, value in known.items():
            if not _STORED[key](value):
                raise ValueError(f"{key} is {json.dumps(value)[:40]}")
    return known


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_levels(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], list)
        for entry in value.values()
    )


#: What is stored beside a table, each with the check of its form.
_STORED: dict[str, Callable[[Any], bool]] = {
    "target": lambda value: value is None or _is_text(value),
    "task": lambda value: value in {None, "classification", "regression"},
    "identifiers": _are_names,
    "ignored": _are_names,
    "text": _are_names,
    "levels": _are_levels,
    **dict.fromkeys(TEXTS, _is_text),
}


def with_levels(frame: pd.DataFrame, levels: dict[str, Any]) -> pd.DataFrame:
    """Return the table with the stored categories of those columns that it has."""
    dtypes = {
        name: pd.CategoricalDtype(values, ordered=bool(ordered))
        for name, (values, ordered) in levels.items()
        if name in frame.columns
    }
    return frame.astype(dict.fromkeys(dtypes, object)).astype(dtypes)


def unreadable_parquet(path: Path) -> AbstractContextManager[None]:
    """Turn errors about a file that is no Parquet, or a damaged one, into ours."""
    return unreadable(path, "is not a readable Parquet file")


def is_unnamed_index(name: str) -> bool:
    """Tell whether a column is an index without a name, written by pandas."""
    return bool(_UNNAMED_INDEX.fullmatch(name))
