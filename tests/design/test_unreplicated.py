"""Lenth's method: a published analysis, error rates, and effects of full and fractional designs."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.base import DataError, UnknownNameError
from verulam.design import (
    Factor,
    fractional_factorial,
    full_factorial,
    lenth_method,
    two_level_effects,
)
from verulam.experiment import factor_effects

FACTORS = [Factor(name, (-1, 1), "numeric") for name in "DCBA"]
RATES = np.array([45, 71, 48, 65, 68, 60, 80, 65, 43, 100, 45, 104, 75, 86, 70, 96.0])
#: Filtration rate of a pilot plant, one run per setting (Montgomery, chapter 6).
SETTINGS = full_factorial(FACTORS)[list("ABCD")]
PUBLISHED = {
    "A": 21.625,
    "B": 3.125,
    "C": 9.875,
    "D": 14.625,
    "A x B": 0.125,
    "A x C": -18.125,
    "A x D": 16.625,
    "B x C": 2.375,
    "B x D": -0.375,
    "C x D": -1.125,
    "A x B x C": 1.875,
    "A x B x D": 4.125,
    "A x C x D": -1.625,
    "B x C x D": -2.625,
    "A x B x C x D": 1.375,
}


def test_the_published_effects_and_margins_of_a_pilot_plant():
    effects = two_level_effects(SETTINGS, RATES)
    assert effects.to_dict() == PUBLISHED
    judged = lenth_method(effects)
    assert judged.pseudo_standard_error == 2.625
    assert judged.degrees_of_freedom == 5
    assert judged.margin_of_error == pytest.approx(6.748, abs=5e-4)
    assert judged.simultaneous_margin == pytest.approx(13.699, abs=5e-3)
    assert judged.effects("active") == ["A", "A x C", "A x D", "D"]
    assert judged.effects("possibly active") == ["C"]
    assert len(judged.effects("chance")) == 10


def test_ratios_are_t_statistics_with_a_third_of_the_effects():
    judged = lenth_method(PUBLISHED, alpha=0.1)
    row = judged.table.loc["C"]
    assert row["ratio"] == pytest.approx(9.875 / 2.625)
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(9.875 / 2.625, 5))
    assert judged.margin_of_error == pytest.approx(stats.t.isf(0.05, 5) * 2.625)
    gamma = (1 + 0.9 ** (1 / 15)) / 2
    assert judged.simultaneous_margin == pytest.approx(stats.t.ppf(gamma, 5) * 2.625)


def test_chance_is_rarely_called_active():
    random = np.random.default_rng(0)
    judged = [lenth_method(pd.Series(random.normal(size=15))) for _ in range(400)]
    single = np.mean([(each.table["verdict"] != "chance").mean() for each in judged])
    any_active = np.mean([bool(each.effects("active")) for each in judged])
    assert single == pytest.approx(0.04, abs=0.02)
    assert any_active < 0.08


def test_effects_of_a_fraction_are_named_by_the_lowest_order():
    factors = [Factor(name, ("low", "high")) for name in "ABCD"]
    half = fractional_factorial(factors, ["D=ABC"])
    coded = half.eq("high").astype(float) * 2 - 1
    effects = two_level_effects(half, 5 * coded["A"] - coded["C"] * coded["D"], factors)
    assert list(effects.index) == ["A", "B", "C", "D", "A x B", "A x C", "A x D"]
    assert_allclose(effects, [10, 0, 0, 0, -2, 0, 0], atol=1e-12)


def test_one_split_of_settings_is_judged_by_lenth():
    settings = SETTINGS.set_index(pd.Index([f"s{place}" for place in range(16)]))
    scores = pd.DataFrame([RATES], columns=settings.index)
    judged = factor_effects(scores, settings).lenth
    assert judged.pseudo_standard_error == 2.625
    twice = pd.concat([scores, scores + 1], ignore_index=True)
    assert factor_effects(twice, settings).lenth is None
    three = pd.DataFrame({"k": [1, 2, 3]}, index=list("abc"))
    alone = pd.DataFrame([[1.0, 2.0, 4.0]], columns=list("abc"))
    assert factor_effects(alone, three).lenth is None


def test_most_effects_zero():
    judged = lenth_method({"a": 0.0, "b": 0.0, "c": 0.0, "d": 2.0})
    assert judged.pseudo_standard_error == 0.0
    assert judged.effects("active") == ["d"]


@pytest.mark.parametrize(
    ("settings", "response", "message"),
    [
        ({"x": [0, 1, 2]}, [1, 2, 3], "'x' has 3 levels; expected two"),
        ({"x": [0, 1, 0, 1]}, [1, 2, 3, 4], "a setting is there twice"),
        ({"x": [0, 1, 0], "y": [0, 0, 1]}, [1, 2, 3], "the 3 runs are no full factorial"),
        ({"x": [0, 1], "y": [0, 1]}, [1, 2], "no regular fraction"),
        ({"x": [0, 1]}, [1, 2, 3], "response: expected 2 numbers"),
        ({"x": [0, 1]}, [1, np.nan], "none missing"),
    ],
)
def test_bad_designs(settings, response, message):
    with pytest.raises(DataError, match=message):
        two_level_effects(pd.DataFrame(settings), response)


def test_bad_effects():
    with pytest.raises(DataError, match="effects: expected at least 3 numbers"):
        lenth_method({"a": 1.0, "b": 2.0})
    with pytest.raises(DataError, match="alpha: 5; expected a number between 0 and 1"):
        lenth_method(PUBLISHED, 5)
    with pytest.raises(UnknownNameError, match="verdict 'sure'"):
        lenth_method(PUBLISHED).effects("sure")
