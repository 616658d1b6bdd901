"""Two-class machines: soft margin by cost, by share of errors, and hard margin."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from verulam.base import DataError, thread_map
from verulam.kernel._solvers.dual import DualProblem, DualSolution, solve_dual
from verulam.kernel._solvers.dual_problems import (
    classification_problem,
    hull_problem,
    nu_classification_problem,
)
from verulam.kernel._solvers.row_cache import RowCache
from verulam.kernel._solvers.subspace_acceleration import Bounds, restore_sums

#: Squared distance of the hulls, relative to the size of the kernel, that counts as touching.
TOUCHING = 1e-9
#: Share of coefficients at their bound from which they are taken along to the next bound.
MOSTLY_BOUNDED = 2.0 / 3.0
#: Fewer rows than these are not worth a second thread.
CHAINED_ROWS = 1000


class NotSeparableError(DataError):
    """No plane of the kernel's space separates the classes.

    Attributes
    ----------
    certificate : ndarray of shape (n_samples,)
        Shares, summing to one within each class, whose mixtures of the two classes are the same
        point of the kernel's space.

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
    bias
        The number :math:`b`.
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
    bias: float
    margin: float
    dual_objective: float
    solution: DualSolution

    @property
    def margin_width(self) -> float:
        r"""Distance :math:`2 / \|w\|` between both borders of the margin."""
        return 2.0 * self.margin


@dataclass(frozen=True)
class SolverOptions:
    """When the solver stops.

    Attributes
    ----------
    tolerance
        Largest violation of the conditions of optimality.
    max_iter
        Most blocks.
    bias
        Whether the plane may be off the origin.
    """

    tolerance: float
    max_iter: int
    bias: bool = True


def cost_machine(
    cache: RowCache,
    signs: np.ndarray,
    costs: np.ndarray,
    options: SolverOptions,
    previous: tuple[DualSolution, float] | None = None,
) -> BinaryMachine:
    """Return the machine with a cost of slack.

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
    previous
        Solution for costs that are smaller or larger by one factor, and that factor.
    """
    products = None
    problem = classification_problem(signs, costs, bias=options.bias)
    if previous is not None:
        start, products = _next_start(problem, cache, *previous)
        problem = replace(problem, start=start)
    solution = solve_dual(
        problem, cache, tolerance=options.tolerance, max_iter=options.max_iter, products=products
    )
    return _machine(solution, float(solution.levels[0]), 1.0)


def cost_machines(
    cache: RowCache,
    signs: np.ndarray,
    weights: np.ndarray,
    costs: Sequence[float],
    options: SolverOptions,
) -> list[BinaryMachine]:
    """Return the machine for each of several rising costs, each from the solution of the last.

    Where all kernel rows can be held, the largest costs, which take longest, are a chain of their
    own in a second thread. Who belongs to it does not depend on how many threads there are.
    """

    def chain(part: int) -> list[BinaryMachine]:
        machines: list[BinaryMachine] = []
        for place, cost in enumerate(chains[part]):
            last = (machines[-1].solution, cost / chains[part][place - 1]) if machines else None
            machines.append(cost_machine(cache, signs, cost * weights, options, last))
        return machines

    own = len(costs) // 4
    if own and not (len(signs) >= CHAINED_ROWS and cache.compute_all()):
        own = 0
    chains = [costs[: len(costs) - own], costs[len(costs) - own :]]
    return [each for machines in thread_map(chain, range(1 + (own > 0))) for each in machines]


def _next_start(
    problem: DualProblem, cache: RowCache, solution: DualSolution, factor: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return a start from the solution for costs smaller by `factor`, and its products.

    Where most coefficients are at their bound, they go with it and free ones stay where they are.
    Where fewer are, many of them will be free at the larger cost, so that all stay.
    """
    last = solution.coefficients
    full = np.where(last > 0.0, problem.upper, problem.lower)
    bounded = (last != 0.0) & np.isclose(factor * last, full, rtol=1e-12, atol=0.0)
    most = bounded.sum() > MOSTLY_BOUNDED * np.count_nonzero(last)
    start = np.clip(np.where(bounded & most, full, last), problem.lower, problem.upper)
    everyone = np.arange(len(last))
    groups = None if problem.constraint == "none" else np.zeros_like(everyone)
    bounds = Bounds(problem.linear, problem.lower, problem.upper, everyone, groups)
    if not restore_sums(start, np.zeros_like(start), bounds):
        start = np.clip(factor * last, problem.lower, problem.upper)
    scale = factor if most else 1.0
    products = scale * solution.products
    change = start - scale * last
    moved = np.flatnonzero(change)
    cache.add_products(moved, change[moved], products)
    return start, products


def nu_machine(
    cache: RowCache, signs: np.ndarray, nu: float, weights: np.ndarray, options: SolverOptions
) -> BinaryMachine:
    """Return the machine with a share `nu` of margin errors, scaled to a margin of one."""
    problem = nu_classification_problem(signs, nu, weights)
    solution = solve_dual(
        problem,
        cache,
        # Slopes are smaller than those of costs by the number of rows.
        tolerance=options.tolerance * nu * float(problem.upper.max() - problem.lower.min()) / 2,
        max_iter=options.max_iter,
    )
    first, second = solution.levels
    radius = 0.5 * (second - first)
    if radius <= 0:
        raise DataError(
            f"nu={nu:g} leaves no margin on these data: the nearest mixtures of the classes "
            "coincide. Take a larger nu or a richer kernel."
        )
    return _machine(solution, 0.5 * (first + second), 1.0 / radius)


def hard_machine(
    cache: RowCache, signs: np.ndarray, usable: np.ndarray, options: SolverOptions
) -> BinaryMachine:
    """Return the machine without slack, or raise `NotSeparableError` with the certificate.

    It is the plane halfway between the nearest points of the two convex hulls.
    """
    problem = hull_problem(signs, usable)
    scale = float(cache.diagonal.max(initial=0.0)) or 1.0
    tolerance, solution = options.tolerance * scale, None
    while True:
        if solution is not None:
            problem = replace(problem, start=solution.coefficients)
        solution = solve_dual(problem, cache, tolerance=tolerance, max_iter=options.max_iter)
        square = 2.0 * solution.objective
        if square <= TOUCHING * scale:
            raise NotSeparableError(
                "the classes are not separable in the space of this kernel: mixtures of both (see "
                "the error's certificate) lie at a squared distance of "
                f"{max(square, 0.0):.3g}. Use a soft margin, or a richer kernel.",
                np.abs(solution.coefficients),
            )
        if tolerance <= 0.5 * options.tolerance * square or not solution.converged:
            break
        tolerance = max(0.25 * options.tolerance * square, 1e-13 * scale)
        if tolerance <= 1e-13 * scale:
            break
    first, second = solution.levels
    return _machine(solution, 0.5 * (first + second), 2.0 / (second - first))


def _machine(solution: DualSolution, bias: float, factor: float) -> BinaryMachine:
    coefficients = factor * solution.coefficients
    square = factor**2 * float(solution.coefficients @ solution.products)
    return BinaryMachine(
        coefficients=coefficients,
        bias=float(factor * bias),
        margin=float(1.0 / square**0.5) if square > 0 else np.inf,
        dual_objective=float(np.abs(coefficients).sum() - 0.5 * square),
        solution=solution,
    )
