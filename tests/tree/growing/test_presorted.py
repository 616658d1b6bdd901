"""Growing: presorted columns, agreement with scikit-learn and full search, threads."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from verulam.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    entropy,
    gini,
    information_gain,
)
from verulam.tree._growing import presorted as growing
from verulam.tree._growing.growth_parameters import (
    DECREASE,
    MANY_VALUED,
    MISSING_RANK,
    N_SPLIT_FIELDS,
    ROW_BITS,
    ROW_MASK,
    SPLIT_INFO,
)
from verulam.tree._growing.presorted import pack_codes, pack_numbers, presort
from verulam.tree._growing.search_loops import choose_column
from verulam.tree._options import PRESETS, make_parameters, resolve


def problem(seed, n_classes=0):
    """Return distinct numbers that float32 holds exactly, so that no ties arise."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(30, 200)), int(rng.integers(2, 6))
    X = np.column_stack([rng.permutation(4 * n_rows)[:n_rows] for _ in range(n_columns)]) / 8.0
    signal = X[:, 0] - X[:, 1] + rng.normal(scale=X.std(), size=n_rows)
    if n_classes:
        return X, np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    return X, signal


def splits(structure):
    """Return (column, threshold, rows) of every split, in the order of the walk."""
    inner, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        if structure.kind[node]:
            inner.append(
                (structure.column[node], structure.threshold[node], structure.n_rows[node])
            )
            waiting.extend(reversed(structure.children(node)))
    return np.array(inner)


def their_splits(tree):
    inner = tree.children_left >= 0
    return np.column_stack([tree.feature, tree.threshold, tree.n_node_samples])[inner]


def test_numbers_and_categories_are_sorted_with_gaps_last():
    values = np.array([[3.0, 1.0], [np.nan, 0.0], [1.0, np.nan], [3.0, 1.0]])
    packed = presort(values, np.array([0, 3], dtype=np.int32))
    assert_array_equal(packed[0] >> ROW_BITS, [0, 1, 1, MISSING_RANK])
    assert set(packed[0, 1:3] & ROW_MASK) == {0, 3}
    assert_array_equal(packed[0, [0, 3]] & ROW_MASK, [2, 1])
    assert_array_equal(packed[1] >> ROW_BITS, [0, 1, 1, MISSING_RANK])
    assert_array_equal(packed[1] & ROW_MASK, [1, 0, 3, 2])


def test_threads_do_not_change_the_orders(monkeypatch):
    values = np.random.default_rng(0).normal(size=(7000, 11))
    kinds = np.zeros(11, dtype=np.int32)
    monkeypatch.setenv("VERULAM_THREADS", "1")
    one = presort(values, kinds)
    monkeypatch.setenv("VERULAM_THREADS", "3")
    assert_array_equal(one, presort(values, kinds))


def test_compiled_packing_equals_its_python_source():
    numbers = np.array([2.0, np.nan, 0.0, 2.0, 1.0])
    packed = np.empty((2, 5), dtype=np.uint64)
    for function, arguments in (
        (pack_numbers, (numbers, np.argsort(numbers, kind="stable"))),
        (pack_codes, (numbers, 3)),
    ):
        function(*arguments, packed[0])
        function.py_func(*arguments, packed[1])
        assert_array_equal(packed[0], packed[1])


@pytest.mark.parametrize("seed", range(17))
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_same_splits_as_scikit_learn(seed, criterion):
    X, y = problem(seed, n_classes=2 + seed % 3)
    ours = DecisionTreeClassifier(criterion=criterion, max_depth=2).fit(X, y)
    theirs = TheirClassifier(criterion=criterion, max_depth=2, random_state=0).fit(X, y)
    assert_allclose(ours.tree_.impurity[0], theirs.tree_.impurity[0])
    assert_allclose(splits(ours.tree_)[:1], their_splits(theirs.tree_)[:1])
    gains = np.sort((ours.tree_.gain * ours.tree_.weight)[ours.tree_.kind > 0])
    tree = theirs.tree_
    lost = tree.impurity * tree.weighted_n_node_samples
    inner = tree.children_left >= 0
    their_gains = (lost - lost[tree.children_left] - lost[tree.children_right])[inner]
    assert_allclose(gains, np.sort(their_gains), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(17))
