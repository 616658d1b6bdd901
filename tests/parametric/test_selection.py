"""Choosing a complexity by validation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from verulam.parametric import (
    COVARIANCE_TYPES,
    ComplexityCurve,
    GaussianClassifier,
    PolynomialRegression,
    select_complexity,
)


@pytest.fixture
def cubic():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(120, 1))
    return X, X[:, 0] ** 3 - 0.5 * X[:, 0] + 0.05 * rng.normal(size=120)


def test_degree_of_a_cubic_is_found(cubic):
    curve = select_complexity(PolynomialRegression(), "degree", range(1, 9), *cubic)
    assert curve.selected == 3
    assert curve.validation[0] > 2 * curve.validation[2]
    assert (np.diff(curve.training) <= 1e-12).all()


def test_errors_are_those_of_scikit_learn(cubic):
    folds = KFold(5, shuffle=True, random_state=3)
    curve = select_complexity(PolynomialRegression(), "degree", [2], *cubic, cv=folds)
    scores = cross_val_score(
        PolynomialRegression(degree=2), *cubic, cv=folds, scoring="neg_mean_squared_error"
    )
    assert_allclose(curve.validation, [-scores.mean()])
    assert_allclose(curve.validation_error, [scores.std(ddof=1) / np.sqrt(5)])


def test_covariance_family_by_validation():
    curve = select_complexity(
        GaussianClassifier(), "covariance_type", COVARIANCE_TYPES, *load_iris(return_X_y=True)
    )
    frame = curve.to_frame()
    assert list(frame.index) == list(COVARIANCE_TYPES)
    assert frame["selected"].sum() == 1
    least = frame["validation"].min()
    selected = frame.loc[curve.selected]
    assert selected["validation"] <= least + frame.loc[curve.best, "standard_error"]
    # A sphere for all is too simple for iris: correlated columns of different scale.
    assert frame.loc["tied", "validation"] < frame.loc["tied_spherical", "validation"]


def test_the_simplest_within_one_standard_error_is_chosen():
    rng = np.random.default_rng(1)
    gaps = 0
    for _ in range(8):
        x = rng.uniform(-1, 1, (40, 1))
        y = x[:, 0] + rng.normal(0, 0.5, 40)
        curve = select_complexity(PolynomialRegression(), "degree", range(1, 7), x, y, cv=5)
        best = curve.values.index(curve.best)
        limit = curve.validation[best] + curve.validation_error[best]
        assert curve.selected == curve.values[np.flatnonzero(curve.validation <= limit)[0]]
        gaps += curve.selected != curve.best
    assert gaps


def test_regularisation_is_a_complexity_too():
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 20))
    y = 4 * X[:, 0] + random.normal(size=30)
    alphas = [1e6, 1e3, 1.0, 1e-8]  # the simplest model first
    curve = select_complexity(Ridge(), "alpha", alphas, X, y, cv=5)
    assert curve.diagnoses[0] == "underfits"
    assert curve.diagnoses[-1] == "overfits"
    assert curve.to_frame()["diagnosis"][curve.selected] == "adequate"
    # Training error falls as the penalty does, whatever validation says.
    assert (np.diff(curve.training) < 0).all()


def test_too_simple_before_the_least_error_and_too_rich_behind():
    curve = ComplexityCurve(
        parameter="degree",
        values=(1, 2, 3, 4),
        training=np.array([4.0, 2.0, 1.0, 0.5]),
        validation=np.array([5.0, 2.4, 2.0, 3.0]),
        validation_error=np.array([0.5, 0.5, 0.5, 0.5]),
        best=3,
        selected=2,
    )
    assert curve.diagnoses == ("underfits", "adequate", "adequate", "overfits")
    assert curve.to_frame()["selected"].tolist() == [False, True, False, False]


def test_errors_of_a_classifier_are_the_share_of_wrong_answers():
    X, species = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[species]
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    curve = select_complexity(GaussianClassifier(), "covariance_type", ["diag"], X, y, cv=folds)
    shares = cross_val_score(GaussianClassifier(covariance_type="diag"), X, y, cv=folds)
    assert_allclose(curve.validation, [1.0 - shares.mean()])
