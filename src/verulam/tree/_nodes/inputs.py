"""Tables as plain numbers: gaps filled with means, an indicator for each category."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, TableSchema

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class InputCode:
    """How the columns of a table become inputs of a discriminant.

    A numeric column is one input; a column of two categories is one that is 1 for the second;
    other categorical columns are one input for each category. A missing entry is replaced by the
    mean of the training rows, for indicators the share of each category.

    Attributes
    ----------
    n_categories : ndarray of int32
        Categories of each column; 0 for numeric ones.
    means : ndarray of shape (n_inputs,)
        Mean of each input in training.
    scale : ndarray of shape (n_inputs,)
        Standard deviation in training; 1 where that is zero or inputs are not standardised.
    centre : ndarray of shape (n_inputs,)
        The means again, or zeros where inputs are not standardised.
    names
        Names of the inputs, such as ``age`` or ``colour = red``.
    """

    n_categories: NDArray[np.int32]
    means: Numbers
    scale: Numbers
    centre: Numbers
    names: tuple[str, ...]

    def encode(self, rows: Numbers) -> Numbers:
        """Return the inputs of encoded rows."""
        return np.ascontiguousarray(_filled(indicators(rows, self.n_categories), self.means))


def indicators(rows: Numbers, n_categories: Sequence[int] | NDArray[np.int32]) -> Numbers:
    """Return the inputs of encoded rows, NaN where an entry is missing."""
    parts = []
    for column, count in enumerate(n_categories):
        values = rows[:, column, None]
        if count > 0:
            codes = np.arange(count) if count != 2 else np.array([1])
            values = np.where(np.isnan(values), np.nan, values == codes)
        parts.append(values)
    return np.hstack(parts)


def input_names(schema: TableSchema) -> tuple[str, ...]:
    """Return the names of the inputs of a table; x1, x2, ... where its columns have none."""
    names: list[str] = []
    for name, known in zip(schema.names, schema.categories, strict=True):
        shown = name if isinstance(name, str) else f"x{name + 1}"
        if known is None:
            names.append(shown)
        else:
            named = known[1:] if len(known) == 2 else known
            names += [f"[{shown} = {label}]" for label in named]
    return tuple(names)


def learn_inputs(
    rows: Numbers,
    schema: TableSchema,
    n_categories: NDArray[np.int32],
    weights: Numbers | None,
    *,
    standardise: bool,
) -> InputCode:
    """Return the code of a training table.

    Parameters
    ----------
    rows
        Encoded rows: numbers and category codes, NaN where missing.
    schema
        Names of the columns and their categories.
    n_categories
        Categories of each column.
    weights
        Weight of each row; None where all count alike.
    standardise
        Whether to give all inputs mean 0 and standard deviation 1 for learning.
    """
    raw = indicators(rows, n_categories)
    shares = np.ones(len(raw)) if weights is None else weights
    present = np.where(np.isnan(raw), 0.0, shares[:, None])
    total = np.maximum(present.sum(axis=0), np.finfo(float).tiny)
    names = input_names(schema)
    with np.errstate(over="ignore", invalid="ignore"):
        means = (present * np.where(np.isnan(raw), 0.0, raw)).sum(axis=0) / total
        deviations = _filled(raw, means) - means
        spread = np.sqrt(shares @ deviations**2 / shares.sum())
    if not np.isfinite(spread).all():
        largest = names[int(np.argmin(np.isfinite(spread)))]
        raise DataError(f"{largest} is too large for its squares: divide it by a power of ten.")
    # A constant column has no spread but rounding, which must not be blown up to 1.
    usable = spread > 1e-12 * np.maximum(np.abs(means), 1e-300)
    if not standardise:
        scale, centre = np.ones(raw.shape[1]), np.zeros(raw.shape[1])
    else:
        scale, centre = np.where(usable, spread, 1.0), means
    return InputCode(n_categories, means, scale, centre, names)


def _filled(inputs: Numbers, means: Numbers) -> Numbers:
    return np.where(np.isnan(inputs), means, inputs)
