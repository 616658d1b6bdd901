"""Errors of predicted numbers: plain functions of targets and predictions.

Several outputs are columns of a table; averages run over all its entries, and ratios are averaged
over the columns. Weights belong to rows.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import metrics

from verulam.base import DataError
from verulam.measures._checks import ratio, values, weights


def squared_errors(y_true: ArrayLike, prediction: ArrayLike) -> NDArray[np.float64]:
    """Return the squared difference of each row, the mean over its outputs."""
    true, predicted = values(y_true, prediction)
    return ((true - predicted) ** 2).mean(axis=1)


def absolute_errors(y_true: ArrayLike, prediction: ArrayLike) -> NDArray[np.float64]:
    """Return the absolute difference of each row, the mean over its outputs."""
    true, predicted = values(y_true, prediction)
    return np.abs(true - predicted).mean(axis=1)


def excess_errors(
    y_true: ArrayLike, prediction: ArrayLike, *, epsilon: float = 0.1
) -> NDArray[np.float64]:
    """Return by how much each row differs beyond `epsilon`, the mean over its outputs."""
    true, predicted = values(y_true, prediction)
    if not epsilon >= 0:
        raise DataError(f"epsilon must not be negative, but is {epsilon}.")
    return np.maximum(np.abs(true - predicted) - epsilon, 0.0).mean(axis=1)


def mean_squared_error(
    y_true: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the mean of the squared differences."""
    rows = squared_errors(y_true, prediction)
    return float(np.average(rows, weights=weights(sample_weight, len(rows))))


def root_mean_squared_error(
    y_true: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the square root of the mean squared error, in the units of the target."""
    return float(np.sqrt(mean_squared_error(y_true, prediction, sample_weight=sample_weight)))


def mean_absolute_error(
    y_true: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the mean of the absolute differences."""
    rows = absolute_errors(y_true, prediction)
    return float(np.average(rows, weights=weights(sample_weight, len(rows))))


def half_sum_of_squares(
    y_true: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return half the sum of the squared differences (SIT1305 II)."""
    true, predicted = values(y_true, prediction)
    squares = ((true - predicted) ** 2).sum(axis=1)
    return float(0.5 * squares @ weights(sample_weight, len(true)))


def relative_square_error(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    zero_division: float | str = "warn",
) -> float:
    """Return the squared error relative to that of predicting the mean (SIT1305 II)."""
    true, predicted = values(y_true, prediction)
    weight = weights(sample_weight, len(true))
    spread = weight @ (true - np.average(true, axis=0, weights=weight)) ** 2
    errors = weight @ (true - predicted) ** 2
    return float(ratio(errors, spread, "The relative square error", zero_division).mean())


def r2(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    zero_division: float | str = "warn",
) -> float:
    """Return the coefficient of determination, one minus the relative square error."""
    return 1.0 - relative_square_error(
        y_true, prediction, sample_weight=sample_weight, zero_division=zero_division
    )


def epsilon_error(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    epsilon: float = 0.1,
) -> float:
    """Return the sum of the absolute differences beyond `epsilon` (SIT1305 II)."""
    true, _ = values(y_true, prediction)
    rows = excess_errors(y_true, prediction, epsilon=epsilon) * true.shape[1]
    return float(rows @ weights(sample_weight, len(true)))


def mean_epsilon_error(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    epsilon: float = 0.1,
) -> float:
    """Return the mean of the absolute differences beyond `epsilon`."""
    rows = excess_errors(y_true, prediction, epsilon=epsilon)
    return float(np.average(rows, weights=weights(sample_weight, len(rows))))


def max_error(
    y_true: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the largest absolute difference among the rows of positive weight."""
    true, predicted = values(y_true, prediction)
    counted = weights(sample_weight, len(true)) > 0
    return float(np.abs(true - predicted)[counted].max())


def median_absolute_error(
    y_true: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the median of the absolute differences."""
    true, predicted = values(y_true, prediction)
    row_weights = None if sample_weight is None else weights(sample_weight, len(true))
    return float(metrics.median_absolute_error(true, predicted, sample_weight=row_weights))
