"""Soft-margin machines on a Gram matrix: the inner step of multiple kernel learning."""

from dataclasses import dataclass

import numpy as np

from verulam.base import thread_map
from verulam.kernel._solvers.dual import solve_dual
from verulam.kernel._solvers.dual_loops import add_rows
from verulam.kernel._solvers.dual_problems import classification_problem
from verulam.kernel._tuning import SEVERAL_THREADED_ENTRIES

#: Most working sets of the solver, which is called many times; matrices that need more have lost
#: their digits.
MAX_WORKING_SETS = 500


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
    converged
        Whether the solver came to rest for all of them.
    """

    coefficients: np.ndarray
    biases: np.ndarray
    objective: float
    converged: bool = True

    def gram_products(self, grams: np.ndarray) -> np.ndarray:
        r"""Return :math:`K_i \beta` for any kernels' Gram matrices, by kernel and machine."""
        n_machines, size = self.coefficients.shape
        K_betas = np.zeros((len(grams), n_machines, size))
        supports = [np.flatnonzero(machine) for machine in self.coefficients]

        def multiply(task: int) -> None:
            place, machine = divmod(task, n_machines)
            support = supports[machine]
            weights = self.coefficients[machine, support]
            # Only rows of support vectors are read, which are few.
            add_rows(grams[place], support, weights, K_betas[place, machine])

        threads = 0 if grams.size > SEVERAL_THREADED_ENTRIES else 1
        thread_map(multiply, range(len(grams) * n_machines), threads)
        return K_betas

    def squared_norms(self, K_betas: np.ndarray) -> np.ndarray:
        r"""Return :math:`\sum \beta^T K_i \beta` over the machines for each kernel."""
        # Not below zero, which a matrix that is no Gram matrix might give.
        return np.maximum(0.0, np.einsum("ikt,kt->i", K_betas, self.coefficients))


def class_signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return a row of -1 and 1 for each machine: one for two classes, else one for each class."""
    positives = [1] if n_classes == 2 else range(n_classes)
    return np.array([np.where(codes == label, 1.0, -1.0) for label in positives])


def gram_machines(
    gram: np.ndarray,
    signs: np.ndarray,
    cost: float,
    tol: float,
    warm_start: GramMachines | None = None,
    K_beta: np.ndarray | None = None,
) -> GramMachines:
    r"""Return the machines of all rows of `signs`.

    Machines on another Gram matrix may be a `warm_start`: their coefficients are feasible for any.
    `K_beta` is their :math:`K \beta` on this matrix, if known.
    """
    costs = np.full(len(gram), cost)
    coefficients, biases = np.zeros((len(signs), len(gram))), np.zeros(len(signs))
    objective, converged = 0.0, True
    for place, sign in enumerate(signs):
        init = None if warm_start is None else warm_start.coefficients[place]
        solution = solve_dual(
            classification_problem(sign, costs, init),
            gram,
            tol=tol,
            max_iter=MAX_WORKING_SETS,
            K_beta=None if K_beta is None else K_beta[place],
        )
        converged &= solution.converged
        coefficients[place] = solution.coefficients
        biases[place] = solution.equality_multipliers[0]
        # The dual objective is maximised, and the program is its negative.
        objective -= solution.objective
    return GramMachines(coefficients, biases, float(objective), converged)
