"""ParzenClassifier: the formula, per-class densities, and the limits of its bandwidth."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from verulam.nonparametric import WINDOWS, KernelDensity, KNeighborsClassifier, ParzenClassifier
from verulam.nonparametric._window_classifiers.parzen import ClassWindows

RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=200)
X = RNG.normal(size=(200, 2)) + 1.5 * np.eye(3)[Y, :2]
QUERIES = RNG.normal(size=(50, 2))


def test_discriminants_by_the_formula():
    classifier = ParzenClassifier(bandwidth=0.5).fit(X, Y)
    squares = ((QUERIES[:, None] - X) ** 2).sum(axis=2)
    sums = np.exp(-0.5 * squares / 0.25) @ np.eye(3)[Y]
    assert_allclose(classifier.predict_proba(QUERIES), sums / sums.sum(axis=1, keepdims=True))
    assert_array_equal(classifier.predict(QUERIES), sums.argmax(axis=1))


@pytest.mark.parametrize("priors", [None, "equal"])
def test_same_as_a_density_per_class_and_a_prior(priors):
    classifier = ParzenClassifier(bandwidth=0.6, priors=priors).fit(X, Y)
    densities = np.column_stack(
        [KernelDensity(bandwidth=0.6).fit(X[c == Y]).score_samples(QUERIES) for c in range(3)]
    )
    assert_allclose(classifier.class_log_density(QUERIES), densities)
    weights = np.bincount(Y) / 200 if priors is None else np.ones(3) / 3
    joint = np.exp(densities) * weights
    assert_allclose(classifier.predict_proba(QUERIES), joint / joint.sum(axis=1, keepdims=True))


def test_narrow_windows_are_the_nearest_neighbour():
    narrow = ParzenClassifier(bandwidth=1e-4).fit(X, Y)
    nearest = KNeighborsClassifier(n_neighbors=1).fit(X, Y)
    assert_array_equal(narrow.predict(QUERIES), nearest.predict(QUERIES))


def test_wide_windows_give_the_priors():
    wide = ParzenClassifier(bandwidth=1e6).fit(X, Y)
    assert_allclose(wide.predict_proba(QUERIES), np.tile(wide.priors_, (50, 1)), atol=1e-9)


def test_where_no_window_reaches_the_priors_decide():
    classifier = ParzenClassifier(kernel="tophat", bandwidth=0.1).fit(X, Y)
    far = classifier.predict_proba([[100.0, 100.0]])
    assert_allclose(far, [classifier.priors_])


def test_error_comes_near_that_of_bayes():
    rng = np.random.default_rng(1)
    labels = rng.integers(2, size=20_000)
    inputs = rng.normal(size=(20_000, 1)) + 2.0 * labels[:, None]
    classifier = ParzenClassifier().fit(inputs[:10_000], labels[:10_000])
    error = 1.0 - classifier.score(inputs[10_000:], labels[10_000:])
    assert error == pytest.approx(norm.cdf(-1.0), abs=0.01)


@pytest.mark.parametrize("shape", ["diagonal", "full"])
def test_shapes_measure_spread_within_classes(shape):
    classifier = ParzenClassifier(shape=shape, bandwidth=0.5).fit(X, Y)
    centred = np.concatenate([X[c == Y] - X[c == Y].mean(axis=0) for c in range(3)])
    covariance = centred.T @ centred / 199
    if shape == "diagonal":
        covariance = np.diag(np.diag(covariance))
    inverse = classifier.whitening_ @ classifier.whitening_.T
    assert_allclose(np.linalg.inv(inverse), 0.25 * covariance)


@pytest.mark.parametrize("bandwidth", ["scott", "silverman", "likelihood"])
def test_rules(bandwidth):
    classifier = ParzenClassifier(bandwidth=bandwidth).fit(X, Y)
    assert 0.1 < classifier.bandwidth_ < 1.0
    assert classifier.score(X, Y) > 0.6


def test_bad_input():
    with pytest.raises(ValueError, match="'bandwidth' parameter"):
        ParzenClassifier(bandwidth=-1.0).fit(X, Y)
    with pytest.raises(ValueError, match="are constant"):
        ParzenClassifier(shape="full").fit(np.column_stack([X[:, 0], np.ones(200)]), Y)
    alone = ParzenClassifier().fit(X, np.zeros(200))
    assert_allclose(alone.predict_proba(X), 1.0)


def test_a_class_without_points_is_impossible():
    windows = ClassWindows(np.zeros((2, 1)), np.array([0, 2]), np.array([1.0, 3.0]), 4)
    sums = windows.log_sums(np.zeros((1, 1)), WINDOWS["gaussian"])
    assert_allclose(sums, [[0.0, -np.inf, np.log(3.0), -np.inf]])
    assert_allclose(windows.counts, [1, 0, 3, 0])


def test_blocks_are_built_again_after_pickling():
    windows = ClassWindows(np.eye(3), np.arange(3), np.ones(3), 3)
    before = windows.log_sums(np.eye(3), WINDOWS["gaussian"])
    restored = pickle.loads(pickle.dumps(windows))
    assert "blocks" not in vars(restored)
    assert_allclose(restored.log_sums(np.eye(3), WINDOWS["gaussian"]), before)
