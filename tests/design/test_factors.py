"""Factors, their codes, and levels that follow the scale of the data."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError, UnknownNameError
from verulam.design._factors import (
    Factor,
    checked_factors,
    coded_settings,
    decoded_columns,
    mean_neighbour_distance,
    normalised_levels,
    odd_levels,
)


def test_codes_and_back():
    for factor in (Factor("x", (3, 11, 5), "numeric"), Factor("x", (0.1, 10.0), "log")):
        codes = np.linspace(-1.5, 1.5, 7)
        assert_allclose(factor.coded(factor.decoded(codes)), codes, atol=1e-12)
        assert_allclose(factor.coded([factor.low, factor.high]), [-1, 1])
        assert factor.decoded([-1.0, 1.0]).tolist() == [factor.low, factor.high]
    assert Factor("x", (1e-3, 1e3), "log").decoded([0.0])[0] == pytest.approx(1.0)


def test_whole_numbers_stay_whole():
    values = Factor("k", (1, 10), "numeric", whole=True).decoded([-1, 0.05, 1])
    assert values.dtype == np.int64
    assert values.tolist() == [1, 6, 10]


def test_two_categories_have_codes():
    factor = Factor("weights", ("equal", "near"))
    assert factor.coded(["near", "equal"]).tolist() == [1.0, -1.0]
    with pytest.raises(ValueError, match="no level 'far'; it has 'equal', 'near'"):
        factor.coded(["far"])
    with pytest.raises(ValueError, match="nothing is between its levels"):
        factor.decoded([0.0])
    with pytest.raises(ValueError, match="categorical with 3 levels"):
        Factor("weights", "abc").coded(["a"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": ()}, "'x' has no levels"),
        ({"levels": ("a", "b", "a")}, "has a level twice"),
        ({"levels": (1, 1.0), "kind": "numeric"}, "has a level twice"),
        ({"levels": (1, "b"), "kind": "numeric"}, "is numeric, but has the level 'b'"),
        ({"levels": (1, True), "kind": "numeric"}, "has the level True"),
        ({"levels": (1, np.inf), "kind": "numeric"}, "has the level inf"),
        ({"levels": (0, 1), "kind": "log"}, "has the level 0, not above 0"),
    ],
)
def test_bad_levels(options, message):
    with pytest.raises(ValueError, match=message):
        Factor("x", **options)


def test_bad_kind_and_ranges():
    with pytest.raises(UnknownNameError, match="Nearest: numeric"):
        Factor("x", (1, 2), "numerical")
    with pytest.raises(ValueError, match="has only the level 3: no range"):
        Factor("x", (3,), "numeric").coded([3])
    with pytest.raises(ValueError, match="its values must be above 0"):
        Factor("x", (1, 2), "log").coded([-1])
    assert Factor("x", (1, True)).levels == (1, True), "categories of different types differ"


def test_factors_have_different_names():
    with pytest.raises(ValueError, match="'x' is there twice"):
        checked_factors([Factor("x", (1, 2)), Factor("x", (1, 2))])
    with pytest.raises(ValueError, match="at least one"):
        checked_factors([])


def test_tables_of_codes():
    factors = [Factor("x", (0, 4), "numeric"), Factor("y", (1.0, 100.0), "log")]
    codes = np.array([[-1.0, 0.0], [0.5, 1.0]])
    table = pd.DataFrame(decoded_columns(codes, factors), index=[7, 8])
    assert_allclose(table, [[0, 10], [3, 100]])
    assert_allclose(coded_settings(table, factors), codes, atol=1e-15)
    assert coded_settings(table, factors).index.tolist() == [7, 8]
    with pytest.raises(UnknownNameError, match="Unknown column of settings 'z'"):
        coded_settings(table, [Factor("z", (1, 2), "numeric")])


def test_mean_neighbour_distance_is_its_definition():
    points = np.random.default_rng(0).normal(size=(60, 4))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert mean_neighbour_distance(points) == pytest.approx(distances.min(axis=1).mean())


def test_levels_follow_the_unit_of_the_data():
    """Measured in millimetres instead of metres, data and levels grow alike."""
    points = np.random.default_rng(1).normal(size=(50, 3))
    metres = normalised_levels(mean_neighbour_distance(points))
    millimetres = normalised_levels(mean_neighbour_distance(points * 1000))
    assert_allclose(millimetres, np.array(metres) * 1000)
    assert_allclose(np.array(metres) / metres[2], [0.25, 0.5, 1, 2, 4])
    moved = normalised_levels(mean_neighbour_distance(points + 5.0))
    assert_allclose(moved, metres)
    assert normalised_levels(points) == metres


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[1.0]], "at least two rows"),
        ([1.0, 2.0], "at least two rows"),
        ([[1.0], [np.nan]], "missing or infinite"),
        ([[1.0], [1.0]], "every row has an equal row"),
    ],
)
def test_points_without_a_scale(points, message):
    with pytest.raises(DataError, match=message):
        mean_neighbour_distance(points)


def test_bad_scale():
    with pytest.raises(ValueError, match=r"scale=0\.0; expected a number above 0"):
        normalised_levels(0.0)


def test_odd_levels():
    assert odd_levels(10) == (1, 3, 5, 7, 9)
    assert odd_levels(1) == (1,)
    few = np.array(odd_levels(200, 6))
    assert len(few) == 6
    assert_array_equal(few % 2, 1)
    assert few[-1] == 199
    with pytest.raises(ValueError, match="largest=0"):
        odd_levels(0)
