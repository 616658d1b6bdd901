"""Soft trees: paths, limits, growth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_iris

from verulam.local import SoftDecisionTreeClassifier, SoftDecisionTreeRegressor
from verulam.local._experts.soft_tree import leaf_depths, split_tree

LINE = np.linspace(-3, 3, 150)[:, None]
STEPS = np.where(LINE[:, 0] < -1, 2.0, np.where(LINE[:, 0] < 1.5, -1.0, 4.0))
IRIS, SPECIES = load_iris(return_X_y=True)


def test_leaves_answer_by_the_product_of_gates_on_their_path():
    tree = SoftDecisionTreeRegressor(2).fit(LINE, np.sin(LINE[:, 0]))
    planes = LINE @ tree.gate_coef_.T + tree.gate_intercept_
    soft = [np.exp(planes[:, part]) for part in (slice(0, 2), slice(2, 4), slice(4, 6))]
    root, left, right = [part / part.sum(axis=1, keepdims=True) for part in soft]
    paths = np.hstack([root[:, :1] * left, root[:, 1:] * right])
    assert_allclose(tree.gate_weights(LINE), paths, atol=1e-9)
    assert_allclose(paths.sum(axis=1), 1.0)
    assert_allclose(tree.predict(LINE), paths @ tree.intercept_, atol=1e-9)
    assert_allclose(tree.coef_, 0.0)
    assert tree.leaf_depths_ == [2, 2, 2, 2]


def test_steep_gates_make_a_hard_tree():
    tree = SoftDecisionTreeRegressor(2, alpha=1e-4).fit(LINE, np.sin(LINE[:, 0]))
    of_gate = tree.model_.split(tree.parameters_)[0]
    of_gate *= 1e6
    hard = tree.predict(LINE)
    leaves = tree.gate_weights(LINE).argmax(axis=1)
    assert_allclose(hard, tree.intercept_[leaves], atol=1e-9)
    assert len(np.unique(hard.round(6))) <= 4


def test_a_soft_tree_smooths_what_a_hard_one_would_step():
    smooth = np.tanh(LINE[:, 0])
    tree = SoftDecisionTreeRegressor(2).fit(LINE, smooth)
    assert tree.score(LINE, smooth) > 0.999
    assert np.abs(np.diff(tree.predict(LINE))).max() < 0.06


def test_leaves_that_few_rows_reach_do_not_answer_far_beyond_all_targets():
    """Without a penalty on leaves, other rows were predicted worse than by the mean (-6)."""
    X, y = load_diabetes(return_X_y=True)
    tree = SoftDecisionTreeRegressor(random_state=0).fit(X[::2], y[::2])
    assert tree.score(X[1::2], y[1::2]) > 0.0
    free, held = (
        SoftDecisionTreeRegressor(alpha=alpha, random_state=0).fit(X[::2], y[::2])
        for alpha in (1e-4, 1.0)
    )
    assert np.abs(held.intercept_ - y.mean()).max() < np.abs(free.intercept_ - y.mean()).max()


def test_a_tree_grows_where_rows_set_aside_ask_for_it():
    # Steps ask for steep gates, which a penalty would make flat.
    grown = SoftDecisionTreeRegressor(4, growing=True, alpha=1e-4, tol=1e-3, random_state=0)
    grown.fit(LINE, STEPS)
    assert 3 <= grown.n_experts_ < 16
    assert grown.score(LINE, STEPS) > 0.97
    assert max(grown.leaf_depths_) <= 4
    noise = np.random.default_rng(0).normal(size=150)
    small = SoftDecisionTreeRegressor(4, growing=True, alpha=1.0, tol=0.01, random_state=0).fit(
        LINE, noise
    )
    assert small.n_experts_ <= 6


def test_classes():
    tree = SoftDecisionTreeClassifier(2, alpha=0.1).fit(IRIS, SPECIES)
    assert tree.score(IRIS, SPECIES) > 0.97
    sums = tree.gate_weights(IRIS) @ tree.intercept_
    exponentials = np.exp(sums - sums.max(axis=1, keepdims=True))
    expected = exponentials / exponentials.sum(axis=1, keepdims=True)
    assert_allclose(tree.predict_proba(IRIS), expected, atol=1e-9)
    grown = SoftDecisionTreeClassifier(3, growing=True, alpha=0.1, tol=0.01, random_state=0)
    assert grown.fit(IRIS, SPECIES).score(IRIS, SPECIES) > 0.95


def test_splitting_a_leaf_keeps_the_others():
    tree = split_tree(split_tree((None, None), 0), 2)
    assert tree == ((None, None), (None, None))
    assert leaf_depths(split_tree(tree, 3)) == [2, 2, 2, 3, 3]
    assert tree == SoftDecisionTreeRegressor(2, tol=0.1).fit(LINE, STEPS).tree_


def test_few_rows():
    tree = SoftDecisionTreeRegressor(3, growing=True, alpha=1e-4, random_state=0)
    tree.fit([[0.0], [1.0]], [0.0, 1.0])
    assert_allclose(tree.predict([[0.0], [1.0]]), [0, 1], atol=0.02)
    with pytest.raises(ValueError, match="max_depth"):
        SoftDecisionTreeRegressor(13).fit(LINE, STEPS)
