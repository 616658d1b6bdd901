"""From outputs of machines to probabilities, learned on held-out rows."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from verulam.base import DataError
from verulam.numerics import log_softmax, sigmoid, softmax

#: Weight of the squares of the slopes, so that separated outputs have a finite answer.
_RIDGE = 1e-6


@dataclass(frozen=True, eq=False)
class Calibration:
    r"""A map from outputs to posteriors, :math:`\mathrm{softmax}(V f + v_0)`.

    Attributes
    ----------
    slopes : ndarray of shape (n_classes, n_outputs)
        The matrix :math:`V`.
    offsets : ndarray of shape (n_classes,)
        The vector :math:`v_0`.
    log_loss
        Mean cross-entropy on the rows that it was learned from.
    """

    slopes: np.ndarray
    offsets: np.ndarray
    log_loss: float

    def probabilities(self, outputs: np.ndarray) -> np.ndarray:
        """Return the posterior of each class for each row of outputs."""
        return softmax(outputs @ self.slopes.T + self.offsets, axis=1)


def platt_calibration(outputs: np.ndarray, positive: np.ndarray) -> Calibration:
    r"""Fit the sigmoid of a two-class output.

    Parameters
    ----------
    outputs
        Output :math:`g` of each held-out row.
    positive
        Whether the row is of the second class.

    Notes
    -----
    Targets are :math:`(N_+ + 1) / (N_+ + 2)` and :math:`1 / (N_- + 2)` in place of one and zero,
    which keeps the slope finite. See Alpaydin 13.9.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import platt_calibration
    >>> outputs = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
    >>> fitted = platt_calibration(outputs, outputs > 0)
    >>> fitted.probabilities(np.array([[0.0], [2.0]]))[:, 1].round(2)
    array([0.5 , 0.88])
    """
    positive = np.asarray(positive, dtype=bool)
    count = int(positive.sum())
    targets = np.where(positive, (count + 1) / (count + 2), 1 / (len(positive) - count + 2))

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        # The cross-entropy in a form that does not overflow: log(1 + e^s) - target s.
        scores = parameters[0] * outputs + parameters[1]
        value = float(np.sum(np.logaddexp(0.0, scores) - targets * scores))
        lack = sigmoid(scores) - targets
        return value, np.array([lack @ outputs, lack.sum()])

    optimum = minimize(loss, np.array([1.0, 0.0]), jac=True, method="BFGS")
    slope, offset = optimum.x
    return Calibration(
        np.array([[0.0], [slope]]), np.array([0.0, offset]), float(optimum.fun) / len(outputs)
    )


def softmax_calibration(outputs: np.ndarray, codes: np.ndarray, n_classes: int) -> Calibration:
    r"""Fit a softmax layer over the outputs of several machines, by cross-entropy.

    Parameters
    ----------
    outputs
        One row of outputs for each held-out row.
    codes
        Position of the class of each row.
    n_classes
        Number of classes.

    Notes
    -----
    See Alpaydin 13.9 (13.41).
    """
    rows, size = np.arange(len(outputs)), outputs.shape[1]
    # A column of ones for the offsets.
    wide = np.column_stack([outputs, np.ones(len(outputs))])

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(n_classes, size + 1)
        logs = log_softmax(wide @ weights.T, axis=1)
        lack = np.exp(logs)
        lack[rows, codes] -= 1.0
        value = -float(logs[rows, codes].mean()) + 0.5 * _RIDGE * float(flat @ flat)
        return value, (lack.T @ wide / len(rows) + _RIDGE * weights).ravel()

    optimum = minimize(loss, np.zeros(n_classes * (size + 1)), jac=True, method="L-BFGS-B")
    weights = optimum.x.reshape(n_classes, size + 1)
    return Calibration(weights[:, :-1], weights[:, -1], float(optimum.fun))


def check_held_out(codes: np.ndarray, n_classes: int) -> None:
    """Refuse held-out rows that lack a class."""
    counts = np.bincount(codes, minlength=n_classes)
    if (counts == 0).any():
        raise DataError(
            "calibration: the held-out rows lack a class; raise validation_fraction, or give more "
            "rows."
        )
