"""Projection pursuit: directions and functions found again, errors that never rise."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from verulam.neural import ProjectionPursuitRegressor, RidgeFunction

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(300, 4))
FIRST, SECOND = np.array([0.6, 0.8, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0])


@pytest.fixture(scope="module")
def fitted():
    y = np.sin(2 * ROWS @ FIRST) + 0.5 * (ROWS @ SECOND) ** 2
    return ProjectionPursuitRegressor(2, random_state=0).fit(ROWS, y), y


def test_directions_are_found_again(fitted):
    net, _ = fitted
    directions = np.array([term.direction for term in net.terms_])
    closeness = np.abs(directions @ np.column_stack([FIRST, SECOND]))
    assert sorted(closeness.argmax(axis=1)) == [0, 1]
    assert closeness.max(axis=1).min() > 0.99
    new = np.random.default_rng(1).normal(size=(200, 4)).clip(-2, 2)
    truth = np.sin(2 * new @ FIRST) + 0.5 * (new @ SECOND) ** 2
    assert net.score(new, truth) > 0.95


def test_prediction_is_the_sum_of_the_terms(fitted):
    net, y = fitted
    assert all(isinstance(term, RidgeFunction) for term in net.terms_)
    parts = [term.values(ROWS @ term.direction) for term in net.terms_]
    np.testing.assert_allclose(net.predict(ROWS), net.intercept_ + sum(parts), atol=1e-12)
    assert net.intercept_ == pytest.approx(y.mean())
    np.testing.assert_allclose([np.linalg.norm(term.direction) for term in net.terms_], 1.0)
    assert net.errors_[1] == pytest.approx(np.mean((net.predict(ROWS) - y) ** 2))


def test_slopes_of_functions(fitted):
    places = np.linspace(-5, 5, 41)
    for term in fitted[0].terms_:
        ends = (term.values(places + 1e-6) - term.values(places - 1e-6)) / 2e-6
        np.testing.assert_allclose(term.values(places, 1), ends, atol=1e-5)


def test_terms_lower_the_error_and_fitting_again_does_not_raise_it():
    y = ROWS[:, 0] * ROWS[:, 1] + RANDOM.normal(scale=0.1, size=300)
    once = ProjectionPursuitRegressor(3, backfit=False, random_state=0).fit(ROWS, y)
    again = ProjectionPursuitRegressor(3, backfit=True, random_state=0).fit(ROWS, y)
    assert (np.diff(once.errors_) <= 0).all()
    assert (np.diff(again.errors_) <= 1e-9).all()
    assert again.errors_[-1] <= once.errors_[-1] + 1e-9
    # A product is a difference of two squares: no plane can follow it, two directions can.
    assert LinearRegression().fit(ROWS, y).score(ROWS, y) < 0.1
    assert again.score(ROWS, y) > 0.9


def test_a_plane_needs_one_term():
    y = ROWS @ [1.0, -2.0, 0.0, 0.5] + 3.0
    net = ProjectionPursuitRegressor(1, random_state=0).fit(ROWS, y)
    slope = net.terms_[0].direction * np.sign(net.terms_[0].direction[0])
    np.testing.assert_allclose(slope, np.array([1, -2, 0, 0.5]) / np.sqrt(5.25), atol=1e-3)
    # Beyond the rows it goes on straight.
    far = np.array([[10.0, 0, 0, 0]])
    assert net.predict(far) == pytest.approx(13.0, rel=0.05)


def test_much_smoothing_leaves_a_plane():
    y = np.exp(-(ROWS[:, 0] ** 2)) + ROWS[:, 0]
    smooth = ProjectionPursuitRegressor(1, smoothing=1e6, random_state=0).fit(ROWS, y)
    rough = ProjectionPursuitRegressor(1, smoothing=1e-3, random_state=0).fit(ROWS, y)
    assert rough.score(ROWS, y) > 0.95 > smooth.score(ROWS, y)


def test_odd_tables():
    constant = ProjectionPursuitRegressor(1, random_state=0).fit(np.ones((6, 2)), np.arange(6.0))
    assert constant.predict(np.ones((1, 2))) == pytest.approx(2.5, abs=1e-6)
    # One column that says nothing leaves one direction to look along.
    single = ProjectionPursuitRegressor(1, random_state=0).fit(np.ones((6, 1)), np.arange(6.0))
    assert single.predict(np.ones((1, 1))) == pytest.approx(2.5, abs=1e-6)
    with pytest.raises(ValueError, match="n_terms"):
        ProjectionPursuitRegressor(0).fit(ROWS, ROWS[:, 0])


@pytest.mark.parametrize(
    ("shift", "scale"), [(1e6, 1.0), (0.0, [1e6, 1e-6, 1.0]), (-1e4, [1.0, 1e4, 1.0])], ids=str
)
def test_units_of_the_columns_do_not_matter(shift, scale):
    rows = np.random.default_rng(0).normal(size=(120, 3))
    values = np.sin(rows @ [1.0, 1.0, 0.0]) + (rows @ [0.0, 0.5, 0.5]) ** 2
    plain = ProjectionPursuitRegressor(2, random_state=0).fit(rows, values)
    other = ProjectionPursuitRegressor(2, random_state=0).fit(rows * scale + shift, values)
    assert other.score(rows * scale + shift, values) == pytest.approx(
        plain.score(rows, values), abs=1e-3
    )
    assert plain.score(rows, values) > 0.99
    assert [np.linalg.norm(term.direction) for term in other.terms_] == pytest.approx([1.0, 1.0])
