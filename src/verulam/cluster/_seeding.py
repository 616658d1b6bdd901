"""Where clusters start: rows of a sample that does not depend on how the data is cut or ordered."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from verulam.base import Chunk, DataError, DataWarning, warn_caller
from verulam.numerics import DiagonalMoments, diagonal_moments

#: Rows of a sample that starts are drawn from, at least, and for each cluster.
SAMPLE_ROWS, ROWS_PER_CLUSTER = 4096, 100
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def row_keys(X: np.ndarray, seed: int) -> np.ndarray:
    """Return a pseudo-random number for each row, the same wherever equal rows stand.

    Parameters
    ----------
    X
        Rows of float64 numbers.
    seed
        Chooses one of many such functions.

    Examples
    --------
    >>> import numpy as np
    >>> keys = row_keys(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]), seed=0)
    >>> keys[0] == keys[2], keys[0] == keys[1]
    (np.True_, np.False_)
    """
    # Adding zero makes one zero of both; all that is missing counts as equal.
    bits = (X + 0.0).view(np.uint64)
    bits[np.isnan(X)] = 0x7FF8000000000000
    # The bits that tell small whole numbers apart are the high ones, which products lose.
    bits ^= bits >> np.uint64(29)
    random = np.random.default_rng(seed)
    factors = random.integers(2**63, size=X.shape[1], dtype=np.uint64) * np.uint64(2) + _GOLDEN
    keys = bits @ (factors | np.uint64(1))
    for shift, factor in zip((30, 27), _MIX, strict=True):
        keys ^= keys >> np.uint64(shift)
        keys *= factor
    return keys ^ (keys >> np.uint64(31))


@dataclass(frozen=True)
class RowSample:
    """The different rows with the smallest keys, and the weight that equal ones have together.

    A row is in the sample of all data if and only if it is in that of its part, so that records
    add whatever the parts; equal rows count once, with their weight.

    Attributes
    ----------
    keys : ndarray of uint64
        In rising order, no more than `most` of them.
    rows : ndarray of shape (n_sampled, n_columns)
        The rows.
    weights : ndarray of shape (n_sampled,)
        Their weights.
    most
        Size of the sample.
    """

    keys: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    most: int

    def __add__(self, other: "RowSample") -> "RowSample":
        return _smallest(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.weights, other.weights]),
            self.most,
        )


def sample_rows(chunk: Chunk, seed: int, most: int) -> RowSample:
    """Return the sample of one chunk; rows without weight are never in it."""
    X, weights = chunk.inputs, chunk.weights
    if weights is None:
        weights = np.ones(len(X))
    elif not weights.all():
        X, weights = X[weights > 0], weights[weights > 0]
    return _smallest(row_keys(X, seed), X, weights, most)


def _smallest(keys: np.ndarray, rows: np.ndarray, weights: np.ndarray, most: int) -> RowSample:
    if len(keys) > 2 * most:
        # Keys are spread evenly, so that few above this bound can be among the smallest.
        low = np.flatnonzero(keys < np.uint64(1.2 * most / len(keys) * 2.0**64))
        if len(np.unique(keys[low])) >= most:
            keys, rows, weights = keys[low], rows[low], weights[low]
    distinct, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    totals = np.bincount(codes, weights, minlength=len(distinct))
    first = first[:most]
    return RowSample(distinct[:most], rows[first], totals[:most], most)


@dataclass(frozen=True)
class Survey:
    """What one pass over the data tells before clusters are started.

    Attributes
    ----------
    sample
        Rows that starts are drawn from.
    moments
        Mean and scatter of each column, over the values that are present.
    """

    sample: RowSample
    moments: DiagonalMoments

    def __add__(self, other: "Survey") -> "Survey":
        return Survey(self.sample + other.sample, self.moments + other.moments)

    @property
    def mean(self) -> np.ndarray:
        """Mean of each column."""
        return self.moments.mean[0]

    @property
    def scale(self) -> np.ndarray:
        """Standard deviation of each column; 1 where a column is constant."""
        weight = np.maximum(self.moments.weight[0], np.finfo(float).tiny)
        variances = self.moments.scatter[0] / weight
        # A column of one value differs from its mean by rounding alone.
        rounding = (4.0 * np.finfo(float).eps * self.mean) ** 2
        return np.sqrt(np.where(variances > rounding, variances, 1.0))

    def filled(self) -> np.ndarray:
        """Return the sampled rows, column means in place of what is missing."""
        return np.where(np.isnan(self.sample.rows), self.mean, self.sample.rows)


def survey(chunk: Chunk, seed: int, most: int) -> Survey:
    """Return the survey of one chunk."""
    codes = np.zeros(len(chunk), dtype=np.intp)
    moments = diagonal_moments(chunk.inputs, codes, chunk.weights, 1)
    return Survey(sample_rows(chunk, seed, most), moments)


def sample_size(n_clusters: int) -> int:
    """Return how many rows starts for this many clusters are drawn from."""
    return max(SAMPLE_ROWS, ROWS_PER_CLUSTER * n_clusters)


def check_enough_rows(n_clusters: int, n_rows: int, name: str) -> None:
    """Raise where there are more clusters than rows."""
    if n_clusters > n_rows:
        rows = "1 row" if n_rows == 1 else f"{n_rows} rows"
        raise DataError(
            f"{name}={n_clusters} is more than the data has: n_samples={n_rows} ({rows}); "
            f"choose {name} from 1 to {n_rows}."
        )


def warn_of_equal_rows(n_clusters: int, n_different: int) -> None:
    """Warn where clusters differ only in which of several equal rows they have."""
    if n_different < n_clusters:
        warn_caller(
            f"n_clusters={n_clusters}, but the number of different rows is {n_different}; equal "
            "rows are divided between clusters.",
            DataWarning,
        )


def random_rows(
    rows: np.ndarray, weights: np.ndarray, n_clusters: int, random: np.random.Generator
) -> np.ndarray:
    """Return different rows, drawn with chances in proportion to their weights.

    Where there are too few different rows, some come twice.
    """
    order = random.choice(
        len(rows), min(n_clusters, len(rows)), replace=False, p=weights / weights.sum()
    )
    return rows[np.resize(order, n_clusters)]


def plus_plus_rows(
    rows: np.ndarray, weights: np.ndarray, n_clusters: int, random: np.random.Generator
) -> np.ndarray:
    r"""Return rows far from one another: k-means++ with several candidates a step.

    The chance of a row is in proportion to its weight and its squared distance from the nearest
    row drawn before; of :math:`2 + \ln k` candidates the one that leaves the least error is
    taken [arthur2007]_.

    .. [arthur2007] D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful
       seeding", Symposium on Discrete Algorithms, 2007.
    """
    places = [int(random.choice(len(rows), p=weights / weights.sum()))]
    nearest = cdist(rows, rows[places], "sqeuclidean")[:, 0]
    n_candidates = 2 + int(np.log(n_clusters))
    for _ in range(1, n_clusters):
        chances = np.cumsum(weights * nearest)
        if not chances[-1] > 0:
            # Every different row has been drawn.
            places.append(places[0])
            continue
        candidates = np.searchsorted(chances, random.random(n_candidates) * chances[-1], "right")
        candidates = np.minimum(candidates, len(rows) - 1)
        squares = np.minimum(cdist(rows, rows[candidates], "sqeuclidean"), nearest[:, None])
        best = int((weights @ squares).argmin())
        nearest = squares[:, best]
        places.append(int(candidates[best]))
    return rows[places]


def array_of_starts(init: Any, n_clusters: int, name: str) -> np.ndarray:
    """Return first centres as float64, after checking their number and that none is missing."""
    centres = np.array(init, dtype=np.float64)
    if centres.ndim != 2 or len(centres) != n_clusters:
        raise DataError(
            f"{name} has shape {centres.shape}; expected {n_clusters} rows, one for each cluster, "
            "with a column for each input."
        )
    if not np.isfinite(centres).all():
        raise DataError(f"{name} has missing or infinite values; each must be a number.")
    return centres


def check_width(X: np.ndarray, centres: np.ndarray, name: str) -> None:
    """Raise where rows and first centres differ in their number of columns."""
    if X.shape[1] != centres.shape[1]:
        raise DataError(
            f"{name} has {centres.shape[1]} columns and X has {X.shape[1]}; they must be the same."
        )
