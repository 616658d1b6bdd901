"""Trees of coded columns: the splits are those that a plain search finds."""

import numpy as np
import pytest

from verulam.ensemble import RandomForestClassifier, RandomForestRegressor
from verulam.ensemble._forest.coding import MOST_LEVELS, code_table
from verulam.ensemble._forest.growth import _Parts, draw_rows
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

NO_CATEGORIES = np.zeros(1, dtype=np.int32)


def one_tree(X, y, learner=RandomForestClassifier, **options):
    forest = learner(1, max_features=None, bootstrap=False, random_state=0, **options)
    return forest.fit(X, y).estimators_[0]


def index_after(criterion, column, y, weights, threshold):
    total = 0.0
    for side in (column <= threshold, column > threshold):
        counts = np.bincount(y[side], weights[side])
        shares = counts[counts > 0] / counts.sum()
        gini = criterion == "gini"
        index = 1.0 - np.sum(shares**2) if gini else -np.sum(shares * np.log2(shares))
        total += counts.sum() * index
    return total / weights.sum()


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("decimals", [0, 6])
def test_the_root_has_the_split_of_least_impurity(criterion, n_classes, decimals):
    random = np.random.default_rng(n_classes + decimals)
    X = random.normal(size=(300, 4)).round(decimals)
    y = random.integers(n_classes, size=300)
    weights = random.integers(1, 4, size=300).astype(float)
    forest = RandomForestClassifier(
        1, criterion=criterion, max_features=None, max_depth=1, bootstrap=False, random_state=0
    )
    tree = forest.fit(X, y, sample_weight=weights).estimators_[0].tree_
    values = [np.unique(X[:, column]) for column in range(4)]
    least = min(
        index_after(criterion, X[:, column], y, weights, threshold)
        for column in range(4)
        for threshold in values[column][:-1]
    )
    split = index_after(criterion, X[:, tree.column[0]], y, weights, tree.threshold[0])
    assert split == pytest.approx(least, abs=1e-12)
    assert tree.impurity[0] - tree.gain[0] == pytest.approx(least, abs=1e-12)
    assert tree.weight[0] == weights.sum()


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("decimals", [0, 6])
def test_the_whole_tree_fits_as_the_exact_one_does(criterion, decimals):
    random = np.random.default_rng(decimals)
    X = random.normal(size=(400, 3)).round(decimals)
    y = (X[:, 0] + X[:, 1] ** 2 + 0.3 * random.normal(size=400) > 0.5).astype(int)
    options = {"criterion": criterion, "max_depth": 4, "min_samples_leaf": 7}
    ours, exact = one_tree(X, y, **options), DecisionTreeClassifier(**options).fit(X, y)
    assert np.array_equal(np.sort(ours.tree_.n_rows), np.sort(exact.tree_.n_rows))
    np.testing.assert_allclose(ours.predict_proba(X), exact.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(ours.feature_importances_, exact.feature_importances_, atol=1e-12)


def test_numbers_are_predicted_as_by_the_exact_tree():
    random = np.random.default_rng(1)
    X = random.normal(size=(400, 3))
    # Far from zero, where squares of the targets would lose all digits.
    y = 1e6 + X[:, 0] * X[:, 1] + 0.1 * random.normal(size=400)
    ours = one_tree(X, y, RandomForestRegressor, max_depth=5)
    exact = DecisionTreeRegressor(max_depth=5).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), exact.predict(X), rtol=1e-12)
    np.testing.assert_allclose(np.sort(ours.tree_.gain), np.sort(exact.tree_.gain), rtol=1e-6)


def test_every_tree_is_grown_until_its_rows_are_told_apart():
    random = np.random.default_rng(2)
    X, y = random.normal(size=(200, 5)), random.integers(3, size=200)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        assert (tree.predict(X[rows]) == y[rows]).all()
        assert tree.tree_.weight[0] == 200
        assert tree.tree_.n_rows[0] == len(np.unique(rows))


def test_constant_columns_do_not_count_as_tried():
    """One column in a hundred can be split, and every node finds it."""
    X = np.zeros((64, 100))
    X[:, 57] = np.arange(64)
    y = np.arange(64) // 8 % 2
    forest = RandomForestClassifier(5, max_features=1, random_state=0).fit(X, y)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        assert set(tree.used_features_) == {57}
        assert (tree.predict(X[rows]) == y[rows]).all()


def test_a_column_that_only_parts_too_few_rows_off_is_passed_over():
    X = np.zeros((40, 2))
    X[0, 0] = 1.0
    X[:, 1] = np.arange(40)
    y = np.arange(40) % 2
    forest = RandomForestClassifier(
        20, max_features=1, min_samples_leaf=5, bootstrap=False, random_state=0
    ).fit(X, y)
    assert all(set(tree.used_features_) == {1} for tree in forest.estimators_)
    assert min(tree.tree_.n_rows.min() for tree in forest.estimators_) >= 5


