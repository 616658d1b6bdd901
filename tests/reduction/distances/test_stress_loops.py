"""The compiled loops against plain NumPy."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from verulam.reduction._distances.stress_loops import curvilinear_pass, guttman_product


def test_guttman_product_is_the_matrix_product():
    random = np.random.default_rng(0)
    targets = cdist(*[random.normal(size=(11, 4))] * 2)
    places = random.normal(size=(11, 3))
    for exponent in (0, 1, 2):
        weights = np.where(targets > 0, np.maximum(targets, 1e-300), 1.0) ** -float(exponent)
        lengths = cdist(places, places)
        with np.errstate(invalid="ignore"):
            matrix = np.where(lengths > 0, -weights * targets / lengths, 0.0)
        np.fill_diagonal(matrix, 0.0)
        np.fill_diagonal(matrix, -matrix.sum(axis=1))
        columns, product = np.ascontiguousarray(places.T), np.empty((3, 11))
        value = guttman_product(targets, exponent, 1e-9, columns, np.empty(11), product)
        assert_allclose(product.T, matrix @ places)
        upper = np.triu_indices(11, 1)
        assert_allclose(value, (weights * (lengths - targets) ** 2)[upper].sum())


def test_a_turn_of_curvilinear_components_moves_along_the_lines():
    random = np.random.default_rng(0)
    targets = cdist(*[random.normal(size=(6, 4))] * 2)
    start = random.normal(size=(6, 2))
    for smooth in (False, True):
        moved = start.copy()
        curvilinear_pass(targets, moved, np.array([2]), np.array([0.4]), np.array([1.5]), smooth)
        steps = start - start[2]
        lengths = np.linalg.norm(steps, axis=1)
        shares = np.exp(-lengths / 1.5) if smooth else (lengths <= 1.5).astype(float)
        factor = 0.4 * shares * (targets[2] - lengths) / np.where(lengths > 0, lengths, 1.0)
        assert_allclose(moved, start + factor[:, None] * steps)
        assert_allclose(moved[2], start[2])
