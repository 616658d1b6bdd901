"""Stable functions of probabilities and their logarithms, and the posterior by Bayes' rule."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit as sigmoid
from scipy.special import log_softmax, logit, softmax
from scipy.special import logsumexp as log_sum_exp

from verulam.base import map_rows
from verulam.numerics._special_loops import (
    largest_column,
    largest_linear,
    linear_values,
    log_normalise,
)

__all__ = [
    "PosteriorMixin",
    "largest_linear_function",
    "linear_functions",
    "log_softmax",
    "log_sum_exp",
    "logit",
    "normalise_rows",
    "sigmoid",
    "sigmoid_slope",
    "softmax",
    "softmax_jacobian",
]

#: Up to this many weights, one compiled pass over the rows beats a matrix product and a second
#: pass over its result.
FEW_WEIGHTS = 1024
#: Up to this many rows NumPy is quick enough, and nothing needs to be compiled.
FEW_ROWS = 4096
#: Entries of a column that differ by no more than this share count as equally large.
EQUAL = 1e-6


def sigmoid_slope(values: ArrayLike) -> np.ndarray:
    r"""Return the derivative :math:`y (1 - y)` of the sigmoid, without cancellation.

    Parameters
    ----------
    values
        Where to take it.

    Notes
    -----
    See Alpaydin 10.7.1 (10.24).

    Examples
    --------
    >>> sigmoid_slope([0.0, 2.0]).round(4)
    array([0.25 , 0.105])
    """
    values = np.asarray(values, dtype=np.float64)
    # One minus a sigmoid near one has lost its digits; the sigmoid of the opposite has not.
    return np.asarray(sigmoid(values) * sigmoid(-values))


def softmax_jacobian(values: ArrayLike) -> np.ndarray:
    r"""Return :math:`\partial y_i / \partial a_j = y_i (\delta_{ij} - y_j)` of softmax.

    Parameters
    ----------
    values : array of shape (n_classes,) or (n_rows, n_classes)
        Outputs before softmax; a constant added to a row changes nothing.

    Returns
    -------
    ndarray of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes)

    Notes
    -----
    See Alpaydin 10.7.2 (10.29 and 10.32).

    Examples
    --------
    >>> softmax_jacobian([0.0, 0.0])
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    >>> softmax_jacobian([1e4, 1e4])
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    shares = softmax(np.asarray(values, dtype=np.float64), axis=-1)
    table = -shares[..., :, None] * shares[..., None, :]
    # The others' shares, not one minus the own, which cancels where a class is nearly certain.
    places = np.arange(shares.shape[-1])
    table[..., places, places] = 0.0
    table[..., places, places] = -table.sum(axis=-1)
    return table


def normalise_rows(log_values: np.ndarray) -> np.ndarray:
    r"""Return :math:`e^{v_{ik}} / \sum_l e^{v_{il}}` for each row, without overflow.

    One compiled pass over the rows, which is several times faster than
    `scipy.special.softmax` on tall arrays. A row of minus infinities, where no class is
    possible, gives NaN.

    Parameters
    ----------
    log_values
        Logarithms, up to a constant of each row.

    Examples
    --------
    >>> import numpy as np
    >>> normalise_rows(np.array([[0.0, np.log(3.0)], [-1000.0, -1000.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    log_values = np.ascontiguousarray(log_values, dtype=np.float64)

    def normalised(rows: np.ndarray) -> np.ndarray:
        result = np.empty_like(rows)
        log_normalise(rows, result)
        return result

    return map_rows(normalised, log_values, log_values.shape, light=True)


def linear_functions(
    X: np.ndarray, weights: np.ndarray, intercepts: np.ndarray, origin: np.ndarray
) -> np.ndarray:
    """Return the values of several linear functions at each row.

    Parameters
    ----------
    X
        Rows of float64 numbers.
    weights
        One row of weights per function.
    intercepts
        One constant per function.
    origin
        Subtracted from each row first, so that a large offset costs no digits.

    Examples
    --------
    >>> import numpy as np
    >>> weights, intercepts, origin = np.array([[1.0], [-1.0]]), np.zeros(2), np.array([5.0])
    >>> linear_functions(np.array([[7.0], [3.0]]), weights, intercepts, origin)
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    weights = np.ascontiguousarray(weights)

    def values(rows: np.ndarray) -> np.ndarray:
        if weights.size <= FEW_WEIGHTS:
            result = np.empty((len(rows), len(weights)))
            linear_values(rows, weights, intercepts, origin, result)
            return result
        return (rows - origin) @ weights.T + intercepts

    return map_rows(values, X, (len(X), len(weights)), light=True)


def largest_linear_function(
    X: np.ndarray, weights: np.ndarray, intercepts: np.ndarray, origin: np.ndarray
) -> np.ndarray:
    """Return for each row which of several linear functions is largest there.

    The arguments are those of `linear_functions`.

    Examples
    --------
    >>> import numpy as np
    >>> weights, intercepts, origin = np.array([[1.0], [-1.0]]), np.zeros(2), np.array([5.0])
    >>> largest_linear_function(np.array([[7.0], [3.0]]), weights, intercepts, origin)
    array([0, 1])
    """
    weights = np.ascontiguousarray(weights)

    def largest(rows: np.ndarray) -> np.ndarray:
        if weights.size <= FEW_WEIGHTS:
            result = np.empty(len(rows), dtype=np.intp)
            largest_linear(rows, weights, intercepts, origin, result)
            return result
        return largest_columns((rows - origin) @ weights.T + intercepts)

    return map_rows(largest, X, (len(X),), np.intp, light=True)


def largest_columns(values: np.ndarray) -> np.ndarray:
    """Return the position of each row's largest entry, the first of equals."""
    if len(values) <= FEW_ROWS:
        return values.argmax(axis=1)
    result = np.empty(len(values), dtype=np.intp)
    largest_column(values, result)
    return result


def column_signs(columns: np.ndarray) -> np.ndarray:
    """Return a sign for each column that makes its largest entry positive.

    The sign of an eigenvector is free. Of entries that are largest but for rounding the first
    decides, so that another machine gives the same sign.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.numerics import column_signs
    >>> column_signs(np.array([[0.6, 0.8], [-0.8, 0.6]]))
    array([-1.,  1.])
    """
    sizes = np.abs(columns)
    largest = (sizes >= (1.0 - EQUAL) * sizes.max(axis=0, initial=0.0)).argmax(axis=0)
    return np.where(columns[largest, np.arange(columns.shape[1])] < 0.0, -1.0, 1.0)


class PosteriorMixin:
    """Mixin: a classifier that defines `_joint_log_likelihood`, up to a constant of each row."""

    classes_: np.ndarray

    def _joint_log_likelihood(self, X: Any) -> np.ndarray:
        """Return the logarithm of prior times likelihood of each class."""
        raise NotImplementedError(f"{type(self).__name__} must define _joint_log_likelihood.")

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row."""
        joint = self._joint_log_likelihood(X)
        return self.classes_[map_rows(largest_columns, joint, (len(joint),), np.intp, light=True)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the posterior probability of each class."""
        return normalise_rows(self._joint_log_likelihood(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the posterior probabilities."""
        joint = self._joint_log_likelihood(X)
        return joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
