"""Gaussian processes with all their rows: factor, evidence and its gradient."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, solve_triangular
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.optimize import minimize

from verulam.base import DataError, Seed, generator, one_blas_thread
from verulam.kernel import Kernel, as_kernel, gram_gradient, log_hyperparameters

#: Hyperparameters are searched within this factor of where the search begins, either way.
_RANGE = 1e5
#: Shares of the mean diagonal that are added, one after another, until a factor exists.
_JITTER = (0.0, 1e-12, 1e-10, 1e-8)
#: Units of rounding within which the evidence need not rise any further.
_FACTR = 1e7
#: Up to this many rows, threads of BLAS wait for one another longer than they work.
MOST_ROWS_OF_ONE_THREAD = 1_000


@dataclass(frozen=True, eq=False)
class Factor:
    """Cholesky's factor of the covariance of the targets, and what is solved with it.

    Attributes
    ----------
    root : ndarray of shape (n_samples, n_samples)
        Lower triangular factor.
    dual_weights : ndarray of shape (n_samples,)
        Inverse covariance times targets.
    log_evidence : float
        Logarithm of the density of the targets.
    """

    root: np.ndarray
    dual_weights: np.ndarray
    log_evidence: float

    def half_solve(self, columns: np.ndarray) -> np.ndarray:
        """Return the inverse of the factor times columns, whose squares sum to those of C^-1."""
        return np.asarray(solve_triangular(self.root, columns, lower=True, check_finite=False))

    def solve(self, columns: np.ndarray) -> np.ndarray:
        """Return the inverse covariance times columns."""
        return np.asarray(dpotrs(self.root, columns, lower=1)[0])

    def inverse(self) -> np.ndarray:
        """Return the inverse covariance, its lower triangle only."""
        return np.asarray(dpotri(self.root, lower=1)[0])


def factorise_covariance(gram: np.ndarray, noise: float, targets: np.ndarray) -> Factor:
    """Factorise the covariance of the targets: Gram matrix and noise.

    Parameters
    ----------
    gram
        Gram matrix, symmetric.
    noise
        Variance of the noise.
    targets
        Targets about their mean.
    """
    places = np.arange(len(gram))
    diagonal = gram[places, places].copy()
    for jitter in _JITTER:
        # LAPACK reads columns: the transpose of a symmetric matrix is the same, in its order.
        matrix = gram.T.copy(order="F")
        matrix[places, places] = diagonal + noise + jitter * float(diagonal.mean())
        root, info = dpotrf(matrix, lower=1, overwrite_a=1)
        if info == 0:
            break
    else:
        raise LinAlgError("The covariance of the targets is not positive definite.")
    weights = np.asarray(dpotrs(root, targets, lower=1)[0])
    log_determinant = 2.0 * float(np.log(root[places, places]).sum())
    square = float(targets @ weights)
    log_evidence = -0.5 * (square + log_determinant + len(targets) * np.log(2.0 * np.pi))
    return Factor(root, weights, log_evidence)


def evidence_gradient(
    kernel: Kernel, inputs: np.ndarray, targets: np.ndarray, noise: float
) -> tuple[float, np.ndarray]:
    r"""Return the log-evidence, and its gradient by the logarithms of all hyperparameters.

    Notes
    -----
    .. math:: \frac{\partial \log p(r)}{\partial \theta} = \tfrac12 \sum_{ij} (a a^T - C^{-1})_{ij}
        \frac{\partial C_{ij}}{\partial \theta}, \qquad a = C^{-1} r

    The noise comes last.
    """
    gradient = gram_gradient(kernel, inputs)
    factor = factorise_covariance(gradient.gram, noise, targets)
    log_evidence = factor.log_evidence
    weights = _weights_of(factor)
    of_noise = noise * float(np.trace(weights))
    return log_evidence, np.array([*gradient.pull_back(weights), of_noise])


def _weights_of(factor: Factor) -> np.ndarray:
    """Return weights that stand for half of a a^T less the inverse covariance.

    The inverse is symmetric, so that one triangle, counted twice, is enough; the factor is
    overwritten.
    """
    inverse = dpotri(factor.root, lower=1, overwrite_c=1)[0]
    inverse *= -1.0
    places = np.arange(len(inverse))
    inverse[places, places] *= 0.5
    weights = dger(0.5, factor.dual_weights, factor.dual_weights, a=inverse, overwrite_a=1)
    return np.asarray(weights.T)


@dataclass(frozen=True)
class Search:
    """The hyperparameters that maximise the evidence.

    Attributes
    ----------
    logarithms : ndarray
        Their logarithms.
    log_evidence : float
        The evidence there.
    n_iter : int
        Steps of the search.
    """

    logarithms: np.ndarray
    log_evidence: float
    n_iter: int


def few_threads(n_rows: int) -> AbstractContextManager[None]:
    """Return a context in which BLAS takes one thread where there are few rows."""
    return one_blas_thread() if n_rows <= MOST_ROWS_OF_ONE_THREAD else nullcontext()


def maximise_evidence(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    n_init: int = 1,
    random_state: Seed = None,
) -> Search:
    """Return the best of several searches along the gradient of the evidence.

    Parameters
    ----------
    objective
        Function of the logarithms that returns the log-evidence and its gradient.
    start
        Where the first search begins; others begin at random within a factor of 100.
    n_init
        Number of searches.
    random_state
        Seed.
    """
    reach = np.log(_RANGE)
    bounds = list(zip(start - reach, start + reach, strict=True))
    rng = generator(random_state)

    def cost(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
        try:
            value, gradient = objective(logarithms)
        except LinAlgError:
            return np.inf, np.zeros_like(logarithms)
        return -value, -gradient

    best: Search | None = None
    for count in range(n_init):
        moves = rng.uniform(-np.log(100.0), np.log(100.0), size=len(start)) if count else 0.0
        solution: Any = minimize(
            cost,
            start + moves,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": _FACTR * np.finfo(float).eps},
        )
        search = Search(solution.x, -float(solution.fun), int(solution.nit))
        if best is None or search.log_evidence > best.log_evidence:
            best = search
    assert best is not None
    return best


def read_kernel(kernel: Any, inputs: np.ndarray) -> Kernel:
    """Return the covariance function of a process, adapted to its inputs."""
    if kernel is None:
        return (1.0 * as_kernel("gaussian")).adapted(inputs)
    adapted = as_kernel(kernel).adapted(inputs)
    if adapted.takes != "rows":
        raise DataError("kernel must compare rows of numbers.")
    log_hyperparameters(adapted)
    return adapted


def refuse_many_rows(n_rows: int, max_rows: int) -> None:
    """Refuse more rows than an exact process can take, and say what to do instead."""
    if n_rows > max_rows:
        raise DataError(
            f"an exact Gaussian process of {n_rows} rows needs {n_rows**2 / 2**27:.2g} GiB and "
            f"time that grows with their cube; max_rows is {max_rows}. Train on the rows that "
            "verulam.bayes.spread_rows picks, or use verulam.kernel.feature_map (random Fourier "
            "features or the Nystroem method) with BayesianLinearRegression, or raise max_rows."
        )
