"""Least squares: NumPy's and statsmodels' numbers, ill-conditioned data, polynomials."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression

from verulam.base import DataError, DataWarning
from verulam.parametric import LeastSquares, PolynomialRegression
from verulam.parametric._least_squares import polynomial_terms, term_exponents, triangular_factor


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + 3.0 + rng.normal(size=200), rng.uniform(0.5, 2, size=200)


def test_against_scikit_learn(data):
    X, y, weights = data
    ours = LeastSquares().fit(X, y, sample_weight=weights)
    peer = LinearRegression().fit(X, y, sample_weight=weights)
    assert_allclose(ours.coef_, peer.coef_)
    assert_allclose(ours.intercept_, peer.intercept_)
    assert_allclose(ours.predict(X), peer.predict(X))


@pytest.mark.parametrize("n_rows", [2000, 2003, 5000])
def test_factors_of_blocks_of_rows_give_what_all_rows_give(n_rows):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(1e3, 1.0, size=(n_rows, 4)), rng.uniform(0.5, 2, size=n_rows)
    y = X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=n_rows)
    statistics = triangular_factor(X, y, weights)
    design = np.column_stack([np.ones(n_rows), X, y]) * np.sqrt(weights)[:, None]
    whole = np.linalg.qr(design, mode="r")
    signs = np.sign(np.diag(whole) * np.diag(statistics.factor))
    assert_allclose(signs[:, None] * statistics.factor, whole, atol=1e-7)
    assert (statistics.weight, statistics.n_rows) == (weights.sum(), n_rows)


def test_standard_errors_against_statsmodels(data):
    statsmodels = pytest.importorskip("statsmodels.api")
    X, y, _ = data
    ours = LeastSquares().fit(X, y)
    peer = statsmodels.OLS(y, statsmodels.add_constant(X)).fit()
    assert_allclose(ours.standard_errors_, peer.bse[1:])
    assert_allclose(ours.residual_sum_, peer.ssr)
    assert_allclose(ours.residual_variance_, peer.mse_resid)


def test_line_from_the_normal_equations():
    """In one dimension: A = [[N, Sx], [Sx, Sxx]], y = [Sr, Srx]."""
    x, r = np.array([1.0, 2.0, 4.0, 7.0]), np.array([1.0, 3.0, 2.0, 8.0])
    matrix = [[4.0, x.sum()], [x.sum(), (x**2).sum()]]
    intercept, slope = np.linalg.solve(matrix, [r.sum(), (r * x).sum()])
    line = LeastSquares().fit(x[:, None], r)
    assert_allclose([line.intercept_, line.coef_[0]], [intercept, slope])


def test_normal_equations_would_fail_here():
    rng = np.random.default_rng(1)
    base = rng.normal(size=(100, 1))
    X = np.hstack([base, base + 1e-7 * rng.normal(size=(100, 1))])
    y = X @ [1.0, 1.0]
    assert_allclose(LeastSquares().fit(X, y).coef_, [1.0, 1.0], rtol=1e-6)


def test_dependent_columns_give_the_smallest_weights(data):
    X, y, _ = data
    doubled = np.hstack([X, X])
    ours = LeastSquares().fit(doubled, y)
    assert ours.rank_ == 4
    assert_allclose(ours.coef_[:4], ours.coef_[4:])
    assert_allclose(ours.predict(doubled), LeastSquares().fit(X, y).predict(X))


@pytest.mark.parametrize("value", [0.1, 7.0, 1e8 / 3])
def test_constant_column_gets_no_weight(data, value):
    X, y, _ = data
    wider = np.column_stack([X, np.full(len(X), value)])
    ours = LeastSquares().fit(wider, y)
    assert ours.rank_ == 4
    assert ours.coef_[4] == 0.0
    assert_allclose(ours.coef_[:4], LeastSquares().fit(X, y).coef_)


def test_fewer_rows_than_columns():
    ours = LeastSquares().fit([[1.0, 2.0, 3.0], [2.0, 1.0, 0.0]], [1.0, 2.0])
    assert_allclose(ours.predict([[1.0, 2.0, 3.0], [2.0, 1.0, 0.0]]), [1.0, 2.0])
    assert np.isnan(ours.residual_variance_)


def test_factors_add(data):
    X, y, weights = data
    parts = triangular_factor(X[:50], y[:50], weights[:50]) + triangular_factor(
        X[50:], y[50:], weights[50:]
    )
    whole = triangular_factor(X, y, weights)
    assert_allclose(np.abs(parts.factor), np.abs(whole.factor), atol=1e-12)
    assert parts.n_rows == 200


@pytest.mark.parametrize("degree", [1, 3, 6])
def test_polynomial_against_polyfit(degree):
    rng = np.random.default_rng(0)
    x = np.linspace(-1, 1, 40)
    y = np.sin(3 * x) + 0.1 * rng.normal(size=40)
    ours = PolynomialRegression(degree=degree).fit(x[:, None], y)
    expected = np.polyfit(x, y, degree)[::-1]
    assert_allclose(ours.intercept_, expected[0], atol=1e-8)
    assert_allclose(ours.coef_, expected[1:], atol=1e-8)


def test_polynomial_in_two_inputs_recovers_its_terms():
    X = np.random.default_rng(0).normal(size=(50, 2))
    y = 1 + 2 * X[:, 0] * X[:, 1] - X[:, 1] ** 2
    ours = PolynomialRegression(degree=2).fit(X, y)
    weights = {tuple(row): weight for row, weight in zip(ours.exponents_, ours.coef_, strict=True)}
    assert weights[(1, 1)] == pytest.approx(2.0)
    assert weights[(0, 2)] == pytest.approx(-1.0)
    assert weights[(2, 0)] == pytest.approx(0.0, abs=1e-10)


def test_terms():
    assert term_exponents(2, 3, interactions=False).tolist() == [
        [1, 0], [0, 1], [2, 0], [0, 2], [3, 0], [0, 3],
    ]  # fmt: skip
    X = np.array([[2.0, 3.0]])
    assert_allclose(polynomial_terms(X, term_exponents(2, 2, interactions=True)), [[2, 3, 4, 6, 9]])


def test_degree_beyond_the_numbers_is_reported():
    years = np.linspace(1990, 2020, 60)[:, None]
    with pytest.warns(DataWarning, match=r"of the 9 terms are independent.*standardise"):
        PolynomialRegression(degree=9).fit(years, np.arange(60.0))


@pytest.mark.parametrize(("y", "message"), [(None, "requires y"), ([1.0, np.nan], "at row 1")])
def test_bad_targets(y, message):
    with pytest.raises(ValueError, match=message):
        LeastSquares().fit([[1.0], [2.0]], y)


def test_missing_target_is_a_data_error():
    with pytest.raises(DataError, match="NaN or infinity, first at row 0"):
        PolynomialRegression().fit([[1.0], [2.0]], [np.inf, 1.0])
