r"""Where units begin: centres by clustering or by chance, spreads by the rows they own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from verulam.base import DataError, DataWarning, warn_caller
from verulam.cluster import GaussianMixture, KMeans
from verulam.local._competitive.online_k_means import OnlineKMeans
from verulam.local._radial.units import FloatArray, RadialUnits

#: Ways of placing centres, by their names.
PLACINGS = ("k-means", "online", "mixture", "random")
#: Least spread of a unit, as a share of that of all rows.
LEAST_SPREAD = 1e-6


def numbers_of(values: Any, name: str) -> FloatArray:
    """Return an array of numbers, or raise where an argument holds something else."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: an array of numbers is expected; {error}.") from error


def distinct_rows(X: FloatArray, most: int) -> int:
    """Return how many rows differ, counted up to a number."""
    if len(np.unique(X[: 2 * most], axis=0)) >= most:
        return most
    return min(most, len(np.unique(X, axis=0)))


def possible_units(X: FloatArray, count: int, name: str, what: str) -> int:
    """Return how many units the rows can bear, and say so where that is fewer than asked for."""
    possible = distinct_rows(X, count)
    if possible < count:
        warn_caller(
            f"{name}={count} is more than the {possible} rows of X that differ: {possible} {what} "
            "are used.",
            DataWarning,
        )
    return possible


def say_if_fewer_rows(X: FloatArray, count: int, what_makes: str, units: str) -> None:
    """Warn where more units are asked for than rows differ; they are all there, and alike."""
    different = distinct_rows(X, count)
    if different < count:
        warn_caller(
            f"{what_makes} {count} {units}, more than the {different} rows of X that differ: some "
            "have no row of their own.",
            DataWarning,
        )


def place_units(
    X: FloatArray,
    weights: FloatArray | None,
    *,
    n_units: int,
    init: Any,
    covariance_type: str,
    bandwidth: Any,
    spread_share: float,
    seed: int,
) -> RadialUnits:
    """Return units for rows: centres first, then spreads.

    Parameters
    ----------
    X, weights
        Rows and their weights, or None.
    n_units
        Number of units, where `init` is no array.
    init
        One of `PLACINGS`, or an array of centres.
    covariance_type
        Form of the units.
    bandwidth
        "farthest" for a share of the distance of the farthest row of each unit, a number, or an
        array of spreads; matrices for "full".
    spread_share
        That share.
    seed
        Seed of clusterings and draws.
    """
    if weights is not None and not weights.all():
        X, weights = X[weights > 0], weights[weights > 0]
    if not isinstance(init, str):
        centers = numbers_of(init, "init").copy()
        if centers.ndim != 2 or centers.shape[1] != X.shape[1] or not len(centers):
            raise DataError(
                f"init: an array of shape {centers.shape} where a row for each unit and "
                f"{X.shape[1]} columns are expected."
            )
        if not np.isfinite(centers).all():
            raise DataError("init: centres must be finite numbers.")
    else:
        n_units = possible_units(X, n_units, "n_units", "units")
        if init == "mixture":
            mixture = GaussianMixture(n_units, covariance_type=covariance_type, random_state=seed)
            mixture.fit(X, sample_weight=weights)
            if isinstance(bandwidth, str):
                return RadialUnits(mixture.means_, mixture.covariances_, covariance_type)
            centers = mixture.means_
        else:
            centers = _centers(X, weights, n_units, init, seed)
    if isinstance(bandwidth, str):
        covariances = owned_covariances(X, centers, covariance_type, spread_share)
    else:
        covariances = stated_covariances(bandwidth, centers, covariance_type)
    return RadialUnits(centers, covariances, covariance_type)


