"""Columns of a table sorted into attributes: ranges of numbers, categories, gaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from verulam.base import EncodedTable


@dataclass(frozen=True)
class Characteristic:
    """A column of the table, and the attributes that its values are sorted into.

    Attributes
    ----------
    name
        The column.
    cuts
        Ends of the ranges of a numeric column, the last open; empty for categories.
    attributes
        A name for each range or category, and "missing" at the end.
    """

    name: str
    cuts: np.ndarray
    attributes: tuple[str, ...]


def find_characteristics(table: EncodedTable, n_ranges: int) -> list[Characteristic]:
    """Return the attributes of each column: ranges between quantiles, or categories."""
    found, numeric = [], 0
    for name, categories in zip(table.schema.names, table.schema.categories, strict=True):
        if categories is not None:
            texts = tuple(str(category) for category in categories)
            found.append(Characteristic(str(name), np.empty(0), (*texts, "missing")))
            continue
        numbers = table.numbers[:, numeric]
        numeric += 1
        cuts = _cuts(numbers[~np.isnan(numbers)], n_ranges)
        found.append(Characteristic(str(name), cuts, (*_ranges(cuts), "missing")))
    return found


def _cuts(numbers: np.ndarray, n_ranges: int) -> np.ndarray:
    if len(numbers) == 0:
        return np.empty(0)
    shares = np.linspace(0, 1, n_ranges + 1)[1:-1]
    # Values of the column itself: ranges between them cannot be empty.
    cuts = np.unique(np.quantile(numbers, shares, method="lower"))
    # Beyond the largest value there is nothing to cut off.
    return cuts[cuts < numbers.max()]


def _ranges(cuts: np.ndarray) -> list[str]:
    if len(cuts) == 0:
        return ["any"]
    texts = [f"{cut:.6g}" for cut in cuts]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [f"up to {texts[0]}", *between, f"above {texts[-1]}"]


def attribute_codes(table: EncodedTable, characteristics: Sequence[Characteristic]) -> np.ndarray:
    """Return for each row and column the number of its attribute."""
    codes = np.empty(table.shape, dtype=np.int64)
    numeric = categorical = 0
    for place, (each, known) in enumerate(
        zip(characteristics, table.schema.categories, strict=True)
    ):
        missing = len(each.attributes) - 1
        if known is None:
            numbers = table.numbers[:, numeric]
            found = np.searchsorted(each.cuts, numbers, side="left")
            codes[:, place] = np.where(np.isnan(numbers), missing, found)
            numeric += 1
        else:
            found = table.codes[:, categorical]
            codes[:, place] = np.where(found < 0, missing, found)
            categorical += 1
    return codes
