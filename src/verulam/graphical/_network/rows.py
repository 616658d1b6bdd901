"""Rows of tables: as state numbers, drawn from a network, refused where they cannot occur."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, nearest_names, refuse_duplicate_names
from verulam.graphical._factor import FactorModel


def encode_rows(model: FactorModel, table: Any) -> tuple[np.ndarray, pd.Index]:
    """Return the state numbers of a table, -1 where nothing was observed, and its index."""
    if not isinstance(table, pd.DataFrame):
        raise DataError(
            "table: expected a pandas DataFrame with a column for each observed node, not "
            f"{type(table).__name__}."
        )
    refuse_duplicate_names(table.columns)
    codes = np.full((len(table), len(model.states)), -1, dtype=np.int32)
    for name in table.columns:
        model.check_name(name)
        codes[:, model.positions[name]] = _column_codes(name, table[name], model.lookup[name])
    return codes, table.index


def _column_codes(name: str, column: pd.Series, places: Mapping[Any, int]) -> np.ndarray:
    values = column.array
    if isinstance(values, pd.Categorical):
        codes, labels = values.codes, list(values.categories)
    else:
        codes, uniques = pd.factorize(values)
        labels = list(uniques)
    # The last entry is what code -1, a missing value, is looked up as.
    lookup = np.array([*(places.get(label, -2) for label in labels), -1], dtype=np.int32)
    codes = lookup[codes]
    if lookup.min() == -2 and (stray := codes == -2).any():
        value = column.iloc[int(np.argmax(stray))]
        value = value.item() if isinstance(value, np.generic) else value
        nearest = nearest_names(str(value), map(str, places))
        hint = ""
        if pd.api.types.is_numeric_dtype(column.dtype) and any(isinstance(p, str) for p in places):
            hint = " A numeric column is cut into states first, by pandas.cut or pandas.qcut."
        raise DataError(
            f"Column {name!r} has {value!r}, which is no state of that node. Nearest: "
            f"{', '.join(nearest)}.{hint}"
        )
    return codes


def sample_rows(
    model: FactorModel, order: Sequence[str], n_samples: int, random: np.random.Generator
) -> np.ndarray:
    """Return rows of state numbers, drawn node by node with parents before children."""
    codes = np.zeros((n_samples, len(model.states)), dtype=np.int32)
    for name in order:
        place = model.positions[name]
        factor = model.factors[place]
        cumulative = np.cumsum(factor.values, axis=-1)[..., :-1]
        parents = tuple(codes[:, model.positions[parent]] for parent in factor.variables[:-1])
        draws = random.random((n_samples, 1))
        codes[:, place] = (draws >= cumulative[parents]).sum(axis=1)
    return codes


def refuse_impossible_rows(log_evidence: np.ndarray, index: pd.Index) -> None:
    """Raise where the evidence of some rows has probability zero."""
    wrong = np.flatnonzero(log_evidence == -np.inf)
    if len(wrong):
        shown = ", ".join(str(index[row]) for row in wrong[:5]) + (
            ", ..." if len(wrong) > 5 else ""
        )
        raise DataError(
            f"{len(wrong)} of {len(log_evidence)} rows have probability zero under the network "
            f"(row {shown}); leave them out, or learn the tables with a prior above zero."
        )
