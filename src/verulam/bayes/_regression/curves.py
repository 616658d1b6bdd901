"""Any function of inputs and weights, fitted with or without a Gaussian prior of the weights."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import approx_fprime, minimize

from verulam.base import (
    FUNCTION,
    NUMBER,
    NUMBERS,
    TEXT,
    VECTOR,
    WHOLE,
    DataError,
    checked_arguments,
)

#: Halvings of a step of gradient descent before it is given up.
_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class CurveFit:
    """A function with its weights.

    Attributes
    ----------
    function
        Function of inputs and weights.
    weights : ndarray of shape (n_weights,)
        The weights.
    error : float
        Sum of squared errors.
    objective : float
        What was minimised: half the noise precision times the error, and half the prior precision
        times the sum of squared weights.
    n_iter : int
        Number of steps.
    converged : bool
        Whether the gradient vanished within the steps allowed.
    """

    function: Callable[[np.ndarray, np.ndarray], Any]
    weights: np.ndarray
    error: float
    objective: float
    n_iter: int
    converged: bool

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the values of the function at rows."""
        return np.asarray(self.function(np.asarray(X, dtype=np.float64), self.weights))


@checked_arguments(
    function=FUNCTION,
    X=NUMBERS,
    y=VECTOR,
    start=NUMBERS,
    prior_precision=NUMBER,
    noise_precision=NUMBER,
    solver=TEXT,
    max_iter=WHOLE,
)
def fit_curve(
    function: Callable[[np.ndarray, np.ndarray], Any],
    X: ArrayLike,
    y: ArrayLike,
    start: ArrayLike,
    *,
    prior_precision: float = 0.0,
    noise_precision: float = 1.0,
    solver: str = "lbfgs",
    max_iter: int = 1000,
) -> CurveFit:
    r"""Return the likeliest weights of a function :math:`g(x \mid w)` with Gaussian noise.

    Parameters
    ----------
    function
        Function of a table of inputs and a vector of weights that returns a value for each row.
    X, y
        Rows and their targets.
    start
        Weights to begin with.
    prior_precision
        Precision :math:`\alpha` of the prior of each weight; 0 for maximum likelihood.
    noise_precision
        Precision :math:`\beta` of the noise.
    solver
        "lbfgs", or "gradient" for plain gradient descent with steps that are halved until the
        objective falls.
    max_iter
        Most steps.

    Notes
    -----
    .. math:: \min_w \sum_t (r^t - g(x^t \mid w))^2 + \lambda \sum_i w_i^2, \qquad
        \lambda = \alpha / \beta

    For a linear function this is ridge regression, for a network weight decay. See Alpaydin 16.4.1
    (16.20-16.24).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import fit_curve
    >>> X = np.linspace(0.0, 2.0, 9)[:, None]
    >>> decay = lambda X, w: w[0] * np.exp(-w[1] * X[:, 0])
    >>> fit_curve(decay, X, decay(X, [3.0, 0.7]), [1.0, 1.0]).weights.round(3)
    array([3. , 0.7])
    """
    rows, targets = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    weights = np.array(start, dtype=np.float64)
    _check(rows, targets, weights, prior_precision, noise_precision, solver)

    def error(point: np.ndarray) -> float:
        values = np.asarray(function(rows, point), dtype=np.float64)
        if values.shape != targets.shape:
            raise DataError(
                f"function must return a value for each of the {len(targets)} rows; got shape "
                f"{values.shape}."
            )
        return float((targets - values) @ (targets - values))

    def objective(point: np.ndarray) -> float:
        return 0.5 * (noise_precision * error(point) + prior_precision * float(point @ point))

    if solver == "lbfgs":
        solution: Any = minimize(
            objective, weights, method="L-BFGS-B", options={"maxiter": max_iter, "ftol": 1e-14}
        )
        weights, n_iter, converged = solution.x, int(solution.nit), bool(solution.success)
    else:
        weights, n_iter, converged = _descend(objective, weights, max_iter)
    return CurveFit(function, weights, error(weights), objective(weights), n_iter, converged)


def _descend(
    objective: Callable[[np.ndarray], float], weights: np.ndarray, max_iter: int
) -> tuple[np.ndarray, int, bool]:
    height, step = objective(weights), 1.0
    for count in range(1, max_iter + 1):
        gradient = approx_fprime(weights, objective, 1e-8)
        slope = float(gradient @ gradient)
        for _ in range(_HALVINGS):
            later = weights - step * gradient
            lower = objective(later)
            # Armijo's rule: a fair share of what the slope promises.
            if lower <= height - 0.1 * step * slope:
                break
            step *= 0.5
        else:
            return weights, count, True
        settled = height - lower <= 1e-12 * max(abs(height), 1e-12)
        weights, height, step = later, lower, 2.0 * step
        if settled:
            return weights, count, True
    return weights, max_iter, False


def _check(
    rows: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    prior_precision: float,
    noise_precision: float,
    solver: str,
) -> None:
    if targets.ndim != 1 or not len(targets) or len(rows) != len(targets):
        raise DataError(
            f"y must have a target for each of the {len(rows)} rows of X; got shape "
            f"{targets.shape}."
        )
    if not (np.isfinite(rows).all() and np.isfinite(targets).all()):
        raise DataError("X and y must be finite.")
    if weights.ndim != 1 or not len(weights) or not np.isfinite(weights).all():
        raise DataError("start must be a vector of finite weights.")
    if not (np.isfinite(prior_precision) and prior_precision >= 0):
        raise DataError(f"prior_precision must be a number of at least 0; got {prior_precision!r}.")
    if not (np.isfinite(noise_precision) and noise_precision > 0):
        raise DataError(f"noise_precision must be a number above 0; got {noise_precision!r}.")
    if solver not in ("lbfgs", "gradient"):
        raise DataError(f'solver must be "lbfgs" or "gradient"; got {solver!r}.')
