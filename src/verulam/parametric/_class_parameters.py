"""Parameters of class-conditional models: class priors, and the family of covariance matrices."""

import warnings
from typing import Any

import numpy as np

from verulam.base import ByClass, Chunk, DataError, DataWarning, StrOptions
from verulam.numerics import (
    DiagonalMoments,
    FullMoments,
    PooledMoments,
    diagonal_moments,
    full_moments,
    overall_moments,
    pooled_moments,
)

#: What `_parameter_constraints` says of `priors`.
PRIORS: list[Any] = ["array-like", StrOptions({"equal"}), None]

#: Kinds of covariance matrices from the simplest to the richest: tied ones are shared by all
#: classes, the others differ from class to class.
COVARIANCE_TYPES = ("tied_spherical", "spherical", "tied_diag", "diag", "tied", "full")

ClassMoments = DiagonalMoments | FullMoments | PooledMoments


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
    shares = np.asarray(priors, dtype=np.float64)
    if shares.shape != (n_classes,):
        raise DataError(
            f"priors has shape {shares.shape}; expected one number for each of the "
            f"{n_classes} classes."
        )
    if not np.isfinite(shares).all() or (shares < 0).any():
        raise DataError(f"priors must not be negative or missing; got {shares.tolist()}.")
    if not np.isclose(shares.sum(), 1.0):
        raise DataError(f"priors must sum to 1; they sum to {shares.sum():.6g}.")
    # Of a class without any rows nothing is known that could be weighed against the others.
    seen_shares = np.where(seen, shares, 0.0)
    if not seen_shares.any():
        raise DataError("priors are above 0 only for classes that have no training rows.")
    return seen_shares / seen_shares.sum()


def log_priors(priors: np.ndarray) -> np.ndarray:
    """Return the logarithms; minus infinity for a class that cannot occur."""
    with np.errstate(divide="ignore"):
        return np.log(priors)


def is_tied(covariance_type: str) -> bool:
    """Whether all classes share one covariance."""
    return covariance_type.startswith("tied")


def covariance_shape(covariance_type: str) -> str:
    """Return "full", "diag" or "spherical", whether tied or not."""
    return "full" if covariance_type == "tied" else covariance_type.removeprefix("tied_")


