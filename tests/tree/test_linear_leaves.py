"""Linear leaves: fewer of them where the target is piecewise linear (Alpaydin 9.16)."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, generator
from verulam.tree import DecisionTreeRegressor
from verulam.tree._linear_leaves import no_better_than_models
from verulam.tree._structure.validation_rows import split_rows


def test_a_line_needs_one_leaf():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    tree = DecisionTreeRegressor(leaf_model="linear").fit(X, X @ [1.0, -2.0, 0.5] + 3.0)
    assert tree.get_n_leaves() == 1
    assert_allclose(tree.linear_leaves_.weights[0], [1.0, -2.0, 0.5], atol=1e-8)
    assert_allclose(tree.linear_leaves_.intercepts[0], 3.0)
    assert tree.export_text().startswith("3 +1 column 0 -2 column 1 +0.5 column 2")


def test_pieces_need_fewer_leaves_than_constants():
    rng = np.random.default_rng(1)
    X = np.sort(rng.uniform(-2, 2, size=(300, 1)), axis=0)
    y = np.abs(X[:, 0]) * 3 + rng.normal(scale=0.05, size=300)
    linear = DecisionTreeRegressor(leaf_model="linear", error_threshold=0.01).fit(X, y)
    constant = DecisionTreeRegressor(error_threshold=0.01).fit(X, y)
    assert linear.get_n_leaves() * 4 < constant.get_n_leaves()
    assert np.mean((linear.predict(X) - y) ** 2) < 0.01
    # A line needs five rows unless more, or fewer, are asked for.
    for asked, least in ((None, 5), (2, 2), (40, 40)):
        tree = DecisionTreeRegressor(leaf_model="linear", min_samples_leaf=asked).fit(X, y)
        counts = tree.tree_.weight[tree.tree_.first_child < 0]
        assert least <= counts.min() < max(2 * least, 6)


def test_missing_numbers_and_categories_are_taken():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"a": rng.normal(size=100), "b": pd.Categorical(rng.choice(["u", "v"], 100))})
    y = np.where(X["b"] == "u", 5.0, 0.0) + X["a"]
    X.loc[::9, "a"] = np.nan
    tree = DecisionTreeRegressor(leaf_model="linear").fit(X, y)
    assert np.isfinite(tree.predict(X)).all()
    assert tree.score(X, y) > 0.7


@pytest.fixture
def waves():
    """Return noisy rows of a piecewise linear curve, and rows to prune on."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, size=(300, 2))
    y = np.abs(X[:, 0]) + rng.normal(scale=0.3, size=300)
    return X[:200], y[:200], X[200:], y[200:]


def squared_error(tree, X, y):
    return np.mean((tree.predict(X) - y) ** 2)


def test_a_pruning_set_cuts_linear_leaves_back(waves):
    X, y, X_other, y_other = waves
    tree = DecisionTreeRegressor(leaf_model="linear").fit(X, y)
    before, n_leaves = squared_error(tree, X_other, y_other), tree.get_n_leaves()
    assert n_leaves > 1
    tree.prune(X_other, y_other)
    assert tree.get_n_leaves() <= n_leaves
    assert squared_error(tree, X_other, y_other) <= before
    assert len(tree.linear_leaves_.intercepts) == len(tree.tree_)
    # Where the root's own model is right, nothing below it is needed.
    plane = next(tree.staged_predict(X_other))
    tree.prune(X_other, plane)
    assert tree.get_n_leaves() == 1
    assert_allclose(tree.predict(X_other), plane)


def test_rows_set_aside_prune_linear_leaves(waves):
    X, y, X_other, _ = waves
    pruned = DecisionTreeRegressor(leaf_model="linear", pruning="reduced_error", random_state=0)
    pruned.fit(X, y)
    growing, aside = split_rows(y, 1 / 3, generator(0), stratified=False)
    apart = DecisionTreeRegressor(leaf_model="linear").fit(X[growing], y[growing])
    assert_allclose(pruned.predict(X_other), apart.prune(X[aside], y[aside]).predict(X_other))
    assert pruned.linear_leaves_ is not None


