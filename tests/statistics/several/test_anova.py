"""Analysis of variance: SciPy, statsmodels, and the identities of the text."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import AnovaRM, anova_lm

from verulam.base import DataError
from verulam.statistics import (
    TwoFactorAnova,
    corrected_t_test,
    cv_t_test,
    one_way_anova,
    repeated_anova,
    two_factor_anova,
)
from verulam.statistics._several.anova import sphericity

TABLE = np.random.default_rng(6).normal([0, 0.2, 0.5, 0.1, 0.9], size=(10, 5))


def test_one_way_matches_scipy_and_the_table_of_the_text():
    result = one_way_anova(TABLE)
    expected = stats.f_oneway(*TABLE.T)
    assert_allclose([result.statistic, result.p_value], expected, rtol=1e-10)
    assert result.degrees_of_freedom == (4, 45)
    assert result.critical_value == pytest.approx(2.579, abs=5e-4)
    table = result.table
    between = 10 * ((TABLE.mean(axis=0) - TABLE.mean()) ** 2).sum()
    assert_allclose(table.loc["between groups", "sum_of_squares"], between)
    total = ((TABLE - TABLE.mean()) ** 2).sum()
    assert_allclose(table.loc["total", "sum_of_squares"], total)
    assert_allclose(table["sum_of_squares"].iloc[:2].sum(), total)
    assert table.loc["total", "degrees_of_freedom"] == 49


def test_unequal_groups():
    groups = {"a": TABLE[:, 0], "b": TABLE[:6, 1], "c": TABLE[:4, 2]}
    expected = stats.f_oneway(*groups.values())
    assert_allclose(one_way_anova(groups).p_value, expected.pvalue)


def test_two_groups_give_the_squared_t():
    result = one_way_anova(TABLE[:, :2])
    assert_allclose(result.statistic, stats.ttest_ind(TABLE[:, 0], TABLE[:, 1]).statistic ** 2)
    paired = repeated_anova(TABLE[:, :2])
    assert_allclose(paired.statistic, cv_t_test(TABLE[:, 0], TABLE[:, 1]).statistic ** 2)


def test_assumptions_are_checked():
    rng = np.random.default_rng(0)
    skewed = rng.exponential(size=(30, 3)) * [1, 5, 25]
    checks = {a.text: a.holds for a in one_way_anova(skewed).assumptions}
    assert checks["residuals are normal"] is False
    assert checks["the variances of the groups are equal"] is False
    expected = stats.levene(*skewed.T, center="median").pvalue
    assert f"{expected:.2g}" in str(one_way_anova(skewed).assumptions[1])


def test_repeated_matches_statsmodels():
    long = pd.DataFrame(TABLE).melt(ignore_index=False, var_name="learner").reset_index()
    expected = AnovaRM(long, "value", "index", within=["learner"]).fit().anova_table
    result = repeated_anova(TABLE)
    assert_allclose(result.statistic, expected["F Value"].iloc[0])
    assert_allclose(result.p_value, expected["Pr > F"].iloc[0])
    assert_allclose(
        result.table["sum_of_squares"].iloc[:3].sum(), ((TABLE - TABLE.mean()) ** 2).sum()
    )


def test_blocks_take_out_what_folds_share():
    folds = np.random.default_rng(1).normal(0, 20, (10, 1))
    assert_allclose(repeated_anova(TABLE + folds).p_value, repeated_anova(TABLE).p_value)
    assert one_way_anova(TABLE + folds).p_value > 0.5


def test_sphericity_between_its_bounds():
    result = repeated_anova(TABLE + np.arange(5))
    assert 1 / 4 <= result.details["epsilon"] <= 1
    assert result.details["corrected_p_value"] >= result.p_value
    assert repeated_anova(TABLE[:, :2]).details["epsilon"] == pytest.approx(1)


@pytest.mark.parametrize("balanced", [True, False])
def test_two_factors_match_statsmodels(balanced):
    rng = np.random.default_rng(2)
    first, second = np.repeat([0, 1, 2], 8), np.tile([0, 1], 12)
    values = rng.normal(size=24) + first + 2 * first * second
    if not balanced:
        first, second, values = first[:-3], second[:-3], values[:-3]
    analysis = two_factor_anova(values, first, second, names=("learner", "inputs"))
    frame = pd.DataFrame({"y": values, "a": first, "b": second})
    expected = anova_lm(ols("y ~ C(a) * C(b)", frame).fit(), typ=2)
    assert_allclose(
        [analysis.first.p_value, analysis.second.p_value, analysis.interaction.p_value],
        expected["PR(>F)"].iloc[:3],
    )
    assert list(analysis.table.index) == [
        "learner",
        "inputs",
        "learner x inputs",
        "residual",
        "total",
    ]
    if balanced:
        total = ((values - values.mean()) ** 2).sum()
        assert_allclose(analysis.table.loc["total", "sum_of_squares"], total)


def test_pure_interaction_is_seen():
    rng = np.random.default_rng(3)
    first, second = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    analysis = two_factor_anova(rng.normal(size=40) + 3 * (first ^ second), first, second)
    assert analysis.interaction.reject
    assert not analysis.first.reject


def test_two_values_say_nothing_about_equal_variances():
    """Both lie equally far from their median, up to rounding."""
    result = one_way_anova({"a": [0.1, 0.3], "b": [0.2, 0.7], "c": [0.15, 0.11]})
    assert result.assumptions[1].holds is None


@pytest.mark.parametrize("learners", [3, 13])
def test_equal_scores_do_not_vary_by_their_rounding(learners):
    table = np.full((2, learners), 2 / 3)
    with pytest.raises(DataError, match="do not vary"):
        repeated_anova(table)
    with pytest.raises(DataError, match="do not vary"):
        one_way_anova({f"m{place}": column for place, column in enumerate(table.T)})


def test_overlap_divides_f_as_the_corrected_t_test_does():
    corrected = repeated_anova(TABLE[:, :2], overlap=1 / 9)
    test = corrected_t_test(TABLE[:, 0], TABLE[:, 1], test_share=0.1)
    assert_allclose(corrected.statistic, test.statistic**2)
    assert_allclose(corrected.p_value, test.p_value)
    assert_allclose(corrected.table.loc["learners", ["F", "p_value"]],
                    [test.statistic**2, test.p_value])  # fmt: skip
    assert_allclose(corrected.details["corrected_p_value"], test.p_value)


def test_overlap_takes_the_number_of_folds_into_account():
    table = TABLE + 2 * np.arange(5)
    plain, corrected = repeated_anova(table), repeated_anova(table, overlap=0.5)
    assert_allclose(corrected.statistic, plain.statistic / (1 + 10 * 0.5))
    assert corrected.p_value > plain.p_value
    assert corrected.details["corrected_p_value"] > plain.details["corrected_p_value"]
    assert corrected.details["corrected_p_value"] >= corrected.p_value
    assert corrected.effect_size == plain.effect_size
    assert "corrected for overlapping training parts" in corrected.name
    assert plain.caveats
    assert not corrected.caveats


def test_no_overlap_changes_nothing():
    assert repeated_anova(TABLE, overlap=0.0).statistic == repeated_anova(TABLE).statistic
    with pytest.raises(DataError, match="overlap"):
        repeated_anova(TABLE, overlap=-0.1)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_sphericity_has_no_scale(scale):
    assert_allclose(sphericity(scale * TABLE), sphericity(TABLE))
    assert 0.25 <= sphericity(TABLE) <= 1


def test_two_factors_have_a_test_each_and_one_of_their_interaction():
    values = np.random.default_rng(0).normal(size=24)
    analysis = two_factor_anova(values, np.repeat([0, 1], 12), np.tile([0, 1], 12))
    assert isinstance(analysis, TwoFactorAnova)
    tests = (analysis.first, analysis.second, analysis.interaction)
    assert_allclose([test.p_value for test in tests], analysis.table["p_value"].dropna())
