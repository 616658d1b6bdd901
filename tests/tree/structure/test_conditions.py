"""Conditions of a node, in the order in which its rows met them."""

import numpy as np
import pytest

from verulam.tree import DecisionTreeClassifier
from verulam.tree._structure.tree import conditions


@pytest.mark.parametrize("merged", [True, False])
def test_conditions_begin_at_the_root(merged):
    """The first column halves the classes; the second tells apart what is left on one side."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    y = np.where(X[:, 0] == 0.0, "a", np.where(X[:, 1] == 0.0, "b", "c"))
    tree = DecisionTreeClassifier().fit(X, y).tree_
    leaves = [node for node in range(len(tree.parent)) if tree.first_child[node] < 0]
    paths = [[part.column for part in conditions(tree, leaf, merged=merged)] for leaf in leaves]
    assert sorted(paths) == [[0], [0, 1], [0, 1]]
