"""Growing and walking multivariate trees."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.tree import MultivariateTreeClassifier
from verulam.tree._structure.tree import LEAF


@pytest.fixture(scope="module")
def grown():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    y = np.digitize(X @ [1.0, 1.0, -1.0] + 0.5 * random.normal(size=200), [-1.0, 1.0])
    return MultivariateTreeClassifier().fit(X, y).tree_, X, y


def test_every_row_reaches_one_leaf_with_its_counts(grown):
    tree, X, y = grown
    leaves = tree.apply(X)
    assert (tree.structure.kind[leaves] == LEAF).all()
    for leaf in tree.structure.leaves:
        assert_allclose(
            np.bincount(y[leaves == leaf], minlength=3), tree.structure.values[leaf], atol=1e-9
        )
    assert tree.structure.n_rows[tree.structure.leaves].sum() == 200


def test_walking_follows_the_tests_node_by_node(grown):
    tree, X, _ = grown
    for row in X[:20]:
        node = 0
        while tree.tests[node] is not None:
            branch = int(tree.tests[node].branches(row[None])[0])
            node = int(tree.structure.first_child[node]) + branch
        assert tree.apply(row[None])[0] == node


def test_parents_come_before_children_and_add_up(grown):
    structure = grown[0].structure
    inner = np.flatnonzero(structure.kind != LEAF)
    for node in inner:
        children = list(structure.children(node))
        assert min(children) > node
        assert_allclose(structure.values[children].sum(axis=0), structure.values[node])
        after = structure.weight[children] @ structure.impurity[children] / structure.weight[node]
        assert_allclose(structure.gain[node], structure.impurity[node] - after, atol=1e-9)


def test_leaf_shares_add_up_and_harden(grown):
    tree, X, _ = grown
    leaves = tree.structure.leaves
    soft = tree.leaf_shares(X, 0.3)
    assert_allclose(soft[:, leaves].sum(axis=1), 1.0)
    hard = tree.leaf_shares(X, 1e-9)
    assert_array_equal(leaves[hard[:, leaves].argmax(axis=1)], tree.apply(X))


def test_leaf_shares_are_products_of_those_on_the_way(grown):
    """In units of the standard deviation that the scores of a node's training rows have."""
    tree, X, _ = grown
    structure, soft = tree.structure, tree.leaf_shares(X, 0.3)
    reached = tree.reached(X, np.eye(len(X)))
    expected = np.ones((len(X), len(structure)))
    for node in range(1, len(structure)):
        parent = int(structure.parent[node])
        test = tree.tests[parent]
        spread = test.scores(X[reached[parent] > 0]).std()
        parts = test.shares(X, 0.3 * spread)
        branch = node - structure.first_child[parent]
        expected[:, node] = expected[:, parent] * parts[:, branch]
    assert_allclose(soft, expected, rtol=1e-6)


def test_reached_counts_every_node_on_the_way(grown):
    tree, X, y = grown
    reached = tree.reached(X, np.eye(3)[y])
    assert_allclose(reached, tree.structure.values)


def test_rounding_never_stops_the_growth():
    """Rows fewer than inputs have equal scores but for rounding: a threshold takes over."""
    for seed in (1, 4, 6):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(300, 4)), random.integers(50, size=300)
        assert MultivariateTreeClassifier("lda").fit(X, y).score(X, y) == 1.0


def test_collapsing_turns_nodes_into_leaves(grown):
    tree, X, _ = grown
    marks = np.zeros(len(tree.tests), dtype=bool)
    marks[list(tree.structure.children(0))] = True
    small = tree.collapsed(marks)
    assert len(small.tests) == 3
    assert small.tests[1] is None
    assert_array_equal(small.apply(X) - 1, tree.tests[0].branches(X))
