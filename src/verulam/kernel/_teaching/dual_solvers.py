"""Solvers for the classroom: a kernel perceptron and the Lagrangian machine."""

from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, warn_caller
from verulam.kernel._kernels.gram import gram_report


@dataclass(frozen=True, eq=False)
class TaughtMachine:
    r"""A two-class machine :math:`g(x) = \sum_t \beta^t K(x^t, x) + b`, and how it was found.

    Attributes
    ----------
    coefficients
        :math:`\beta^t`.
    intercept
        The bias :math:`b`.
    slacks
        What each input was forgiven.
    n_iter
        Steps taken.
    converged
        Whether the solver came to rest by itself.
    """

    coefficients: np.ndarray
    intercept: float
    slacks: np.ndarray
    n_iter: int
    converged: bool


def kernel_perceptron(
    gram: np.ndarray, signs: np.ndarray, *, slack: float = 0.0, max_iter: int = 10_000
) -> TaughtMachine:
    """Correct the worst-classified input again and again, in the space of the kernel.

    It separates what can be separated, but with no care for the margin.

    Parameters
    ----------
    gram
        Kernel of every two inputs.
    signs
        Class of each input, -1 or 1.
    slack
        What all inputs together are forgiven, in corrections of one input's output. Every
        correction gives its input a larger share of it, so that it goes to those that cannot be
        separated.
    max_iter
        Most corrections.

    Notes
    -----
    See Bartkowiak 5.11.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import Polynomial, kernel_perceptron
    >>> gram, signs = Polynomial(2)([[1, -1], [-1, 1], [1, 1], [-1, -1]]), np.array([1, 1, -1, -1])
    >>> machine = kernel_perceptron(gram, signs)
    >>> np.sign(gram @ machine.coefficients + machine.intercept)
    array([ 1.,  1., -1., -1.])
    """
    if not (np.isfinite(slack) and slack >= 0):
        raise DataError(f"slack must be a finite number of 0 or above; got {slack}.")
    gram, signs = _checked(gram, signs)
    # The bias is the weight of one more feature of the size of the others.
    offset = float(np.mean(np.diagonal(gram))) or 1.0
    total = 2.0 * offset * slack
    multipliers, outputs = np.zeros(len(signs)), np.zeros(len(signs))
    claims = np.full(len(signs), 1.0 / len(signs))
    converged, n_iter = False, 0
    while True:
        # Forgiveness goes to those who have been corrected most.
        slacks = total * claims / claims.sum()
        margins = signs * outputs + slacks
        worst = int(np.argmin(margins))
        converged = bool(margins[worst] > 0 and n_iter > 0)
        if converged or n_iter == max_iter:
            break
        multipliers[worst] += 1.0
        claims[worst] += 1.0
        outputs += signs[worst] * (gram[worst] + offset)
        n_iter += 1
    if not converged:
        warn_caller(
            "the kernel perceptron did not separate the classes in "
            f"max_iter={max_iter} corrections.",
            ConvergenceWarning,
        )
    intercept = offset * float(multipliers @ signs)
    return TaughtMachine(multipliers * signs, intercept, slacks, n_iter, converged)


def lagrangian_machine(
    gram: np.ndarray,
    signs: np.ndarray,
    *,
    cost: float = 1.0,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> TaughtMachine:
    r"""Solve the machine with squared slack by a fixed point of its conditions.

    Parameters
    ----------
    gram
        Kernel of every two inputs.
    signs
        Class of each input, -1 or 1.
    cost
        Factor :math:`\nu` of half the squared slacks.
    tol
        Largest change of a multiplier in the last step.
    max_iter
        Most steps.

    Notes
    -----
    With :math:`Q = I / \nu + D (K + 1) D` the multipliers solve :math:`0 \le u \perp Qu - 1 \ge 0`,
    by :math:`u \leftarrow Q^{-1} (1 + ((Qu - 1) - a u)_+)` for :math:`0 < a < 2 / \nu`. The bias is
    part of the weights. See Bartkowiak 5.11.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import Linear, lagrangian_machine
    >>> gram, signs = Linear()([[-2.0], [-1.0], [1.0], [2.0]]), np.array([-1, -1, 1, 1])
    >>> lagrangian_machine(gram, signs, cost=100.0).coefficients.round(3)[1:3]
    array([-0.498,  0.498])
    """
    if not cost > 0:
        raise DataError(f"cost must be above 0; got {cost}.")
    gram, signs = _checked(gram, signs)
    # Squared slack adds to the diagonal, so that the matrix can be inverted.
    matrix = np.outer(signs, signs) * (gram + 1.0) + np.eye(len(signs)) / cost
    inverse = np.linalg.inv(matrix)
    # The fixed point is a contraction for steps below 2 / cost.
    step_size = 1.9 / cost
    multipliers = inverse @ np.ones(len(signs))
    converged = False
    n_iter = 0
    while not converged and n_iter < max_iter:
        gradient = matrix @ multipliers - 1.0
        following = inverse @ (1.0 + np.maximum(gradient - step_size * multipliers, 0.0))
        converged = float(np.abs(following - multipliers).max()) <= tol
        multipliers = following
        n_iter += 1
    if not converged:
        warn_caller(
            f"the Lagrangian machine was still moving after max_iter={max_iter} steps.",
            ConvergenceWarning,
        )
    coefficients = multipliers * signs
    intercept = float(coefficients.sum())
    return TaughtMachine(coefficients, intercept, multipliers / cost, n_iter, converged)


def _checked(gram: np.ndarray, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a Gram matrix and the signs of its inputs, or say what is wrong with them."""
    matrix, sides = np.asarray(gram, dtype=np.float64), np.asarray(signs, dtype=np.float64)
    gram_report(matrix)  # refuses what is not square or not finite
    if sides.shape != (len(matrix),) or not np.isin(sides, (-1.0, 1.0)).all():
        raise DataError(
            f"signs must be {len(matrix)} numbers, -1 or 1; got shape {sides.shape} with "
            f"{np.unique(sides).tolist()[:3]}."
        )
    return matrix, sides
