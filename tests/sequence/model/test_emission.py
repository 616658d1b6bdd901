"""An emission of one's own: the contract is enough to learn, score and sample."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import expon

from verulam.base import DataError, SumRecord
from verulam.sequence import Emission, HiddenMarkovModel


@dataclass(frozen=True)
class Scales:
    scales: np.ndarray


@dataclass(frozen=True)
class Totals(SumRecord):
    total: np.ndarray
    weight: np.ndarray


class WaitingTimes(Emission):
    """Exponential waiting times, as a user would write them."""

    def blank(self, survey, head, n_states):
        return Scales(np.full(n_states, head.mean()))

    def log_likelihoods(self, parameters, values):
        return expon(scale=parameters.scales).logpdf(values)

    def statistics(self, parameters, values, weights):
        return Totals(weights.T @ values[:, 0], weights.sum(axis=0))

    def update(self, parameters, sums):
        return Scales(sums.total / sums.weight)

    def sample(self, parameters, states, random):
        return random.exponential(parameters.scales[states])[:, None]


def test_own_emission():
    random = np.random.default_rng(0)
    X = random.exponential(np.repeat([1.0, 20.0, 1.0, 20.0], 60))
    model = HiddenMarkovModel(2, WaitingTimes(), random_state=0, max_iter=500).fit(X)
    assert (np.diff(model.objective_curve_) > -1e-8).all()
    assert_allclose(np.sort(model.emission_.scales), [1.0, 20.0], rtol=0.4)
    assert model.sample(5, random_state=0).observations[0].shape == (5, 1)
    assert model.n_parameters_ == 5
    assert model.model_.take(np.array([1])).emission.scales.shape == (1,)
    with pytest.raises(DataError, match="has no expected row"):
        model.forecast(X, 2)
