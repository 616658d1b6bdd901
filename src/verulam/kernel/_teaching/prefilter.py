"""Rows that cannot be support vectors, found before training."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.neighbors import NearestNeighbors

from verulam.base import DataError


def near_boundary(X: ArrayLike, y: ArrayLike, n_neighbors: int = 11) -> np.ndarray:
    """Return a mask of the rows with another class among their nearest neighbours.

    A row that is deep inside its class is hardly ever a support vector; a machine trained on the
    others has nearly the same boundary for less work (Alpaydin 13.2 and exercise 1).

    Parameters
    ----------
    X
        Rows.
    y
        Class of each row.
    n_neighbors
        Neighbours to look at.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import near_boundary
    >>> line = np.arange(20.0)[:, None]
    >>> np.flatnonzero(near_boundary(line, line[:, 0] > 9.5, n_neighbors=4))
    array([ 8,  9, 10, 11])
    """
    labels = np.asarray(y)
    rows = np.asarray(X, dtype=np.float64)
    if not 1 <= n_neighbors < len(rows):
        raise DataError(
            f"n_neighbors must be from 1 to {len(rows) - 1}, the number of other rows; got "
            f"{n_neighbors}."
        )
    neighbours = (
        NearestNeighbors(n_neighbors=n_neighbors).fit(rows).kneighbors(return_distance=False)
    )
    return np.asarray((labels[neighbours] != labels[:, None]).any(axis=1))
