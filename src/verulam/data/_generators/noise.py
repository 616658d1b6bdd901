"""Noise, put into a data set on purpose and counted."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.data._dataset import Dataset
from verulam.data._generators.generator_helpers import Seed, separate_generator
from verulam.data._table.normalise_frame import missing_column


@dataclass(frozen=True)
class NoisyData:
    """A data set after noise, and how much of it there is.

    Attributes
    ----------
    data
        The changed data set.
    changed
        How many values were changed.
    rate
        The share of values that were, of those that could have been.
    """

    data: Dataset
    changed: int
    rate: float


def jitter_inputs(data: Dataset, scale: float = 0.1, *, random_state: Seed = None) -> NoisyData:
    """Add normal noise to the numeric inputs.

    Parameters
    ----------
    data
        The data set.
    scale
        Standard deviation of the noise, in standard deviations of each column.
    random_state
        Seed.

    Notes
    -----
    Imprecise measurement, the first of three kinds of noise in SIT1305 I; :func:`flip_labels` and
    :func:`hide_column` are the others.
    """
    if scale < 0:
        raise ValueError(f"scale={scale}; a standard deviation is not negative.")
    random, kinds = separate_generator(random_state, "jitter"), data.kinds
    names = [name for name in data.input_names if kinds[name] == "numeric"]
    if not names:
        raise DataError(f"Data set {data.name!r} has no numeric inputs to jitter.")
    before = data.table[names].to_numpy(dtype=float)
    # Infinite values would make the scale of the noise infinite.
    finite = np.where(np.isfinite(before), before, np.nan)
    after = before + scale * np.nanstd(finite, axis=0) * random.standard_normal(before.shape)
    known = ~np.isnan(before)
    changed = int((after != before)[known].sum())
    table = data.table.assign(**{name: after[:, i] for i, name in enumerate(names)})
    return NoisyData(data.with_table(table), changed, changed / max(1, int(known.sum())))


def flip_labels(
    data: Dataset, rate: float | ArrayLike = 0.1, *, random_state: Seed = None
) -> NoisyData:
    """Replace some class labels by wrong ones.

    Parameters
    ----------
    data
        A classification data set.
    rate
        Probability that a label is replaced by another, all others being alike; or a matrix whose
        row ``i`` holds the probabilities of what class ``i`` becomes, in the order of
        ``data.classes``.
    random_state
        Seed.

    Examples
    --------
    >>> from verulam.data import dataset, flip_labels
    >>> noisy = flip_labels(dataset("iris"), 0.2, random_state=0)
    >>> noisy.changed, round(noisy.rate, 3)
    (30, 0.2)
    """
    if data.classes is None:
        raise DataError(f"Data set {data.name!r} has no class labels to flip.")
    labels = data.target_values
    codes = labels.cat.codes.to_numpy()
    present = labels.cat.categories.get_indexer(pd.Index(data.classes))
    position = np.searchsorted(present, codes)
    cumulative = _flip_matrix(rate, len(present)).cumsum(axis=1)[position]
    uniform = separate_generator(random_state, "flip").uniform(size=(len(codes), 1))
    # Inversion: the class is the number of cumulative probabilities below a uniform number;
    # rounding may leave the last one below 1.
    drawn = np.minimum((uniform >= cumulative).sum(axis=1), len(present) - 1)
    flipped = labels.array.from_codes(present[drawn], dtype=labels.dtype)
    changed = int((drawn != position).sum())
    table = data.table.assign(**{str(data.target): flipped})
    return NoisyData(data.with_table(table), changed, changed / len(codes))


def hide_column(data: Dataset, column: str) -> NoisyData:
    """Leave an input out, so that what depended on it looks like chance.

    Parameters
    ----------
    data
        The data set.
    column
        The input to hide.
    """
    if column not in data.input_names:
        raise missing_column("column", column, data.input_names)
    hidden = data.with_table(data.table.drop(columns=column))
    return NoisyData(hidden, data.n_rows, 1 / len(data.input_names))


def drop_values(
    data: Dataset,
    rate: float = 0.1,
    *,
    columns: Iterable[str] | None = None,
    random_state: Seed = None,
) -> NoisyData:
    """Make values missing, completely at random.

    Parameters
    ----------
    data
        The data set.
    rate
        Probability that a value is lost.
    columns
        The inputs to take them from; all if not given.
    random_state
        Seed.
    """
    _check_rate(rate)
    names = data.input_names if columns is None else list(columns)
    for name in names:
        if name not in data.input_names:
            raise missing_column("columns", name, data.input_names)
    random = separate_generator(random_state, "drop")
    lost = random.uniform(size=(data.n_rows, len(names))) < rate
    known = data.table[names].notna().to_numpy()
    table = data.table.assign(
        **{name: _without(data.table[name], lost[:, i]) for i, name in enumerate(names)}
    )
    changed = int((lost & known).sum())
    return NoisyData(data.with_table(table), changed, changed / max(1, int(known.sum())))


def _without(column: pd.Series, lost: NDArray[np.bool_]) -> pd.Series:
    """Return the column with missing values; integers and truth values make room for them."""
    if not lost.any():
        return column
    if column.dtype.kind == "b":
        return column.astype(object).where(~lost, None)
    return (column.astype(float) if column.dtype.kind in "iu" else column).mask(lost)


def _flip_matrix(rate: float | ArrayLike, n_classes: int) -> NDArray[np.float64]:
    transition = np.asarray(rate, dtype=float)
    if transition.ndim == 0:
        _check_rate(float(transition))
        if n_classes < 2:
            raise DataError("Labels can be flipped only where there are two classes or more.")
        others = float(transition) / (n_classes - 1)
        return others + (1 - float(transition) - others) * np.eye(n_classes)
    if transition.shape != (n_classes, n_classes) or (transition < 0).any():
        raise ValueError(f"rate has shape {transition.shape}; expected {n_classes} by {n_classes}.")
    if not np.allclose(transition.sum(axis=1), 1):
        raise ValueError("rate: each row must hold probabilities that add up to 1.")
    return transition


def _check_rate(rate: float) -> None:
    if not 0 <= rate <= 1:
        raise ValueError(f"rate={rate}; expected a probability from 0 to 1.")
