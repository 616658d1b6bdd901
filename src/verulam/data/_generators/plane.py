"""Classes in the plane that are hard in a known way."""

import numpy as np
from numpy.typing import ArrayLike

from verulam.data._dataset import Dataset
from verulam.data._generators.generator_helpers import Seed, checked_count, generator, plane_classes


def two_spirals(
    n: int = 200, *, turns: float = 1.5, noise: float = 0.05, random_state: Seed = None
) -> Dataset:
    """Return two interleaved spirals, one per class.

    Parameters
    ----------
    n
        Number of rows; classes differ by one at most.
    turns
        How often an arm goes round the centre.
    noise
        Standard deviation of the noise; arms are ``1 / (2 * turns)`` apart.
    random_state
        Seed.

    Examples
    --------
    >>> from verulam.data import two_spirals
    >>> two_spirals(6, random_state=0)
    Dataset 'two_spirals': 6 rows, classification of 'class' (C1, C2)
      numeric: x1, x2
    """
    return _spirals(2, n, turns, noise, random_state, "two_spirals")


def four_spirals(
    n: int = 1000, *, turns: float = 0.75, noise: float = 0.03, random_state: Seed = None
) -> Dataset:
    """Return four interleaved spirals whose arms belong to two classes in turn.

    Parameters
    ----------
    n
        Number of rows.
    turns
        How often an arm goes round the centre.
    noise
        Standard deviation of the noise; arms are ``1 / (4 * turns)`` apart.
    random_state
        Seed.
    """
    return _spirals(4, n, turns, noise, random_state, "four_spirals")


def xor(n: int = 200, *, noise: float = 0.3, random_state: Seed = None) -> Dataset:
    """Return four clouds around (±1, ±1); the class is the product of the two signs.

    Parameters
    ----------
    n
        Number of rows.
    noise
        Standard deviation of each cloud; 0 gives the four corners themselves.
    random_state
        Seed.
    """
    random = generator(random_state)
    corner = np.arange(checked_count(n)) % 4
    signs = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    return plane_classes(signs[corner], corner % 2, noise, random, "xor")


def checkerboard(
    n: int = 400, *, cells: int = 4, noise: float = 0.0, random_state: Seed = None
) -> Dataset:
    """Return points spread evenly over a board whose cells belong to two classes in turn.

    Parameters
    ----------
    n
        Number of rows.
    cells
        Cells along each side; each is 1 wide.
    noise
        Standard deviation of noise added to the inputs after the class is known.
    random_state
        Seed.
    """
    random = generator(random_state)
    points = random.uniform(0, checked_count(cells, "cells"), size=(checked_count(n), 2))
    classes = np.floor(points).astype(int).sum(axis=1) % 2
    return plane_classes(points, classes, noise, random, "checkerboard")


def blobs(
    n: int = 300,
    *,
    centres: int | ArrayLike = 3,
    n_features: int = 2,
    deviation: float = 1.0,
    random_state: Seed = None,
) -> Dataset:
    """Return round clouds of equal size, one per class.

    Parameters
    ----------
    n
        Number of rows; classes differ by one at most.
    centres
        The centres, one row each, or how many to draw evenly from the cube from -10 to 10.
    n_features
        Number of inputs where the centres are drawn.
    deviation
        Standard deviation of each cloud.
    random_state
        Seed.
    """
    random = generator(random_state)
    if isinstance(centres, int | np.integer):
        size = (checked_count(int(centres), "centres"), n_features)
        places = random.uniform(-10, 10, size=size)
    else:
        places = np.atleast_2d(np.asarray(centres, dtype=float))
    classes = np.arange(checked_count(n)) % len(places)
    return plane_classes(places[classes], classes, deviation, random, "blobs")


def _spirals(
    arms: int, n: int, turns: float, noise: float, random_state: Seed, name: str
) -> Dataset:
    random = generator(random_state)
    arm = np.arange(checked_count(n)) % arms
    # The root spreads points evenly along the arm, which is longer further out.
    radius = np.sqrt(random.uniform(0, 1, size=n))
    angle = 2 * np.pi * (turns * radius + arm / arms)
    points = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return plane_classes(points, arm % 2, noise, random, name)
