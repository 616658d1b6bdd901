"""Weights of the targets in an additive model: they make its predictions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.nonparametric import (
    AdditiveModel,
    KernelSmoother,
    Loess,
    Regressogram,
    RunningMean,
    SmoothingSpline,
)
from verulam.nonparametric._additive import additive_bands as _additive_bands
from verulam.nonparametric._additive.additive_bands import additive_weights


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(80, 3)) @ [[1.0, 0.6, 0.0], [0.0, 1.0, 0.4], [0.0, 0.0, 1.0]]
    return X, X[:, 0] ** 2 + np.sin(3 * X[:, 1]) + 0.1 * rng.normal(size=80)


@pytest.mark.parametrize("n_rounds", [1, 2, 25])
@pytest.mark.parametrize(
    "smoother",
    [RunningMean(bandwidth=0.5), Loess(span=0.5, n_iterations=0), SmoothingSpline(penalty=0.1)],
)
def test_weighted_targets_are_the_predictions(data, smoother, n_rounds):
    """After any number of rounds, at new inputs too."""
    X, y = data
    model = AdditiveModel(
        smoother=smoother,
        smoothers={0: KernelSmoother(bandwidth=0.3), 2: Regressogram(bandwidth=0.4)},
        n_iterations=n_rounds,
        tolerance=0.0,
    ).fit(X, y)
    found = additive_weights(model.smoothers_, X, model.n_iter_)
    queries = np.random.default_rng(1).uniform(-0.9, 0.9, size=(20, 3))
    for asked in (X, queries):
        assert_allclose(found.weights(asked) @ y, model.predict(asked), atol=1e-9)
        assert_allclose(found.weights(asked).sum(axis=1), 1.0)


def test_too_many_rows_are_refused(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(_additive_bands, "MOST_ROWS", 79)
    model = AdditiveModel(tolerance=0.1).fit(X, y)
    with pytest.raises(DataError, match=r"all 80 targets .* up to 79 rows; `component_bands`"):
        model.predict_band(X)
