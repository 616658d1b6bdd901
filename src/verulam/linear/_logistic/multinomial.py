"""Shares of several categories as softmax of linear functions, by Newton's method."""

from dataclasses import dataclass

import numpy as np
from scipy.special import rel_entr

from verulam.linear._logistic.logistic_problem import LogisticProblem
from verulam.linear._logistic.newton import maximise_likelihood


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
    start = np.zeros(problem.shape)
    found = maximise_likelihood(problem, start, reference=0, max_iter=max_iter)
    coefficients = found.coefficients
    full = np.zeros((n_categories, inputs.shape[1] + 1))
    full[1:] = coefficients[-(n_categories - 1) :]
    means = problem.posterior(inputs, coefficients)
    shares = amounts / np.maximum(amounts.sum(axis=1, keepdims=True), 1e-300)
    deviance = 2.0 * float(amounts.sum(axis=1) @ rel_entr(shares, means).sum(axis=1))
    return MultinomialFit(
        full,
        np.sqrt(np.diag(found.covariance.matrix)).reshape(n_categories - 1, -1),
        deviance,
        found.n_iter,
        found.converged,
        problem.all_right(coefficients),
    )
