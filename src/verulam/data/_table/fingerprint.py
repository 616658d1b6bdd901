"""A hash of what a table holds, the same on every platform and in every process."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from verulam.data._table.columns import kind_of


def fingerprint(table: pd.DataFrame, about: Mapping[str, Any]) -> str:
    """Return the SHA-256 of names, kinds, dtypes, categories and values, and of `about`."""
    digest = hashlib.sha256()
    _add(digest, json.dumps(about, sort_keys=True, ensure_ascii=True).encode())
    for name in table.columns:
        column = table[name]
        heading = {"name": name, "kind": kind_of(column), "dtype": _dtype_label(column)}
        _add(digest, json.dumps(heading, sort_keys=True).encode())
        for part in _column_bytes(column):
            _add(digest, part)
    return digest.hexdigest()


def _add(digest: Any, part: bytes) -> None:
    # The length in front keeps two different lists of parts from reading the same.
    digest.update(len(part).to_bytes(8, "little"))
    digest.update(part)


def _dtype_label(column: pd.Series) -> Any:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [_plain(category) for category in column.cat.categories]
    # Strings have several dtypes in pandas, which hold the same values.
    return "text" if kind_of(column) == "text" else str(column.dtype)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _column_bytes(column: pd.Series) -> list[bytes]:
    match kind_of(column):
        case "categorical" | "ordinal":
            return [column.cat.codes.to_numpy().astype("<i4").tobytes()]
        case "text":
            return _text_bytes(column)
        case "date":
            return [column.to_numpy().astype("datetime64[us]").astype("<i8").tobytes()]
        case _:
            return [_number_bytes(column.to_numpy())]


def _number_bytes(values: np.ndarray) -> bytes:
    if values.dtype.kind == "f":
        # One bit pattern for all NaNs, and one for both zeros.
        values = np.where(np.isnan(values), np.nan, values) + values.dtype.type(0)
    return np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()


def _text_bytes(column: pd.Series) -> list[bytes]:
    encoded = [
        None if missing else str(value).encode("utf-8", "surrogatepass")
        for value, missing in zip(column, column.isna(), strict=True)
    ]
    lengths = np.array([-1 if part is None else len(part) for part in encoded], dtype="<i8")
    return [lengths.tobytes(), b"".join(part for part in encoded if part is not None)]
