"""Additive models: the joint least-squares fit, recovered components, any smoother."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t as student
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from verulam.base import DataError
from verulam.nonparametric import (
    AdditiveModel,
    KernelSmoother,
    Loess,
    Regressogram,
    RunningLine,
    RunningMean,
    RunningMedian,
    SmoothingSpline,
)
from verulam.nonparametric._additive import additive_model
from verulam.nonparametric._additive.additive_model import additive_weights


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 3))
    truth = np.column_stack([X[:, 0] ** 2, np.sin(3 * X[:, 1]), np.zeros(300)])
    return X, truth.sum(axis=1) + 0.1 * rng.normal(size=300), truth - truth.mean(axis=0)


def test_lines_in_each_input_give_the_joint_least_squares_plane(data):
    X, y, _ = data
    X = X @ [[1.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]]
    model = AdditiveModel(smoother=LinearRegression(), tol=1e-12, max_iter=500).fit(X, y)
    assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), atol=1e-8)


def test_backfitting_solves_the_equations_of_linear_smoothers(data):
    """At the end each component is the centred smooth of what the others leave."""
    X, y, _ = data
    model = AdditiveModel(smoother=RunningMean(bandwidth=0.3), tol=1e-10).fit(X, y)
    parts = model.components(X)
    for place in range(3):
        left = y - y.mean() - parts.sum(axis=1) + parts[:, place]
        smooth = RunningMean(bandwidth=0.3).fit(X[:, [place]], left).predict(X[:, [place]])
        assert_allclose(parts[:, place], smooth - smooth.mean(), atol=1e-7)


@pytest.mark.parametrize(
    "smoother", [None, SmoothingSpline(alpha=0.05), KernelSmoother(bandwidth=0.1)]
)
def test_components_are_recovered(data, smoother):
    X, y, truth = data
    model = AdditiveModel(smoother=smoother).fit(X, y)
    assert np.sqrt(np.square(model.components(X) - truth).mean(axis=0)).max() < 0.2
    assert_allclose(model.components(X).mean(axis=0), 0.0, atol=1e-9)
    assert_allclose(model.predict(X), y.mean() + model.components(X).sum(axis=1))
    assert 5 < model.effective_degrees_ < 60


def test_another_smoother_for_some_inputs(data):
    X, y, _ = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = AdditiveModel(smoothers={"b": Regressogram(bandwidth=0.5)}).fit(frame, y)
    assert isinstance(model.smoothers_[1], Regressogram)
    assert len(np.unique(model.components(frame)[:, 1])) <= 5
    by_place = AdditiveModel(smoothers={1: Regressogram(bandwidth=0.5)}).fit(X, y)
    assert_allclose(by_place.predict(X), model.predict(frame))


def test_any_regressor_will_do(data):
    X, y, _ = data
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    model = AdditiveModel(smoother=tree, max_iter=20, tol=0.0).fit(X, y)
    assert model.score(X, y) > 0.7
    assert np.isnan(model.effective_degrees_)


def test_one_input_is_the_smoother_itself(data):
    X, y, _ = data
    model = AdditiveModel(smoother=RunningMean(bandwidth=0.3)).fit(X[:, :1], y)
    alone = RunningMean(bandwidth=0.3).fit(X[:, :1], y - y.mean()).predict(X[:, :1])
    assert_allclose(model.predict(X[:, :1]), y.mean() + alone - alone.mean())


def test_moves_shrink_and_are_kept(data):
    X, y, _ = data
    model = AdditiveModel().fit(X, y)
    assert model.n_iter_ == len(model.change_curve_)
    assert model.change_curve_[-1] <= 1e-4 < model.change_curve_[0]
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        AdditiveModel(max_iter=1).fit(X, y)


def test_unknown_input(data):
    X, y, _ = data
    with pytest.raises(DataError, match="names the input 7; accepted are 0 to 2"):
        AdditiveModel(smoothers={7: RunningMean()}).fit(X, y)


def test_bands_of_components():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 2))
    y = X[:, 0] ** 2 + np.sin(3 * X[:, 1]) + 0.1 * rng.normal(size=150)
    model = AdditiveModel().fit(X, y)
    bands, parts = model.component_bands(X), model.components(X)
    for place, band in enumerate(bands):
        assert_allclose(band.values, parts[:, place], atol=1e-9)
        assert_allclose(band.upper - band.values, band.values - band.lower)
        assert (band.upper - band.lower > 0).all()
    wider = model.component_bands(X, coverage="curve")
    assert (wider[0].upper > bands[0].upper).all()


def test_band_of_lines_is_that_of_least_squares(data):
    """Standard errors of a plane, with as many degrees of freedom as it leaves."""
    X, y, _ = data
    X = X[:60] @ [[1.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]]
    lines = RunningLine(bandwidth=1e3)
    model = AdditiveModel(smoother=lines, tol=1e-10, max_iter=500).fit(X, y[:60])
    queries = np.random.default_rng(1).normal(size=(9, 3))
    band = model.predict_band(queries, level=0.9)
    design = np.column_stack([np.ones(60), X])
    plane = LinearRegression().fit(X, y[:60])
    noise = np.sqrt(np.square(y[:60] - plane.predict(X)).sum() / 56)
    at = np.column_stack([np.ones(9), queries])
    errors = noise * np.sqrt(np.einsum("ij,jk,ik->i", at, np.linalg.inv(design.T @ design), at))
    assert band.degrees_of_freedom == pytest.approx(56.0, abs=1e-4)
    assert_allclose(band.standard_errors, errors, rtol=1e-5)
    assert_allclose(band.values, plane.predict(queries), atol=1e-7)
    assert_allclose(band.upper, band.values + student.ppf(0.95, 56) * errors, rtol=1e-5)


def test_bands_that_hold_at_all_rows(data):
    X, y, _ = data
    model = AdditiveModel(smoother=SmoothingSpline(alpha=0.05), tol=0.01).fit(X, y)
    alone, together = (
        model.predict_band(X[:50], coverage=coverage) for coverage in ("pointwise", "rows")
    )
    assert together.factor > 1.2 * alone.factor
    assert_allclose(alone.values, model.predict(X[:50]))
    assert alone.noise == pytest.approx(0.1, rel=0.3)
    with pytest.raises(DataError, match="coverage='curve' needs one input"):
        model.predict_band(X[:50], coverage="curve")
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        model.predict_band(X[:50], level=95)


def test_bands_need_linear_smoothers(data):
    X, y, _ = data
    for smoother in (RunningMedian(bandwidth=0.5), KNeighborsRegressor(20)):
        model = AdditiveModel(smoothers={1: smoother}, max_iter=3, tol=0.0).fit(X, y)
        name = type(smoother).__name__
        for ask in (model.predict_band, model.component_bands):
            with pytest.raises(DataError, match=f"{name}, the smoother of input 1, has no weights"):
                ask(X)


def test_few_rows():
    rng = np.random.default_rng(0)
    for n_rows in (2, 3):
        X, y = rng.normal(size=(n_rows, 3)), rng.normal(size=n_rows)
        assert np.isfinite(AdditiveModel().fit(X, y).predict(X)).all()


@pytest.fixture
def slanted():
    """Return inputs that depend on one another, and targets."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(80, 3)) @ [[1.0, 0.6, 0.0], [0.0, 1.0, 0.4], [0.0, 0.0, 1.0]]
    return X, X[:, 0] ** 2 + np.sin(3 * X[:, 1]) + 0.1 * rng.normal(size=80)


