"""Bounded supports: images of space, and points folded back."""

import numpy as np
from numpy.testing import assert_allclose

from verulam.nonparametric._windows.bounded_support import check_support, fold, images


def test_images_of_one_wall_and_of_two():
    one = list(images(np.array([[0.0], [np.inf]]), np.array([5.0])))
    assert [(image.signs[0], image.shifts[0]) for image in one] == [(1, 0), (-1, 0)]
    two = list(images(np.array([[0.0], [1.0]]), np.array([1.5])))
    assert sorted(float(image(np.array([[0.25]]))[0, 0]) for image in two) == [
        -2.25,
        -1.75,
        -0.25,
        0.25,
        1.75,
        2.25,
    ]


def test_none_is_no_bound():
    bounds = check_support([(None, 1.0), (0.0, None)], np.array([[0.5, 0.5]]))
    assert_allclose(bounds, [[-np.inf, 0.0], [1.0, np.inf]])
    assert check_support(None, np.zeros((1, 1))) is None


def test_folding():
    bounds = np.array([[0.0, -np.inf, 0.0], [np.inf, 1.0, 1.0]])
    folded = fold(np.array([[-0.5, 1.5, 3.25], [0.5, -2.0, -0.25]]), bounds)
    assert_allclose(folded, [[0.5, 0.5, 0.75], [0.5, -2.0, 0.25]])
