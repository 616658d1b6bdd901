"""A dense solver of the same program, by an interior point: for small problems and for checks."""

import numpy as np

from verulam.kernel._solvers.dual import DualProblem

#: Share of the way to the border that a step may go.
_SHORT_OF_BORDER = 0.995


def solve_densely(
    problem: DualProblem, gram: np.ndarray, *, tolerance: float = 1e-10, max_iter: int = 200
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
    tolerance
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
    if problem.owners is not None:
        gram = gram[np.ix_(problem.owners, problem.owners)]
    large = 1e6 * max(1.0, float(np.abs(problem.start).max(initial=0.0)))
    lower, upper = np.maximum(problem.lower, -large), np.minimum(problem.upper, large)
    fixed = upper - lower <= 1e-12 * large
    values = np.where(fixed, lower, problem.start)
    moving = np.flatnonzero(~fixed)
    linear = problem.linear[moving] + gram[np.ix_(moving, np.flatnonzero(fixed))] @ values[fixed]
    sums = _sums(problem)[:, moving]
    totals = sums @ problem.start[moving]
    values[moving] = _interior_point(
        gram[np.ix_(moving, moving)],
        linear,
        (lower[moving], upper[moving]),
        sums,
        totals,
        tolerance,
        max_iter,
    )
    return values


def _sums(problem: DualProblem) -> np.ndarray:
    """Return one row for each sum that is kept."""
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
    sums: np.ndarray,
    totals: np.ndarray,
    tolerance: float,
    max_iter: int,
) -> np.ndarray:
    lower, upper = bounds
    size, n_sums = len(linear), len(sums)
    values = 0.5 * (lower + upper)
    scale = float(np.abs(linear).max(initial=0.0)) or float(np.abs(gram @ values).max()) or 1.0
    below, above = np.full(size, scale), np.full(size, scale)
    levels = np.zeros(n_sums)
    for _ in range(max_iter):
        from_lower, from_upper = values - lower, upper - values
        mean = float(below @ from_lower + above @ from_upper) / (2 * size)
        slope = gram @ values + linear + sums.T @ levels - below + above
        lack = totals - sums @ values
        if mean <= tolerance * scale and np.abs(slope).max() <= 1e-9 * scale:
            break
        target = 0.1 * mean
        system = np.zeros((size + n_sums, size + n_sums))
        system[:size, :size] = gram
        system[np.arange(size), np.arange(size)] += below / from_lower + above / from_upper
        system[:size, size:], system[size:, :size] = sums.T, sums
        right = -slope + target / from_lower - below - target / from_upper + above
        step = np.linalg.solve(system, np.concatenate([right, lack]))
        move = step[:size]
        change_below = target / from_lower - below - below / from_lower * move
        change_above = target / from_upper - above + above / from_upper * move
        length = min(
            1.0,
            farthest_step(from_lower, move),
            farthest_step(from_upper, -move),
            farthest_step(below, change_below),
            farthest_step(above, change_above),
        )
        values = values + length * move
        levels = levels + length * step[size:]
        below, above = below + length * change_below, above + length * change_above
    return values


def farthest_step(distance: np.ndarray, change: np.ndarray) -> float:
    """Return how far one may go before a distance becomes zero."""
    shrinking = change < 0
    if not shrinking.any():
        return 1.0
    return _SHORT_OF_BORDER * float((distance[shrinking] / -change[shrinking]).min())
