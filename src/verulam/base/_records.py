"""Records of sums: what one pass over a chunk of data leaves behind.

A record adds with ``+``. Adding must not depend on how the data was cut into chunks, so that
memory, stream and cluster give the same numbers.
"""

from dataclasses import dataclass, fields
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from verulam.base._errors import DataError


class Statistics(Protocol):
    """Anything that adds to its own kind."""

    def __add__(self, other: Any) -> Any:
        """Return the statistics of both parts of the data together."""


class Classwise(Statistics, Protocol):
    """Statistics with one entry per class along the first axis."""

    def spread(self, positions: np.ndarray, n_classes: int) -> Any:
        """Return the same statistics among more classes, the new ones empty."""


ClasswiseT = TypeVar("ClasswiseT", bound=Classwise)


@dataclass(frozen=True)
class SumRecord:
    """A record whose fields are plain sums: numbers, arrays, or other records."""

    def __add__(self, other: Self) -> Self:
        sums = {
            field.name: getattr(self, field.name) + getattr(other, field.name)
            for field in fields(self)
        }
        return type(self)(**sums)


@dataclass(frozen=True)
class ByClass(Generic[ClasswiseT]):
    """Statistics per class, together with the labels of the classes.

    Chunks need not see the same classes: adding two records gives the union, sorted.
    """

    classes: np.ndarray
    statistics: ClasswiseT

    def __add__(self, other: "ByClass[ClasswiseT]") -> "ByClass[ClasswiseT]":
        if np.array_equal(self.classes, other.classes):
            return ByClass(self.classes, self.statistics + other.statistics)
        if (self.classes.dtype.kind in "biuf") != (other.classes.dtype.kind in "biuf"):
            raise DataError(
                "Labels are numbers in one chunk and words in another: "
                f"{self.classes[0]!r} and {other.classes[0]!r}."
            )
        classes = np.union1d(self.classes, other.classes)
        return self.among(classes) + other.among(classes)

    def among(self, classes: np.ndarray) -> "ByClass[ClasswiseT]":
        """Return the same statistics with room for all of `classes`, a sorted superset."""
        # Both lists are sorted, and `classes` holds all of ours.
        positions = np.searchsorted(classes, self.classes)
        return ByClass(classes, self.statistics.spread(positions, len(classes)))


def spread_rows(values: np.ndarray, positions: np.ndarray, n_rows: int) -> np.ndarray:
    """Return zeros of `n_rows` rows with `values` written at `positions`."""
    result = np.zeros((n_rows, *values.shape[1:]), dtype=values.dtype)
    result[positions] = values
    return result