def test_same_regression_splits_as_scikit_learn(seed):
    X, y = problem(seed)
    # Deeper nodes are so small that cuts of several columns tie.
    ours = DecisionTreeRegressor(max_depth=2).fit(X, y)
    theirs = TheirRegressor(max_depth=2, random_state=0).fit(X, y)
    assert_allclose(splits(ours.tree_), their_splits(theirs.tree_))
    assert_allclose(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("impurity", [gini, entropy])
def test_candidates_between_classes_suffice(impurity):
    """The best of all midpoints is found where the class changes (Alpaydin 9.2, 9.1)."""
    X, y = problem(3, n_classes=3)
    best = np.inf
    for column in X.T:
        order = np.argsort(column)
        for cut in range(1, len(y)):
            sides = (y[order[:cut]], y[order[cut:]])
            shares = [np.bincount(side, minlength=3) / len(side) for side in sides]
            best = min(best, sum(len(s) * impurity(p) for s, p in zip(sides, shares, strict=True)))
    tree = DecisionTreeClassifier(criterion=impurity.__name__, max_depth=1).fit(X, y).tree_
    assert_allclose(tree.impurity[0] - tree.gain[0], best / len(y))


def test_threads_do_not_change_the_tree(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    y = (X[:, 0] + rng.normal(size=3000) > 0).astype(int)
    monkeypatch.setattr(growing, "SHARED_ROWS", 200)
    weights = rng.random(3000) + 0.1
    trees = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("VERULAM_THREADS", threads)
        learner = DecisionTreeClassifier(max_features=2, random_state=3, max_depth=9)
        trees.append(learner.fit(X, y, weights))
    for tree in trees[1:]:
        assert_array_equal(splits(tree.tree_), splits(trees[0].tree_))
        assert_array_equal(tree.predict(X), trees[0].predict(X))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_nothing_is_divided_where_nothing_is_missing(monkeypatch, criterion, n_classes):
    """Rows are divided only at gaps: without any, both treatments grow one tree."""
    X, y = problem(11, n_classes)
    learned = DecisionTreeClassifier(criterion=criterion, missing="learned").fit(X, y)
    for threads in ("1", "2"):
        monkeypatch.setenv("VERULAM_THREADS", threads)
        divided = DecisionTreeClassifier(criterion=criterion, missing="fractional").fit(X, y)
        assert_array_equal(splits(divided.tree_), splits(learned.tree_))
    X, target = problem(11)
    both = [
        DecisionTreeRegressor(missing=kind).fit(X, target) for kind in ("learned", "fractional")
    ]
    assert_array_equal(*(splits(tree.tree_) for tree in both))


def test_random_features_depend_on_the_seed_alone():
    X, y = problem(5, n_classes=2)
    first, second, other = (
        DecisionTreeClassifier(max_features=1, random_state=seed).fit(X, y) for seed in (1, 1, 2)
    )
    assert_array_equal(splits(first.tree_), splits(second.tree_))
    assert not np.array_equal(splits(first.tree_), splits(other.tree_))


def test_a_path_per_instance_overflows_nothing():
    """Only one row can be cut off at a time: the tree is as deep as there are rows."""
    X = np.arange(1200.0)[:, None]
    y = np.arange(1200) % 2
    tree = DecisionTreeClassifier().fit(X, y)
    assert tree.get_depth() > 500
    assert tree.score(X, y) == 1.0
    assert tree.export_text().count("\n") > 1200


def test_weights_count_as_repetitions():
    X, y = problem(8, n_classes=3)
    weights = np.random.default_rng(0).integers(0, 4, size=len(y))
    weighted = DecisionTreeClassifier(criterion="entropy").fit(X, y, sample_weight=weights)
    repeated = DecisionTreeClassifier(criterion="entropy").fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))
    assert_allclose(weighted.tree_.weight[0], weights.sum())


def test_missing_values_go_where_they_help():
    X = np.array([[1.0], [2.0], [3.0], [4.0], [np.nan], [np.nan]])
    y = [0, 0, 1, 1, 0, 0]
    tree = DecisionTreeClassifier().fit(X, y)
    assert tree.get_n_leaves() == 2
    assert_array_equal(tree.predict([[1.5], [3.5], [np.nan]]), [0, 1, 0])
    apart = DecisionTreeClassifier().fit(X, [0, 0, 0, 0, 1, 1])
    assert_array_equal(apart.predict([[9.0], [np.nan]]), [0, 1])


