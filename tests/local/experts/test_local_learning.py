"""Models made for one query."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier

from verulam.base import DataError
from verulam.local import LocalLearningClassifier, LocalLearningRegressor

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.uniform(-1, 1, size=(150, 2))
VALUES = np.sin(4 * ROWS[:, 0]) + ROWS[:, 1] ** 2
IRIS, SPECIES = load_iris(return_X_y=True)


def test_with_all_rows_as_neighbours_it_is_the_global_model():
    for n_neighbors in (150, 1000):
        local = LocalLearningRegressor(n_neighbors=n_neighbors).fit(ROWS, VALUES)
        line = LinearRegression().fit(ROWS, VALUES)
        assert_allclose(local.predict(ROWS), line.predict(ROWS), atol=1e-10)
    local = LocalLearningRegressor(Ridge(2.0), n_neighbors=150).fit(ROWS, VALUES)
    assert_allclose(local.predict(ROWS), Ridge(2.0).fit(ROWS, VALUES).predict(ROWS), atol=1e-10)
    scaled = (IRIS - IRIS.mean(axis=0)) / IRIS.std(axis=0)
    local = LocalLearningClassifier(n_neighbors=150).fit(IRIS, SPECIES)
    theirs = LogisticRegression(C=1.0, tol=1e-8, max_iter=5000).fit(scaled, SPECIES)
    assert_allclose(local.predict_proba(IRIS), theirs.predict_proba(scaled), atol=1e-4)


def test_a_query_is_answered_by_a_model_of_its_neighbours():
    local = LocalLearningRegressor(n_neighbors=12).fit(ROWS, VALUES)
    query = np.array([[0.3, -0.2]])
    near = np.argsort(((ROWS - query) ** 2).sum(axis=1))[:12]
    expected = LinearRegression().fit(ROWS[near], VALUES[near]).predict(query)
    assert_allclose(local.predict(query), expected, atol=1e-10)
    assert local.score(ROWS, VALUES) > LinearRegression().fit(ROWS, VALUES).score(ROWS, VALUES)


def test_one_class_around_a_query_is_the_answer():
    local = LocalLearningClassifier(n_neighbors=10).fit(IRIS, SPECIES)
    probabilities = local.predict_proba(IRIS[:1])
    assert_allclose(probabilities, [[1.0, 0.0, 0.0]])
    names = np.array(["a", "b", "c"])[SPECIES]
    assert LocalLearningClassifier(n_neighbors=10).fit(IRIS, names).predict(IRIS[:1]) == ["a"]


def test_the_simplest_model_of_the_neighbours_is_their_vote():
    local = LocalLearningClassifier(DummyClassifier(), n_neighbors=20).fit(IRIS, SPECIES)
    vote = KNeighborsClassifier(20).fit(IRIS, SPECIES)
    assert_allclose(local.predict_proba(IRIS[::7]), vote.predict_proba(IRIS[::7]))


def test_local_learning_errs_less_than_neighbours_on_digits():
    """The order that Bottou and Vapnik (1992) report, on small pictures of digits."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:800], y[:800]
    local = LocalLearningClassifier(n_neighbors=40).fit(X[:500], y[:500])
    vote = KNeighborsClassifier(40).fit(X[:500], y[:500])
    assert local.score(X[500:600], y[500:600]) > vote.score(X[500:600], y[500:600])


def test_bad_input_is_refused():
    with pytest.raises(DataError, match="y has 3 entries for 150 rows"):
        LocalLearningRegressor().fit(ROWS, VALUES[:3])
    with pytest.raises(ValueError, match="y has one class alone, 1"):
        LocalLearningClassifier().fit(ROWS, np.ones(150, dtype=int))
    with pytest.raises(ValueError, match="estimator"):
        LocalLearningClassifier(LinearRegression()).fit(ROWS, VALUES > 0)
