"""A ring of units as a short tour through cities: the travelling salesman by a map."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError, Seed, generator
from verulam.local._competitive.inhibition import number_table
from verulam.local._maps.online_map import run_pass


@dataclass(frozen=True)
class Tour:
    """A closed tour.

    Attributes
    ----------
    order : ndarray of shape (n_cities,)
        The cities in the order of the tour, each once.
    length
        Sum of the distances between cities that follow one another, the way back included.
    ring : ndarray of shape (n_units, 2)
        Where the units of the ring ended.
    """

    order: np.ndarray
    length: float
    ring: np.ndarray


def tour_length(cities: np.ndarray, order: np.ndarray) -> float:
    """Return the length of the closed tour through cities in this order."""
    steps = cities[np.roll(order, -1)] - cities[order]
    return float(np.sqrt(np.square(steps).sum(axis=1)).sum())


def tour_by_map(
    cities: ArrayLike, *, units_per_city: int = 3, max_iter: int = 100, random_state: Seed = None
) -> Tour:
    """Return a short tour through cities, found by a ring of units that stretches over them.

    Parameters
    ----------
    cities
        Coordinates, one row for each city.
    units_per_city
        Units of the ring for each city.
    max_iter
        Passes over the cities, each in a new random order.
    random_state
        Seed of the orders.

    Notes
    -----
    A self-organising map on a line with joined ends begins as a small circle. As the radius of its
    neighbourhood falls, units come to lie on the cities, and the tour visits cities in the order
    of their units [angeniol1988]_. It is a heuristic: short, and seldom the shortest. See Alpaydin
    12.10.

    .. [angeniol1988] B. Angeniol, G. de La Croix Vaubois and J.-Y. Le Texier, "Self-organizing
       feature maps and the travelling salesman problem", Neural Networks 1, 289-293, 1988.

    Examples
    --------
    >>> from verulam.local import tour_by_map
    >>> square = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    >>> tour_by_map(square, random_state=0).length
    4.0
    """
    places = number_table(cities, "cities")
    if len(places) < 2:
        raise DataError("cities: expected at least two rows of finite coordinates; got one.")
    for name, value in (("units_per_city", units_per_city), ("max_iter", max_iter)):
        if not isinstance(value, int | np.integer) or value < 1:
            raise DataError(f"{name}={value!r}; expected a whole number from 1 on.")
    random = generator(random_state)
    middle = places.mean(axis=0)
    spread = float(np.sqrt(places.var(axis=0).mean())) or 1.0
    Z = np.ascontiguousarray((places - middle) / spread)
    n_units = int(units_per_city) * len(Z)
    units = np.zeros((Z.shape[1], n_units))
    angles = 2.0 * np.pi * np.arange(n_units) / n_units
    units[0] = 0.1 * np.cos(angles)
    if Z.shape[1] > 1:
        units[1] = 0.1 * np.sin(angles)
    for radius in np.geomspace(max(1.0, n_units / 8.0), 0.3, int(max_iter)):
        run_pass(
            Z, random.permutation(len(Z)), np.full(len(Z), 0.7), np.full(len(Z), radius), units,
            n_units, periodic=True,
        )  # fmt: skip
    order = _order_along(Z, units.T)
    return Tour(order, tour_length(places, order), middle + spread * units.T)


def _order_along(Z: np.ndarray, ring: np.ndarray) -> np.ndarray:
    """Return the rows in the order of their units; those that share one, along the ring."""
    winners = np.array([np.square(ring - row).sum(axis=1).argmin() for row in Z])
    direction = np.roll(ring, -1, axis=0) - np.roll(ring, 1, axis=0)
    along = np.einsum("nj,nj->n", Z - ring[winners], direction[winners])
    return np.lexsort([along, winners])
