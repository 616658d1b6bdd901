"""Adaptive neighbours: metrics by their formulas, where they are found, and noise columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import inv, sqrtm
from sklearn.datasets import load_digits

from verulam.nonparametric import (
    DiscriminantAdaptiveNeighbours,
    KNeighborsClassifier,
    RelevanceAdaptiveNeighbours,
)
from verulam.nonparametric._metrics.base import squared_distances
from verulam.nonparametric._metrics.discriminant import scatter_metrics, tricube_weights
from verulam.nonparametric._metrics.relevance import (
    ADDED_SHARE,
    column_losses,
    relevance_metrics,
)

RNG, FORMULA_RNG = np.random.default_rng(0), np.random.default_rng(0)
BOTH = [DiscriminantAdaptiveNeighbours, RelevanceAdaptiveNeighbours]


def test_neighbourhoods_are_long_along_a_straight_boundary():
    X = RNG.normal(size=(600, 2))
    classifier = DiscriminantAdaptiveNeighbours().fit(X, X[:, 0] > 0)
    for metric in classifier.metrics([[0.05, 0.0], [-0.05, 0.5]]):
        values, vectors = np.linalg.eigh(metric)
        assert values[1] > 3 * values[0]
        assert abs(vectors[0, 1]) > 0.95


@pytest.mark.parametrize("kind", BOTH)
def test_without_iterations_it_is_plain_neighbours(kind):
    X, y = RNG.normal(size=(200, 3)), RNG.integers(2, size=200)
    adaptive = kind(n_iter=0).fit(X, y)
    plain = KNeighborsClassifier().fit(X / X.std(axis=0), y)
    assert_allclose(adaptive.predict_proba(X), plain.predict_proba(X / X.std(axis=0)))
    assert_allclose(adaptive.metrics(X[:2]), np.tile(np.diag(1 / X.var(axis=0)), (2, 1, 1)))


def test_no_sharpness_is_plain_neighbours():
    X, y = RNG.normal(size=(200, 3)), RNG.integers(2, size=200)
    adaptive = RelevanceAdaptiveNeighbours(sharpness=0.0).fit(X, y)
    plain = KNeighborsClassifier().fit(X / X.std(axis=0), y)
    assert_allclose(adaptive.predict_proba(X), plain.predict_proba(X / X.std(axis=0)))


def noisy_classes(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 8))
    line = X[:, 0] + (X[:, 1] if kind is DiscriminantAdaptiveNeighbours else 0.0)
    return X, (line > 0).astype(int)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("n_iter", [1, 2])
def test_noise_columns_hurt_less(kind, n_iter):
    X, y = noisy_classes(kind)
    adaptive = kind(n_iter=n_iter).fit(X[:600], y[:600])
    plain = KNeighborsClassifier().fit(X[:600], y[:600])
    test = X[600:], y[600:]
    assert adaptive.score(*test) > plain.score(*test) + 0.03


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("locality", ["row", "class", "all"])
def test_metrics_found_beforehand_help_as_well(kind, locality):
    X, y = noisy_classes(kind)
    adaptive = kind(locality=locality).fit(X[:600], y[:600])
    plain = KNeighborsClassifier().fit(X[:600], y[:600])
    assert adaptive.score(X[600:], y[600:]) > plain.score(X[600:], y[600:]) + 0.02


def test_localities_by_their_definitions():
    X, y = RNG.normal(size=(80, 2)), RNG.integers(2, size=80)
    at_rows = DiscriminantAdaptiveNeighbours().fit(X, y).metrics(X)
    by_row = DiscriminantAdaptiveNeighbours(locality="row", n_neighbors=1).fit(X, y)
    assert_allclose(by_row.metrics(X), at_rows)
    assert_array_equal(by_row.predict(X), y)
    by_class = DiscriminantAdaptiveNeighbours(locality="class").fit(X, y).metrics(X)
    for label in (0, 1):
        mean = at_rows[y == label].mean(axis=0)
        assert_allclose(by_class[y == label], np.tile(mean, ((y == label).sum(), 1, 1)))
    common = DiscriminantAdaptiveNeighbours(locality="all").fit(X, y)
    assert_allclose(common.metrics(X[:1])[0], at_rows.mean(axis=0))
    root = np.linalg.cholesky(at_rows.mean(axis=0))
    plain = KNeighborsClassifier().fit(X @ root, y)
    assert_allclose(common.predict_proba(X), plain.predict_proba(X @ root))


def test_columns_matter_where_they_tell_the_classes():
    """The first column decides which of the two others does."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 3))
    y = np.where(X[:, 0] > 0, X[:, 1] > 0, X[:, 2] > 0).astype(int)
    metrics = RelevanceAdaptiveNeighbours().fit(X, y).metrics([[0.7, 0.1, 0.5], [-0.7, 0.5, 0.1]])
    right, left = np.diagonal(metrics, axis1=1, axis2=2)
    assert right[1] > 3 * right[2]
    assert left[2] > 3 * left[1]


