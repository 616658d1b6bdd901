"""A hierarchy of clusters as a list of merges: cut it, and measure distances along it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import cophenet, leaves_list
from scipy.spatial.distance import pdist, squareform

from verulam.base import DataError, unknown_name, validate_data
from verulam.numerics import njit

#: Metrics by scikit-learn's names, and SciPy's.
METRICS = {
    "euclidean": "euclidean",
    "manhattan": "cityblock",
    "chebyshev": "chebyshev",
    "cosine": "cosine",
    "hamming": "hamming",
    "sqeuclidean": "sqeuclidean",
}


#: Side of the squares in which a matrix is compared with its mirror image; two fit a cache.
TILE = 64


@dataclass(frozen=True)
class MergeTree:
    """A binary hierarchy over rows.

    Attributes
    ----------
    merges : ndarray of shape (n_rows - 1, 4)
        In SciPy's form: the two clusters merged, the height, the number of rows. Rows are
        clusters 0 to n - 1, and merge i makes cluster n + i.
    """

    merges: np.ndarray

    @property
    def n_rows(self) -> int:
        """Number of rows at the leaves."""
        return len(self.merges) + 1

    @property
    def heights(self) -> np.ndarray:
        """Height of each merge."""
        return self.merges[:, 2]

    def cut(self, *, height: float | None = None, n_clusters: int | None = None) -> np.ndarray:
        """Return the cluster of each row where the tree is cut, numbered by their first rows.

        Parameters
        ----------
        height
            Keep the merges up to this height: what they connect are the clusters.
        n_clusters
            Undo the last merges until there are so many.
        """
        if (height is None) == (n_clusters is None):
            raise DataError("cut: pass either height or n_clusters.")
        if n_clusters is not None:
            if not 1 <= n_clusters <= self.n_rows:
                raise DataError(
                    f"cut: n_clusters={n_clusters} is out of range; the tree has {self.n_rows} "
                    f"rows, so choose from 1 to {self.n_rows}."
                )
            return self._labels(np.arange(len(self.merges)) < self.n_rows - n_clusters)
        return self._labels(self._highest_below() <= height)

    def _highest_below(self) -> np.ndarray:
        # Centroids may come nearer by merging; a cluster is whole where all merges below it are.
        highest = np.r_[np.full(self.n_rows, -np.inf), self.heights]
        for step, (first, second) in enumerate(self.merges[:, :2].astype(int)):
            place = self.n_rows + step
            highest[place] = max(highest[place], highest[first], highest[second])
        return highest[self.n_rows :]

    def _labels(self, present: np.ndarray) -> np.ndarray:
        parents = np.arange(2 * self.n_rows - 1)
        for step in np.flatnonzero(present):
            parents[self.merges[step, :2].astype(int)] = self.n_rows + step
        # Parents come after children, so one pass from the top finds every root.
        for place in range(len(parents) - 1, -1, -1):
            parents[place] = parents[parents[place]]
        _, first, codes = np.unique(parents[: self.n_rows], return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[codes]

    def cophenetic(self) -> np.ndarray:
        """Return the height at which each two rows come together, as a square matrix."""
        if self.n_rows == 1:
            return np.zeros((1, 1))
        return squareform(cophenet(self.merges))

    def leaf_order(self) -> np.ndarray:
        """Return the rows from left to right as a dendrogram shows them, without crossings."""
        if self.n_rows == 1:
            return np.zeros(1, dtype=int)
        return leaves_list(self.merges)

    def to_frame(self) -> pd.DataFrame:
        """Return the merges as a table: first, second, height, size."""
        table = pd.DataFrame(self.merges, columns=["first", "second", "height", "size"])
        return table.astype({"first": int, "second": int, "size": int})


def checked_distances(X: Any) -> np.ndarray:
    """Return a square matrix of distances, after checking that it is one.

    Parameters
    ----------
    X
        Square, symmetric, not negative, zeros in the diagonal.

    Raises
    ------
    DataError
        Says what is wrong and where.
    """
    matrix = np.asarray(X, dtype=np.float64)
    # Rows of the square are longer than the tile, or they would all fall into few cache lines.
    if _is_square(matrix) and is_symmetric(
        np.ascontiguousarray(matrix), np.empty((TILE, TILE + 8))
    ):
        return matrix
    problem = ""
    if _is_square(matrix) and matrix.size:
        matrix = _without_rounding(matrix)
    if not _is_square(matrix):
        problem = f"its shape is {matrix.shape}, and it should be square"
    elif not np.isfinite([matrix.min(), matrix.max()]).all():
        problem = "it has missing or infinite entries"
    elif matrix.min() < 0:
        i, j = divmod(int(matrix.argmin()), len(matrix))
        problem = f"the entry {i}, {j} is negative: {matrix[i, j]:.6g}"
    elif np.diagonal(matrix).any():
        i = int(np.flatnonzero(np.diagonal(matrix))[0])
        problem = f"row {i} has distance {matrix[i, i]:.6g} from itself instead of 0"
    elif (pair := _unequal_pair(matrix)) is not None:
        i, j = pair
        problem = (
            f"it is not symmetric: entry {i}, {j} is {matrix[i, j]:.6g} and entry {j}, {i} is "
            f"{matrix[j, i]:.6g}"
        )
    if problem:
        raise DataError(f"X is no matrix of distances (metric='precomputed'): {problem}.")
    return matrix


@njit(cache=True, nogil=True)
def is_symmetric(matrix, mirror):
    """Tell whether a matrix has equal mirror images, none below zero, and zeros in the diagonal."""
    n = matrix.shape[0]
    for i in range(n):
        if matrix[i, i] != 0.0:
            return False
    tile = mirror.shape[0]
    for top in range(0, n, tile):
        bottom = min(top + tile, n)
        for left in range(top, n, tile):
            right = min(left + tile, n)
            # Turned in a small square first, so that both are then read along their rows.
            for j in range(left, right):
                column = matrix[j, top:bottom]
                for i in range(bottom - top):
                    mirror[i, j - left] = column[i]
            n_unequal = np.int64(0)
            for i in range(top, bottom):
                row, opposite = matrix[i, left:right], mirror[i - top]
                for j in range(right - left):
                    least = min(row[j], opposite[j])
                    # False of what is missing or infinite, and, as nothing is, of what is negative.
                    is_equal = abs(row[j] - opposite[j]) <= 1e-10 * least
                    n_unequal += np.int64(0) if is_equal else np.int64(1)
            if n_unequal:
                return False
    return True


def _is_square(matrix: np.ndarray) -> bool:
    return matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]


def _without_rounding(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix whose diagonal and entries below zero are zero where rounding made them."""
    least = 1e-10 * float(np.nanmax(np.abs(matrix), initial=0.0))
    diagonal = np.diagonal(matrix)
    touched = (np.abs(diagonal) <= least) & (diagonal != 0.0)
    below = (matrix < 0.0) & (matrix >= -least)
    if not (touched.any() or below.any()):
        return matrix
    matrix = np.where(below, 0.0, matrix)
    matrix[touched, touched] = 0.0
    return matrix


