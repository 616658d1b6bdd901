"""Groups and weights on their way through pipelines."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from verulam.experiment._learning.fitting import fit_learner, takes_weights, target_encoders
from verulam.experiment._preparation.preparation import prepared


def test_weights_reach_the_last_step():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 2.0, 9.0])
    weights = np.array([1.0, 1.0, 1.0, 0.0])
    for learner in (
        LinearRegression(),
        make_pipeline(StandardScaler(), LinearRegression()),
        make_pipeline(
            StandardScaler(),
            TransformedTargetRegressor(LinearRegression(), transformer=StandardScaler()),
        ),
    ):
        assert takes_weights(learner)
        fitted = fit_learner(learner, X, y, weights=weights)
        assert fitted.predict(X) == pytest.approx([0.0, 1.0, 2.0, 3.0])
    neighbours = make_pipeline(StandardScaler(), KNeighborsRegressor(1))
    assert not takes_weights(neighbours)
    assert fit_learner(neighbours, X, y, weights=weights).predict(X) == pytest.approx(y)


class Keeps(LinearRegression):
    """Remembers what it was fitted to."""

    def fit(self, X, y):
        self.inputs_ = np.asarray(X)
        return super().fit(X, y)


def test_words_become_means_of_other_groups():
    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 10)
    # Every group lives in a town of its own, and has one outcome: from its other rows it would
    # be known, from other groups it is not.
    towns = [f"town {group}" for group in groups]
    outcome = random.normal(size=30)[groups]
    frame = pd.DataFrame({"town": towns})
    learner = prepared(Keeps(), frame, scale=False).estimator

    def correlation(**options):
        fitted = fit_learner(learner, frame, outcome, **options)
        words = fitted[-1].inputs_[:, 0]
        return 0.0 if np.ptp(words) == 0 else abs(np.corrcoef(words, outcome)[0, 1])

    assert correlation() > 0.9
    assert correlation(groups=groups) < 0.5
    # The model does not hold the parts of its training rows.
    encoders = list(target_encoders(learner))
    assert encoders
    assert all(isinstance(encoder.cv, KFold) for encoder in encoders)
