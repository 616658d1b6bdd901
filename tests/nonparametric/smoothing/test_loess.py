"""Loess: statsmodels' lowess to rounding, robustness, lines kept, several inputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from statsmodels.nonparametric.smoothers_lowess import lowess

from verulam.nonparametric import WINDOWS, LocalPolynomial, Loess
from verulam.nonparametric._smoothing.loess import robust_mean_square, robustness_weights


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 150)
    return x, np.sin(x) + 0.3 * rng.standard_t(2, size=150)


@pytest.mark.parametrize("span", [0.1, 0.3, 2 / 3, 1.0])
@pytest.mark.parametrize("n_iter", [0, 1, 3])
def test_against_statsmodels(data, span, n_iter):
    x, y = data
    ours = Loess(span=span, n_iter=n_iter).fit(x[:, None], y).predict(x[:, None])
    theirs = lowess(y, x, frac=span, it=n_iter, delta=0.0, return_sorted=False)
    assert_allclose(ours, theirs, atol=1e-8, rtol=0)


def test_repeated_inputs_against_statsmodels(data):
    x, y = data
    x = np.round(x, 1)
    ours = Loess(span=0.2).fit(x[:, None], y).predict(x[:, None])
    assert_allclose(ours, lowess(y, x, frac=0.2, return_sorted=False), atol=1e-8, rtol=0)


def test_new_inputs_against_statsmodels(data):
    x, y = data
    queries = np.linspace(0.5, 9.5, 17)
    ours = Loess(n_iter=0).fit(x[:, None], y).predict(queries[:, None])
    assert_allclose(ours, lowess(y, x, it=0, xvals=queries), atol=1e-8, rtol=0)


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_is_a_local_polynomial_with_the_width_of_its_neighbourhood(data, degree):
    x, y = data
    loess = Loess(span=0.3, degree=degree, n_iter=0).fit(x[:, None], y)
    width = np.sort(np.abs(x - 4.0))[loess.n_neighbors_ - 1]
    fixed = LocalPolynomial(bandwidth=width, degree=degree, kernel=WINDOWS["tricube"])
    assert loess.n_neighbors_ == 45
    assert_allclose(loess.predict([[4.0]]), fixed.fit(x[:, None], y).predict([[4.0]]), rtol=1e-10)


def test_outliers_lose_their_weight(data):
    x, _ = data
    y = np.sin(x) + 0.05 * np.random.default_rng(1).normal(size=150)
    wild = y.copy()
    wild[[20, 70]] += 3.0
    robust = Loess(span=0.2).fit(x[:, None], wild)
    assert_allclose(robust.robustness_[[20, 70]], 0.0)
    clean = Loess(span=0.2).fit(x[:, None], y).predict(x[:, None])
    plain = Loess(span=0.2, n_iter=0).fit(x[:, None], wild).predict(x[:, None])
    moved = np.abs(robust.predict(x[:, None]) - clean).max()
    assert moved < 0.05 < 0.3 < np.abs(plain - clean).max()


def test_bisquare_weights_by_hand():
    near = (35 / 36) ** 2
    weights = robustness_weights(np.array([0.0, 1.0, -1.0, 6.0, 7.0]))
    assert_allclose(weights, [1, near, near, 0, 0])
    assert_allclose(robustness_weights(np.array([0.0, 0.0, 1e-9])), [1, 1, 0])


@pytest.mark.parametrize(("degree", "curve"), [(1, [2.0, -1.0]), (2, [1.0, -3.0, 2.0])])
def test_polynomials_of_its_degree_are_kept(data, degree, curve):
    x, _ = data
    loess = Loess(degree=degree, span=0.4).fit(x[:, None], np.polyval(curve, x))
    queries = np.linspace(-1, 11, 9)
    assert_allclose(loess.predict(queries[:, None]), np.polyval(curve, queries), atol=1e-7)


def test_planes_of_two_inputs_are_kept():
    X = np.random.default_rng(0).normal(size=(60, 2))
    loess = Loess(span=0.3).fit(X, X @ [2.0, -1.0] + 3.0)
    assert_allclose(loess.predict(X[:5] + 0.1), (X[:5] + 0.1) @ [2.0, -1.0] + 3.0)


def test_neighbourhood_has_enough_points_for_its_polynomial():
    X = np.arange(10.0)[:, None]
    assert Loess(span=0.01, degree=2).fit(X, X[:, 0]).n_neighbors_ == 3
    assert Loess(span=0.3).fit(X, X[:, 0]).n_neighbors_ == 3


@pytest.mark.parametrize("span", [0.0, 1.5])
def test_span_is_a_share(data, span):
    x, y = data
    with pytest.raises(ValueError, match="span"):
        Loess(span=span).fit(x[:, None], y)


def test_bands_do_not_widen_for_outliers():
    """A tenth of the targets is far off; the limits cover as often, and are as wide, as without."""
    rng = np.random.default_rng(0)
    X = np.linspace(0, 6, 120)[:, None]
    places, covered, widths = X[4::8], {0: [], 12: []}, {0: [], 12: []}
    for _ in range(60):
        clean = np.sin(X[:, 0]) + 0.3 * rng.normal(size=120)
        for n_outliers, hits in covered.items():
            y = clean.copy()
            y[rng.choice(120, n_outliers, replace=False)] += 20.0
            band = Loess(span=0.2).fit(X, y).predict_band(places, level=0.9)
            truth = np.sin(places[:, 0])
            hits.append((band.lower <= truth) & (truth <= band.upper))
            widths[n_outliers].append(band.upper - band.lower)
    assert np.mean(covered[12]) == pytest.approx(0.9, abs=0.05)
    assert np.mean(covered[0]) == pytest.approx(0.9, abs=0.05)
    assert np.mean(widths[12]) < 1.2 * np.mean(widths[0])


def test_mean_square_without_outliers_is_nearly_the_plain_one():
    residuals = np.random.default_rng(0).normal(size=5000)
    mean_square = robust_mean_square(residuals, robustness_weights(residuals))
    assert mean_square == pytest.approx(1.06, abs=0.05)
    exact = np.array([1.0, 1.0, 1.0, 0.0])
    assert robust_mean_square(5.0 * (1.0 - exact), exact) == 0.0


@pytest.mark.parametrize("span", [0.3, 0.6, 2 / 3, 1.0])
def test_an_exact_line_over_few_inputs_stays_a_line(span):
    """Residuals that are rounding make no outliers, and both sides of a gap count."""
    X = np.random.default_rng(0).integers(1, 6, 200).astype(float)[:, None]
    queries = np.array([[1.5], [2.5], [3.0], [4.5]])
    model = Loess(span=span).fit(X, 2.0 * X[:, 0])
    assert_allclose(model.predict(queries), 2.0 * queries[:, 0])
    assert_array_equal(model.robustness_, 1.0)


def test_between_two_inputs_lies_their_mean():
    X = np.repeat([0.0, 1.0], 20)[:, None]
    for degree in (0, 1, 2):
        assert_allclose(Loess(degree=degree).fit(X, X[:, 0]).predict([[0.5]]), 0.5)


def test_an_outlier_beside_an_exact_line_is_left_out():
    X = np.arange(30.0)[:, None]
    y = 3.0 * X[:, 0]
    y[12] = 500.0
    assert_allclose(Loess().fit(X, y).predict([[12.0]]), 36.0, atol=0.5)
