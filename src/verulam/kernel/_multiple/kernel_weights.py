"""Weights of several kernels: by alignment with the classes, or learned with the machine."""

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize

from verulam.base import one_blas_thread, thread_count, thread_map
from verulam.kernel._kernels.gram import centre_gram
from verulam.kernel._multiple.gram_svm import GramMachines, gram_machines
from verulam.kernel._tuning import QUADRATIC_KERNELS, SEVERAL_THREADED_ENTRIES
from verulam.numerics import njit

#: Weights below this share of the largest are set to zero.
NEGLIGIBLE = 1e-4
#: The exponent of a step that never makes the objective worse; longer ones are tried first.
SAFE_EXPONENT = 0.5
#: Shares below this are rounding, and their kernels need not be read.
LEAST_SHARE = 1e-9


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


def combine(weights: np.ndarray, grams: np.ndarray, total: np.ndarray | None = None) -> np.ndarray:
    """Return the weighted sum of Gram matrices, in `total` if there is room made for it."""
    size = grams.shape[1]
    if total is None:
        total = np.empty(grams.shape[1:], dtype=grams.dtype)
    used = np.flatnonzero(weights)
    factors = weights[used].astype(grams.dtype)
    # Rounded up, so that there are as many parts as threads.
    step = max(1, -(-size // thread_count()))

    def part(start: int) -> None:
        add_up(grams, used, factors, start, min(start + step, size), total)

    threads = 0 if grams.size > SEVERAL_THREADED_ENTRIES else 1
    thread_map(part, range(0, size, step), threads)
    return total


@njit(cache=True, nogil=True, fastmath=True)
def add_up(grams, used, weights, first, last, total):
    """Write rows of the weighted sum of some Gram matrices, each row while it is near."""
    for row in range(first, last):
        total[row] = 0.0
        for k in range(used.shape[0]):
            weight, gram = weights[k], grams[used[k], row]
            for column in range(gram.shape[0]):
                total[row, column] += weight * gram[column]


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
            float((gram * ideal).sum())
            / max(float(np.linalg.norm(gram) * np.linalg.norm(ideal)), 1e-300)
            for gram in centred
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
    # Kernels that are multiples of each other make the matrix singular.
    ridge = 1e-10 * float(np.trace(products)) + 1e-300
    # With A = R^T R, x^T A x - 2 b^T x is |R x - R^-T b|^2 up to a constant: least squares.
    factor = scipy.linalg.cholesky(products + ridge * np.eye(len(grams)))
    right = scipy.linalg.solve_triangular(factor, target, trans="T")
    weights, _ = scipy.optimize.nnls(factor, right)
    return _shares(weights)


@one_blas_thread()
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

    is convex, with slope :math:`-\frac12 \beta^T K_i \beta`. It is minimised by sequential
    quadratic programming, which learns its curvature from the slopes. Where that comes to rest too
    early, or kernels are many, each further step multiplies a weight by a power of its slope; the
    power one half is the exact minimum for fixed margins of the parts.
    """
    problem = _Problem(grams, signs, cost, penalty, tol)
    best = problem.at(np.full(len(grams), 1.0 / len(grams)))
    objectives = [best.objective]
    if penalty is not None:
        # One safe step finds the size of the sum.
        trial = problem.at(_multiplied_weights(best, SAFE_EXPONENT, penalty), best)
        best = _record_better(best, trial, objectives)
    if len(grams) <= QUADRATIC_KERNELS:
        best = _quasi_newton(problem, best, max_iter, objectives)
    best = _multiplicative_steps(problem, best, max_iter + 1 - len(objectives), objectives)
    return WeightedMachines(best.weights, best.machines, objectives, best.gap)


@dataclass(frozen=True, eq=False)
class _WeightState:
    r"""Weights and machines, with :math:`K_i \beta` and :math:`\beta^T K_i \beta` by kernel."""

    weights: np.ndarray
    machines: GramMachines
    K_betas: np.ndarray
    squared_norms: np.ndarray
    objective: float
    gap: float


class _Problem:
    """The objective as a function of the weights; the sum of Gram matrices is made in one place."""

    def __init__(
        self, grams: np.ndarray, signs: np.ndarray, cost: float, penalty: float | None, tol: float
    ) -> None:
        self.grams, self.signs, self.cost = grams, signs, cost
        self.penalty, self.tol = penalty, tol
        self._total = np.empty(grams.shape[1:], dtype=grams.dtype)

    def at(self, weights: np.ndarray, last: _WeightState | None = None) -> _WeightState:
        """Return machines and slopes at some weights, started from those of others."""
        combine(weights, self.grams, self._total)
        # K_i beta of the last machines is known for each kernel: their sum costs no kernel row.
        K_beta = None if last is None else np.tensordot(weights, last.K_betas, axes=1)
        machines = gram_machines(
            self._total,
            self.signs,
            self.cost,
            self.tol,
            None if last is None else last.machines,
            K_beta,
        )
        # By Danskin's theorem the slope of the objective needs the machines at their optimum alone.
        K_betas = machines.gram_products(self.grams)
        squared_norms = machines.squared_norms(K_betas)
        price = 0.0 if self.penalty is None else self.penalty * float(weights.sum())
        objective = machines.objective + price
        gap = _gap(squared_norms, weights, objective, self.penalty)
        return _WeightState(weights, machines, K_betas, squared_norms, objective, gap)


def _quasi_newton(
    problem: _Problem, start: _WeightState, max_iter: int, objectives: list[float]
) -> _WeightState:
    """Return the best weights that sequential quadratic programming finds."""
    best = last = start
    if start.gap <= problem.tol or not start.machines.converged:
        return start
    # Shares and values near one, whatever the units.
    size, scale = float(start.weights.sum()), max(abs(start.objective), 1e-300)
    price = 0.0 if problem.penalty is None else problem.penalty

    def value(shares: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best, last
        weights = size * np.where(shares > LEAST_SHARE, shares, 0.0)
        if not weights.any():
            return 1e300, np.zeros(len(shares))
        if (weights != last.weights).any():
            last = problem.at(weights / weights.sum() if problem.penalty is None else weights, last)
        best = _record_better(best, last, objectives)
        if best.gap <= problem.tol or not last.machines.converged:
            # Ends the search from within its objective, when the gap is small enough.
            raise StopIteration
        return last.objective / scale, (price - 0.5 * last.squared_norms) * (size / scale)

    sum_of_one: Any = {
        "type": "eq",
        "fun": lambda shares: shares.sum() - 1.0,
        "jac": lambda shares: np.ones(len(shares)),
    }
    with contextlib.suppress(StopIteration):
        scipy.optimize.minimize(
            value,
            start.weights / size,
            jac=True,
            method="SLSQP",
            bounds=[(0.0, None)] * len(start.weights),
            constraints=[sum_of_one] if problem.penalty is None else [],
            options={"maxiter": max_iter, "ftol": 0.01 * problem.tol},
        )
    return best


def _multiplicative_steps(
    problem: _Problem, best: _WeightState, max_iter: int, objectives: list[float]
) -> _WeightState:
    """Return weights after steps that never make the objective worse."""
    exponent = 2.0 * SAFE_EXPONENT
    for _ in range(max_iter):
        if best.gap <= problem.tol or not best.machines.converged:
            break
        trial = problem.at(_multiplied_weights(best, exponent, problem.penalty), best)
        # Too long a step: a shorter one is tried, down to the one that cannot fail.
        if trial.objective > best.objective and exponent > SAFE_EXPONENT:
            exponent = max(SAFE_EXPONENT, 0.5 * exponent)
            continue
        exponent *= 1.5
        best = trial
        objectives.append(best.objective)
    return best


def _record_better(
    best: _WeightState, trial: _WeightState, objectives: list[float]
) -> _WeightState:
    """Return the state of lower objective; that of a better trial is added to `objectives`."""
    if trial.objective >= best.objective:
        return best
    objectives.append(trial.objective)
    return trial


def _multiplied_weights(state: _WeightState, exponent: float, penalty: float | None) -> np.ndarray:
    """Return the weights, each times a power of its slope."""
    weights, squared_norms = state.weights, state.squared_norms
    if penalty is None:
        ratios = squared_norms / max(float(squared_norms.max()), 1e-300)
        return _shares(weights * ratios**exponent)
    # Sums of any size: the ratio to what the penalty costs, and no leap by more than a hundred.
    ratios = np.clip(squared_norms / (2.0 * penalty), 1e-4, 1e4)
    return weights * ratios ** min(exponent, SAFE_EXPONENT)


def _gap(
    squared_norms: np.ndarray, weights: np.ndarray, objective: float, penalty: float | None
) -> float:
    """Return what the best single kernel could still add, as a share of the objective."""
    if penalty is None:
        lacking = 0.5 * float(squared_norms.max() - weights @ squared_norms)
    else:
        lacking = float(np.abs(weights * (penalty - 0.5 * squared_norms)).sum())
        lacking += float(weights.sum()) * max(0.0, 0.5 * float(squared_norms.max()) - penalty)
    return lacking / max(abs(objective), 1e-300)


def _shares(weights: np.ndarray) -> np.ndarray:
    """Return the weights over their sum, negligible ones set to zero; equal ones if all are."""
    sparse = np.where(weights > NEGLIGIBLE * weights.max(initial=0.0), weights, 0.0)
    if sparse.sum() <= 0:
        return np.full(len(weights), 1.0 / len(weights))
    return sparse / sparse.sum()
