"""Run counts agree with the designs they predict."""

import pytest

from verulam.base import UnknownNameError
from verulam.experiment._design.factorial import full_factorial, one_at_a_time
from verulam.experiment._design.factors import Factor
from verulam.experiment._design.fractional import fractional_factorial
from verulam.experiment._design.sizes import run_count
from verulam.experiment._design.surface_designs import box_behnken, central_composite

TWO_LEVELS = [Factor(name, (1, 2), "numeric") for name in "abcdefg"]


def test_counts_are_those_of_the_tables():
    mixed = [Factor("a", (1, 2, 3)), Factor("b", (1, 2)), Factor("c", (1, 2, 3, 4))]
    assert run_count("full factorial", mixed) == len(full_factorial(mixed)) == 24
    at_first = {factor.name: factor.levels[0] for factor in mixed}
    assert run_count("one factor at a time", mixed) == len(one_at_a_time(mixed, at_first)) == 7
    five = TWO_LEVELS[:5]
    fraction = fractional_factorial(five, ["D=AB", "E=AC"])
    assert run_count("fractional factorial", five, n_generators=2) == len(fraction) == 8
    for count in range(3, 8):
        some = TWO_LEVELS[:count]
        composite = central_composite(some, centre_points=4)
        assert run_count("central composite", some, centre_points=4) == len(composite)
        assert run_count("box-behnken", some, centre_points=2) == len(box_behnken(some, 2))


def test_replicates_multiply():
    assert run_count("full factorial", TWO_LEVELS[:3], replicates=10) == 80


def test_five_levels_of_two_factors():
    """Two factors at five levels: 9 runs along the axes, 25 together."""
    factors = [Factor(name, tuple(range(5)), "numeric") for name in "xy"]
    assert run_count("one factor at a time", factors) == 9
    assert run_count("full factorial", factors) == 25


def test_unknown_design():
    with pytest.raises(UnknownNameError, match="Nearest: full factorial"):
        run_count("factorial", TWO_LEVELS)
