"""Conjugate gradients, quasi-Newton, annealing and evolution on any criterion, by SciPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError, Seed, generator, unknown_name
from verulam.linear._descent.descent import Criterion, Descent, Gradient, Hessian, first_point

#: Methods that follow slopes, by SciPy's names.
_LOCAL = {
    "conjugate gradient": "CG",
    "quasi-newton": "BFGS",
    "newton": "Newton-CG",
}
#: Methods that search between bounds by chance.
_GLOBAL = ("annealing", "genetic")
#: Slope beside the height beyond which a point is no minimum.
_FLAT = 1e-3


def minimise(
    criterion: Criterion,
    init: ArrayLike | int,
    *,
    method: str = "quasi-newton",
    gradient: Gradient | None = None,
    hessian: Hessian | None = None,
    bounds: ArrayLike | None = None,
    ascend: bool = False,
    max_iter: int = 1000,
    random_state: Seed = None,
) -> Descent:
    r"""Minimise a criterion by one of SciPy's optimisers.

    Parameters
    ----------
    criterion
        Function :math:`J` of a point.
    init
        First point, or the number of weights, which then start at random in (-0.01, 0.01).
    method
        "conjugate gradient", "quasi-newton" (BFGS) and "newton" follow slopes to the nearest
        minimum; "annealing" (dual annealing) and "genetic" (differential evolution) search
        between `bounds` by chance, and may leave a minimum for a deeper one.
    gradient
        Function that returns the gradient; None takes differences.
    hessian
        Function that returns the Hessian, for "newton"; None takes differences of the gradient.
    bounds : array of shape (n_weights, 2)
        Least and largest value of each weight, needed by the methods that search.
    ascend
        Whether to look for a maximum instead.
    max_iter
        Most steps, or generations.
    random_state
        Seed of a random start and of the search.

    Notes
    -----
    The path has one point for each step; that of a search has each best point found. See Alpaydin
    10.6 (10.16-10.17), which names these beyond plain descent.

    Examples
    --------
    >>> def two_valleys(a):
    ...     return float((a[0] ** 2 - 1.0) ** 2 + 0.3 * a[0])
    >>> near = minimise(two_valleys, [0.8])
    >>> deep = minimise(
    ...     two_valleys, [0.8], method="annealing", bounds=[[-2, 2]], max_iter=50, random_state=0
    ... )
    >>> near.point.round(2), deep.point.round(2)
    (array([0.96]), array([-1.04]))
    """
    if method not in (*_LOCAL, *_GLOBAL):
        raise unknown_name("method", method, (*_LOCAL, *_GLOBAL))
    sign = -1.0 if ascend else 1.0
    # Points of SciPy's callbacks are changed later, so they are copied.
    path = [first_point(init, random_state)]

    def height(point: np.ndarray) -> float:
        return sign * float(criterion(point))

    def keep(point: np.ndarray, *_: Any, **__: Any) -> None:
        path.append(np.array(point, dtype=np.float64))

    if method in _LOCAL:
        optimum = _local_search(height, path[0], method, sign, gradient, hessian, max_iter, keep)
    else:
        optimum = _global_search(height, path[0], method, bounds, max_iter, random_state, keep)
    if not np.isfinite(optimum.x).all() or not np.isfinite(optimum.fun):
        raise DataError(
            f"{method} left the finite numbers after {optimum.nit} steps; the criterion may have "
            f"no {'maximum' if ascend else 'minimum'}."
        )
    if not np.array_equal(path[-1], optimum.x):
        keep(optimum.x)
    # Newton's method calls a slope without curvature a success.
    steep = method in _LOCAL and np.abs(optimum.jac).max() > _FLAT * (1.0 + abs(optimum.fun))
    converged = bool(optimum.success) and not steep
    way = Descent(np.asarray(optimum.x), int(optimum.nit), converged, np.array(path))
    return way.with_values(criterion)


def _local_search(
    height: Criterion,
    init: np.ndarray,
    method: str,
    sign: float,
    gradient: Gradient | None,
    hessian: Hessian | None,
    max_iter: int,
    keep: Callable[..., None],
) -> Any:
    from scipy.optimize import approx_fprime, minimize

    def slope(point: np.ndarray) -> np.ndarray:
        if gradient is None:
            return approx_fprime(point, height)
        return sign * np.asarray(gradient(point), dtype=np.float64)

    def curve(point: np.ndarray) -> np.ndarray:
        assert hessian is not None
        return sign * np.asarray(hessian(point), dtype=np.float64)

    # Plain options, for the stubs know no optimiser chosen by name.
    options: dict[str, Any] = {"method": _LOCAL[method], "jac": slope, "callback": keep}
    if method == "newton" and hessian is not None:
        options["hess"] = curve
    return minimize(height, init, options={"maxiter": max_iter}, **options)


def _global_search(
    height: Criterion,
    init: np.ndarray,
    method: str,
    bounds: ArrayLike | None,
    max_iter: int,
    random_state: Seed,
    keep: Callable[..., None],
) -> Any:
    from scipy.optimize import differential_evolution, dual_annealing

    if bounds is None or np.shape(bounds) != (len(init), 2):
        shape = None if bounds is None else np.shape(bounds)
        raise DataError(
            f"bounds must be the least and largest value of each of {len(init)} weights for "
            f"method={method!r}; got {'none' if shape is None else f'the shape {shape}'}."
        )
    ends = np.asarray(bounds, dtype=np.float64)
    if not (ends[:, 0] < ends[:, 1]).all():
        raise DataError("bounds must have the smaller end of each weight first.")
    random = generator(random_state)
    # Differential evolution refuses a start outside of the bounds.
    inside = np.clip(init, ends[:, 0], ends[:, 1])
    pairs: Any = [tuple(pair) for pair in ends]
    if method == "annealing":
        return dual_annealing(height, pairs, x0=inside, maxiter=max_iter, rng=random, callback=keep)
    return differential_evolution(
        height, pairs, x0=inside, maxiter=max_iter, rng=random, callback=keep
    )
