"""Reading NumPy's NPZ archives, without ever unpickling."""

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from verulam.base import refuse_duplicate_names
from verulam.data._dataset import Dataset
from verulam.data._table.files import checked_path, data_name, file_error, file_named, unreadable


def read_npz(path: str | Path, *, target: str | None = None, **options: Any) -> Dataset:
    """Read an NPZ archive: arrays ``X`` and, optionally, ``y``, or one array per column.

    Parameters
    ----------
    path
        The file. Arrays of Python objects are refused, since loading them can run code.
    target
        The column to predict; ``y`` if the archive has one and this is not given.
    **options
        Passed on to :meth:`Dataset.from_frame`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from verulam.data import read_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "pairs.npz")
    ...     np.savez(path, X=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], y=["a", "b", "a"])
    ...     read_npz(path)
    Dataset 'pairs': 3 rows, classification of 'y' (a, b)
      numeric: x1, x2
    """
    path = checked_path(path)
    arrays = _load(path)
    frame = _table_of(path, arrays)
    if target is None and "X" in arrays and "y" in arrays:
        target = "y"
    options = {"name": data_name(path), "source": path.name, **options}
    with file_named(path):
        return Dataset.from_frame(frame, target=target, **options)


def _load(path: Path) -> dict[str, np.ndarray]:
    # Opened here, because NumPy leaves a file open if it turns out to be damaged.
    with unreadable(path, "is not a readable NPZ archive"), path.open("rb") as file:
        try:
            members = _members(path, file)
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            problem = "holds Python objects, which are not loaded because they can run code."
            raise file_error(path, problem) from error
        for name, values in members.items():
            if not isinstance(values, np.ndarray):
                raise file_error(path, f"its member {name!r} is no array.")
            if values.dtype.kind == "U" and not _is_unicode(values):
                raise file_error(path, f"array {name!r} has characters that Unicode does not know.")
        return members


def _is_unicode(words: np.ndarray) -> bool:
    codes = np.ascontiguousarray(words).astype(words.dtype.newbyteorder("=")).view(np.uint32)
    # The gap is that of the surrogates, which stand for nothing by themselves.
    return bool(((codes < 0xD800) | ((codes > 0xDFFF) & (codes <= 0x10FFFF))).all())


def _members(path: Path, file: BinaryIO) -> dict[str, np.ndarray]:
    loaded = np.load(file, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        raise file_error(path, "is a single array (NPY); expected an NPZ archive.")
    with loaded as archive:
        with file_named(path):
            refuse_duplicate_names(archive.files)
        return {name: archive[name] for name in archive.files}


def _table_of(path: Path, arrays: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return the columns: those of ``X`` are ``x1``, ``x2``, ..., others keep their names."""
    pairs: list[tuple[str, np.ndarray]] = []
    for name, values in arrays.items():
        if name == "X" and values.ndim == 2:
            pairs += [(f"x{number + 1}", values[:, number]) for number in range(values.shape[1])]
        elif values.ndim == 1:
            pairs.append((name, values))
        else:
            raise file_error(
                path,
                f"array {name!r} has {values.ndim} dimensions; expected a two-dimensional 'X' "
                "and one-dimensional arrays.",
            )
    with file_named(path):
        refuse_duplicate_names(name for name, _ in pairs)
    columns = dict(pairs)
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise file_error(path, f"the arrays differ in length: {lengths}.")
    return pd.DataFrame(columns)
