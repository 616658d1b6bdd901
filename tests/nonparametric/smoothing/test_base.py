"""What smoothers share: criteria by their formulas, bands that cover, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t as student

from verulam.base import DataError
from verulam.nonparametric import (
    AdditiveModel,
    KernelSmoother,
    LocalPolynomial,
    Loess,
    NeighbourSmoother,
    Regressogram,
    RunningLine,
    RunningMean,
    SmoothingSpline,
    TrainingSmooth,
)
from verulam.nonparametric._smoothing.base import left_out_values
from verulam.nonparametric._smoothing.loess import robust_mean_square

LINEAR = [
    Regressogram(bandwidth=1.0),
    Regressogram(bandwidth=2.0, degree=1),
    RunningMean(bandwidth=0.5),
    KernelSmoother(bandwidth=0.3),
    NeighbourSmoother(n_neighbors=9),
    RunningLine(n_neighbors=20),
    Loess(span=0.4, n_iter=0),
    Loess(span=0.4, degree=2),
    LocalPolynomial(bandwidth=0.5, degree=2),
    SmoothingSpline(alpha=0.1),
]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 6, 80))
    return x[:, None], np.sin(x) + 0.2 * rng.normal(size=80)


@pytest.mark.parametrize("smoother", LINEAR)
def test_everything_follows_from_the_weights(data, smoother):
    X, y = data
    smoother.fit(X, y)
    matrix, smooth = smoother.weights(X), smoother.training_smooth()
    assert_allclose(matrix.sum(axis=1), 1.0, atol=1e-9)
    assert_allclose(smooth.fitted, matrix @ y, atol=1e-8)
    assert_allclose(smoother.predict(X), smooth.fitted, atol=1e-8)
    assert smooth.effective_degrees == pytest.approx(np.trace(matrix))
    band = smoother.predict_band(X, level=0.9)
    degrees = 80 - 2 * np.trace(matrix) + np.square(matrix).sum()
    residuals = y - matrix @ y
    mean_square = np.square(residuals).mean()
    if getattr(smoother, "n_iter", 0):
        mean_square = robust_mean_square(residuals, smoother.robustness_)
    noise = np.sqrt(mean_square * 80 / degrees)
    assert band.degrees_of_freedom == pytest.approx(degrees)
    assert band.noise == pytest.approx(noise)
    reach = student.ppf(0.95, degrees) * noise * np.linalg.norm(matrix, axis=1)
    assert_allclose(band.upper - band.values, reach, rtol=1e-6)
    assert_allclose(band.values - band.lower, reach, rtol=1e-6)


def test_criteria_by_their_formulas():
    smooth = TrainingSmooth(
        targets=np.array([1.0, 2.0, 4.0, 3.0, 5.0]),
        fitted=np.array([1.5, 2.0, 3.0, 3.0, 5.0]),
        leverage=np.full(5, 0.2),
        leave_one_out=np.array([2.0, 2.0, 2.0, 3.0, 5.0]),
    )
    assert smooth.training_error == pytest.approx(0.25)
    assert smooth.leave_one_out_error == pytest.approx(1.0)
    assert smooth.effective_degrees == pytest.approx(1.0)
    assert smooth.generalised_error == pytest.approx(0.25 / 0.8**2)
    assert smooth.corrected_aic == pytest.approx(np.log(0.25) + 1 + 4 / 2)


def test_leaving_out_by_proportion():
    value, unknown = left_out_values(
        np.array([4.0, 1.0]), np.array([3.0, 1.0]), np.array([0.5, 1.0])
    )
    assert value[0] == pytest.approx(2.0)
    assert unknown.tolist() == [False, True]


def test_bands_cover_the_mean_of_the_smooth():
    """Over many samples of noise, the limits enclose the smooth of the true curve as promised."""
    rng = np.random.default_rng(0)
    X = np.linspace(0, 6, 60)[:, None]
    truth = np.sin(X[:, 0])
    smoother = RunningMean(bandwidth=0.6)
    expected = smoother.fit(X, truth).predict(X)
    inside = []
    for _ in range(300):
        band = smoother.fit(X, truth + 0.3 * rng.normal(size=60)).predict_band(X, level=0.9)
        inside.append((band.lower <= expected) & (expected <= band.upper))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.02)


def test_bands_widen_beyond_the_data_and_with_the_level(data):
    X, y = data
    loess = Loess(n_iter=0).fit(X, y)
    band = loess.predict_band([[3.0], [9.0]])
    assert band.standard_errors[1] > 3 * band.standard_errors[0]
    wider = loess.predict_band([[3.0]], level=0.99)
    assert wider.upper[0] > band.upper[0]


def test_no_band_without_residuals(data):
    X, y = data
    with pytest.raises(DataError, match="leaves nothing to estimate the noise from; smooth more"):
        NeighbourSmoother(n_neighbors=1).fit(X, y).predict_band(X)


def test_level_is_a_probability(data):
    X, y = data
    with pytest.raises(ValueError, match="level must be between 0 and 1, but got 95"):
        RunningMean(bandwidth=0.5).fit(X, y).predict_band(X, level=95)


@pytest.mark.parametrize("learner", [KernelSmoother(), Loess(), AdditiveModel()])
def test_targets_beyond_squares_are_refused(learner):
    X = np.arange(20.0)[:, None]
    with pytest.raises(DataError, match=r"y holds numbers as large as 1.9e\+201"):
        learner.fit(X, X[:, 0] * 1e200)
    assert np.isfinite(learner.fit(X, X[:, 0] * 1e140).predict(X)).all()