@pytest.mark.parametrize("n_rounds", [1, 2, 25])
@pytest.mark.parametrize(
    "smoother",
    [RunningMean(bandwidth=0.5), Loess(span=0.5, n_iter=0), SmoothingSpline(alpha=0.1)],
)
def test_weighted_targets_are_the_predictions(slanted, smoother, n_rounds):
    """After any number of rounds, at new inputs too."""
    X, y = slanted
    model = AdditiveModel(
        smoother=smoother,
        smoothers={0: KernelSmoother(bandwidth=0.3), 2: Regressogram(bandwidth=0.4)},
        max_iter=n_rounds,
        tol=0.0,
    ).fit(X, y)
    linear = additive_weights(model.smoothers_, X, model.n_iter_)
    queries = np.random.default_rng(1).uniform(-0.9, 0.9, size=(20, 3))
    for asked in (X, queries):
        assert_allclose(linear.weights(asked) @ y, model.predict(asked), atol=1e-9)
        assert_allclose(linear.weights(asked).sum(axis=1), 1.0)


def test_too_many_rows_are_refused(slanted, monkeypatch):
    X, y = slanted
    monkeypatch.setattr(additive_model, "MOST_ROWS", 79)
    model = AdditiveModel(tol=0.1).fit(X, y)
    with pytest.raises(DataError, match=r"all 80 targets .* up to 79 rows; `component_bands`"):
        model.predict_band(X)
