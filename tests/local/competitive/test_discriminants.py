"""Discriminants learned row by row come to those of eigenvectors."""

import numpy as np
import pytest

from verulam.data import dataset
from verulam.local import HebbianDiscriminants
from verulam.numerics import constant
from verulam.reduction import DiscriminantProjection


@pytest.fixture(scope="module", params=["iris", "wine"])
def rows(request):
    data = dataset(request.param)
    return data.inputs.to_numpy(dtype=np.float64), data.target_values.to_numpy()


def test_directions_are_those_of_eigenvectors(rows):
    X, y = rows
    ours = HebbianDiscriminants(random_state=0).fit(X, y)
    exact = DiscriminantProjection().fit(X, y)
    assert ours.components_.shape == (2, X.shape[1])
    for k in range(2):
        places = ours.transform(X)[:, k], exact.transform(X)[:, k]
        assert abs(np.corrcoef(places)[0, 1]) > 0.9999


def test_outputs_have_unit_variance_within_classes(rows):
    X, y = rows
    learner = HebbianDiscriminants(random_state=0).fit(X, y)
    places = learner.transform(X)
    within = np.concatenate(
        [places[y == c] - places[y == c].mean(axis=0) for c in learner.classes_]
    )
    np.testing.assert_allclose(within.T @ within / len(X), np.eye(2), atol=1e-2)
    whitened = np.concatenate(
        [(X[y == c] - X[y == c].mean(axis=0)) @ learner.whitening_.T for c in learner.classes_]
    )
    np.testing.assert_allclose(whitened.T @ whitened / len(X), np.eye(X.shape[1]), atol=0.02)


def test_one_pass_is_both_rules_by_hand():
    """Two classes, so that one direction is learned, from the same numbers in the same order."""
    random = np.random.default_rng(1)
    X, y = random.normal(size=(12, 2)) @ [[2.0, 0.5], [0.0, 1.0]], np.arange(12) % 2
    X[y == 1] += [1.0, 3.0]
    learner = HebbianDiscriminants(learning_rate=0.05, max_iter=1, random_state=3).fit(X, y)
    rng = np.random.default_rng(3)
    means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
    deviations = X - means[y]
    spreads = deviations.std(axis=0)
    W = np.eye(2)
    for t in rng.permutation(12):
        z = W @ (deviations[t] / spreads)
        W = W + 0.05 * (np.eye(2) - np.outer(z, z)) @ W / (1 + 0.05 * z @ z)
    W = W / spreads
    np.testing.assert_allclose(learner.whitening_, W, rtol=1e-10)
    Z = ((means - X.mean(axis=0)) @ W.T)[y]
    Z = Z / np.sqrt((Z**2).sum() / 12)
    m = rng.normal(size=(1, 2))[0]
    m = m / np.linalg.norm(m)
    for t in rng.permutation(12):
        output = m @ Z[t]
        m = m + 0.05 * output * (Z[t] - output * m)
    direction = m / np.linalg.norm(m) @ W
    direction *= np.sign(direction[np.abs(direction).argmax()])
    np.testing.assert_allclose(learner.components_[0], direction, rtol=1e-10)


def test_a_constant_column_counts_for_nothing(rows):
    X, y = rows
    wide = np.column_stack([np.full(len(X), 7.0), X])
    learner = HebbianDiscriminants(random_state=0).fit(wide, y)
    np.testing.assert_array_equal(learner.components_[:, 0], 0.0)
    plain = HebbianDiscriminants(random_state=0).fit(X, y)
    assert abs(np.corrcoef(learner.transform(wide)[:, 0], plain.transform(X)[:, 0])[0, 1]) > 0.999


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        ({}, lambda X, y: (X, np.zeros(len(X))), "needs at least two classes.* one class: 0"),
        ({"n_components": 3}, lambda X, y: (X, y), "n_components=3: 3 classes"),
        ({}, lambda X, y: (np.hstack([X, X]), y), "columns depend linearly"),
        ({}, lambda X, y: (np.tile(y[:, None] == y[0], 2), y), "does not vary within any class"),
        ({}, lambda X, y: (X[:4], y[[0, 0, -1, -1]]), "columns depend linearly"),
        ({}, lambda X, y: (np.where(X > 1, np.nan, X), y), "NaN"),
        ({}, lambda X, y: (X, y[1:]), "y has .* labels for"),
        ({"learning_rate": constant(1e200)}, lambda X, y: (X, y), "made weights infinite"),
        ({"learning_rate": 2.0}, lambda X, y: (X, y), "learning_rate"),
    ],
)
def test_wrong_arguments_are_named(rows, options, change, message):
    with pytest.raises(ValueError, match=message):
        HebbianDiscriminants(**options).fit(*change(*rows))
