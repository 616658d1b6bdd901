"""Solvers that search along lines over all rows at once: quasi-Newton and conjugate gradients."""

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from verulam.numerics._training.loop import Epoch, History, Objective, Parameters, Stopping

#: By our names, as scikit-learn spells them, and SciPy's.
SEARCHES = {"lbfgs": "L-BFGS-B", "cg": "CG", "newton-cg": "Newton-CG"}
#: Relative progress of the error that rounding could make.
FLAT = 64 * np.finfo(np.float64).eps


def train_by_search(
    objective: Objective,
    theta: Parameters,
    solver: str,
    stopping: Stopping,
    validation: Callable[[Parameters], float] | None,
    history: History,
) -> Iterator[Epoch]:
    """Train by one of SciPy's optimisers, an epoch being an iteration.

    SciPy runs to its end before the first epoch is handed on. The parameters are changed in place;
    where rows are set aside, they are those of the least validation error.

    Parameters
    ----------
    objective
        What is minimised.
    theta
        Parameters.
    solver
        One of `SEARCHES`.
    stopping
        When to end: `tol` is compared with the largest entry of the gradient.
    validation
        Returns the mean error on rows set aside.
    history
        Record that is added to.
    """
    best, best_theta, idle = np.inf, theta.copy(), 0

    def value_and_gradient(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = objective.value_and_gradient(point)
        return value, gradient.astype(np.float64)

    def record(intermediate_result: Any) -> None:
        nonlocal best, best_theta, idle
        point, loss = intermediate_result.x, float(intermediate_result.fun)
        unseen = np.nan if validation is None else validation(point.astype(theta.dtype))
        watched = loss if validation is None else unseen
        idle = 0 if watched < best - stopping.tol else idle + 1
        if watched < best:
            best, best_theta = watched, point.copy()
        norm = float(np.linalg.norm(point))
        history.append(Epoch(len(history) + 1, loss, float(unseen), np.nan, norm))
        if validation is not None and idle >= stopping.n_iter_no_change:
            raise StopIteration

    # Progress in the error alone would end a search on a plateau: the gradient decides.
    options: Any = {"maxiter": stopping.max_iter} | {
        "lbfgs": {"gtol": stopping.tol, "ftol": FLAT, "maxfun": 20 * stopping.max_iter},
        "cg": {"gtol": stopping.tol},
        "newton-cg": {"xtol": stopping.tol},
    }[solver]
    first, method = len(history), cast(Any, SEARCHES[solver])
    start = theta.astype(np.float64)
    try:
        minimize(
            value_and_gradient, start, jac=True, method=method, callback=record, options=options
        )
    finally:
        theta[:] = best_theta
    yield from history[first:]