def _unequal_pair(matrix: np.ndarray) -> tuple[int, int] | None:
    """Return the first entry that differs from its mirror image by more than rounding."""
    unequal = np.argwhere(np.abs(matrix - matrix.T) > 1e-10 * np.minimum(matrix, matrix.T))
    return (int(unequal[0, 0]), int(unequal[0, 1])) if len(unequal) else None


def checked_rows(learner: Any, X: Any, metric: Any) -> np.ndarray:
    """Return the rows, or the matrix of distances where `metric` is "precomputed"."""
    rows = validate_data(learner, X, dtype=np.float64, order="C")
    return checked_distances(rows) if metric == "precomputed" else rows


def condensed_distances(rows: np.ndarray, metric: Any) -> np.ndarray:
    """Return the distances between all pairs of rows in SciPy's condensed form."""
    if isinstance(metric, str) and metric == "precomputed":
        return squareform(rows, checks=False)
    if isinstance(metric, str) and metric not in METRICS:
        raise unknown_name("metric", metric, [*METRICS, "precomputed"])
    name: Any = METRICS[metric] if isinstance(metric, str) else metric
    distances = pdist(rows, name)
    if not np.isfinite(distances).all():
        raise DataError(
            f"metric={metric!r} gives missing or infinite distances between some rows; a row of "
            "zeros has no direction, for example."
        )
    return distances