def parameter_count(covariance_type: str, n_columns: int, n_classes: int) -> int:
    """Return the number of free parameters of the covariances.

    Parameters
    ----------
    covariance_type
        One of `COVARIANCE_TYPES`.
    n_columns
        Number of inputs.
    n_classes
        Number of classes.

    Examples
    --------
    >>> {kind: parameter_count(kind, n_columns=4, n_classes=3) for kind in COVARIANCE_TYPES}
    {'tied_spherical': 1, 'spherical': 3, 'tied_diag': 4, 'diag': 12, 'tied': 10, 'full': 30}
    """
    shape = covariance_shape(covariance_type)
    one = {"spherical": 1, "diag": n_columns, "full": n_columns * (n_columns + 1) // 2}[shape]
    return one if is_tied(covariance_type) else one * n_classes


def class_moments(chunk: Chunk, covariance_type: str) -> ByClass[Any]:
    """Return the sufficient statistics of a kind of covariance, and no more.

    Parameters
    ----------
    chunk
        Rows with class codes.
    covariance_type
        One of `COVARIANCE_TYPES`.
    """
    assert chunk.targets is not None
    assert chunk.classes is not None
    function: Any = diagonal_moments
    if covariance_type == "full":
        function = full_moments
    elif covariance_type == "tied":
        # One scatter matrix for all classes instead of one each: less memory, and less to add.
        function = pooled_moments
    moments = function(chunk.inputs, chunk.targets, chunk.weights, len(chunk.classes))
    return ByClass(chunk.classes, moments)


def class_weights(moments: ClassMoments) -> np.ndarray:
    """Return the total weight of each class."""
    return moments.weight[:, 0] if moments.weight.ndim == 2 else moments.weight


def estimate_covariances(
    moments: ClassMoments, covariance_type: str, *, unbiased: bool
) -> np.ndarray:
    """Return the maximum-likelihood or unbiased covariances.

    Full ones are matrices, diagonal ones vectors and spherical ones single numbers; those that
    are not tied have one for each class along the first axis.
    """
    weights = class_weights(moments)
    shape = covariance_shape(covariance_type)
    if is_tied(covariance_type):
        # The pooled estimate loses one degree of freedom for the mean of each class with rows.
        divisor = _divisors(weights.sum(), np.count_nonzero(weights) if unbiased else 0)
        scatter = moments.scatter
        if not isinstance(moments, PooledMoments):
            scatter = scatter.sum(axis=0)
        covariance = scatter / divisor
        return np.asarray(covariance.mean()) if shape == "spherical" else covariance
    divisors = _divisors(weights, (weights > 0).astype(float) if unbiased else 0)
    scatter = moments.scatter
    covariances = scatter / divisors.reshape(-1, *[1] * (scatter.ndim - 1))
    return covariances.mean(axis=1) if shape == "spherical" else covariances


def _divisors(weights: np.ndarray, n_means: Any) -> np.ndarray:
    """Return what scatters about `n_means` estimated means are divided by.

    A class without weight has no scatter to divide.
    """
    divisors = weights - n_means
    if (np.asarray(divisors)[np.asarray(weights) > 0] < 1e-9).any():
        raise DataError(
            "unbiased=True needs sample weights that count rows, and at least two rows for each "
            "covariance; a total weight of 1 or less leaves nothing to divide by."
        )
    return np.where(np.asarray(weights) > 0, divisors, 1.0)


def mix_covariances(
    by_class: np.ndarray, shared: np.ndarray, shared_weight: float, spherical_weight: float
) -> np.ndarray:
    r"""Return the regularised :math:`\alpha s^2 I + \beta S + (1-\alpha-\beta) S_k` by class."""
    spherical: Any = shared.mean()
    if shared.ndim == 2:
        spherical = np.trace(shared) / len(shared) * np.eye(len(shared))
    rest = 1.0 - shared_weight - spherical_weight
    return spherical_weight * spherical + shared_weight * shared + rest * by_class


def total_variances(moments: ClassMoments) -> np.ndarray:
    """Return the variance of each column over all classes together; 1 for a constant column."""
    weights = class_weights(moments)
    # Total scatter is the scatter within classes plus that between their means.
    _, between = overall_moments(weights[:, None], moments.mean)
    within = moments.scatter
    if isinstance(moments, FullMoments):
        within = np.diagonal(within, axis1=1, axis2=2)
    within = np.diagonal(within) if isinstance(moments, PooledMoments) else within.sum(axis=0)
    variances = (within + between) / weights.sum()
    return np.where(variances > 0, variances, 1.0)


def raise_to_floor(
    covariances: np.ndarray, covariance_type: str, floors: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    """Return the covariances with every variance at least its column's floor.

    In a matrix no direction may have less variance than that either, after the columns have
    been put on their own scales. A warning says which class was degenerate, and why.
    """
    if covariance_shape(covariance_type) == "full":
        scales = np.sqrt(floors)
        raised, low = _raise_matrices(covariances.reshape(-1, *covariances.shape[-2:]), scales)
        constant: Any = np.diagonal(covariances, axis1=-2, axis2=-1) < floors
    else:
        if covariance_shape(covariance_type) == "spherical":
            floors = floors.mean(keepdims=True)
        raised = np.maximum(covariances, floors if covariances.ndim else floors[0])
        rows = covariances.reshape(1 if is_tied(covariance_type) else len(classes), -1)
        constant = rows < floors
        low = np.any(constant, axis=1)
    if low.any():
        columns = np.flatnonzero(np.any(np.atleast_2d(constant), axis=0))
        message = _floor_message(low, columns, covariance_type, classes)
        warnings.warn(message, DataWarning, stacklevel=2)
    return raised.reshape(covariances.shape)


def _raise_matrices(matrices: np.ndarray, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrices with no eigenvalue below 1 in units of `scales`, and which were low."""
    # In units of the floors, one bound serves all eigenvalues whatever the columns' scales.
    units = np.outer(scales, scales)
    values, vectors = np.linalg.eigh(matrices / units)
    low = values[:, 0] < 1.0
    raised = np.einsum("kij,kj,klj->kil", vectors, np.maximum(values, 1.0), vectors) * units
    return np.where(low[:, None, None], raised, matrices), low


def _floor_message(
    low: np.ndarray, columns: np.ndarray, covariance_type: str, classes: np.ndarray
) -> str:
    whose = "The shared covariance"
    if not is_tied(covariance_type):
        labels = [str(label) for label in np.asarray(classes)[low]]
        shown = ", ".join(labels[:5]) + (", ..." if len(labels) > 5 else "")
        whose = f"The covariance of class {shown}"
    reason = "too few rows, or columns that depend on one another"
    if len(columns) and covariance_shape(covariance_type) != "spherical":
        reason = f"constant columns, counted from 0: {columns[:8].tolist()}"
    return (
        f"{whose} is degenerate ({reason}) and was raised to variance_floor. Drop such columns, "
        "choose a simpler covariance_type, or set shared_weight or spherical_weight."
    )
