"""What several chains show: regression on their states, and columns of their own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import (
    AdditiveEmission,
    AdditiveStates,
    CategoricalEmission,
    ChainEmission,
    GaussianEmission,
    read_sequences,
)

RANDOM = np.random.default_rng(0)


def test_contributions_are_a_regression_on_the_states():
    sizes = (2, 3)
    emission = AdditiveEmission(sizes)
    X = RANDOM.normal(size=(50, 2)) + 7.0
    weights = RANDOM.dirichlet(np.ones(6), 50)
    blank = emission.blank(None, X, 6)
    new = emission.update(blank, emission.statistics(blank, X, weights))
    rows = np.repeat(emission.design, 50, axis=0)
    heavy = np.sqrt(weights.T.ravel())[:, None]
    line = np.linalg.lstsq(rows * heavy, np.tile(X, (6, 1)) * heavy, rcond=None)[0]
    assert_allclose(new.means, emission.design @ line)
    assert_allclose(emission.design @ new.contributions, new.means)
    residuals = np.tile(X, (6, 1)) - rows @ line
    scatter = (residuals * weights.T.ravel()[:, None]).T @ residuals
    assert_allclose(new.covariances, scatter / 50)


def test_fixed_contributions_stay():
    known = [[0.0], [1.0], [0.0], [5.0]]
    emission = AdditiveEmission(
        (2, 2), contributions=known, covariances=[[1.0]], fixed=("contributions",)
    )
    blank = emission.with_start_values(emission.ready(4, 1))
    X = RANDOM.normal(size=(20, 1))
    new = emission.update(blank, emission.statistics(blank, X, RANDOM.dirichlet(np.ones(4), 20)))
    assert_allclose(new.contributions, known)
    assert_allclose(new.means.ravel(), [0.0, 5.0, 1.0, 6.0])
    assert emission.n_parameters(new) == 1
    with pytest.raises(DataError, match=r"contributions of AdditiveEmission has shape \(1, 1\)"):
        AdditiveEmission((2, 2), contributions=[[1.0]]).with_start_values(blank)


def test_each_chain_shows_its_own_columns():
    parts = (
        GaussianEmission(means=[[0.0], [4.0]], covariances=[[1.0], [2.0]]),
        CategoricalEmission(probabilities=[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]),
    )
    emission = ChainEmission((2, 3), parts)
    parameters = emission.with_start_values(emission.ready(6, 2))
    X = np.array([[0.5, 0.0], [3.0, 1.0], [np.nan, 1.0]])
    values = emission.encode(read_sequences(X), parameters)
    table = emission.log_likelihoods(parameters, values)
    first = parts[0].log_likelihoods(parameters.parts[0], X[:, :1])
    second = np.log(np.array(parts[1].probabilities))[:, X[:, 1].astype(int)].T
    for flat, (one, other) in enumerate(emission.chain_states):
        assert_allclose(table[:, flat], first[:, one] + second[:, other])
    weights = RANDOM.dirichlet(np.ones(6), 3)
    sums = emission.statistics(parameters, values, weights)
    chain_weights = weights.reshape(3, 2, 3).sum(axis=1)
    assert_allclose(sums.parts[1].counts[1], chain_weights[1:].sum(axis=0))
    with pytest.raises(DataError, match="2 sizes and 1 emissions"):
        ChainEmission((2, 2), (GaussianEmission(),)).encode(read_sequences(X))


def test_states_of_chains_have_the_density_of_their_sum():
    emission = AdditiveEmission((2, 2))
    contributions = np.array([[0.0], [1.0], [0.0], [5.0]])
    states = AdditiveStates(
        emission.design @ contributions, np.eye(1), np.zeros(1), np.ones(1), contributions
    )
    densities = emission.log_likelihoods(states, np.array([[6.0]]))
    squares = (6.0 - np.array([0.0, 5.0, 1.0, 6.0])) ** 2
    assert_allclose(densities[0], -0.5 * (squares + np.log(2 * np.pi)))
    assert emission.n_parameters(states) == 4
