"""Linear leaves: fewer of them where the target is piecewise linear (Alpaydin 9.16)."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from verulam.tree import DecisionTreeRegressor


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


def test_missing_numbers_and_categories_are_taken():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"a": rng.normal(size=100), "b": pd.Categorical(rng.choice(["u", "v"], 100))})
    y = np.where(X["b"] == "u", 5.0, 0.0) + X["a"]
    X.loc[::9, "a"] = np.nan
    tree = DecisionTreeRegressor(leaf_model="linear").fit(X, y)
    assert np.isfinite(tree.predict(X)).all()
    assert tree.score(X, y) > 0.7
