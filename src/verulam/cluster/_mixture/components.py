"""Components of a Gaussian mixture: weights, means and covariances of six families."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError

#: Families of covariances from the simplest to the richest: tied ones are shared by all
#: components, the others differ from one to the next.
COVARIANCE_TYPES = ("tied_spherical", "spherical", "tied_diag", "diag", "tied", "full")


@dataclass(frozen=True)
class Components:
    """The parameters of a mixture.

    Attributes
    ----------
    weights : ndarray of shape (n_components,)
        Prior probability of each component.
    means : ndarray of shape (n_components, n_columns)
        Means.
    covariances : ndarray
        Matrices, vectors of variances or single variances, with a leading axis over components
        where they are not tied.
    covariance_type
        One of `COVARIANCE_TYPES`.
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    covariance_type: str

    def variances(self) -> np.ndarray:
        """Return the variances by component and column, of a family without matrices."""
        variances = self.covariances
        if self.covariance_type == "spherical":
            variances = variances[:, None]
        return np.array(np.broadcast_to(variances, self.means.shape))

    def matrices(self) -> np.ndarray:
        """Return one covariance matrix for each component, whatever the family."""
        n_components, n_columns = self.means.shape
        if self.covariance_type == "full":
            return self.covariances
        if self.covariance_type == "tied":
            return np.repeat(self.covariances[None], n_components, axis=0)
        return self.variances()[:, :, None] * np.eye(n_columns)


def has_matrices(covariance_type: str) -> bool:
    """Whether columns may be correlated."""
    return covariance_type in ("full", "tied")


