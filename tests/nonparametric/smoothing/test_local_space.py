"""Local fits over several inputs: weighted least squares, blocks, neighbours, degenerate data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import PolynomialFeatures

from verulam.nonparametric import WINDOWS
from verulam.nonparametric._smoothing import local_space
from verulam.nonparametric._smoothing.local_space import block_rows, space_values, weight_blocks
from verulam.nonparametric._smoothing.neighbourhoods import Neighbourhood


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=80), rng.normal(size=(9, 2))


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["gaussian", "exponential", "epanechnikov", "tophat"])
def test_weighted_least_squares_at_each_query(data, name, degree):
    X, y, queries = data
    hood = Neighbourhood(WINDOWS[name], degree=degree, bandwidth=2.5)
    fits = space_values(hood, X, y, None, queries)
    for query, value in zip(queries, fits.values, strict=True):
        distances = np.linalg.norm(X - query, axis=1) / 2.5
        heights = np.where(distances < WINDOWS[name].radius, WINDOWS[name](distances), 0.0)
        terms = PolynomialFeatures(degree, include_bias=degree == 0)
        expected = LinearRegression().fit(terms.fit_transform(X), y, sample_weight=heights)
        assert_allclose(value, expected.predict(terms.transform(query[None]))[0], rtol=1e-8)


def test_blocks_do_not_change_the_answer(data, monkeypatch):
    X, y, queries = data
    for hood in (
        Neighbourhood(WINDOWS["gaussian"], degree=1, bandwidth=1.0),
        Neighbourhood(WINDOWS["tricube"], degree=1, n_neighbors=20),
    ):
        whole = space_values(hood, X, y, None, queries).values
        monkeypatch.setattr(local_space, "WEIGHTS_AT_ONCE", 500)
        assert_allclose(space_values(hood, X, y, None, queries).values, whole, rtol=1e-12)
        monkeypatch.undo()
    assert [rows.stop for rows in block_rows(5, local_space.WEIGHTS_AT_ONCE // 2)] == [2, 4, 5]


def test_weights_reproduce_constants_and_planes(data):
    X, _, queries = data
    hood = Neighbourhood(WINDOWS["tricube"], degree=1, n_neighbors=15)
    for block in weight_blocks(hood, X, None, queries):
        assert_allclose(block.weights.sum(axis=1), 1.0)
        means = (block.weights[..., None] * X[block.points]).sum(axis=1)
        assert_allclose(means, queries[block.rows], atol=1e-10)


def test_flat_data_leaves_terms_out():
    """Neighbours on a straight line say nothing across it."""
    along = np.linspace(0, 1, 20)
    X = np.column_stack([along, np.zeros(20)])
    hood = Neighbourhood(WINDOWS["gaussian"], degree=1, bandwidth=0.5)
    fits = space_values(hood, X, 2 * along, None, np.array([[0.3, 0.0], [0.3, 0.4]]))
    assert_allclose(fits.values, 0.6, atol=1e-9)


def test_lone_point_gives_its_target():
    hood = Neighbourhood(WINDOWS["gaussian"], degree=2, bandwidth=1.0)
    fits = space_values(hood, np.zeros((1, 2)), np.array([5.0]), None, np.ones((2, 2)))
    assert_allclose(fits.values, 5.0)


def test_repeated_neighbours_count_alike():
    X = np.vstack([np.zeros((3, 2)), np.ones((2, 2))])
    hood = Neighbourhood(WINDOWS["tricube"], n_neighbors=3)
    fits = space_values(hood, X, np.array([1.0, 2.0, 6.0, 9.0, 9.0]), None, np.zeros((1, 2)))
    assert_allclose(fits.values, 3.0)


def test_empty_windows_take_the_nearest(data):
    X, y, _ = data
    hood = Neighbourhood(WINDOWS["tophat"], bandwidth=0.1)
    fits = space_values(hood, X, y, None, np.array([[50.0, 50.0]]))
    nearest = np.linalg.norm(X - 50.0, axis=1).argmin()
    assert fits.empty.all()
    assert_allclose(fits.values, y[nearest])


def test_leaving_out_counts_other_neighbours(data):
    X, y, _ = data
    hood = Neighbourhood(WINDOWS["tophat"], n_neighbors=4)
    rows = np.arange(80)
    fits = space_values(hood, X, y, None, X, self_rows=rows, leave_out=True)
    for row in (0, 17):
        others = np.delete(rows, row)
        nearest = others[np.argsort(np.linalg.norm(X[others] - X[row], axis=1))[:4]]
        assert_allclose(fits.values[row], y[nearest].mean())
