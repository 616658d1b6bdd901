"""Effects of factors: agreement with statsmodels, aliases of fractions, and limits."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.base import DataError
from verulam.design import Factor, fractional_factorial, one_at_a_time
from verulam.experiment._effects.effects import factor_effects
from verulam.statistics import corrected_t_test


def designed(settings, response, splits=4, noise=0.1, seed=0):
    """Return scores of settings over splits, with a difference between splits and with noise."""
    rng = np.random.default_rng(seed)
    blocks = rng.normal(size=(splits, 1))
    noisy = noise * rng.normal(size=(splits, len(settings)))
    return pd.DataFrame(np.asarray(response) + blocks + noisy, columns=settings.index)


def named(settings):
    frame = pd.DataFrame(settings)
    return frame.set_index(pd.Index([f"s{place}" for place in range(len(frame))]))


def full(**levels):
    return named([dict(zip(levels, each, strict=True)) for each in product(*levels.values())])


def by_statsmodels(table, settings, formula):
    """Return the table of an ordinary analysis of variance with splits as a factor."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    long = table.melt(ignore_index=False, var_name="s", value_name="score")
    long = long.rename_axis("split").reset_index()
    long = long.join(settings, on="s")
    return anova_lm(ols(f"score ~ {formula} + C(split)", long).fit(), typ=2)


def test_full_factorial_matches_statsmodels():
    settings = full(k=[1, 5, 15], p=[1, 2], w=["near", "all"])
    response = settings["k"] * 0.1 + settings["p"] * (settings["w"] == "all")
    table = designed(settings, response)
    found = factor_effects(table, settings).table
    formula = "C(k) + C(p) + C(w) + C(k):C(p) + C(k):C(w) + C(p):C(w)"
    peer = by_statsmodels(table, settings, formula)
    pairs = {"k": "C(k)", "p": "C(p)", "k x p": "C(k):C(p)", "p x w": "C(p):C(w)"}
    for ours, theirs in pairs.items():
        assert_allclose(found.loc[ours, "sum_of_squares"], peer.loc[theirs, "sum_sq"])
        assert found.loc[ours, "degrees_of_freedom"] == peer.loc[theirs, "df"]
    assert_allclose(found.loc["splits", "sum_of_squares"], peer.loc["C(split)", "sum_sq"])
    # Their residual also holds the interaction of three, which has a row of its own here.
    rest = found.loc[["other", "error"], "sum_of_squares"].sum()
    assert_allclose(rest, peer.loc["Residual", "sum_sq"])


def test_all_terms_give_the_same_f():
    settings = full(a=["x", "y", "z"], b=[1, 2])
    table = designed(settings, range(6))
    found = factor_effects(table, settings).table
    peer = by_statsmodels(table, settings, "C(a) * C(b)")
    assert_allclose(found.loc["a x b", "F"], peer.loc["C(a):C(b)", "F"])
    assert_allclose(found.loc["a", "p_value"], peer.loc["C(a)", "PR(>F)"])
    assert_allclose(found.loc["total", "sum_of_squares"], table.to_numpy().var() * table.size)


def test_missing_settings_are_adjusted_for_as_in_statsmodels():
    settings = full(a=[1, 2, 3], b=[1, 2, 3]).drop(["s4", "s8"])
    table = designed(settings, range(7))
    found = factor_effects(table, settings).table
    peer = by_statsmodels(table, settings, "C(a) + C(b)")
    assert_allclose(found.loc["a", "sum_of_squares"], peer.loc["C(a)", "sum_sq"])
    assert_allclose(found.loc["b", "sum_of_squares"], peer.loc["C(b)", "sum_sq"])


def test_gaps_in_three_factors_are_type_two_as_in_statsmodels():
    """A main effect is adjusted for the interaction of the two others, too."""
    settings = full(a=[1, 2], b=[1, 2, 3], c=[1, 2, 3]).drop(["s1", "s12"])
    response = settings["a"] + settings["b"] * settings["c"]
    table = designed(settings, response)
    effects = factor_effects(table, settings)
    formula = "C(a) + C(b) + C(c) + C(a):C(b) + C(a):C(c) + C(b):C(c)"
    peer = by_statsmodels(table, settings, formula)
    for ours, theirs in {"a": "C(a)", "b": "C(b)", "c": "C(c)", "b x c": "C(b):C(c)"}.items():
        assert_allclose(effects.table.loc[ours, "sum_of_squares"], peer.loc[theirs, "sum_sq"])
        assert effects.table.loc[ours, "degrees_of_freedom"] == peer.loc[theirs, "df"]
    assert effects.sums_of_squares.startswith("type II: of each effect beyond all others but the")


