"""Reading and writing Parquet files; roles and texts travel in the schema's metadata."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from verulam.base import DataError
from verulam.data._dataset import Dataset
from verulam.data._table.files import checked_path, data_name, file_error

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = b"verulam"
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
_TEXTS = ("name", "description", "source", "licence")


def read_parquet(path: str | Path, *, target: str | None = None, **options: Any) -> Dataset:
    """Read a Parquet file, with the roles and texts that :meth:`Dataset.to_parquet` wrote, if any.

    Parameters
    ----------
    path
        The file.
    target
        The column to predict; the one stored with the file if not given.
    **options
        Passed on to :meth:`Dataset.from_frame`; they take the place of what is stored.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from verulam.data import dataset, read_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "flowers.parquet")
    ...     dataset("iris").to_parquet(path)
    ...     read_parquet(path).content_hash == dataset("iris").content_hash
    True
    """
    import pyarrow as pa
    import pyarrow.parquet

    path = checked_path(path)
    try:
        arrow = pyarrow.parquet.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        raise unreadable_parquet(path, error) from error
    stored = stored_roles(arrow.schema, path)
    # Without pandas' own metadata an index comes back as a column, so that none is lost.
    frame = with_levels(arrow.to_pandas(ignore_metadata=True), stored.pop("levels", {}))
    frame = frame.drop(columns=[name for name in frame.columns if is_unnamed_index(name)])
    defaults = {"name": data_name(path), "source": path.name}
    return Dataset.from_frame(frame, **merged_options(stored, target, defaults, options))


def with_levels(frame: pd.DataFrame, levels: dict[str, Any]) -> pd.DataFrame:
    """Return the table with the stored categories of those columns that it has."""
    dtypes = {
        name: pd.CategoricalDtype(values, ordered=ordered)
        for name, (values, ordered) in levels.items()
        if name in frame.columns
    }
    return frame.astype(dict.fromkeys(dtypes, object)).astype(dtypes)


def unreadable_parquet(path: Path, error: Exception) -> DataError:
    """Return the error for a file that is no Parquet, or a damaged one."""
    return file_error(path, f"is not a readable Parquet file: {error}")


def is_unnamed_index(name: str) -> bool:
    """Tell whether a column is an index without a name, written by pandas."""
    return bool(_UNNAMED_INDEX.fullmatch(name))


def merged_options(
    stored: dict[str, Any], target: str | None, defaults: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments for `Dataset.from_frame`: what the caller says beats what is stored."""
    merged = {**defaults, **stored, **options}
    if target is not None and target != stored.get("target"):
        merged = {**merged, "target": target, "task": options.get("task")}
        for role in ("identifiers", "ignored"):
            merged[role] = [name for name in merged.get(role, ()) if name != target]
    return merged


def stored_roles(schema: "pa.Schema", path: Path) -> dict[str, Any]:
    """Return what `write_parquet` stored next to the table, or nothing."""
    metadata = (schema.metadata or {}).get(_KEY)
    if metadata is None:
        return {}
    try:
        stored = json.loads(metadata)
        known = {"target", "task", "identifiers", "ignored", "text", "levels", *_TEXTS}
        return {key: value for key, value in stored.items() if key in known}
    except (ValueError, AttributeError) as error:
        raise file_error(path, f"its verulam metadata is damaged: {error}") from error


def write_parquet(data: Dataset, path: str | Path) -> None:
    """Write the table with its roles, texts and the full list of categories of each column."""
    import pyarrow as pa
    import pyarrow.parquet

    categories = {
        name: column.dtype
        for name, column in data.table.items()
        if isinstance(column.dtype, pd.CategoricalDtype)
    }
    stored = {
        "target": data.target,
        "task": data.task,
        "identifiers": data.identifiers,
        "ignored": data.ignored,
        "text": [name for name, kind in data.kinds.items() if kind == "text"],
        # Parquet keeps only the categories that occur, and not their order.
        "levels": {
            name: [dtype.categories.tolist(), bool(dtype.ordered)]
            for name, dtype in categories.items()
        },
        **{text: getattr(data, text) for text in _TEXTS},
    }
    arrow = pa.Table.from_pandas(data.table, preserve_index=False)
    metadata = {**(arrow.schema.metadata or {}), _KEY: json.dumps(stored).encode()}
    pyarrow.parquet.write_table(
        arrow.replace_schema_metadata(metadata), path, compression="zstd", compression_level=19
    )
