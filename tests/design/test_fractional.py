"""Fractions of two-level factorials: orthogonality, and alias tables known from the books."""

from itertools import combinations

import numpy as np
import pytest

from verulam.base import DataError
from verulam.design import Factor, alias_structure, find_generators, fractional_factorial
from verulam.design._factors import coded_settings, two_level_codes
from verulam.design._fractional import LETTERS


def factors(count):
    return [Factor(f"factor {letter}", (-1, 1), "numeric") for letter in LETTERS[:count]]


KNOWN = [
    (3, ["C=AB"], 3, {"ABC"}),
    (4, ["D=ABC"], 4, {"ABCD"}),
    (5, ["E=ABCD"], 5, {"ABCDE"}),
    (5, ["D=AB", "E=AC"], 3, {"ABD", "ACE", "BCDE"}),
    (6, ["E=ABC", "F=BCD"], 4, {"ABCE", "BCDF", "ADEF"}),
    (6, ["D=AB", "E=AC", "F=BC"], 3, {"ABD", "ACE", "BCF", "BCDE", "ACDF", "ABEF", "DEF"}),
]


@pytest.mark.parametrize(("count", "generators", "resolution", "words"), KNOWN)
def test_defining_relations_and_resolutions(count, generators, resolution, words):
    structure = alias_structure(factors(count), generators)
    assert set(structure.defining_relation) == words
    assert structure.resolution == resolution


@pytest.mark.parametrize(("count", "generators", "resolution", "words"), KNOWN)
def test_columns_are_balanced_and_orthogonal(count, generators, resolution, words):
    table = fractional_factorial(factors(count), generators)
    codes = table.to_numpy()
    assert len(table) == 2 ** (count - len(generators)) == len(table.drop_duplicates())
    np.testing.assert_array_equal(codes.T @ codes, len(codes) * np.eye(count))
    np.testing.assert_array_equal(codes.sum(axis=0), 0)
    for word in words:
        columns = [LETTERS.index(letter) for letter in word]
        assert (codes[:, columns].prod(axis=1) == 1).all(), f"{word} is constant"


def test_aliases_of_half_of_four_factors():
    aliases = alias_structure(factors(4), ["D=ABC"]).aliases
    assert aliases["aliases"].to_dict() == {
        "A": "BCD",
        "B": "ACD",
        "C": "ABD",
        "D": "ABC",
        "AB": "CD",
        "AC": "BD",
        "AD": "BC",
        "BC": "AD",
        "BD": "AC",
        "CD": "AB",
    }
    assert aliases.loc["AD", "factors"] == "factor A x factor D"


def test_aliases_of_a_quarter_of_five_factors():
    aliases = alias_structure(factors(5), ["D=AB", "E=AC"]).aliases["aliases"]
    assert aliases["A"] == "BD, CE, ABCDE"
    assert aliases["B"] == "AD, CDE, ABCE"
    assert aliases["C"] == "AE, BDE, ABCD"
    assert aliases["BC"] == "DE, ABE, ACD"
    assert aliases["BE"] == "CD, ABC, ADE"


@pytest.mark.parametrize("generators", [["D=ABC"], ["D=-ABC"], ["D=AB"]])
def test_aliased_columns_are_equal_up_to_their_sign(generators):
    """Two effects are aliased if and only if their columns agree in every run."""
    codes = fractional_factorial(factors(4), generators).to_numpy()
    listed = alias_structure(factors(4), generators).aliases["aliases"].str.split(", ")
    for effect, aliases in listed.items():
        column = codes[:, [LETTERS.index(letter) for letter in effect]].prod(axis=1)
        for order in (1, 2, 3):
            for chosen in combinations("ABCD", order):
                name = "".join(chosen)
                other = codes[:, [LETTERS.index(letter) for letter in chosen]].prod(axis=1)
                if name != effect:
                    assert (column == other).all() == (name in aliases)
                    assert (column == -other).all() == (f"-{name}" in aliases)


def test_levels_are_used_as_they_are():
    some = [
        Factor("k", (1, 15), "numeric"),
        Factor("C", (10.0, 0.1), "log"),
        Factor("weights", ("equal", "near")),
    ]
    table = fractional_factorial(some, ["C = A B"])
    assert table.to_dict("list") == {
        "k": [1, 1, 15, 15],
        "C": [0.1, 10.0, 0.1, 10.0],
        "weights": ["near", "equal", "equal", "near"],
    }
    codes = coded_settings(table, some).to_numpy()
    np.testing.assert_allclose(codes.T @ codes, 4 * np.eye(3))


def test_no_generator_is_a_full_factorial():
    assert alias_structure(factors(3), []).defining_relation == ()
    assert len(fractional_factorial(factors(3), [])) == 8


def test_corners():
    assert two_level_codes(2).tolist() == [[-1, -1], [-1, 1], [1, -1], [1, 1]]


@pytest.mark.parametrize(
    ("count", "generators", "message"),
    [
        (4, ["D:ABC"], "'D:ABC'; expected a form such as 'D=ABC'"),
        (4, ["E=ABC"], "has the letter E, but the factors are ABCD"),
        (4, ["D=AAB"], "or a letter twice"),
        (5, ["D=AB", "D=AC"], "gives D twice"),
        (5, ["D=AB", "E=AD"], "E is made of D, which is itself generated"),
        (5, ["D=AB", "E=AB"], "DE would be constant"),
        (4, ["D=A"], "AD would be constant"),
        (30, ["D=ABC"], "30 of them; there are letters for 25"),
    ],
)
def test_bad_generators(count, generators, message):
    some = [Factor(str(number), (-1, 1), "numeric") for number in range(count)]
    with pytest.raises(ValueError, match=message):
        fractional_factorial(some, generators)


def test_three_levels_are_refused():
    with pytest.raises(ValueError, match="'x' has 3 levels; a two-level design takes two"):
        fractional_factorial([Factor("x", (1, 2, 3))], [])


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
