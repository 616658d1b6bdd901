"""Pictures of smoothers: what is drawn is what the records say."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.nonparametric import (
    AdditiveModel,
    Loess,
    RunningMean,
    RunningMedian,
    bias_variance,
)
from verulam.plots import bias_variance_curve, component_curve, smooth_curves


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"year": np.sort(rng.uniform(0, 10, 60))})
    return X, pd.Series(np.sin(X["year"]) + 0.1 * rng.normal(size=60), name="height")


def test_curves_bands_and_points(data):
    X, y = data
    smoothers = {
        "loess": Loess(n_iter=0).fit(X, y),
        "median": RunningMedian(bandwidth=1.0).fit(X, y),
    }
    axes = smooth_curves(smoothers, X, y, level=0.9)
    points, first, second = axes.lines
    assert_allclose(points.get_ydata(), y)
    grid = pd.DataFrame({"year": first.get_xdata()})
    assert_allclose(first.get_ydata(), smoothers["loess"].predict(grid))
    assert_allclose(second.get_ydata(), smoothers["median"].predict(grid))
    assert len(axes.collections) == 2
    limits = smoothers["median"].predict_band(grid, level=0.9)
    drawn = axes.collections[1].get_paths()[0].vertices
    finite = np.isfinite(limits.lower)
    assert finite.any()
    assert drawn[:, 1].min() == limits.lower[finite].min()
    limits = smoothers["loess"].predict_band(grid, level=0.9)
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(limits.upper.max())
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("year", "height")


def test_without_points_and_band(data):
    X, y = data
    axes = smooth_curves(RunningMean(bandwidth=1.0).fit(X, y), X, band=False)
    assert len(axes.lines) == 1
    assert not axes.collections
    assert axes.get_legend() is None


def test_one_input_only():
    with pytest.raises(DataError, match="X must have one column, but its shape is"):
        smooth_curves(RunningMean(), np.zeros((5, 2)))


def test_bias_variance(data):
    study = bias_variance(
        RunningMean(),
        "bandwidth",
        [0.1, 0.5, 5.0],
        lambda X: np.sin(X[:, 0]),
        np.linspace(0, 6, 30)[:, None],
        noise=0.2,
        n_samples=10,
        random_state=0,
    )
    axes = bias_variance_curve(study)
    bias, variance, total = axes.lines[:3]
    assert_allclose(np.add(bias.get_ydata(), variance.get_ydata()), total.get_ydata())
    assert axes.get_xscale() == "log"


def test_component():
    X = np.random.default_rng(0).uniform(size=(50, 2))
    y = X[:, 0] + 3 * X[:, 1] ** 2
    model = AdditiveModel().fit(X, y)
    axes = component_curve(model, 1, X, y)
    order = np.argsort(X[:, 1])
    assert_allclose(axes.lines[1].get_ydata(), model.components(X)[order, 1])
    left = y - model.intercept_ - model.components(X)[:, 0]
    assert_allclose(axes.lines[0].get_ydata(), left)
    with pytest.raises(DataError, match="column is 2, but X has columns 0 to 1"):
        component_curve(model, 2, X)


def test_smoothers_that_are_not_fitted_are_fitted_to_the_points(data):
    X, y = data
    smoother = Loess()
    drawn, expected = smooth_curves(smoother, X, y), smooth_curves(Loess().fit(X, y), X, y)
    curves = [axes.lines[-1].get_ydata() for axes in (drawn, expected)]
    assert_allclose(*curves)
    assert not hasattr(smoother, "n_features_in_")