def test_sharpness_is_chosen_by_rows_left_out():
    """Sharp among columns of noise around a ring, mild where every pixel tells a little."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 6))
    y = (np.hypot(X[:, 0], X[:, 1]) > 1.2).astype(int)
    digits, labels = load_digits(return_X_y=True)
    for inputs, classes, sharp in ((X, y, True), (digits[:600], labels[:600], False)):
        training, test = slice(None, 400), slice(400, None)
        by_folds = RelevanceAdaptiveNeighbours().fit(inputs[training], classes[training])
        plain = RelevanceAdaptiveNeighbours(sharpness=0.0).fit(inputs[training], classes[training])
        assert (by_folds.sharpness_ >= 10.0) == sharp
        gain = by_folds.score(inputs[test], classes[test]) - plain.score(
            inputs[test], classes[test]
        )
        assert gain > (0.08 if sharp else -0.02)


def test_few_rows_leave_nothing_to_choose_by():
    learner = RelevanceAdaptiveNeighbours(n_neighbors=1).fit(np.eye(4), [0, 0, 1, 1])
    assert learner.sharpness_ == 2.0
    assert_array_equal(learner.predict(np.eye(4)), [0, 0, 1, 1])


def test_copies_stay_finite():
    X = np.repeat(RNG.normal(size=(4, 2)), 30, axis=0)
    y = np.repeat([0, 0, 1, 1], 30)
    classifier = DiscriminantAdaptiveNeighbours(neighbourhood=20).fit(X, y)
    assert np.isfinite(classifier.metrics(X)).all()
    assert_array_equal(classifier.predict(X), y)
    with pytest.raises(ValueError, match="n_samples = 3 rows, and 5 are needed"):
        DiscriminantAdaptiveNeighbours().fit(X[[0, 40, 80]], [0, 0, 1])


def test_scatter_metric_by_the_formula():
    offsets, codes, weights = (
        FORMULA_RNG.normal(size=(30, 3)),
        FORMULA_RNG.integers(2, size=30),
        FORMULA_RNG.random(30),
    )
    means = [np.average(offsets[codes == c], axis=0, weights=weights[codes == c]) for c in (0, 1)]
    overall = np.average(offsets, axis=0, weights=weights)
    within, between = np.zeros((3, 3)), np.zeros((3, 3))
    for offset, code, weight in zip(offsets, codes, weights, strict=True):
        within += weight * np.outer(offset - means[code], offset - means[code]) / weights.sum()
        apart = means[code] - overall
        between += weight * np.outer(apart, apart) / weights.sum()
    root = np.real(inv(sqrtm(within)))
    expected = root @ (root @ between @ root + 0.7 * np.eye(3)) @ root
    metric = scatter_metrics(offsets[None], codes[None], weights[None], 2, 0.7)[0]
    assert_allclose(metric, expected)


def test_losses_by_the_formula():
    offsets, codes = FORMULA_RNG.normal(size=(40, 3)), FORMULA_RNG.integers(3, size=40)
    offsets = offsets[np.argsort(np.linalg.norm(offsets, axis=1))]
    losses = column_losses(offsets[None], codes[None], 3, around=7, slice_size=15)[0]
    whole = np.bincount(codes[:7], minlength=3) / 7
    for column in range(3):
        nearest = np.argsort(np.abs(offsets[:, column]))[:15]
        counts = np.bincount(codes[nearest], minlength=3) + ADDED_SHARE * 15
        shares = counts / counts.sum()
        assert_allclose(losses[column], ((whole - shares) ** 2 / shares).sum())


def test_relevant_columns_count_more():
    metrics = relevance_metrics(np.array([[0.1, 0.3, 0.3], [0.2, 0.2, 0.2]]), 10.0)
    weights = np.exp(10 * np.array([0.2, 0.0, 0.0]))
    assert_allclose(np.diag(metrics[0]), 3 * weights / weights.sum())
    assert_allclose(metrics[1], np.eye(3))
    assert np.isfinite(relevance_metrics(np.array([[0.0, 1e3]]), 1e3)).all()


def test_distances_with_a_metric_for_each_row():
    queries, stored = FORMULA_RNG.normal(size=(4, 2)), FORMULA_RNG.normal(size=(5, 2))
    roots = FORMULA_RNG.normal(size=(5, 2, 2))
    metrics = roots @ roots.transpose(0, 2, 1)
    squares = squared_distances(queries, stored, metrics)
    for row in range(5):
        for query in range(4):
            gap = queries[query] - stored[row]
            assert_allclose(squares[query, row], gap @ metrics[row] @ gap)


def test_equal_distances_all_count():
    assert_allclose(tricube_weights(np.zeros((1, 3))), 1.0)
    weights = tricube_weights(np.array([[0.0, 0.5, 1.0]]))[0]
    assert_allclose(weights, [1.0, (1 - 0.125) ** 3, 0.0], atol=1e-8)
