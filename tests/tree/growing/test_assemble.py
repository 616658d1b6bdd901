"""Trees put together from parts."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor
from verulam.tree import _base as base

LEVEL_LIMIT = "_levels.grow.LEVEL_ROWS"


@pytest.mark.parametrize(
    ("grower", "limit"),
    [("grow", "_growing.presorted.SHARED_ROWS"), ("grow_by_levels", LEVEL_LIMIT)],
)
def test_rows_of_a_node_are_those_that_reach_it(monkeypatch, grower, limit):
    """Whatever the number of parts."""
    monkeypatch.setattr(base, "is_plain", lambda *_: grower == "grow_by_levels")
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    y = X[:, 0] + random.normal(size=400)
    grow = getattr(base, grower)
    for shared in (400, 50):
        monkeypatch.setattr(f"verulam.tree.{limit}", shared)
        monkeypatch.setattr("verulam.tree._levels.grow.GROUP_ROWS", shared)
        seen = []

        def noted(*arguments, seen=seen):
            seen.append(grow(*arguments))
            return seen[-1]

        monkeypatch.setattr(base, grower, noted)
        weights = random.random(400) + 0.1
        tree = DecisionTreeRegressor(max_depth=6).fit(X, y, weights)
        (growth,) = seen
        path = tree.decision_path(X).toarray()
        for node in range(len(tree.tree_)):
            assert_array_equal(np.sort(growth.node_rows(node)), np.flatnonzero(path[:, node]))


def test_only_what_is_needed_is_kept():
    X, y = np.arange(40.0)[:, None], np.arange(40) % 3
    plain = DecisionTreeClassifier().fit(X, y).tree_
    assert len(plain.own_weight) == len(plain.category_start) == 0
    assert plain.column.dtype == np.int16
    assert plain.n_children.dtype == np.int8
    weighted = DecisionTreeClassifier().fit(X, y, sample_weight=1.0 + y).tree_
    assert len(weighted.own_weight) == len(weighted)
    assert weighted.weight[0] == (1.0 + y).sum()


def test_many_branches_are_counted():
    names = np.array([f"c{place:03}" for place in range(200)])
    table = pd.DataFrame({"name": pd.Categorical(np.tile(names, 2))})
    y = np.tile(np.arange(200) % 2, 2)
    tree = DecisionTreeClassifier(categories="n_way").fit(table, y)
    assert tree.tree_.n_children[0] == 200
    assert tree.score(table, y) == 1.0


def test_wide_tables_have_high_columns():
    X = np.zeros((4, 2**15 + 1))
    X[:, -1] = [0, 0, 1, 1]
    tree = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    assert tree.tree_.column[0] == 2**15
    assert_array_equal(tree.predict(X), [0, 0, 1, 1])
