"""Class priors, given or estimated."""

from typing import Any

import numpy as np

from verulam.base import DataError, StrOptions

#: What `_parameter_constraints` says of `priors`.
PRIORS: list[Any] = ["array-like", StrOptions({"equal"}), None]


def class_priors(priors: Any, class_weights: np.ndarray) -> np.ndarray:
    """Return the prior of each class; 0 for a class without training rows.

    Parameters
    ----------
    priors
        None for the classes' shares of the training weight, "equal", or one number per class
        in the order of the sorted labels.
    class_weights
        Total training weight of each class.
    """
    n_classes = len(class_weights)
    seen = class_weights > 0
    if not seen.any():
        raise DataError("sample_weight: at least one row needs a weight above zero.")
    if priors is None:
        return class_weights / class_weights.sum()
    if isinstance(priors, str):
        return seen / seen.sum()
    given = np.asarray(priors, dtype=np.float64)
    if given.shape != (n_classes,):
        raise DataError(
            f"priors has shape {given.shape}; expected one number for each of the "
            f"{n_classes} classes."
        )
    if not np.isfinite(given).all() or (given < 0).any():
        raise DataError(f"priors must not be negative or missing; got {given.tolist()}.")
    if not np.isclose(given.sum(), 1.0):
        raise DataError(f"priors must sum to 1; they sum to {given.sum():.6g}.")
    # Of a class without any rows nothing is known that could be weighed against the others.
    known = np.where(seen, given, 0.0)
    if not known.any():
        raise DataError("priors are above 0 only for classes that have no training rows.")
    return known / known.sum()


def log_priors(priors: np.ndarray) -> np.ndarray:
    """Return the logarithms; minus infinity for a class that cannot occur."""
    with np.errstate(divide="ignore"):
        return np.log(priors)
