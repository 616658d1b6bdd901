r"""Uniquenesses and loadings of a factor model, from a correlation matrix.

With :math:`\theta_i = \ln\psi_i` and the eigenvalues :math:`e_m`, eigenvectors :math:`\omega_m` of
:math:`\Psi^{-1/2} R \Psi^{-1/2}`, the best loadings of k factors are
:math:`\Psi^{1/2} \Omega_1 (E_1 - I)^{1/2}`, and what is left of the likelihood is

.. math:: f(\theta) = \sum_{m > k} (e_m - \ln e_m - 1), \qquad
          \frac{\partial f}{\partial\theta_i} = \sum_{m > k} (1 - e_m)\, \omega_{im}^2 .
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from verulam.numerics import column_signs

#: A step is halved at most so often before the search is over.
MOST_HALVINGS = 40
#: A step that lowers the objective by less than this share of its promise is halved.
SUFFICIENT = 1e-4
#: No step changes the logarithm of a uniqueness by more.
LONGEST_STEP = 2.0
#: Added to the curvature, so that directions the likelihood does not know stay where they are.
RIDGE = 1e-10


@dataclass(frozen=True)
class Uniquenesses:
    """A factor model of a correlation matrix.

    Attributes
    ----------
    values : ndarray of shape (n_columns,)
        Uniquenesses.
    loadings : ndarray of shape (n_columns, n_factors)
        Loadings before any rotation, the strongest factor first.
    n_iter
        Iterations made.
    converged
        Whether they ended by themselves.
    """

    values: np.ndarray
    loadings: np.ndarray
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class _Profile:
    """The likelihood with the loadings taken out, at some uniquenesses."""

    objective: float
    values: np.ndarray
    vectors: np.ndarray


def likelihood_uniquenesses(
    correlation: np.ndarray, n_factors: int, floor: float, max_iter: int, tol: float
) -> Uniquenesses:
    """Return the model of largest likelihood, by Newton's method within the bounds.

    Parameters
    ----------
    correlation
        Correlation matrix of the columns; it may be singular.
    n_factors
        Number of factors.
    floor
        Least uniqueness.
    max_iter
        Most steps.
    tol
        Largest change of a logarithm of a uniqueness at which the steps end.
    """
    lowest = float(np.log(floor))
    theta = np.log(np.clip(_start(correlation, n_factors), floor, 1.0))
    profile = _profile(correlation, theta, n_factors)
    for step_number in range(1, max_iter + 1):
        gradient, curvature = _derivatives(profile, n_factors)
        # At a bound that the gradient points beyond, nothing is to be gained.
        free = ~(((theta <= lowest) & (gradient > 0.0)) | ((theta >= 0.0) & (gradient < 0.0)))
        direction = np.zeros_like(theta)
        direction[free] = _newton_step(gradient[free], curvature[np.ix_(free, free)])
        step, profile, moved = _line_search(
            correlation, theta, direction, gradient, profile, n_factors, lowest
        )
        theta = step
        if moved <= tol:
            return _solution(profile, theta, n_factors, step_number, converged=True)
    return _solution(profile, theta, n_factors, max_iter, converged=False)


def principal_uniquenesses(
    correlation: np.ndarray, n_factors: int, floor: float, max_iter: int, tol: float
) -> Uniquenesses:
    """Return principal factors: components of the correlations with communalities on the diagonal.

    Arguments are those of `likelihood_uniquenesses`. The communalities that the loadings give take
    the place of those before, until they settle.
    """
    values = np.clip(_start(correlation, 0), floor, 1.0)
    for n_iter in range(1, max_iter + 1):
        reduced = correlation - np.diag(values)
        size = len(reduced)
        variances, vectors = scipy.linalg.eigh(
            reduced, subset_by_index=(size - n_factors, size - 1)
        )
        loadings = vectors[:, ::-1] * np.sqrt(np.maximum(variances[::-1], 0.0))
        previous, values = values, np.clip(1.0 - (loadings**2).sum(axis=1), floor, 1.0)
        converged = bool(np.abs(values - previous).max() <= tol)
        if converged or n_iter == max_iter:
            break
    return Uniquenesses(values, loadings * column_signs(loadings), n_iter, converged)


def _start(correlation: np.ndarray, n_factors: int) -> np.ndarray:
    """Return variances of columns given the others, as if a part of them were common (Joreskog)."""
    size = len(correlation)
    # A little ridge gives dependent columns a start, too.
    precision = np.linalg.inv(correlation + 1e-6 * np.eye(size))
    return (1.0 - 0.5 * n_factors / size) / np.diag(precision)


def _profile(correlation: np.ndarray, theta: np.ndarray, n_factors: int) -> _Profile:
    roots = np.exp(-0.5 * theta)
    values, vectors = scipy.linalg.eigh(correlation * np.outer(roots, roots))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    common = np.maximum(values[:n_factors], 1.0)
    # The determinant of the correlations is left out: it is a constant, and may be zero. A factor
    # whose eigenvalue is below one has no loadings, and counts with the rest.
    objective = float(
        (values[n_factors:] - 1.0).sum()
        + np.log(common).sum()
        + (values[:n_factors] - common).sum()
        + theta.sum()
    )
    return _Profile(objective, values, vectors)


def _derivatives(profile: _Profile, n_factors: int) -> tuple[np.ndarray, np.ndarray]:
    """Return gradient and Hessian by the logarithms of the uniquenesses."""
    count = min(n_factors, int((profile.values > 1.0).sum()))
    common, rest = profile.values[:count], profile.values[count:]
    factors, others = profile.vectors[:, :count], profile.vectors[:, count:]
    gradient = others**2 @ (1.0 - rest)
    # From the derivatives of eigenvectors; pairs among the rest collapse to a product by entries.
    hessian = ((others * rest) @ others.T) * (others @ others.T)
    for value, vector in zip(common, factors.T, strict=True):
        gaps = np.maximum(value - rest, 1e-8)
        weights = (1.0 - rest) * (value + rest) / gaps
        hessian += np.outer(vector, vector) * ((others * weights) @ others.T)
    return gradient, hessian


def _newton_step(gradient: np.ndarray, hessian: np.ndarray) -> np.ndarray:
    """Return the step to the minimum of the quadratic, turned downhill where it has none."""
    values, vectors = scipy.linalg.eigh(hessian)
    # Absolute curvatures make every direction one of descent.
    curvatures = np.maximum(np.abs(values), RIDGE + 1e-8 * np.abs(values).max(initial=0.0))
    step = -vectors @ ((vectors.T @ gradient) / curvatures)
    longest = np.abs(step).max(initial=0.0)
    return step * min(1.0, LONGEST_STEP / max(longest, LONGEST_STEP))


def _line_search(
    correlation: np.ndarray,
    theta: np.ndarray,
    direction: np.ndarray,
    gradient: np.ndarray,
    profile: _Profile,
    n_factors: int,
    lowest: float,
) -> tuple[np.ndarray, _Profile, float]:
    """Return the point along the direction that lowers the objective, and how far it is."""
    share = 1.0
    for _ in range(MOST_HALVINGS):
        trial = np.clip(theta + share * direction, lowest, 0.0)
        promise = float(gradient @ (trial - theta))
        moved = float(np.abs(trial - theta).max(initial=0.0))
        candidate = _profile(correlation, trial, n_factors)
        rounding = 1e-13 * max(1.0, abs(profile.objective))
        if candidate.objective <= profile.objective + SUFFICIENT * promise + rounding:
            return trial, candidate, moved
        share *= 0.5
    return theta, profile, 0.0


def _solution(
    profile: _Profile, theta: np.ndarray, n_factors: int, n_iter: int, *, converged: bool
) -> Uniquenesses:
    strengths = np.sqrt(np.maximum(profile.values[:n_factors] - 1.0, 0.0))
    loadings = np.exp(0.5 * theta)[:, None] * profile.vectors[:, :n_factors] * strengths
    return Uniquenesses(np.exp(theta), loadings * column_signs(loadings), n_iter, converged)
