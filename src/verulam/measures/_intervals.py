"""Measures of predictive distributions of numbers: coverage, width and score of intervals.

A prediction has four columns: the predicted number, the ends of the 95 % interval, and the log of
the density that the target was predicted with, NaN where a learner tells none.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError

#: Probability that the intervals of a study are made for.
INTERVAL_LEVEL = 0.95


def covered(y_true: ArrayLike, prediction: ArrayLike) -> NDArray[np.float64]:
    """Return 1 for each row whose target lies in its interval, and 0 for the others."""
    true, table = _checked(y_true, prediction)
    return ((table[:, 1] <= true) & (true <= table[:, 2])).astype(np.float64)


def widths(y_true: ArrayLike, prediction: ArrayLike) -> NDArray[np.float64]:
    """Return the width of each row's interval."""
    _, table = _checked(y_true, prediction)
    return table[:, 2] - table[:, 1]


def interval_scores(y_true: ArrayLike, prediction: ArrayLike) -> NDArray[np.float64]:
    """Return the width of each interval, and 40 times by how much its target is missed."""
    true, table = _checked(y_true, prediction)
    missed = np.maximum(table[:, 1] - true, 0.0) + np.maximum(true - table[:, 2], 0.0)
    return table[:, 2] - table[:, 1] + 2.0 / (1.0 - INTERVAL_LEVEL) * missed


def negative_log_densities(y_true: ArrayLike, prediction: ArrayLike) -> NDArray[np.float64]:
    """Return minus the log of the density that each target was predicted with."""
    _, table = _checked(y_true, prediction)
    if np.isnan(table[:, 3]).any():
        raise DataError("prediction has no log-densities in its last column.")
    return -table[:, 3]


def interval_coverage(y_true: ArrayLike, prediction: ArrayLike) -> float:
    """Return the share of targets that lie in their 95 % intervals.

    Parameters
    ----------
    y_true
        Targets.
    prediction
        Number, ends of the interval, and log-density of the target of each row.

    Examples
    --------
    >>> from verulam.measures import interval_coverage
    >>> interval_coverage([1.0, 5.0], [[0.0, -2.0, 2.0, 1.0], [0.0, -2.0, 2.0, 1.0]])
    0.5
    """
    return float(covered(y_true, prediction).mean())


def interval_width(y_true: ArrayLike, prediction: ArrayLike) -> float:
    """Return the mean width of the 95 % intervals.

    Parameters
    ----------
    y_true
        Targets.
    prediction
        Number, ends of the interval, and log-density of the target of each row.
    """
    return float(widths(y_true, prediction).mean())


def interval_score(y_true: ArrayLike, prediction: ArrayLike) -> float:
    r"""Return the mean of width and misses together, by which honest intervals are the best.

    Parameters
    ----------
    y_true
        Targets.
    prediction
        Number, ends of the interval, and log-density of the target of each row.

    Notes
    -----
    :math:`(u - l) + \frac{2}{\alpha} (l - y)_+ + \frac{2}{\alpha} (y - u)_+` of Gneiting and
    Raftery (2007), with :math:`\alpha = .05`: narrow intervals are rewarded, targets outside
    punished.
    """
    return float(interval_scores(y_true, prediction).mean())


def predictive_log_loss(y_true: ArrayLike, prediction: ArrayLike) -> float:
    """Return the mean of minus the log of the density that targets were predicted with.

    Parameters
    ----------
    y_true
        Targets.
    prediction
        Number, ends of the interval, and log-density of the target of each row.

    Examples
    --------
    >>> from verulam.measures import predictive_log_loss
    >>> predictive_log_loss([1.0, 2.0], [[1.0, -1.0, 3.0, -0.5], [1.0, -1.0, 3.0, -1.5]])
    1.0
    """
    return float(negative_log_densities(y_true, prediction).mean())


def _checked(
    y_true: ArrayLike, prediction: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    try:
        true = np.asarray(y_true, dtype=np.float64).ravel()
        table = np.asarray(prediction, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("y_true or prediction holds something else than numbers.") from None
    if table.shape != (len(true), 4) or not len(true):
        raise DataError(
            f"prediction has shape {table.shape}; expected ({len(true)}, 4): number, ends of the "
            "interval, log-density."
        )
    return true, table
