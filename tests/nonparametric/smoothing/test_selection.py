"""How much to smooth: criteria against refitting, and bias against variance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

from verulam.base import DataError, UnknownNameError
from verulam.data import noisy_sine
from verulam.nonparametric import (
    BiasVariance,
    KernelSmoother,
    LocalPolynomial,
    Loess,
    NeighbourSmoother,
    RunningMean,
    RunningMedian,
    SmoothingCurve,
    SmoothingSpline,
    bias_variance,
    select_smoothing,
)


@pytest.fixture
def sine():
    sample = noisy_sine(80, noise=0.3, random_state=0)
    return sample.inputs.to_numpy(), sample.target_values.to_numpy()


@pytest.mark.parametrize(
    ("smoother", "parameter", "values"),
    [
        (KernelSmoother(), "bandwidth", [0.01, 0.05, 0.3]),
        (NeighbourSmoother(), "n_neighbors", [1, 8, 40]),
        (SmoothingSpline(), "alpha", [1e-6, 1e-3, 10.0]),
        (RunningMedian(), "bandwidth", [0.05, 0.2]),
    ],
)
def test_leaving_out_one_equals_fitting_again(sine, smoother, parameter, values):
    X, y = sine
    curve = select_smoothing(smoother, parameter, values, X, y)
    errors = []
    for value in values:
        smoother.set_params(**{parameter: value})
        predicted = cross_val_predict(smoother, X, y, cv=LeaveOneOut())
        errors.append(np.square(y - predicted).mean())
    assert_allclose(curve.validation, errors, rtol=1e-7)
    assert curve.best == values[int(np.argmin(errors))]
    assert getattr(curve.learner, parameter) == curve.best


@pytest.mark.parametrize("criterion", ["loo", "gcv", "aicc", "folds"])
def test_all_criteria_find_a_sensible_width(sine, criterion):
    X, y = sine
    widths = np.geomspace(0.003, 2.0, 25)
    curve = select_smoothing(KernelSmoother(), "bandwidth", widths, X, y, criterion=criterion)
    assert 0.02 < curve.best < 0.2
    assert (np.diff(curve.effective_degrees) < 0).all()
    assert curve.training[0] < curve.training[-1]
    truth = np.sin(6 * X[:, 0])
    assert np.square(curve.learner.predict(X) - truth).mean() < 0.02


def test_degree_is_chosen_by_cross_validation():
    """A curve that bends within the window asks for a parabola, a flat one for a mean."""
    rng = np.random.default_rng(0)
    X = np.linspace(-1, 1, 100)[:, None]
    flat, bent = 0.5 * rng.normal(size=100), 9 * X[:, 0] ** 2 + 0.1 * rng.normal(size=100)
    for y, degree in ((flat, 0), (bent, 2)):
        curve = select_smoothing(LocalPolynomial(bandwidth=0.5), "degree", [0, 1, 2], X, y)
        assert curve.best == degree


def test_curve_as_a_table(sine):
    X, y = sine
    curve = select_smoothing(Loess(), "span", [0.2, 0.5], X, y, criterion="gcv")
    table = curve.to_frame()
    assert list(table.columns) == ["training", "gcv", "effective_degrees", "best"]
    assert table.index.name == "span"
    assert table["best"].sum() == 1


def test_any_regressor_by_folds(sine):
    X, y = sine
    curve = select_smoothing(
        KNeighborsRegressor(), "n_neighbors", [1, 10], X, y, criterion="folds", cv=5
    )
    assert curve.best == 10
    assert np.isnan(curve.effective_degrees).all()


def test_bad_requests(sine):
    X, y = sine
    with pytest.raises(UnknownNameError, match=r"Unknown criterion 'gvc'. Nearest: gcv"):
        select_smoothing(RunningMean(), "bandwidth", [0.1], X, y, criterion="gvc")
    with pytest.raises(DataError, match="values is empty"):
        select_smoothing(RunningMean(), "bandwidth", [], X, y)
    with pytest.raises(
        DataError, match=r"RunningMedian has no effective degrees.*'loo' and 'folds'"
    ):
        select_smoothing(RunningMedian(), "bandwidth", [0.1], X, y, criterion="gcv")


def test_bias_and_variance_by_theory():
    """A linear smoother has bias (S - 1) g and variance s^2 |l|^2 at each point."""
    X = np.linspace(0, 1, 40)[:, None]
    truth = np.sin(6 * X[:, 0])
    study = bias_variance(
        RunningMean(), "bandwidth", [0.04, 0.2, 0.6], lambda X: np.sin(6 * X[:, 0]), X,
        noise=0.5, n_samples=400, random_state=0,
    )  # fmt: skip
    for place, width in enumerate(study.values):
        matrix = RunningMean(bandwidth=width).fit(X, truth).weights(X)
        bias = np.square(matrix @ truth - truth).mean()
        variance = 0.25 * np.square(matrix).sum(axis=1).mean()
        assert study.squared_bias[place] == pytest.approx(bias, abs=0.002)
        assert study.variance[place] == pytest.approx(variance, rel=0.1)
    assert (np.diff(study.squared_bias) > 0).all()
    assert (np.diff(study.variance) < 0).all()
    assert_allclose(study.error, study.squared_bias + study.variance)
    assert study.best == 0.04 or study.best == 0.2
    assert list(study.to_frame().columns) == ["squared_bias", "variance", "error"]


def test_study_is_repeatable():
    X = np.linspace(0, 1, 20)[:, None]
    first, second = (
        bias_variance(
            RunningMean(), "bandwidth", [0.1], lambda X: X[:, 0], X, noise=1.0, n_samples=3,
            random_state=5, points=[[0.5]],
        )
        for _ in range(2)
    )  # fmt: skip
    assert first.curves.shape == (1, 3, 1)
    assert_allclose(first.curves, second.curves, rtol=0)


def test_the_best_value_has_the_least_sum_of_squared_bias_and_variance():
    study = BiasVariance(
        parameter="bandwidth",
        values=(0.1, 0.5, 2.0),
        squared_bias=np.array([0.0, 0.1, 0.9]),
        variance=np.array([0.5, 0.2, 0.1]),
        noise=0.04,
        curves=np.zeros((3, 1, 1)),
        truth=np.zeros(1),
    )
    assert_allclose(study.error, [0.5, 0.3, 1.0])
    assert study.best == 0.5


def test_the_table_of_a_curve_marks_the_best_value():
    curve = SmoothingCurve(
        parameter="span",
        values=(0.2, 0.4),
        criterion="loo",
        training=np.array([1.0, 2.0]),
        validation=np.array([4.0, 3.0]),
        effective_degrees=np.array([9.0, 5.0]),
        best=0.4,
        learner=None,
    )
    table = curve.to_frame()
    assert table.index.name == "span"
    assert table["best"].tolist() == [False, True]
    assert table["loo"].tolist() == [4.0, 3.0]