def _centers(
    X: FloatArray, weights: FloatArray | None, n_units: int, init: str, seed: int
) -> FloatArray:
    if init == "k-means":
        clusters = KMeans(n_units, random_state=seed).fit(X, sample_weight=weights)
        return clusters.cluster_centers_
    if init == "online":
        return OnlineKMeans(n_units, random_state=seed).fit(X).cluster_centers_
    # Rows that differ: two units in the same place would be one.
    _, first = np.unique(X, axis=0, return_index=True)
    shares = None if weights is None else weights[first] / weights[first].sum()
    random = np.random.default_rng(seed)
    return X[np.sort(random.choice(np.sort(first), size=n_units, replace=False, p=shares))]


def owners(X: FloatArray, centers: FloatArray) -> NDArray[np.intp]:
    """Return the nearest centre of each row."""
    labels = np.empty(len(X), dtype=np.intp)
    for start in range(0, len(X), 4096):
        labels[start : start + 4096] = cdist(X[start : start + 4096], centers).argmin(axis=1)
    return labels


def owned_covariances(
    X: FloatArray, centers: FloatArray, covariance_type: str, share: float
) -> FloatArray:
    """Return squared spreads: a share of the distance of the farthest row that a unit owns.

    Where a unit owns no other row than its centre, half the distance to the nearest other centre
    takes its place. Matrices are those of the owned rows, mixed with such a sphere where rows are
    few.
    """
    n_units, n_columns = centers.shape
    labels = owners(X, centers)
    deviations = np.abs(X - centers[labels])
    lengths = np.sqrt(np.einsum("nj,nj->n", deviations, deviations))
    farthest = np.zeros(n_units)
    np.maximum.at(farthest, labels, lengths)
    overall = float(np.sqrt(X.var(axis=0).mean())) or 1.0
    least = LEAST_SPREAD * overall
    lonely = _half_way(centers, overall)
    spreads = np.where(share * farthest > least, share * farthest, lonely)
    if covariance_type == "spherical":
        return spreads**2
    if covariance_type == "diag":
        by_column = np.zeros((n_units, n_columns))
        np.maximum.at(by_column, labels, deviations)
        return np.where(share * by_column > least, share * by_column, spreads[:, None]) ** 2
    covariances = np.empty((n_units, n_columns, n_columns))
    for unit in range(n_units):
        mine = X[labels == unit] - centers[unit]
        # As if there were one more row for each column, spread as a sphere: few rows fill no space.
        sphere = n_columns * spreads[unit] ** 2 * np.eye(n_columns)
        covariances[unit] = (mine.T @ mine + sphere) / (len(mine) + n_columns)
    return covariances


def _half_way(centers: FloatArray, overall: float) -> FloatArray:
    """Return half the distance of each centre to the nearest other one in another place."""
    between = cdist(centers, centers)
    between[between == 0.0] = np.inf
    nearest = between.min(axis=1)
    return np.where(np.isfinite(nearest), 0.5 * nearest, overall)


def stated_covariances(bandwidth: Any, centers: FloatArray, covariance_type: str) -> FloatArray:
    """Return squared spreads from numbers that a user wrote down."""
    n_units, n_columns = centers.shape
    numbers = numbers_of(bandwidth, "bandwidth")
    shapes = {
        "spherical": (n_units,),
        "diag": (n_units, n_columns),
        "full": (n_units, n_columns, n_columns),
    }
    shape = shapes[covariance_type]
    if numbers.ndim and numbers.shape != shape:
        raise DataError(
            f"bandwidth: an array of shape {numbers.shape}; for {covariance_type!r} units a number "
            f"or an array of shape {shape} is expected."
        )
    if covariance_type == "full" and numbers.ndim:
        symmetric = np.allclose(numbers, numbers.transpose(0, 2, 1))
        if not symmetric or np.linalg.eigvalsh(numbers).min() <= 0:
            raise DataError("bandwidth: covariances must be symmetric and positive definite.")
        return numbers
    if not (numbers > 0).all():
        raise DataError(f"bandwidth: spreads must be positive; got {bandwidth!r}.")
    if covariance_type == "full":
        return np.tile(float(numbers) ** 2 * np.eye(n_columns), (n_units, 1, 1))
    return np.broadcast_to(numbers, shape) ** 2