def test_stages_end_with_the_tree(waves):
    X, y, *_ = waves
    tree = DecisionTreeRegressor(leaf_model="linear").fit(X, y)
    stages = list(tree.staged_predict(X))
    assert_allclose(stages[-1], tree.predict(X))
    # The root alone is the least-squares plane.
    design = np.column_stack([X, np.ones(len(X))])
    assert_allclose(stages[0], design @ np.linalg.lstsq(design, y)[0])


def test_a_branch_that_no_row_took_has_its_parents_model():
    category = np.array(["u", "v", "w"])
    X = pd.DataFrame({"x": np.arange(60.0), "c": pd.Categorical(category[np.arange(60) % 3])})
    low = X["x"] < 30
    # Below 30 there is no "w".
    X.loc[low & (X["c"] == "w"), "c"] = "u"
    y = np.where(low, np.where(X["c"] == "u", X["x"], -X["x"]), 1000.0)
    tree = DecisionTreeRegressor(leaf_model="linear", categories="n_way").fit(X, y)
    row = pd.DataFrame({"x": [10.0], "c": pd.Categorical(["w"], categories=category)})
    assert np.isfinite(tree.predict(row)).all()
    assert (tree.tree_.n_rows == 0).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pruning": "cost_complexity"}, "'cost_complexity' is for constant leaves"),
        ({"missing": "fractional"}, "leaf_model='linear' needs each row in one leaf"),
    ],
)
def test_what_linear_leaves_cannot_do_is_refused(waves, options, message):
    X, y, *_ = waves
    with pytest.raises(DataError, match=message):
        DecisionTreeRegressor(leaf_model="linear", **options).fit(X, y)


def test_a_subtree_pays_for_all_that_it_has_learned():
    """Noise around a line: the models of the leaves fit better, yet not by what they cost."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(scale=2.0, size=150)
    assert DecisionTreeRegressor(leaf_model="linear").fit(X, y).get_n_leaves() == 1


def test_a_model_is_weighed_against_those_below_it():
    """The root's error is sqrt(4) (10 + 2) / (10 - 2) = 3, that of five weights below 1 x 3."""
    X = np.arange(10.0)[:, None]
    structure = DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0] > 4.5).tree_
    n_weights, below = np.array([2, 2, 2]), np.array([1.0, 1.0])
    for square, expected in ((3.99, [True, False, False]), (4.01, [False, False, False])):
        squares = np.append(square, below)
        to_leaf = no_better_than_models(structure, squares, n_weights, 0.0, 0.0)
        assert to_leaf.tolist() == expected
    to_leaf = no_better_than_models(structure, np.array([4.01, 1, 1]), n_weights, 4.02, 0.0)
    assert to_leaf.tolist() == [True, False, False]


SHIFTS = (0.0, 0.1, 0.125, 0.3, 0.5, 0.7, 2.3, 100.1)


def test_a_shift_of_the_targets_keeps_the_leaves():
    """Half of the rows have one target, whose mean rounding may miss: nothing is learned there."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 5))
        step = 0.3 * np.sign(X[:, 1]) + rng.normal(scale=0.25, size=200)
        y = np.where(X[:, 0] < 0, 0.0, step)
        tree = DecisionTreeRegressor(leaf_model="linear", min_samples_leaf=7)
        n_leaves = [tree.fit(X, y + shift).get_n_leaves() for shift in SHIFTS]
        assert n_leaves == n_leaves[:1] * len(SHIFTS)
        assert n_leaves[0] > 1


@pytest.mark.parametrize("slope", [0.0, 3.0])
def test_weights_of_rounding_are_not_learned(slope):
    rng = np.random.default_rng(5)
    for shift in SHIFTS:
        for n_rows in (30, 37, 101):
            X = rng.normal(size=(n_rows, 4))
            tree = DecisionTreeRegressor(leaf_model="linear").fit(X, slope * X[:, 0] + shift)
            assert tree.get_n_leaves() == 1
            assert_allclose(tree.linear_leaves_.weights[0, 0], slope)
            assert not tree.linear_leaves_.weights[0, 1:].any()


def test_inputs_whose_squares_overflow_are_refused():
    X = np.array([[0.0, 1e200], [1.0, -1e200], [2.0, 0.0]])
    with pytest.raises(DataError, match="Column 1 of X is too large for its squares"):
        DecisionTreeRegressor(leaf_model="linear").fit(X, [0.0, 1.0, 2.0])
