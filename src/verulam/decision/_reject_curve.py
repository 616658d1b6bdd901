"""Error-reject curves: what withholding decisions by Chow's rule buys."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, check_weights
from verulam.decision._wrappers import class_positions

Vector = NDArray[np.float64]

# Probabilities that went through float32 miss one by a few millionths.
SUM_TOLERANCE = 1e-5
# A threshold that misses a value by its last digits includes it.
ROUNDING = 1e-12


@dataclass(frozen=True)
class RejectPoint:
    """One point of an error-reject curve.

    Attributes
    ----------
    reject_rate
        Share of all instances that are rejected.
    error_rate
        Share of all instances that are accepted and misclassified.
    """

    reject_rate: float
    error_rate: float

    @property
    def accepted_error(self) -> float:
        """Share of errors among the accepted; NaN if none is."""
        if self.reject_rate >= 1:
            return float("nan")
        return self.error_rate / (1 - self.reject_rate)


@dataclass(frozen=True, eq=False)
class ErrorRejectCurve:
    """Errors against rejections as the cost of rejecting falls.

    Attributes
    ----------
    thresholds
        Falling thresholds t: an instance is rejected if its largest probability is below 1 - t.
    reject_rate
        Share of all instances that are rejected at each threshold.
    error_rate
        Share of all instances that are accepted and misclassified.
    """

    thresholds: Vector
    reject_rate: Vector
    error_rate: Vector

    @property
    def area(self) -> float:
        """Area under the curve: small if the doubtful instances are the wrong ones."""
        return float(np.trapezoid(*self._closed()[::-1]))

    def at(self, rate: float) -> RejectPoint:
        """Return the point at a reject rate.

        Between two points, some of the instances that tie are rejected at random.
        """
        if not 0 <= rate <= 1:
            raise DataError(f"rate must lie between 0 and 1, but is {rate}.")
        return RejectPoint(float(rate), float(np.interp(rate, *self._closed())))

    def at_threshold(self, threshold: float) -> RejectPoint:
        """Return the point of the rule that rejects below a probability of 1 - `threshold`."""
        if not 0 <= threshold <= 1:
            raise DataError(f"threshold must lie between 0 and 1, but is {threshold}.")
        # The complement of a probability is rounded: 1 - 0.7 is not 0.3.
        place = int(np.searchsorted(-self.thresholds, -(threshold + ROUNDING)))
        return RejectPoint(float(self.reject_rate[place]), float(self.error_rate[place]))

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a table."""
        return pd.DataFrame(
            {
                "threshold": self.thresholds,
                "reject_rate": self.reject_rate,
                "error_rate": self.error_rate,
            }
        )

    def _closed(self) -> tuple[Vector, Vector]:
        """Return the coordinates up to the rejection of everything."""
        return np.append(self.reject_rate, 1.0), np.append(self.error_rate, 0.0)


def error_reject_curve(
    y: ArrayLike,
    probabilities: ArrayLike,
    *,
    classes: Sequence[Any] | NDArray[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> ErrorRejectCurve:
    r"""Return errors against rejections over all reject costs, by Chow's rule.

    Parameters
    ----------
    y
        True classes.
    probabilities
        Class probabilities, one column per class.
    classes
        Class of each column; the sorted classes of `y` when not given.
    sample_weight
        Weight of each instance.

    Notes
    -----
    An instance is rejected if its largest posterior is below :math:`1 - t`. With
    :math:`t \ge (c - 1) / c` nothing is rejected, and as t falls rejections can only rise and
    errors only fall (Bartkowiak 2.1) [chow1970]_.

    References
    ----------
    .. [chow1970] C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE
       Transactions on Information Theory 16(1), 1970.

    Examples
    --------
    >>> from verulam.decision import error_reject_curve
    >>> curve = error_reject_curve([0, 1, 0, 1], [[0.9, 0.1], [0.3, 0.7], [0.4, 0.6], [0.2, 0.8]])
    >>> curve.to_frame().round(2)
       threshold  reject_rate  error_rate
    0        0.5         0.00        0.25
    1        0.4         0.00        0.25
    2        0.3         0.25        0.00
    3        0.2         0.50        0.00
    4        0.1         0.75        0.00
    5        0.0         1.00        0.00
    """
    labels = np.unique(np.asarray(y)) if classes is None else np.asarray(classes)
    table = _checked(probabilities, labels)
    true = class_positions(y, labels)
    if len(true) != len(table):
        raise DataError(f"y has {len(true)} rows, but probabilities has {len(table)}.")
    weights = check_weights(sample_weight, table)
    shares = np.full(len(true), 1.0) if weights is None else weights
    shares = shares / shares.sum()
    confidence = table.max(axis=1)
    order = np.argsort(confidence, kind="stable")
    wrong = (table.argmax(axis=1) != true) * shares
    levels, first = np.unique(confidence[order], return_index=True)
    # Sorted by confidence, every threshold rejects a prefix: two running sums give all points.
    below = np.concatenate([[0.0], np.cumsum(shares[order])])
    errors_above = np.concatenate([np.cumsum(wrong[order][::-1])[::-1], [0.0]])
    # From (c - 1) / c, where nothing is rejected, to zero, where all but certainty is.
    ends = np.array([0, len(true) if levels[-1] < 1 else first[-1]])
    positions = np.concatenate([ends[:1], first, ends[1:]])
    highest = 1.0 - 1.0 / len(labels)
    thresholds = np.concatenate([[highest], np.clip(1.0 - levels, 0.0, highest), [0.0]])
    return ErrorRejectCurve(thresholds, below[positions], errors_above[positions])


def _checked(probabilities: ArrayLike, labels: NDArray[Any]) -> Vector:
    table = np.asarray(probabilities, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(labels) or len(labels) < 2:
        raise DataError(
            f"probabilities must have one column for each of the {len(labels)} classes "
            f"{labels.tolist()} (two or more), but its shape is {table.shape}."
        )
    sums = table.sum(axis=1)
    if not ((table >= 0).all() and (np.abs(sums - 1) <= SUM_TOLERANCE).all()):
        raise DataError("probabilities must not be negative, and each row must sum to one.")
    return table
