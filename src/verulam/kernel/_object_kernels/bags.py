"""Kernels that count shared parts: the inner product of bags of words, substrings or subtrees."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from verulam.kernel._kernels.base import Kernel

#: Parts, of any hashable kind, with their counts.
Bag = Mapping[Any, float]


class PartKernel(Kernel):
    """A kernel of objects that are bags of parts; subclasses say what the parts of one are."""

    takes: ClassVar[str] = "objects"

    def parts(self, structure: Any) -> Bag:
        """Return how often each part occurs in an object."""
        raise NotImplementedError

    def _bags(self, inputs: np.ndarray) -> list[Bag]:
        return [self.parts(structure) for structure in inputs]

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        first = self._bags(left)
        return shared_parts(first, first if left is right else self._bags(right))

    def diagonal(self, X: Any) -> np.ndarray:
        bags = self._bags(self.inputs(X))
        return np.array([sum(count**2 for count in bag.values()) for bag in bags], dtype=np.float64)


def shared_parts(left: Sequence[Bag], right: Sequence[Bag]) -> np.ndarray:
    """Return the inner product of each bag of `left` with each of `right`.

    No list of parts is needed beforehand: those in neither side cannot be shared.

    Examples
    --------
    >>> from verulam.kernel._object_kernels.bags import shared_parts
    >>> shared_parts([{"a": 2, "b": 1}], [{"a": 1, "c": 5}, {"b": 3}])
    array([[2., 3.]])
    """
    columns: dict[Hashable, int] = {}
    for bag in right:
        for part in bag:
            columns.setdefault(part, len(columns))
    first, second = (_table(bags, columns) for bags in (left, right))
    # Sparse tables: each object has few of all the parts.
    return np.asarray((first @ second.T).toarray())


def _table(bags: Sequence[Bag], columns: dict[Hashable, int]) -> scipy.sparse.csr_array:
    starts, places, counts = [0], [], []
    for bag in bags:
        for part, count in bag.items():
            place = columns.get(part)
            if place is not None:
                places.append(place)
                counts.append(float(count))
        starts.append(len(places))
    return scipy.sparse.csr_array(
        (np.array(counts), np.array(places, dtype=np.int64), np.array(starts)),
        shape=(len(bags), max(1, len(columns))),
    )
