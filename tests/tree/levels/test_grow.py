"""Growing by levels: the trees of the other grower, whatever the layouts, tables and threads."""

import os
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor
from verulam.tree._levels import grow as levels
from verulam.tree._levels import search

KINDS = ("continuous", "integers", "binary", "sparse", "sparse integers", "many integers", "mixed")


def inputs(kind, n_rows, rng, n_columns=5):
    numbers = rng.normal(size=(n_rows, n_columns))
    if kind == "mixed":
        parts = [inputs(name, n_rows, rng, 1) for name in KINDS[:-1]]
        return np.column_stack([*parts, np.ones(n_rows), parts[1]])
    rare = rng.random((n_rows, n_columns)) < 0.1
    return {
        "continuous": numbers,
        "integers": rng.integers(0, 10, size=numbers.shape).astype(float),
        "binary": rng.integers(0, 2, size=numbers.shape).astype(float),
        "sparse": np.where(rare, numbers, 0.0),
        "sparse integers": np.where(rare, np.round(2 * numbers), 1.0),
        "many integers": rng.integers(0, 200, size=numbers.shape).astype(float),
    }[kind]


def problem(kind, n_classes, n_rows=500, seed=0):
    rng = np.random.default_rng(seed)
    X = inputs(kind, n_rows, rng)
    signal = X[:, :3].sum(axis=1) / X[:, :3].sum(axis=1).std() + rng.normal(size=n_rows)
    if not n_classes:
        return X, signal
    return X, np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))


def tree_of(X, y, n_classes, weights=None, **options):
    learner = DecisionTreeClassifier if n_classes else DecisionTreeRegressor
    return learner(**options).fit(X, y, weights).tree_


def assert_same_trees(one, other):
    for field in fields(one):
        first, second = getattr(one, field.name), getattr(other, field.name)
        if field.name == "gain":
            assert_allclose(first, second, rtol=1e-9, atol=1e-12)
        else:
            assert_array_equal(first, second, err_msg=field.name)


