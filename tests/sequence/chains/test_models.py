"""Factorial, coupled and switching models: every path summed, limits, learning."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from verulam.base import DataError
from verulam.sequence import (
    AdditiveEmission,
    CategoricalEmission,
    ChainEmission,
    GaussianEmission,
    HiddenMarkovModel,
    TransitionMatrix,
    align_states,
    chain_posteriors,
    coupled_model,
    factorial_model,
    read_sequences,
    split_states,
    switching_model,
)

RANDOM = np.random.default_rng(0)
ONCE = pytest.mark.filterwarnings("ignore:StructuredModel had not converged")
X = np.array([0.3, 5.2, 6.1, 0.9])


def one_pass(model, X):
    """Return the model after one pass, for its score before learning is the curve's start."""
    model.set_params(max_iter=1)
    return model.fit(X)


def combined(tables, sizes, parents):
    states = split_states(np.arange(np.prod(sizes)), sizes)
    return np.array(
        [
            [
                np.prod([tables[k][(*a[list(p)], b[k])] for k, p in enumerate(parents)])
                for b in states
            ]
            for a in states
        ]
    )


@ONCE
def test_factorial_model_sums_over_the_paths_of_all_chains(sum_over_paths):
    tables = [RANDOM.dirichlet(np.ones(2), 2), RANDOM.dirichlet(np.ones(2), 2)]
    rows = np.array([[0.0], [1.0], [0.0], [5.0]])
    emission = AdditiveEmission((2, 2), contributions=rows, covariances=[[0.8]])
    model = one_pass(factorial_model((2, 2), emission, tables=tables), X)
    means = np.array([a + b for a in (0.0, 1.0) for b in (0.0, 5.0)])
    logs = norm(means, np.sqrt(0.8)).logpdf(X[:, None])
    matrix = combined(tables, (2, 2), [(0,), (1,)])
    log_likelihood, posteriors = sum_over_paths(np.full(4, 0.25), matrix, logs)
    assert_allclose(model.objective_curve_[0], log_likelihood)
    # The first chain's table after a pass is the share of its own expected transitions.
    first_chain = chain_posteriors(posteriors, (2, 2))[0]
    assert_allclose(model.initial_.reshape(2, 2).sum(axis=1), first_chain[0])


@ONCE
def test_coupled_model_sums_over_the_paths_of_all_chains(sum_over_paths):
    tables = [RANDOM.dirichlet(np.ones(2), (2, 2)), RANDOM.dirichlet(np.ones(2), (2, 2))]
    parts = (
        GaussianEmission(means=[[0.0], [5.0]], covariances=[[1.0], [2.0]]),
        CategoricalEmission(probabilities=[[0.9, 0.1], [0.2, 0.8]]),
    )
    symbols = np.array([0, 1, 1, 0])
    rows = np.column_stack([X, symbols])
    model = one_pass(coupled_model((2, 2), parts, tables=tables), rows)
    logs = np.empty((4, 4))
    for flat, (one, other) in enumerate(split_states(np.arange(4), (2, 2))):
        density = norm([0.0, 5.0][one], [1.0, np.sqrt(2.0)][one]).logpdf(X)
        logs[:, flat] = density + np.log(np.array(parts[1].probabilities)[other, symbols])
    matrix = combined(tables, (2, 2), [(0, 1), (0, 1)])
    expected, _ = sum_over_paths(np.full(4, 0.25), matrix, logs)
    assert_allclose(model.objective_curve_[0], expected)


@ONCE
def test_switching_model_shows_the_chain_that_is_selected(sum_over_paths):
    tables = [RANDOM.dirichlet(np.ones(2), 2) for _ in range(3)]
    means = [0.0, 1.0, 5.0, 6.0]
    emission = GaussianEmission(means=np.c_[means], covariances=np.ones((4, 1)))
    model = one_pass(switching_model((2, 2), emission, tables=tables), X)
    logs = np.empty((4, 8))
    for flat, (selector, *chains) in enumerate(split_states(np.arange(8), (2, 2, 2))):
        logs[:, flat] = norm(means[2 * selector + chains[selector]]).logpdf(X)
    matrix = combined(tables, (2, 2, 2), [(0,), (1,), (2,)])
    expected, _ = sum_over_paths(np.full(8, 1 / 8), matrix, logs)
    assert_allclose(model.objective_curve_[0], expected)


