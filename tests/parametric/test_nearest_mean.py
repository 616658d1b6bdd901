"""NearestMean: scikit-learn's numbers, and the Gaussian classifier in the limit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.neighbors import NearestCentroid

from verulam.parametric import GaussianClassifier, NearestMean


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_euclidean_is_nearest_centroid(iris):
    X, y = iris
    ours = NearestMean().fit(X, y)
    assert_array_equal(ours.predict(X), NearestCentroid().fit(X, y).predict(X))
    assert_allclose(ours.distances(X), cdist(X, ours.means_))
    assert ours.covariances_ is None


def test_mahalanobis_is_the_gaussian_classifier_with_equal_priors(iris):
    X, y = iris
    ours = NearestMean(metric="mahalanobis").fit(X, y)
    gaussian = GaussianClassifier(covariance_type="tied", priors="equal").fit(X, y)
    assert_array_equal(ours.predict(X), gaussian.predict(X))


def test_own_mahalanobis_by_the_formula(iris):
    X, y = iris
    ours = NearestMean(metric="own_mahalanobis").fit(X, y)
    for k in range(3):
        rows = X[y == k]
        inverse = np.linalg.inv(np.cov(rows.T, ddof=0))
        assert_allclose(
            ours.distances(X)[:, k],
            cdist(X, rows.mean(axis=0)[None], "mahalanobis", VI=inverse)[:, 0],
            rtol=1e-6,
        )


def test_class_without_rows_is_near_to_nothing(iris):
    X, y = iris
    ours = NearestMean().fit(X + 100, y, sample_weight=(y != 2).astype(float))
    assert 2 not in ours.predict(np.zeros((2, 4)))
    assert np.isinf(ours.distances(X)[:, 2]).all()


def test_weights_move_the_mean():
    ours = NearestMean().fit([[0.0], [4.0], [10.0]], [0, 0, 1], sample_weight=[3.0, 1.0, 1.0])
    assert_allclose(ours.means_, [[1.0], [10.0]])
