"""One row per column: what it holds, and what deserves a look."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from verulam.data._table.column_hints import hint
from verulam.data._table.columns import kind_of


def summarise(table: pd.DataFrame, roles: Mapping[str, str]) -> pd.DataFrame:
    """Return kind, role, missing and distinct counts, range or most frequent value, and a note."""
    rows = [_column_summary(table[name], roles[name]) for name in table.columns]
    summary = pd.DataFrame(rows, index=pd.Index(table.columns, name="column"))
    return summary.astype({"minimum": object, "mean": object, "maximum": object})


def _column_summary(column: pd.Series, role: str) -> dict[str, object]:
    kind = kind_of(column)
    present = column.dropna()
    summary: dict[str, object] = {
        "kind": kind,
        "role": role,
        "missing": int(column.isna().sum()),
        "distinct": int(present.nunique()),
        "minimum": "",
        "mean": "",
        "maximum": "",
        "most_frequent": "",
        "note": _note(column, present, kind),
    }
    if present.empty:
        return summary
    if kind in {"numeric", "date", "ordinal"}:
        summary["minimum"] = present.min()
        summary["maximum"] = present.max()
    if kind == "numeric":
        # Infinite values have a range, but their mean may not exist.
        summary["mean"] = float(present.mean()) if np.isfinite(present).all() else np.nan
    elif kind != "date":
        summary["most_frequent"] = present.mode().iloc[0]
    return summary


def _note(column: pd.Series, present: pd.Series, kind: str) -> str:
    if present.empty:
        return "all values missing" if len(column) else "no rows"
    notes = []
    if len(present) > 1 and (present == present.iloc[0]).all():
        notes.append("constant")
    if kind == "numeric" and (n_infinite := int(np.isinf(present.to_numpy(float)).sum())):
        notes.append(f"{n_infinite} infinite")
    return ", ".join([*notes, *filter(None, [hint(present, kind)])])
