"""Gradient and Newton descent on any smooth criterion."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError, Seed, generator
from verulam.linear._training.single_sample import as_schedule
from verulam.numerics import Schedule

Gradient = Callable[[np.ndarray], np.ndarray]
Hessian = Callable[[np.ndarray], np.ndarray]
Criterion = Callable[[np.ndarray], float]
#: The gradient of one row's part of the criterion.
RowGradient = Callable[[np.ndarray, int], np.ndarray]

#: Size of random weights at the start.
_START = 0.01


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
    values : ndarray of shape (n_iter + 1,) or None
        The criterion at each of them, where it was given.
    """

    point: np.ndarray
    n_iter: int
    converged: bool
    path: np.ndarray
    values: np.ndarray | None = None

    def with_values(self, criterion: Criterion | None) -> "Descent":
        """Return the same way with the criterion at each of its points."""
        if criterion is None:
            return self
        return replace(self, values=np.array([float(criterion(point)) for point in self.path]))


def gradient_descent(
    gradient: Gradient,
    init: ArrayLike | int,
    *,
    learning_rate: float | Schedule = 0.1,
    hessian: Hessian | None = None,
    ascend: bool = False,
    criterion: Criterion | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    random_state: Seed = None,
) -> Descent:
    r"""Repeat :math:`a \leftarrow a - \eta(k) \nabla J(a)` until the step is short.

    Parameters
    ----------
    gradient
        Function that returns :math:`\nabla J`.
    init
        First point, or the number of weights, which then start at random in (-0.01, 0.01).
    learning_rate
        Step size, or a schedule.
    hessian
        Where given, each step has the optimal rate
        :math:`\eta = \|\nabla J\|^2 / (\nabla J^T H \nabla J)`, and `learning_rate` is not used.
    ascend
        Whether to climb to a maximum instead.
    criterion
        The function :math:`J` itself, whose values on the way are kept.
    tol
        Length of a step that ends the descent.
    max_iter
        Most steps.
    random_state
        Seed of a random start.

    Notes
    -----
    See Bartkowiak 5.4 (5.1) and Alpaydin 10.6 (10.16-10.17).

    Examples
    --------
    >>> import numpy as np
    >>> bowl = np.diag([1.0, 4.0])
    >>> descent = gradient_descent(lambda a: bowl @ a, [4.0, 1.0], hessian=lambda a: bowl)
    >>> descent.converged, np.allclose(descent.point, 0.0, atol=1e-7)
    (True, True)
    """
    rate, sign = _checked_rate(learning_rate), -1.0 if ascend else 1.0

    def step(point: np.ndarray, number: int) -> np.ndarray:
        slope = sign * np.asarray(gradient(point), dtype=np.float64)
        if hessian is None:
            return -rate(number) * slope
        return -optimal_rate(slope, sign * np.asarray(hessian(point))) * slope

    first = first_point(init, random_state)
    descent = _descend(step, first, tol, max_iter, "learning_rate is too large")
    return descent.with_values(criterion)


