"""Checks and wording that all readers share."""

import gzip
from pathlib import Path
from typing import BinaryIO, cast

from verulam.base import DataError


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
    """Open a file for reading, unpacked where its name ends in ``.gz``."""
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def data_name(path: Path) -> str:
    """Return the name of a data set read from that file: without folder and suffixes."""
    return path.name.split(".")[0] or path.name


def undecodable(path: Path, error: UnicodeError) -> DataError:
    """Return the error for bytes that are no text in the encoding of the file."""
    return file_error(
        path, f"cannot be decoded ({error}); save it as UTF-8, or name its encoding in Python."
    )
