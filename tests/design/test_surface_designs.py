"""Central composite and Box-Behnken designs."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.design._factorial import full_factorial, one_at_a_time
from verulam.design._factors import Factor
from verulam.design._fractional import fractional_factorial
from verulam.design._surface_designs import (
    box_behnken,
    box_behnken_blocks,
    central_composite,
    star_distance,
)


def unit(count):
    return [Factor(f"f{place}", (-1, 1), "numeric") for place in range(count)]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_stars_stand_at_the_fourth_root_of_the_corners(count):
    reach = (2**count) ** 0.25
    assert star_distance(count) == pytest.approx(reach)
    table = central_composite(unit(count), centre_points=3).to_numpy()
    assert len(table) == 2**count + 2 * count + 3
    assert_array_equal(np.abs(table[: 2**count]), 1)
    stars = table[2**count : -3]
    assert_allclose(np.abs(stars).sum(axis=1), reach)
    assert ((stars != 0).sum(axis=1) == 1).all()
    assert_array_equal(table[-3:], 0)


@pytest.mark.parametrize(
    ("design", "others"), [(central_composite, 14), (box_behnken, 12)], ids=["composite", "behnken"]
)
def test_the_centre_is_run_several_times(design, others):
    """Without being asked, so that equal runs tell the pure error."""
    table = design(unit(3))
    assert len(table) == others + 4
    assert (table == 0).all(axis=1).sum() == 4


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_circumscribed_design_is_rotatable(count):
    """Fourth moments are three times the mixed ones, so that all directions are alike."""
    codes = central_composite(unit(count)).to_numpy()
    fourth = (codes**4).sum(axis=0)
    for first, second in combinations(range(count), 2):
        mixed = (codes[:, first] ** 2 * codes[:, second] ** 2).sum()
        assert fourth[first] == pytest.approx(3 * mixed)
        assert codes[:, first] @ codes[:, second] == pytest.approx(0)


def test_inscribed_and_faced_designs_stay_within_the_levels():
    factors = [Factor("x", (2.0, 6.0), "numeric"), Factor("C", (0.01, 100.0), "log")]
    inscribed = central_composite(factors, "inscribed")
    faced = central_composite(factors, "faced")
    for table in (inscribed, faced):
        assert table["x"].min() == 2.0
        assert table["x"].max() == 6.0
        assert table["C"].min() == 0.01
        assert table["C"].max() == 100.0
    assert faced["x"].nunique() == 3
    assert inscribed["x"].nunique() == 5
    assert inscribed["x"].iloc[0] == pytest.approx(4 - 2 / np.sqrt(2))
    assert faced["C"].iloc[-1] == pytest.approx(1.0), "the centre of ratios"


@pytest.mark.parametrize(("count", "runs"), [(3, 12), (4, 24), (5, 40), (6, 48), (7, 56)])
def test_box_behnken_counts(count, runs):
    table = box_behnken(unit(count), centre_points=3)
    codes = table.to_numpy()
    assert len(table) == runs + 3
    assert len(np.unique(codes, axis=0)) == runs + 1
    assert set(np.unique(codes)) == {-1, 0, 1}
    assert (np.abs(codes).sum(axis=1) < count).all(), "no corner is run"
    assert_array_equal(codes.T @ codes, (codes**2).sum(axis=0)[0] * np.eye(count))


def test_seven_factors_meet_in_pairs_equally_often():
    pairs = [pair for block in box_behnken_blocks(7) for pair in combinations(sorted(block), 2)]
    assert sorted(pairs) == list(combinations(range(7), 2))


def test_bad_designs():
    with pytest.raises(ValueError, match="3 to 7 factors, not 2"):
        box_behnken(unit(2))
    with pytest.raises(ValueError, match="kind='cubic'; expected 'circumscribed'"):
        central_composite(unit(2), "cubic")
    with pytest.raises(ValueError, match="centre_points=-1"):
        central_composite(unit(2), centre_points=-1)
    with pytest.raises(ValueError, match="'c' is categorical; a surface takes"):
        central_composite([Factor("c", ("a", "b"))])


def test_stars_of_a_count_stay_within_its_levels_unless_asked_for():
    factors = [Factor("C", (1, 10), "numeric", whole=True), Factor("g", (0.01, 1.0), "log")]
    assert central_composite(factors)["C"].between(1, 10).all()
    assert central_composite(factors, "circumscribed")["C"].min() == -1
    assert central_composite(factors[1:] * 1 + [Factor("h", (0, 1), "numeric")])["h"].min() < 0


TWO_LEVELS = [Factor(name, (1, 2), "numeric") for name in "abcdefg"]


def test_numbers_of_settings():
    mixed = [Factor("a", (1, 2, 3)), Factor("b", (1, 2)), Factor("c", (1, 2, 3, 4))]
    assert len(full_factorial(mixed)) == 3 * 2 * 4
    first = {factor.name: factor.levels[0] for factor in mixed}
    assert len(one_at_a_time(mixed, first)) == 1 + 2 + 1 + 3
    assert len(fractional_factorial(TWO_LEVELS[:5], ["D=AB", "E=AC"])) == 2 ** (5 - 2)
    blocks = {3: comb(3, 2) * 4, 4: comb(4, 2) * 4, 5: comb(5, 2) * 4, 6: 6 * 8, 7: 7 * 8}
    for count, corners in blocks.items():
        factors = TWO_LEVELS[:count]
        assert len(central_composite(factors, centre_points=4)) == 2**count + 2 * count + 4
        assert len(box_behnken(factors, 2)) == corners + 2


def test_five_levels_of_two_factors():
    """Two factors at five levels: 9 runs along the axes, 25 together."""
    factors = [Factor(name, tuple(range(5)), "numeric") for name in "xy"]
    assert len(one_at_a_time(factors, {"x": 0, "y": 0})) == 9
    assert len(full_factorial(factors)) == 25
