"""Curves over all thresholds: ROC, precision against recall, sensitivity against specificity."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.measures._checks import column, positive_code, refuse_missing, same_length, weights

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RocCurve:
    """Hits against false alarms as the threshold falls.

    Parameters
    ----------
    fp_rate, tp_rate
        Coordinates of the curve, from (0, 0) to (1, 1).
    thresholds
        An instance is called positive when its score is at least the threshold; the first is
        infinite, so that nothing is.
    positives, negatives
        Number of instances of either class, or sums of their weights.

    Notes
    -----
    The area is the probability that a random positive scores above a random negative, a tie
    counting one half: the Mann-Whitney statistic divided by its maximum (Alpaydin 19.7,
    Figure 19.3; Bartkowiak 2.3).

    Examples
    --------
    >>> from verulam.measures import roc
    >>> curve = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.to_frame()
       fp_rate  tp_rate  threshold
    0      0.0      0.0        inf
    1      0.0      0.5       0.80
    2      0.5      0.5       0.40
    3      0.5      1.0       0.35
    4      1.0      1.0       0.10
    >>> curve.area
    0.75
    """

    fp_rate: Vector
    tp_rate: Vector
    thresholds: Vector
    positives: float
    negatives: float

    @property
    def area(self) -> float:
        """Area under the curve."""
        return float(np.trapezoid(self.tp_rate, self.fp_rate))

    def flipped(self) -> "RocCurve":
        """Return the curve of the opposite decision, for a classifier below the diagonal.

        Its scores are the negated ones.
        """
        return RocCurve(
            fp_rate=1.0 - self.fp_rate[::-1],
            tp_rate=1.0 - self.tp_rate[::-1],
            # Turned scores turn the order of the points, and the start at infinity stays a start.
            thresholds=np.r_[np.inf, -self.thresholds[:0:-1]],
            positives=self.positives,
            negatives=self.negatives,
        )

    def at(self, threshold: float) -> tuple[float, float]:
        """Return the (fp-rate, tp-rate) reached by calling scores >= `threshold` positive."""
        # Thresholds fall along the curve; their negatives are in the order that a search needs.
        point = np.searchsorted(-self.thresholds, -threshold, side="right") - 1
        return float(self.fp_rate[point]), float(self.tp_rate[point])

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a table."""
        return pd.DataFrame(
            {"fp_rate": self.fp_rate, "tp_rate": self.tp_rate, "threshold": self.thresholds}
        )


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """Precision against recall as the threshold falls.

    Parameters
    ----------
    recall, precision
        Coordinates; recall rises from 0. The first point, where nothing is retrieved, is drawn
        at precision 1 by convention.
    thresholds
        As in `RocCurve`.
    prevalence
        Share of positives: the precision of a classifier that calls everything positive.
    """

    recall: Vector
    precision: Vector
    thresholds: Vector
    prevalence: float

    @property
    def area(self) -> float:
        """Average precision: the sum of precision times the gain in recall."""
        return float(np.diff(self.recall) @ self.precision[1:])

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a table."""
        return pd.DataFrame(
            {"recall": self.recall, "precision": self.precision, "threshold": self.thresholds}
        )


@dataclass(frozen=True, eq=False)
class SensitivitySpecificityCurve:
    """Sensitivity and specificity as the threshold falls.

    Parameters
    ----------
    sensitivity, specificity
        Share of positives and of negatives that are recognised.
    thresholds
        As in `RocCurve`.
    """

    sensitivity: Vector
    specificity: Vector
    thresholds: Vector

    @property
    def area(self) -> float:
        """Area under sensitivity against specificity, equal to that under the ROC curve."""
        return float(-np.trapezoid(self.sensitivity, self.specificity))

    def best_threshold(self) -> float:
        """Return the threshold with the largest sensitivity + specificity (Youden)."""
        return float(self.thresholds[np.argmax(self.sensitivity + self.specificity)])

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a table."""
        return pd.DataFrame(
            {
                "sensitivity": self.sensitivity,
                "specificity": self.specificity,
                "threshold": self.thresholds,
            }
        )


@dataclass(frozen=True, eq=False)
class CumulativeCounts:
    """True and false positives at each distinct score, highest first, after a start at zero."""

    tp: Vector
    fp: Vector
    thresholds: Vector