OPTIONS = [
    {},
    {"min_samples_leaf": 4},
    {"max_depth": 3, "min_impurity_decrease": 1e-3},
    {"max_features": 2, "random_state": 3},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("n_classes", [0, 2, 3, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_both_growers_grow_one_tree(monkeypatch, kind, n_classes, options):
    """Sorted columns, divided at every node, against codes, tables, chains and short lists."""
    X, y = problem(kind, n_classes)
    by_levels = tree_of(X, y, n_classes, **options)
    monkeypatch.setattr("verulam.tree._base.is_plain", lambda *_: False)
    assert_same_trees(by_levels, tree_of(X, y, n_classes, **options))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", ["continuous", "mixed"])
def test_both_growers_agree_on_the_entropy(monkeypatch, kind, n_classes):
    X, y = problem(kind, n_classes)
    options = {"criterion": "entropy", "purity_threshold": 0.95, "impurity_threshold": 0.1}
    by_levels = tree_of(X, y, n_classes, **options)
    monkeypatch.setattr("verulam.tree._base.is_plain", lambda *_: False)
    assert_same_trees(by_levels, tree_of(X, y, n_classes, **options))


@pytest.mark.parametrize("options", [{}, {"min_samples_leaf": 4}], ids=str)
@pytest.mark.parametrize("n_classes", [0, 2, 10])
@pytest.mark.parametrize("kind", ["continuous", "sparse", "mixed"])
@pytest.mark.parametrize("special", ["weights", "gaps", "both"])
def test_both_growers_agree_on_weights_and_gaps(monkeypatch, special, kind, n_classes, options):
    X, y = problem(kind, n_classes)
    rng = np.random.default_rng(1)
    # Halves and doubles, whose sums are exact: where cuts tie, rounding would choose.
    weights = None if special == "gaps" else rng.choice([0.5, 1.0, 2.0, 4.0], len(X))
    if special != "weights":
        X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
        X[:, 1] = inputs("integers", len(X), rng, 1)[:, 0]  # one column without gaps
    by_levels = tree_of(X, y, n_classes, weights, **options)
    monkeypatch.setattr("verulam.tree._base.is_plain", lambda *_: False)
    other = tree_of(X, y, n_classes, weights, **options)
    assert_array_equal(by_levels.column, other.column)
    assert_array_equal(by_levels.threshold, other.threshold)
    assert_array_equal(by_levels.missing_branch, other.missing_branch)
    for name in ("n_rows", "weight", "values", "impurity", "gain"):
        assert_allclose(getattr(by_levels, name), getattr(other, name), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_both_growers_agree_on_the_entropy_of_weights_and_gaps(monkeypatch, n_classes):
    X, y = problem("mixed", n_classes)
    rng = np.random.default_rng(1)
    weights, X = rng.choice([0.5, 1.0, 2.0], len(X)), np.where(rng.random(X.shape) < 0.1, np.nan, X)
    options = {"criterion": "entropy", "purity_threshold": 0.95, "impurity_threshold": 0.1}
    by_levels = tree_of(X, y, n_classes, weights, **options)
    monkeypatch.setattr("verulam.tree._base.is_plain", lambda *_: False)
    other = tree_of(X, y, n_classes, weights, **options)
    assert_array_equal(by_levels.column, other.column)
    assert_allclose(by_levels.impurity, other.impurity, atol=1e-12)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_a_whole_weight_counts_as_that_many_rows(n_classes):
    X, y = problem("mixed", n_classes, n_rows=300)
    counts = np.random.default_rng(2).integers(1, 4, len(X))
    weighted = tree_of(X, y, n_classes, counts.astype(float), max_depth=4)
    repeated = tree_of(np.repeat(X, counts, axis=0), np.repeat(y, counts), n_classes, max_depth=4)
    assert_array_equal(weighted.column, repeated.column)
    assert_allclose(weighted.values, repeated.values)
    assert_allclose(weighted.gain, repeated.gain, atol=1e-9)


def test_rows_without_a_value_may_be_a_branch_of_their_own():
    X = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan], [np.nan]])
    tree = tree_of(X, np.array([0, 0, 0, 1, 1, 1]), 2)
    assert len(tree) == 3
    assert tree.threshold[0] == np.inf
    assert tree.missing_branch[0] == 1


@pytest.mark.parametrize("n_classes", [0, 3])
def test_threads_do_not_change_the_tree_of_weights_and_gaps(monkeypatch, n_classes):
    X, y = problem("mixed", n_classes, n_rows=3000)
    rng = np.random.default_rng(1)
    weights, X = rng.choice([0.5, 1.0, 2.0], len(X)), np.where(rng.random(X.shape) < 0.1, np.nan, X)
    monkeypatch.setattr(levels, "LEVEL_ROWS", 200)
    monkeypatch.setattr(levels, "GROUP_ROWS", 200)
    trees = []
    for threads in ("1", "3"):
        monkeypatch.setenv("VERULAM_THREADS", threads)
        trees.append(tree_of(X, y, n_classes, weights))
    assert_same_trees(*trees)


@pytest.mark.parametrize("tabled_rows", [1, 10**6])
@pytest.mark.parametrize("kind", ["integers", "binary"])
def test_tables_of_larger_children_are_what_is_left_of_their_parents(
    monkeypatch, kind, tabled_rows
):
    X, y = problem(kind, 3, n_rows=3000)
    before = tree_of(X, y, 3)
    monkeypatch.setattr(search, "TABLED_ROWS", tabled_rows)
    assert_same_trees(before, tree_of(X, y, 3))


@pytest.mark.parametrize("options", [{}, {"max_features": 2, "random_state": 3}], ids=str)
@pytest.mark.parametrize("n_classes", [0, 3])
def test_threads_and_parts_do_not_change_the_tree(monkeypatch, n_classes, options):
    X, y = problem("mixed", n_classes, n_rows=3000)
    whole = tree_of(X, y, n_classes, **options)
    monkeypatch.setattr(levels, "LEVEL_ROWS", 200)
    monkeypatch.setattr(levels, "GROUP_ROWS", 200)
    trees = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("VERULAM_THREADS", threads)
        trees.append(tree_of(X, y, n_classes, **options))
    for tree in trees[1:]:
        assert_same_trees(tree, trees[0])
    # Parts are numbered one after the other, but every row has the same leaf.
    assert len(whole) == len(trees[0])
    assert_array_equal(whole.values[whole.apply(X)], trees[0].values[trees[0].apply(X)])


def test_lists_are_released_when_they_are_done_with(monkeypatch):
    """Both lists, once, but for leaves that were cut off at the top; nothing is read again."""
    monkeypatch.setattr(levels, "LEVEL_ROWS", 200)
    monkeypatch.setattr(levels, "GROUP_ROWS", 200)
    random = np.random.default_rng(0)
    X, y = random.normal(size=(3000, 2)), random.normal(size=3000)
    n_released = np.zeros(len(X), dtype=int)

    def lose(array, first, last):
        n_released[first:last] += array.dtype == np.uint64
        array[first:last] = 0

    before = DecisionTreeRegressor().fit(X, y).predict(X)
    monkeypatch.setattr(levels, "release_pages", lose)
    assert_array_equal(DecisionTreeRegressor().fit(X, y).predict(X), before)
    assert n_released.max() == 2
    assert (n_released == 2).mean() > 0.99


def test_the_walk_takes_first_branches_first():
    """Children are numbered when their parent is met, one behind the other."""
    X, y = problem("continuous", 2)
    tree = tree_of(X, y, 2)
    waiting, expected = [0], 1
    while waiting:
        node = waiting.pop()
        if tree.kind[node]:
            assert tree.first_child[node] == expected
            waiting += [expected + 1, expected]
            expected += 2


@pytest.mark.parametrize("n_classes", [0, 2])
def test_neighbouring_and_huge_numbers_are_told_apart(n_classes):
    close = np.nextafter(1.0, 2.0)
    for low, high in ((1.0, close), (-1e308, 1e308), (0.0, 5e-324)):
        X, y = np.array([[low], [high]] * 3), np.array([0, 1] * 3)
        tree = tree_of(X, y, n_classes)
        assert len(tree) == 3
        assert low <= tree.threshold[0] < high


COLD = """if True:
    import numpy as np
    from numba.core.event import Listener, install_listener
    from verulam.tree import {learner}
    class Count(Listener):
        n = 0
        def on_start(self, event):
            self.n += 1
        def on_end(self, event):
            pass
    random = np.random.default_rng(0)
    X = random.{inputs}
    y = X[:, 0] + random.normal(size=300)
    y = y if "Regressor" in "{learner}" else (y > y.mean()).astype(int)
    count = Count()
    with install_listener("numba:compile", count):
        {learner}().fit(X, y).predict(X)
    print(count.n)
"""


@pytest.mark.slow
@pytest.mark.parametrize("inputs", ["normal(size=(300, 5))", "integers(9, size=(300, 5)) * 1.0"])
@pytest.mark.parametrize("learner", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
def test_a_first_fit_compiles_what_it_needs_alone(tmp_path, learner, inputs):
    """Everything that is compiled takes a tenth of a second or more: 43 to 54 were 13 to 15 s."""
    counted = subprocess.run(
        [sys.executable, "-c", COLD.format(learner=learner, inputs=inputs)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert 5 <= int(counted.stdout) <= 20
