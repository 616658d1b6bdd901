"""Assembly of a tree from subtrees that different threads have grown."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.tree._growing.growth_parameters import NODE, Nodes
from verulam.tree._growing.lazy_memory import empty_pages
from verulam.tree._structure.tree import LEAF, NWAY, TreeStructure, collapse

#: Most branches of a node whose number fits one byte.
MOST_BRANCHES = 120
#: Most columns whose numbers fit two bytes.
MOST_COLUMNS = 2**15 - 1


@dataclass(frozen=True, eq=False)
class Growth:
    """A grown tree and the training rows of its nodes.

    Attributes
    ----------
    structure
        The tree.
    rows : ndarray of int32
        Training rows, those of each node side by side.
    """

    structure: TreeStructure
    rows: NDArray[np.int32]

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """Where the rows of each node start; there are ``structure.n_rows`` of them."""
        structure = self.structure
        start = np.zeros(len(structure), dtype=np.int64)
        for node in np.flatnonzero(structure.kind != LEAF).tolist():
            children = structure.children(node)
            # The rows of children lie side by side in those of their parent.
            ends = start[node] + np.cumsum(structure.n_rows[children])
            start[children] = np.append(start[node], ends[:-1])
        return start

    def collapsed(self, to_leaf: NDArray[np.bool_]) -> "Growth":
        """Return the growth with the marked nodes turned into leaves."""
        return Growth(collapse(self.structure, to_leaf), self.rows)

    def node_rows(self, node: int) -> NDArray[np.int32]:
        """Return the training rows of a node."""
        return self.rows[self.start[node] :][: self.structure.n_rows[node]]


@dataclass(frozen=True, eq=False)
class Part:
    """Nodes grown together, and the bit sets or branches of their categories."""

    nodes: Nodes
    n_nodes: int
    codes: NDArray[np.int64]


class CategoryCodes:
    """Bit sets or branches of the categories of many nodes, one behind the other."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        self._count = 0

    def add(self, codes: NDArray[np.int64]) -> int:
        """Append what belongs to one node or to several, and return where it starts."""
        start = self._count
        self._parts.append(codes)
        self._count += len(codes)
        return start

    def joined(self) -> NDArray[np.int64]:
        """Return all of them as one array."""
        return np.concatenate(self._parts) if self._count else self._parts[0]


class Assembly:
    """The arrays of a tree, which are filled part by part; a part can be dropped afterwards.

    Parameters
    ----------
    top
        The root and all that was grown with it.
    capacity
        Most nodes that the tree may have.
    n_categories
        Categories of each column.
    n_way
        Whether a node may have a branch for each category.
    weighted
        Whether rows have weights other than 1.
    """

    def __init__(
        self,
        top: Part,
        capacity: int,
        n_categories: NDArray[np.int32],
        *,
        n_way: bool,
        weighted: bool,
    ) -> None:
        self._n_categories = n_categories
        many = n_way and n_categories.max(initial=0) > MOST_BRANCHES
        branch = np.int32 if many else np.int8
        kinds: dict[str, Any] = {
            "column": np.int16 if len(n_categories) <= MOST_COLUMNS else np.int32,
            **{name: NODE[name] for name in ("kind", "threshold", "first_child")},
            "n_children": branch,
            "missing_branch": branch,
            **{name: NODE[name] for name in ("n_rows", "impurity", "gain")},
        }
        if weighted:
            kinds["weight"] = NODE["weight"]
        if n_categories.any():
            kinds["category_start"] = NODE["category_start"]
        self._codes = CategoryCodes()
        self._codes.add(top.codes)
        self._count = top.n_nodes
        if capacity == len(top.nodes.values):
            # Nothing is to come.
            self._fields = {
                name: np.ascontiguousarray(top.nodes.cells[name], dtype=kind)
                for name, kind in kinds.items()
            }
            self._values = top.nodes.values
            return
        self._fields = {name: empty_pages(capacity, kind) for name, kind in kinds.items()}
        n_values = top.nodes.values.shape[1]
        self._values = empty_pages(capacity * n_values).reshape(capacity, n_values)
        self._put(slice(top.n_nodes), top.nodes, slice(top.n_nodes))

    def _put(self, target: Any, nodes: Nodes, source: slice) -> None:
        for name, array in self._fields.items():
            array[target] = nodes.cells[name][source]
        self._values[target] = nodes.values[source]

    def add(self, roots: NDArray[np.intp], part: Part) -> None:
        """Add what was grown below some nodes, which are the first nodes of the part."""
        first, n_roots = self._count, len(roots)
        links, starts = (
            part.nodes.cells[name][: part.n_nodes] for name in ("first_child", "category_start")
        )
        # The roots stand in the tree already; the other nodes move up behind all that is there.
        links[links >= 0] += first - n_roots
        starts[starts >= 0] += self._codes.add(part.codes)
        self._count += part.n_nodes - n_roots
        self._put(roots, part.nodes, slice(n_roots))
        self._put(slice(first, self._count), part.nodes, slice(n_roots, part.n_nodes))

    def structure(self, *, fractional: bool) -> TreeStructure:
        """Return the tree."""
        fields = {name: self._trimmed(array) for name, array in self._fields.items()}
        categories = self._codes.joined()
        # All splits of categories in one tree are of one kind.
        n_way = len(categories) > 0 and bool((fields["kind"] == NWAY).any())
        return TreeStructure(
            own_weight=fields.pop("weight", np.empty(0)),
            category_start=fields.pop("category_start", np.empty(0, dtype=np.int32)),
            **fields,
            values=self._trimmed(self._values),
            category_words=categories[: 0 if n_way else None].astype(np.uint64),
            category_branches=categories[: None if n_way else 0].astype(np.int32),
            n_categories=self._n_categories,
            fractional=fractional,
            gaps=(),
        )

    def _trimmed(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the entries that were filled; room of which most is empty is not kept."""
        filled = array[: self._count]
        return filled if 2 * self._count > len(array) else filled.copy()
