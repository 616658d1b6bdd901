"""The dual solver of all machines: decomposition into working sets, with a kernel cache."""

from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from verulam.base import one_blas_thread, warn_caller
from verulam.kernel._kernels.general import Precomputed
from verulam.kernel._kernels.polynomial import Linear
from verulam.kernel._solvers.coordinate_descent_loops import descend_coordinates
from verulam.kernel._solvers.dual_loops import FLAT, HUGE, pair_steps, single_steps
from verulam.kernel._solvers.dual_problems import BoxProblem, DualProblem
from verulam.kernel._solvers.row_cache import RowCache
from verulam.kernel._solvers.subspace_acceleration import SubspaceAcceleration, restore_sums
from verulam.kernel._tuning import (
    DESCENT_PASSES,
    DESCENT_ROUNDS,
    INNER_SHARE,
    INNER_SHARE_OF_ALL,
    NEARLY_VIOLATING,
    SOLVED_AT_ONCE,
    STEPS_PER_COEFFICIENT,
    WORKING_SET_SIZE,
)


@dataclass(frozen=True, eq=False)
class DualSolution:
    r"""Where the dual solver came to rest, and how good that is.

    Attributes
    ----------
    coefficients
        The solution :math:`\beta`; of a classifier, multipliers with signs :math:`\alpha^t r^t`.
    K_beta : ndarray of shape (n_inputs,)
        :math:`K \beta`, the value of the expansion at each training input.
    equality_multipliers
        Lagrange multiplier of the sum, or of each group's sum: the bias of a classifier.
    objective
        Value of the program.
    gap
        Duality gap: value minus that of the dual program at the same point, an upper bound of
        what is lacking.
    kkt_violation
        Largest violation of the Karush-Kuhn-Tucker conditions.
    n_iter
        Working sets that were solved.
    n_steps
        Steps within them.
    n_rows
        Kernel rows that were computed.
    converged
        Whether the violation is below the tolerance.
    """

    coefficients: np.ndarray
    K_beta: np.ndarray
    equality_multipliers: np.ndarray
    objective: float
    gap: float
    kkt_violation: float
    n_iter: int
    n_steps: int
    n_rows: int
    converged: bool


def solve_dual(
    problem: DualProblem,
    gram: np.ndarray | RowCache,
    *,
    tol: float = 1e-3,
    max_iter: int = 100_000,
    K_beta: np.ndarray | None = None,
    working_set_size: int = WORKING_SET_SIZE,
) -> DualSolution:
    r"""Solve a dual program by decomposition into working sets.

    The coefficients that violate the KKT conditions most enter the working set, their kernel rows
    are computed by one matrix product, and the program is solved within the working set by steps
    of second order, while the rest is left out; then all gradients are brought up to date at once,
    followed by a joint step along the last moves (subspace acceleration). Linear kernels begin
    with dual coordinate descent, which needs no kernel values, after which little or nothing is
    left to do.

    Parameters
    ----------
    problem
        The program.
    gram
        Gram matrix, or the cache of its rows.
    tol
        Largest violation of the KKT conditions at the end.
    max_iter
        Most working sets.
    K_beta
        :math:`K \beta` of the coefficients to begin with, if known (warm start).
    working_set_size
        Coefficients in a working set, half of them new each time.

    Examples
    --------
    Exclusive or, with the polynomial kernel of degree 2:

    >>> import numpy as np
    >>> from verulam.kernel import DualProblem, Polynomial, solve_dual
    >>> signs = np.array([1.0, 1.0, -1.0, -1.0])
    >>> gram = Polynomial(2)([[1, -1], [-1, 1], [1, 1], [-1, -1]])
    >>> problem = DualProblem(
    ...     -signs, np.minimum(10 * signs, 0), np.maximum(10 * signs, 0), np.zeros(4)
    ... )
    >>> solution = solve_dual(problem, gram, tol=1e-9)
    >>> solution.coefficients.round(6)
    array([ 0.125,  0.125, -0.125, -0.125])
    >>> solution.converged
    True
    """
    cache = gram if isinstance(gram, RowCache) else RowCache(Precomputed(), gram, 0.0)
    arguments = (problem, cache, tol, max_iter, K_beta, working_set_size)
    if len(problem.linear) <= SOLVED_AT_ONCE:
        return _decompose(*arguments)
    # The products are small, and BLAS's threads would wait for one another longer than they work.
    with one_blas_thread():
        return _decompose(*arguments)


