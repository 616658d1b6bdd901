"""Quadratic surfaces: exact on quadratics, and honest about their shape."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.preprocessing import PolynomialFeatures

from verulam.base import DataError, UnknownNameError
from verulam.design._factors import Factor
from verulam.design._response_surface import fit_response_surface, next_point
from verulam.design._surface_designs import box_behnken, central_composite


def quadratic(seed, count, signs):
    """Return a random intercept, slopes and curvature with eigenvalues of the given signs."""
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.normal(size=(count, count)))[0]
    curvature = turn @ np.diag(np.array(signs) * random.uniform(0.5, 2.0, count)) @ turn.T
    return random.normal(), random.normal(size=count), curvature


def values(settings, intercept, slopes, curvature):
    points = settings.to_numpy(dtype=float)
    return intercept + points @ slopes + ((points @ curvature) * points).sum(axis=1)


@pytest.mark.parametrize(
    ("signs", "kind"),
    [((1, 1, 1), "minimum"), ((-1, -1, -1), "maximum"), ((1, -1, 1), "saddle")],
)
@pytest.mark.parametrize("design", [central_composite, box_behnken])
def test_a_quadratic_is_recovered(design, signs, kind):
    intercept, slopes, curvature = quadratic(5, 3, signs)
    factors = [Factor(name, (-4.0, 7.0), "numeric") for name in "xyz"]
    settings = design(factors)
    surface = fit_response_surface(settings, values(settings, intercept, slopes, curvature))
    assert surface.intercept == pytest.approx(intercept)
    assert_allclose(surface.slopes, slopes)
    assert_allclose(surface.curvature, curvature)
    expected = -0.5 * np.linalg.solve(curvature, slopes)
    assert_allclose(list(surface.stationary_point.values()), expected)
    level = intercept + slopes @ expected / 2
    assert surface.stationary_response == pytest.approx(level)
    assert surface.kind == kind
    assert surface.r_squared == pytest.approx(1.0)
    assert surface.residual_degrees_of_freedom == len(settings) - 10
    assert np.sign(surface.eigenvalues).tolist() == sorted(signs)
    fresh = pd.DataFrame(np.random.default_rng(0).normal(size=(5, 3)), columns=list("xyz"))
    assert_allclose(surface.predict(fresh), values(fresh, intercept, slopes, curvature))


def test_units_do_not_matter():
    """Grams or tonnes: the same shape, and the stationary point in the new unit."""
    settings = central_composite([Factor(name, (1.0, 3.0), "numeric") for name in "xy"])
    response = (settings["x"] - 1.5) ** 2 + 2 * (settings["y"] - 2.5) ** 2
    scaled = settings.assign(x=settings["x"] * 1e9)
    here, there = (fit_response_surface(table, response) for table in (settings, scaled))
    assert there.kind == here.kind == "minimum"
    assert_allclose(there.eigenvalues, here.eigenvalues)
    assert there.stationary_point["x"] == pytest.approx(1.5e9)
    assert there.stationary_point["y"] == pytest.approx(2.5)


def test_the_fit_is_least_squares():
    """Coefficients and R squared agree with statsmodels on noisy runs."""
    random = np.random.default_rng(3)
    settings = pd.DataFrame(random.uniform(-1, 2, size=(40, 2)), columns=["x", "y"])
    response = values(settings, *quadratic(1, 2, (1, 1))) + random.normal(size=40)
    surface = fit_response_surface(settings, response)
    peer = sm.OLS(response, PolynomialFeatures(2).fit_transform(settings.to_numpy())).fit()
    constant, x, y, xx, xy, yy = peer.params
    assert surface.intercept == pytest.approx(constant)
    assert_allclose(surface.slopes, [x, y])
    assert_allclose(surface.curvature, [[xx, xy / 2], [xy / 2, yy]])
    assert surface.r_squared == pytest.approx(peer.rsquared)
    assert surface.residual_degrees_of_freedom == peer.df_resid


def test_a_log_factor_is_quadratic_in_its_logarithm():
    factors = [Factor("C", (0.01, 100.0), "log"), Factor("x", (0, 2), "numeric")]
    settings = central_composite(factors, "faced")
    response = (np.log(settings["C"]) - np.log(3.0)) ** 2 + (settings["x"] - 0.7) ** 2
    surface = fit_response_surface(settings, response, factors)
    assert surface.kind == "minimum"
    assert surface.stationary_point == pytest.approx({"C": 3.0, "x": 0.7})
    assert next_point(surface, maximise=False).setting == pytest.approx({"C": 3.0, "x": 0.7})


def test_a_stationary_point_outside_is_warned_of():
    settings = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    surface = fit_response_surface(settings, (settings["x"] - 5) ** 2)
    assert surface.warnings == (
        "The stationary point is outside the range of 'x' that was run, 0 to 3.",
    )
    following = next_point(surface, maximise=False)
    assert following.setting == pytest.approx({"x": 3.0})
    assert following.predicted == pytest.approx(4.0)
    assert "outside the range" in following.reason


@pytest.mark.parametrize("response", ["line", "ridge", "constant"])
def test_flat_surfaces(response):
    settings = central_composite([Factor(name, (-1.0, 1.0), "numeric") for name in "xy"])
    observed = {
        "line": 3 + 2 * settings["x"],
        "ridge": (settings["x"] + settings["y"]) ** 2,
        "constant": settings["x"] * 0 + 1e6,
    }[response]
    surface = fit_response_surface(settings, observed)
    assert surface.kind == "ridge"
    assert "flat in some direction" in surface.warnings[0]
    best = next_point(surface, maximise=True).predicted
    assert best >= observed.max() - 1e-6
    assert np.isnan(surface.r_squared) == (response == "constant")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("maximise", [False, True])
def test_the_next_point_is_the_best_of_the_range(seed, maximise):
    """Saddles included; a search from many starts finds nothing better."""
    random = np.random.default_rng(seed)
    truth = quadratic(seed, 3, random.choice([-1, 1], size=3))
    settings = central_composite([Factor(n, (-1.0, 1.0), "numeric") for n in "xyz"], "faced")
    surface = fit_response_surface(settings, values(settings, *truth))
    following = next_point(surface, maximise=maximise)
    sign = -1.0 if maximise else 1.0

    def height(point):
        return sign * (truth[0] + truth[1] @ point + point @ truth[2] @ point)

    found = min(
        minimize(height, start, bounds=[(-1, 1)] * 3).fun
        for start in random.uniform(-1, 1, size=(20, 3))
    )
    assert sign * following.predicted == pytest.approx(found, abs=1e-6)
    assert all(-1 <= value <= 1 for value in following.setting.values())


def test_whole_factors_get_whole_numbers():
    factors = [Factor("k", (1, 9), "numeric", whole=True)]
    settings = pd.DataFrame({"k": [1, 5, 9]})
    surface = fit_response_surface(settings, (settings["k"] - 3.8) ** 2, factors)
    assert surface.stationary_point["k"] == pytest.approx(3.8)
    following = next_point(surface, maximise=False)
    assert following.setting == {"k": 4}
    assert following.predicted == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("settings", "response", "message"),
    [
        ({"x": [0, 1, 2], "y": [0, 1, 0]}, [1, 2, 3], "3 runs determine 3 of the 6"),
        ({"x": [0, 1, 0, 1]}, [1, 2, 3, 4], "with three levels of each factor"),
        ({"x": [1, 1, 1]}, [1, 2, 3], "'x' needs at least two different values"),
        ({"x": [1, np.nan, 3]}, [1, 2, 3], "none missing"),
        ({"x": ["a", "b", "c"]}, [1, 2, 3], "'x' is not numeric; fit one surface per level"),
        ({"x": [1, 2, 3]}, [1, 2], r"response has the shape \(2,\), but there are 3 runs"),
        ({"x": [1, 2, 3]}, [1, np.nan, 2], "the value of run 1 is missing"),
    ],
)
def test_bad_runs(settings, response, message):
    with pytest.raises(DataError, match=message):
        fit_response_surface(pd.DataFrame(settings), response)


def test_a_factor_that_was_not_run():
    with pytest.raises(UnknownNameError, match="column of settings 'z'"):
        fit_response_surface(
            pd.DataFrame({"x": [1, 2, 3]}), [1, 2, 3], [Factor("z", (1, 2), "numeric")]
        )
