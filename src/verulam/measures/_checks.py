"""Checks that every measure shares: one home for what is accepted and how it is refused."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, DataWarning

# Probabilities that went through float32 miss one by a few millionths.
SUM_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class CodedLabels:
    """True and predicted labels as positions in one list of labels."""

    true: NDArray[np.intp]
    predicted: NDArray[np.intp]
    labels: NDArray[Any]


def column(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return `values` as a one-dimensional array without missing entries."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"{name} must have one dimension, but its shape is {array.shape}.")
    if array.size == 0:
        raise DataError(f"{name} is empty: at least one row is needed.")
    refuse_missing(array, name)
    return array


def refuse_missing(array: NDArray[Any], name: str) -> None:
    """Raise for the first row of `array` with a missing value."""
    missing = pd.isna(array)
    if missing.any():
        row = int(np.argwhere(missing)[0, 0])
        raise DataError(f"{name} has a missing value (NaN) in row {row}: remove or predict it.")


def same_length(true: NDArray[Any], prediction: NDArray[Any]) -> None:
    """Raise unless both arrays have the same number of rows."""
    if len(true) != len(prediction):
        raise DataError(
            f"y_true has {len(true)} rows and the prediction has {len(prediction)}: "
            "they must be equal."
        )


def label_list(labels: Sequence[Any] | NDArray[Any], name: str = "labels") -> NDArray[Any]:
    """Return given `labels` as an array in the given order, refusing repeats."""
    array = column(labels, name)
    if len(pd.unique(array)) != len(array):
        raise DataError(f"{name} must differ from one another, but got {list(array)}.")
    return array


def codes(values: NDArray[Any], labels: NDArray[Any], name: str) -> NDArray[np.intp]:
    """Return the position of each value in `labels`."""
    # Hashing: one pass, whatever the number of labels, and no order of the labels is needed.
    positions = pd.Index(labels).get_indexer(pd.Index(values))
    if (positions < 0).any():
        row = int(np.argmax(positions < 0))
        raise DataError(
            f"{name} contains {values[row]!r} in row {row}, which is not one of the labels "
            f"{list(labels)}."
        )
    return positions


def coded_labels(
    y_true: ArrayLike, prediction: ArrayLike, labels: Sequence[Any] | None = None
) -> CodedLabels:
    """Check two columns of labels and code them; without `labels`, use the sorted union."""
    true, predicted = column(y_true, "y_true"), column(prediction, "prediction")
    same_length(true, predicted)
    if labels is None:
        if is_text(true) != is_text(predicted):
            raise DataError(
                "y_true and prediction have labels of different kinds "
                f"({true.dtype} and {predicted.dtype}): convert one of them."
            )
        # A class that occurs in one of the two columns only still has its row and column.
        classes = np.unique(np.concatenate([true, predicted]))
    else:
        classes = label_list(labels)
    return CodedLabels(
        codes(true, classes, "y_true"), codes(predicted, classes, "prediction"), classes
    )


def is_text(array: NDArray[Any]) -> bool:
    """Say whether the labels are strings."""
    return array.dtype.kind in "UST" or (array.dtype.kind == "O" and isinstance(array[0], str))


def weights(sample_weight: ArrayLike | None, rows: int) -> NDArray[np.float64]:
    """Return checked weights, ones when none are given."""
    if sample_weight is None:
        return np.ones(rows)
    array = column(sample_weight, "sample_weight").astype(np.float64)
    if len(array) != rows:
        raise DataError(f"sample_weight has {len(array)} rows, but y_true has {rows}.")
    if (array < 0).any():
        row = int(np.argmax(array < 0))
        raise DataError(f"sample_weight must not be negative, but row {row} has {array[row]}.")
    if not array.sum() > 0 or not np.isfinite(array).all():
        raise DataError("sample_weight must be finite with a positive sum.")
    return array


def probabilities(
    y_true: ArrayLike, prediction: ArrayLike, labels: Sequence[Any] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[Any]]:
    """Return codes of the true labels, a checked table of probabilities, and its labels.

    A single column is the probability of the second of two labels.
    """
    table = np.asarray(prediction, dtype=np.float64)
    if table.ndim == 1:
        table = np.column_stack([1.0 - table, table])
    true, classes = score_labels(y_true, table, labels)
    refuse_missing(table, "prediction")
    if (table < -SUM_TOLERANCE).any() or (table > 1 + SUM_TOLERANCE).any():
        raise DataError("prediction must hold probabilities between 0 and 1.")
    sums = table.sum(axis=1)
    wrong = np.abs(sums - 1.0) > SUM_TOLERANCE
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"prediction must have rows that sum to one, but row {row} sums to {sums[row]:.6g}."
        )
    return true, table, classes


def score_labels(
    y_true: ArrayLike, table: NDArray[np.float64], labels: Sequence[Any] | None
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return codes of the true labels and the labels of the columns of `table`."""
    true = column(y_true, "y_true")
    if table.ndim != 2:
        raise DataError(f"prediction must be a column or a table, but its shape is {table.shape}.")
    same_length(true, table)
    classes = np.unique(true) if labels is None else label_list(labels)
    if table.shape[1] != len(classes):
        raise DataError(
            f"prediction has {table.shape[1]} columns, but there are {len(classes)} labels "
            f"{list(classes)}: give the label of each column with `labels`."
        )
    return codes(true, classes, "y_true"), classes


def values(
    y_true: ArrayLike, prediction: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return checked numeric targets and predictions, as tables with one column per output."""
    true, predicted = numbers(y_true, "y_true"), numbers(prediction, "prediction")
    same_length(true, predicted)
    if true.shape != predicted.shape:
        raise DataError(f"y_true has shape {true.shape} and the prediction {predicted.shape}.")
    return true, predicted


def numbers(columns: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return a finite table of numbers with one column per output."""
    try:
        array = np.asarray(columns, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must hold numbers: {error}.") from error
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.size == 0:
        raise DataError(f"{name} must be a column or a table with at least one row.")
    refuse_missing(array, name)
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise DataError(f"{name} has an infinite value in row {row}.")
    return array


def positive_code(labels: NDArray[Any], positive: Any) -> int:
    """Return the position of the positive label: the last of two when none is named."""
    if positive is None:
        if len(labels) > 2:
            raise DataError(
                f"There are {len(labels)} labels {list(labels)}: say which is `positive`."
            )
        return len(labels) - 1
    positions = np.flatnonzero(labels == positive)
    if len(positions) == 0:
        raise DataError(f"positive={positive!r} is not one of the labels {list(labels)}.")
    return int(positions[0])


def ratio(
    numerator: ArrayLike,
    denominator: ArrayLike,
    what: str,
    zero_division: float | str = "warn",
) -> NDArray[np.float64]:
    """Divide; where the denominator is zero return NaN with a warning, or `zero_division`."""
    top, bottom = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    undefined = bottom == 0
    fill = np.nan
    if isinstance(zero_division, str):
        if zero_division != "warn":
            raise ValueError(f"zero_division must be 'warn' or a number, got {zero_division!r}.")
        if undefined.any():
            warnings.warn(
                f"{what} is undefined here (its denominator is zero): NaN.",
                DataWarning,
                stacklevel=3,
            )
    else:
        fill = float(zero_division)
    # `where` computes both sides: the divisor is made harmless before, not after.
    return np.where(undefined, fill, top / np.where(undefined, 1.0, bottom))
