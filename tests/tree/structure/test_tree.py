"""Flat trees: traversal, conditions and collapsing, on a tree written down by hand."""

import pickle
from dataclasses import replace

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.tree import (
    Condition,
    DecisionTreeClassifier,
    Path,
    TreeStructure,
    collapse,
    conditions,
    merge_conditions,
    paths,
)
from verulam.tree._structure.tree_loops import find_leaves, find_numeric_leaves, share_rows

MISSING = np.nan


def hand_made(*, fractional=False):
    """x0 <= 2.5, then an n-way node on x1 (values 0 and 2 seen of 3) or a subset node on x2."""
    return TreeStructure(
        kind=np.array([1, 3, 2, 0, 0, 0, 0, 0], dtype=np.int8),
        column=np.array([0, 1, 2, -1, -1, -1, -1, -1], dtype=np.int16),
        threshold=np.array([2.5] + [np.nan] * 7),
        first_child=np.array([1, 3, 6, -1, -1, -1, -1, -1], dtype=np.int32),
        n_children=np.array([2, 3, 2, 0, 0, 0, 0, 0], dtype=np.int8),
        missing_branch=np.array([1, 0, 1, -1, -1, -1, -1, -1], dtype=np.int8),
        category_start=np.array([-1, 0, 0, -1, -1, -1, -1, -1], dtype=np.int32),
        category_words=np.array([1 << 1 | 1 << 63, 1 << 5], dtype=np.uint64),
        category_branches=np.array([0, 2, 1], dtype=np.int32),
        n_rows=np.array([10, 6, 4, 4, 2, 0, 3, 1]),
        own_weight=np.array([10.0, 6, 4, 4, 2, 0, 3, 1]),
        values=np.array([[5, 5], [4, 2], [1, 3], [4, 0], [0, 2], [4, 2], [0, 3], [1, 0.0]]),
        impurity=np.zeros(8),
        gain=np.zeros(8),
        n_categories=np.array([0, 3, 70], dtype=np.int32),
        fractional=fractional,
    )


ROWS = np.array(
    [
        [1.0, 0.0, 0.0],
        [2.5, 2.0, 0.0],
        [0.0, 1.0, 0.0],
        [3.0, 0.0, 1.0],
        [3.0, 0.0, 63.0],
        [3.0, 0.0, 69.0],
        [3.0, 0.0, 64.0],
        [MISSING, 0.0, 2.0],
        [1.0, MISSING, 0.0],
        [9.0, 0.0, MISSING],
    ]
)
LEAVES = [3, 4, 5, 7, 7, 7, 6, 6, 3, 7]


def test_links_upwards_and_weights_follow_from_the_rest():
    structure = hand_made()
    assert_array_equal(structure.parent, [-1, 0, 0, 1, 1, 1, 2, 2])
    assert_array_equal(structure.weight, structure.own_weight)
    unweighted = replace(structure, own_weight=np.empty(0))
    assert_array_equal(unweighted.weight, structure.n_rows)


def test_rows_reach_one_leaf():
    assert_array_equal(hand_made().apply(ROWS), LEAVES)


def test_rows_meet_the_conditions_of_their_leaf_alone():
    structure = hand_made()
    for merged in (True, False):
        leaf_paths = list(paths(structure, merged=merged))
        assert [path.leaf for path in leaf_paths] == [3, 4, 5, 6, 7]
        met = np.array([np.all([c.holds(ROWS) for c in p.conditions], axis=0) for p in leaf_paths])
        assert_array_equal(met.sum(axis=0), 1)
        assert_array_equal(np.array([p.leaf for p in leaf_paths])[met.argmax(axis=0)], LEAVES)


def test_paths_carry_counts():
    first = next(paths(hand_made()))
    assert (first.n_rows, first.weight) == (4, 4.0)
    assert_array_equal(first.posterior, [1.0, 0.0])
    mixed = Path(0, (), n_rows=8, weight=4.0, values=np.array([3.0, 1.0]))
    assert_array_equal(mixed.posterior, [0.75, 0.25])


def test_merged_conditions_keep_the_tightest():
    merged = merge_conditions(
        [
            Condition(0, "<=", 5.0),
            Condition(0, ">", 1.0),
            Condition(0, "<=", 3.0, accepts_missing=True),
            Condition(1, "in", categories=(0, 1, 2)),
            Condition(1, "in", categories=(1, 2, 3)),
        ]
    )
    assert [(c.column, c.relation, c.threshold) for c in merged[:2]] == [
        (0, "<=", 3.0),
        (0, ">", 1.0),
    ]
    assert merged[2].categories == (1, 2)
    assert not merged[0].accepts_missing


def test_missing_values_are_divided_by_training_weight():
    structure = hand_made(fractional=True)
    posteriors = structure.values / structure.values.sum(axis=1, keepdims=True)
    rows = np.array([[MISSING, 0.0, 0.0], [MISSING, MISSING, MISSING], [1.0, MISSING, 0.0]])
    averaged = structure.average(rows, posteriors)
    assert_allclose(averaged, [[0.6, 0.4], [0.4 + 0.1, 0.2 + 0.3], [4 / 6, 2 / 6]])
    assert_array_equal(structure.apply(rows), [3, 3, 3])
    assert_array_equal(structure.apply(ROWS[:7]), LEAVES[:7])


def test_collapsed_nodes_are_leaves_with_their_own_values():
    pruned = collapse(hand_made(), np.array([0, 1, 0, 0, 0, 0, 0, 0], dtype=bool))
    assert len(pruned) == 5
    assert pruned.n_leaves == 3
    assert_array_equal(pruned.leaves, [1, 3, 4])
    assert_array_equal(pruned.apply(ROWS[:4]), [1, 1, 1, 4])
    assert_array_equal(pruned.values[1], [4, 2])
    assert conditions(pruned, 4)[1].categories == (1, 63, 69)
    assert_array_equal(pruned.depths(), [0, 1, 1, 2, 2])


def test_everything_survives_pickling():
    structure = pickle.loads(pickle.dumps(hand_made()))
    assert_array_equal(structure.apply(ROWS), LEAVES)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_walks_equal_their_python_source():
    structure = hand_made(fractional=True)
    walk = structure._walk(structure.missing_branch)
    assert_array_equal(find_leaves(ROWS, *walk), find_leaves.py_func(ROWS, *walk))
    walk = structure._walk(structure.n_children, structure.weight, structure.values)
    for compiled, plain in zip(
        share_rows(ROWS, *walk), share_rows.py_func(ROWS, *walk), strict=True
    ):
        assert_allclose(compiled, plain)


def test_trees_of_thresholds_are_walked_in_step():
    """Packed nodes lead every row, with gaps or without, to the leaf that the plain walk finds."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3))
    X[rng.random(X.shape) < 0.2] = MISSING
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=300) > 0).astype(int)
    tree = DecisionTreeClassifier().fit(X, y).tree_
    assert set(tree.missing_branch[tree.kind > 0]) == {0, 1}
    plain = find_leaves(X, *tree._walk(tree.missing_branch))
    assert_array_equal(tree.apply(X), plain)
    assert_array_equal(tree.apply(X[:5]), plain[:5])
    leaves = np.zeros(40, dtype=np.uint32)
    find_numeric_leaves.py_func(X[:40], tree._steps(), leaves)
    assert_array_equal(leaves, plain[:40])
