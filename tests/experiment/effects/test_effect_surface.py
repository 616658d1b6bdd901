"""What effects say beyond their table: type of the squares, Lenth's method, and the surface."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from verulam.experiment import factor_effects
from verulam.experiment._effects.effect_surface import effect_remarks


def effects_of(response, splits=5, noise=0.05, levels=(0.0, 1.0, 2.0)):
    settings = pd.DataFrame(list(product(levels, levels)), columns=["x", "y"], dtype=object)
    settings.index = pd.Index([f"s{place}" for place in range(len(settings))])
    means = np.array([response(x, y) for x, y in settings.to_numpy()])
    chance = noise * np.random.default_rng(0).normal(size=(splits, len(means)))
    return factor_effects(pd.DataFrame(means + chance, columns=settings.index), settings)


def bowl(x, y):
    return (x - 0.8) ** 2 + (y - 1.1) ** 2


def test_a_quadratic_that_is_enough_and_its_region():
    squares, surface = effect_remarks(effects_of(bowl))
    assert squares.startswith("Sums of squares are of type II: of each effect beyond all others")
    assert surface.startswith("A quadratic surface of the factors is enough (lack of fit: p = ")
    assert "it is level at a minimum, x = 0.7996 (0.7895 to 0.8093), y = 1.097" in surface
    assert surface.endswith("(95% region of Box and Hunter).")


def test_a_quadratic_that_is_not_enough():
    *_, surface = effect_remarks(effects_of(lambda x, y: bowl(x, y) + x**2 * y**2))
    assert "is not enough (lack of fit: p = " in surface
    assert "Box and Hunter" not in surface, "a region would be too narrow"


def test_an_optimum_outside_the_range_is_not_placed():
    *_, surface = effect_remarks(effects_of(lambda x, y: (x - 9) ** 2 + y**2))
    assert surface.endswith("it is level at a minimum outside the range that was run.")


def test_an_open_interval_is_a_least():
    # Nearly flat along x: where its minimum is cannot be known.
    *_, surface = effect_remarks(
        effects_of(lambda x, y: 0.05 * (x - 1) ** 2 + y * (y - 2), noise=0.2)
    )
    assert "x = 0.8383 (0 to 2 at least), y = 0.9917 (0.9199 to 1.053)" in surface


@pytest.mark.parametrize("margin", ["simultaneous margin", "margin of error"])
def test_one_split_is_told_by_lenth(margin):
    rows = list(product([0, 1], repeat=4))
    settings = pd.DataFrame(rows, columns=list("abcd"), dtype=object)
    settings.index = pd.Index([f"s{place}" for place in range(16)])
    chance = np.random.default_rng(1).normal(size=16)
    strong = 20.0 if margin == "simultaneous margin" else 1.5
    scores = pd.DataFrame([strong * settings["a"].astype(float) + chance], columns=settings.index)
    remark = effect_remarks(factor_effects(scores, settings))[1]
    assert "by Lenth's method (pseudo standard error" in remark
    assert f"a beyond the {margin}" in remark


def test_nothing_to_say_of_one_factor():
    settings = pd.DataFrame({"k": [1, 3, 9]}, index=list("abc"))
    scores = pd.DataFrame([[1.0, 2.0, 4.0], [1.5, 2.0, 3.0]], columns=list("abc"))
    assert effect_remarks(factor_effects(scores, settings)) == ()
