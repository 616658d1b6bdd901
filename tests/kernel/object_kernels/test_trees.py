"""Tree kernels: enumeration of parts, worked numbers."""

from collections import Counter
from itertools import product

import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.kernel import SubsetTreeKernel, SubtreeKernel, gram_report

TREES = [
    ("S", ("N", "cat"), ("V", "sat")),
    ("S", ("N", "cat"), ("V", "ran")),
    ("S", ("N", ("A", "old"), ("N", "cat")), ("V", "sat")),
    ("S", ("N", "cat"), ("V", ("N", "cat"))),
    "leaf",
]


def fragments(node):
    """Return the parts rooted at a node: each child is cut off, or has one too."""
    if not isinstance(node, tuple) or len(node) == 1:
        return []
    choices = []
    for child in node[1:]:
        label = child[0] if isinstance(child, tuple) else child
        choices.append([label, *fragments(child)])
    return [(node[0], *children) for children in product(*choices)]


def every_fragment(node):
    fragment_counts = Counter(fragments(node))
    for child in node[1:] if isinstance(node, tuple) else ():
        fragment_counts += every_fragment(child)
    return fragment_counts


def test_subset_trees_by_enumeration():
    bags = [every_fragment(tree) for tree in TREES]
    expected = [[sum(one[part] * other[part] for part in one) for other in bags] for one in bags]
    assert_allclose(SubsetTreeKernel(decay=1.0)(TREES), expected)


def test_decay_weighs_a_part_by_its_inner_nodes():
    """N with cat below is one inner node; S with N and V alone one; S with N expanded two."""
    assert_allclose(SubsetTreeKernel(0.5)(TREES[:1], TREES[1:2]), 0.5 + 0.5 + 0.25)


def test_subtrees_are_nodes_with_all_below():
    assert SubtreeKernel()(TREES[:1], TREES[:1]) == 5
    assert SubtreeKernel()(TREES[:1], TREES[1:2]) == 2
    # cat and (N cat) are there twice.
    assert SubtreeKernel()(TREES[:1], TREES[3:4]) == 4


@pytest.mark.parametrize("kernel", [SubtreeKernel(), SubsetTreeKernel(0.4)])
def test_gram_matrix_is_one(kernel):
    assert gram_report(kernel(TREES))


def test_bad_arguments():
    with pytest.raises(DataError, match="decay must be above 0"):
        SubsetTreeKernel(0.0)
    with pytest.raises(DataError, match="a tree must be a label"):
        SubtreeKernel()([()])
    with pytest.raises(DataError, match=r"got \['N'\] for a label"):
        SubtreeKernel()([("S", [["N"], "cat"])])
    with pytest.raises(DataError, match=r"got \{\} for a label"):
        SubsetTreeKernel()([{}])


@pytest.mark.parametrize("kernel", [SubtreeKernel(), SubsetTreeKernel()])
def test_lists_are_trees_too(kernel):
    def listed(tree):
        return [listed(part) for part in tree] if isinstance(tree, tuple) else tree

    assert_allclose(kernel([listed(tree) for tree in TREES]), kernel(TREES))
