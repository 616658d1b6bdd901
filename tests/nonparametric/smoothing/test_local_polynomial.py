"""Local engines: line and space agree, leaving out equals fitting again, choices of bandwidth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.nonparametric import WINDOWS, KernelSmoother, LocalPolynomial, Loess
from verulam.nonparametric._smoothing.local_polynomial import (
    LocalEngine,
    checked_bandwidth,
    choose_bandwidth,
)
from verulam.nonparametric._smoothing.local_space import space_values
from verulam.nonparametric._smoothing.neighbourhoods import Neighbourhood

HOODS = [
    Neighbourhood(WINDOWS["gaussian"], degree=1, bandwidth=0.4),
    Neighbourhood(WINDOWS["epanechnikov"], bandwidth=0.2),
    Neighbourhood(WINDOWS["tophat"], degree=2, bandwidth=0.9),
    Neighbourhood(WINDOWS["tricube"], degree=2, n_neighbors=15),
    Neighbourhood(WINDOWS["tophat"], n_neighbors=3),
]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 6, 90)
    x[10:14] = x[10]
    return x[:, None], np.cos(x) + 0.2 * rng.normal(size=90)


@pytest.mark.parametrize("hood", HOODS)
def test_line_and_space_agree(data, hood):
    X, y = data
    # Which of repeated inputs are the nearest is a matter of luck.
    X, y = np.delete(X, [11, 12, 13], axis=0), np.delete(y, [11, 12, 13])
    queries = np.linspace(-0.5, 6.5, 50)[:, None]
    line = LocalEngine(hood, X, y).values(queries, with_squares=True)
    space = space_values(hood, X, y, None, queries)
    assert_allclose(line.values, space.values, rtol=1e-8, atol=1e-8)
    assert_allclose(line.squares, space.squares, rtol=1e-7)


@pytest.mark.parametrize("hood", HOODS)
@pytest.mark.parametrize("columns", [1, 2])
def test_leaving_out_equals_fitting_again(data, hood, columns):
    X, y = data
    if columns == 2:
        X = np.column_stack([X, np.linspace(0, 1, 90)])
    smooth = LocalEngine(hood, X, y).training()
    for row in (0, 10, 42, 89):
        again = LocalEngine(hood, np.delete(X, row, axis=0), np.delete(y, row))
        assert_allclose(smooth.leave_one_out[row], again.values(X[[row]]).values[0], rtol=1e-7)


@pytest.mark.parametrize("hood", HOODS)
def test_training_smooth_against_the_weight_matrix(data, hood):
    X, y = data
    X, y = np.delete(X, [11, 12, 13], axis=0), np.delete(y, [11, 12, 13])
    engine = LocalEngine(hood, X, y)
    matrix, smooth = engine.weights(X), engine.training()
    assert_allclose(smooth.fitted, matrix @ y, atol=1e-9)
    assert_allclose(smooth.leverage, np.diag(matrix), atol=1e-9)
    assert_allclose(engine.squares(), (matrix**2).sum(axis=1), atol=1e-9)


def test_lonely_points_are_left_to_their_neighbours():
    """With so narrow a window each point makes up its own fit; without it, the nearest speaks."""
    X, y = np.array([[0.0], [1.0], [3.0]]), np.array([5.0, 7.0, 9.0])
    for window in ("gaussian", "epanechnikov"):
        hood = Neighbourhood(WINDOWS[window], bandwidth=0.01)
        smooth = LocalEngine(hood, X, y).training()
        assert_allclose(smooth.leverage, 1.0)
        assert_allclose(smooth.leave_one_out, [7.0, 5.0, 7.0])


def test_bandwidth_for_each_input_rescales_the_inputs(data):
    X, y = data
    X = np.column_stack([X, 100 * np.sin(3 * X)])
    scaled = KernelSmoother(bandwidth=1.0).fit(X / [0.5, 40.0], y)
    by_column = KernelSmoother(bandwidth=[0.5, 40.0]).fit(X, y)
    assert_allclose(by_column.predict(X), scaled.predict(X / [0.5, 40.0]))
    assert_allclose(by_column.weights(X[:3]), scaled.weights(X[:3] / [0.5, 40.0]))


@pytest.mark.parametrize("criterion", ["loo", "gcv"])
def test_chosen_bandwidth_beats_others(data, criterion):
    X, y = data
    fitted = LocalPolynomial(bandwidth=criterion).fit(X, y)
    name = "leave_one_out_error" if criterion == "loo" else "generalised_error"
    least = getattr(fitted.training_smooth(), name)
    for bandwidth in np.geomspace(0.05, 10, 25):
        other = LocalPolynomial(bandwidth=bandwidth).fit(X, y).training_smooth()
        assert least <= 1.02 * getattr(other, name)


def test_bandwidth_is_chosen_from_some_rows_of_a_large_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    asked = []

    def training(width, rows):
        asked.append(len(rows))
        return LocalEngine(HOODS[1], X[:, :1], X[:, 0]).training(rows)

    choose_bandwidth(training, X, "loo")
    assert set(asked) == {1000}


@pytest.mark.parametrize(
    ("bandwidth", "message"),
    [
        ([1.0, 2.0, 3.0], "bandwidth has 3 entries, but X has 2 columns"),
        ([1.0, 0.0], "bandwidth must be above 0"),
        ([np.nan, 1.0], "bandwidth must be above 0 and finite"),
    ],
)
def test_bad_bandwidths(bandwidth, message):
    with pytest.raises(DataError, match=message):
        checked_bandwidth(bandwidth, 2)


@pytest.mark.parametrize("n_columns", [1, 2])
def test_leaving_out_where_all_points_are_neighbours(n_columns):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, n_columns)), rng.normal(size=12)
    left_out = Loess(span=1.0, n_iter=0).fit(X, y).training_smooth().leave_one_out
    rest = np.arange(12) != 4
    again = Loess(span=1.0, n_iter=0).fit(X[rest], y[rest]).predict(X[[4]])
    assert_allclose(left_out[4], again[0])
