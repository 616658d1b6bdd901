"""The family of covariance matrices between one sphere for all and one matrix for each class."""

import warnings
from typing import Any

import numpy as np

from verulam.base import ByClass, Chunk, DataError, DataWarning
from verulam.numerics import (
    DiagonalMoments,
    FullMoments,
    PooledMoments,
    diagonal_moments,
    full_moments,
    overall_moments,
    pooled_moments,
)

#: The families from the simplest to the richest.
FAMILIES = (
    "shared_spherical",
    "own_spherical",
    "shared_diagonal",
    "own_diagonal",
    "shared_full",
    "own_full",
)

ClassMoments = DiagonalMoments | FullMoments | PooledMoments


def parameter_count(family: str, n_columns: int, n_classes: int) -> int:
    """Return how many numbers the covariances of a family consist of.

    Parameters
    ----------
    family
        One of `FAMILIES`.
    n_columns
        Number of inputs.
    n_classes
        Number of classes.

    Examples
    --------
    >>> [parameter_count(family, n_columns=4, n_classes=3) for family in FAMILIES]
    [1, 3, 4, 12, 10, 30]
    """
    owner, shape = family.split("_")
    one = {"spherical": 1, "diagonal": n_columns, "full": n_columns * (n_columns + 1) // 2}[shape]
    return one * (n_classes if owner == "own" else 1)


def class_moments(chunk: Chunk, family: str) -> ByClass[Any]:
    """Return the moments that a family needs, and no more.

    Parameters
    ----------
    chunk
        Rows with class codes.
    family
        One of `FAMILIES`.
    """
    assert chunk.targets is not None
    assert chunk.classes is not None
    function: Any = diagonal_moments
    if family == "own_full":
        function = full_moments
    elif family == "shared_full":
        function = pooled_moments
    moments = function(chunk.inputs, chunk.targets, chunk.weights, len(chunk.classes))
    return ByClass(chunk.classes, moments)


def class_weights(moments: ClassMoments) -> np.ndarray:
    """Return the total weight of each class."""
    return moments.weight[:, 0] if moments.weight.ndim == 2 else moments.weight


def estimate_covariances(moments: ClassMoments, family: str, *, unbiased: bool) -> np.ndarray:
    """Return the covariances of a family in its own shape.

    Full families give matrices, diagonal ones vectors and spherical ones single numbers; an
    "own" family has one for each class along the first axis.
    """
    weights = class_weights(moments)
    owner, shape = family.split("_")
    if owner == "shared":
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


def _divisors(weights: np.ndarray, estimated: Any) -> np.ndarray:
    """Return what scatters are divided by; a class without weight has no scatter to divide."""
    divisors = weights - estimated
    if (np.asarray(divisors)[np.asarray(weights) > 0] < 1e-9).any():
        raise DataError(
            "unbiased=True needs sample weights that count rows, and at least two rows for each "
            "covariance; a total weight of 1 or less leaves nothing to divide by."
        )
    return np.where(np.asarray(weights) > 0, divisors, 1.0)


def mix_covariances(
    own: np.ndarray, shared: np.ndarray, shared_weight: float, spherical_weight: float
) -> np.ndarray:
    r"""Return :math:`\alpha s^2 I + \beta S + (1-\alpha-\beta) S_k` for each class."""
    spherical: Any = shared.mean()
    if shared.ndim == 2:
        spherical = np.trace(shared) / len(shared) * np.eye(len(shared))
    rest = 1.0 - shared_weight - spherical_weight
    return spherical_weight * spherical + shared_weight * shared + rest * own


def total_variances(moments: ClassMoments) -> np.ndarray:
    """Return the variance of each column over all classes together; 1 for a constant column."""
    weights = class_weights(moments)
    _, between = overall_moments(weights[:, None], moments.mean)
    within = moments.scatter
    if isinstance(moments, FullMoments):
        within = np.diagonal(within, axis1=1, axis2=2)
    within = np.diagonal(within) if isinstance(moments, PooledMoments) else within.sum(axis=0)
    variances = (within + between) / weights.sum()
    return np.where(variances > 0, variances, 1.0)


def raise_to_floor(
    covariances: np.ndarray, family: str, floors: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    """Return the covariances with every variance at least its column's floor.

    In a matrix no direction may have less variance than that either, after the columns have
    been put on their own scales. A warning says which class was degenerate, and why.
    """
    if family.endswith("full"):
        scales = np.sqrt(floors)
        raised, low = _raise_matrices(covariances.reshape(-1, *covariances.shape[-2:]), scales)
        constant: Any = np.diagonal(covariances, axis1=-2, axis2=-1) < floors
    else:
        if family.endswith("spherical"):
            floors = floors.mean(keepdims=True)
        raised = np.maximum(covariances, floors if covariances.ndim else floors[0])
        rows = covariances.reshape(len(classes) if family.startswith("own") else 1, -1)
        constant = rows < floors
        low = np.any(constant, axis=1)
    if low.any():
        columns = np.flatnonzero(np.any(np.atleast_2d(constant), axis=0))
        message = _floor_message(low, columns, family, classes)
        warnings.warn(message, DataWarning, stacklevel=2)
    return raised.reshape(covariances.shape)


def _raise_matrices(matrices: np.ndarray, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrices with no eigenvalue below 1 in units of `scales`, and which were low."""
    units = np.outer(scales, scales)
    values, vectors = np.linalg.eigh(matrices / units)
    low = values[:, 0] < 1.0
    raised = np.einsum("kij,kj,klj->kil", vectors, np.maximum(values, 1.0), vectors) * units
    return np.where(low[:, None, None], raised, matrices), low


def _floor_message(low: np.ndarray, columns: np.ndarray, family: str, classes: np.ndarray) -> str:
    whose = "The shared covariance"
    if family.startswith("own"):
        labels = [str(label) for label in np.asarray(classes)[low]]
        shown = ", ".join(labels[:5]) + (", ..." if len(labels) > 5 else "")
        whose = f"The covariance of class {shown}"
    reason = "too few rows, or columns that depend on one another"
    if len(columns) and not family.endswith("spherical"):
        reason = f"constant columns, counted from 0: {columns[:8].tolist()}"
    return (
        f"{whose} is degenerate ({reason}) and was raised to variance_floor. Drop such columns, "
        "choose a simpler family, or set shared_weight or spherical_weight."
    )
