"""The network that adds units: plain Python, growth, limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, DataWarning
from verulam.local import ResourceAllocatingNetwork

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(200, 2))
VALUES = np.sin(2 * ROWS[:, 0]) + 0.5 * ROWS[:, 1]


def plain_network(rows, targets, numbers):
    """Platt's rule in plain NumPy, for one pass in the order of the rows."""
    least_error, distance, least_distance, shrinking, overlap, rate = numbers
    centers, widths, weights, intercept = np.empty((0, rows.shape[1])), [], np.empty(0), 0.0
    for x, r in zip(rows, targets, strict=True):
        lengths = np.sqrt(((x - centers) ** 2).sum(axis=1))
        bells = np.exp(-0.5 * (lengths / np.array(widths)) ** 2) if widths else np.empty(0)
        error = r - intercept - bells @ weights
        nearest = lengths.min() if len(lengths) else np.inf
        new = abs(error) > least_error and nearest > distance
        distance = max(least_distance, distance * shrinking)
        if new:
            widths.append(overlap * (nearest if len(centers) else distance))
            centers, weights = np.vstack([centers, x]), np.append(weights, error)
        else:
            pull = rate * error * weights * bells / np.array(widths) ** 2
            weights = weights + rate * error * bells
            centers = centers + pull[:, None] * (x - centers)
            intercept += rate * error
    return centers, np.array(widths), weights, intercept


def test_the_compiled_loop_is_platts_rule():
    network = ResourceAllocatingNetwork(
        least_error=0.1, first_distance=1.0, least_distance=0.2, distance_rows=50.0, overlap=0.9,
        learning_rate=0.03,
    ).partial_fit(ROWS, VALUES)  # fmt: skip
    scale = np.sqrt(ROWS.var(axis=0).mean())
    rows = (ROWS - ROWS.mean(axis=0)) / scale
    targets = (VALUES - VALUES.mean()) / VALUES.std()
    numbers = (0.1, 1.0, 0.2, np.exp(-1 / 50), 0.9, 0.03)
    centers, widths, weights, intercept = plain_network(rows, targets, numbers)
    assert_allclose(network.units_.centers, centers * scale + ROWS.mean(axis=0), atol=1e-10)
    assert_allclose(np.sqrt(network.units_.covariances), widths * scale)
    assert_allclose(network.coef_, weights * VALUES.std(), atol=1e-10)
    assert network.intercept_ == pytest.approx(intercept * VALUES.std() + VALUES.mean())
    expected = network.units_.activations(ROWS) @ network.coef_ + network.intercept_
    assert_allclose(network.predict(ROWS), expected, atol=1e-10)


def test_units_come_to_an_end_and_the_error_falls():
    network = ResourceAllocatingNetwork(least_distance=0.4, random_state=0).fit(ROWS, VALUES)
    growth = network.n_units_
    assert growth == sorted(growth)
    assert growth[-1] == growth[-5] < 120
    assert network.losses_[-1] < 0.2 * network.losses_[0]
    assert network.score(ROWS, VALUES) > 0.95
    assert network.n_iter_ == 20


def test_a_larger_distance_makes_fewer_units():
    few = ResourceAllocatingNetwork(least_distance=0.8, random_state=0).fit(ROWS, VALUES)
    many = ResourceAllocatingNetwork(least_distance=0.2, random_state=0).fit(ROWS, VALUES)
    assert len(few.coef_) < len(many.coef_)


def test_further_rows_go_on_from_what_is_known():
    network = ResourceAllocatingNetwork().partial_fit(ROWS[:100], VALUES[:100])
    before = len(network.coef_)
    network.partial_fit(ROWS[100:] + 10.0, VALUES[100:])
    assert len(network.coef_) > before
    assert network.n_iter_ == 2


def test_limits_and_bad_input():
    with pytest.warns(DataWarning, match="All max_units=3 units are in use"):
        full = ResourceAllocatingNetwork(3, random_state=0).fit(ROWS, VALUES)
    assert full.n_units_[-1] == 3
    with pytest.raises(DataError, match="least_distance=3 must not be above first_distance=2"):
        ResourceAllocatingNetwork(least_distance=3.0).fit(ROWS, VALUES)
    with pytest.raises(DataError, match="Training diverged at learning_rate=50"):
        ResourceAllocatingNetwork(learning_rate=50.0, random_state=0).fit(ROWS, VALUES)
    with pytest.raises(DataError, match="y has 5 entries for 200 rows"):
        ResourceAllocatingNetwork().fit(ROWS, VALUES[:5])
    constant = ResourceAllocatingNetwork(random_state=0).fit(np.ones((5, 2)), np.full(5, 7.0))
    assert_allclose(constant.predict(np.ones((1, 2))), 7.0)


def test_rows_of_other_columns_are_refused():
    network = ResourceAllocatingNetwork(random_state=0).fit(ROWS, VALUES)
    with pytest.raises(ValueError, match=r"1 features, but .* is expecting 2"):
        network.predict(ROWS[:, :1])
