"""Area under the ROC curve and average precision, for two classes and for more."""

import warnings
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, DataWarning
from verulam.measures._checks import refuse_missing, score_labels, weights
from verulam.measures._curves import Vector, cumulative_counts, precision_recall, roc

AREA_AVERAGES = ("macro", "weighted", "micro", "hand-till")


def auc(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    positive: Any = None,
    average: str = "macro",
) -> float:
    """Return the area under the ROC curve, ties counting one half.

    Parameters
    ----------
    y_true
        True labels.
    prediction
        One column of scores of the positive class, or a table with one column per label.
    sample_weight
        Weight of each instance.
    labels
        Labels of the columns; the sorted labels of `y_true` when not given.
    positive
        Positive label: this class against the rest. The last of two labels when not given.
    average
        How more than two classes are put together: ``"macro"`` and ``"weighted"`` average one
        class against the rest, plainly or by frequency, ``"micro"`` pools all entries,
        ``"hand-till"`` averages over pairs of classes [hand2001]_.

    References
    ----------
    .. [hand2001] D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC
       curve for multiple class classification problems", Machine Learning 45, 2001.

    Examples
    --------
    >>> from verulam.measures import auc
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    table = np.asarray(prediction, dtype=np.float64)
    if table.ndim != 2 or positive is not None or table.shape[1] <= 2:
        curve = roc(y_true, table, positive=positive, labels=labels, sample_weight=sample_weight)
        return curve.area
    true, classes = checked_scores(y_true, table, labels, average)
    weight = weights(sample_weight, len(true))
    if average == "hand-till":
        return hand_till(true, table, weight)
    return averaged(true, table, weight, classes, average, area_of)


def average_precision(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    positive: Any = None,
    average: str = "macro",
) -> float:
    """Return the area under precision against recall, as the average precision.

    Parameters are those of `auc`; pairs of classes are not averaged.
    """
    table = np.asarray(prediction, dtype=np.float64)
    if table.ndim != 2 or positive is not None or table.shape[1] <= 2:
        curve = precision_recall(
            y_true, table, positive=positive, labels=labels, sample_weight=sample_weight
        )
        return curve.area
    if average == "hand-till":
        raise ValueError("average='hand-till' is defined for the area under ROC curves only.")
    true, classes = checked_scores(y_true, table, labels, average)
    weight = weights(sample_weight, len(true))
    return averaged(true, table, weight, classes, average, average_precision_of)


def checked_scores(
    y_true: ArrayLike, table: Vector, labels: Sequence[Any] | None, average: str
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Check a multi-class problem with scores."""
    if average not in AREA_AVERAGES:
        raise ValueError(f"average must be one of {', '.join(AREA_AVERAGES)}, got {average!r}.")
    true, classes = score_labels(y_true, table, labels)
    refuse_missing(table, "prediction")
    if (true == true[0]).all():
        raise DataError(
            f"An area needs two classes, but y_true has only {str(classes[true[0]])!r}."
        )
    return true, classes


def area_of(is_positive: NDArray[np.bool_], scores: Vector, sample_weight: Vector) -> float:
    """Return the area under the ROC curve of one checked two-class problem."""
    counts = cumulative_counts(is_positive, scores, sample_weight)
    # A tie is a slanted piece of the curve; the trapezoid under it counts tied pairs one half.
    return float(np.trapezoid(counts.tp, counts.fp) / (counts.tp[-1] * counts.fp[-1]))


def average_precision_of(
    is_positive: NDArray[np.bool_], scores: Vector, sample_weight: Vector
) -> float:
    """Return the average precision of one checked two-class problem."""
    counts = cumulative_counts(is_positive, scores, sample_weight)
    retrieved = counts.tp[1:] + counts.fp[1:]
    gains = np.diff(counts.tp) / counts.tp[-1]
    # Steps without a new hit add nothing, and their precision may be 0/0 where weights are zero.
    gained = gains > 0
    return float(gains[gained] @ (counts.tp[1:][gained] / retrieved[gained]))


def averaged(
    true: NDArray[np.intp],
    table: Vector,
    weight: Vector,
    labels: NDArray[Any],
    average: str,
    area: Callable[[NDArray[np.bool_], Vector, Vector], float],
) -> float:
    """Average an area over the classes, each against the rest."""
    member = true[:, np.newaxis] == np.arange(len(labels))
    # Every cell of the table of memberships is one two-class instance.
    if average == "micro":
        return area(member.ravel(), table.ravel(), np.repeat(weight, len(labels)))
    frequency = weight @ member
    present = np.flatnonzero((frequency > 0) & (frequency < weight.sum()))
    if len(present) < len(labels):
        absent = [str(label) for label in np.delete(labels, present)]
        warnings.warn(
            f"No area is defined for {', '.join(absent)}: absent from y_true, left out.",
            DataWarning,
            stacklevel=3,
        )
    areas = [area(member[:, code], table[:, code], weight) for code in present]
    shares = frequency[present] if average == "weighted" else None
    return float(np.average(areas, weights=shares))


def hand_till(true: NDArray[np.intp], table: Vector, weight: Vector) -> float:
    """Return the mean over pairs of classes of the mean of their two areas."""
    areas = []
    for one, other in combinations(np.unique(true), 2):
        pair = (true == one) | (true == other)
        is_one = true[pair] == one
        # Two areas per pair, one by each class's own score: the measure does not depend on priors
        # or on which class is called positive (Hand and Till 2001).
        areas.append(area_of(is_one, table[pair, one], weight[pair]))
        areas.append(area_of(~is_one, table[pair, other], weight[pair]))
    return float(np.mean(areas))