def cumulative_counts(
    is_positive: NDArray[np.bool_], scores: Vector, sample_weight: Vector
) -> CumulativeCounts:
    """Return the counts that calling scores >= threshold positive gives, with one sort."""
    order = np.argsort(-scores)
    ordered = scores[order]
    weight = sample_weight[order]
    # Equal scores cannot be separated by a threshold, so the curve has a point only after the last
    # of them.
    last_of_ties = np.r_[np.flatnonzero(np.diff(ordered)), len(ordered) - 1]
    tp = np.cumsum(weight * is_positive[order])[last_of_ties]
    fp = np.cumsum(weight * ~is_positive[order])[last_of_ties]
    return CumulativeCounts(np.r_[0.0, tp], np.r_[0.0, fp], np.r_[np.inf, ordered[last_of_ties]])


def checked_counts(
    y_true: ArrayLike,
    scores: ArrayLike,
    positive: Any,
    labels: Sequence[Any] | None,
    sample_weight: ArrayLike | None,
) -> CumulativeCounts:
    """Check a two-class problem with scores and count it; both classes must be present."""
    true, score = column(y_true, "y_true"), np.asarray(scores, dtype=np.float64)
    same_length(true, score)
    present = np.unique(true)
    known = present if labels is None else np.asarray(labels)
    code = positive_code(known, positive)
    if score.ndim == 2 and score.shape[1] == len(known):
        score = score[:, code]
    if score.ndim != 1:
        raise DataError(f"scores must be one column, but their shape is {score.shape}.")
    refuse_missing(score, "scores")
    weight = weights(sample_weight, len(true))
    counts = cumulative_counts(true == known[code], score, weight)
    if counts.tp[-1] == 0 or counts.fp[-1] == 0:
        raise DataError(
            "A curve needs positives and negatives, but y_true has only "
            f"{[str(label) for label in present]} (positive: {str(known[code])!r})."
        )
    return counts


def roc(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    positive: Any = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> RocCurve:
    """Return the receiver operating characteristics curve.

    Parameters
    ----------
    y_true
        True labels of two classes, or of several with `positive` against the rest.
    scores
        Score of the positive class, larger meaning more likely positive; or a table with one
        column per label.
    positive
        The positive label; the last of two sorted labels when not given.
    labels
        Labels of the columns of a table of scores.
    sample_weight
        Weight of each instance.
    """
    counts = checked_counts(y_true, scores, positive, labels, sample_weight)
    positives, negatives = counts.tp[-1], counts.fp[-1]
    return RocCurve(
        counts.fp / negatives,
        counts.tp / positives,
        counts.thresholds,
        float(positives),
        float(negatives),
    )


def precision_recall(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    positive: Any = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> PrecisionRecallCurve:
    """Return precision against recall over all thresholds; parameters as in `roc`.

    Examples
    --------
    >>> from verulam.measures import precision_recall
    >>> curve = precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.precision.round(2), round(curve.area, 4)
    (array([1.  , 1.  , 0.5 , 0.67, 0.5 ]), 0.8333)
    """
    counts = checked_counts(y_true, scores, positive, labels, sample_weight)
    retrieved = counts.tp + counts.fp
    # Rows of weight zero at the top of the order retrieve nothing either.
    precision = np.divide(counts.tp, retrieved, out=np.ones_like(retrieved), where=retrieved > 0)
    return PrecisionRecallCurve(
        counts.tp / counts.tp[-1],
        precision,
        counts.thresholds,
        float(counts.tp[-1] / retrieved[-1]),
    )


def sensitivity_specificity(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    positive: Any = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> SensitivitySpecificityCurve:
    """Return sensitivity and specificity over all thresholds; parameters as in `roc`.

    Examples
    --------
    >>> from verulam.measures import sensitivity_specificity
    >>> curve = sensitivity_specificity([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.specificity, curve.best_threshold()
    (array([1. , 1. , 0.5, 0.5, 0. ]), 0.8)
    """
    curve = roc(y_true, scores, positive=positive, labels=labels, sample_weight=sample_weight)
    return SensitivitySpecificityCurve(curve.tp_rate, 1.0 - curve.fp_rate, curve.thresholds)
