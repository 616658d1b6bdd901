"""Many dimensions: volumes, shells, empty space, and distances that become alike."""

import numpy as np
import pytest
from scipy.integrate import quad

from verulam.base import DataError
from verulam.reduction import (
    ball_volume,
    cube_share,
    distance_concentration,
    gaussian_share,
    shell_share,
)


def test_volumes_of_balls():
    assert ball_volume(1) == pytest.approx(2)
    assert ball_volume(2, 3.0) == pytest.approx(9 * np.pi)
    assert ball_volume(3) == pytest.approx(4 / 3 * np.pi)
    assert ball_volume(4) == pytest.approx(np.pi**2 / 2)
    # Slices of a ball are balls: V_d = V_{d-1} times the integral of their radii.
    for d in (5, 9):
        slices, _ = quad(lambda x, d=d: (1 - x * x) ** ((d - 1) / 2), -1, 1)
        assert ball_volume(d) == pytest.approx(ball_volume(d - 1) * slices)
    volumes = [ball_volume(d) for d in range(1, 30)]
    assert int(np.argmax(volumes)) + 1 == 5
    assert ball_volume(1000) < 1e-300 or ball_volume(1000) == 0.0
    assert ball_volume(7, 0.0) == 0.0


def test_nearly_all_of_a_cube_is_in_its_corners():
    assert cube_share(2) == pytest.approx(np.pi / 4)
    points = np.random.default_rng(0).random((200_000, 4)) - 0.5
    inside = (np.linalg.norm(points, axis=1) < 0.5).mean()
    assert cube_share(4) == pytest.approx(inside, abs=0.005)
    assert cube_share(20) < 1e-7


def test_nearly_all_of_a_ball_is_in_its_shell():
    for d in (1, 2, 17):
        expected = 1 - ball_volume(d, 0.9) / ball_volume(d)
        assert shell_share(d, 0.1) == pytest.approx(expected)
    assert shell_share(3, 0.0) == 0.0
    assert shell_share(3, 1.0) == 1.0
    assert shell_share(200, 0.05) > 0.9999


def test_space_near_the_mean_is_empty():
    points = np.random.default_rng(0).normal(size=(100_000, 6))
    inside = (np.linalg.norm(points, axis=1) < 2.0).mean()
    assert gaussian_share(6, 2.0) == pytest.approx(inside, abs=0.005)
    assert gaussian_share(1, 1.959964) == pytest.approx(0.95)
    assert gaussian_share(100, 5.0) < 1e-13


def test_lengths_distances_and_angles_concentrate():
    table = distance_concentration([1, 4, 25, 400], n_samples=400)
    assert table["contrast"].is_monotonic_decreasing
    assert table["relative_spread"].is_monotonic_decreasing
    for d in (25, 400):
        assert table.loc[d, "mean_length"] == pytest.approx(np.sqrt(d - 0.5), rel=0.02)
        assert table.loc[d, "length_spread"] == pytest.approx(np.sqrt(0.5), rel=0.15)
        assert np.radians(table.loc[d, "angle_spread"]) == pytest.approx(1 / np.sqrt(d), rel=0.1)


def test_any_distribution_can_be_looked_at():
    table = distance_concentration(
        [2, 50], n_samples=300, sampler=lambda n, d, random: random.random((n, d))
    )
    # Uniform coordinates have mean square 1/3.
    assert table.loc[50, "mean_length"] == pytest.approx(np.sqrt(50 / 3), rel=0.02)
    again = distance_concentration(
        [2, 50], n_samples=300, sampler=lambda n, d, random: random.random((n, d))
    )
    assert again.equals(table)


def test_bad_input():
    for call in (lambda: ball_volume(0), lambda: shell_share(2.5, 0.1), lambda: cube_share(-1)):
        with pytest.raises(DataError, match="n_dimensions"):
            call()
    with pytest.raises(DataError, match="thickness=2"):
        shell_share(2, 2)
    with pytest.raises(DataError, match="radius=-1"):
        ball_volume(2, -1)
    with pytest.raises(DataError, match="radius=-1"):
        gaussian_share(2, -1)
    with pytest.raises(DataError, match="at least 3 points"):
        distance_concentration([2], n_samples=2)
    with pytest.raises(DataError, match=r"sampler returned shape \(3, 1\)"):
        distance_concentration([2], n_samples=3, sampler=lambda n, d, random: np.ones((n, 1)))