def test_two_levels_are_the_corrected_t_test():
    settings = named({"k": [1, 5]})
    table = designed(settings, [0.0, 0.2], splits=10)
    found = factor_effects(table, settings, overlap=1 / 9)
    test = corrected_t_test(table["s1"], table["s0"], test_share=0.1)
    assert_allclose(found.table.loc["k", "corrected_p"], test.p_value)
    assert_allclose(found.table.loc["k", "F"], test.statistic**2 * (1 + 10 / 9))
    assert_allclose(found.estimates.loc["k", "effect"], (table["s1"] - table["s0"]).mean())
    half = test.interval.high - found.estimates.loc["k", "effect"]
    error = found.estimates.loc["k", "standard_error"]
    assert_allclose(half / error, stats.t.isf(0.025, 9))


def test_main_effects_are_the_means_of_levels():
    settings = full(k=[15, 1], p=[1, 2])
    found = factor_effects(designed(settings, [1, 2, 3, 4], noise=0), settings)
    means = found.means["k"]
    assert means.index.tolist() == [15, 1]
    assert means[1] - means[15] == pytest.approx(2)


def fraction(generators, count=4):
    factors = [Factor(name, (-1, 1), "numeric") for name in "ABCD"[:count]]
    return named(fractional_factorial(factors, generators))


def test_fraction_of_resolution_four_joins_interactions():
    settings = fraction(["D=ABC"])
    response = 3 * settings["A"] + settings["A"] * settings["B"]
    found = factor_effects(designed(settings, response, noise=0.01), settings)
    assert found.aliases == {"A x B": ("C x D",), "A x C": ("B x D",), "A x D": ("B x C",)}
    assert list(found.table.index[:7]) == ["A", "B", "C", "D", "A x B", "A x C", "A x D"]
    assert found.significant(0.001) == ["A", "A x B"]
    assert found.estimates.loc["A", "effect"] == pytest.approx(6, abs=0.1)
    assert found.estimates.loc["A x B", "effect"] == pytest.approx(2, abs=0.1)


def test_fraction_of_resolution_three_says_what_hides_behind_main_effects():
    settings = fraction(["C=AB"], 3)
    found = factor_effects(designed(settings, range(4)), settings)
    assert found.aliases == {"A": ("B x C",), "B": ("A x C",), "C": ("A x B",)}
    assert list(found.table.index) == ["A", "B", "C", "splits", "error", "total"]


def test_one_at_a_time_has_no_interactions():
    factors = [Factor(name, (1, 2, 3), "numeric") for name in ("k", "p")]
    settings = named(one_at_a_time(factors, {"k": 1, "p": 1}))
    found = factor_effects(designed(settings, range(5)), settings)
    assert "k x p" not in found.table.index
    assert found.notes == ("The design does not tell k x p from other effects.",)


def test_one_split_is_tested_against_what_no_effect_explains():
    settings = full(a=[1, 2], b=[1, 2], c=[1, 2])
    table = designed(settings, [0, 1, 2, 3, 4, 5, 6, 9], splits=1)
    found = factor_effects(table, settings).table
    peer = by_statsmodels(pd.concat([table] * 2, ignore_index=True), settings, "C(a) + C(b) + C(c)")
    assert found.loc["error", "degrees_of_freedom"] == 1
    assert_allclose(2 * found.loc["a", "sum_of_squares"], peer.loc["C(a)", "sum_sq"])
    assert found.loc["a", "p_value"] < 0.2


def test_without_any_error_nothing_is_tested():
    settings = full(a=[1, 2], b=[1, 2])
    found = factor_effects(designed(settings, range(4), splits=1), settings)
    assert found.table["p_value"].isna().all()
    assert found.estimates["standard_error"].isna().all()


def test_constant_factors_and_incomplete_splits_are_left_out():
    settings = full(a=[1, 2], b=[7])
    table = designed(settings, [0, 1])
    table.iloc[0, 0] = np.nan
    found = factor_effects(table, settings)
    assert found.factors == ("a",)
    assert found.notes == ("1 splits lack a setting and are left out.",)


def test_nothing_complete():
    settings = full(a=[1, 2])
    with pytest.raises(DataError, match="no split has a result of every setting"):
        factor_effects(designed(settings, [0, 1]) * np.nan, settings)
