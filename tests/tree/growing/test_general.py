"""Divided rows and impurities given as functions."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor, entropy, gini


@pytest.fixture
def mixed():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=150), "b": rng.normal(size=150)})
    frame["c"] = pd.Categorical.from_codes(rng.integers(4, size=150), list("wxyz"))
    y = (frame["a"] + (frame["c"] == "x") + rng.normal(scale=0.5, size=150) > 0.3).astype(int)
    return frame, y


@pytest.mark.parametrize("categories", ["subset", "n_way"])
@pytest.mark.parametrize("gaps", [False, True])
def test_a_function_gives_the_tree_of_the_built_in_impurity(mixed, categories, gaps):
    frame, y = mixed
    if gaps:
        frame = frame.mask(np.random.default_rng(2).random(frame.shape) < 0.1)
    for name, function in (("gini", gini), ("entropy", entropy)):
        built_in = DecisionTreeClassifier(criterion=name, categories=categories, max_depth=3)
        by_function = DecisionTreeClassifier(criterion=function, categories=categories, max_depth=3)
        ours, other = (tree.fit(frame, y).tree_ for tree in (built_in, by_function))
        assert_allclose(ours.gain[0], other.gain[0])
        assert_allclose(np.sort(ours.weight), np.sort(other.weight))
        assert_array_equal(built_in.predict(frame), by_function.predict(frame))


def test_a_function_must_return_one_number_per_distribution(mixed):
    with pytest.raises(DataError, match="criterion must map probabilities"):
        DecisionTreeClassifier(criterion=lambda p: p).fit(*mixed)


def test_divided_rows_by_hand():
    """Of five known rows two go left: a missing one counts 2/5 left and 3/5 right."""
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [np.nan]])
    y = [0, 0, 1, 1, 1, 1]
    tree = DecisionTreeClassifier(missing="fractional", max_depth=1).fit(X, y)
    assert_allclose(tree.tree_.weight, [6.0, 2.4, 3.6])
    assert_allclose(tree.tree_.values, [[2, 4], [2, 0.4], [0, 3.6]])
    known = np.array([2, 3]) / 5
    assert_allclose(tree.tree_.gain[0], 5 / 6 * gini(known))
    left, right = np.array([2, 0.4]) / 2.4, np.array([0.0, 1.0])
    assert_allclose(tree.predict_proba([[np.nan]])[0], 0.4 * left + 0.6 * right)


def test_divided_rows_keep_their_weight(mixed):
    frame, y = mixed
    frame = frame.mask(np.random.default_rng(3).random(frame.shape) < 0.2)
    for categories in ("subset", "n_way"):
        tree = DecisionTreeClassifier(
            missing="fractional", categories=categories, min_samples_leaf=5
        ).fit(frame, y)
        assert_allclose(tree.tree_.weight[tree.tree_.leaves].sum(), 150, rtol=0.02)
        assert_allclose(tree.predict_proba(frame).sum(axis=1), 1.0)
        assert tree.score(frame, y) > 0.8
    regressor = DecisionTreeRegressor(missing="fractional", min_samples_leaf=5).fit(frame, y)
    assert regressor.score(frame, y) > 0.3
    for criterion in ("absolute_error", "worst_error"):
        DecisionTreeRegressor(criterion=criterion, missing="fractional", max_depth=3).fit(frame, y)
