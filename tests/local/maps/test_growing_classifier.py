"""Supervised growing cells: the step by hand, cells where classes meet, and what it needs."""

import numpy as np
import pytest

from verulam.base import DataWarning
from verulam.data import dataset
from verulam.local import GrowingCellsClassifier
from verulam.local._maps.growing_classifier import edge_widths, supervised_pass


@pytest.fixture(scope="module")
def iris():
    data = dataset("iris")
    return data.inputs.to_numpy(), data.target_values.to_numpy()


def test_a_step_is_the_delta_rule_and_moves_winner_and_neighbours():
    X, codes = np.array([[1.0, 0.0]]), np.array([1])
    units = np.array([[0.0, 3.0, 0.0], [0.0, 0.0, 4.0]])
    joined = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    widths, outputs, signals = np.array([1.0, 2.0, 3.0]), np.full((2, 3), 0.1), np.zeros(3)
    before = units.copy()
    supervised_pass(
        X,
        codes,
        np.array([0]),
        units,
        3,
        joined,
        widths,
        outputs,
        np.array([0.5, 0.1, 0.2]),
        signals,
    )
    a = np.exp(-0.5 * ((X[0][:, None] - before) ** 2).sum(axis=0) / widths**2)
    errors = np.array([0.0, 1.0]) - 0.1 * a.sum()
    np.testing.assert_allclose(outputs, 0.1 + 0.2 * np.outer(errors, a) / (a @ a))
    np.testing.assert_allclose(signals, [(errors**2).sum(), 0.0, 0.0])
    np.testing.assert_allclose(units[:, 0], [0.5, 0.0])
    np.testing.assert_allclose(units[:, 1], [2.8, 0.0])
    np.testing.assert_allclose(units[:, 2], before[:, 2])


def test_widths_are_mean_lengths_of_edges():
    units = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    joined = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], dtype=bool)
    np.testing.assert_allclose(edge_widths(units, joined), [3.0, 5.0, 1.0])
    np.testing.assert_allclose(edge_widths(np.zeros((3, 2)), joined), 1e-3)


def test_cells_go_where_classes_meet():
    random = np.random.default_rng(0)
    X = random.uniform(-1.0, 1.0, size=(1500, 2))
    y = (X[:, 0] > 0.5 * np.sin(3.0 * X[:, 1])).astype(int)
    learner = GrowingCellsClassifier(40, random_state=0).fit(X, y)
    gap = np.abs(learner.cells_[:, 0] - 0.5 * np.sin(3.0 * learner.cells_[:, 1]))
    usual = np.abs(X[:, 0] - 0.5 * np.sin(3.0 * X[:, 1]))
    assert np.median(gap) < 0.7 * np.median(usual)
    assert learner.score(X, y) > 0.95
    assert learner.score(X, y) > GrowingCellsClassifier(4, random_state=0).fit(X, y).score(X, y)


def test_outputs_are_least_squares(iris):
    X, y = iris
    learner = GrowingCellsClassifier(10, random_state=0).fit(X, y)
    distances = np.linalg.norm(X[:, None] - learner.cells_, axis=2)
    activations = np.exp(-0.5 * (distances / learner.widths_) ** 2)
    targets = (y[:, None] == learner.classes_).astype(float)
    best = np.linalg.lstsq(activations, targets, rcond=None)[0]
    scores = learner.decision_function(X)
    np.testing.assert_allclose(scores, activations @ learner.coef_.T)
    np.testing.assert_allclose(
        ((targets - scores) ** 2).sum(), ((targets - activations @ best) ** 2).sum(), rtol=0.02
    )
    np.testing.assert_array_equal(learner.classes_[scores.argmax(axis=1)], learner.predict(X))


def test_few_rows_and_one_class():
    with pytest.warns(DataWarning, match=r"max_units=30 is more than the rows of X \(n_samples=4"):
        GrowingCellsClassifier(random_state=0).fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="there is only one class: 1"):
        GrowingCellsClassifier(3).fit([[0.0], [1.0], [2.0]], [1, 1, 1])