def _decompose(
    problem: DualProblem,
    cache: RowCache,
    tol: float,
    max_iter: int,
    K_beta: np.ndarray | None,
    working_set_size: int,
) -> DualSolution:
    box = problem.box()
    beta = problem.init.astype(np.float64)
    # Few coefficients are all in the working set, where the cache can hold their rows at once.
    at_once = len(beta) <= min(working_set_size, SOLVED_AT_ONCE) and cache.capacity >= cache.size
    working_set_size = max(2, min(working_set_size, cache.capacity))
    rows_before, n_steps, n_iter = cache.n_computed, 0, 0
    if K_beta is None and isinstance(cache.kernel, Linear):
        warm_start = linear_warm_start(problem, cache.inputs, tol)
        beta = beta if warm_start is None else warm_start
    K_beta = _gram_product(beta, box, cache) if K_beta is None else K_beta.copy()
    selection = np.arange(len(beta) if at_once else 0)
    # What one working set holds is solved there: joint steps have nothing to add.
    decomposed = len(beta) > working_set_size and not at_once
    acceleration = SubspaceAcceleration(box, cache) if decomposed else None
    while True:
        # Of the dual objective, which is maximised: where positive, a coefficient should rise.
        gradient = -box.linear - K_beta[box.row_of]
        kkt_violation = _kkt_violation(box, beta, gradient)
        if kkt_violation <= tol or n_iter >= max_iter:
            break
        inner_tol, working_set = 0.5 * tol, selection
        if not at_once:
            selection = _select_working_set(box, beta, gradient, selection, working_set_size)
            # In the order of the rows, so that their entries are read one after another.
            working_set = np.sort(selection)
            share = INNER_SHARE if len(working_set) == working_set_size else INNER_SHARE_OF_ALL
            inner_tol = max(share * kkt_violation, 0.5 * tol)
        optimum, steps = _solve_within(working_set, box, cache, beta, gradient, inner_tol)
        n_steps += steps
        change = optimum - beta[working_set]
        beta[working_set] = optimum
        moved = np.flatnonzero(change)
        K_move = np.zeros(cache.size)
        cache.add_products(box.row_of[working_set[moved]], change[moved], K_move)
        K_beta += K_move
        if acceleration is not None:
            move = np.zeros(len(beta))
            move[working_set] = change
            beta, K_beta = acceleration.joint_step(move, K_move, beta, K_beta)
        n_iter += 1
    if kkt_violation > tol:
        warn_caller(
            f"the dual solver stopped after max_iter={max_iter} working sets with a violation of "
            f"{kkt_violation:.3g}, above tol={tol:g}. Raise max_iter, or scale the inputs.",
            ConvergenceWarning,
        )
    equality_multipliers = _equality_multipliers(box, beta, gradient)
    return DualSolution(
        coefficients=beta,
        K_beta=K_beta,
        equality_multipliers=equality_multipliers,
        objective=float(0.5 * beta @ K_beta[box.row_of] + box.linear @ beta),
        gap=duality_gap(problem, beta, K_beta[box.row_of], equality_multipliers),
        kkt_violation=kkt_violation,
        n_iter=n_iter,
        n_steps=n_steps,
        n_rows=cache.n_computed - rows_before,
        converged=kkt_violation <= tol,
    )


