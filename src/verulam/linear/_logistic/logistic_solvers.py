"""Solvers of logistic discrimination: Newton's method, L-BFGS in whitened inputs, and L1."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from verulam.linear._logistic.logistic_problem import LogisticProblem
from verulam.linear._training.column_products import is_compressed, weighted_products

#: Returns the step that a curvature asks for, given a gradient.
Solver = Callable[[np.ndarray], np.ndarray]

#: Halvings of a Newton step that makes the objective worse.
_MOST_HALVINGS = 30
#: Rows of a sample on which larger problems begin: at least so many, and so many for each weight.
_SAMPLE = 1_000
_SAMPLE_FOR_EACH_WEIGHT = 60
#: How many times more rows than its sample a large problem has.
_LARGE_SAMPLES = 4
#: A sample is solved no further than its own chance deviation from the whole.
_SAMPLE_TOLERANCE = 1e-3
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


def solve_newton(problem: LogisticProblem, tolerance: float, max_iter: int) -> LogisticSolution:
    """Solve two classes by Newton's method with halved steps: iteratively reweighted squares.

    Large problems begin with the solution and the curvature of a sample.

    Parameters
    ----------
    problem
        Two classes.
    tolerance
        Largest entry of the gradient of the mean loss at the end.
    max_iter
        Most steps.
    """
    start, losses = np.zeros(problem.shape), []
    size = _sample_size(problem)
    if size:
        sample = problem.sample(size)
        found = solve_newton(sample, max(tolerance, _SAMPLE_TOLERANCE), max_iter)
        if found.hessian is not None and not found.separated:
            scale = problem.total_weight / max(sample.total_weight, 1e-300)
            near = _with_curvature(problem, found.coefficients, scale * found.hessian, tolerance)
            if near.converged:
                return near
            start, losses = near.coefficients, near.losses.tolist()
    return _newton_steps(problem, start, losses, tolerance, max_iter)


def _newton_steps(
    problem: LogisticProblem,
    coefficients: np.ndarray,
    losses: list[float],
    tolerance: float,
    max_iter: int,
) -> LogisticSolution:
    """Take Newton steps from given coefficients, after those whose losses are given."""
    bound = tolerance * problem.total_weight
    value, gradient, hessian = problem.newton_terms(coefficients)
    losses, n_iter = losses or [value], 0
    while np.abs(gradient).max() > bound and n_iter < max_iter:
        n_iter += 1
        step = curvature_solver(hessian)(gradient)
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
        if problem.strength == 0 and value < _CERTAIN * problem.total_weight:
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
    size = max(_SAMPLE, _SAMPLE_FOR_EACH_WEIGHT * int(np.prod(problem.shape)))
    return size if len(problem.codes) >= _LARGE_SAMPLES * size else 0


def _with_curvature(
    problem: LogisticProblem, start: np.ndarray, hessian: np.ndarray, tolerance: float
) -> LogisticSolution:
    """Take steps with the curvature of a sample, improved by the gradients met on the way.

    Such a step costs no pass over all products. They end where the gradient is within the bound,
    or as soon as one does not shrink it to less than half: the full curvature is worth its price
    from there on.
    """
    bound = tolerance * problem.total_weight
    solve = curvature_solver(hessian)
    coefficients = start
    value, gradient = problem.value_and_gradient(coefficients)
    losses, size = [value], float(np.abs(gradient).max())
    memory: list[tuple[np.ndarray, np.ndarray]] = []
    while size > bound:
        step = -improved_step(solve, memory, gradient[0])
        moved = coefficients + step
        value, after = problem.value_and_gradient(moved)
        after_size = float(np.abs(after).max())
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


def improved_step(
    solve: Solver, memory: list[tuple[np.ndarray, np.ndarray]], gradient: np.ndarray
) -> np.ndarray:
    """Return the step of a curvature that is corrected by what earlier steps have shown.

    Parameters
    ----------
    solve
        Returns the step of the first curvature for a gradient.
    memory
        Steps taken and the changes of the gradient that came of them, the oldest first.
    gradient
        Where the step begins.

    Notes
    -----
    The two loops of limited-memory BFGS.
    """
    step, shares = gradient, []
    for moved, change in reversed(memory):
        shares.append(moved @ step / (moved @ change))
        step = step - shares[-1] * change
    step = solve(step)
    for (moved, change), share in zip(memory, reversed(shares), strict=True):
        step = step + moved * (share - change @ step / (moved @ change))
    return step


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
    size = _sample_size(problem)
    if size:
        found_on_sample = solve_lbfgs(
            problem.sample(size), max(tolerance, _SAMPLE_TOLERANCE), max_iter
        )
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
    value = float(found.fun) * scale
    return LogisticSolution(
        whitening.to_weights(found.x.reshape(problem.shape)),
        int(found.nit),
        # The line search may give up at the limit of rounding, short of the tolerance.
        bool(found.success or np.abs(found.jac).max() <= 10 * tolerance),
        value < _CERTAIN * scale,
        value,
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
    value = problem.value(coefficients)
    return LogisticSolution(coefficients, int(found.nit), finished, False, value, np.array(losses))


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
    if is_compressed(problem.inputs):
        return Whitening(None, None)
    total = problem.total_weight
    weights = np.ones(len(problem.codes)) if problem.weights is None else problem.weights
    # The curvature of softmax is at most half the second moments, and that of the penalty adds.
    curvature = 0.5 * weighted_products(problem.inputs, weights) / total
    diagonal = np.diag_indices(len(curvature))
    curvature[diagonal] += problem.strength / total
    curvature[diagonal] += 1e-10 * max(float(curvature[diagonal].max()), 1e-300)
    try:
        root = np.linalg.cholesky(curvature).T
        return Whitening(root, np.linalg.inv(root))
    except np.linalg.LinAlgError:
        return Whitening(None, None)


def curvature_solver(hessian: np.ndarray) -> Solver:
    """Return Newton's step of a gradient; of several, for dependent columns, the shortest."""
    scales = np.sqrt(np.maximum(np.diag(hessian), 1e-300))
    scaled = hessian / np.outer(scales, scales)
    try:
        factor = cho_factor(scaled)
        diagonal = np.abs(np.diag(factor[0]))
        if diagonal.min() > 1e-7 * diagonal.max():
            return lambda gradient: cho_solve(factor, gradient / scales) / scales
    except np.linalg.LinAlgError:
        pass
    return lambda gradient: np.linalg.lstsq(scaled, gradient / scales, rcond=1e-12)[0] / scales
