"""One solver for the duals of all machines: a quadratic program in a box."""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from verulam.base import one_blas_thread
from verulam.kernel._kernels.polynomial import Linear
from verulam.kernel._solvers.dual_loops import FREE, GROUPS, TOTAL, solve_block
from verulam.kernel._solvers.linear import linear_start
from verulam.kernel._solvers.row_cache import BLOCK, RowCache
from verulam.kernel._solvers.subspace_acceleration import Bounds, Leaps

#: Steps within a block, per variable of it.
STEPS = 40
#: A block is solved until its violation is this share of the one that it was chosen for.
SHARE = 0.2
#: The same where all fit into the block that may have to move.
SMALL_SHARE = 0.02
#: Coefficients enter a block that would violate the conditions of optimality if slopes changed by
#: this share of the worst violation.
NEAR = 0.3

CONSTRAINTS = {"none": FREE, "total": TOTAL, "simplex": TOTAL, "groups": GROUPS}


@dataclass(frozen=True, eq=False)
class DualProblem:
    r"""A quadratic program in a box, with at most one or two sums to keep.

    .. math:: \min_\beta \tfrac{1}{2} \beta^T K \beta + c^T \beta
              \quad\text{with}\quad l \le \beta \le u

    Attributes
    ----------
    linear
        The vector :math:`c`.
    lower, upper
        Bounds of the coefficients.
    start
        Feasible coefficients, whose sums are kept.
    constraint
        "none", "total" (the sum is kept), "simplex" (the same, with bounds of zero and infinity)
        or "groups" (the sum is kept within each group).
    owners : ndarray or None
        Input that each coefficient belongs to, where inputs have several; None where each has one.
    groups : ndarray or None
        Group, 0 or 1, of each coefficient.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    start: np.ndarray
    constraint: str = "total"
    owners: np.ndarray | None = None
    groups: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class DualSolution:
    r"""Where the solver came to rest, and how good that is.

    Attributes
    ----------
    coefficients
        The solution :math:`\beta`.
    products : ndarray of shape (n_inputs,)
        :math:`K \beta`, the value of the expansion at each training input.
    levels
        Multiplier of the sum, or of each group's sum.
    objective
        Value of the program.
    gap
        Value minus that of the dual program at the same point: an upper bound of what is lacking.
    violation
        Largest violation of the conditions of optimality.
    n_iter
        Blocks that were solved.
    n_steps
        Steps within them.
    n_rows
        Kernel rows that were computed.
    converged
        Whether the violation is below the tolerance.
    """

    coefficients: np.ndarray
    products: np.ndarray
    levels: np.ndarray
    objective: float
    gap: float
    violation: float
    n_iter: int
    n_steps: int
    n_rows: int
    converged: bool


# The products here are small, and BLAS's threads would wait for one another longer than they work.
@one_blas_thread()
def solve_dual(
    problem: DualProblem,
    cache: RowCache,
    *,
    tolerance: float = 1e-3,
    max_iter: int = 100_000,
    products: np.ndarray | None = None,
    block: int = BLOCK,
) -> DualSolution:
    r"""Solve a dual program by blocks of coefficients.

    The most violating coefficients enter the block, their kernel rows are computed by one matrix
    product, and the program is solved within the block by steps of second order, while the rest
    is left out; then all gradients are brought up to date at once, and a leap is made along the
    last moves (see `Leaps`). Linear kernels begin with a descent along coordinates that needs no
    kernel values (see `linear_start`), after which little or nothing is left to do.

    Parameters
    ----------
    problem
        The program.
    cache
        Source of kernel rows.
    tolerance
        Largest violation of the conditions of optimality at the end.
    max_iter
        Most blocks.
    products
        :math:`K \beta` of the start, if known.
    block
        Coefficients in a block, half of them new each time.
    """
    values = problem.start.astype(np.float64)
    owners = np.arange(len(values)) if problem.owners is None else problem.owners
    groups = np.zeros(len(values), dtype=np.int64) if problem.groups is None else problem.groups
    constraint = CONSTRAINTS[problem.constraint]
    block = max(2, min(block, cache.most_rows))
    rows_before, n_steps, n_iter = cache.n_computed, 0, 0
    if products is None and isinstance(cache.kernel, Linear):
        near = linear_start(problem, owners, cache.inputs, tolerance)
        values = values if near is None else near
    products = _start_products(values, owners, cache) if products is None else products.copy()
    recent = np.empty(0, dtype=np.int64)
    # What one block holds needs no leaps.
    leaps = _leaps(problem, owners, groups, cache) if len(values) > block else None
    while True:
        slopes = -problem.linear - products[owners]
        violation = _violation(problem, values, slopes, groups)
        if violation <= tolerance or n_iter >= max_iter:
            break
        recent = _choose(problem, values, slopes, groups, recent, block)
        # In the order of the rows, so that their entries are read one after another.
        chosen = np.sort(recent)
        inputs = owners[chosen]
        slots = cache.slots(inputs)
        before = values[chosen]
        after = before.copy()
        n_steps += solve_block(
            cache.rows,
            slots,
            inputs,
            np.empty((len(chosen), len(chosen)), dtype=cache.rows.dtype),
            problem.lower[chosen],
            problem.upper[chosen],
            groups[chosen],
            constraint,
            max((SHARE if len(chosen) == block else SMALL_SHARE) * violation, 0.5 * tolerance),
            STEPS * len(chosen),
            after,
            slopes[chosen],
        )
        values[chosen] = after
        moved = after != before
        product = np.zeros(cache.size)
        cache.add_products(inputs[moved], (after - before)[moved], product)
        products += product
        if leaps is not None:
            move = np.zeros(len(values))
            move[chosen] = after - before
            values, products = leaps.after(move, product, values, products)
        n_iter += 1
    if violation > tolerance:
        warnings.warn(
            f"the dual solver stopped after max_iter={max_iter} blocks with a violation of "
            f"{violation:.3g}, above tol={tolerance:g}. Raise max_iter, or scale the inputs.",
            ConvergenceWarning,
            stacklevel=4,
        )
    levels = _levels(problem, values, slopes, groups)
    objective = float(0.5 * values @ products[owners] + problem.linear @ values)
    return DualSolution(
        coefficients=values,
        products=products,
        levels=levels,
        objective=objective,
        gap=duality_gap(problem, values, products[owners], levels),
        violation=violation,
        n_iter=n_iter,
        n_steps=n_steps,
        n_rows=cache.n_computed - rows_before,
        converged=violation <= tolerance,
    )


def duality_gap(
    problem: DualProblem, values: np.ndarray, products: np.ndarray, levels: np.ndarray
) -> float:
    """Return the value of the program minus that of its own dual at the same point."""
    groups = np.zeros(len(values), dtype=np.int64) if problem.groups is None else problem.groups
    slopes = -problem.linear - products - levels[groups]
    reached = np.where(slopes > 0, problem.upper, problem.lower)
    # Bounds may be infinite, as on a simplex, where slopes of zero must count nothing.
    finite = np.isfinite(reached)
    kept = sum(levels[group] * values[groups == group].sum() for group in range(len(levels)))
    terms = (reached[finite] * slopes[finite]).sum() + (values * slopes)[~finite].sum()
    return float(values @ products + problem.linear @ values + terms + kept)


def _leaps(problem: DualProblem, owners: np.ndarray, groups: np.ndarray, cache: RowCache) -> Leaps:
    kept = None if problem.constraint == "none" else groups
    if problem.constraint in ("total", "simplex"):
        kept = np.zeros_like(groups)
    return Leaps(Bounds(problem.linear, problem.lower, problem.upper, owners, kept), cache)


def _start_products(values: np.ndarray, owners: np.ndarray, cache: RowCache) -> np.ndarray:
    products = np.zeros(cache.size)
    totals = np.bincount(owners, values, cache.size)
    if isinstance(cache.kernel, Linear):
        return cache.inputs @ (cache.inputs.T @ totals)
    used = np.flatnonzero(totals)
    cache.add_products(used, totals[used], products)
    return products


def _violation(
    problem: DualProblem, values: np.ndarray, slopes: np.ndarray, groups: np.ndarray
) -> float:
    rising = values < problem.upper
    falling = values > problem.lower
    if problem.constraint == "none":
        return float(max(slopes[rising].max(initial=0.0), -slopes[falling].min(initial=0.0), 0.0))
    worst = 0.0
    for group in range(1 + (problem.constraint == "groups")):
        own = groups == group
        up, down = rising & own, falling & own
        if up.any() and down.any():
            worst = max(worst, float(slopes[up].max() - slopes[down].min()))
    return worst


def _levels(
    problem: DualProblem, values: np.ndarray, slopes: np.ndarray, groups: np.ndarray
) -> np.ndarray:
    """Return the multipliers: the mean slope of free coefficients, or the middle of the range."""
    if problem.constraint == "none":
        return np.zeros(1)
    levels = []
    for group in range(1 + (problem.constraint == "groups")):
        own = groups == group
        rising, falling = (values < problem.upper) & own, (values > problem.lower) & own
        free = rising & falling
        if free.any():
            levels.append(float(slopes[free].mean()))
        else:
            ends = [slopes[rising].max(initial=-np.inf), slopes[falling].min(initial=np.inf)]
            finite = [end for end in ends if np.isfinite(end)]
            levels.append(float(np.mean(finite)) if finite else 0.0)
    return np.array(levels)


def _choose(
    problem: DualProblem,
    values: np.ndarray,
    slopes: np.ndarray,
    groups: np.ndarray,
    previous: np.ndarray,
    block: int,
) -> np.ndarray:
    """Return the most violating coefficients and, for the rest of the block, those in motion.

    Coefficients at a bound that are far from violating anything, measured by the worst violation,
    are left out, as they will hardly leave it. This shrinks the blocks when little is left to do.
    """
    rising, falling = values < problem.upper, values > problem.lower
    n_groups = 1 + (problem.constraint == "groups")
    share = max(1, block // (4 * n_groups if len(previous) else 2 * n_groups))
    picked, near = [], rising & falling
    for group in range(n_groups):
        own = groups == group if n_groups > 1 else np.ones(len(values), dtype=bool)
        up, down = rising & own, falling & own
        highest, lowest = slopes[up].max(initial=-np.inf), slopes[down].min(initial=np.inf)
        reach = NEAR * max(highest - lowest, 0.0)
        if problem.constraint == "none":
            reach = NEAR * max(highest, -lowest, 0.0)
            highest = lowest = 0.0
        up &= slopes > lowest - reach
        down &= slopes < highest + reach
        picked += [_largest(slopes, up, share), _largest(-slopes, down, share)]
        near |= up | down
    fresh = np.unique(np.concatenate(picked))
    near[fresh] = False
    # Those of the last block come before others, for their rows are at hand, and free ones first.
    last = previous[near[previous]]
    near[last] = False
    last = last[np.argsort(~(rising & falling)[last], kind="stable")]
    others = np.flatnonzero(near & rising & falling)
    return np.concatenate([fresh, last, others])[:block]


def _largest(slopes: np.ndarray, eligible: np.ndarray, count: int) -> np.ndarray:
    places = np.flatnonzero(eligible)
    if len(places) <= count:
        return places
    return places[np.argpartition(slopes[places], -count)[-count:]]
