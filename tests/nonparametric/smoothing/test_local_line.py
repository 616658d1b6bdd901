"""Local fits over one input: the definition in plain NumPy, the power series, compiled loops."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.nonparametric import WINDOWS
from verulam.nonparametric._smoothing import local_line, local_line_loops, sliding_loops
from verulam.nonparametric._smoothing.local_line import line_values, line_windows, sorted_line
from verulam.nonparametric._smoothing.local_line_loops import (
    gaussian_moments,
    nearest_windows,
)
from verulam.nonparametric._smoothing.neighbourhoods import Neighbourhood

COMPACT = ["tophat", "linear", "epanechnikov", "biweight", "triweight", "tricube", "cosine"]


@pytest.fixture
def line():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 120)
    return sorted_line(x[:, None], np.sin(x) + 0.1 * rng.normal(size=120), None)


def definition(line, query, heights, degree):
    """Return value, own weight and squared weights by NumPy's weighted least squares."""
    design = np.vander(line.x - query, degree + 1, increasing=True)
    scatter = design.T @ (heights[:, None] * design)
    weights = np.linalg.solve(scatter, design.T * heights)[0]
    return weights @ line.y, np.linalg.inv(scatter)[0, 0], (weights**2).sum()


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("name", [*COMPACT, "gaussian", "exponential"])
def test_local_polynomials_by_their_definition(line, name, degree):
    window = WINDOWS[name]
    hood = Neighbourhood(window, degree=degree, bandwidth=1.3)
    queries = np.array([0.5, 4.2, 4.21, 9.9])
    fits = line_values(hood, line, queries, with_squares=True)
    for place, query in enumerate(queries):
        distances = np.abs(line.x - query) / 1.3
        heights = np.where(distances < window.radius, window(distances), 0.0)
        value, _, squares = definition(line, query, heights, degree)
        assert_allclose(fits.values[place], value, rtol=1e-10)
        assert_allclose(fits.squares[place], squares, rtol=1e-9)


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_weight_of_the_query_itself(line, degree):
    hood = Neighbourhood(WINDOWS["biweight"], degree=degree, bandwidth=2.0)
    fits = line_values(hood, line, line.x)
    heights = WINDOWS["biweight"](np.abs(line.x - line.x[40]) / 2.0)
    assert_allclose(fits.leverage[40], definition(line, line.x[40], heights, degree)[1])


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("bandwidth", [0.05, 0.4, 3.0, 100.0])
def test_power_series_equals_the_plain_sum(monkeypatch, bandwidth, degree):
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(0, 10, 900), rng.uniform(14, 20, 300)])
    line = sorted_line(x[:, None], rng.normal(size=1200), None)
    hood = Neighbourhood(WINDOWS["gaussian"], degree=degree, bandwidth=bandwidth)
    queries = np.linspace(-1, 22, 301)
    monkeypatch.setattr(local_line, "SERIES_REACH", 0)
    series = line_values(hood, line, queries, with_squares=True)
    monkeypatch.setattr(local_line, "SERIES_REACH", np.inf)
    plain = line_values(hood, line, queries, with_squares=True)
    # Far from all points, parabolas swing wildly; compare in units of their noise.
    scale = np.sqrt(plain.squares)
    assert_allclose(series.values / scale, plain.values / scale, atol=1e-8)
    assert_allclose(series.squares, plain.squares, rtol=1e-6)
    own_plain = line_values(hood, line, line.x).leverage
    monkeypatch.setattr(local_line, "SERIES_REACH", 0)
    assert_allclose(line_values(hood, line, line.x).leverage, own_plain, rtol=1e-8)


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("name", COMPACT[:-1])
@pytest.mark.parametrize("width", [{"bandwidth": 0.7}, {"n_neighbors": 90}])
def test_sliding_sums_equal_visits_to_every_point(monkeypatch, name, degree, width):
    """Also across a gap, a crowd and repeated inputs, and with weights of the points."""
    rng = np.random.default_rng(2)
    x = np.concatenate(
        [rng.uniform(0, 4, 250), rng.uniform(9, 10, 60), 6 + 1e-3 * rng.random(120), np.full(95, 8)]
    )
    line = sorted_line(x[:, None], rng.normal(size=len(x)), rng.random(len(x)))
    hood = Neighbourhood(WINDOWS[name], degree=degree, **width)
    queries = np.concatenate([line.x, np.linspace(-1, 11, 99)])
    monkeypatch.setattr(local_line, "SLIDING_REACH", 0)
    sliding = line_values(hood, line, queries)
    monkeypatch.setattr(local_line, "SLIDING_REACH", np.inf)
    visits = line_values(hood, line, queries, with_squares=True)
    scale = np.maximum(1.0, np.sqrt(visits.squares))
    assert_allclose(sliding.values / scale, visits.values / scale, atol=1e-8)
    at_inputs = slice(0, len(line.x))
    assert_allclose(sliding.leverage[at_inputs], visits.leverage[at_inputs], rtol=1e-7)
    assert_array_equal(sliding.empty, visits.empty)


def test_straight_lines_and_parabolas_are_reproduced(line):
    queries = np.linspace(-3, 13, 40)
    for degree, curve in ((1, 3 * line.x - 2), (2, line.x**2 - line.x)):
        exact = sorted_line(line.x[:, None], curve, None)
        hood = Neighbourhood(WINDOWS["tricube"], degree=degree, n_neighbors=20)
        expected = np.interp(queries, line.x, line.x) if degree > 2 else queries
        polynomial = 3 * expected - 2 if degree == 1 else expected**2 - expected
        assert_allclose(line_values(hood, exact, queries).values, polynomial, atol=1e-7)


