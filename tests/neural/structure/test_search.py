"""Searches over structures."""

import numpy as np
import pytest

from verulam.base import DataError, UnknownNameError, spawn_seeds
from verulam.neural import MLPRegressor, StructureSearch, complexity_curve, search_structure
from verulam.neural._structure.search import add_layer, add_unit, remove_layer, remove_unit

X = np.linspace(-3, 3, 60)[:, None]
Y = np.sin(2 * X[:, 0])
KNOWN, UNSEEN = slice(0, None, 2), slice(1, None, 2)
SETTINGS = MLPRegressor(activation="tanh", solver="lbfgs", tol=1e-3, random_state=0, max_iter=100)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def searched(**options):
    return search_structure(SETTINGS, X[KNOWN], Y[KNOWN], (X[UNSEEN], Y[UNSEEN]), **options)


def test_moves():
    assert list(add_unit((2, 3))) == [(3, 3), (2, 4)]
    assert list(remove_unit((1, 3))) == [(1, 2)]
    assert list(add_layer((4, 2))) == [(4, 2, 2)]
    assert list(remove_layer((4, 2))) == [(2,), (4,)]
    assert list(remove_layer((4,))) == []


def test_adding_units_alone_counts_them_up():
    result = searched(operators=["unit"], max_steps=4)
    assert isinstance(result, StructureSearch)
    layers = result.path["layers"].tolist()
    assert layers == [(count,) for count in range(1, len(layers) + 1)]
    assert len(layers) > 2
    assert result.path["cost"].is_monotonic_decreasing
    assert result.learner.hidden_layer_sizes == layers[-1]
    assert result.learner.score(X[UNSEEN], Y[UNSEEN]) == pytest.approx(
        1 - result.path["validation_error"].iloc[-1]
    )


def test_the_cost_weighs_size_against_error():
    result = searched(
        start=(8,), direction="backward", operators=["unit"], max_steps=10,
        cost=lambda error, size: error + 0.02 * size,
    )  # fmt: skip
    assert result.path["layers"].iloc[0] == (8,)
    sizes = result.path["parameters"]
    assert sizes.is_monotonic_decreasing
    assert sizes.iloc[-1] < sizes.iloc[0]
    np.testing.assert_allclose(result.path["cost"], result.path["validation_error"] + 0.02 * sizes)


def test_floating_tries_both_ways():
    result = searched(start=(3,), direction="floating", max_steps=1)
    assert {(3,), (4,), (2,), (3, 3)} <= set(result.tried["layers"])
    best = result.tried.loc[result.tried["cost"].idxmin(), "layers"]
    assert result.path["layers"].iloc[-1] == best


def test_moves_of_ones_own():
    result = searched(operators=[lambda state: [(2 * state[0],)]], max_steps=2)
    assert set(result.tried["layers"]) <= {(1,), (2,), (4,)}
    assert (2,) in set(result.tried["layers"])


def test_refused():
    with pytest.raises(UnknownNameError, match="sideways"):
        searched(direction="sideways")
    with pytest.raises(UnknownNameError, match="weight"):
        searched(operators=["weight"])
    with pytest.raises(DataError, match="at least one unit"):
        searched(start=(0,))


def test_too_many_units_follow_the_noise():
    """Alpaydin fig. 11.12: training error falls, validation error falls and rises."""
    random = np.random.default_rng(0)
    x = random.uniform(-0.5, 0.5, size=(60, 1))
    y = np.sin(6 * x[:, 0]) + random.normal(scale=0.4, size=60)
    net = MLPRegressor(activation="tanh", solver="lbfgs", alpha=0.0, tol=1e-4, max_iter=2000)
    curve = complexity_curve(
        net, x[:20], y[:20], (x[20:], y[20:]), [1, 2, 12], n_repeats=3, random_state=0
    )
    assert curve["units"].tolist() == [1, 2, 12]
    assert curve["parameters"].tolist() == [4, 7, 37]
    assert curve["training_error"].is_monotonic_decreasing
    assert curve["validation_error"].idxmin() < 2
    assert curve["validation_error"].iloc[2] > curve["validation_error"].min()
    again = complexity_curve(
        net, x[:20], y[:20], (x[20:], y[20:]), [1, 2, 12], n_repeats=3, random_state=0
    )
    assert again.equals(curve)
    fitted = net.set_params(hidden_layer_sizes=1, random_state=spawn_seeds(0, 3)[0])
    single = complexity_curve(
        net, x[:20], y[:20], (x[20:], y[20:]), [1], n_repeats=1, random_state=0
    )
    expected = 1 - fitted.set_params(random_state=spawn_seeds(0, 1)[0]).fit(x[:20], y[:20]).score(
        x[20:], y[20:]
    )
    assert single["validation_error"].iloc[0] == expected
    with pytest.raises(DataError, match="n_repeats must be"):
        complexity_curve(net, x, y, (x, y), [1], n_repeats=0)
    with pytest.raises(DataError, match="at least one"):
        complexity_curve(net, x, y, (x, y), [])
