"""Discriminant adaptive neighbours: the metric's formula, its shape, and noise columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import inv, sqrtm

from verulam.nonparametric import DiscriminantAdaptiveNeighbours, KNeighboursClassifier
from verulam.nonparametric._adaptive_neighbours import local_metrics

RNG = np.random.default_rng(0)


def test_metric_by_the_formula():
    offsets, codes, weights = RNG.normal(size=(30, 3)), RNG.integers(2, size=30), RNG.random(30)
    means = [np.average(offsets[codes == c], axis=0, weights=weights[codes == c]) for c in (0, 1)]
    overall = np.average(offsets, axis=0, weights=weights)
    within, between = np.zeros((3, 3)), np.zeros((3, 3))
    for offset, code, weight in zip(offsets, codes, weights, strict=True):
        within += weight * np.outer(offset - means[code], offset - means[code]) / weights.sum()
        apart = means[code] - overall
        between += weight * np.outer(apart, apart) / weights.sum()
    root = np.real(inv(sqrtm(within)))
    expected = root @ (root @ between @ root + 0.7 * np.eye(3)) @ root
    found = local_metrics(offsets[None], codes[None], weights[None], 2, 0.7)[0]
    assert_allclose(found, expected)


def test_neighbourhoods_are_long_along_a_straight_boundary():
    X = RNG.normal(size=(600, 2))
    classifier = DiscriminantAdaptiveNeighbours().fit(X, X[:, 0] > 0)
    for metric in classifier.metrics([[0.05, 0.0], [-0.05, 0.5]]):
        values, vectors = np.linalg.eigh(metric)
        assert values[1] > 3 * values[0]
        assert abs(vectors[0, 1]) > 0.95


def test_without_iterations_it_is_plain_neighbours():
    X, y = RNG.normal(size=(200, 3)), RNG.integers(2, size=200)
    adaptive = DiscriminantAdaptiveNeighbours(n_iterations=0).fit(X, y)
    plain = KNeighboursClassifier().fit(X / X.std(axis=0), y)
    assert_allclose(adaptive.predict_proba(X), plain.predict_proba(X / X.std(axis=0)))
    assert_allclose(adaptive.metrics(X[:2]), np.tile(np.diag(1 / X.var(axis=0)), (2, 1, 1)))


@pytest.mark.parametrize("n_iterations", [1, 2])
def test_noise_columns_hurt_less(n_iterations):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 8))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    adaptive = DiscriminantAdaptiveNeighbours(n_iterations=n_iterations).fit(X[:600], y[:600])
    plain = KNeighboursClassifier().fit(X[:600], y[:600])
    test = X[600:], y[600:]
    assert adaptive.score(*test) > plain.score(*test) + 0.03


def test_copies_stay_finite():
    X = np.repeat(RNG.normal(size=(4, 2)), 30, axis=0)
    y = np.repeat([0, 0, 1, 1], 30)
    classifier = DiscriminantAdaptiveNeighbours(neighbourhood=20).fit(X, y)
    assert np.isfinite(classifier.metrics(X)).all()
    assert_array_equal(classifier.predict(X), y)
    with pytest.raises(ValueError, match="n_samples = 3 rows, and 5 are needed"):
        DiscriminantAdaptiveNeighbours().fit(X[[0, 40, 80]], [0, 0, 1])
