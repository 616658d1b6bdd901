"""Soft-margin machines on a Gram matrix: the inner step of multiple kernel learning."""

from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC


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
        return float(np.einsum("kt,kt->", self.coefficients @ gram, self.coefficients))


def class_signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return a row of -1 and 1 for each machine: one for two classes, else one for each class."""
    chosen = [1] if n_classes == 2 else range(n_classes)
    return np.array([np.where(codes == k, 1.0, -1.0) for k in chosen])


def gram_machines(gram: np.ndarray, signs: np.ndarray, cost: float, tol: float) -> GramMachines:
    """Return the machines of all rows of `signs`."""
    size = gram.shape[0]
    coefficients, biases = np.zeros((len(signs), size)), np.zeros(len(signs))
    for place, sign in enumerate(signs):
        solver = SVC(C=cost, kernel="precomputed", tol=tol).fit(gram, sign)
        coefficients[place, solver.support_] = solver.dual_coef_[0]
        biases[place] = solver.intercept_[0]
    machines = GramMachines(coefficients, biases, 0.0)
    objective = float(np.abs(coefficients).sum()) - 0.5 * machines.squares(gram)
    return GramMachines(coefficients, biases, objective)