def test_subsets_of_categories_are_the_best_ones():
    """For two classes the order by share contains the best of all subsets."""
    import itertools

    import pandas as pd

    rng = np.random.default_rng(4)
    codes = rng.integers(6, size=200)
    y = (rng.random(200) < np.array([0.1, 0.8, 0.3, 0.6, 0.5, 0.9])[codes]).astype(int)
    best = min(
        sum(
            inside.sum() * gini(np.bincount(y[inside], minlength=2) / inside.sum())
            for inside in (np.isin(codes, subset), ~np.isin(codes, subset))
        )
        for size in range(1, 6)
        for subset in itertools.combinations(range(6), size)
    )
    X = pd.DataFrame({"c": pd.Categorical.from_codes(codes, list("abcdef"))})
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y).tree_
    assert_allclose(tree.impurity[0] - tree.gain[0], best / 200)


MEASURED = """if True:
    import numpy as np
    from verulam.tree import {learner}
    def memory(name):
        # The peak that getrusage tells may be that of the process which started this one.
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(name)) * 1024
    random = np.random.default_rng(0)
    X = random.normal(size=(1_000_000, 5))
    y = X[:, 0] + random.normal(size=len(X))
    y = y if "Regressor" in "{learner}" else (y > 0).astype(int)
    {learner}().fit(X[:20_000], y[:20_000])
    before = memory("VmRSS")
    tree = {learner}().fit(X, y)
    print((memory("VmHWM") - before) / X.nbytes)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("learner", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
def test_memory_is_at_most_three_times_the_data(learner):
    """Beside the data, and with the tree itself: of numbers, two nodes for each row."""
    measured = subprocess.run(
        [sys.executable, "-c", MEASURED.format(learner=learner)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(measured.stdout) < 3.0


def test_orders_are_released_when_they_are_done_with(monkeypatch):
    """Both orders, once, but for leaves that were cut off at the top; nothing is read again."""
    monkeypatch.setattr(growing, "SHARED_ROWS", 200)
    monkeypatch.setattr("verulam.tree._base.is_plain", lambda *_: False)
    random = np.random.default_rng(0)
    X, y = random.normal(size=(3000, 2)), random.normal(size=3000)
    weights = random.random(3000) + 0.1
    n_released = np.zeros(len(X), dtype=int)

    def lose(array, first, last):
        n_released[first:last] += array.dtype == np.uint64
        array[first:last] = 0

    before = DecisionTreeRegressor().fit(X, y, weights).predict(X)
    monkeypatch.setattr(growing, "release_pages", lose)
    assert_array_equal(DecisionTreeRegressor().fit(X, y, weights).predict(X), before)
    assert n_released.max() == 2
    assert (n_released == 2).mean() > 0.99


def test_the_gain_ratio_is_for_splits_of_at_least_average_gain():
    """Of three useful columns the last has the largest ratio, by next to no information."""
    parameters = gain_ratio_parameters()
    best = np.zeros((4, N_SPLIT_FIELDS))
    best[:, DECREASE], best[:, SPLIT_INFO] = [50.0, 40.0, 2.0, 0.0], [1.0, 0.9, 0.02, 1.0]
    assert choose_column(np.arange(4), best, 100.0, parameters) == 0
    # Columns with almost as many values as rows do not raise the average: 25 instead of 46.7.
    best[:3, DECREASE], best[:3, SPLIT_INFO] = [90.0, 30.0, 20.0], [10.0, 0.4, 1.0]
    assert choose_column(np.arange(4), best, 100.0, parameters) == 0
    best[0, MANY_VALUED] = 1.0
    assert choose_column(np.arange(4), best, 100.0, parameters) == 1


def gain_ratio_parameters():
    learner = DecisionTreeClassifier(preset="c4.5")
    return make_parameters(learner, resolve(learner, PRESETS["c4.5"]), np.zeros((4, 4)), 2, None)


def test_thresholds_under_the_gain_ratio_leave_enough_rows_and_pay_for_their_number():
    """A side has a tenth of the rows per class, at most 25; each threshold costs log2 / n bits."""
    X = np.arange(1000.0)[:, None]
    y = ((X[:, 0] < 15) | (X[:, 0] % 40 == 39)).astype(int)
    ours, plain = (
        DecisionTreeClassifier(criterion=name, max_depth=1).fit(X, y).tree_
        for name in ("gain_ratio", "entropy")
    )
    assert plain.n_rows.tolist() == [1000, 15, 985]
    assert ours.n_rows.tolist() == [1000, 25, 975]
    sides = X[:, 0] > ours.threshold[0]
    expected = information_gain(pd.Series(sides), y) - np.log2(999) / 1000
    assert_allclose(ours.gain[0], expected)
