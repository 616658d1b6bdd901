"""Smoothing spline: SciPy's curve, limits, leverages, leaving out, straight ends."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import make_smoothing_spline

from verulam.base import DataError
from verulam.nonparametric import SmoothingSpline
from verulam.nonparametric._additive.spline import inverse_bands


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 6, 70))
    return x, np.sin(x) + 0.2 * rng.normal(size=70)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
def test_against_scipy(data, alpha):
    x, y = data
    spline = SmoothingSpline(alpha=alpha).fit(x[::-1, None], y[::-1])
    queries = np.linspace(x[0], x[-1], 200)
    theirs = make_smoothing_spline(x, y, lam=alpha)
    assert_allclose(spline.predict(queries[:, None]), theirs(queries), atol=1e-8)
    smooth = spline.training_smooth()
    assert_allclose(smooth.fitted[::-1], theirs(x), atol=1e-8)


def test_generalised_cross_validation_against_scipy(data):
    x, y = data
    ours = SmoothingSpline().fit(x[:, None], y).predict(x[:, None])
    assert_allclose(ours, make_smoothing_spline(x, y)(x), atol=1e-5)


def test_limits(data):
    x, y = data
    assert_allclose(SmoothingSpline(alpha=0.0).fit(x[:, None], y).predict(x[:, None]), y)
    flat = SmoothingSpline(alpha=1e9).fit(x[:, None], y)
    line = np.polyval(np.polyfit(x, y, 1), x)
    assert_allclose(flat.predict(x[:, None]), line, atol=1e-6)
    assert flat.training_smooth().effective_degrees == pytest.approx(2.0, abs=1e-3)


def test_minimises_its_cost(data):
    """Any other curve through the same knots has a larger cost."""
    x, y = data
    spline = SmoothingSpline(alpha=0.5).fit(x[:, None], y)
    grid = np.linspace(x[0], x[-1], 20_001)

    def cost(curve):
        bend = np.gradient(np.gradient(curve(grid), grid), grid)
        return np.square(y - curve(x)).sum() + 0.5 * np.trapezoid(bend**2, grid)

    def plain(q):
        return spline.predict(q[:, None])

    least = cost(plain)
    for size in (-0.05, 0.05):
        assert cost(lambda q, size=size: plain(q) + size * np.sin(q)) > least


def test_weights_leverages_and_bands(data):
    x, y = data
    spline = SmoothingSpline(alpha=0.2).fit(x[:, None], y)
    queries = np.linspace(-1, 7, 40)[:, None]
    assert_allclose(spline.weights(queries) @ y, spline.predict(queries), atol=1e-9)
    matrix = spline.weights(x[:, None])
    assert_allclose(np.diag(matrix), spline.training_smooth().leverage, atol=1e-8)
    band = spline.predict_band(queries)
    assert_allclose(
        band.standard_errors, band.noise * np.linalg.norm(spline.weights(queries), axis=1)
    )


def test_leaving_out_equals_fitting_again(data):
    x, y = data
    smooth = SmoothingSpline(alpha=0.2).fit(x[:, None], y).training_smooth()
    for row in (0, 33, 69):
        again = SmoothingSpline(alpha=0.2).fit(np.delete(x, row)[:, None], np.delete(y, row))
        assert_allclose(smooth.leave_one_out[row], again.predict(x[[row], None])[0], atol=1e-8)


def test_repeated_inputs_count_by_number(data):
    x, y = data
    doubled = SmoothingSpline(alpha=0.2).fit(np.r_[x, x][:, None], np.r_[y + 0.1, y - 0.1])
    single = SmoothingSpline(alpha=0.1).fit(x[:, None], y)
    assert_allclose(doubled.predict(x[:, None]), single.predict(x[:, None]), atol=1e-9)
    matrix = doubled.weights(np.r_[x, x][:, None])
    assert_allclose(np.diag(matrix), doubled.training_smooth().leverage, atol=1e-8)


def test_many_and_nearly_equal_inputs():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 6, 3000)
    x[1] = x[0] + 1e-13
    y = np.sin(x) + 0.2 * rng.normal(size=3000)
    many = SmoothingSpline().fit(x[:, None], y)
    assert len(many.knots_) <= 1001
    assert np.abs(many.predict(x[:, None]) - np.sin(x)).max() < 0.1
    near = SmoothingSpline(alpha=0.1).fit(x[:50, None], y[:50])
    x[1] = x[0]
    same = SmoothingSpline(alpha=0.1).fit(x[:50, None], y[:50])
    assert_allclose(near.predict(x[:50, None]), same.predict(x[:50, None]), atol=1e-4)


def test_straight_beyond_the_data(data):
    x, y = data
    spline = SmoothingSpline(alpha=0.1).fit(x[:, None], y)
    ends = spline.predict([[7.0], [8.0], [9.0]])
    assert_allclose(ends[2] - ends[1], ends[1] - ends[0])


@pytest.mark.parametrize("criterion", ["gcv", "loo"])
def test_penalty_is_chosen_by_its_criterion(data, criterion):
    x, y = data
    name = "generalised_error" if criterion == "gcv" else "leave_one_out_error"
    fitted = SmoothingSpline(alpha=criterion).fit(x[:, None], y)
    least = getattr(fitted.training_smooth(), name)
    for factor in (0.2, 0.7, 1.5, 5.0):
        other = SmoothingSpline(alpha=factor * fitted.alpha_).fit(x[:, None], y)
        assert least <= getattr(other.training_smooth(), name) + 1e-12


def test_too_few_inputs_or_too_many():
    with pytest.raises(DataError, match=r"at least 5 different inputs.*n_samples = 6 rows have 3"):
        SmoothingSpline().fit([[0], [1], [2], [0], [1], [2]], np.arange(6.0))
    with pytest.raises(DataError, match="takes one input, but X has 2 columns"):
        SmoothingSpline().fit(np.zeros((9, 2)), np.zeros(9))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_bands_of_the_inverse():
    rng = np.random.default_rng(0)
    main, first, second = 10 + rng.random(9), rng.random(9), rng.random(9)
    first[-1] = second[-2:] = 0.0
    matrix = np.diag(main) + np.diag(first[:-1], 1) + np.diag(second[:-2], 2)
    matrix += np.triu(matrix, 1).T
    inverse = np.linalg.inv(matrix)
    for find in (inverse_bands, inverse_bands.py_func):
        bands = find(main, first, second)
        assert_allclose(bands[0], np.diag(inverse))
        assert_allclose(bands[1, :-1], np.diag(inverse, 1))
        assert_allclose(bands[2, :-2], np.diag(inverse, 2))


def test_weights_are_those_of_the_equivalent_kernel():
    """Silverman's kernel: amid many points, a spline is a kernel smoother of width (c/p)^(1/4)."""
    x = np.linspace(0.0, 40.0, 401)
    per_unit, alpha = 10.0, 10.0 * 1.5**4
    spline = SmoothingSpline(alpha=alpha).fit(x[:, None], np.sin(x))
    weights = spline._engine().weights(np.array([[20.0]]))[0]
    width = (alpha / per_unit) ** 0.25
    offsets = np.abs(x - 20.0) / width / np.sqrt(2.0)
    kernel = 0.5 * np.exp(-offsets) * np.sin(offsets + np.pi / 4.0)
    assert_allclose(weights * per_unit * width, kernel, atol=2e-3)
    assert weights.min() < 0
    assert_allclose(weights.sum(), 1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_inputs_of_any_number_type(dtype):
    X = np.arange(12, dtype=dtype)[:, None]
    y = np.sin(np.arange(12.0))
    fitted = SmoothingSpline(alpha=0.5).fit(X, y)
    expected = SmoothingSpline(alpha=0.5).fit(X.astype(float), y).predict(X.astype(float))
    np.testing.assert_allclose(fitted.predict(X), expected, rtol=1e-12)


def test_queries_of_more_columns_are_refused():
    fitted = SmoothingSpline().fit(np.arange(12.0)[:, None], np.arange(12.0))
    with pytest.raises(ValueError, match="X has 2 features"):
        fitted.predict(np.zeros((3, 2)))