def linear_warm_start(problem: DualProblem, inputs: np.ndarray, tol: float) -> np.ndarray | None:
    r"""Return feasible coefficients near the solution, or None where there is nothing to gain.

    The plane :math:`w = \sum_t \beta^t x^t` is brought up to date with each coefficient, so that a
    step costs one row of the inputs and no kernel value (Hsieh and others 2008). A sum that must
    be zero stands for a free bias, which is found by the method of multipliers: a column of its
    own penalises the sum, and what it took moves the bias for the next round.

    Parameters
    ----------
    problem
        A program with bounds and at most one sum, which is zero.
    inputs
        Rows of the linear kernel.
    tol
        Largest violation of the KKT conditions.
    """
    if problem.constraint not in ("none", "total") or problem.init.any():
        return None
    box = problem.box()
    beta = np.zeros(len(box.row_of))
    if problem.constraint == "none":
        _descend(box, inputs, 0.0, tol, beta)
        return beta
    # Sums of zero make the origin arbitrary, and in the middle rows are shortest.
    rows = inputs - inputs.mean(axis=0)
    # The column of the penalty is as long as a row is: neither outweighs the other in a step.
    penalty_column = float(np.sqrt(np.mean(np.einsum("ij,ij->i", rows, rows)))) or 1.0
    rows = np.column_stack([rows, np.full(len(rows), penalty_column)])
    bias = 0.0
    for _ in range(DESCENT_ROUNDS):
        _descend(box, rows, bias, 0.5 * tol, beta)
        change = penalty_column**2 * float(beta.sum())
        bias += change
        if abs(change) <= 0.2 * tol:
            break
    return beta if restore_sums(beta, problem.init, box) else None


def _descend(box: BoxProblem, rows: np.ndarray, bias: float, tol: float, beta: np.ndarray) -> None:
    squares = np.maximum(np.einsum("ij,ij->i", rows, rows), FLAT)
    descend_coordinates(
        rows,
        box.row_of,
        squares[box.row_of],
        box.linear + bias,
        box.lower,
        box.upper,
        DESCENT_PASSES * len(beta),
        tol,
        beta,
        rows.T @ np.bincount(box.row_of, beta, len(rows)),
        np.arange(len(beta)),
    )


def duality_gap(
    problem: DualProblem, beta: np.ndarray, K_beta: np.ndarray, equality_multipliers: np.ndarray
) -> float:
    """Return the value of the program minus that of its own dual at the same point.

    Parameters
    ----------
    problem
        The program.
    beta, K_beta
        Coefficients, and for each the entry of their product with the Gram matrix.
    equality_multipliers
        Multipliers of the sums.
    """
    box = problem.box()
    groups = np.zeros(len(beta), dtype=np.int64) if box.groups is None else box.groups
    reduced = -box.linear - K_beta - equality_multipliers[groups]
    # The dual of a box takes each coefficient to the bound that its reduced gradient points at.
    ends = np.where(reduced > 0, box.upper, box.lower)
    # Bounds may be infinite, as on a simplex, where gradients of zero must count nothing.
    finite = np.isfinite(ends)
    sums = sum(
        multiplier * beta[groups == group].sum()
        for group, multiplier in enumerate(equality_multipliers)
    )
    terms = (ends[finite] * reduced[finite]).sum() + (beta * reduced)[~finite].sum()
    return float(beta @ K_beta + box.linear @ beta + terms + sums)


def _gram_product(beta: np.ndarray, box: BoxProblem, cache: RowCache) -> np.ndarray:
    K_beta = np.zeros(cache.size)
    weights = np.bincount(box.row_of, beta, cache.size)
    # X (X^T beta) needs no Gram matrix.
    if isinstance(cache.kernel, Linear):
        return cache.inputs @ (cache.inputs.T @ weights)
    support = np.flatnonzero(weights)
    cache.add_products(support, weights[support], K_beta)
    return K_beta


def _solve_within(
    working_set: np.ndarray,
    box: BoxProblem,
    cache: RowCache,
    beta: np.ndarray,
    gradient: np.ndarray,
    tol: float,
) -> tuple[np.ndarray, int]:
    """Return the coefficients of a working set at their optimum, and the steps to get there."""
    size = len(working_set)
    rows = box.row_of[working_set]
    slots = cache.slots(rows)
    lower, upper = box.lower[working_set], box.upper[working_set]
    # A copy, which the steps change in place.
    optimum = beta[working_set]
    state = (
        cache.rows,
        slots,
        rows,
        np.empty((size, size), dtype=cache.rows.dtype),
        np.zeros(size, dtype=bool),
        cache.rows[slots, rows].astype(np.float64),
        lower,
        upper,
        tol,
        STEPS_PER_COEFFICIENT * size,
        optimum,
        gradient[working_set],
    )
    # Chosen here, so that of two loops only the one in use is compiled.
    if box.groups is None:
        return optimum, single_steps(*state)
    groups = np.arange(box.n_sums)[:, None]
    members = box.groups[working_set] == groups
    rise_handicaps = np.where(members & (optimum < upper), 0.0, -HUGE)
    fall_handicaps = np.where(members & (optimum > lower), 0.0, HUGE)
    return optimum, pair_steps(*state, rise_handicaps, fall_handicaps, np.empty(size))


