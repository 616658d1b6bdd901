"""Reading Parquet files, with the roles and texts that a data set wrote into them."""

from pathlib import Path
from typing import Any

from verulam.base import refuse_duplicate_names
from verulam.data._dataset import Dataset
from verulam.data._table.files import (
    checked_path,
    data_name,
    file_named,
    is_unnamed_index,
    stored_roles,
    unreadable_parquet,
    with_levels,
)


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
    import pyarrow.parquet

    path = checked_path(path)
    with unreadable_parquet(path), path.open("rb") as file:
        arrow = pyarrow.parquet.ParquetFile(file).read()
        # Strings are decoded when they are looked at, which is too late to name the file.
        arrow.validate(full=True)
    with file_named(path):
        refuse_duplicate_names(arrow.schema.names)
    stored = stored_roles(arrow.schema, path)
    with unreadable_parquet(path):
        # Without pandas' own metadata an index comes back as a column, so that none is lost.
        frame = with_levels(arrow.to_pandas(ignore_metadata=True), stored.pop("levels", {}))
    frame = frame.drop(columns=[name for name in frame.columns if is_unnamed_index(name)])
    defaults = {"name": data_name(path), "source": path.name}
    with file_named(path):
        return Dataset.from_frame(frame, **_merged_options(stored, target, defaults, options))


def _merged_options(
    stored: dict[str, Any], target: str | None, defaults: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments for `Dataset.from_frame`: what the caller says beats what is stored."""
    merged = {**defaults, **stored, **options}
    if target is not None and target != stored.get("target"):
        merged = {**merged, "target": target, "task": options.get("task")}
        for role in ("identifiers", "ignored"):
            merged[role] = [name for name in merged.get(role, ()) if name != target]
    return merged
