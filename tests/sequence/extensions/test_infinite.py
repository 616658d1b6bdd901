"""The infinite model: draws against their distributions, seeds, numbers of states found."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError, DataWarning
from verulam.sequence import CategoricalEmission, GaussianEmission, InfiniteHiddenMarkovModel
from verulam.sequence._emissions.gaussian import GaussianStates, GaussianSums
from verulam.sequence._extensions.infinite import MEAN_WEIGHT, draw_gaussians, draw_tables

OPTIONS = {"n_iter": 80, "burn_in": 40, "max_states": 10}


def levels(n_states, seed=0):
    random = np.random.default_rng(seed)
    states = np.repeat(random.permutation(np.tile(np.arange(n_states), 5)), 12)
    return 5.0 * states + random.normal(size=len(states)), states


@pytest.mark.parametrize("n_states", [2, 3, 4])
def test_number_of_states_is_found(n_states):
    series, states = levels(n_states)
    model = InfiniteHiddenMarkovModel(random_state=1, **OPTIONS).fit(series)
    assert model.n_states_ == n_states
    assert (model.n_states_draws_ == n_states).mean() > 0.5
    paths = model.predict(series)
    agreement = [np.bincount(states[paths == k]).max() for k in np.unique(paths)]
    assert sum(agreement) > 0.95 * len(states)


def test_symbols_and_gaps():
    random = np.random.default_rng(0)
    states = np.repeat([0, 1, 0, 1, 0, 1], 40)
    symbols = np.where(random.random(240) < 0.95, states, 1 - states)
    words = np.array(["calm", "storm"])[symbols]
    emission = CategoricalEmission()
    model = InfiniteHiddenMarkovModel(emission, random_state=0, **OPTIONS).fit(words)
    assert model.n_states_ == 2
    assert set(model.best_estimator_.emission_.symbols) == {"calm", "storm"}
    series, _ = levels(3)
    series[::7] = np.nan
    assert InfiniteHiddenMarkovModel(random_state=0, **OPTIONS).fit(series).n_states_ == 3


def test_same_seed_same_draws():
    series, _ = levels(2)
    one, other, third = (
        InfiniteHiddenMarkovModel(n_iter=10, burn_in=5, random_state=seed).fit(series)
        for seed in (3, 3, 4)
    )
    assert_array_equal(one.log_likelihood_curve_, other.log_likelihood_curve_)
    assert (one.log_likelihood_curve_ != third.log_likelihood_curve_).any()
    assert_allclose(one.score(series), one.best_estimator_.score(series))


def test_tables_have_their_expected_number():
    random = np.random.default_rng(0)
    counts, weights = np.full(4000, 30), np.full(4000, 2.0)
    tables = draw_tables(counts, weights, random)
    assert_allclose(tables.mean(), (2.0 / (2.0 + np.arange(30))).sum(), rtol=0.02)
    assert draw_tables(np.array([0, 1]), np.array([0.1, 0.1]), random).tolist() == [0, 1]


def test_gaussians_are_drawn_from_their_posterior():
    random = np.random.default_rng(0)
    size = 4000
    rows = random.normal(3.0, 2.0, size=50)
    ones = np.ones((size, 1))
    states = GaussianStates(0 * ones, ones, np.array([0.0]), np.array([1.0]))
    sums = GaussianSums(50.0 * ones, rows.sum() * ones, (rows**2).sum() * ones)
    drawn = draw_gaussians(states, sums, random)
    assert_allclose(drawn.means.mean(), rows.sum() / (50 + MEAN_WEIGHT), rtol=0.01)
    weight = 50 + MEAN_WEIGHT
    scale = 0.1 + 0.5 * ((rows**2).sum() - rows.sum() ** 2 / weight)
    assert_allclose(drawn.covariances.mean(), scale / (2 + 25 - 1), rtol=0.01)


def test_bad_input():
    with pytest.raises(DataError, match="burn_in is 9; it must be less than n_iter=9"):
        InfiniteHiddenMarkovModel(n_iter=9, burn_in=9).fit(np.arange(5.0))
    with pytest.raises(DataError, match="'full'; InfiniteHiddenMarkovModel takes 'diagonal'"):
        InfiniteHiddenMarkovModel(GaussianEmission("full")).fit(np.arange(5.0))


def test_too_few_states_are_said():
    levels = np.repeat(np.random.default_rng(0).permutation(np.tile(np.arange(4), 5)), 10)
    series = 10.0 * levels + np.random.default_rng(1).normal(size=200)
    model = InfiniteHiddenMarkovModel(max_states=3, n_iter=10, burn_in=5, random_state=0)
    with pytest.warns(DataWarning, match="all max_states=3 states"):
        model.fit(series)
    assert model.n_states_ == 3
