"""Shapes of kernel-density windows: one covariance for all of them, or one for each."""

from dataclasses import dataclass

import numpy as np

from verulam.base import DataError
from verulam.nonparametric._neighbours.index import NeighbourIndex
from verulam.nonparametric._tuning import DISTANCES_AT_ONCE
from verulam.nonparametric._windows.functions import Window
from verulam.nonparametric._windows.window_sums import log_sums_of_radii
from verulam.numerics import precision_root

#: Least variance of a window in any direction, as a share of its mean over the directions.
LEAST_SHARE = 1e-4


def shape_units(inputs: np.ndarray, counts: np.ndarray, shape: str) -> np.ndarray:
    """Return the matrix that maps inputs to the units of the bandwidth."""
    n_columns = inputs.shape[1]
    if shape == "spherical":
        return np.eye(n_columns)
    centred = inputs - np.average(inputs, axis=0, weights=counts)
    covariance = (counts * centred.T) @ centred / max(counts.sum() - 1.0, 1.0)
    spreads = np.sqrt(np.diag(covariance))
    if (spreads == 0).any():
        columns = ", ".join(map(str, np.flatnonzero(spreads == 0)))
        raise DataError(
            f"X: column(s) {columns} are constant (n_samples = {len(inputs)}), so shape={shape!r} "
            "has no unit for them. Drop them or use shape='spherical'."
        )
    if shape in {"diagonal", "local"}:
        return np.diag(1.0 / spreads)
    correlations = covariance / np.outer(spreads, spreads)
    if np.linalg.eigvalsh(correlations)[0] < 1e-10:
        raise DataError(
            f"X: columns depend on one another (n_samples = {len(inputs)}), so shape='full' has no "
            "inverse covariance. Drop some or use shape='diagonal'."
        )
    return precision_root(covariance)[0]


@dataclass(frozen=True)
class LocalWindows:
    """Windows of different shapes.

    Attributes
    ----------
    centres : ndarray of shape (n_points, n_columns)
        Where they are.
    weights : ndarray of shape (n_points,)
        The share of each.
    roots : ndarray of shape (n_points, n_columns, n_columns)
        Matrices that map steps from a centre to units of the bandwidth.
    """

    centres: np.ndarray
    weights: np.ndarray
    roots: np.ndarray

    def log_sums(self, queries: np.ndarray, window: Window) -> np.ndarray:
        r"""Return :math:`\ln \sum_t w_t |R_t|\, \phi(\|(x - x^t) R_t\|)` at each query."""
        n_points, n_columns = self.centres.shape
        origin = self.centres.mean(axis=0)
        # (x - x_t) R_t for all t is one product with the roots side by side, less an offset each;
        # from the mean of the centres, the two do not cancel to nothing.
        table = self.roots.transpose(1, 0, 2).reshape(n_columns, -1)
        offsets = np.einsum("td,tde->te", self.centres - origin, self.roots).ravel()
        volumes = np.linalg.slogdet(self.roots)[1]
        log_weights = np.log(self.weights) + volumes
        result = np.empty(len(queries))
        step = max(1, DISTANCES_AT_ONCE // (n_points * n_columns))
        for start in range(0, len(queries), step):
            steps = (queries[start : start + step] - origin) @ table - offsets
            np.square(steps, out=steps)
            radii = np.sqrt(steps.reshape(-1, n_points, n_columns).sum(axis=2))
            result[start : start + step] = log_sums_of_radii(radii, log_weights, window)
        return result

    def move(self, rows: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Return points some steps, in units of the bandwidth, from the centres of some rows."""
        moved = np.linalg.solve(self.roots[rows].transpose(0, 2, 1), steps[:, :, None])
        return self.centres[rows] + moved[:, :, 0]


def local_covariances(points: np.ndarray, counts: np.ndarray, n_neighbors: float) -> np.ndarray:
    """Return the covariance of the rows around each row, of full rank.

    Directions in which the neighbours hardly vary, or do not vary at all, get a small share of
    their mean variance: principal components give the others.

    Parameters
    ----------
    points
        One row per point, in columns of comparable spread.
    counts
        How often each counts.
    n_neighbors
        What the weights of a neighbourhood add up to, with the row in its middle; the farthest
        row counts as far as it is needed.
    """
    n_points, n_columns = points.shape
    # So many are enough, however light they are.
    enough = np.searchsorted(np.cumsum(np.sort(counts)), n_neighbors * (1.0 - 1e-12)) + 1
    most = int(min(enough, n_points))
    index = NeighbourIndex(points)
    covariances = np.empty((n_points, n_columns, n_columns))
    step = max(1, DISTANCES_AT_ONCE // (most * n_columns))
    for start in range(0, n_points, step):
        block = slice(start, start + step)
        rows = index.query(points[block], most).rows
        shares = counts[rows]
        # Nearest first: a row counts as far as those before it leave room.
        before = np.cumsum(shares, axis=1) - shares
        shares = np.clip(n_neighbors - before, 0.0, shares)
        totals = shares.sum(axis=1)
        near = points[rows]
        near = near - (np.einsum("tk,tkd->td", shares, near) / totals[:, None])[:, None]
        sums = np.einsum("tkd,tke->tde", near * shares[:, :, None], near)
        covariances[block] = sums / np.maximum(totals - 1.0, 1.0)[:, None, None]
    return _full_rank(covariances)


def _full_rank(covariances: np.ndarray) -> np.ndarray:
    variances, directions = np.linalg.eigh(covariances)
    means = variances.mean(axis=1, keepdims=True)
    # Where all neighbours are copies, the window is as wide as the narrowest that is known.
    known = means[means > 0]
    means = np.where(means > 0, means, known.min() if len(known) else 1.0)
    raised = np.maximum(variances, LEAST_SHARE * means)
    return np.einsum("tij,tj,tkj->tik", directions, raised, directions)


def inverse_roots(covariances: np.ndarray) -> np.ndarray:
    """Return the symmetric roots of the inverse of each covariance."""
    variances, directions = np.linalg.eigh(covariances)
    return np.einsum("tij,tj,tkj->tik", directions, variances**-0.5, directions)
