"""Gradient and Newton descent on any smooth criterion."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.linear._single_sample import as_schedule
from verulam.numerics import Schedule

Gradient = Callable[[np.ndarray], np.ndarray]
Hessian = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Descent:
    """The way down.

    Attributes
    ----------
    point
        Where it ended.
    n_iter
        Steps taken.
    converged
        Whether the last step was shorter than the tolerance.
    path : ndarray of shape (n_iter + 1, n_weights)
        Every point on the way, the start included.
    """

    point: np.ndarray
    n_iter: int
    converged: bool
    path: np.ndarray


def gradient_descent(
    gradient: Gradient,
    start: ArrayLike,
    *,
    learning_rate: float | Schedule = 0.1,
    hessian: Hessian | None = None,
    tolerance: float = 1e-8,
    max_iter: int = 1000,
) -> Descent:
    r"""Repeat :math:`a \leftarrow a - \eta(k) \nabla J(a)` until the step is short.

    Parameters
    ----------
    gradient
        Function that returns :math:`\nabla J`.
    start
        First point.
    learning_rate
        Step size, or a schedule.
    hessian
        Where given, each step has the optimal rate
        :math:`\eta = \|\nabla J\|^2 / (\nabla J^T H \nabla J)`, and `learning_rate` is not used.
    tolerance
        Length of a step that ends the descent.
    max_iter
        Most steps.

    Notes
    -----
    See Bartkowiak 5.4 (5.1) and Alpaydin 10.6 (10.16-10.17).

    Examples
    --------
    >>> bowl = np.diag([1.0, 4.0])
    >>> found = gradient_descent(lambda a: bowl @ a, [4.0, 1.0], hessian=lambda a: bowl)
    >>> found.converged, np.allclose(found.point, 0.0, atol=1e-7)
    (True, True)
    """
    rate = as_schedule(learning_rate)

    def step(point: np.ndarray, number: int) -> np.ndarray:
        slope = np.asarray(gradient(point), dtype=np.float64)
        if hessian is None:
            return -rate(number) * slope
        return -optimal_rate(slope, hessian(point)) * slope

    return _descend(step, start, tolerance, max_iter, "learning_rate is too large")


def newton_descent(
    gradient: Gradient,
    hessian: Hessian,
    start: ArrayLike,
    *,
    tolerance: float = 1e-8,
    max_iter: int = 100,
) -> Descent:
    r"""Repeat :math:`a \leftarrow a - H^{-1} \nabla J(a)` until the step is short.

    Parameters
    ----------
    gradient, hessian
        Functions that return :math:`\nabla J` and :math:`H`.
    start
        First point.
    tolerance
        Length of a step that ends the descent.
    max_iter
        Most steps.

    Notes
    -----
    A quadratic criterion needs one step. See Bartkowiak 5.4 (5.2).

    Examples
    --------
    >>> bowl = np.diag([1.0, 4.0])
    >>> newton_descent(lambda a: bowl @ a, lambda a: bowl, [4.0, 1.0]).point.tolist()
    [0.0, 0.0]
    """

    def step(point: np.ndarray, number: int) -> np.ndarray:
        try:
            return -np.linalg.solve(hessian(point), gradient(point))
        except np.linalg.LinAlgError as error:
            raise DataError(
                f"the Hessian is singular after {number - 1} steps, so there is no Newton step; "
                "use gradient_descent, or add a penalty."
            ) from error

    return _descend(step, start, tolerance, max_iter, "the criterion has no minimum on the way")


def optimal_rate(gradient: ArrayLike, hessian: ArrayLike) -> float:
    r"""Return :math:`\|g\|^2 / (g^T H g)`, the exact line search on a quadratic criterion.

    Examples
    --------
    >>> optimal_rate([1.0, 0.0], [[4.0, 0.0], [0.0, 1.0]])
    0.25
    """
    slope = np.asarray(gradient, dtype=np.float64)
    curvature = float(slope @ np.asarray(hessian) @ slope)
    if not np.any(slope):
        return 0.0
    if curvature <= 0:
        raise DataError(
            f"the criterion does not curve upwards along its gradient ({curvature:.4g}), so no "
            "rate is optimal; give learning_rate instead of hessian."
        )
    return float(slope @ slope) / curvature


def _descend(
    step: Callable[[np.ndarray, int], np.ndarray],
    start: ArrayLike,
    tolerance: float,
    max_iter: int,
    diverging: str,
) -> Descent:
    point = np.asarray(start, dtype=np.float64)
    path, converged, number = [point], False, 0
    while number < max_iter and not converged:
        number += 1
        with np.errstate(over="ignore", invalid="ignore"):
            move = step(point, number)
            point = point + move
        if not np.isfinite(point).all():
            raise DataError(f"the descent diverged after {number} steps: {diverging}.")
        path.append(point)
        # The largest entry first: the square of a huge one would overflow.
        largest = float(np.abs(move).max())
        converged = largest < tolerance and bool(np.linalg.norm(move) < tolerance)
    return Descent(point, number, converged, np.array(path))