@pytest.mark.parametrize(
    "make",
    [
        lambda: factorial_model((2, 3), random_state=1, max_iter=25),
        lambda: coupled_model((2, 2), random_state=0, max_iter=25, columns=(1, 1)),
        lambda: switching_model((2, 2), random_state=0, max_iter=25),
    ],
    ids=["factorial", "coupled", "switching"],
)
@ONCE
def test_log_likelihood_never_falls(make):
    slow, fast = np.repeat([0.0, 4.0, 0.0], 30), np.tile([0.0, 0.0, 1.5], 30)
    rows = np.column_stack([slow, fast]) + RANDOM.normal(size=(90, 2))
    model = make().fit([rows[:40], rows[40:]])
    assert np.diff(model.objective_curve_).min() > -1e-8
    assert model.n_parameters_ > 0


def test_one_chain_is_a_plain_model():
    rows = np.repeat([0.0, 4.0, 0.0], 20)[:, None] + RANDOM.normal(size=(60, 1))
    matrix = [[0.8, 0.2], [0.3, 0.7]]
    emission = GaussianEmission(means=[[0.0], [3.0]], covariances=[[1.0], [1.0]])
    plain = HiddenMarkovModel(2, emission, transitions=TransitionMatrix(values=matrix)).fit(rows)
    for one in (
        factorial_model((2,), emission, tables=[matrix]),
        coupled_model((2,), (emission,), tables=[matrix]),
    ):
        one.fit(rows)
        assert_allclose(one.objective_curve_, plain.objective_curve_)
        assert_allclose(one.transitions_, plain.transitions_)


def test_chains_that_add_up_are_found_again():
    random = np.random.default_rng(2)
    slow, fast = np.repeat([0, 1, 0, 1, 0, 1], 50), np.tile([0, 0, 0, 1, 1], 60)
    series = 8.0 * slow + 3.0 * fast + 0.3 * random.normal(size=300)
    model = factorial_model((2, 2), n_init=8, random_state=0).fit(series)
    states = split_states(model.predict(series), (2, 2))
    hits = [
        max((states[:, k] == chain).mean(), (states[:, k] != chain).mean())
        for chain in (slow, fast)
        for k in range(2)
    ]
    assert max(hits[0], hits[1]) > 0.99
    assert max(hits[2], hits[3]) > 0.99
    assert model.forecast(series, 3).expected.shape == (3, 1)


def test_a_selector_needs_a_choice():
    with pytest.raises(DataError, match="at least two chains"):
        switching_model((3,))


def test_restarts_find_which_states_belong_to_a_chain():
    random = np.random.default_rng(5)

    def walk(stay):
        return np.cumsum(random.random(2000) > stay) % 2

    selector, near, far = walk(0.97), walk(0.9), walk(0.8)
    means = np.array([[0.0, 3.0], [10.0, 14.0]])
    series = np.where(selector == 0, means[0][near], means[1][far])
    series = series + 0.5 * random.normal(size=2000)
    model = switching_model((2, 2), n_init=6, random_state=0).fit(series)
    sorted_means = np.sort(np.sort(model.emission_.means.reshape(2, 2), axis=1), axis=0)
    assert_allclose(sorted_means, means, atol=0.1)
    states = split_states(model.predict(series), (2, 2, 2))
    assert align_states(selector, states[:, 0]).agreement > 0.98


def test_chains_restart_from_other_groups():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    emission = ChainEmission((3, 3), (GaussianEmission(), GaussianEmission()))
    values = emission.encode(read_sequences(X))
    survey = emission.survey(values)
    starts = [
        emission.first(survey, values, 9, "k-means", np.random.default_rng(seed)).parts[0].means
        for seed in (0, 1)
    ]
    assert np.abs(starts[0] - starts[1]).max() > 0.1
