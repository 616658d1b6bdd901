"""Solvers of logistic discrimination: Newton's method, L-BFGS in whitened inputs, and L1."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

from verulam.linear._logistic_problem import LogisticProblem

#: Halvings of a Newton step that makes the objective worse.
_MOST_HALVINGS = 30
#: Rows of a sample on which large problems begin, and how many times more rows are large.
_SAMPLE = 10_000
_LARGE_SAMPLES = 4
#: A mean loss below this shows that every row has been fitted beyond doubt.
_CERTAIN = 1e-6


@dataclass(frozen=True)
class LogisticSolution:
    """Coefficients and how they were reached.

    Attributes
    ----------
    coefficients
        The bias of each output in front of its weights.
    n_iter
        Steps taken.
    converged
        Whether the gradient has vanished, within the tolerance.
    separated
        Whether the rows were fitted without doubt, which lets free weights grow for ever.
    losses
        Objective after each step.
    """

    coefficients: np.ndarray
    n_iter: int
    converged: bool
    separated: bool
    losses: np.ndarray


def solve_newton(problem: LogisticProblem, tolerance: float, max_iter: int) -> LogisticSolution:
    """Solve two classes by Newton's method with halved steps: iteratively reweighted squares.

    Parameters
    ----------
    problem
        Two classes.
    tolerance
        Largest entry of the gradient of the mean loss at the end.
    max_iter
        Most steps.
    """
    bound = tolerance * problem.total_weight
    start = np.zeros(problem.shape)
    n_rows = len(problem.codes)
    if n_rows >= _LARGE_SAMPLES * _SAMPLE:
        sample = problem.sample(_SAMPLE)
        found = solve_newton(sample, tolerance, max_iter)
        if not found.separated:
            scale = problem.total_weight / max(sample.total_weight, 1e-300)
            _, _, hessian = sample.newton_terms(found.coefficients)
            start = _with_fixed_curvature(problem, found.coefficients, scale * hessian, bound)
    coefficients = start
    value, gradient = problem.value_and_gradient(coefficients)
    gradient = gradient[0]
    losses, n_iter = [value], 0
    if np.abs(gradient).max() <= bound:
        return LogisticSolution(coefficients, 1, True, False, np.array(losses))
    value, gradient, hessian = problem.newton_terms(coefficients)
    while np.abs(gradient).max() > bound and n_iter < max_iter:
        n_iter += 1
        step = _solve_curvature(hessian, gradient)
        moved = coefficients - step
        terms = problem.newton_terms(moved)
        for _ in range(_MOST_HALVINGS):
            if terms[0] <= value:
                break
            step = step / 2
            moved = coefficients - step
            terms = problem.newton_terms(moved)
        coefficients = moved
        value, gradient, hessian = terms
        losses.append(value)
        if problem.strength == 0 and value < _CERTAIN * problem.total_weight:
            break
    return LogisticSolution(
        coefficients,
        n_iter,
        bool(np.abs(gradient).max() <= bound),
        value < _CERTAIN * problem.total_weight,
        np.array(losses),
    )


def _with_fixed_curvature(
    problem: LogisticProblem, start: np.ndarray, hessian: np.ndarray, bound: float
) -> np.ndarray:
    """Take steps with the curvature of a sample, which costs no pass over all products.

    It ends where the gradient is within the bound, or as soon as a step does not shrink it to
    less than half: the full curvature is worth its price from there on.
    """
    coefficients = start
    gradient = problem.value_and_gradient(coefficients)[1][0]
    size = float(np.abs(gradient).max())
    while size > bound:
        moved = coefficients - _solve_curvature(hessian, gradient)
        gradient = problem.value_and_gradient(moved)[1][0]
        after = float(np.abs(gradient).max())
        if not after < size / 2:
            return moved if after < size else coefficients
        coefficients, size = moved, after
    return coefficients


def solve_lbfgs(problem: LogisticProblem, tolerance: float, max_iter: int) -> LogisticSolution:
    r"""Solve any number of classes by L-BFGS.

    Dense inputs are whitened first, by which the curvature becomes nearly the same in all
    directions and far fewer steps are needed; the solution is the same.

    Parameters
    ----------
    problem
        Two or more classes.
    tolerance
        Largest entry of the gradient of the mean loss at the end.
    max_iter
        Most steps.
    """
    whitening = _whitening(problem)
    losses: list[float] = []
    start = np.zeros(problem.shape)
    if len(problem.codes) >= _LARGE_SAMPLES * _SAMPLE:
        found_on_sample = solve_lbfgs(problem.sample(_SAMPLE), 100 * tolerance, max_iter)
        if not found_on_sample.separated:
            start = whitening.to_inner(found_on_sample.coefficients)

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        inner = flat.reshape(problem.shape)
        value, gradient = problem.value_and_gradient(whitening.to_weights(inner))
        return value / scale, (whitening.to_gradient(gradient) / scale).ravel()

    scale = problem.total_weight
    found = minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: losses.append(intermediate_result.fun * scale),
        options={"maxiter": max_iter, "gtol": tolerance, "ftol": 64 * np.finfo(float).eps},
    )
    coefficients = whitening.to_weights(found.x.reshape(problem.shape))
    _, gradient = problem.value_and_gradient(coefficients)
    # The tolerance holds for the inputs as they are, whose scales may differ from whitened ones.
    small = np.abs(whitening.to_gradient(gradient)).max() <= 10 * tolerance * scale
    value = float(found.fun) * scale
    return LogisticSolution(
        coefficients,
        int(found.nit),
        bool(found.success or small),
        value < _CERTAIN * scale,
        np.array(losses),
    )


def solve_l1(
    problem: LogisticProblem, strength: float, tolerance: float, max_iter: int
) -> LogisticSolution:
    r"""Solve with the sum of the sizes of the weights as penalty.

    Each weight is the difference of two that are not negative, whose sum is its size: what is
    left is smooth, with bounds, at which weights become exactly zero.

    Parameters
    ----------
    problem
        Two or more classes, without a penalty of its own.
    strength
        Factor of the penalty.
    tolerance
        Largest entry of the projected gradient of the mean loss at the end.
    max_iter
        Most steps.
    """
    n_outputs, n_weights = problem.shape
    size, scale = n_outputs * n_weights, problem.total_weight
    price = np.full(problem.shape, strength)
    price[:, 0] = 0.0

    def objective(halves: np.ndarray) -> tuple[float, np.ndarray]:
        upper, lower = halves[:size].reshape(problem.shape), halves[size:].reshape(problem.shape)
        value, gradient = problem.value_and_gradient(upper - lower)
        penalty = float((price * (upper + lower)).sum())
        both = np.concatenate([(gradient + price).ravel(), (price - gradient).ravel()])
        return (value + penalty) / scale, both / scale

    losses: list[float] = []
    found = minimize(
        objective,
        np.zeros(2 * size),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * (2 * size),
        callback=lambda intermediate_result: losses.append(intermediate_result.fun * scale),
        options={"maxiter": max_iter, "gtol": tolerance, "ftol": 2 * np.finfo(float).eps},
    )
    coefficients = (found.x[:size] - found.x[size:]).reshape(problem.shape)
    finished = bool(found.success or found.nit < max_iter)
    return LogisticSolution(coefficients, int(found.nit), finished, False, np.array(losses))


@dataclass(frozen=True)
class Whitening:
    """A linear change of inputs, written in terms of coefficients.

    Attributes
    ----------
    root
        Upper triangular root of the second moments of the augmented inputs, or None.
    """

    root: np.ndarray | None

    def to_weights(self, inner: np.ndarray) -> np.ndarray:
        """Return coefficients of the inputs from those of the whitened inputs."""
        if self.root is None:
            return inner
        return solve_triangular(self.root, inner.T, check_finite=False).T

    def to_inner(self, weights: np.ndarray) -> np.ndarray:
        """Return coefficients of the whitened inputs from those of the inputs."""
        return weights if self.root is None else weights @ self.root.T

    def to_gradient(self, gradient: np.ndarray) -> np.ndarray:
        """Return the gradient over the coefficients of the whitened inputs."""
        if self.root is None:
            return gradient
        return solve_triangular(self.root, gradient.T, trans="T", check_finite=False).T


def _whitening(problem: LogisticProblem) -> Whitening:
    if sp.issparse(problem.inputs):
        return Whitening(None)
    total = problem.total_weight
    rows = problem.inputs
    weights = np.ones(len(rows)) if problem.weights is None else problem.weights
    weighted = rows * weights[:, None] if problem.weights is not None else rows
    moments = np.empty((rows.shape[1] + 1, rows.shape[1] + 1))
    moments[0, 0] = total
    moments[0, 1:] = moments[1:, 0] = weighted.sum(axis=0)
    moments[1:, 1:] = weighted.T @ rows
    # The curvature of softmax is at most half the second moments, and that of the penalty adds.
    curvature = 0.5 * moments / total
    diagonal = np.diag_indices(len(curvature))
    curvature[diagonal] += problem.strength / total
    curvature[diagonal] += 1e-10 * max(float(curvature[diagonal].max()), 1e-300)
    try:
        return Whitening(cholesky(curvature))
    except np.linalg.LinAlgError:
        return Whitening(None)


def _solve_curvature(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return the Newton step; of several, where columns depend on one another, the shortest."""
    scales = np.sqrt(np.maximum(np.diag(hessian), 1e-300))
    scaled = hessian / np.outer(scales, scales)
    try:
        factor = cho_factor(scaled)
        diagonal = np.abs(np.diag(factor[0]))
        if diagonal.min() > 1e-7 * diagonal.max():
            return cho_solve(factor, gradient / scales) / scales
    except np.linalg.LinAlgError:
        pass
    return np.linalg.lstsq(scaled, gradient / scales, rcond=1e-12)[0] / scales