def parameter_count(covariance_type: str, n_columns: int, n_components: int) -> int:
    """Return the free numbers of a mixture: weights, means and covariances.

    Parameters
    ----------
    covariance_type
        One of `COVARIANCE_TYPES`.
    n_columns
        Number of inputs.
    n_components
        Number of components.

    Examples
    --------
    >>> [parameter_count(kind, 4, 3) for kind in COVARIANCE_TYPES]
    [15, 17, 18, 26, 24, 44]
    """
    shape = "full" if covariance_type == "tied" else covariance_type.removeprefix("tied_")
    one = {"spherical": 1, "diag": n_columns, "full": n_columns * (n_columns + 1) // 2}[shape]
    covariances = one if covariance_type.startswith("tied") else one * n_components
    return n_components - 1 + n_components * n_columns + covariances


def estimate_covariances(
    weight: np.ndarray, shifts: np.ndarray, scatter: np.ndarray, covariance_type: str
) -> np.ndarray:
    """Return the covariances that maximise the expected likelihood: the M-step.

    Parameters
    ----------
    weight
        Total responsibility of each component, above zero.
    shifts
        From the point that deviations were taken from to the mean, by component.
    scatter
        Sum of products of deviations: by component for "full", over all for "tied", of each
        column by itself by component for the others.
    covariance_type
        One of `COVARIANCE_TYPES`.
    """
    total = weight.sum()
    if covariance_type == "full":
        return scatter / weight[:, None, None] - shifts[:, :, None] * shifts[:, None, :]
    if covariance_type == "tied":
        return (scatter - (shifts * weight[:, None]).T @ shifts) / total
    around_means = scatter - weight[:, None] * shifts**2
    if covariance_type == "diag":
        return around_means / weight[:, None]
    if covariance_type == "spherical":
        return around_means.mean(axis=1) / weight
    variances = around_means.sum(axis=0) / total
    return np.asarray(variances.mean()) if covariance_type == "tied_spherical" else variances


def raise_to_floor(
    covariances: np.ndarray, covariance_type: str, scale: np.ndarray, floor: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return covariances without variances below the floor, and which components were raised.

    Under the bound this is still the maximum of the expected likelihood, which therefore never
    falls.

    Parameters
    ----------
    covariances
        Of the family's shape.
    covariance_type
        One of `COVARIANCE_TYPES`.
    scale
        Standard deviation of each column.
    floor
        Least variance in any direction, where columns are in units of their scale.
    """
    if has_matrices(covariance_type):
        units = np.outer(scale, scale)
        scaled = covariances.reshape(-1, *units.shape) / units
        if exceeds(scaled, floor):
            return covariances, np.zeros(len(scaled), dtype=bool)
        values, vectors = np.linalg.eigh(scaled)
        low = values[:, 0] < floor
        raised = np.einsum("kij,kj,klj->kil", vectors, np.maximum(values, floor), vectors)
        raised = np.where(low[:, None, None], raised, scaled) * units
        return raised.reshape(covariances.shape), low
    floors = floor * scale**2
    if covariance_type.endswith("spherical"):
        floors = floors.mean()
    raised = np.maximum(covariances, floors)
    low = (raised > covariances).reshape(
        1 if covariance_type.startswith("tied") else len(covariances), -1
    )
    return raised, low.any(axis=1)


def exceeds(matrices: np.ndarray, bound: float) -> bool:
    """Whether all eigenvalues of all matrices are above a bound."""
    try:
        np.linalg.cholesky(matrices - bound * np.eye(matrices.shape[-1]))
    except np.linalg.LinAlgError:
        return False
    return True


def first_components(
    X: np.ndarray, shares: np.ndarray, covariance_type: str, scale: np.ndarray, floor: float
) -> Components:
    """Return the components that shares of a sample's rows give.

    Covariances of few rows are drawn towards the pooled one, as if it had been seen in as many
    further rows as there are columns: a component that starts at a single row would stay there.
    """
    n_columns = X.shape[1]
    weight = np.maximum(shares.sum(axis=0), 1e-10)
    means = (shares.T @ X) / weight[:, None]
    scatter = np.empty((len(weight), n_columns, n_columns))
    for k, mean in enumerate(means):
        deviations = X - mean
        scatter[k] = (deviations * shares[:, k, None]).T @ deviations
    pooled = scatter.sum(axis=0) / weight.sum() + floor * np.diag(scale**2)
    # As if each component had as many further rows as there are columns, which vary as all do: of
    # few rows alone a covariance would be singular.
    prior = float(n_columns)
    scatter = (scatter + prior * pooled) * (weight / (weight + prior))[:, None, None]
    if covariance_type == "tied":
        scatter = scatter.sum(axis=0)
    elif not has_matrices(covariance_type):
        scatter = np.diagonal(scatter, axis1=1, axis2=2)
    covariances = estimate_covariances(weight, np.zeros_like(means), scatter, covariance_type)
    covariances, _ = raise_to_floor(covariances, covariance_type, scale, floor)
    return Components(weight / weight.sum(), means, covariances, covariance_type)


def widest(covariance_type: str, scale: np.ndarray) -> Any:
    """Return a covariance as wide as the data, of a family that is not tied."""
    variances = scale**2
    if covariance_type == "full":
        return np.diag(variances)
    return variances if covariance_type == "diag" else variances.mean()


def inverse_precisions(precisions: ArrayLike, start: Components) -> np.ndarray:
    """Return the covariances that precisions stand for, after checking that they are some."""
    values = np.asarray(precisions, dtype=np.float64)
    shape = start.covariances.shape
    if values.shape != shape:
        raise DataError(
            f"precisions_init has shape {values.shape}; expected {shape} for covariance_type="
            f"{start.covariance_type!r}."
        )
    if not has_matrices(start.covariance_type):
        valid = bool((values > 0).all())
        inverses: np.ndarray = 1.0 / np.where(values > 0, values, 1.0)
    else:
        valid = bool(np.allclose(values, np.swapaxes(values, -1, -2)))
        valid = valid and bool((np.linalg.eigvalsh(values) > 0).all())
        inverses = np.asarray(np.linalg.inv(values)) if valid else values
    if not valid:
        raise DataError(
            "precisions_init: inverse covariances must be positive; matrices also symmetric."
        )
    return inverses
