"""Classes in the plane: where each class lies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.data import blobs, checkerboard, four_spirals, two_spirals, xor


def codes(data):
    return data.target_values.cat.codes.to_numpy()


@pytest.mark.parametrize(
    ("make", "arms", "turns"), [(two_spirals, 2, 1.5), (four_spirals, 4, 0.75)]
)
def test_points_lie_on_their_arms(make, arms, turns):
    data = make(400, turns=turns, noise=0, random_state=0)
    x, y = data.inputs.to_numpy().T
    radius = np.hypot(x, y)
    # Unwinding the spiral leaves the angle at which its arm began.
    start = (np.arctan2(y, x) / (2 * np.pi) - turns * radius) % 1 * arms
    assert_allclose(np.minimum(start % 1, 1 - start % 1), 0, atol=1e-9)
    assert_array_equal(np.round(start).astype(int) % 2, codes(data))
    assert radius.max() <= 1
    assert abs(codes(data).mean() - 0.5) < 1e-12


def test_four_spirals_have_the_size_of_the_text():
    assert four_spirals(random_state=0).n_rows == 1000


def test_xor_is_the_product_of_signs():
    data = xor(40, noise=0, random_state=0)
    x, y = data.inputs.to_numpy().T
    assert_array_equal(codes(data), x * y < 0)
    assert len(data.inputs.drop_duplicates()) == 4
    noisy = xor(4000, noise=0.5, random_state=0).inputs.to_numpy()
    assert_allclose(np.abs(noisy.mean(axis=0)), 0, atol=0.05)
    assert_allclose(noisy.var(axis=0), 1.25, atol=0.05)


def test_checkerboard_follows_its_cells():
    data = checkerboard(500, cells=3, random_state=0)
    points = data.inputs.to_numpy()
    assert points.min() >= 0
    assert points.max() <= 3
    assert_array_equal(codes(data), np.floor(points).astype(int).sum(axis=1) % 2)


def test_blobs_lie_round_their_centres():
    centres = np.array([[0.0, 0.0, 0.0], [10.0, 0.0, 5.0]])
    data = blobs(4000, centres=centres, deviation=2.0, random_state=0)
    groups = data.inputs.groupby(codes(data))
    assert_allclose(groups.mean(), centres, atol=0.2)
    assert_allclose(groups.std(), 2.0, atol=0.1)
    assert groups.size().tolist() == [2000, 2000]


def test_blobs_draw_their_centres():
    data = blobs(50, centres=5, n_features=4, random_state=0)
    assert len(data.classes) == 5
    assert len(data.input_names) == 4
    with pytest.raises(ValueError, match="centres=0"):
        blobs(centres=0)
