"""Losses, pointwise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import hinge_loss as mean_hinge

from verulam.kernel import (
    MARGIN_LOSSES,
    MARGIN_SUBGRADIENTS,
    hinge_loss,
    insensitive_loss,
    insensitive_subgradient,
)

MARGINS = np.array([2.0, 1.0, 0.5, 0.0, -1.0])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("zero-one", [0, 0, 0, 1, 1]),
        ("hinge", [0, 0, 0.5, 1, 2]),
        ("squared hinge", [0, 0, 0.25, 1, 4]),
        ("squared", [1, 0, 0.25, 1, 4]),
        ("cross-entropy", np.log(1 + np.exp(-MARGINS))),
    ],
)
def test_values(name, values):
    assert_allclose(MARGIN_LOSSES[name](MARGINS), values)


def test_means_and_tubes():
    signs = np.array([1, -1, 1, -1, 1])
    assert hinge_loss(MARGINS).mean() == pytest.approx(mean_hinge(signs, signs * MARGINS))
    assert_allclose(insensitive_loss([-1.0, 0.2, 0.5], 0.5), [0.5, 0.0, 0.0])


def test_squared_excess_over_the_tube():
    assert_allclose(insensitive_loss([-1.0, 0.2, 2.5], 0.5, squared=True), [0.25, 0.0, 4.0])
    residuals = np.linspace(-3, 3, 13)
    assert_allclose(insensitive_loss(residuals, 0.0, squared=True), residuals**2)
    assert_allclose(insensitive_loss(residuals, 0.0), np.abs(residuals))


def assert_supports(loss, slopes, points):
    """Check that the line of each slope touches the loss and lies below it everywhere."""
    values = loss(points)
    lines = values + slopes * (points[:, None] - points)
    assert (loss(points)[:, None] >= lines - 1e-12).all()


@pytest.mark.parametrize("name", MARGIN_SUBGRADIENTS)
def test_subgradients_lie_below_and_are_the_slopes(name):
    points = np.linspace(-3, 3, 25)
    loss, slope = MARGIN_LOSSES[name], MARGIN_SUBGRADIENTS[name]
    assert_supports(loss, slope(points), points)
    smooth, step = points + 0.01, 1e-6
    differences = (loss(smooth + step) - loss(smooth - step)) / (2 * step)
    assert_allclose(slope(smooth), differences, atol=1e-6)
    assert set(MARGIN_SUBGRADIENTS) == set(MARGIN_LOSSES) - {"zero-one"}


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_subgradients_of_the_tube(epsilon, squared):
    points = np.linspace(-3, 3, 25)

    def loss(residuals):
        return insensitive_loss(residuals, epsilon, squared=squared)

    slopes = insensitive_subgradient(points, epsilon, squared=squared)
    assert_supports(loss, slopes, points)
    smooth, step = points + 0.01, 1e-6
    differences = (loss(smooth + step) - loss(smooth - step)) / (2 * step)
    subgradient = insensitive_subgradient(smooth, epsilon, squared=squared)
    assert_allclose(subgradient, differences, atol=1e-6)
