"""How well a map keeps what is near, and the distances themselves."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    TABLE,
    TEXT,
    WHOLE,
    DataError,
    checked_arguments,
)
from verulam.numerics import distances
from verulam.reduction._distances.inputs import checked_distances, refuse_coincidence
from verulam.reduction._distances.stress import stress


@dataclass(frozen=True)
class EmbeddingQuality:
    r"""How good a map is.

    Attributes
    ----------
    trustworthiness
        1 if the neighbours of a place were neighbours before; intruders lower it by how far they
        come from.
    continuity
        1 if neighbours are still neighbours in the map; it falls with those that were torn away.
    stress
        Square of Kruskal's first stress formula, see `verulam.reduction.stress`.
    sammon_stress
        Sammon's stress.
    distance_correlation
        Correlation of distances before and in the map.
    n_neighbors
        Number of neighbours that was looked at.
    """

    trustworthiness: float
    continuity: float
    stress: float
    sammon_stress: float
    distance_correlation: float
    n_neighbors: int


@checked_arguments(X=TABLE, embedding=TABLE, n_neighbors=WHOLE, metric=TEXT)
def embedding_quality(
    X: ArrayLike, embedding: ArrayLike, *, n_neighbors: int = 5, metric: str = "euclidean"
) -> EmbeddingQuality:
    r"""Return measures of how well places stand for rows.

    Parameters
    ----------
    X
        The rows, or the matrix of their distances.
    embedding
        Their places in the map.
    n_neighbors
        Number :math:`k` of nearest rows whose company is compared.
    metric
        Distance between rows by name, or "precomputed" where `X` holds distances.

    Notes
    -----
    With the rank :math:`r(i, j)` of row :math:`j` among the neighbours of row :math:`i` before, and
    :math:`U_k(i)` the neighbours in the map that were none,

    .. math:: T(k) = 1 - \frac{2}{nk(2n - 3k - 1)} \sum_i \sum_{j \in U_k(i)} (r(i, j) - k)

    and continuity is the same with both spaces exchanged [venna2001]_.

    .. [venna2001] J. Venna and S. Kaski, "Neighborhood preservation in nonlinear projection
       methods: an experimental study", ICANN, 485-491, 2001.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.reduction import PrincipalComponents, embedding_quality
    >>> X = dataset("iris").inputs
    >>> quality = embedding_quality(X, PrincipalComponents(2).fit_transform(X))
    >>> round(quality.trustworthiness, 3), round(quality.continuity, 3)
    (0.979, 0.99)
    """
    places = _table(embedding, "embedding")
    if metric == "precomputed":
        before = checked_distances(np.asarray(X, dtype=np.float64))
    else:
        rows = _table(X, "X")
        before = distances(rows, rows, metric)
        np.fill_diagonal(before, 0.0)
    if len(before) != len(places):
        raise DataError(f"X has {len(before)} rows and embedding has {len(places)}.")
    n_rows = len(places)
    if not 1 <= n_neighbors < n_rows / 2:
        raise DataError(
            f"n_neighbors={n_neighbors}: accepted are numbers from 1 to less than half of the "
            f"{n_rows} rows."
        )
    refuse_coincidence(before)
    after = distances(places, places)
    upper = np.triu_indices(n_rows, 1)
    return EmbeddingQuality(
        trustworthiness=_company(before, after, n_neighbors),
        continuity=_company(after, before, n_neighbors),
        stress=stress(before, places).stress,
        sammon_stress=stress(before, places, weighting="sammon").stress,
        distance_correlation=_correlation(before[upper], after[upper]),
        n_neighbors=n_neighbors,
    )


@checked_arguments(X=TABLE)
def reconstruction_error(reduction: Any, X: ArrayLike) -> float:
    r"""Return the mean squared distance of rows from what is left of them after a reduction.

    Parameters
    ----------
    reduction
        A fitted reduction with `transform` and `inverse_transform`.
    X
        Rows of numbers.

    Notes
    -----
    For principal components of the same rows it is the sum of the discarded eigenvalues, times
    :math:`(N - 1)/N`.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.reduction import PrincipalComponents, reconstruction_error
    >>> X = dataset("iris").inputs
    >>> components = PrincipalComponents(2).fit(X)
    >>> round(reconstruction_error(components, X), 4)
    0.1014
    >>> round(float(components.eigenvalues_[2:].sum()) * 149 / 150, 4)
    0.1014
    """
    if not hasattr(reduction, "inverse_transform"):
        raise DataError(
            f"reduction: {type(reduction).__name__} has no inverse_transform, so rows cannot be "
            "made from its coordinates."
        )
    rows = _table(X, "X")
    restored = np.asarray(reduction.inverse_transform(reduction.transform(X)))
    return float(((rows - restored) ** 2).sum(axis=1).mean())


def _company(reference: np.ndarray, other: np.ndarray, count: int) -> float:
    """Return how far those who are near in `other` were away in `reference`, as 1 less a share."""
    n_rows = len(reference)
    ranks = np.empty((n_rows, n_rows), dtype=np.int64)
    order = _order(reference)
    np.put_along_axis(ranks, order, np.arange(n_rows), axis=1)
    near = _order(other)[:, 1 : count + 1]
    excess = np.take_along_axis(ranks, near, axis=1) - count
    penalty = float(excess[excess > 0].sum())
    return 1.0 - 2.0 * penalty / (n_rows * count * (2.0 * n_rows - 3.0 * count - 1.0))


def _order(matrix: np.ndarray) -> np.ndarray:
    """Return rows by distance from each row, itself first."""
    first = matrix.copy()
    np.fill_diagonal(first, -1.0)
    return np.argsort(first, axis=1, kind="stable")


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    scale = float(first.std() * second.std())
    if scale == 0.0:
        return float("nan")
    return float(((first - first.mean()) * (second - second.mean())).mean() / scale)


def _table(values: ArrayLike, name: str) -> np.ndarray:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise DataError(f"{name}: expected a table of finite numbers; got shape {table.shape}.")
    return table
