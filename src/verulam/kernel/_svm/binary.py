"""Two-class support vector machines: C-SVM, nu-SVM and hard margin."""

from dataclasses import dataclass, replace

import numpy as np

from verulam.base import DataError
from verulam.kernel._solvers.dual import DualSolution, solve_dual
from verulam.kernel._solvers.dual_problems import (
    DualProblem,
    classification_problem,
    hull_problem,
    nu_classification_problem,
    nu_origin_problem,
    origin_problem,
)
from verulam.kernel._solvers.row_cache import RowCache, signed_cache

#: Squared distance of the hulls, relative to the size of the kernel, that counts as touching.
TOUCHING = 1e-9
#: Tolerance, relative to the size of the kernel, below which gradients are rounding.
FINEST = 1e-13


class NotSeparableError(DataError):
    """No plane of the kernel's space separates the classes.

    Attributes
    ----------
    certificate : ndarray of shape (n_samples,)
        Shares, summing to one within each class, whose mixtures of the two classes are the same
        point of the kernel's space. Without an intercept they sum to one over both classes, and
        what they mix of one class is what they mix of the other.

    Examples
    --------
    >>> from verulam.kernel import NotSeparableError, SupportVectorClassifier
    >>> machine = SupportVectorClassifier(kernel="linear", form="hard")
    >>> try:
    ...     machine.fit([[0.0], [1.0], [2.0]], ["a", "b", "a"])
    ... except NotSeparableError as error:
    ...     print(error.certificate)
    [0.5 1.  0.5]
    """

    def __init__(self, message: str, certificate: np.ndarray) -> None:
        super().__init__(message)
        self.certificate = certificate


@dataclass(frozen=True, eq=False)
class BinaryMachine:
    r"""A two-class machine :math:`g(x) = \sum_t \beta^t K(x^t, x) + b`.

    Attributes
    ----------
    coefficients : ndarray of shape (n_samples,)
        :math:`\beta^t = \alpha^t r^t`, positive for the second class.
    intercept
        The bias :math:`b`.
    margin
        Distance :math:`1 / \|w\|` of either border of the margin from the boundary; both
        borders are twice as far apart, see `margin_width`.
    dual_objective
        :math:`\sum_t \alpha^t - \frac{1}{2} \|w\|^2`, of the scale in which the border of the
        margin has :math:`|g| = 1`.
    solution
        The solver's report.
    """

    coefficients: np.ndarray
    intercept: float
    margin: float
    dual_objective: float
    solution: DualSolution

    @property
    def margin_width(self) -> float:
        r"""Distance :math:`2 / \|w\|` between both borders of the margin."""
        return 2.0 * self.margin


@dataclass(frozen=True, eq=False)
class WarmStart:
    r"""Where the solver of a machine begins.

    Attributes
    ----------
    coefficients
        Feasible coefficients.
    K_beta
        Their product with the Gram matrix.
    """

    coefficients: np.ndarray
    K_beta: np.ndarray


@dataclass(frozen=True)
class SolverOptions:
    """When the solver stops, and whether machines have a bias.

    Attributes
    ----------
    tol
        Largest violation of the KKT conditions.
    max_iter
        Most working sets.
    fit_intercept
        Whether the plane may be off the origin of the kernel's space.
    """

    tol: float
    max_iter: int
    fit_intercept: bool = True


def cost_machine(
    cache: RowCache,
    signs: np.ndarray,
    costs: np.ndarray,
    options: SolverOptions,
    warm_start: WarmStart | None = None,
) -> BinaryMachine:
    """Return the machine with a cost of slack (C-SVM).

    Parameters
    ----------
    cache
        Source of kernel rows.
    signs
        Class of each input, -1 or 1.
    costs
        Cost of each input's slack.
    options
        When to stop.
    warm_start
        Where to begin; at zero if None.
    """
    init = None if warm_start is None else warm_start.coefficients
    solution = solve_dual(
        classification_problem(signs, costs, init, fit_intercept=options.fit_intercept),
        cache,
        tol=options.tol,
        max_iter=options.max_iter,
        K_beta=None if warm_start is None else warm_start.K_beta,
    )
    return _machine(solution, float(solution.equality_multipliers[0]), 1.0)


