"""Empirical risk minimisation: a model, a loss, and an optimiser, each to be exchanged."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit

from verulam.base import DataError, unknown_name

#: From inputs and parameters to outputs.
Model = Callable[[np.ndarray, np.ndarray], np.ndarray]
#: From targets and outputs to the loss of each row.
Loss = Callable[[np.ndarray, np.ndarray], np.ndarray]
#: From an objective and a start to the parameters that make it least.
Optimiser = Callable[[Callable[[np.ndarray], float], np.ndarray], np.ndarray]


def _linear(inputs: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    return parameters[0] + inputs @ parameters[1:]


def _logistic(inputs: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    return expit(_linear(inputs, parameters))


def _cross_entropy(targets: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    # A row fitted beyond doubt, but wrongly, would have an infinite loss.
    safe = np.clip(outputs, 1e-12, 1.0 - 1e-12)
    return -(targets * np.log(safe) + (1.0 - targets) * np.log(1.0 - safe))


def _quasi_newton(objective: Callable[[np.ndarray], float], start: np.ndarray) -> np.ndarray:
    return minimize(objective, start, method="BFGS", options={"gtol": 1e-7}).x


def _simplex(objective: Callable[[np.ndarray], float], start: np.ndarray) -> np.ndarray:
    return minimize(
        objective,
        start,
        method="Nelder-Mead",
        options={
            "xatol": 1e-9,
            "fatol": 1e-12,
            "maxiter": 20000,
            "maxfev": 40000,
            "adaptive": True,
        },
    ).x


def _conjugate_gradient(objective: Callable[[np.ndarray], float], start: np.ndarray) -> np.ndarray:
    return minimize(objective, start, method="CG", options={"gtol": 1e-7, "maxiter": 20000}).x


Part = TypeVar("Part")
MODELS: Mapping[str, Model] = {"linear": _linear, "logistic": _logistic}
LOSSES: Mapping[str, Loss] = {
    "squared": lambda targets, outputs: (targets - outputs) ** 2,
    "absolute": lambda targets, outputs: np.abs(targets - outputs),
    "cross entropy": _cross_entropy,
}
OPTIMISERS: Mapping[str, Optimiser] = {
    "quasi-newton": _quasi_newton,
    "conjugate gradient": _conjugate_gradient,
    "simplex": _simplex,
}


@dataclass(frozen=True, eq=False)
class MinimumLoss:
    """The parameters of least mean loss: empirical risk minimisation.

    Attributes
    ----------
    parameters
        Those with the least loss.
    loss
        Mean loss of the rows at these parameters.
    model
        From inputs and parameters to outputs.
    """

    parameters: np.ndarray
    loss: float
    model: Model = field(repr=False)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the outputs of the model for new inputs."""
        return self.model(_inputs(X), self.parameters)


def minimise_loss(
    X: ArrayLike,
    y: ArrayLike,
    *,
    model: str | Model = "linear",
    loss: str | Loss = "squared",
    optimiser: str | Optimiser = "quasi-newton",
    init: ArrayLike | None = None,
) -> MinimumLoss:
    r"""Return the parameters of a model with the least loss on a sample.

    Parameters
    ----------
    X
        Inputs, one row each; one column may be a plain list.
    y
        Targets, numbers.
    model
        "linear", "logistic", or a function of inputs and parameters.
    loss
        "squared", "absolute", "cross entropy", or a function of targets and outputs that returns
        the loss of each row.
    optimiser
        "quasi-newton" and "conjugate gradient" for smooth losses, "simplex" for any, or a function
        of an objective and a start.
    init
        Parameters to begin with, which also say how many a model of your own has; None begins
        with zeros, one for the constant and one for each column.

    Notes
    -----
    The dimensions of a learner (SIT1305 I): :math:`\theta^* = \arg\min_\theta \sum_t L(r^t, g(x^t
    \mid \theta))` with a model :math:`g`, a loss :math:`L` and an optimiser. Learners of this
    library have parts that fit together and are far quicker; this one is to change them.

    Examples
    --------
    >>> line = minimise_loss([0, 1, 2, 3], [1, 3, 5, 7])
    >>> (line.parameters + 0.0).round(4), float(line.predict([10]).round(3)[0])
    (array([1., 2.]), 21.0)
    """
    inputs, targets = _inputs(X), np.asarray(y, dtype=np.float64)
    if targets.shape != (len(inputs),):
        raise DataError(
            f"y has shape {targets.shape}; expected one number for each of {len(inputs)} rows of X."
        )
    if not (np.isfinite(inputs).all() and np.isfinite(targets).all()):
        raise DataError("X and y must be finite; fill in or drop missing values first.")
    outputs_of = _part("model", model, MODELS)
    row_losses = _part("loss", loss, LOSSES)
    search = _part("optimiser", optimiser, OPTIMISERS)
    first = np.zeros(inputs.shape[1] + 1) if init is None else np.asarray(init, dtype=np.float64)

    def objective(parameters: np.ndarray) -> float:
        return float(np.mean(row_losses(targets, outputs_of(inputs, parameters))))

    best = np.asarray(search(objective, first), dtype=np.float64)
    return MinimumLoss(best, objective(best), outputs_of)


def _part(kind: str, part: str | Part, known: Mapping[str, Part]) -> Part:
    if not isinstance(part, str):
        return part
    if part not in known:
        raise unknown_name(kind, part, list(known))
    return known[part]


def _inputs(X: ArrayLike) -> np.ndarray:
    values = np.asarray(X, dtype=np.float64)
    values = values[:, np.newaxis] if values.ndim == 1 else values
    if values.ndim != 2 or len(values) == 0:
        raise DataError(f"X has shape {values.shape}; expected a table with at least one row.")
    return values
