"""Regression trees: error criteria, their leaves, the acceptable error."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from verulam.base import DataError
from verulam.tree import DecisionTreeRegressor


@pytest.fixture
def curve():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 8, size=(120, 1)), axis=0)
    return X, np.sin(X[:, 0]) + rng.normal(scale=0.2, size=120)


def node_rows(tree, X):
    path = tree.decision_path(X)
    return {
        node: np.flatnonzero(path[:, [node]].toarray()[:, 0]) for node in range(len(tree.tree_))
    }


@pytest.mark.parametrize(
    ("criterion", "value", "error"),
    [
        ("squared_error", np.mean, lambda r, g: np.mean((r - g) ** 2)),
        ("absolute_error", np.median, lambda r, g: np.mean(np.abs(r - g))),
        ("worst_error", lambda r: (r.min() + r.max()) / 2, lambda r, g: np.abs(r - g).max()),
        ("worst_error_of_mean", np.mean, lambda r, g: np.abs(r - g).max()),
    ],
)
def test_values_and_errors_of_the_nodes(curve, criterion, value, error):
    X, y = curve
    tree = DecisionTreeRegressor(criterion=criterion, max_depth=4).fit(X, y)
    for node, rows in node_rows(tree, X).items():
        assert_allclose(tree.tree_.values[node, 0], value(y[rows]))
        assert_allclose(tree.tree_.impurity[node], error(y[rows], value(y[rows])), atol=1e-12)


def best_of_all_cuts(X, y, error):
    order = np.argsort(X[:, 0])
    return min(error(y[order[:cut]], y[order[cut:]]) for cut in range(1, len(y)))


def test_absolute_error_finds_the_best_cut(curve):
    X, y = curve

    def error(one, other):
        return sum(np.abs(part - np.median(part)).sum() for part in (one, other)) / len(y)

    tree = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y).tree_
    assert_allclose(tree.impurity[0] - tree.gain[0], best_of_all_cuts(X, y, error))


def test_worst_error_finds_the_best_cut_and_is_guaranteed(curve):
    X, y = curve

    def error(one, other):
        return max(np.ptp(one), np.ptp(other)) / 2

    tree = DecisionTreeRegressor(criterion="worst_error", max_depth=1).fit(X, y)
    best = best_of_all_cuts(X, y, error)
    assert_allclose(tree.tree_.impurity[0] - tree.tree_.gain[0], best, atol=1e-6)
    for threshold in (1.0, 0.4, 0.1):
        tree = DecisionTreeRegressor(criterion="worst_error", error_threshold=threshold).fit(X, y)
        assert np.abs(tree.predict(X) - y).max() < threshold


def test_worst_error_around_means(curve):
    """The node predicts its mean, as (9.15) has it; midranges make the largest residual smaller."""
    X, y = curve

    def error(one, other):
        return max(np.abs(part - part.mean()).max() for part in (one, other))

    tree = DecisionTreeRegressor(criterion="worst_error_of_mean", max_depth=1).fit(X, y)
    best = best_of_all_cuts(X, y, error)
    residuals = np.abs(tree.predict(X) - y)
    assert_allclose(residuals.max(), best, rtol=1e-6)
    assert_allclose(tree.tree_.impurity[0] - tree.tree_.gain[0], best, atol=1e-6)
    midranges = DecisionTreeRegressor(criterion="worst_error", max_depth=1).fit(X, y)
    assert np.abs(midranges.predict(X) - y).max() < residuals.max()
    for threshold in (1.0, 0.4, 0.1):
        tree.set_params(max_depth=None, error_threshold=threshold).fit(X, y)
        assert np.abs(tree.predict(X) - y).max() < threshold


@pytest.mark.parametrize("criterion", ["worst_error", "worst_error_of_mean"])
def test_the_worst_of_many_branches_decides(criterion):
    """One column halves every error; the other leaves none but that of its last category."""
    y = np.array([0.0, 4.0, 10.0, 14.0, 20.0, 24.0, 30.0, 40.0])
    table = pd.DataFrame(
        {
            "one bad": pd.Categorical(list("abcdefgg")),
            "all fair": pd.Categorical(list("aabbccde")),
        }
    )
    learner = DecisionTreeRegressor(criterion=criterion, categories="n_way", max_depth=1)
    tree = learner.fit(table, y).tree_
    assert tree.column[0] == 1
    assert_allclose(tree.gain[0], tree.impurity[0] - tree.impurity[1:].max())
    assert tree.impurity[1:].tolist() == [2.0, 2.0, 2.0, 0.0, 0.0]
    alone = learner.fit(table[["one bad"]], y).tree_
    assert_allclose(alone.gain[0], alone.impurity[0] - 5.0)


@pytest.mark.parametrize(
    ("criterion", "error"),
    [
        ("worst_error", lambda part: np.ptp(part) / 2),
        ("worst_error_of_mean", lambda part: np.abs(part - part.mean()).max()),
    ],
)
def test_missing_rows_join_the_branch_that_leaves_the_least_worst_error(criterion, error):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y, codes = rng.normal(size=14), rng.permutation(np.arange(14) % 4 - 1)
        table = pd.DataFrame({"c": pd.Categorical.from_codes(codes, list("abc"))})
        learner = DecisionTreeRegressor(criterion=criterion, categories="n_way", max_depth=1)
        tree = learner.fit(table, y).tree_
        best = min(
            max(error(y[(codes == code) | (joined & (codes == -1))]) for code, joined in sides)
            for sides in (zip(range(3), np.arange(3) == branch, strict=True) for branch in range(3))
        )
        assert_allclose(tree.gain[0], max(0.0, tree.impurity[0] - best), atol=1e-12)
        assert_allclose(tree.impurity[1:].max(), best)


def test_weighted_medians_are_those_of_repeated_rows(curve):
    X, y = curve
    weights = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    learner = DecisionTreeRegressor(criterion="absolute_error", max_depth=3)
    weighted = learner.fit(X, y, sample_weight=weights).predict(X)
    repeated = learner.fit(
        np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int))
    )
    assert_allclose(weighted, repeated.predict(X))


def test_absolute_error_agrees_with_scikit_learn(curve):
    X, y = curve
    ours = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y).tree_
    theirs = TheirRegressor(criterion="absolute_error", max_depth=1, random_state=0).fit(X, y).tree_
    assert_allclose(ours.impurity[0], theirs.impurity[0])
    lost = theirs.impurity * theirs.weighted_n_node_samples
    assert_allclose(ours.gain[0] * len(y), lost[0] - lost[1] - lost[2])


def test_the_acceptable_error_sets_the_size(curve):
    """Smaller thresholds grow larger trees (Alpaydin fig. 9.4 and 9.5); error never rises."""
    X, y = curve
    trees = [DecisionTreeRegressor(error_threshold=t).fit(X, y) for t in (0.5, 0.2, 0.05, 0.0)]
    sizes = [tree.get_n_leaves() for tree in trees]
    assert sizes == sorted(sizes)
    errors = [np.mean((tree.predict(X) - y) ** 2) for tree in trees]
    assert errors == sorted(errors, reverse=True)
    structure = trees[-1].tree_
    for node in np.flatnonzero(structure.kind):
        children = list(structure.children(node))
        after = structure.impurity[children] @ structure.weight[children] / structure.weight[node]
        assert after <= structure.impurity[node] + 1e-12
        assert_allclose(structure.impurity[node] - after, structure.gain[node], atol=1e-9)


def test_missing_values_under_every_criterion():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] > 0, 5.0, 0.0) + rng.normal(scale=0.1, size=80)
    X[y > 4.5, 1] = np.nan
    X[::5, 0] = np.nan
    for criterion in ("squared_error", "absolute_error", "worst_error"):
        tree = DecisionTreeRegressor(criterion=criterion, max_depth=3).fit(X, y)
        assert tree.score(X, y) > 0.9


def test_targets_must_be_finite():
    with pytest.raises(DataError, match="first at row 1"):
        DecisionTreeRegressor().fit([[1.0], [2.0]], [0.0, np.nan])


def test_large_offsets_lose_no_digits(curve):
    X, y = curve
    plain, moved = (DecisionTreeRegressor(max_depth=4).fit(X, y + c).tree_ for c in (0.0, 1e7))
    assert_array_equal(plain.column, moved.column)
    assert_allclose(plain.threshold, moved.threshold)


def test_targets_whose_squares_overflow_are_refused():
    with pytest.raises(DataError, match="too large for its squares"):
        DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1e200])
