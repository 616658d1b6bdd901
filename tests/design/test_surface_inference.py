"""Errors and tests of a fitted quadratic: published tables, statsmodels, and limits."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from sklearn.preprocessing import PolynomialFeatures

from verulam.base import DataError
from verulam.design import Factor, central_composite, fit_response_surface

STAR = 2**0.5
#: Yield of a chemical process (Montgomery, Design and Analysis of Experiments, chapter 11).
YIELD = pd.DataFrame(
    {
        "x1": [-1, -1, 1, 1, 0, 0, 0, 0, 0, STAR, -STAR, 0, 0],
        "x2": [-1, 1, -1, 1, 0, 0, 0, 0, 0, 0, 0, STAR, -STAR],
        "yield": [76.5, 77, 78, 79.5, 79.9, 80.3, 80, 79.7, 79.8, 78.4, 75.6, 78.5, 77],
    }
)
#: The same process in two blocks, stars at 7.07 / 5 (Lenth, 2009, J. Stat. Software 32(7)).
BLOCKED = pd.DataFrame(
    {
        "x1": [-1, -1, 1, 1, 0, 0, 0, 0, 0, 0, 1.414, -1.414, 0, 0],
        "x2": [-1, 1, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1.414, -1.414],
        "yield": [80.5, 81.5, 82, 83.5, 83.9, 84.3, 84, 79.7, 79.8, 79.5, 78.4, 75.6, 78.5, 77],
    }
)


def test_the_published_table_of_a_chemical_process():
    surface = fit_response_surface(YIELD[["x1", "x2"]], YIELD["yield"])
    assert surface.coefficients["estimate"].round(2).to_dict() == {
        "constant": 79.94,
        "x1": 0.99,
        "x2": 0.52,
        "x1^2": -1.38,
        "x1 x x2": 0.25,
        "x2^2": -1.0,
    }
    table = surface.anova
    assert_allclose(table["sum_of_squares"][["residual"]], 0.50, atol=0.005)
    assert_allclose(table.loc["lack of fit", "sum_of_squares"], 0.28, atol=0.005)
    assert_allclose(table.loc["pure error", "sum_of_squares"], 0.21, atol=0.005)
    assert table["degrees_of_freedom"].tolist() == [2, 1, 2, 7, 3, 4]
    assert table.loc["lack of fit", "F"] == pytest.approx(1.78, abs=0.005)
    assert table.loc["lack of fit", "p_value"] == pytest.approx(0.2897, abs=5e-5)
    assert list(surface.stationary_point.values()) == pytest.approx([0.389, 0.306], abs=5e-4)
    assert surface.kind == "maximum"


def test_the_published_table_of_two_blocks():
    """Lenth's printed coefficients, errors and analysis of variance, to the last digit."""
    surface = fit_response_surface(
        BLOCKED[["x1", "x2"]], BLOCKED["yield"], blocks=["one"] * 7 + ["two"] * 7
    )
    expected = pd.DataFrame(
        {
            "x1": [0.932541, 0.057699],
            "x2": [0.577712, 0.057699],
            "x1^2": [-1.308555, 0.060064],
            "x1 x x2": [0.125000, 0.081592],
            "x2^2": [-0.933442, 0.060064],
        },
        index=["estimate", "standard_error"],
    ).T
    ours = surface.coefficients.loc[expected.index, expected.columns]
    assert_allclose(ours, expected, atol=5e-7)
    # The first block has 84.095427 and the second 4.457530 less; the constant is their middle.
    middle = 84.095427 - 4.457530 / 2
    assert surface.coefficients.loc["constant", "estimate"] == pytest.approx(middle, abs=1e-6)
    squares = [69.531, 9.626, 0.063, 17.791, 0.186, 0.053, 0.133]
    assert_allclose(surface.anova["sum_of_squares"], squares, atol=6e-4)
    ratios = [2611.0950, 180.7341, 2.3470, 334.0539]
    assert_allclose(surface.anova["F"].iloc[:4], ratios, atol=5e-4)
    assert surface.anova.loc["lack of fit", ["F", "p_value"]].tolist() == pytest.approx(
        [0.5307, 0.6851], abs=5e-5
    )
    assert surface.residual_degrees_of_freedom == 7


