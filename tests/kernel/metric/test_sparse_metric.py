"""A sparse metric: its conditions of optimality, limits, fewer impostors, units."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier

from verulam.base import DataError
from verulam.kernel import SparseMetric
from verulam.kernel._metric.sparse_metric import feasible_balance, pair_scatter, sparse_inverse

X, Y = load_wine(return_X_y=True)


def test_scatter_of_pairs_by_hand():
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [0.0, 5.0]])
    codes = np.array([0, 0, 1, 1])
    same = [[-1.0, 0.0], [1.0, 0.0], [0.0, -2.0], [0.0, 2.0]]
    other = [[0.0, -3.0], [1.0, -3.0], [0.0, 3.0], [0.0, 5.0]]
    expected = np.mean([np.outer(d, d) for d in same], axis=0)
    expected = expected - np.mean([np.outer(d, d) for d in other], axis=0)
    assert_allclose(pair_scatter(rows, codes, 1), expected)


def test_conditions_of_optimality():
    """P - M^-1 balances the penalty: equal to it where an entry is, at most where none is."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(30, 6))
    matrix, alpha = root.T @ root / 30, 0.1
    inverse, _ = sparse_inverse(matrix, alpha, 500, 1e-4)
    slope = matrix - np.linalg.inv(inverse)
    apart = ~np.eye(6, dtype=bool)
    used = apart & (inverse != 0)
    assert 0 < used.sum() < 30
    assert_allclose(np.diag(slope), 0.0, atol=1e-3)
    assert_allclose(slope[used], -alpha * np.sign(inverse[used]), atol=1e-3)
    assert np.abs(slope[apart & ~used]).max() <= alpha + 1e-3


def test_no_pairs_and_no_penalty_is_mahalanobis_distance():
    learner = SparseMetric(balance=0.0, alpha=0.0).fit(X, Y)
    assert_allclose(learner.metric_, np.linalg.inv(np.cov(X.T, bias=True)), rtol=2e-2, atol=1e-3)
    gap = X[0] - X[1]
    first, second = learner.transform(X[:2])
    assert_allclose(((first - second) ** 2).sum(), gap @ learner.metric_ @ gap)


@pytest.mark.parametrize(("n_neighbors", "balance"), [(1, 0.2), (5, 0.1)])
def test_metric_by_formula(n_neighbors, balance):
    """Without a penalty it is an inverse: of the covariance and the differences, pair by pair."""
    rows = X[:, :4] / X[:, :4].std(axis=0)
    differences = {True: [], False: []}
    for row, label in zip(rows, Y, strict=True):
        order = np.argsort(((rows - row) ** 2).sum(axis=1), kind="stable")[1:]
        for same, pairs in differences.items():
            pairs.extend(row - rows[order[(Y[order] == label) == same][:n_neighbors]])
    same, other = (
        np.mean([np.outer(difference, difference) for difference in pairs], axis=0)
        for pairs in differences.values()
    )
    learner = SparseMetric(n_neighbors, balance=balance, alpha=0.0).fit(rows, Y)
    assert learner.balance_ == balance
    summed = np.cov(rows.T, bias=True) + 1e-4 * np.eye(4) + balance * (same - other)
    assert_allclose(learner.metric_, np.linalg.inv(summed), rtol=1e-6)


def test_the_penalty_makes_it_sparse():
    counts = [SparseMetric(alpha=alpha).fit(X, Y).n_interactions_ for alpha in (0, 0.1, 0.3)]
    assert counts[0] == 78 > counts[1] > counts[2] > 0
    alone = SparseMetric(alpha=100.0).fit(X, Y)
    assert alone.n_interactions_ == 0
    assert_allclose(alone.metric_, np.diag(np.diag(alone.metric_)))
    assert np.linalg.eigvalsh(SparseMetric().fit(X, Y).metric_).min() > 0


def impostors(rows, classes):
    """Count rows of another class that are nearer than the third of the same."""
    squares = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    same = classes[:, None] == classes
    third = np.sort(np.where(same, squares, np.inf), axis=1)[:, 2]
    return int((~same & (squares < third[:, None])).sum())


def test_fewer_impostors_and_better_neighbours():
    learner = SparseMetric().fit(X[::2], Y[::2])
    assert impostors(learner.transform(X[::2]), Y[::2]) < 0.5 * impostors(X[::2], Y[::2])
    plain = KNeighborsClassifier(3).fit(X[::2], Y[::2]).score(X[1::2], Y[1::2])
    learned = KNeighborsClassifier(3).fit(learner.transform(X[::2]), Y[::2])
    assert learned.score(learner.transform(X[1::2]), Y[1::2]) > plain + 0.15


def test_units_do_not_matter():
    units = 10.0 ** np.arange(-6, 7)
    plain, scaled = SparseMetric().fit(X, Y), SparseMetric().fit(X * units, Y)
    assert_allclose(scaled.metric_ * np.outer(units, units), plain.metric_, rtol=1e-4, atol=1e-9)


def test_too_much_weight_on_pairs_is_lowered():
    covariance, pairs = np.eye(2), np.diag([1.0, -4.0])
    assert feasible_balance(covariance, pairs, 0.1) == 0.1
    assert feasible_balance(covariance, pairs, 1.0) == pytest.approx(0.9 / 4.0)
    learner = SparseMetric(balance=100.0).fit(X, Y)
    assert learner.balance_ < 100.0
    assert np.linalg.eigvalsh(learner.metric_).min() > 0


def test_odd_data():
    assert SparseMetric().fit([[0.0], [1.0], [3.0]], [0, 0, 1]).transform([[1.0]]).shape == (1, 1)
    constant = np.column_stack([X[:, :3], np.ones(len(X)), X[:, 0]])
    assert np.isfinite(SparseMetric().fit(constant, Y).metric_).all()
    with pytest.raises(DataError, match="two classes or more"):
        SparseMetric().fit(X, np.zeros(len(X)))
