"""Newton's method (Fisher scoring) on a logistic likelihood, with the covariance at its end."""

from dataclasses import dataclass

import numpy as np

from verulam.linear._logistic.logistic_problem import LogisticProblem

#: Least eigenvalue of a scaled information matrix that still tells all estimates apart.
_SINGULAR = 1e-9
#: Halvings of a step before it is given up.
_MOST_HALVINGS = 30
#: Standard errors that the last step may have.
_SHORT = 1e-9
#: Part of the objective below which a rise is rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Covariance:
    """The inverse of an information matrix.

    Attributes
    ----------
    matrix
        Covariance of the estimates; of many equal solutions that of the shortest.
    singular
        Whether some estimates cannot be told apart.
    """

    matrix: np.ndarray
    singular: bool


def invert_information(information: np.ndarray) -> Covariance:
    """Return the inverse, found in columns of one size so that their scales do not matter."""
    diagonal = np.diag(information)
    # A column of no information keeps a variance of zero instead of an infinite one.
    scales = np.where(diagonal > 0, 1.0 / np.sqrt(np.maximum(diagonal, 1e-300)), 0.0)
    values, vectors = np.linalg.eigh(information * np.outer(scales, scales))
    regular = values > _SINGULAR
    inner = (vectors[:, regular] / values[regular]) @ vectors[:, regular].T
    return Covariance(inner * np.outer(scales, scales), not regular.all())


@dataclass(frozen=True)
class NewtonFit:
    """Where Newton's method ended.

    Attributes
    ----------
    coefficients
        Bias and weights of each class; where there are more than two, those of the reference as
        they were at the start.
    covariance
        Inverse of the information there.
    n_iter
        Steps taken.
    converged
        Whether the last step was short beside the standard errors.
    """

    coefficients: np.ndarray
    covariance: Covariance
    n_iter: int
    converged: bool


def maximise_likelihood(
    problem: LogisticProblem, init: np.ndarray, reference: int, max_iter: int
) -> NewtonFit:
    """Climb from `init`, moving the coefficients of all classes but the reference.

    Parameters
    ----------
    problem
        The likelihood, without a penalty.
    init
        First coefficients.
    reference
        Number of the class whose coefficients stay.
    max_iter
        Most steps.
    """
    coefficients = init.copy()
    two = problem.n_classes == 2
    others = [0] if two else [code for code in range(problem.n_classes) if code != reference]
    # The only row of two classes is the second against the first, whichever is the reference.
    fixed = 0 if two else reference
    value, gradient = problem.value_and_gradient(coefficients)
    for n_iter in range(max_iter + 1):
        covariance = invert_information(problem.information(coefficients, fixed))
        # The Newton step: of a softmax the observed information is the expected one, too.
        move = -covariance.matrix @ gradient[others].ravel()
        errors = np.sqrt(np.maximum(np.diag(covariance.matrix), 0.0))
        # In units of standard errors a step is short whatever the scales of the columns.
        if (np.abs(move) <= _SHORT * errors).all():
            return NewtonFit(coefficients, covariance, n_iter, True)
        if n_iter == max_iter:
            break
        step = np.zeros_like(coefficients)
        step[others] = move.reshape(len(others), -1)
        for _ in range(_MOST_HALVINGS):
            following, next_gradient = problem.value_and_gradient(coefficients + step)
            if following <= value + _ROUNDING * abs(value):
                break
            step /= 2.0
        else:
            # No step goes down any more: the maximum, up to rounding.
            return NewtonFit(coefficients, covariance, n_iter, True)
        coefficients, value, gradient = coefficients + step, following, next_gradient
    return NewtonFit(coefficients, covariance, max_iter, False)
