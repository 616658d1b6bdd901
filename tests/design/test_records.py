"""What the functions of designs return: public records that nothing changes, and their caveats."""

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from verulam.design import (
    DESIGN_CAVEATS,
    AliasStructure,
    BlockStructure,
    Factor,
    LenthAnalysis,
    NextPoint,
    OptimumRegion,
    ResponseSurface,
    SearchPath,
    alias_structure,
    best_guess,
    block_numbers,
    block_structure,
    blocked_factorial,
    box_behnken,
    central_composite,
    fit_response_surface,
    fractional_factorial,
    full_factorial,
    latin_hypercube,
    lenth_method,
    next_point,
    one_at_a_time,
    optimum_region,
    quadratic_search,
)

FACTORS = [Factor(name, (-1, 1), "numeric") for name in "ABC"]
BASE = dict.fromkeys("ABC", -1)


@pytest.fixture(scope="module")
def surface():
    settings = central_composite(FACTORS)
    noise = 0.01 * np.random.default_rng(0).normal(size=len(settings))
    responses = ((settings.to_numpy() - 0.2) ** 2).sum(axis=1) + noise
    return fit_response_surface(settings, responses, FACTORS)


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        (AliasStructure, lambda _: alias_structure(FACTORS, ["C=AB"])),
        (BlockStructure, lambda _: block_structure(FACTORS, ["ABC"])),
        (LenthAnalysis, lambda _: lenth_method({"A": 9.0, "B": 1.0, "C": -1.0, "AB": 0.5})),
        (NextPoint, lambda surface: next_point(surface, maximise=False)),
        (OptimumRegion, lambda surface: optimum_region(surface)),
        (ResponseSurface, lambda surface: surface),
        (SearchPath, lambda _: quadratic_search(lambda x: x * x, (-2, -1, 2), (-2, 2))),
    ],
)
def test_records_are_public_and_frozen(kind, make, surface):
    record = make(surface)
    assert type(record) is kind
    with pytest.raises(FrozenInstanceError):
        setattr(record, fields(record)[0].name, None)


@pytest.mark.parametrize(
    ("table", "design"),
    [
        (best_guess(BASE, [{"A": 1}]), "best guess"),
        (one_at_a_time(FACTORS, BASE), "one factor at a time"),
        (full_factorial(FACTORS), "full factorial"),
        (fractional_factorial(FACTORS, ["C=AB"]), "fractional factorial"),
        (blocked_factorial(FACTORS, ["ABC"]), "blocked factorial"),
        (latin_hypercube(FACTORS, 4), "latin hypercube"),
        (central_composite(FACTORS), "central composite"),
        (box_behnken(FACTORS), "box-behnken"),
    ],
)
def test_tables_carry_the_caveat_of_their_design(table, design):
    assert table.attrs["design"] == design
    assert table.attrs["caveat"] == DESIGN_CAVEATS[design]


def test_block_numbers_are_those_of_the_table():
    table = blocked_factorial(FACTORS, ["AB", "BC"])
    codes = table[["A", "B", "C"]].to_numpy()
    assert block_numbers(codes, ["AB", "BC"]).tolist() == table["block"].tolist()