def test_far_queries_stay_finite(line):
    for name in ("gaussian", "exponential", "epanechnikov"):
        hood = Neighbourhood(WINDOWS[name], bandwidth=1e-3)
        fits = line_values(hood, line, np.array([-1e6, 1e6]))
        assert_allclose(fits.values, line.y[[0, -1]])
    assert fits.empty.all()


def test_one_point_and_repeated_points():
    repeated = sorted_line(np.zeros((4, 1)), np.array([1.0, 2.0, 3.0, 6.0]), None)
    for degree in (0, 1, 2):
        hood = Neighbourhood(WINDOWS["tricube"], degree=degree, n_neighbors=2)
        assert_allclose(line_values(hood, repeated, np.array([0.0, 5.0])).values, [3.0, 3.0])


def test_windows_are_open_and_neighbours_are_the_nearest():
    x = np.arange(10.0)
    hood = Neighbourhood(WINDOWS["tophat"], bandwidth=2.0)
    nobody = np.full(1, -1)
    starts, stops, _ = line_windows(hood, x, np.array([5.0]), nobody)
    assert (starts[0], stops[0]) == (4, 7)
    past = Neighbourhood(WINDOWS["tophat"], bandwidth=2.0, side="past")
    assert line_windows(past, x, np.array([5.0]), nobody)[1][0] == 6
    near = Neighbourhood(WINDOWS["tophat"], n_neighbors=3)
    starts, stops, widths = line_windows(near, x, np.array([6.2]), nobody)
    assert (starts[0], stops[0]) == (5, 8)
    assert_allclose(widths, 1.2)


def test_nearest_windows_against_sorting():
    rng = np.random.default_rng(3)
    x, queries = np.sort(rng.normal(size=60)), np.sort(rng.normal(size=25))
    starts = np.empty(25, dtype=np.intp)
    nearest_windows(x, queries, 7, starts)
    for query, start in zip(queries, starts, strict=True):
        nearest = np.sort(np.argsort(np.abs(x - query))[:7])
        assert_array_equal(np.arange(start, start + 7), nearest)


def test_threads_do_not_change_the_answer(monkeypatch):
    rng = np.random.default_rng(4)
    x = rng.uniform(size=3000)
    line = sorted_line(x[:, None], rng.normal(size=3000), None)
    hood = Neighbourhood(WINDOWS["tricube"], degree=1, n_neighbors=300)
    alone = line_values(hood, line, line.x).values
    monkeypatch.setattr(local_line, "THREADED_VISITS", 0)
    assert_array_equal(line_values(hood, line, line.x).values, alone)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("degree", [0, 2])
def test_compiled_loops_equal_their_python_source(line, degree, monkeypatch):
    """Windows with and without tails, sums that slide or not, and neighbourhoods of nothing."""
    queries = np.append(line.x[:6], 12.0)
    hoods = [
        Neighbourhood(WINDOWS[name], degree=degree, bandwidth=width)
        for name in ("gaussian", "exponential", "cosine", "tricube", "epanechnikov", "tophat")
        for width in (1e-4, 2.0)
    ] + [Neighbourhood(WINDOWS["tricube"], degree=degree, n_neighbors=40)]
    monkeypatch.setattr(local_line, "SLIDING_REACH", 5)
    compiled = [line_values(hood, line, queries) for hood in hoods]
    moments = gaussian_moments(line.x, line.y, queries, 0.5, 3, 2, 24)
    assert_allclose(moments, gaussian_moments.py_func(line.x, line.y, queries, 0.5, 3, 2, 24))
    for module in (local_line, local_line_loops, sliding_loops):
        for name in dir(module):
            plain = getattr(getattr(module, name), "py_func", None)
            if plain is not None:
                monkeypatch.setattr(module, name, plain)
    for hood, answer in zip(hoods, compiled, strict=True):
        plain = line_values(hood, line, queries)
        assert_allclose(answer.values, plain.values, rtol=1e-7)
        assert_allclose(answer.leverage, plain.leverage, rtol=1e-7, atol=1e-12)
        assert_array_equal(answer.empty, plain.empty)


def test_means_of_the_nearest_inputs():
    """By hand: both sides at one distance, ties, and a point left out."""
    x, y = np.array([0.0, 0.0, 2.0, 2.0, 2.0, 5.0]), np.array([1.0, 3.0, 4.0, 6.0, 5.0, 9.0])
    line = sorted_line(x[:, None], y, None)
    queries, skipped = np.array([1.0, 1.5, 5.0, -4.0, 1.0]), np.array([-1, -1, 5, -1, 4])
    means = local_line.nearest_means(line, queries, skipped, 0)
    assert_allclose(means[:, 0], [19 / 5, 5.0, 5.0, 2.0, 14 / 4])
    assert_allclose(means[:, 1], [1 / 5, 1 / 3, 1 / 3, 1 / 2, 1 / 4])
    assert (means[:, 3] == 1.0).all()
    lines = local_line.nearest_means(line, queries, skipped, 1)
    assert_allclose(lines[:, 0], [3.5, 5.0, 5.0, 2.0, 3.5])
    assert_allclose(lines[:, 1], [0.25 * (1 / 2 + 1 / 3), 1 / 3, 1 / 3, 1 / 2, 0.25])


def test_repeated_queries_have_the_same_fit(line):
    hood = Neighbourhood(WINDOWS["tricube"], degree=1, n_neighbors=20)
    queries = np.tile(line.x[::-7], 3)
    once = line_values(hood, line, line.x[::-7])
    many = line_values(hood, line, queries)
    assert_array_equal(many.values, np.tile(once.values, 3))
    assert_array_equal(many.leverage, np.tile(once.leverage, 3))
