r"""Softmax of linear functions fitted to shares of classes, by Newton steps that never go down."""

from typing import Any

import numpy as np
from scipy.optimize import minimize

from verulam.local._radial.gates import log_normalised
from verulam.local._radial.units import FloatArray

#: More weights than this are fitted without the matrix of second derivatives.
MOST_FOR_NEWTON = 300
#: A gain of this share of the rows is none.
LEAST_GAIN = 1e-10


def fit_softmax(
    design: FloatArray,
    targets: FloatArray,
    decay: FloatArray,
    start: FloatArray,
    max_iter: int = 50,
) -> FloatArray:
    r"""Return weights that maximise a weighted likelihood; it is never below that of the start.

    .. math:: \sum_t \sum_k r_k^t \ln y_k^t - \tfrac12 \sum_j \lambda_j \sum_k w_{jk}^2 , \qquad
              y^t = \mathrm{softmax}(W^T x^t)

    Parameters
    ----------
    design
        Rows of inputs, a column of ones among them where there is to be an intercept.
    targets
        Shares of the classes, which sum to the weight of their row.
    decay
        Penalty :math:`\lambda_j` of each input.
    start
        First weights, inputs by classes.
    max_iter
        Most steps.

    Notes
    -----
    Newton steps on this likelihood are iteratively reweighted least squares (Jordan and Jacobs,
    1994).

    Examples
    --------
    >>> import numpy as np
    >>> ones = np.ones((1, 1))
    >>> weights = fit_softmax(ones, np.array([[3.0, 1.0]]), np.full(1, 1e-12), np.zeros((1, 2)))
    >>> np.exp(weights[0, 0] - weights[0, 1]).round(6)
    np.float64(3.0)
    """
    mass = targets.sum(axis=1)

    def loss(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        logarithms = log_normalised(design @ weights)
        shares = np.exp(logarithms)
        value = -np.sum(targets * logarithms) + 0.5 * np.sum(decay[:, None] * weights**2)
        slope = design.T @ (mass[:, None] * shares - targets) + decay[:, None] * weights
        return float(value), slope, shares

    if start.size > MOST_FOR_NEWTON:

        def flat_loss(flat: FloatArray) -> tuple[float, FloatArray]:
            value, slope, _ = loss(flat.reshape(start.shape))
            return value / total, slope.ravel() / total

        total = float(mass.sum()) or 1.0
        options: Any = {"maxiter": 10 * max_iter, "gtol": 1e-7}
        result: Any = minimize(
            flat_loss, start.ravel(), jac=True, method="L-BFGS-B", options=options
        )
        return result.x.reshape(start.shape)
    weights = start
    value, slope, shares = loss(weights)
    for _ in range(max_iter):
        step = _newton_step(design, mass, shares, slope, decay)
        length = 1.0
        while length > 1e-8:
            moved = weights - length * step
            new_value, new_slope, new_shares = loss(moved)
            if new_value <= value:
                break
            length *= 0.5
        else:
            break
        gain = value - new_value
        weights, value, slope, shares = moved, new_value, new_slope, new_shares
        if gain <= LEAST_GAIN * max(float(mass.sum()), 1e-300):
            break
    return weights


def _newton_step(
    design: FloatArray,
    mass: FloatArray,
    shares: FloatArray,
    slope: FloatArray,
    decay: FloatArray,
) -> FloatArray:
    """Return the second derivatives, inverted, times the slope."""
    n_inputs, n_classes = slope.shape
    curvature = np.empty((n_classes, n_inputs, n_classes, n_inputs))
    for row in range(n_classes):
        for column in range(row + 1):
            factor = mass * shares[:, row] * ((row == column) - shares[:, column])
            block = design.T @ (factor[:, None] * design)
            curvature[row, :, column, :] = block
            curvature[column, :, row, :] = block
    matrix = curvature.reshape(n_classes * n_inputs, -1)
    matrix[np.diag_indices_from(matrix)] += np.tile(decay, n_classes)
    # The same constant may be added to all classes: a hair on the diagonal settles which.
    matrix[np.diag_indices_from(matrix)] += 1e-9 * (np.trace(matrix) / len(matrix) + 1e-12)
    return np.linalg.solve(matrix, slope.T.ravel()).reshape(n_classes, n_inputs).T
