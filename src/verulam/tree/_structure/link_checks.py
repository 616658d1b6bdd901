"""Checks of a tree that comes from a file: compiled loops follow its links without looking."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.tree._structure.tree_loops import LEAF, NUMERIC, SUBSET

#: Numbered as in `tree`, which imports this module.
NWAY = 3
#: Sets of categories are kept as words of bits.
WORD_BITS = 64
#: Arrays with an entry for each node.
_OF_NODES = ("kind", "column", "threshold", "first_child", "n_children", "missing_branch", "n_rows")
_INTEGERS = (
    "kind", "column", "first_child", "n_children", "missing_branch", "category_start",
    "category_branches", "n_categories",
)  # fmt: skip


def check_links(tree: Any) -> None:
    """Refuse a tree whose arrays lead out of the tree, out of the rows or in circles.

    Parameters
    ----------
    tree
        A `TreeStructure`.
    """
    _check_forms(tree)
    nodes = np.flatnonzero(tree.kind != LEAF)
    _check_children(tree, nodes)
    _check_tests(tree, nodes[np.isin(tree.kind[nodes], (NUMERIC, SUBSET, NWAY))])


def _check_forms(tree: Any) -> None:
    n_nodes = len(tree.kind)
    _require(n_nodes > 0, "has no nodes")
    for name in _OF_NODES:
        array = getattr(tree, name)
        _require(
            isinstance(array, np.ndarray) and array.shape == (n_nodes,),
            f"has another number of nodes in {name!r} than in 'kind'",
        )
    for name in _INTEGERS:
        _require(getattr(tree, name).dtype.kind in "iu", f"has no whole numbers in {name!r}")
    _require(tree.threshold.dtype == np.float64, "has no numbers in 'threshold'")
    _require(tree.category_words.dtype == np.uint64, "has no words in 'category_words'")
    for name in ("category_words", "category_branches", "n_categories", "category_start"):
        _require(getattr(tree, name).ndim == 1, f"has a table in {name!r}")
    for name in ("own_weight", "category_start"):
        _require(len(getattr(tree, name)) in (0, n_nodes), f"has too few nodes in {name!r}")
    _require(len(tree.values) == n_nodes, "has another number of nodes in 'values'")


def _check_children(tree: Any, nodes: NDArray[np.intp]) -> None:
    n_nodes = len(tree.kind)
    first = tree.first_child[nodes].astype(np.int64)
    counts = tree.n_children[nodes].astype(np.int64)
    _require(not tree.n_children[tree.kind == LEAF].any(), "has leaves with children")
    two = np.isin(tree.kind[nodes], (NUMERIC, SUBSET))
    _require((counts >= 1 + two).all(), "has nodes with too few children")
    # Children come after their parents, so that no way leads back.
    _require((first > nodes).all(), "has children before their parents")
    _require((first + counts <= n_nodes).all(), "has children that are no nodes")
    starts = np.zeros(n_nodes + 1, dtype=np.int64)
    np.add.at(starts, first, 1)
    np.add.at(starts, first + counts, -1)
    _require(
        (np.cumsum(starts)[1:n_nodes] == 1).all(), "has nodes with several parents, or with none"
    )


def _check_tests(tree: Any, nodes: NDArray[np.intp]) -> None:
    columns, counts = tree.column[nodes].astype(np.int64), tree.n_children[nodes].astype(np.int64)
    inside = (columns >= 0) & (columns < len(tree.n_categories))
    _require(inside.all(), "has tests of columns that are not there")
    missing = tree.missing_branch[nodes].astype(np.int64)
    least = -1 if tree.fractional else 0
    _require(((missing >= least) & (missing < counts)).all(), "has gaps that lead to no child")
    kinds = tree.kind[nodes]
    by_category = kinds != NUMERIC
    if not by_category.any():
        return
    _require(len(tree.category_start) > 0, "has tests of categories without any")
    starts = tree.category_start[nodes[by_category]].astype(np.int64)
    sizes = tree.n_categories[columns[by_category]].astype(np.int64)
    n_way = kinds[by_category] == NWAY
    sizes = np.where(n_way, sizes, -(-sizes // WORD_BITS))
    lengths = np.where(n_way, len(tree.category_branches), len(tree.category_words))
    fits = (starts >= 0) & (sizes > 0) & (starts + sizes <= lengths)
    _require(fits.all(), "has tests of categories that are not there")
    for start, size, count in zip(
        starts[n_way], sizes[n_way], counts[by_category][n_way], strict=True
    ):
        branches = tree.category_branches[start : start + size]
        _require(
            ((branches >= 0) & (branches < count)).all(), "has categories that lead to no child"
        )


def _require(holds: Any, complaint: str) -> None:
    if not holds:
        raise DataError(f"The tree {complaint}.")
