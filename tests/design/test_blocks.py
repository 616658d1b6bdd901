"""Factorials in blocks: what they give up, and that the rest is free of the blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.design import (
    Factor,
    block_structure,
    blocked_factorial,
    find_block_contrasts,
    two_level_effects,
)


def factors(count):
    return [Factor(f"f{place}", (-1, 1), "numeric") for place in range(count)]


def test_one_contrast_halves_the_settings_by_its_sign():
    table = blocked_factorial(factors(3), ["ABC"])
    assert table["block"].tolist() == [1] * 4 + [2] * 4
    signs = table[["f0", "f1", "f2"]].prod(axis=1)
    assert signs.tolist() == [-1] * 4 + [1] * 4
    assert table.attrs["confounded"] == ("ABC",)
    assert "differences between blocks" in table.attrs["caveat"]


@pytest.mark.parametrize(
    ("count", "contrasts", "generators"),
    [(4, ["ABC", "ACD"], []), (5, ["ABE", "CDE"], []), (4, ["AB"], ["D=ABC"]), (2, ["AB"], [])],
)
def test_differences_of_blocks_move_the_lost_effects_alone(count, contrasts, generators):
    table = blocked_factorial(factors(count), contrasts, generators)
    structure = block_structure(factors(count), contrasts, generators)
    assert table["block"].value_counts().tolist() == [len(table) // structure.n_blocks] * (
        structure.n_blocks
    )
    shifts = np.random.default_rng(0).normal(size=structure.n_blocks)
    effects = two_level_effects(table.drop(columns="block"), shifts[table["block"] - 1])
    moved = {name for name, effect in effects.items() if abs(effect) > 1e-12}
    assert moved == set(structure.lost["factors"])
    assert len(moved) == structure.n_blocks - 1


def test_products_of_contrasts_are_lost_too():
    structure = block_structure(factors(5), ["ABE", "cde"])
    assert (structure.n_blocks, structure.confounded) == (4, ("ABE", "CDE", "ABCD"))
    assert structure.lost["order"].tolist() == [3, 3, 4]
    assert structure.lost.loc["CDE", "factors"] == "f2 x f3 x f4"
    fraction = block_structure(factors(4), ["AB"], ["D=ABC"])
    assert fraction.lost.loc["AB", "aliases"] == "CD"


@pytest.mark.parametrize(
    ("count", "blocks", "lengths"),
    [
        (2, 2, [2]),
        (3, 2, [3]),
        (3, 4, [2, 2, 2]),
        (4, 4, [2, 3, 3]),
        (5, 4, [3, 3, 4]),
        (5, 8, [2, 2, 3, 3, 3, 3, 4]),
        (6, 4, [4, 4, 4]),
        (6, 8, [3, 3, 3, 3, 4, 4, 4]),
        (7, 8, [4] * 7),
    ],
)
def test_the_contrasts_of_the_usual_tables(count, blocks, lengths):
    """As in the tables of textbooks (Montgomery, table 7.9; Box, Hunter and Hunter)."""
    contrasts = find_block_contrasts(count, blocks)
    confounded = block_structure(factors(count), contrasts).confounded
    assert [len(word) for word in confounded] == lengths


def test_blocks_of_words_and_of_numbers_in_any_order():
    mixed = [Factor("C", (10, 0.1), "log"), Factor("kernel", ("rbf", "poly"))]
    table = blocked_factorial(mixed, ["AB"])
    assert table[table["block"] == 2].drop(columns="block").to_numpy().tolist() == [
        [0.1, "rbf"],
        [10, "poly"],
    ]


def test_an_effect_is_the_same_whatever_the_blocks_differ_by():
    table = blocked_factorial(factors(3), ["ABC"])
    settings = table.drop(columns="block")
    truth = 2 * settings["f0"] - settings["f1"] * settings["f2"]
    calm, shifted = (
        two_level_effects(settings, truth + shift * (table["block"] == 2)) for shift in (0, 100)
    )
    assert_allclose(calm.drop("f0 x f1 x f2"), shifted.drop("f0 x f1 x f2"), atol=1e-12)
    assert shifted["f0 x f1 x f2"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("contrasts", "generators", "message"),
    [
        ([], [], "contrasts: at least one is needed"),
        (["A"], [], "contrasts: 'A'; expected two or more different letters of ABCD"),
        (["AZ"], [], "contrasts: 'AZ'"),
        (["AAB"], [], "contrasts: 'AAB'"),
        (["AB", "ABC"], [], "would give up the factor C"),
        (["AB", "AB"], [], "would give up a contrast that is constant"),
        (["BCD"], ["D=ABC"], "would give up the factor A"),
    ],
)
def test_bad_contrasts(contrasts, generators, message):
    with pytest.raises(DataError, match=message):
        block_structure(factors(4), contrasts, generators)


def test_bad_numbers_of_blocks():
    with pytest.raises(DataError, match="n_blocks: 3; expected 2, 4 or 8"):
        find_block_contrasts(4, 3)
    with pytest.raises(DataError, match=r"n_blocks: 4; .*2 factors have 4 settings"):
        find_block_contrasts(2, 4)
    with pytest.raises(DataError, match="n_factors: 9; above 7, give the contrasts"):
        find_block_contrasts(9, 2)
    with pytest.raises(DataError, match="'block' is the name of the column"):
        blocked_factorial([Factor("block", (0, 1)), Factor("x", (0, 1))], ["AB"])
    with pytest.raises(ValueError, match="has 3 levels"):
        blocked_factorial([Factor("x", (0, 1, 2)), Factor("y", (0, 1))], ["AB"])