def _kkt_violation(box: BoxProblem, beta: np.ndarray, gradient: np.ndarray) -> float:
    """Return the largest violation of the KKT conditions.

    Without a sum, a coefficient below its upper bound must have no positive gradient and one above
    its lower bound no negative one. With a sum, gradients are compared with each other: none that
    may rise can be above one that may fall (the maximal violating pair).
    """
    rising, falling = beta < box.upper, beta > box.lower
    if box.groups is None:
        return float(
            max(gradient[rising].max(initial=0.0), -gradient[falling].min(initial=0.0), 0.0)
        )
    worst = 0.0
    for group in range(box.n_sums):
        up, down = rising, falling
        if box.n_sums > 1:
            members = box.members(group)
            up, down = rising & members, falling & members
        highest, lowest = gradient[up].max(initial=-np.inf), gradient[down].min(initial=np.inf)
        worst = max(worst, float(highest - lowest))
    return worst


def _equality_multipliers(box: BoxProblem, beta: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return the multipliers of the sums: the mean gradient of free coefficients.

    Where none is free, any number between the two sides is one; the middle is taken.
    """
    if box.groups is None:
        return np.zeros(1)
    multipliers = []
    for group in range(box.n_sums):
        members = box.members(group)
        rising, falling = (beta < box.upper) & members, (beta > box.lower) & members
        free = rising & falling
        if free.any():
            multipliers.append(float(gradient[free].mean()))
        else:
            ends = [gradient[rising].max(initial=-np.inf), gradient[falling].min(initial=np.inf)]
            finite = [end for end in ends if np.isfinite(end)]
            multipliers.append(float(np.mean(finite)) if finite else 0.0)
    return np.array(multipliers)


def _select_working_set(
    box: BoxProblem,
    beta: np.ndarray,
    gradient: np.ndarray,
    previous: np.ndarray,
    size: int,
) -> np.ndarray:
    """Return the most violating coefficients and, for the rest of the set, those in motion.

    Coefficients at a bound that are far from violating anything, measured by the worst violation,
    are left out, as they will hardly leave it. This shrinks the sets when little is left to do.
    """
    rising, falling = beta < box.upper, beta > box.lower
    # Half of a set is new, as many from either side of each group; the first set is all new.
    n_groups = max(1, box.n_sums)
    share = max(1, size // (4 * n_groups if len(previous) else 2 * n_groups))
    violating, near = [], rising & falling
    for group in range(n_groups):
        members = box.members(group)
        up, down = rising & members, falling & members
        highest, lowest = gradient[up].max(initial=-np.inf), gradient[down].min(initial=np.inf)
        reach = NEARLY_VIOLATING * max(highest - lowest, 0.0)
        if box.groups is None:
            reach = NEARLY_VIOLATING * max(highest, -lowest, 0.0)
            highest = lowest = 0.0
        up &= gradient > lowest - reach
        down &= gradient < highest + reach
        violating += [_largest(gradient, up, share), _largest(-gradient, down, share)]
        near |= up | down
    fresh = np.unique(np.concatenate(violating))
    near[fresh] = False
    # Those of the last set come before others, for their rows are at hand, and free ones first.
    last = previous[near[previous]]
    near[last] = False
    last = last[np.argsort(~(rising & falling)[last], kind="stable")]
    others = np.flatnonzero(near & rising & falling)
    return np.concatenate([fresh, last, others])[:size]


def _largest(gradient: np.ndarray, eligible: np.ndarray, count: int) -> np.ndarray:
    places = np.flatnonzero(eligible)
    if len(places) <= count:
        return places
    return places[np.argpartition(gradient[places], -count)[-count:]]
