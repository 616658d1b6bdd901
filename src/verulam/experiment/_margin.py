"""What matters: how large a difference has to be before anybody would care."""

import numpy as np

from verulam.base import DataError
from verulam.experiment._row_values import ValidatedTargets
from verulam.measures import Measure

#: Of shares such as an error, one percentage point.
POINT = 0.01
#: Of other measures, this part of what guessing without inputs scores.
SHARE_OF_BASELINE = 0.01
#: Of those that grow with the square of an error, or with its logarithm, twice that.
SHARE_OF_SQUARES = 0.02
_SQUARES = frozenset(
    ["log_loss", "brier", "mean_squared_error", "half_sum_of_squares", "relative_square_error"]
)


def is_share(measure: Measure) -> bool:
    """Return whether a measure is a share of one, so that its differences are points."""
    return measure.range == (0.0, 1.0)


def default_margin(measure: Measure, targets: ValidatedTargets, scores: np.ndarray) -> float:
    """Return the difference below which two contestants are as good as equal.

    Parameters
    ----------
    measure
        What is measured.
    targets
        The rows that are validated on.
    scores
        Values of the contestants, for measures of which guessing has none.

    Notes
    -----
    One percentage point for shares. For other measures 1 % of what guessing without inputs scores
    (the mean for numbers, the shares of the classes for probabilities), and 2 % for measures of
    squares and logarithms: about 0.6 of the usual distance between the best and the second.
    """
    if is_share(measure):
        return POINT
    low, high = measure.range
    if np.isfinite(low) and np.isfinite(high) and measure.name not in _SQUARES:
        return POINT * (high - low)
    share = SHARE_OF_SQUARES if measure.name in _SQUARES else SHARE_OF_BASELINE
    guess = _guess(measure, targets)
    if np.isfinite(measure.perfect) and guess is not None:
        return share * abs(guess - measure.perfect)
    known = np.abs(scores[np.isfinite(scores)])
    return share * float(known.max()) if len(known) else 0.0


def _guess(measure: Measure, targets: ValidatedTargets) -> float | None:
    """Return what guessing without inputs scores; None where the measure has no value for it."""
    known, classes = targets.targets, targets.classes
    try:
        if measure.task == "regression":
            value = measure(known, np.full(len(known), known.mean()))
        else:
            codes = known.astype(np.int64)
            counts = np.bincount(codes, minlength=len(classes))
            if measure.needs == "probabilities":
                prediction = np.tile(counts / counts.sum(), (len(codes), 1))
            elif measure.needs == "labels":
                prediction = np.full(len(codes), classes[counts.argmax()])
            else:
                return None
            value = measure(classes[codes], prediction, labels=classes.tolist())
    except (DataError, ValueError, TypeError, ZeroDivisionError):
        return None  # a measure of one's own that cannot judge a guess
    return float(value) if np.isfinite(value) else None
