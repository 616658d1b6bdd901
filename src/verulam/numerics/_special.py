"""Stable functions of probabilities and their logarithms."""

import numpy as np
from scipy.special import expit as sigmoid
from scipy.special import log_softmax, logit, softmax
from scipy.special import logsumexp as log_sum_exp

from verulam.base import map_rows
from verulam.numerics._special_loops import log_normalise

__all__ = ["log_softmax", "log_sum_exp", "logit", "normalise_rows", "sigmoid", "softmax"]


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
    >>> normalise_rows(np.array([[0.0, np.log(3.0)], [-1000.0, -1000.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    log_values = np.ascontiguousarray(log_values, dtype=np.float64)
    return map_rows(log_normalise, log_values, log_values.shape)
