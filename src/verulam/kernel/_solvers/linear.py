"""A start for linear kernels that is all but the solution, by descent along coordinates."""

from typing import TYPE_CHECKING

import numpy as np

from verulam.kernel._solvers.linear_loops import descend_coordinates
from verulam.kernel._solvers.subspace_acceleration import Bounds, restore_sums

if TYPE_CHECKING:
    from verulam.kernel._solvers.dual import DualProblem

#: Most passes over the coefficients.
PASSES = 300
#: Most rounds of the bias.
ROUNDS = 30


def linear_start(
    problem: "DualProblem", owners: np.ndarray, inputs: np.ndarray, tolerance: float
) -> np.ndarray | None:
    r"""Return feasible coefficients near the solution, or None where there is nothing to gain.

    The plane :math:`w = \sum_t \beta^t x^t` is kept, so that a step costs one row of the inputs
    and no kernel value. A sum that must be zero stands for a free bias, which is found by the
    method of multipliers: a column of its own penalises the sum, and what it took moves the bias
    for the next round.

    Parameters
    ----------
    problem
        A program with bounds and at most one sum, which is zero.
    owners
        Input of each coefficient.
    inputs
        Rows of the linear kernel.
    tolerance
        Largest violation of the conditions of optimality.
    """
    if problem.constraint not in ("none", "total") or problem.start.any():
        return None
    values = np.zeros(len(owners))
    if problem.constraint == "none":
        _descend(problem, owners, inputs, 0.0, tolerance, values)
        return values
    # Sums of zero make the origin arbitrary, and in the middle rows are shortest.
    rows = inputs - inputs.mean(axis=0)
    typical = float(np.sqrt(np.mean(np.einsum("ij,ij->i", rows, rows)))) or 1.0
    rows = np.column_stack([rows, np.full(len(rows), typical)])
    bias = 0.0
    for _ in range(ROUNDS):
        _descend(problem, owners, rows, bias, 0.5 * tolerance, values)
        change = typical**2 * float(values.sum())
        bias += change
        if abs(change) <= 0.2 * tolerance:
            break
    groups = np.zeros(len(owners), dtype=np.int64)
    bounds = Bounds(problem.linear, problem.lower, problem.upper, owners, groups)
    return values if restore_sums(values, problem.start, bounds) else None


def _descend(
    problem: "DualProblem",
    owners: np.ndarray,
    rows: np.ndarray,
    bias: float,
    tolerance: float,
    values: np.ndarray,
) -> None:
    descend_coordinates(
        rows,
        owners,
        problem.linear + bias,
        problem.lower,
        problem.upper,
        PASSES,
        tolerance,
        values,
        rows.T @ np.bincount(owners, values, len(rows)),
    )
