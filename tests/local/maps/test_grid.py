"""Grids: places and neighbours, what a map tells of rows, and places between units."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import NotFittedError

from verulam.base import DataError
from verulam.data import dataset
from verulam.local import SelfOrganisingMap, UnitGrid
from verulam.local._maps.grid import triangle_places, winners


@pytest.fixture(scope="module")
def iris():
    return dataset("iris").inputs


@pytest.fixture(scope="module", params=["rectangular", "hexagonal"])
def fitted(request, iris):
    return SelfOrganisingMap((5, 4), lattice=request.param).fit(iris)


def matrix(grid, pairs):
    """Return whether every two units are one of the pairs."""
    joined = np.zeros((grid.n_units, grid.n_units), dtype=bool)
    joined[pairs[:, 0], pairs[:, 1]] = joined[pairs[:, 1], pairs[:, 0]] = True
    return joined


def all_distances(grid):
    numbers = np.arange(grid.n_units)
    return grid.distances(numbers[:, None], numbers)


def all_weights(grid, radius, neighbourhood):
    return grid.weights(np.arange(grid.n_units), radius, neighbourhood)


def test_a_rectangular_grid_has_four_neighbours_inside_and_two_in_corners():
    grid = UnitGrid((4, 5))
    counts = grid.as_map(matrix(grid, grid.touching).sum(axis=1))
    assert counts[1:-1, 1:-1].tolist() == [[4, 4, 4], [4, 4, 4]]
    assert counts[0, 0] == counts[-1, -1] == 2
    assert grid.as_map(matrix(grid, grid.adjacent).sum(axis=1))[1, 1] == 8


def test_a_hexagonal_grid_has_six_neighbours_inside_all_one_apart():
    grid = UnitGrid((4, 5), "hexagonal")
    assert grid.as_map(matrix(grid, grid.touching).sum(axis=1))[1:-1, 1:-1].tolist() == [
        [6, 6, 6],
        [6, 6, 6],
    ]
    np.testing.assert_allclose(grid.distances(*grid.touching.T), 1.0)


@pytest.mark.parametrize(("lattice", "count"), [("rectangular", 4), ("hexagonal", 6)])
def test_joined_ends_give_every_unit_the_same_neighbours(lattice, count):
    grid = UnitGrid((4, 5), lattice, periodic=True)
    assert (matrix(grid, grid.touching).sum(axis=1) == count).all()
    ring = UnitGrid((7,), lattice, periodic=True)
    assert (matrix(ring, ring.touching).sum(axis=1) == 2).all()
    assert all_distances(ring).max() == 3.0


@pytest.mark.parametrize("neighbourhood", ["gaussian", "bubble"])
def test_the_neighbourhood_is_one_at_the_winner_and_falls(neighbourhood):
    grid = UnitGrid((9,))
    weights = all_weights(grid, 2.0, neighbourhood)
    np.testing.assert_array_equal(np.diag(weights), 1.0)
    assert (np.diff(weights[0]) <= 0).all()
    if neighbourhood == "gaussian":
        np.testing.assert_allclose(weights[0], np.exp(-(np.arange(9) ** 2) / 8.0))
    else:
        assert weights[0].tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0]
    for tiny in (0.0, 1e-200):
        np.testing.assert_array_equal(all_weights(grid, tiny, neighbourhood), np.eye(9))


def test_winners_keep_their_digits_far_from_the_origin():
    rng = np.random.default_rng(0)
    X, units = rng.normal(size=(50, 2)), rng.normal(size=(9, 2))
    plain = winners(X, np.zeros(2), units)[0]
    far = 1e9 + X * 1.0
    moved = winners(far, np.full(2, 1e9), units)[0]
    assert (plain == moved).mean() > 0.95
    best, second = winners(X, np.zeros(2), units, two=True)
    order = np.argsort(((X[:, None] - units) ** 2).sum(axis=2), axis=1)
    np.testing.assert_array_equal(np.column_stack([best, second]), order[:, :2])


def test_the_u_matrix_is_the_mean_distance_of_touching_units(fitted):
    grid, units = fitted.grid_, fitted.cluster_centers_
    touching = matrix(grid, grid.touching)
    expected = [
        np.mean([np.linalg.norm(units[u] - units[v]) for v in np.flatnonzero(touching[u])])
        for u in range(20)
    ]
    assert fitted.u_matrix_.shape == (5, 4)
    np.testing.assert_allclose(fitted.u_matrix_.ravel(), expected)


def test_the_u_matrix_has_a_ridge_between_clusters():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) + np.array([20.0, 0.0])])
    heights = SelfOrganisingMap(10).fit(X).u_matrix_
    assert 2 <= heights.argmax() <= 7
    assert heights.max() > 3.0 * np.median(heights)


def test_errors_are_their_definitions(fitted, iris):
    X, units = iris.to_numpy(), fitted.cluster_centers_
    distances = np.linalg.norm(X[:, None] - units, axis=2)
    order = np.argsort(distances, axis=1)
    assert fitted.quantisation_error(iris) == pytest.approx(distances.min(axis=1).mean())
    assert fitted.quantisation_error_ == pytest.approx(fitted.quantisation_error(iris))
    torn = ~matrix(fitted.grid_, fitted.grid_.adjacent)[order[:, 0], order[:, 1]]
    assert fitted.topographic_error(iris) == pytest.approx(torn.mean())
    assert fitted.topographic_error_ == pytest.approx(torn.mean())
    np.testing.assert_array_equal(fitted.hits_.ravel(), np.bincount(order[:, 0], minlength=20))
    np.testing.assert_array_equal(fitted.dead_units_, np.flatnonzero(fitted.hits_.ravel() == 0))


def test_component_planes_are_the_columns_of_the_units(fitted, iris):
    plane = fitted.component_plane(iris.columns[2])
    np.testing.assert_array_equal(plane, fitted.component_plane(2))
    np.testing.assert_array_equal(plane.ravel(), fitted.cluster_centers_[:, 2])
    with pytest.raises(DataError, match=f"'petal'.*nearest: .*{iris.columns[2]}"):
        fitted.component_plane("petal")
    with pytest.raises(DataError, match="column=9; expected a name, or a number from 0 to 3"):
        fitted.component_plane(9)


def test_transform_gives_the_place_of_the_winner(fitted, iris):
    np.testing.assert_array_equal(
        fitted.transform(iris), fitted.grid_.positions[fitted.predict(iris)]
    )
    assert fitted.transform(iris).shape == (150, 2)


def test_rows_with_one_winner_come_apart_in_their_places(fitted, iris):
    distinct = iris.drop_duplicates()
    labels, places = fitted.predict(distinct), fitted.place(distinct)
    assert len(np.unique(places.round(9), axis=0)) > 0.6 * len(distinct)
    for unit in np.unique(labels):
        mine = places[labels == unit]
        assert len(mine) < 5 or len(np.unique(mine.round(9), axis=0)) > 2
        # No place is farther from its winner than the neighbours are.
        offsets = np.linalg.norm(mine - fitted.grid_.positions[unit], axis=1)
        assert offsets.max() <= np.sqrt(2.0) + 1e-9


def test_a_unit_is_placed_at_itself(fitted):
    table = pd.DataFrame(fitted.cluster_centers_, columns=fitted.feature_names_in_)
    np.testing.assert_allclose(fitted.place(table), fitted.grid_.positions, atol=1e-9)


def test_places_are_the_nearest_points_of_the_triangle():
    """The weights are those of a constrained least-squares problem."""
    rng = np.random.default_rng(1)
    grid = UnitGrid((2, 2), "hexagonal")
    units = grid.positions @ rng.normal(size=(2, 3)) + 0.1 * rng.normal(size=(4, 3))
    X = rng.normal(size=(30, 3)) + units.mean(axis=0)
    places = triangle_places(X, units, grid)
    adjacent = matrix(grid, grid.adjacent)
    for row, place in zip(X, places, strict=True):
        order = ((row - units) ** 2).sum(axis=1)
        first = order.argmin()
        order[~adjacent[first]] = np.inf
        second = order.argmin()
        order[~adjacent[second]] = np.inf
        corners = [first, second, order.argmin()]

        def error(shares, row=row, corners=corners):
            return ((shares @ units[corners] - row) ** 2).sum()

        best = minimize(
            error, np.full(3, 1 / 3), bounds=[(0, 1)] * 3, tol=1e-14,
            constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1.0},
        )  # fmt: skip
        np.testing.assert_allclose(best.x @ grid.positions[corners], place, atol=2e-4)


def test_places_on_a_line_lie_on_its_segments(iris):
    line = SelfOrganisingMap(8).fit(iris)
    places = line.place(iris)
    assert places.shape == (150, 1)
    assert places.min() >= 0.0
    assert places.max() <= 7.0
    assert (np.abs(places - line.transform(iris)) <= 1.0).all()
    assert (places % 1.0 > 0.0).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid_shape": (2, 2, 2)}, r"grid_shape=\(2, 2, 2\); expected a whole number"),
        ({"grid_shape": (0, 2)}, r"grid_shape=\(0, 2\)"),
        ({"grid_shape": (2.5, 2)}, r"grid_shape=\(2.5, 2\)"),
        ({"grid_shape": (3, 2), "lattice": "hexagonal", "periodic": True}, "even number of rows"),
        ({"last_radius": 3.0, "first_radius": 2.0}, "last_radius=3.0 is more than first_radius"),
    ],
)
def test_wrong_grids_are_named(options, message, iris):
    with pytest.raises(DataError, match=message):
        SelfOrganisingMap(**{"grid_shape": (3, 3)} | options).fit(iris)


def test_a_map_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError, match="SelfOrganisingMap instance is not fitted"):
        SelfOrganisingMap().transform([[0.0, 1.0]])