def online_descent(
    gradient: RowGradient,
    n_rows: int,
    init: ArrayLike | int,
    *,
    learning_rate: float | Schedule = 0.1,
    criterion: Criterion | None = None,
    tol: float = 1e-4,
    max_iter: int = 100,
    random_state: Seed = None,
) -> Descent:
    r"""Step down the gradient of one row after another, in a new random order each pass.

    Parameters
    ----------
    gradient
        Function of a point and of the number of a row that returns :math:`\nabla J_t`.
    n_rows
        Number of rows.
    init
        First point, or the number of weights, which then start at random in (-0.01, 0.01).
    learning_rate
        Step size, or a schedule of the rows. One that falls as :math:`1/k` settles.
    criterion
        The sum :math:`J = \sum_t J_t`, whose values after each pass are kept.
    tol
        Length of the way of a pass that ends the descent.
    max_iter
        Most passes.
    random_state
        Seed of a random start and of the orders.

    Notes
    -----
    See Alpaydin 10.6 and 11.3.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.numerics import inverse
    >>> heights = np.array([1.0, 2.0, 6.0])
    >>> mean = online_descent(
    ...     lambda a, t: a - heights[t], 3, [0.0], learning_rate=inverse(1.0), max_iter=200
    ... )
    >>> mean.point.round(2)
    array([3.])
    """
    if n_rows < 1:
        raise DataError(f"n_rows must be at least 1; got {n_rows}.")
    rate, random = _checked_rate(learning_rate), generator(random_state)

    def step(point: np.ndarray, number: int) -> np.ndarray:
        # A whole pass counts as one step, so that single noisy rows do not end the descent.
        moved = point
        for place, row in enumerate(random.permutation(n_rows), (number - 1) * n_rows + 1):
            moved = moved - rate(place) * np.asarray(gradient(moved, int(row)), dtype=np.float64)
        return moved - point

    first = first_point(init, random)
    descent = _descend(step, first, tol, max_iter, "learning_rate is too large")
    return descent.with_values(criterion)


def _checked_rate(learning_rate: float | Schedule) -> Schedule:
    if not isinstance(learning_rate, Schedule) and not learning_rate > 0:
        raise DataError(f"learning_rate must be above zero; got {learning_rate}.")
    return as_schedule(learning_rate)


def first_point(init: ArrayLike | int, random_state: Seed) -> np.ndarray:
    """Return the start, or that many weights at random in (-0.01, 0.01)."""
    if isinstance(init, int):
        return generator(random_state).uniform(-_START, _START, size=init)
    return np.atleast_1d(np.asarray(init, dtype=np.float64))


def newton_descent(
    gradient: Gradient,
    hessian: Hessian,
    init: ArrayLike,
    *,
    criterion: Criterion | None = None,
    tol: float = 1e-8,
    max_iter: int = 100,
) -> Descent:
    r"""Repeat :math:`a \leftarrow a - H^{-1} \nabla J(a)` until the step is short.

    Parameters
    ----------
    gradient, hessian
        Functions that return :math:`\nabla J` and :math:`H`.
    init
        First point.
    criterion
        The function :math:`J` itself, whose values on the way are kept.
    tol
        Length of a step that ends the descent.
    max_iter
        Most steps.

    Notes
    -----
    A quadratic criterion needs one step. See Bartkowiak 5.4 (5.2).

    Examples
    --------
    >>> import numpy as np
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

    descent = _descend(
        step, first_point(init, None), tol, max_iter, "the criterion has no minimum nearby"
    )
    return descent.with_values(criterion)


def optimal_rate(gradient: ArrayLike, hessian: ArrayLike) -> float:
    r"""Return :math:`\|g\|^2 / (g^T H g)`, the exact line search on a quadratic criterion.

    Examples
    --------
    >>> optimal_rate([1.0, 0.0], [[4.0, 0.0], [0.0, 1.0]])
    0.25
    """
    slope = np.asarray(gradient, dtype=np.float64)
    curvature = float(slope @ np.asarray(hessian) @ slope)
    # At the bottom any rate will do; the ratio would be zero over zero.
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
    point: np.ndarray,
    tol: float,
    max_iter: int,
    diverging: str,
) -> Descent:
    path, converged, number = [point], False, 0
    while number < max_iter and not converged:
        number += 1
        with np.errstate(over="ignore", invalid="ignore"):
            move = step(point, number)
            if move.shape != point.shape:
                raise DataError(
                    f"the gradient has the shape {move.shape}, but there are weights of the "
                    f"shape {point.shape}."
                )
            point = point + move
        if not np.isfinite(point).all():
            raise DataError(
                f"the descent diverged after {number} steps: {diverging}, or its gradient is no "
                "number there."
            )
        path.append(point)
        # The largest entry first: the square of a huge one would overflow.
        largest = float(np.abs(move).max())
        converged = largest < tol and bool(np.linalg.norm(move) < tol)
    return Descent(point, number, converged, np.array(path))
