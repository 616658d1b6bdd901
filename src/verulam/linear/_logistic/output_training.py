"""Gradient descent, batch and stochastic, on linear, sigmoid and softmax outputs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, warn_caller
from verulam.linear._logistic.gradient_logistic_loops import (
    LINEAR,
    SIGMOIDS,
    SOFTMAX,
    SQUARED_SIGMOIDS,
    online_pass,
    sparse_online_pass,
)
from verulam.linear._training.single_sample import MOST_STEPS, remark_on_rates
from verulam.linear._training.tables import is_sparse, row_squares
from verulam.linear._training.two_class_problem import Trajectory, is_bounded
from verulam.numerics import Schedule, softmax

_OUTPUT_FUNCTIONS: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    SOFTMAX: partial(softmax, axis=1),
    SIGMOIDS: expit,
    SQUARED_SIGMOIDS: expit,
    LINEAR: lambda values: values,
}


@dataclass(frozen=True)
class DescentPlan:
    """How outputs are trained.

    Attributes
    ----------
    kind
        Kind of output and loss.
    rate
        Rates of the rows, or of the passes in batch mode.
    online
        Whether to correct after each row instead of after all.
    max_iter
        Most passes.
    tol
        Part of the length of the weights that a pass must change them by, to go on.
    n_iter_no_change
        Passes without fewer errors that end the training, or None.
    record
        "passes" or "steps" keeps the weights after each, None nothing.
    """

    kind: int
    rate: Schedule
    online: bool = True
    max_iter: int = 1000
    tol: float = 1e-3
    n_iter_no_change: int | None = None
    record: str | None = None


@dataclass(frozen=True)
class TrainedOutputs:
    """What passes of gradient descent came to.

    Attributes
    ----------
    coefficients
        One row for each output, the bias in front.
    curves : ndarray of shape (n_iter, 3)
        Mean loss, error and length of the weights after each pass.
    settled
        Whether the weights, or the errors, no longer changed.
    n_rows
        Rows seen one at a time.
    trajectory
        The way, where it was recorded.
    """

    coefficients: np.ndarray
    curves: np.ndarray
    settled: bool
    n_rows: int
    trajectory: Trajectory | None


def train_outputs(
    inputs: Any,
    targets: np.ndarray,
    init: np.ndarray,
    plan: DescentPlan,
    random: np.random.Generator,
) -> TrainedOutputs:
    """Take passes from the coefficients `init` until they settle.

    Parameters
    ----------
    inputs, targets
        Rows, dense or sparse, and their targets.
    init
        First coefficients, which are not changed.
    plan
        How to go.
    random
        Draws the order of each pass.
    """
    coefficients, kind, n_rows = init.copy(), plan.kind, len(targets)
    path, curves = [init], list[tuple[float, float, float]]()
    best, stale, seen, settled = np.inf, 0, 0, False
    while len(curves) < plan.max_iter and not settled:
        before = coefficients.copy()
        if plan.online:
            order = random.permutation(n_rows)
            rates = plan.rate.table(seen + 1, n_rows)
            # A pass is cut into single rows to record each step: slow, but only for pictures.
            every = 1 if plan.record == "steps" and len(path) < MOST_STEPS else n_rows
            for first in range(0, n_rows, every):
                part = slice(first, first + every)
                run_epoch(inputs, targets, order[part], coefficients, rates[part], kind)
                if plan.record:
                    path.append(coefficients.copy())
            seen += n_rows
        else:
            rate = plan.rate(len(curves) + 1)
            coefficients -= rate * gradient(inputs, targets, coefficients, kind)
            if plan.record:
                path.append(coefficients.copy())
        if not is_bounded(coefficients):
            raise DataError(_diverging(plan, inputs))
        curves.append(progress(inputs, targets, coefficients, kind))
        fewer = curves[-1][1] < best
        # Early stopping looks at the errors, which stop falling long before the loss does.
        best, stale = min(best, curves[-1][1]), 0 if fewer else stale + 1
        moved = np.linalg.norm(coefficients - before)
        settled = bool(moved <= plan.tol * np.linalg.norm(coefficients))
        settled = settled or stale == plan.n_iter_no_change
    way = _trajectory(inputs, targets, path[:MOST_STEPS], kind) if plan.record else None
    return TrainedOutputs(coefficients, np.array(curves), settled, seen, way)


def _trajectory(inputs: Any, targets: np.ndarray, path: list[np.ndarray], kind: int) -> Trajectory:
    progresses = np.array([progress(inputs, targets, point, kind) for point in path])
    errors = progresses[:, 1]
    if kind != LINEAR:
        errors = np.rint(errors * len(targets)).astype(np.int64)
    return Trajectory(np.arange(len(path)), np.array(path), progresses[:, 0] * len(targets), errors)


def _diverging(plan: DescentPlan, inputs: Any) -> str:
    largest = 1.0 + float(row_squares(inputs).max())
    bound = (2.0 if plan.kind == LINEAR else 1.0) / largest
    return (
        f"learning_rate={plan.rate(1):.4g} makes the weights grow without bound; scale the "
        f"inputs, or stay below {bound:.4g}."
    )


def warn_unsettled(learner: Any, settled: bool, plan: DescentPlan) -> None:
    """Warn where passes ended before the weights settled, or rates kept them from settling.

    Parameters
    ----------
    learner
        Whose fit it was, two frames up.
    settled
        Whether the weights settled.
    plan
        How it went. Without a tolerance all passes are taken.
    """
    remark = remark_on_rates(learner.learning_rate, stochastic=plan.online)
    if settled or plan.tol == 0:
        ending = f"ended{remark}." if remark else ""
    else:
        ending = f"stopped after {plan.max_iter} passes before its weights settled{remark}; "
        ending += "choose other rates." if remark else "raise max_iter, or scale the inputs."
    if ending:
        message = f"{type(learner).__name__} {ending}"
        warn_caller(message, ConvergenceWarning)


def run_epoch(
    inputs: Any,
    targets: np.ndarray,
    order: np.ndarray,
    coefficients: np.ndarray,
    rates: np.ndarray,
    kind: int,
) -> None:
    """Correct the coefficients after each row, in order and in place."""
    rest = (targets, order, coefficients, rates, kind, np.empty(len(coefficients)))
    if is_sparse(inputs):
        places = inputs.indices.astype(np.int64), inputs.indptr.astype(np.int64)
        sparse_online_pass(inputs.data, *places, *rest)
    else:
        online_pass(inputs, *rest)


def stream_outputs(
    inputs: Any,
    targets: np.ndarray,
    coefficients: np.ndarray,
    plan: DescentPlan,
    seen: int,
) -> None:
    """Go once through the rows in their order, correcting the coefficients in place.

    Parameters
    ----------
    inputs, targets
        Rows and their targets.
    coefficients
        One row for each output, the bias in front.
    plan
        How to go.
    seen
        Rows seen before, which have used up their rates.
    """
    rates = plan.rate.table(seen + 1, len(targets))
    run_epoch(inputs, targets, np.arange(len(targets)), coefficients, rates, plan.kind)
    if not is_bounded(coefficients):
        raise DataError(_diverging(plan, inputs))


def gradient(inputs: Any, targets: np.ndarray, coefficients: np.ndarray, kind: int) -> np.ndarray:
    """Return the gradient of the summed loss over the coefficients.

    Parameters
    ----------
    inputs, targets
        Rows and their targets.
    coefficients
        One row for each output, the bias in front.
    kind
        Kind of output and loss.
    """
    outputs = _OUTPUT_FUNCTIONS[kind](inputs @ coefficients[:, 1:].T + coefficients[:, 0])
    errors = outputs - targets
    # The chain rule through the sigmoid, which cross-entropy cancels.
    if kind == SQUARED_SIGMOIDS:
        errors *= outputs * (1.0 - outputs)
    return np.column_stack([errors.sum(axis=0), (inputs.T @ errors).T])


def loss_value(inputs: Any, targets: np.ndarray, coefficients: np.ndarray, kind: int) -> float:
    """Return the summed loss; see `gradient`."""
    values: Any = inputs @ coefficients[:, 1:].T + coefficients[:, 0]
    if kind in (SQUARED_SIGMOIDS, LINEAR):
        return float(0.5 * ((targets - _OUTPUT_FUNCTIONS[kind](values)) ** 2).sum())
    if kind == SIGMOIDS:
        return float((np.logaddexp(0.0, values) - targets * values).sum())
    # Cross-entropy from the linear values: logarithms of probabilities near zero lose all digits.
    return float((np.logaddexp.reduce(values, axis=1) - (targets * values).sum(axis=1)).sum())


def wrong_rows(inputs: Any, targets: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return whether each row is misclassified, or has a wrong label where it may have several."""
    values = inputs @ coefficients[:, 1:].T + coefficients[:, 0]
    if (targets.sum(axis=1) == 1).all():
        return values.argmax(axis=1) != targets.argmax(axis=1)
    return ((values > 0) != (targets > 0.5)).any(axis=1)


def progress(
    inputs: Any, targets: np.ndarray, coefficients: np.ndarray, kind: int
) -> tuple[float, float, float]:
    """Return mean loss, error, and length of the weights.

    The error is the share of misclassified rows, or the root mean squared residual of linear
    outputs.
    """
    mean = loss_value(inputs, targets, coefficients, kind) / len(targets)
    length = float(np.linalg.norm(coefficients))
    if kind == LINEAR:
        return mean, float(np.sqrt(2.0 * mean / targets.shape[1])), length
    return mean, float(wrong_rows(inputs, targets, coefficients).mean()), length
