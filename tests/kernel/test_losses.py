"""Losses, pointwise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import hinge_loss as mean_hinge

from verulam.kernel import MARGIN_LOSSES, hinge_loss, insensitive_loss

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
