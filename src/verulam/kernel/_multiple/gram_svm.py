"""Soft-margin machines on a Gram matrix: the inner step of multiple kernel learning."""

from dataclasses import dataclass

import numpy as np

from verulam.base import thread_map
from verulam.kernel._kernels.general import Precomputed
from verulam.kernel._solvers.dual import solve_dual
from verulam.kernel._solvers.dual_loops import add_rows
from verulam.kernel._solvers.dual_problems import classification_problem
from verulam.kernel._solvers.row_cache import RowCache

#: Fewer kernel values than these are not worth a second thread.
THREADED_ENTRIES = 2**21
#: Blocks of the solver, which is called many times; matrices that need more have lost their digits.
MOST_BLOCKS = 500


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

    def images(self, grams: np.ndarray) -> np.ndarray:
        r"""Return :math:`K_i \beta` for any kernels' Gram matrices, by kernel and machine."""
        n_machines, size = self.coefficients.shape
        result = np.zeros((len(grams), n_machines, size))
        supports = [np.flatnonzero(each) for each in self.coefficients]

        def image(task: int) -> None:
            place, machine = divmod(task, n_machines)
            support = supports[machine]
            weights = self.coefficients[machine, support]
            add_rows(grams[place], support, weights, result[place, machine])

        threads = 0 if grams.size > THREADED_ENTRIES else 1
        thread_map(image, range(len(grams) * n_machines), threads)
        return result

    def squares(self, images: np.ndarray) -> np.ndarray:
        r"""Return :math:`\sum \beta^T K_i \beta` over the machines for each kernel."""
        # Not below zero, which a matrix that is no Gram matrix might give.
        return np.maximum(0.0, np.einsum("ikt,kt->i", images, self.coefficients))


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
    products: np.ndarray | None = None,
) -> GramMachines:
    r"""Return the machines of all rows of `signs`.

    Those `before`, on another Gram matrix, are where the solver starts: their coefficients are
    feasible for any. `products` are their :math:`K \beta` on this matrix, if known.
    """
    cache = RowCache(Precomputed(), gram, 0.0)
    costs = np.full(len(gram), cost)
    coefficients, biases = np.zeros((len(signs), len(gram))), np.zeros(len(signs))
    objective, converged = 0.0, True
    for place, sign in enumerate(signs):
        start = None if before is None else before.coefficients[place]
        problem = classification_problem(sign, costs, start)
        solution = solve_dual(
            problem,
            cache,
            tolerance=tol,
            max_iter=MOST_BLOCKS,
            products=None if products is None else products[place],
        )
        converged &= solution.converged
        coefficients[place] = solution.coefficients
        biases[place] = solution.levels[0]
        objective -= solution.objective
    return GramMachines(coefficients, biases, float(objective), converged)
