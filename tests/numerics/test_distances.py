"""Distances by the names scikit-learn uses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from verulam.base import UnknownNameError
from verulam.numerics import distances

POINTS = np.array([[0.0, 0.0], [1.0, 3.0]])
CENTRES = np.array([[3.0, 4.0]])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("euclidean", [5.0, np.sqrt(5.0)]),
        ("sqeuclidean", [25.0, 5.0]),
        ("manhattan", [7.0, 3.0]),
        ("chebyshev", [4.0, 2.0]),
        ("hamming", [1.0, 1.0]),
    ],
)
def test_by_hand(metric, expected):
    assert_allclose(distances(POINTS, CENTRES, metric)[:, 0], expected)


def test_minkowski_takes_absolute_values():
    assert_allclose(distances(POINTS, CENTRES, "minkowski", p=3.0)[0], (27 + 64) ** (1 / 3))


def test_mahalanobis_agrees_with_scipy():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    distance_table = distances(POINTS, CENTRES, "mahalanobis", covariance=covariance)
    assert_allclose(
        distance_table, cdist(POINTS, CENTRES, "mahalanobis", VI=np.linalg.inv(covariance))
    )


def test_bad_arguments():
    with pytest.raises(UnknownNameError, match=r"Unknown metric 'euclid'\. Nearest: euclidean"):
        distances(POINTS, CENTRES, "euclid")
    with pytest.raises(ValueError, match="needs the covariance"):
        distances(POINTS, CENTRES, "mahalanobis")
