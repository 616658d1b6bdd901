"""Solvers of logistic discrimination: Newton's method, L-BFGS in whitened inputs, and L1."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from verulam.linear._logistic.logistic_problem import LogisticProblem
from verulam.linear._training.tables import is_sparse, weighted_gram
from verulam.linear._tuning import (
    LARGE_SAMPLES,
    SAMPLE_ROWS,
    SAMPLE_ROWS_PER_WEIGHT,
    SAMPLE_TOL,
)

#: Returns the step that a curvature asks for, given a gradient.
Solver = Callable[[np.ndarray], np.ndarray]

#: Halvings of a Newton step that makes the objective worse.
_MOST_HALVINGS = 30
#: Sums of losses that differ by less than this factor are equal up to rounding.
_ROUNDING = 1.0 + 1e-13
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
    value
        Objective of the problem at the coefficients.
    losses
        What is made small, after each step.
    hessian
        Curvature at the coefficients, where the solver has it.
    """

    coefficients: np.ndarray
    n_iter: int
    converged: bool
    separated: bool
    value: float
    losses: np.ndarray
    hessian: np.ndarray | None = None


def solve_newton(problem: LogisticProblem, tol: float, max_iter: int) -> LogisticSolution:
    """Solve two classes by damped Newton steps: iteratively reweighted least squares.

    Large problems have a warm start: the solution and the Hessian of a sample.

    Parameters
    ----------
    problem
        Two classes.
    tol
        Largest entry of the gradient of the mean loss at the end.
    max_iter
        Most steps.
    """
    start, losses = np.zeros(problem.shape), []
    size = _sample_size(problem)
    if size:
        sample = problem.sample(size)
        on_sample = solve_newton(sample, max(tol, SAMPLE_TOL), max_iter)
        if on_sample.hessian is not None and not on_sample.separated:
            # The Hessian is a sum over rows, so that of a sample is a share of the whole.
            scale = problem.total_weight / max(sample.total_weight, 1e-300)
            near = _quasi_newton_steps(
                problem, on_sample.coefficients, scale * on_sample.hessian, tol
            )
            if near.converged:
                return near
            start, losses = near.coefficients, near.losses.tolist()
    return _newton_steps(problem, start, losses, tol, max_iter)


def _newton_steps(
    problem: LogisticProblem,
    coefficients: np.ndarray,
    losses: list[float],
    tol: float,
    max_iter: int,
) -> LogisticSolution:
    """Take Newton steps from given coefficients, after those whose losses are given."""
    bound = tol * problem.total_weight
    value, gradient, hessian = problem.newton_terms(coefficients)
    losses, n_iter = losses or [value], 0
    while np.abs(gradient).max() > bound and n_iter < max_iter:
        n_iter += 1
        step = hessian_solver(hessian)(gradient)
        moved = coefficients - step
        terms = problem.newton_terms(moved)
        for _ in range(_MOST_HALVINGS):
            if terms[0] <= _ROUNDING * value:
                break
            step = step / 2
            moved = coefficients - step
            terms = problem.newton_terms(moved)
        coefficients = moved
        value, gradient, hessian = terms
        losses.append(value)
        # Separable classes without a penalty have no maximum: weights would grow for ever.
        if problem.alpha == 0 and value < _CERTAIN * problem.total_weight:
            break
    return LogisticSolution(
        coefficients,
        max(len(losses) - 1, 1),
        bool(np.abs(gradient).max() <= bound),
        value < _CERTAIN * problem.total_weight,
        value,
        np.array(losses),
        hessian,
    )


def _sample_size(problem: LogisticProblem) -> int:
    """Return the rows of a sample to begin with, zero where the problem is too small for one."""
    size = max(SAMPLE_ROWS, SAMPLE_ROWS_PER_WEIGHT * int(np.prod(problem.shape)))
    return size if len(problem.codes) >= LARGE_SAMPLES * size else 0


