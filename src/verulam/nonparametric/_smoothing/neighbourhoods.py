"""What a local smoother looks at around a query, and what it fits there."""

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Literal

import numpy as np

from verulam.nonparametric._windows.functions import Window

Side = Literal["both", "past"]


@dataclass(frozen=True)
class Neighbourhood:
    """A window around each query, of a fixed width or as wide as its nearest neighbours make it.

    Attributes
    ----------
    window
        Weight by distance, in units of the width.
    degree
        Degree of the polynomial that is fitted with these weights.
    bandwidth
        The width, where it is fixed.
    n_neighbors
        Where it is not: the width is the distance of the neighbour of this rank.
    side
        "past" looks only at inputs up to the query.
    """

    window: Window
    degree: int = 0
    bandwidth: float | None = None
    n_neighbors: int | None = None
    side: Side = "both"

    def with_one_more(self) -> "Neighbourhood":
        """Return the neighbourhood with room for a point that is then left out."""
        if self.n_neighbors is None:
            return self
        return replace(self, n_neighbors=self.n_neighbors + 1)


@dataclass(frozen=True)
class LocalValues:
    """What local fits give at the queries.

    Attributes
    ----------
    values
        The fits.
    leverage
        Weight of the target of the query itself, where queries are stored points.
    squares
        Sum of the squared weights of all targets.
    empty
        Where no stored point had any weight, so that the nearest ones were taken.
    """

    values: np.ndarray
    leverage: np.ndarray
    squares: np.ndarray
    empty: np.ndarray


def polynomial_terms(offsets: np.ndarray, degree: int) -> np.ndarray:
    """Return products of up to `degree` of the last axis's entries, without the constant.

    Examples
    --------
    >>> import numpy as np
    >>> polynomial_terms(np.array([[2.0, 3.0]]), 2)
    array([[2., 3., 4., 6., 9.]])
    """
    columns = [offsets]
    for order in range(2, degree + 1):
        for factors in combinations_with_replacement(range(offsets.shape[-1]), order):
            product = offsets[..., factors[0]] * offsets[..., factors[1]]
            for column in factors[2:]:
                product *= offsets[..., column]
            columns.append(product[..., None])
    return np.concatenate(columns, axis=-1)


def count_terms(n_columns: int, degree: int) -> int:
    """Return the number of terms of a polynomial, the constant included."""
    terms = 1
    for order in range(1, degree + 1):
        terms = terms * (n_columns + order) // order
    return terms
