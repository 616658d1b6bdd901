"""Kernels of trees: subtrees that two trees share.

A tree is a nested tuple or list: a label, then its children; a label alone is a leaf.
"""

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._object_kernels.bags import Bag, PartKernel


def _as_tree(nested: Any) -> tuple[Any, ...]:
    """Return a tree of tuples, with leaves as tuples of one, or say that it is none."""
    label, *children = nested if isinstance(nested, tuple | list) and nested else [nested]
    if isinstance(label, tuple | list) or not isinstance(label, Hashable):
        raise DataError(
            "a tree must be a label, or a tuple of a label and its children, as in "
            f"('S', ('N', 'cat'), 'sat'); got {label!r} for a label."
        )
    return (label, *(_as_tree(child) for child in children))


def _nodes(tree: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield tree
    for child in tree[1:]:
        yield from _nodes(child)


@dataclass(frozen=True)
class SubtreeKernel(PartKernel):
    """Number of complete subtrees that two trees share: a node with all that is below it.

    Notes
    -----
    A tree is a nested tuple or list: a label, then its children; a label alone is a leaf. See
    Alpaydin 13.7.

    Examples
    --------
    >>> from verulam.kernel import SubtreeKernel
    >>> SubtreeKernel()([("S", ("N", "cat"), ("V", "sat"))], [("S", ("N", "cat"), ("V", "ran"))])
    array([[2.]])
    """

    def parts(self, structure: Any) -> Bag:
        return Counter(_nodes(_as_tree(structure)))


@dataclass(frozen=True)
class SubsetTreeKernel(Kernel):
    r"""Number of connected parts that two trees share, in which a node has all children or none.

    Attributes
    ----------
    decay
        Factor :math:`\lambda` for each level of a part: large parts would outweigh all others.

    Notes
    -----
    .. math:: K(T_1, T_2) = \sum_{a \in T_1} \sum_{b \in T_2} \Delta(a, b), \qquad
              \Delta(a, b) = \lambda \prod_c \left(1 + \Delta(a_c, b_c)\right)

    where :math:`a` and :math:`b` have the same label and children of the same labels, else
    :math:`\Delta = 0`, as for leaves. See Alpaydin 13.7.

    Examples
    --------
    >>> from verulam.kernel import SubsetTreeKernel
    >>> kernel = SubsetTreeKernel(decay=1.0)
    >>> kernel([("S", ("N", "cat"), ("V", "sat"))], [("S", ("N", "cat"), ("V", "ran"))])
    array([[3.]])
    """

    decay: float = 0.5

    takes: ClassVar[str] = "objects"

    def __post_init__(self) -> None:
        if not 0 < self.decay <= 1:
            raise DataError(f"decay must be above 0 and at most 1; got {self.decay}.")

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        first = [_by_production(_as_tree(tree)) for tree in left]
        second = first if left is right else [_by_production(_as_tree(tree)) for tree in right]
        return np.array(
            [[self._shared(one, other) for other in second] for one in first], dtype=np.float64
        ).reshape(len(left), len(right))

    def _shared(self, first: dict[Any, Any], second: dict[Any, Any]) -> float:
        known: dict[tuple[Any, Any], float] = {}
        # Only nodes with the same production can match, and equal nodes are counted together.
        return sum(
            count * others[other] * self._matches(node, other, known)
            for production, nodes in first.items()
            if (others := second.get(production))
            for node, count in nodes.items()
            for other in others
        )

    def _matches(
        self, first: tuple[Any, ...], second: tuple[Any, ...], known: dict[Any, float]
    ) -> float:
        if len(first) == 1 or _production(first) != _production(second):
            return 0.0
        # Equal subtrees are met many times: each pair is worked out once.
        pair = first, second
        if pair not in known:
            product = self.decay
            for child, other in zip(first[1:], second[1:], strict=True):
                product *= 1.0 + self._matches(child, other, known)
            known[pair] = product
        return known[pair]


def _production(node: tuple[Any, ...]) -> tuple[Any, ...]:
    return (node[0], *(child[0] for child in node[1:]))


def _by_production(tree: tuple[Any, ...]) -> dict[Any, Counter[Any]]:
    """Return the inner nodes of a tree, equal ones counted, by their label and children's."""
    productions: dict[Any, Counter[Any]] = {}
    for node in _nodes(tree):
        if len(node) > 1:
            productions.setdefault(_production(node), Counter())[node] += 1
    return productions