def nu_machine(
    cache: RowCache, signs: np.ndarray, nu: float, weights: np.ndarray, options: SolverOptions
) -> BinaryMachine:
    """Return the machine with a share `nu` of margin errors (nu-SVM), scaled to a margin of one."""
    if not options.fit_intercept:
        return _nu_machine_through_origin(cache, signs, nu, weights, options)
    problem = nu_classification_problem(signs, nu, weights)
    solution = solve_dual(
        problem,
        cache,
        # Gradients are smaller than those of costs by the number of rows.
        tol=options.tol * nu * float(problem.upper.max() - problem.lower.min()) / 2,
        max_iter=options.max_iter,
    )
    # Support vectors inside the box have outputs of rho and -rho: the multiplier of the sum is
    # b - rho for the positive class, and b + rho for the negative one.
    positive, negative = solution.equality_multipliers
    rho = 0.5 * (negative - positive)
    if rho <= 0:
        raise _no_margin(nu)
    return _machine(solution, 0.5 * (positive + negative), 1.0 / rho)


def _nu_machine_through_origin(
    cache: RowCache, signs: np.ndarray, nu: float, weights: np.ndarray, options: SolverOptions
) -> BinaryMachine:
    problem = nu_origin_problem(nu, weights)
    solution = solve_dual(
        problem,
        signed_cache(cache, signs),
        tol=options.tol * nu * float(problem.upper.max()),
        max_iter=options.max_iter,
    )
    rho = -float(solution.equality_multipliers[0])
    if rho <= 0:
        raise _no_margin(nu)
    return _machine(_with_signs(solution, signs), 0.0, 1.0 / rho)


def _no_margin(nu: float) -> DataError:
    return DataError(
        f"nu={nu:g} leaves no margin on these data: the nearest mixtures of the classes "
        "coincide. Take a larger nu or a richer kernel."
    )


def hard_machine(
    cache: RowCache, signs: np.ndarray, usable: np.ndarray, options: SolverOptions
) -> BinaryMachine:
    """Return the machine without slack, or raise `NotSeparableError` with the certificate.

    It is the plane halfway between the nearest points of the two convex hulls; without an
    intercept, the plane across the way from the origin to the nearest point of the hull of the
    signed rows, those of the negative class mirrored in the origin.
    """
    if not options.fit_intercept:
        nearest = _nearest_points(origin_problem(usable), signed_cache(cache, signs), options)
        solution = _with_signs(nearest, signs)
        squared_distance = float(solution.coefficients @ solution.K_beta)
        return _machine(solution, 0.0, 1.0 / squared_distance)
    solution = _nearest_points(hull_problem(signs, usable), cache, options)
    positive, negative = solution.equality_multipliers
    return _machine(solution, 0.5 * (positive + negative), 2.0 / (negative - positive))


def _nearest_points(problem: DualProblem, cache: RowCache, options: SolverOptions) -> DualSolution:
    """Return the nearest points of hulls; raise `NotSeparableError` if these touch."""
    # Squared distances of the hulls are in units of squared lengths.
    scale = float(cache.diagonal.max(initial=0.0)) or 1.0
    tol, solution = options.tol * scale, None
    # The margin, which tol is a share of, is known from the solution only: from coarse to fine,
    # each time from the last solution.
    while True:
        if solution is not None:
            problem = replace(problem, init=solution.coefficients)
        solution = solve_dual(problem, cache, tol=tol, max_iter=options.max_iter)
        squared_distance = 2.0 * solution.objective
        if squared_distance <= TOUCHING * scale:
            raise NotSeparableError(
                "the classes are not separable "
                f"{'' if options.fit_intercept else 'by a plane through the origin '}"
                "in the space of this kernel: mixtures of both (see "
                "the error's certificate) lie at a squared distance of "
                f"{max(squared_distance, 0.0):.3g}. Use a soft margin, or a richer kernel.",
                np.abs(solution.coefficients),
            )
        if tol <= 0.5 * options.tol * squared_distance or not solution.converged:
            return solution
        tol = 0.25 * options.tol * squared_distance
        if tol <= FINEST * scale:
            return solution


def _with_signs(solution: DualSolution, signs: np.ndarray) -> DualSolution:
    """Return the solution on signed rows in terms of the rows as they are."""
    return replace(
        solution, coefficients=signs * solution.coefficients, K_beta=signs * solution.K_beta
    )


def _machine(solution: DualSolution, intercept: float, factor: float) -> BinaryMachine:
    """Return the machine in the canonical scale: the border of the margin has an output of 1."""
    coefficients = factor * solution.coefficients
    squared_norm = factor**2 * float(solution.coefficients @ solution.K_beta)
    return BinaryMachine(
        coefficients=coefficients,
        intercept=float(factor * intercept),
        margin=float(1.0 / squared_norm**0.5) if squared_norm > 0 else np.inf,
        dual_objective=float(np.abs(coefficients).sum() - 0.5 * squared_norm),
        solution=solution,
    )
