"""Units that are far away add nothing: products over all give what a tree over centres finds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import cKDTree

from verulam.local import RBFFeatures

TOLERANCE = 1e-6


@pytest.mark.parametrize(("n_columns", "n_units"), [(1, 200), (2, 300), (5, 40)])
def test_products_give_what_a_tree_over_centres_finds(n_columns, n_units):
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, n_columns))
    features = RBFFeatures(n_units, init=X[:n_units]).fit(X)
    centers, squares = features.units_.centers, features.units_.covariances
    # Beyond this radius a bell is below the tolerance.
    radius = np.sqrt(-2.0 * np.log(TOLERANCE) * squares.max())
    expected = np.zeros((len(X), n_units))
    for row, near in enumerate(cKDTree(centers).query_ball_point(X, radius)):
        lengths = ((X[row] - centers[near]) ** 2).sum(axis=1)
        expected[row, near] = np.exp(-0.5 * lengths / squares[near])
    bells = features.transform(X)
    assert_allclose(bells, expected, atol=TOLERANCE)
    # A network sums so many bells, and skips at most so much.
    weights = random.normal(size=n_units)
    assert_allclose(bells @ weights, expected @ weights, atol=TOLERANCE * np.abs(weights).sum())
