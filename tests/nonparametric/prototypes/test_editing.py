"""Editing: Wilson's rule by its definition, a rule's wrong side, repeats."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression

from verulam.nonparametric import EditedNeighbours, KNeighboursClassifier

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 150)
X = RNG.normal(size=(300, 2)) + 1.5 * Y[:, None]


def test_wilson_by_its_definition():
    table = cdist(X, X)
    np.fill_diagonal(table, np.inf)
    neighbours = Y[np.argsort(table, axis=1)[:, :3]]
    right = (neighbours.mean(axis=1) > 0.5) == Y
    classifier = EditedNeighbours().fit(X, Y)
    assert_array_equal(classifier.rows_, np.flatnonzero(right))
    assert classifier.n_dropped_ == (~right).sum()


def test_wrong_side_of_a_rule():
    rule = LogisticRegression()
    classifier = EditedNeighbours(rule=rule).fit(X, Y)
    assert_array_equal(classifier.rows_, np.flatnonzero(rule.fit(X, Y).predict(X) == Y))
    assert_array_equal(rule.predict(X[classifier.rows_]), Y[classifier.rows_])


def test_editing_improves_one_neighbour_on_overlapping_classes():
    rng = np.random.default_rng(1)
    labels = rng.integers(2, size=4000)
    inputs = rng.normal(size=(4000, 2)) + 1.2 * labels[:, None]
    kept, own = EditedNeighbours(n_neighbors=5).fit_resample(inputs[:2000], labels[:2000])
    edited = KNeighboursClassifier(n_neighbors=1).fit(kept, own)
    plain = KNeighboursClassifier(n_neighbors=1).fit(inputs[:2000], labels[:2000])
    test = inputs[2000:], labels[2000:]
    assert edited.score(*test) > plain.score(*test) + 0.03


def test_repeats_go_on_until_nothing_goes():
    once = EditedNeighbours().fit(X, Y)
    often = EditedNeighbours(repeats=50).fit(X, Y)
    assert often.n_dropped_ >= once.n_dropped_
    again = EditedNeighbours().fit(X[often.rows_], Y[often.rows_])
    assert again.n_dropped_ == 0


def test_bad_input():
    with pytest.raises(ValueError, match="is larger than the other rows"):
        EditedNeighbours(n_neighbors=3).fit(X[:3], Y[[0, 0, 200]])
