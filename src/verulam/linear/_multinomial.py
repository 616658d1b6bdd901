"""Shares of several categories as softmax of linear functions, by Newton's method."""

from dataclasses import dataclass

import numpy as np
from scipy.special import rel_entr

from verulam.linear._logistic_problem import LogisticProblem

#: Halvings of a step before it is given up.
_MOST_HALVINGS = 30
#: Largest entry of the gradient of the mean loss at the end.
_FLAT = 1e-10
#: Part of the objective below which a rise is rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class MultinomialFit:
    """The maximum of a multinomial likelihood.

    Attributes
    ----------
    coefficients : ndarray of shape (n_categories, n_weights)
        Bias and weights of each category; those of the first are zero.
    standard_errors : ndarray of shape (n_categories - 1, n_weights)
        Standard errors of the others.
    deviance
        Twice the log-likelihood lost against the shares themselves.
    n_iter
        Newton steps.
    converged
        Whether the gradient vanished.
    separated
        Whether every row has its only category as the likeliest, so that no likelihood is the
        largest.
    """

    coefficients: np.ndarray
    standard_errors: np.ndarray
    deviance: float
    n_iter: int
    converged: bool
    separated: bool


def fit_multinomial(
    inputs: np.ndarray, counts: np.ndarray, weights: np.ndarray | None, max_iter: int
) -> MultinomialFit:
    """Return the maximum-likelihood weights against the first category.

    Parameters
    ----------
    inputs
        Rows.
    counts
        Count, or share, of each category in each row.
    weights
        Weight of each row, or None.
    max_iter
        Most Newton steps.
    """
    n_categories = counts.shape[1]
    amounts = counts if weights is None else counts * weights[:, None]
    # A row of counts is one row of each category that it has, with the count as its weight.
    rows, codes = np.nonzero(amounts)
    problem = LogisticProblem(inputs[rows], codes, n_categories, amounts[rows, codes], 0.0)
    coefficients, n_iter, converged = _climb(problem, max_iter)
    information = problem.information(coefficients, 0)
    covariance = np.linalg.pinv(information, hermitian=True)
    full = np.zeros((n_categories, inputs.shape[1] + 1))
    full[1:] = coefficients[-(n_categories - 1) :]
    means = problem.posterior(inputs, coefficients)
    shares = amounts / np.maximum(amounts.sum(axis=1, keepdims=True), 1e-300)
    deviance = 2.0 * float(amounts.sum(axis=1) @ rel_entr(shares, means).sum(axis=1))
    return MultinomialFit(
        full,
        np.sqrt(np.diag(covariance)).reshape(n_categories - 1, -1),
        deviance,
        n_iter,
        converged,
        problem.all_right(coefficients),
    )


def _climb(problem: LogisticProblem, max_iter: int) -> tuple[np.ndarray, int, bool]:
    """Return coefficients, the first category's zero, Newton steps, and whether they ended."""
    coefficients = np.zeros(problem.shape)
    others = slice(0, 1) if problem.n_classes == 2 else slice(1, None)
    value, gradient = problem.value_and_gradient(coefficients)
    for n_iter in range(1, max_iter + 1):
        slope = gradient[others].ravel()
        if np.abs(slope).max() <= _FLAT * problem.total_weight:
            return coefficients, n_iter - 1, True
        step = np.zeros_like(coefficients)
        move = np.linalg.lstsq(problem.information(coefficients, 0), -slope, rcond=None)[0]
        step[others] = move.reshape(-1, problem.shape[1])
        for _ in range(_MOST_HALVINGS):
            following, slopes = problem.value_and_gradient(coefficients + step)
            if following <= value + _ROUNDING * abs(value):
                break
            step /= 2.0
        else:
            return coefficients, n_iter, True
        coefficients, value, gradient = coefficients + step, following, slopes
    return coefficients, max_iter, False