def _quasi_newton_steps(
    problem: LogisticProblem, start: np.ndarray, hessian: np.ndarray, tol: float
) -> LogisticSolution:
    """Take quasi-Newton steps from the Hessian of a sample, improved by the gradients on the way.

    Such a step forms no Hessian of all rows. They end where the gradient is within the bound,
    or as soon as one does not shrink it to less than half: the full Hessian is worth its cost from
    there on.
    """
    bound = tol * problem.total_weight
    solve = hessian_solver(hessian)
    coefficients = start
    value, gradient = problem.value_and_gradient(coefficients)
    losses, size = [value], float(np.abs(gradient).max())
    memory: list[tuple[np.ndarray, np.ndarray]] = []
    while size > bound:
        step = -lbfgs_step(solve, memory, gradient[0])
        moved = coefficients + step
        value, after = problem.value_and_gradient(moved)
        after_size = float(np.abs(after).max())
        # A step that does not halve the gradient shows that the sample's Hessian is exhausted.
        if not (value <= _ROUNDING * losses[-1] and after_size < size / 2):
            break
        memory.append((step, (after - gradient)[0]))
        coefficients, gradient, size = moved, after, after_size
        losses.append(value)
    return LogisticSolution(
        coefficients,
        max(len(losses) - 1, 1),
        size <= bound,
        losses[-1] < _CERTAIN * problem.total_weight,
        losses[-1],
        np.array(losses),
    )


def lbfgs_step(
    solve: Solver, memory: list[tuple[np.ndarray, np.ndarray]], gradient: np.ndarray
) -> np.ndarray:
    """Return a quasi-Newton step: the two-loop recursion of limited-memory BFGS.

    Parameters
    ----------
    solve
        Returns the step of the first Hessian for a gradient.
    memory
        Steps taken and the changes of the gradient that came of them, the oldest first.
    gradient
        Where the step begins.

    """
    step, shares = gradient, []
    for moved, change in reversed(memory):
        shares.append(moved @ step / (moved @ change))
        step = step - shares[-1] * change
    step = solve(step)
    for (moved, change), share in zip(memory, reversed(shares), strict=True):
        step = step + moved * (share - change @ step / (moved @ change))
    return step


def solve_lbfgs(problem: LogisticProblem, tol: float, max_iter: int) -> LogisticSolution:
    r"""Solve any number of classes by L-BFGS.

    Dense inputs are whitened first, by which the curvature becomes nearly the same in all
    directions and far fewer steps are needed; the solution is the same.

    Parameters
    ----------
    problem
        Two or more classes.
    tol
        Largest entry of the gradient of the mean loss at the end.
    max_iter
        Most steps.
    """
    whitening = _whitening(problem)
    losses: list[float] = []
    start = np.zeros(problem.shape)
    size = _sample_size(problem)
    if size:
        on_sample = solve_lbfgs(problem.sample(size), max(tol, SAMPLE_TOL), max_iter)
        if not on_sample.separated:
            start = whitening.to_inner(on_sample.coefficients)

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        inner = flat.reshape(problem.shape)
        # The mean loss: tolerances then do not depend on the number of rows.
        value, gradient = problem.value_and_gradient(whitening.to_weights(inner))
        return value / scale, (whitening.to_gradient(gradient) / scale).ravel()

    scale = problem.total_weight
    optimum = minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: losses.append(intermediate_result.fun * scale),
        options={"maxiter": max_iter, "gtol": tol, "ftol": 64 * np.finfo(float).eps},
    )
    value = float(optimum.fun) * scale
    return LogisticSolution(
        whitening.to_weights(optimum.x.reshape(problem.shape)),
        int(optimum.nit),
        # The line search may give up at the limit of rounding, short of the tolerance.
        bool(optimum.success or np.abs(optimum.jac).max() <= 10 * tol),
        value < _CERTAIN * scale,
        value,
        np.array(losses),
    )


