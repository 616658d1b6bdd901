"""What a forest owes to its columns."""

import numpy as np
import pytest
from sklearn.inspection import permutation_importance

from verulam.ensemble import ColumnImportance, RandomForestClassifier, RandomForestRegressor


@pytest.fixture(scope="module")
def problem():
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 4))
    return X, 3.0 * X[:, 1] + X[:, 2] + 0.1 * random.normal(size=500)


def test_columns_without_meaning_have_no_importance(problem):
    X, y = problem
    forest = RandomForestRegressor(40, max_features=0.5, random_state=0).fit(X, y)
    for importance in (
        forest.oob_importance(X, y, random_state=0),
        forest.permutation_importance(X, y, random_state=0),
    ):
        table = importance.to_frame()
        assert list(table.index[:2]) == [1, 2]
        # Shuffling a column with slope b adds twice its variance times the squared slope.
        assert table.importance[1] == pytest.approx(18.0, rel=0.25)
        assert (table.importance[[0, 3]] < 0.15).all()
    assert forest.feature_importances_.argmax() == 1
    assert forest.feature_importances_.sum() == pytest.approx(1.0)


def test_shuffling_is_that_of_scikit_learn(problem):
    X, y = problem
    labels = np.where(y > 0, "high", "low")
    forest = RandomForestClassifier(20, random_state=0).fit(X, labels)
    ours = forest.permutation_importance(X, labels, n_repeats=20, random_state=0)
    theirs = permutation_importance(forest, X, labels, n_repeats=20, random_state=0)
    assert ours.increases.shape == (4, 20)
    np.testing.assert_allclose(ours.importances_mean, theirs.importances_mean, atol=0.015)


def test_out_of_bag_importance_is_the_mean_over_trees(problem):
    """With one column to look at, the importance is that of a tree whose answers are shuffled."""
    X, y = problem
    forest = RandomForestRegressor(3, random_state=0).fit(X[:, [1]], y)
    importance = forest.oob_importance(X[:, [1]], y, random_state=5)
    random = np.random.default_rng(5)
    increases = []
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        fresh = np.setdiff1d(np.arange(500), rows)
        shuffled = random.permutation(X[fresh, 1])[:, None]
        errors = [np.mean((tree.predict(Z) - y[fresh]) ** 2) for Z in (X[fresh][:, [1]], shuffled)]
        increases.append(errors[1] - errors[0])
    np.testing.assert_allclose(importance.increases[0], increases, rtol=1e-9)


def test_standard_errors_are_of_the_means():
    record = ColumnImportance(("a", "b"), np.array([[1.0, 3.0], [5.0, 5.0]]))
    table = record.to_frame()
    assert table.index.tolist() == ["b", "a"]
    assert table.loc["a"].tolist() == [2.0, pytest.approx(1 / np.sqrt(2))]
    assert record.importances_std.tolist() == [1.0, 0.0]
