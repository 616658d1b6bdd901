"""Soft-margin machines on a Gram matrix: the inner step of multiple kernel learning."""

from dataclasses import dataclass

import numpy as np

from verulam.kernel._dual import solve_dual
from verulam.kernel._general_kernels import Precomputed
from verulam.kernel._problems import classification_problem
from verulam.kernel._row_cache import RowCache


@dataclass(frozen=True, eq=False)
class GramMachines:
    r"""One machine for each pair of a class and the rest, on the same Gram matrix.

    Attributes
    ----------
    coefficients : ndarray of shape (n_machines, n_samples)
        :math:`\beta^t = \alpha^t r^t` of each machine.
    biases : ndarray of shape (n_machines,)
        The numbers :math:`b`.
    objective
        Sum of the dual objectives :math:`\sum_t \alpha^t - \frac12 \beta^T K \beta`.
    """

    coefficients: np.ndarray
    biases: np.ndarray
    objective: float

    def squares(self, gram: np.ndarray) -> float:
        r"""Return :math:`\sum \beta^T K \beta` over the machines, for any kernel's Gram matrix."""
        # Not below zero, which a matrix that is no Gram matrix might give.
        return max(0.0, float(np.einsum("kt,kt->", self.coefficients @ gram, self.coefficients)))


def class_signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return a row of -1 and 1 for each machine: one for two classes, else one for each class."""
    chosen = [1] if n_classes == 2 else range(n_classes)
    return np.array([np.where(codes == k, 1.0, -1.0) for k in chosen])


def gram_machines(
    gram: np.ndarray,
    signs: np.ndarray,
    cost: float,
    tol: float,
    before: GramMachines | None = None,
) -> GramMachines:
    """Return the machines of all rows of `signs`.

    Those `before`, on another Gram matrix, are where the solver starts: their coefficients are
    feasible for any.
    """
    cache = RowCache(Precomputed(), gram, 0.0)
    costs = np.full(len(gram), cost)
    coefficients, biases = np.zeros((len(signs), len(gram))), np.zeros(len(signs))
    objective = 0.0
    for place, sign in enumerate(signs):
        start = None if before is None else before.coefficients[place]
        problem = classification_problem(sign, costs, start)
        solution = solve_dual(problem, cache, tolerance=tol)
        coefficients[place] = solution.coefficients
        biases[place] = solution.levels[0]
        objective -= solution.objective
    return GramMachines(coefficients, biases, float(objective))
