"""Discriminant functions: decisions as the largest of several functions of the input."""

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, unknown_name
from verulam.decision._loss import LossTable

KINDS = ("risk", "posterior", "log posterior")


def discriminants(
    probabilities: NDArray[np.float64], kind: str, table: LossTable
) -> NDArray[np.float64]:
    """Return the discriminant functions that follow from class probabilities.

    Parameters
    ----------
    probabilities
        Posteriors, with the classes along the last axis.
    kind
        "risk" (minus the expected loss of each action), "posterior" or "log posterior".
    table
        The losses behind the risks.
    """
    if kind == "risk":
        return -table.risks(probabilities)
    if kind == "posterior":
        return probabilities
    if kind == "log posterior":
        with np.errstate(divide="ignore"):
            return np.log(probabilities)
    raise unknown_name("kind of discriminant", kind, KINDS)


def dichotomizer(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the one function that does the work of two: positive where the second is larger."""
    if values.shape[-1] != 2:
        raise DataError(
            f"A dichotomizer needs two discriminants, but there are {values.shape[-1]}."
        )
    return values[..., 1] - values[..., 0]


def log_odds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the odds of the second of two classes."""
    with np.errstate(divide="ignore"):
        return dichotomizer(np.log(probabilities))
