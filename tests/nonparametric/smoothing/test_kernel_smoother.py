"""Kernel smoother, local polynomials, k-nn smoother: statsmodels, scikit-learn, limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsRegressor

from verulam.base import DataError
from verulam.nonparametric import KernelSmoother, LocalPolynomial, NeighbourSmoother


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(60, 2))
    return X, np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=60), rng.uniform(-2, 2, (9, 2))


@pytest.mark.parametrize(("kind", "degree"), [("lc", 0), ("ll", 1)])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_against_statsmodels(data, kind, degree):
    from statsmodels.nonparametric.kernel_regression import KernelReg

    X, y, queries = data
    for columns, bandwidth in ((1, [0.3]), (2, [0.5, 0.8])):
        peer = KernelReg(y, X[:, :columns], "c" * columns, kind, bw=bandwidth)
        ours = LocalPolynomial(bandwidth=bandwidth, degree=degree).fit(X[:, :columns], y)
        expected = peer.fit(queries[:, :columns])[0]
        assert_allclose(ours.predict(queries[:, :columns]), expected, rtol=1e-8)


def test_two_points_by_hand():
    smoother = KernelSmoother(bandwidth=0.5).fit([[0.0], [1.0]], [0.0, 2.0])
    weight = np.exp(-2.0)
    assert_allclose(smoother.predict([[0.0], [0.5]]), [2 * weight / (1 + weight), 1.0])


def test_wide_bandwidth_predicts_the_mean(data):
    X, y, queries = data
    for columns in (1, 2):
        smoother = KernelSmoother(bandwidth=1e7).fit(X[:, :columns], y)
        assert_allclose(smoother.predict(queries[:, :columns]), y.mean(), atol=1e-9)


def test_narrow_bandwidth_predicts_the_nearest_target(data):
    X, y, _ = data
    for columns in (1, 2):
        narrow = KernelSmoother(bandwidth=1e-5).fit(X[:, :columns], y)
        assert_allclose(narrow.predict(X[:, :columns]), y)
        far = KernelSmoother(bandwidth=1e-3).fit(X[:, :columns], y)
        nearest = np.linalg.norm(X[:, :columns] - 1e6, axis=1).argmin()
        assert_allclose(far.predict(np.full((1, columns), 1e6)), y[nearest])


def test_a_window_of_ones_own(data):
    X, y, queries = data
    custom = KernelSmoother(bandwidth=0.7, kernel=lambda u: np.exp(-0.5 * u**2)).fit(X, y)
    named = KernelSmoother(bandwidth=0.7).fit(X, y)
    assert_allclose(custom.predict(queries), named.predict(queries))


def test_degree_zero_is_the_kernel_smoother(data):
    X, y, queries = data
    flat = LocalPolynomial(bandwidth=0.7, degree=0).fit(X, y)
    assert_array_equal(
        flat.predict(queries), KernelSmoother(bandwidth=0.7).fit(X, y).predict(queries)
    )


def test_weights_explain_the_prediction(data):
    X, y, queries = data
    smoother = KernelSmoother(bandwidth=0.6).fit(X, y)
    weights = smoother.weights(queries)
    assert (weights >= 0).all()
    assert_allclose(weights.sum(axis=1), 1.0)
    assert_allclose(weights @ y, smoother.predict(queries))


@pytest.mark.parametrize("columns", [1, 2])
def test_k_nn_mean_against_scikit_learn(data, columns):
    X, y, queries = data
    ours = NeighbourSmoother(n_neighbors=7).fit(X[:, :columns], y)
    theirs = KNeighborsRegressor(7).fit(X[:, :columns], y)
    assert_allclose(ours.predict(queries[:, :columns]), theirs.predict(queries[:, :columns]))


@pytest.mark.parametrize("window", ["gaussian", "epanechnikov"])
def test_k_nn_kernel_has_the_width_of_the_kth_neighbour(data, window):
    X, y, queries = data
    ours = NeighbourSmoother(n_neighbors=7, kernel=window).fit(X, y).predict(queries)
    for query, value in zip(queries, ours, strict=True):
        width = np.sort(np.linalg.norm(X - query, axis=1))[6]
        fixed = KernelSmoother(bandwidth=width, kernel=window).fit(X, y).predict(query[None])
        inside = np.linalg.norm(X - query, axis=1) <= width
        if window == "gaussian":
            near = KernelSmoother(bandwidth=width).fit(X[inside], y[inside])
            fixed = near.predict(query[None])
        assert_allclose(value, fixed[0])


def test_one_neighbour_has_as_many_parameters_as_points(data):
    X, y, _ = data
    smooth = NeighbourSmoother(n_neighbors=1).fit(X, y).training_smooth()
    assert smooth.effective_degrees == pytest.approx(60.0)
    assert smooth.generalised_error == np.inf


def test_too_many_neighbours(data):
    X, y, _ = data
    with pytest.raises(DataError, match=r"n_neighbors is larger than the stored rows.*= 60 rows"):
        NeighbourSmoother(n_neighbors=61).fit(X, y)


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, 0, [0.0]])
def test_bandwidth_must_be_positive(data, bandwidth):
    X, y, _ = data
    with pytest.raises(ValueError, match="bandwidth"):
        KernelSmoother(bandwidth=bandwidth).fit(X[:, :1], y)


def test_nan_where_asked_for_and_never_else(data):
    X, y, _ = data
    far = [[9.0, 9.0]]
    silent = KernelSmoother(bandwidth=0.5, kernel="tophat", empty="nan").fit(X, y)
    assert np.isnan(silent.predict(far)).all()
    assert np.isfinite(silent.predict(X)).all()
    assert np.isfinite(KernelSmoother(bandwidth=0.5, kernel="tophat").fit(X, y).predict(far)).all()


def test_missing_values_are_named(data):
    X, y, _ = data
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        KernelSmoother().fit(X, y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        KernelSmoother().fit(X[5:], y[5:]).predict(X)


def test_training_data_is_copied(data):
    X, y, queries = data
    smoother = KernelSmoother(bandwidth=0.5).fit(X, y)
    before = smoother.predict(queries)
    X[:], y[:] = 0.0, 0.0
    assert_array_equal(smoother.predict(queries), before)
