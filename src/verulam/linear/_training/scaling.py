"""Scaling of columns to one size around zero, and warnings where a trainer needed it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from verulam.base import warn_caller
from verulam.linear._training.tables import is_sparse

#: Columns whose spread or offset is beyond this size are not in one scale around zero.
_UNSCALED = 30.0
#: A trainer is far from the optimum if so large a share of rows more is wrong.
_FAR = 0.05
#: At most so many rows, and columns, are looked at to tell how far it is.
_MOST_ROWS = 2_000
_MOST_COLUMNS = 300

#: What to do about columns that are not in one scale, and about steps that were too few.
SCALE = "centre and scale the inputs first, as with sklearn.preprocessing.StandardScaler"
STEPS = "raise max_iter, or change learning_rate"


@dataclass(frozen=True)
class ScaledColumns:
    """Columns around zero whose largest size is one.

    Attributes
    ----------
    values
        The rows in these columns, dense or CSR.
    centres, scales
        What was subtracted, and what was divided by.
    """

    values: Any
    centres: np.ndarray
    scales: np.ndarray

    def original(self, weights: np.ndarray) -> np.ndarray:
        """Return bias and weights over the columns as they were."""
        slopes = weights[1:] / self.scales
        return np.concatenate([[weights[0] - self.centres @ slopes], slopes])


def scale_columns(inputs: Any) -> ScaledColumns:
    """Return the columns centred and scaled; sparse ones are centred where they have no zeros.

    The tolerances of solvers are absolute, and a large offset hides what differs between rows.
    """
    if is_sparse(inputs):
        table: Any = sp.csc_array(inputs, copy=True)
        # Centring a column that has zeros would fill them all in.
        full = np.diff(table.indptr) == table.shape[0]
        low, high = (np.asarray(end.todense()).ravel() for end in (table.min(0), table.max(0)))
        centres = np.where(full, 0.5 * low + 0.5 * high, 0.0)
        table.data -= np.repeat(centres, np.diff(table.indptr))
        scales = largest_sizes(table)
        return ScaledColumns((table @ sp.diags_array(1.0 / scales)).tocsr(), centres, scales)
    # Half of each end: their sum may overflow.
    centres = 0.5 * inputs.min(axis=0) + 0.5 * inputs.max(axis=0)
    moved = inputs - centres
    scales = largest_sizes(moved)
    return ScaledColumns(moved / scales, centres, scales)


def largest_sizes(inputs: Any) -> np.ndarray:
    """Return the largest absolute value of each column, or one where all are zero."""
    largest: Any = abs(inputs).max(axis=0)
    sizes = np.asarray(largest.todense() if is_sparse(largest) else largest).ravel()
    return np.where(sizes > 0, sizes, 1.0)


def sampled_rows(n_rows: int) -> np.ndarray:
    """Return the positions of at most two thousand rows, drawn alike each time.

    Every so many rows would not do: classes may take turns.
    """
    if n_rows <= _MOST_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, _MOST_ROWS, replace=False))


def warn_far_from_optimum(
    name: str,
    inputs: Any,
    targets: np.ndarray,
    wrong: np.ndarray,
    *,
    remedy: str | None = STEPS,
) -> None:
    """Warn where least squares in scaled columns errs on far fewer of the training rows.

    Parameters
    ----------
    name
        Name of the trainer.
    inputs
        Its rows.
    targets
        Indicators, one column for each class.
    wrong
        Whether it misclassifies each row.
    remedy
        What to do where the columns are in one scale; None says nothing then.
    """
    sample = sampled_rows(len(targets))
    missed = wrong[sample]
    if inputs.shape[1] > _MOST_COLUMNS or not missed.any():
        return
    sampled, indicators = inputs[sample], targets[sample]
    rows = scale_columns(sampled.toarray() if is_sparse(sampled) else sampled).values
    design = np.column_stack([np.ones(len(rows)), rows])
    fitted = design @ np.linalg.lstsq(design, indicators, rcond=None)[0]
    reachable = float((fitted.argmax(axis=1) != indicators.argmax(axis=1)).mean())
    if missed.mean() <= reachable + max(_FAR, 2.0 / len(rows)):
        return
    remedy = SCALE if _is_unscaled(sampled) else remedy
    if remedy is None:
        return
    warn_caller(
        f"{name} misclassifies {missed.mean():.0%} of its training rows, where least squares "
        f"misclassifies {reachable:.0%}; {remedy}.",
        ConvergenceWarning,
    )


def warn_far_from_line(name: str, inputs: Any, targets: np.ndarray, mean_square: float) -> None:
    """Warn where least squares in scaled columns leaves far smaller residuals.

    Parameters
    ----------
    name
        Name of the trainer.
    inputs, targets
        Its rows, and a table of their targets.
    mean_square
        Mean over the rows of its squared residuals, summed over the targets.
    """
    # The comparison must stay cheap beside the training.
    spread = float(targets.var(axis=0).sum())
    if inputs.shape[1] > _MOST_COLUMNS or len(targets) > _MOST_ROWS or spread == 0:
        return
    rows = scale_columns(inputs.toarray() if is_sparse(inputs) else inputs).values
    design = np.column_stack([np.ones(len(rows)), rows])
    residuals = targets - design @ np.linalg.lstsq(design, targets, rcond=None)[0]
    reachable = float((residuals**2).sum(axis=1).mean())
    if mean_square <= reachable + _FAR * spread:
        return
    explained = 1.0 - np.array([mean_square, reachable]) / spread
    warn_caller(
        f"{name} explains {explained[0]:.0%} of the variance of its training rows, where least "
        f"squares explains {explained[1]:.0%}; {SCALE if _is_unscaled(inputs) else STEPS}.",
        ConvergenceWarning,
    )


def _is_unscaled(inputs: Any) -> bool:
    rows = inputs.toarray() if is_sparse(inputs) else inputs
    spread = rows.std(axis=0)
    varied = spread > 0
    if not varied.any():
        return False
    # Beside a large offset the bias and the weight of a column are nearly the same direction.
    offset = np.abs(rows.mean(axis=0))[varied] / spread[varied]
    sizes = spread[varied]
    largest = max(float(sizes.max()), 1.0)
    return bool(offset.max() > _UNSCALED or largest > _UNSCALED * min(float(sizes.min()), 1.0))
