"""NearestCentre: nearest mean and nearest neighbour are its two ends."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import NearestCentroid

from verulam.nonparametric import KNeighborsClassifier, NearestCentre

RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=150)
X = RNG.normal(size=(150, 2)) + 2.0 * np.eye(3)[Y, :2]
QUERIES = RNG.normal(size=(60, 2)) + 1.0


@pytest.mark.parametrize("method", ["k-means", "mixture"])
def test_one_centre_is_the_nearest_mean(method):
    classifier = NearestCentre(n_clusters=1, method=method, random_state=0).fit(X, Y)
    assert_array_equal(classifier.predict(QUERIES), NearestCentroid().fit(X, Y).predict(QUERIES))
    assert_allclose(classifier.centres_, [X[c == Y].mean(axis=0) for c in range(3)])


def test_one_centre_per_row_is_the_nearest_neighbour():
    classifier = NearestCentre(n_clusters=150, random_state=0).fit(X, Y)
    nearest = KNeighborsClassifier(n_neighbors=1).fit(X, Y)
    assert_array_equal(classifier.predict(QUERIES), nearest.predict(QUERIES))


def test_own_covariances_measure_distances():
    classifier = NearestCentre(n_clusters=1, metric="mahalanobis").fit(X, Y)
    for code in range(3):
        centred = QUERIES - classifier.centres_[code]
        inverse = np.linalg.inv(np.cov(X[code == Y].T, bias=True))
        expected = np.sqrt(np.einsum("ij,jk,ik->i", centred, inverse, centred))
        assert_allclose(classifier.distances(QUERIES)[:, code], expected)


def test_each_cluster_has_its_own_covariance():
    """Two clusters of one class, long in different directions."""
    chance = np.random.default_rng(1)
    shapes = [np.diag([3.0, 0.3]), np.diag([0.3, 3.0])]
    clusters = [chance.normal(size=(80, 2)) @ shape for shape in shapes]
    inputs = np.concatenate([clusters[0], clusters[1] + [40.0, 0.0], clusters[0] + [0.0, 40.0]])
    labels = np.repeat([0, 0, 1], 80)
    classifier = NearestCentre(n_clusters=2, metric="mahalanobis", random_state=0)
    classifier.fit(inputs, labels)
    order = np.argsort(classifier.centres_[classifier.codes_ == 0, 0])
    for place, cluster in zip(order, clusters, strict=True):
        assert_allclose(classifier.covariances_[place], np.cov(cluster.T, bias=True))


def test_two_clusters_where_one_mean_fails():
    labels = np.repeat([0, 1, 0], 50)
    inputs = RNG.normal(size=(150, 1)) * 0.3 + np.repeat([0.0, 5.0, 10.0], 50)[:, None]
    assert NearestCentre(n_clusters=1).fit(inputs, labels).score(inputs, labels) < 0.7
    assert (
        NearestCentre(n_clusters=2, random_state=0).fit(inputs, labels).score(inputs, labels) == 1
    )


def test_copies_and_constant_columns_stay_finite():
    inputs = np.repeat([[0.0, 1.0], [2.0, 1.0]], 5, axis=0)
    for metric in ("euclidean", "mahalanobis"):
        classifier = NearestCentre(metric=metric).fit(inputs, np.repeat([0, 1], 5))
        assert np.isfinite(classifier.distances(inputs)).all()
        assert classifier.score(inputs, np.repeat([0, 1], 5)) == 1.0
