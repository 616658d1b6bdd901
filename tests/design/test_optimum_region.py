"""The confidence region of a stationary point: Fieller's interval, coverage, and open regions."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.base import DataError
from verulam.design import Factor, central_composite, fit_response_surface, optimum_region

RUNS = pd.DataFrame({"x": [-2.0, -1, 0, 0, 0, 1, 2]})
RESPONSE = np.array([9.9, 6.7, 5.1, 4.8, 5.0, 5.4, 7.8])
BOWL = central_composite([Factor(name, (-1, 1), "numeric") for name in "xy"])


def bowl(noise, seed=0):
    """Return responses with their minimum at x = 0.3, y = -0.2, and noise."""
    x, y = BOWL["x"] - 0.3, BOWL["y"] + 0.2
    return x**2 + 0.5 * x * y + 2 * y**2 + noise * np.random.default_rng(seed).normal(size=len(x))


def fieller(runs, response, confidence):
    """Return Fieller's interval for the ratio -b / (2 c) of a parabola."""
    design = np.vander(runs, 3)[:, ::-1]
    inverse = np.linalg.inv(design.T @ design)
    _, slope, bend = inverse @ design.T @ response
    freedom = len(runs) - 3
    residual = response - design @ (inverse @ design.T @ response)
    covariance = inverse * (residual @ residual) / freedom
    t = stats.t.isf((1 - confidence) / 2, freedom) ** 2
    # (b + 2 c f)^2 <= t^2 Var(b + 2 c f), a quadratic inequality in f.
    roots = np.roots(
        [
            4 * bend**2 - 4 * t * covariance[2, 2],
            4 * slope * bend - 4 * t * covariance[1, 2],
            slope**2 - t * covariance[1, 1],
        ]
    )
    return np.sort(roots)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_one_factor_has_fiellers_interval(confidence):
    region = optimum_region(fit_response_surface(RUNS, RESPONSE), confidence)
    low, high = region.intervals.loc["x", ["low", "high"]]
    assert_allclose([low, high], fieller(RUNS["x"].to_numpy(), RESPONSE, confidence), rtol=1e-5)
    assert region.closed


def test_the_truth_is_inside_as_often_as_it_says():
    truth = pd.DataFrame({"x": [0.3], "y": [-0.2]})
    inside = [
        optimum_region(fit_response_surface(BOWL, bowl(0.5, seed)), 0.9).contains(truth)[0]
        for seed in range(500)
    ]
    assert np.mean(inside) == pytest.approx(0.9, abs=0.04)


@pytest.mark.parametrize("noise", [0.3, 0.01, 1e-5])
def test_intervals_are_the_ends_of_the_region(noise):
    """A fine grid around the region, however small, has the same ends."""
    region = optimum_region(fit_response_surface(BOWL, bowl(noise)))
    table = region.intervals
    wide = table["high"] - table["low"]
    axes = [
        np.linspace(table["low"][n] - 0.2 * wide[n], table["high"][n] + 0.2 * wide[n], 301)
        for n in "xy"
    ]
    grid = pd.DataFrame(np.stack(np.meshgrid(*axes), -1).reshape(-1, 2), columns=["x", "y"])
    inside = grid[region.contains(grid)]
    assert region.closed
    for name in "xy":
        step = 1.4 * wide[name] / 300
        assert inside[name].min() == pytest.approx(table["low"][name], abs=1.5 * step)
        assert inside[name].max() == pytest.approx(table["high"][name], abs=1.5 * step)
        assert table["low"][name] < table["optimum"][name] < table["high"][name]


def test_a_doubtful_curvature_leaves_the_region_open():
    region = optimum_region(fit_response_surface(BOWL, bowl(5.0)))
    assert not region.closed
    factor = region.intervals.loc["x"]
    assert factor["high"] <= BOWL["x"].max() + 1e-9


def test_whole_and_log_factors_have_ends_in_their_units():
    factors = [Factor("k", (1, 64), "log", whole=True), Factor("x", (0, 4), "numeric")]
    settings = central_composite(factors)
    noise = 0.1 * np.random.default_rng(1).normal(size=len(settings))
    response = (np.log2(settings["k"]) - 3) ** 2 + (settings["x"] - 1) ** 2 + noise
    table = optimum_region(fit_response_surface(settings, response, factors)).intervals
    assert table.loc["k", "low"] < 8 < table.loc["k", "high"]
    assert table.loc["k", "low"] != round(table.loc["k", "low"])
    assert table.loc["x", "low"] < 1 < table.loc["x", "high"]


def test_without_noise_the_region_is_a_point_and_outside_the_range_there_is_none():
    exact = optimum_region(fit_response_surface(BOWL, bowl(0.0)))
    assert_allclose(exact.intervals[["low", "high"]], [[0.3, 0.3], [-0.2, -0.2]], atol=1e-9)
    assert exact.contains(pd.DataFrame({"x": [0.3, 0.31], "y": [-0.2, -0.2]})).tolist() == [1, 0]
    noise = 0.01 * np.random.default_rng(0).normal(size=7)
    beyond = optimum_region(fit_response_surface(RUNS, (RUNS["x"] - 9) ** 2 + noise))
    assert beyond.intervals[["low", "high"]].isna().to_numpy().all()


def test_bad_regions():
    with pytest.raises(DataError, match="confidence: 95; expected a number between 0 and 1"):
        optimum_region(fit_response_surface(RUNS, RESPONSE), 95)
    with pytest.raises(DataError, match="as many coefficients as runs leave no error"):
        optimum_region(fit_response_surface(RUNS[:3], RESPONSE[:3]))