@pytest.mark.parametrize("scale", ["numeric", "log"])
def test_errors_are_those_of_statsmodels_in_the_units_of_the_factors(scale):
    random = np.random.default_rng(2)
    settings = pd.DataFrame(random.uniform(2, 50, size=(30, 3)), columns=list("xyz"))
    straight = np.log(settings.to_numpy()) if scale == "log" else settings.to_numpy()
    response = straight.sum(axis=1) + random.normal(size=30)
    factors = [Factor(name, (2.0, 50.0), scale) for name in "xyz"]
    ours = fit_response_surface(settings, response, factors).coefficients
    peer = sm.OLS(response, PolynomialFeatures(2).fit_transform(straight)).fit()
    assert ours.index.tolist() == [
        *("constant", "x", "y", "z"),
        *("x^2", "x x y", "x x z", "y^2", "y x z", "z^2"),
    ]
    assert_allclose(ours["estimate"], peer.params, rtol=1e-6)
    assert_allclose(ours["standard_error"], peer.bse, rtol=1e-6)
    assert_allclose(ours["t"], peer.tvalues, rtol=1e-6)
    assert_allclose(ours["p_value"], peer.pvalues, rtol=1e-6)


def test_lack_of_fit_compares_the_quadratic_with_a_mean_for_each_setting():
    """Statsmodels tests the same by comparing nested models."""
    random = np.random.default_rng(4)
    settings = pd.DataFrame({"x": np.repeat([0.0, 1.0, 2.0, 3.0, 4.0], 3)})
    response = settings["x"] ** 3 / 9 + 0.3 * random.normal(size=15)
    ours = fit_response_surface(settings, response).anova.loc["lack of fit"]
    quadratic = sm.OLS(response, np.vander(settings["x"], 3)).fit()
    means = sm.OLS(response, pd.get_dummies(settings["x"]).astype(float)).fit()
    ratio, p_value, freedom = means.compare_f_test(quadratic)
    assert ours["F"] == pytest.approx(ratio)
    assert ours["p_value"] == pytest.approx(p_value)
    assert ours["degrees_of_freedom"] == freedom


def test_lack_of_fit_is_rejected_as_often_as_it_should_be():
    random = np.random.default_rng(7)
    factors = [Factor(name, (-1, 1), "numeric") for name in "xy"]
    settings = central_composite(factors)
    truth = 2 + settings["x"] ** 2 - settings["y"]
    p_values = [
        fit_response_surface(settings, truth + random.normal(size=len(settings))).anova.loc[
            "lack of fit", "p_value"
        ]
        for _ in range(300)
    ]
    assert np.mean(np.array(p_values) < 0.1) == pytest.approx(0.1, abs=0.045)


def test_means_of_repeated_runs_are_tested_by_their_known_error():
    """Means with the variance of a mean say the same of lack of fit as all the runs."""
    random = np.random.default_rng(5)
    each = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 5.0]})
    runs = each["x"].to_numpy() ** 2 + random.normal(size=(4, 5))
    variance = runs.var(axis=0, ddof=1).mean()
    means = fit_response_surface(each, runs.mean(axis=0), pure_error=(variance / 4, 15))
    every = fit_response_surface(pd.concat([each] * 4), runs.ravel())
    for column in ("F", "p_value", "degrees_of_freedom"):
        assert means.anova.loc["lack of fit", column] == pytest.approx(
            every.anova.loc["lack of fit", column]
        )
    assert means.residual_degrees_of_freedom == 2
    ratio = means.coefficients["standard_error"] / every.coefficients["standard_error"]
    residual = every.anova.loc["residual", "mean_square"]
    assert_allclose(ratio, np.sqrt(variance / residual))


def test_sums_of_squares_are_named():
    surface = fit_response_surface(YIELD[["x1", "x2"]], YIELD["yield"])
    assert surface.anova.attrs["sums_of_squares"].startswith("type I: each row beyond the rows")
    assert surface.anova["sum_of_squares"].iloc[:4].sum() == pytest.approx(
        YIELD["yield"].var() * 12
    )


def test_without_an_error_nothing_is_claimed():
    surface = fit_response_surface(pd.DataFrame({"x": [0, 1, 2]}), [1, 0, 3])
    assert surface.coefficients[["standard_error", "t", "p_value"]].isna().to_numpy().all()
    assert surface.anova["F"].isna().all()
    settings = pd.DataFrame({"x": [0, 1, 2, 3, 3]})
    assert fit_response_surface(settings, settings["x"] ** 2).anova["p_value"].isna().all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"blocks": [1, 2]}, "blocks has 2 entries, but there are 4 runs"),
        ({"blocks": [1, 1, None, 2]}, "blocks has 3 entries"),
        ({"blocks": [1, 2, 3, 4]}, "6 coefficients of a quadratic in 1 factors and 4 blocks"),
        ({"pure_error": (-1.0, 3)}, "pure_error: .*expected a variance of at least 0"),
        ({"pure_error": (1.0, 0)}, "degrees of freedom above 0"),
    ],
)
def test_bad_blocks_and_errors(options, message):
    with pytest.raises(DataError, match=message):
        fit_response_surface(pd.DataFrame({"x": [0, 1, 2, 3]}), [1, 2, 3, 4], **options)
