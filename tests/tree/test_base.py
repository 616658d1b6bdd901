"""What both trees can say of themselves: paths, importances, growth."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier as TheirClassifier

from verulam.base import DataError
from verulam.data import dataset
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor, MultivariateTreeClassifier


@pytest.fixture
def iris():
    data = dataset("iris")
    return data.inputs, data.target_values


def test_paths_lead_to_the_leaves(iris):
    X, y = iris
    tree = DecisionTreeClassifier(max_depth=3).fit(X, y)
    leaves, path = tree.apply(X), tree.decision_path(X)
    assert path.shape == (150, len(tree.tree_))
    assert (path[np.arange(150), leaves] == 1).all()
    assert_array_equal(np.asarray(path.sum(axis=0)).ravel(), tree.tree_.n_rows)
    supports = [path.n_rows for path in tree.paths()]
    assert sum(supports) == 150
    assert len(supports) == tree.get_n_leaves()


def test_size_is_nodes_and_what_their_tests_have_learned(iris):
    thresholds = DecisionTreeClassifier(max_depth=3).fit(*iris)
    n_inner = len(thresholds.tree_) - thresholds.get_n_leaves()
    # A column and a threshold each, as a linear test of one column has a weight and a constant.
    assert thresholds.get_n_parameters() == 2 * n_inner
    assert thresholds.get_size() == 4 * n_inner + 1
    slanted = MultivariateTreeClassifier("univariate", max_depth=1).fit(*iris)
    assert (slanted.get_n_parameters(), slanted.get_size()) == (2, 5)
    table = pd.DataFrame({"name": pd.Categorical(list("abcabc"))})
    subsets = DecisionTreeClassifier().fit(table, [0, 1, 0, 0, 1, 0])
    assert (subsets.get_n_parameters(), subsets.get_size()) == (1 + 3, 3 + 4)
    branches = DecisionTreeClassifier(categories="n_way").fit(table, [0, 1, 2, 0, 1, 2])
    assert (branches.get_n_parameters(), branches.get_size()) == (1, 4 + 1)
    assert DecisionTreeRegressor().fit([[0.0], [1.0]], [1.0, 1.0]).get_size() == 1


def test_importances(iris):
    # Without one of two columns that split equally well, both trees ask the same.
    X, y = iris[0].drop(columns="petal_length_cm"), iris[1]
    ours = DecisionTreeClassifier(max_depth=3).fit(X, y)
    theirs = TheirClassifier(max_depth=3, random_state=0).fit(X, y)
    assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)
    assert_array_equal(ours.used_features_, np.flatnonzero(theirs.feature_importances_))
    depths = theirs.tree_.compute_node_depths() - 1
    first = [
        min(depths[theirs.tree_.feature == column], default=np.inf) for column in range(X.shape[1])
    ]
    assert_allclose(ours.depth_importances_, 0.5 ** np.asarray(first, dtype=float))
    assert len(set(first)) > 1


def test_unused_inputs_are_absent():
    """A tree selects its features; the rest can be left out (Alpaydin 9.4)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    tree = DecisionTreeClassifier().fit(X, X[:, 3] > 0)
    assert tree.used_features_.tolist() == [3]
    again = DecisionTreeClassifier().fit(X[:, tree.used_features_], X[:, 3] > 0)
    assert_array_equal(again.predict(X[:, [3]]), tree.predict(X))


def test_growth_step_by_step(iris):
    X, y = iris
    tree = DecisionTreeClassifier(max_depth=4).fit(X, y)
    steps = tree.growth()
    assert steps["leaves"].tolist() == list(range(2, len(steps) + 2))
    assert steps.index.tolist() == list(range(1, len(steps) + 1))
    stages = list(tree.staged_predict(X))
    accuracy = [np.mean(stage == y) for stage in stages]
    assert accuracy == sorted(accuracy)
    assert_array_equal(stages[-1], tree.predict(X))
    assert tree.stage(1).n_leaves == 2
    with pytest.raises(DataError, match="step=-1 is not one of the tree's: 0 to"):
        tree.stage(-1)
    numbers = DecisionTreeRegressor(max_depth=2).fit(X, np.arange(150.0))
    assert_allclose(next(iter(numbers.staged_predict(X))), 74.5)


def test_a_single_leaf_has_no_importances():
    tree = DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    assert_array_equal(tree.feature_importances_, [0.0])
    assert tree.get_depth() == 0
    assert len(tree.growth()) == 0
