"""Objects that have no coordinates, such as strings, compared by a function of two of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.nonparametric._neighbours.index import (
    Neighbours,
    check_neighbour_count,
    nearest_by_distances,
)

Comparison = Callable[[Any, Any], float]


def objects_of(X: Any) -> np.ndarray | None:
    """Return the objects in an array of one dimension, or None where X is a table of numbers.

    Sequences of different lengths are objects, too.

    Examples
    --------
    >>> objects_of(["cat", "cart"])
    array(['cat', 'cart'], dtype=object)
    >>> objects_of([[1.0, 2.0], [3.0, 4.0]]) is None
    True
    """
    if isinstance(X, np.ndarray | pd.Series):
        array = np.asarray(X)
        return array.astype(object) if array.ndim == 1 and array.dtype.kind in "OUS" else None
    if not isinstance(X, list | tuple) or not X:
        return None
    try:
        np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        objects = np.empty(len(X), dtype=object)
        objects[:] = X if np.ndim(X[0]) == 0 else [*X]
        return objects
    return None


def compare_objects(function: Comparison, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the function of each object of the first with each of the second."""
    table = np.array(
        [[function(one, other) for other in second] for one in first], dtype=np.float64
    ).reshape(len(first), len(second))
    if np.isnan(table).any():
        raise DataError("The function must return a number for every pair of objects.")
    return table


@dataclass(frozen=True)
class ObjectIndex:
    """Stored objects, ready to be searched.

    Attributes
    ----------
    stored
        The objects.
    metric
        Distance of two of them.
    """

    stored: np.ndarray
    metric: Comparison

    def query(self, queries: Any, k: int) -> Neighbours:
        """Return the `k` nearest stored objects of each query."""
        objects = as_queries(queries)
        check_neighbour_count(k, len(self.stored))
        return nearest_by_distances(
            lambda few: compare_objects(self.metric, few, self.stored), objects, k
        )


def as_queries(X: Any) -> np.ndarray:
    """Return the objects of a query, or say that there are none."""
    objects = objects_of(X)
    if objects is None:
        raise DataError(
            "X must be a list of objects, such as strings, because the training data were one."
        )
    return objects