def test_few_columns_are_tried_at_a_node():
    random = np.random.default_rng(3)
    X = random.normal(size=(100, 10))
    y = (X[:, 0] > 0).astype(int)
    roots = [
        tree.tree_.column[0]
        for tree in RandomForestClassifier(300, max_features=3, max_depth=1, random_state=0)
        .fit(X, y)
        .estimators_
    ]
    # The informative column is among three of ten in three trees of ten.
    assert np.mean(np.array(roots) == 0) == pytest.approx(0.3, abs=0.08)
    assert len(set(roots)) == 10


@pytest.mark.parametrize("learner", [RandomForestClassifier, RandomForestRegressor])
def test_threads_do_not_change_the_forest(learner):
    random = np.random.default_rng(4)
    X, y = random.normal(size=(300, 6)), random.integers(3, size=300).astype(float)
    one, four = (learner(20, n_jobs=n, oob_score=True, random_state=7).fit(X, y) for n in (1, 4))
    assert np.array_equal(one.forest_.steps, four.forest_.steps)
    assert np.array_equal(one.forest_.values, four.forest_.values)
    assert np.array_equal(one.predict(X), four.predict(X))
    assert np.array_equal(one.oob_errors_, four.oob_errors_)
    other = learner(20, random_state=8).fit(X, y)
    assert not np.array_equal(one.predict(X), other.predict(X))


def test_codes_are_ranks_and_missing_values_come_last():
    rows = np.array([[3.0], [np.nan], [-1.0], [3.0], [2.5]])
    table = code_table(rows, NO_CATEGORIES)
    assert table.codes.tolist() == [[2, 3, 0, 2, 1]]
    assert rows[table.lowest[0, :3], 0].tolist() == [-1.0, 2.5, 3.0]
    assert table.highest is table.lowest


def test_more_numbers_than_codes_share_them_in_order():
    numbers = np.random.default_rng(5).normal(size=(MOST_LEVELS + 9000, 1))
    table = code_table(numbers, NO_CATEGORIES)
    order = np.argsort(numbers[:, 0])
    codes = table.codes[0, order].astype(int)
    assert table.n_levels[0] == codes.max() + 1 <= MOST_LEVELS
    assert (np.diff(codes) >= 0).all()
    assert np.bincount(codes).max() <= 2
    assert (numbers[table.lowest[0, codes], 0] <= numbers[order, 0]).all()
    assert (numbers[table.highest[0, codes], 0] >= numbers[order, 0]).all()


def test_rows_are_drawn_with_and_without_replacement():
    drawn = draw_rows(0, 1000, 1000, bootstrap=True)
    assert drawn.sum() == 1000
    assert np.mean(drawn > 0) == pytest.approx(1 - np.exp(-1), abs=0.03)
    parted = draw_rows(0, 1000, 300, bootstrap=False)
    assert parted.sum() == 300
    assert parted.max() == 1
    assert (draw_rows(0, 10, 10, bootstrap=False) == 1).all()


@pytest.mark.parametrize("learner", [RandomForestClassifier, RandomForestRegressor])
@pytest.mark.parametrize("fewest", [30, 0.15])
def test_small_nodes_are_not_split(learner, fewest):
    random = np.random.default_rng(6)
    X, y = random.normal(size=(200, 4)), random.integers(2, size=200).astype(float)
    forest = learner(10, min_samples_split=fewest, bootstrap=False, random_state=0).fit(X, y)
    for tree in forest.estimators_:
        n_rows, leaf = tree.tree_.n_rows, tree.tree_.kind == 0
        assert n_rows[~leaf].min() >= 30
        assert n_rows[leaf].min() < 15
    free = learner(10, bootstrap=False, random_state=0).fit(X, y)
    assert len(free.forest_.steps) > 2 * len(forest.forest_.steps)


def test_rows_that_share_a_code_go_the_same_way_in_training_and_later():
    random = np.random.default_rng(7)
    X = random.normal(size=(MOST_LEVELS + 20_000, 1))
    y = np.sin(3 * X[:, 0])
    forest = RandomForestRegressor(1, max_depth=6, bootstrap=False, random_state=0).fit(X, y)
    tree = forest.estimators_[0].tree_
    reached = np.bincount(forest.apply(X)[:, 0], minlength=len(tree.n_rows))
    leaf = tree.kind == 0
    assert reached[leaf].tolist() == tree.n_rows[leaf].tolist()


def test_trees_of_unequal_sizes_are_joined_one_behind_the_other():
    """The room is measured by the first tree, and must grow where later ones are larger."""
    random = np.random.default_rng(8)
    parts = [random.normal(size=(size, 2)) for size in (1, 50, 3, 0, 400)]
    joined = _Parts(len(parts))
    for part in parts:
        joined.append(part)
    assert joined.starts.tolist() == [0, 1, 51, 54, 54, 454]
    whole = joined.whole()
    assert np.array_equal(whole, np.concatenate(parts))
    assert whole.base is None
