"""The travelling salesman by a ring of units: a permutation, near the shortest tour."""

from itertools import permutations

import numpy as np
import pytest

from verulam.base import DataError
from verulam.local import Tour, tour_by_map
from verulam.local._maps.ring import tour_length


def test_a_circle_is_found():
    angles = np.random.default_rng(0).permutation(24) * 2.0 * np.pi / 24
    cities = 100.0 + 50.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    tour = tour_by_map(cities, random_state=0)
    assert isinstance(tour, Tour)
    assert sorted(tour.order) == list(range(24))
    assert tour.length == pytest.approx(24 * 100.0 * np.sin(np.pi / 24))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_small_tours_are_near_the_shortest(seed):
    cities = np.random.default_rng(seed).uniform(size=(8, 2))
    best = min(tour_length(cities, np.array((0, *rest))) for rest in permutations(range(1, 8)))
    tour = tour_by_map(cities, random_state=0)
    assert sorted(tour.order) == list(range(8))
    assert best - 1e-12 <= tour.length <= 1.06 * best
    assert tour.length == pytest.approx(tour_length(cities, tour.order))


def test_a_larger_tour_is_not_far_from_the_expected_length():
    cities = np.random.default_rng(0).uniform(size=(150, 2))
    tour = tour_by_map(cities, random_state=0)
    assert sorted(tour.order) == list(range(150))
    # Shortest tours of many random cities have length near 0.7124 sqrt(n area), more for few.
    assert tour.length < 1.25 * 0.7124 * np.sqrt(150) * (1 + 0.33 / np.log(150))
    assert len(tour.ring) == 450


def test_equal_cities_and_a_line():
    assert tour_by_map([[1.0, 1.0]] * 4).length == 0.0
    assert tour_by_map([[0.0], [3.0], [1.0]], random_state=0).length == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cities": [[1.0, 2.0]]}, "cities: expected at least two rows"),
        ({"cities": [[1.0], [np.nan]]}, "cities: expected a table of finite numbers"),
        ({"cities": "Utopia"}, "cities: expected a table of finite numbers"),
        ({"cities": [[1.0], [2.0]], "max_iter": 0}, "max_iter=0; expected a whole number"),
        ({"cities": [[1.0], [2.0]], "units_per_city": 1.5}, "units_per_city=1.5"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(DataError, match=message):
        tour_by_map(**options)
