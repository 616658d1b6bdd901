"""The primal program of the margin: few variables, all rows as constraints, for small problems."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, warn_caller
from verulam.kernel._kernels.base import as_rows, positive
from verulam.kernel._solvers.interior_point import step_to_boundary
from verulam.kernel._svm.binary import NotSeparableError

#: Least slack of the best plane that counts as none; margins are one.
SEPARATED = 1e-7
#: Least and, inverted, largest size of inputs whose squares are kept well.
LEAST_UNIT = 1e-150


@dataclass(frozen=True, eq=False)
class PrimalMachine:
    r"""The plane :math:`g(x) = w^T x + b` of the primal program.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        The vector :math:`w`.
    intercept
        The bias :math:`b`.
    slack : ndarray of shape (n_samples,)
        Slack :math:`\xi^t` of each row.
    multipliers : ndarray of shape (n_samples,)
        Price :math:`\alpha^t` of each row's constraint: the solution of the dual program.
    margin
        Distance :math:`1 / \|w\|` of either border of the margin from the boundary; both
        borders are twice as far apart, see `margin_width`.
    objective
        :math:`\frac{1}{2} \|w\|^2 + C \sum_t \xi^t`.
    n_iter
        Steps taken.
    """

    weights: np.ndarray
    intercept: float
    slack: np.ndarray
    multipliers: np.ndarray
    margin: float
    objective: float
    n_iter: int

    @property
    def margin_width(self) -> float:
        r"""Distance :math:`2 / \|w\|` between both borders of the margin."""
        return 2.0 * self.margin

    def outputs(self, X: ArrayLike) -> np.ndarray:
        """Return :math:`g(x)` of each row."""
        return as_rows(X) @ self.weights + self.intercept


def primal_machine(
    X: ArrayLike,
    signs: ArrayLike,
    *,
    cost: float | None = None,
    tol: float = 1e-9,
    max_iter: int = 100,
) -> PrimalMachine:
    r"""Return the plane of largest margin from the primal program itself.

    Its size is that of the space of the rows, which may be features :math:`\phi(x)` written out;
    every step solves a linear system of that many unknowns. Machines with kernels solve the dual.

    Parameters
    ----------
    X
        Rows of numbers.
    signs
        Class of each row, -1 or 1.
    cost
        Cost :math:`C` of slack; None for a hard margin, which raises `NotSeparableError` where
        there is none.
    tol
        Mean product of constraints and their prices at the end, as a share of the largest price.
    max_iter
        Most steps.

    Notes
    -----
    .. math:: \min \tfrac{1}{2} \|w\|^2 + C \sum_t \xi^t, \qquad
              r^t (w^T x^t + b) \ge 1 - \xi^t, \quad \xi^t \ge 0

    by an interior point. See Alpaydin 13.2-13.3 (13.3), (13.9)-(13.10) and Bartkowiak 5.9
    (5.18)-(5.23).

    Examples
    --------
    >>> from verulam.kernel import primal_machine
    >>> machine = primal_machine([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0]], [-1, -1, 1])
    >>> machine.weights.round(3), round(machine.intercept, 3)
    (array([0.8, 0.4]), -1.8)
    >>> machine.multipliers.round(3)
    array([0. , 0.4, 0.4])
    """
    rows, sides = as_rows(X), np.asarray(signs, dtype=np.float64)
    _check(rows, sides)
    # About the mean, and in units of the largest entry, lengths and prices are of a usual size.
    middle = rows.mean(axis=0)
    unit = float(np.abs(rows - middle).max(initial=0.0)) or 1.0
    signed = sides[:, None] * np.column_stack([(rows - middle) / unit, np.ones(len(rows))])
    if cost is None:
        # Twice a plane that separates leaves every row room.
        start, price = 2.0 * _separating(signed), np.inf
    else:
        positive("cost", cost)
        start, price = np.zeros(signed.shape[1]), float(cost) * unit**2
    plane, prices, n_iter = _interior_point(signed, start, price, tol, max_iter)
    if n_iter == max_iter:
        warn_caller(
            f"the primal program stopped after max_iter={max_iter} steps, short of its tolerance.",
            ConvergenceWarning,
        )
    weights = plane[:-1] / unit
    slack = np.maximum(0.0, 1.0 - signed @ plane) if cost is not None else np.zeros(len(rows))
    length = float(np.linalg.norm(weights))
    return PrimalMachine(
        weights=weights,
        intercept=float(plane[-1] - weights @ middle),
        slack=slack,
        multipliers=prices / unit**2,
        margin=1.0 / length if length > 0 else np.inf,
        objective=0.5 * length**2 + (0.0 if cost is None else float(cost * slack.sum())),
        n_iter=n_iter,
    )


def _check(rows: np.ndarray, sides: np.ndarray) -> None:
    if sides.shape != (len(rows),):
        raise DataError(
            f"signs must have {len(rows)} entries, one for each row; got {sides.shape}."
        )
    if set(np.unique(sides)) != {-1.0, 1.0}:
        raise DataError(f"signs must be -1 and 1, both; got {np.unique(sides).tolist()[:5]}.")
    if not np.isfinite(rows).all():
        raise DataError("X must be finite.")
    extent = float(np.abs(rows).max(initial=0.0))
    spread = float((0.5 * rows.max(axis=0) - 0.5 * rows.min(axis=0)).max(initial=0.0))
    if extent > 1.0 / LEAST_UNIT or 0.0 < spread < LEAST_UNIT:
        raise DataError(
            f"X holds numbers as large as {extent:.3g} that vary by {2.0 * spread:.3g}, and "
            "squares of such are beyond floating point; multiply or divide them by a constant."
        )


def _separating(signed: np.ndarray) -> np.ndarray:
    r"""Return a plane with all rows on their sides, or raise with mixtures that coincide as proof.

    The least :math:`s` with :math:`r^t (w^T x^t + b) \ge 1 - s` is zero where there is a plane and
    one where there is none; then the prices of the rows are the mixtures.
    """
    size, width = signed.shape
    program = scipy.optimize.linprog(
        np.append(np.zeros(width), 1.0),
        A_ub=-np.column_stack([signed, np.ones(size)]),
        b_ub=-np.ones(size),
        bounds=[(None, None)] * width + [(0.0, None)],
        method="highs",
    )
    if float(program.fun or 0.0) > SEPARATED:
        shares = 2.0 * np.abs(program.ineqlin.marginals)
        raise NotSeparableError(
            "the classes are not separable by a plane: mixtures of both (see the error's "
            "certificate) are the same point. Give a cost of slack.",
            shares,
        )
    return np.asarray(program.x)[:-1]


def _interior_point(
    signed: np.ndarray, start: np.ndarray, cost: float, tol: float, max_iter: int
) -> tuple[np.ndarray, np.ndarray, int]:
    r"""Return plane and prices: :math:`A v \ge 1 - \xi`, with prices between zero and the cost.

    The slacks are eliminated: with finite cost, the price of :math:`\xi^t \ge 0` is what the price
    of the row lacks to the cost.
    """
    soft = np.isfinite(cost)
    squares = np.append(np.ones(signed.shape[1] - 1), 0.0)
    size = len(signed)
    plane = start
    # Without a cost, prices sum to the squared length of the weights.
    prices = np.full(size, 0.5 * cost if soft else float(plane[:-1] @ plane[:-1]) / size)
    spare = np.ones(size) if soft else np.maximum(signed @ plane - 1.0, 0.5)
    slack = np.ones(size) if soft else np.zeros(size)
    rest = prices.copy()
    n_iter = 0
    while n_iter < max_iter:
        slope = squares * plane - signed.T @ prices
        lack = signed @ plane + slack - 1.0 - spare
        mean = float(prices @ spare + (rest @ slack if soft else 0.0)) / size
        scale = float(prices.max())
        off = max(float(np.abs(slope).max()) / scale, float(np.abs(lack).max()))
        if mean <= tol * scale and off <= tol:
            break
        n_iter += 1
        # Towards a tenth of the mean product, as in any path-following method.
        target = 0.1 * mean
        # The spare of a constraint moves with its price, and with the slack where there is one.
        bend = spare / prices + (slack / rest if soft else 0.0)
        push = lack + spare - target / prices
        if soft:
            push = push - slack + target / rest
        # The constraints are eliminated, so that the system has the size of the plane alone.
        matrix = (signed / bend[:, None]).T @ signed
        matrix[np.diag_indices_from(matrix)] += squares
        move = scipy.linalg.solve(
            matrix + 1e-14 * np.trace(matrix) * np.eye(len(matrix)),
            -slope - signed.T @ (push / bend),
            assume_a="pos",
        )
        change = -(signed @ move + push) / bend
        change_spare = target / prices - spare - spare / prices * change
        change_slack = target / rest - slack + slack / rest * change if soft else np.zeros(size)
        length = min(
            1.0,
            step_to_boundary(prices, change),
            step_to_boundary(spare, change_spare),
            step_to_boundary(rest, -change) if soft else 1.0,
            step_to_boundary(slack, change_slack) if soft else 1.0,
        )
        plane, prices = plane + length * move, prices + length * change
        # What a price lacks to the cost is kept by itself: a difference would lose its digits.
        rest = rest - length * change if soft else rest
        spare, slack = spare + length * change_spare, slack + length * change_slack
    return plane, prices, n_iter
