"""Generators of fractions: as small as the tables say, and of the resolution asked for."""

import pytest

from verulam.base import DataError
from verulam.experiment import Factor, alias_structure, find_generators, fractional_factorial

#: Runs of the smallest two-level fraction by factors and resolution, as tables of designs have it.
SMALLEST = {
    (3, 3): 4,
    (4, 4): 8,
    (5, 3): 8,
    (5, 5): 16,
    (6, 3): 8,
    (6, 4): 16,
    (7, 3): 8,
    (7, 4): 16,
    (7, 7): 64,
    (8, 4): 16,
    (8, 5): 64,
    (9, 4): 32,
    (9, 6): 128,
    (10, 5): 128,
    (11, 5): 128,
}


@pytest.mark.parametrize(("asked", "runs"), SMALLEST.items())
def test_the_smallest_fraction_of_a_resolution(asked, runs):
    count, resolution = asked
    factors = [Factor(f"x{place}", (-1, 1), "numeric") for place in range(count)]
    generators = find_generators(count, resolution)
    assert len(fractional_factorial(factors, generators)) == runs
    assert alias_structure(factors, generators).resolution >= resolution


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ((5, 2), "resolution: 2; expected a whole number of at least 3"),
        ((5, True), "resolution: True"),
        ((3, 4), "resolution: 4 needs 4 factors or more, and there are 3"),
        ((12, 4), "12 factors are too many to search; give the generators"),
    ],
)
def test_what_cannot_be_had(asked, words):
    with pytest.raises(DataError, match=words):
        find_generators(*asked)