def solve_l1(problem: LogisticProblem, alpha: float, tol: float, max_iter: int) -> LogisticSolution:
    r"""Solve with an L1 penalty: the sum of the sizes of the weights.

    Each weight is the difference of two that are not negative, whose sum is its size: what is
    left is smooth, with bounds, at which weights become exactly zero.

    Parameters
    ----------
    problem
        Two or more classes, without a penalty of its own.
    alpha
        Factor of the penalty.
    tol
        Largest entry of the projected gradient of the mean loss at the end.
    max_iter
        Most steps.
    """
    n_outputs, n_weights = problem.shape
    size, scale = n_outputs * n_weights, problem.total_weight
    penalties = np.full(problem.shape, alpha)
    # The bias is free.
    penalties[:, 0] = 0.0

    def objective(halves: np.ndarray) -> tuple[float, np.ndarray]:
        upper, lower = halves[:size].reshape(problem.shape), halves[size:].reshape(problem.shape)
        value, gradient = problem.value_and_gradient(upper - lower)
        penalty = float((penalties * (upper + lower)).sum())
        # At most one of a weight's two halves is above zero at the optimum, for both cost.
        both = np.concatenate([(gradient + penalties).ravel(), (penalties - gradient).ravel()])
        return (value + penalty) / scale, both / scale

    losses: list[float] = []
    optimum = minimize(
        objective,
        np.zeros(2 * size),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * (2 * size),
        callback=lambda intermediate_result: losses.append(intermediate_result.fun * scale),
        options={"maxiter": max_iter, "gtol": tol, "ftol": 2 * np.finfo(float).eps},
    )
    coefficients = (optimum.x[:size] - optimum.x[size:]).reshape(problem.shape)
    finished = bool(optimum.success or optimum.nit < max_iter)
    value = problem.value(coefficients)
    return LogisticSolution(
        coefficients, int(optimum.nit), finished, False, value, np.array(losses)
    )


@dataclass(frozen=True)
class Whitening:
    """A linear change of inputs, written in terms of coefficients.

    Attributes
    ----------
    root
        Upper triangular root of the second moments of the augmented inputs, or None.
    inverse
        Its inverse. Products with it stay within NumPy: SciPy's solver has threads of its own,
        which keep a processor busy for a while after each call.
    """

    root: np.ndarray | None
    inverse: np.ndarray | None

    def to_weights(self, inner: np.ndarray) -> np.ndarray:
        """Return coefficients of the inputs from those of the whitened inputs."""
        return inner if self.inverse is None else inner @ self.inverse.T

    def to_inner(self, weights: np.ndarray) -> np.ndarray:
        """Return coefficients of the whitened inputs from those of the inputs."""
        return weights if self.root is None else weights @ self.root.T

    def to_gradient(self, gradient: np.ndarray) -> np.ndarray:
        """Return the gradient over the coefficients of the whitened inputs."""
        return gradient if self.inverse is None else gradient @ self.inverse


def _whitening(problem: LogisticProblem) -> Whitening:
    if is_sparse(problem.inputs):
        return Whitening(None, None)
    total = problem.total_weight
    weights = np.ones(len(problem.codes)) if problem.weights is None else problem.weights
    # The curvature of softmax is at most half the second moments, and that of the penalty adds.
    curvature = 0.5 * weighted_gram(problem.inputs, weights) / total
    diagonal = np.diag_indices(len(curvature))
    curvature[diagonal] += problem.alpha / total
    # A trace of ridge, so that dependent columns do not stop the factorisation.
    curvature[diagonal] += 1e-10 * max(float(curvature[diagonal].max()), 1e-300)
    try:
        root = np.linalg.cholesky(curvature).T
        return Whitening(root, np.linalg.inv(root))
    except np.linalg.LinAlgError:
        return Whitening(None, None)


def hessian_solver(hessian: np.ndarray) -> Solver:
    """Return Newton's step of a gradient; of several, for dependent columns, the shortest."""
    # Columns in one size: whether the Hessian is singular must not depend on their units.
    scales = np.sqrt(np.maximum(np.diag(hessian), 1e-300))
    scaled = hessian / np.outer(scales, scales)
    try:
        factor = cho_factor(scaled)
        diagonal = np.abs(np.diag(factor[0]))
        # A nearly singular matrix has a Cholesky factor, too, but solutions full of rounding.
        if diagonal.min() > 1e-7 * diagonal.max():
            return lambda gradient: cho_solve(factor, gradient / scales) / scales
    except np.linalg.LinAlgError:
        pass
    return lambda gradient: np.linalg.lstsq(scaled, gradient / scales, rcond=1e-12)[0] / scales
