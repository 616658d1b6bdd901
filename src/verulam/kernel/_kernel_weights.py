"""Weights of several kernels: by alignment with the classes, or learned with the machine."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize

from verulam.kernel._gram import centre_gram
from verulam.kernel._gram_machine import GramMachines, gram_machines

#: Weights below this share of the largest are set to zero.
NEGLIGIBLE = 1e-4
#: The exponent of a step that never makes the objective worse; longer ones are tried first.
SAFE_EXPONENT = 0.5


@dataclass(frozen=True, eq=False)
class WeightedMachines:
    """Weights of kernels and the machines that go with them.

    Attributes
    ----------
    weights : ndarray of shape (n_kernels,)
        Weights, none negative.
    machines
        Machines on the weighted sum of the Gram matrices.
    objectives
        Objective after each step.
    gap
        What the best single kernel could still add, as a share of the objective.
    """

    weights: np.ndarray
    machines: GramMachines
    objectives: list[float]
    gap: float


def combine(weights: np.ndarray, grams: np.ndarray) -> np.ndarray:
    """Return the weighted sum of Gram matrices."""
    if weights.all():
        return np.tensordot(weights, grams, axes=1)
    # Most weights are often zero, and adding up the others reads less memory.
    total = np.zeros(grams.shape[1:])
    for place in np.flatnonzero(weights):
        total += weights[place] * grams[place]
    return total


def alignments(grams: np.ndarray, signs: np.ndarray) -> np.ndarray:
    r"""Return how well each centred Gram matrix goes with the classes, from -1 to 1.

    Notes
    -----
    .. math:: A_i = \frac{\langle K_i, R \rangle}{\|K_i\| \|R\|}, \qquad R = \sum_k r_k r_k^T
    """
    ideal = centre_gram(signs.T @ signs)
    centred = [centre_gram(gram) for gram in grams]
    return np.array(
        [
            float((each * ideal).sum())
            / max(float(np.linalg.norm(each) * np.linalg.norm(ideal)), 1e-300)
            for each in centred
        ]
    )


def alignment_weights(grams: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return weights in proportion to the alignments above zero; equal ones if there are none."""
    return _shares(np.maximum(alignments(grams, signs), 0.0))


def maximal_alignment_weights(grams: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return the weights whose sum of kernels is aligned best with the classes.

    This is a least squares problem without negative weights: kernels that say the same share
    what one of them would get.
    """
    centred = np.array([centre_gram(gram).ravel() for gram in grams])
    products = centred @ centred.T
    target = centred @ centre_gram(signs.T @ signs).ravel()
    ridge = 1e-10 * float(np.trace(products)) + 1e-300
    factor = scipy.linalg.cholesky(products + ridge * np.eye(len(grams)))
    right = scipy.linalg.solve_triangular(factor, target, trans="T")
    weights, _ = scipy.optimize.nnls(factor, right)
    return _shares(weights)


def learn_weights(
    grams: np.ndarray,
    signs: np.ndarray,
    cost: float,
    *,
    penalty: float | None,
    max_iter: int,
    tol: float,
) -> WeightedMachines:
    r"""Return weights and machines that make the objective least together.

    Parameters
    ----------
    grams : ndarray of shape (n_kernels, n_samples, n_samples)
        Gram matrices.
    signs : ndarray of shape (n_machines, n_samples)
        Classes of each machine.
    cost
        Cost of slack.
    penalty
        None for weights that sum to one; a number :math:`\lambda` for weights of any sum, which
        then costs :math:`\lambda \sum_i \eta_i`.
    max_iter
        Most steps.
    tol
        Gap to stop at, as a share of the objective.

    Notes
    -----
    .. math:: J(\eta) = \max_\alpha \sum_t \alpha^t
              - \tfrac12 \sum_i \eta_i \beta^T K_i \beta

    is convex, with slope :math:`-\frac12 \beta^T K_i \beta`. Each step multiplies a weight by a
    power of its slope; the power one half is the exact minimum for fixed margins of the parts.
    """
    weights = np.full(len(grams), 1.0 / len(grams))
    machines = gram_machines(combine(weights, grams), signs, cost, tol)
    squares, objective = _squares(machines, grams), _objective(machines, weights, penalty)
    objectives, exponent = [objective], 2.0 * SAFE_EXPONENT
    gap = _gap(squares, weights, objective, penalty)
    for _ in range(max_iter):
        if gap <= tol:
            break
        trial = _step(weights, squares, exponent, penalty)
        after = gram_machines(combine(trial, grams), signs, cost, tol, machines)
        value = _objective(after, trial, penalty)
        if value > objective and exponent > SAFE_EXPONENT:
            exponent = max(SAFE_EXPONENT, 0.5 * exponent)
            continue
        weights, machines, objective = trial, after, value
        exponent *= 1.5
        squares = _squares(machines, grams)
        gap = _gap(squares, weights, objective, penalty)
        objectives.append(objective)
    return WeightedMachines(weights, machines, objectives, gap)


def _squares(machines: GramMachines, grams: np.ndarray) -> np.ndarray:
    return np.array([machines.squares(gram) for gram in grams])


def _objective(machines: GramMachines, weights: np.ndarray, penalty: float | None) -> float:
    return machines.objective + (0.0 if penalty is None else penalty * float(weights.sum()))


def _step(
    weights: np.ndarray, squares: np.ndarray, exponent: float, penalty: float | None
) -> np.ndarray:
    if penalty is None:
        ratios = squares / max(float(squares.max()), 1e-300)
        return _shares(weights * ratios**exponent)
    # Sums of any size: the ratio to what the penalty costs, and no leap by more than a hundred.
    return weights * np.clip(squares / (2.0 * penalty), 1e-4, 1e4) ** min(exponent, 0.5)


def _gap(
    squares: np.ndarray, weights: np.ndarray, objective: float, penalty: float | None
) -> float:
    if penalty is None:
        lacking = 0.5 * float(squares.max() - weights @ squares)
    else:
        lacking = float(np.abs(weights * (penalty - 0.5 * squares)).sum())
        lacking += float(weights.sum()) * max(0.0, 0.5 * float(squares.max()) - penalty)
    return lacking / max(abs(objective), 1e-300)


def _shares(weights: np.ndarray) -> np.ndarray:
    kept = np.where(weights > NEGLIGIBLE * weights.max(initial=0.0), weights, 0.0)
    if kept.sum() <= 0:
        return np.full(len(weights), 1.0 / len(weights))
    return kept / kept.sum()
