"""The dense dual solver, a primal-dual interior point method: for small problems and for checks."""

import numpy as np

from verulam.kernel._solvers.dual_problems import DualProblem

#: Share of the way to the boundary that a step may go.
_FRACTION_TO_BOUNDARY = 0.995
#: Share of the mean complementarity that the next step aims at.
_CENTRING = 0.1


def solve_densely(
    problem: DualProblem, gram: np.ndarray, *, tol: float = 1e-10, max_iter: int = 200
) -> np.ndarray:
    r"""Return the coefficients that solve a dual program, given the whole Gram matrix.

    Every step solves a linear system of all coefficients, which is exact and independent of
    `solve_dual`, and costs the third power of their number.

    Parameters
    ----------
    problem
        The program; infinite bounds are replaced by large ones.
    gram
        Kernel of every two inputs.
    tol
        Mean product of slacks and multipliers at the end, relative to the linear term.
    max_iter
        Most steps.

    Examples
    --------
    Exclusive or, with the polynomial kernel of degree 2:

    >>> import numpy as np
    >>> from verulam.kernel import DualProblem, Polynomial, solve_densely
    >>> signs = np.array([1.0, 1.0, -1.0, -1.0])
    >>> gram = Polynomial(2)([[1, -1], [-1, 1], [1, 1], [-1, -1]])
    >>> problem = DualProblem(
    ...     -signs, np.minimum(10 * signs, 0), np.maximum(10 * signs, 0), np.zeros(4)
    ... )
    >>> solve_densely(problem, gram).round(6)
    array([ 0.125,  0.125, -0.125, -0.125])
    """
    if problem.row_of is not None:
        gram = gram[np.ix_(problem.row_of, problem.row_of)]
    # An interior point needs two bounds to stay between.
    large = 1e6 * max(1.0, float(np.abs(problem.init).max(initial=0.0)))
    lower, upper = np.maximum(problem.lower, -large), np.minimum(problem.upper, large)
    # A box without room has no interior: its coefficients are constants, and move to the rest.
    fixed = upper - lower <= 1e-12 * large
    beta = np.where(fixed, lower, problem.init)
    moving = np.flatnonzero(~fixed)
    linear = problem.linear[moving] + gram[np.ix_(moving, np.flatnonzero(fixed))] @ beta[fixed]
    equalities = _equalities(problem)[:, moving]
    beta[moving] = _interior_point(
        gram[np.ix_(moving, moving)],
        linear,
        (lower[moving], upper[moving]),
        equalities,
        equalities @ problem.init[moving],
        tol,
        max_iter,
    )
    return beta


def _equalities(problem: DualProblem) -> np.ndarray:
    """Return the matrix of the equality constraints, one row for each constant sum."""
    size = len(problem.linear)
    if problem.constraint == "none":
        return np.zeros((0, size))
    if problem.constraint == "total" or problem.groups is None:
        return np.ones((1, size))
    return np.array([problem.groups == group for group in (0, 1)], dtype=np.float64)


def _interior_point(
    gram: np.ndarray,
    linear: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    equalities: np.ndarray,
    totals: np.ndarray,
    tol: float,
    max_iter: int,
) -> np.ndarray:
    lower, upper = bounds
    size, n_sums = len(linear), len(equalities)
    # In the middle of the box; sums are brought right by the steps.
    beta = 0.5 * (lower + upper)
    scale = float(np.abs(linear).max(initial=0.0)) or float(np.abs(gram @ beta).max()) or 1.0
    lower_multipliers, upper_multipliers = np.full(size, scale), np.full(size, scale)
    equality_multipliers = np.zeros(n_sums)
    for _ in range(max_iter):
        above_lower, below_upper = beta - lower, upper - beta
        complementarity = float(
            lower_multipliers @ above_lower + upper_multipliers @ below_upper
        ) / (2 * size)
        stationarity = (
            gram @ beta
            + linear
            + equalities.T @ equality_multipliers
            - lower_multipliers
            + upper_multipliers
        )
        if complementarity <= tol * scale and np.abs(stationarity).max() <= 1e-9 * scale:
            break
        barrier = _CENTRING * complementarity
        # Newton's system of the perturbed KKT conditions, the bounds' multipliers eliminated.
        system = np.zeros((size + n_sums, size + n_sums))
        system[:size, :size] = gram
        system[np.arange(size), np.arange(size)] += (
            lower_multipliers / above_lower + upper_multipliers / below_upper
        )
        system[:size, size:], system[size:, :size] = equalities.T, equalities
        right = (
            -stationarity
            + barrier / above_lower
            - lower_multipliers
            - barrier / below_upper
            + upper_multipliers
        )
        step = np.linalg.solve(system, np.concatenate([right, totals - equalities @ beta]))
        move = step[:size]
        lower_change = (
            barrier / above_lower - lower_multipliers - lower_multipliers / above_lower * move
        )
        upper_change = (
            barrier / below_upper - upper_multipliers + upper_multipliers / below_upper * move
        )
        length = min(
            1.0,
            step_to_boundary(above_lower, move),
            step_to_boundary(below_upper, -move),
            step_to_boundary(lower_multipliers, lower_change),
            step_to_boundary(upper_multipliers, upper_change),
        )
        beta = beta + length * move
        equality_multipliers = equality_multipliers + length * step[size:]
        lower_multipliers = lower_multipliers + length * lower_change
        upper_multipliers = upper_multipliers + length * upper_change
    return beta


def step_to_boundary(distance: np.ndarray, change: np.ndarray) -> float:
    """Return how far one may go, short of where a distance becomes zero."""
    shrinking = change < 0
    if not shrinking.any():
        return 1.0
    return _FRACTION_TO_BOUNDARY * float((distance[shrinking] / -change[shrinking]).min())
