"""What matters: how large a difference has to be before anybody would care."""

import numpy as np

from verulam.base import DataError
from verulam.experiment._store.row_values import ValidatedTargets
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
#: Sums over the tested rows, of which a split has fewer than there are.
_SUMS = frozenset(["half_sum_of_squares", "epsilon_error"])
#: Measures from 0 to 1 that nobody gives in per cent.
_NO_PERCENTAGES = frozenset(["auc", "average_precision", "f_score"])


def is_share(measure: Measure) -> bool:
    """Return whether a measure is a share, given in per cent, so that differences are points."""
    return measure.range == (0.0, 1.0) and _plain_name(measure) not in _NO_PERCENTAGES


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
    One percentage point for shares, and of other measures with two ends 1 % of the way between
    them. Else 1 % of what guessing without inputs scores (the mean for numbers, the shares of the
    classes for probabilities), and 2 % for measures of squares and logarithms: about 0.6 of the
    usual distance between the best and the second. Where guessing has no score, the median of the
    contestants stands for it, which one that diverges does not move.
    """
    low, high = measure.range
    name = _plain_name(measure)
    if np.isfinite(low) and np.isfinite(high) and name not in _SQUARES:
        return POINT * (high - low)
    share = SHARE_OF_SQUARES if name in _SQUARES else SHARE_OF_BASELINE
    guess = None if name in _SUMS else _guess(measure, targets)
    if guess is not None:
        return share * abs(guess - measure.perfect if np.isfinite(measure.perfect) else guess)
    known = np.abs(scores[np.isfinite(scores)])
    return share * float(np.median(known)) if len(known) else 0.0


def _plain_name(measure: Measure) -> str:
    """Return the name of a measure without its options."""
    return measure.name.partition("(")[0]


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
    except (DataError, ValueError, TypeError, ArithmeticError, LookupError, AttributeError):
        return None  # a measure of one's own that cannot judge a guess
    return float(value) if np.isfinite(value) else None
