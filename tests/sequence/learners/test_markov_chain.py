"""Markov chains: the urn example, estimation, orders, the long run."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2, chi2_contingency

from verulam.base import DataError
from verulam.data import URN_CHAIN
from verulam.sequence import (
    MarkovChain,
    OrderTest,
    order_test,
    stationary_distribution,
)

URNS = MarkovChain.from_parameters(URN_CHAIN.initial, URN_CHAIN.transition, URN_CHAIN.states)


def test_urn_chain():
    assert_allclose(np.exp(URNS.score(["red", "red", "green", "green"])), 0.048)
    assert_allclose(URNS.stationary_distribution(), np.array([2, 3, 6]) / 11)
    assert_allclose(stationary_distribution(URN_CHAIN.transition), np.array([2, 3, 6]) / 11)


def test_estimates_recover_the_chain():
    # Exercises 15.1 and 15.2: standard errors are about 0.05 and 0.0036.
    chain = MarkovChain(states=URN_CHAIN.states).fit(URNS.sample(1000, 100, random_state=0))
    assert_allclose(chain.initial_[0], URN_CHAIN.initial, atol=0.15)
    assert_allclose(chain.transitions_, URN_CHAIN.transition, atol=0.012)
    assert_array_equal(chain.states_, URN_CHAIN.states)


def test_counts_leave_out_the_last_step():
    chain = MarkovChain().fit([[0, 0, 1], [1]])
    assert_allclose(chain.initial_[0], [0.5, 0.5])
    # State 1 is only ever last, so nothing is known of what follows it.
    assert_allclose(chain.transitions_, [[0.5, 0.5], [0.5, 0.5]])
    smoothed = MarkovChain(alpha=1.0).fit([[0, 0, 0, 1], [1]])
    assert_allclose(smoothed.transitions_, [[3 / 5, 2 / 5], [0.5, 0.5]])
    assert_allclose(smoothed.initial_[0], [0.5, 0.5])


def test_second_order_equals_its_chain_of_pairs():
    random = np.random.default_rng(0)
    X = [random.integers(2, size=30).tolist() for _ in range(20)]
    chain = MarkovChain(order=2, alpha=0.5).fit(X)
    assert chain.transitions_.shape == (2, 2, 2)
    assert_allclose(chain.transitions_.sum(axis=-1), 1.0)
    pairs = chain.to_first_order()
    assert len(pairs.states_) == 4
    for part in ([0, 1, 1, 0, 1], [1, 1]):
        assert_allclose(pairs.score(chain.pairs([part])), chain.score(part))
    # By hand, with indices in the order of time.
    value = chain.initial_[0][0] * chain.initial_[1][0, 1] * chain.transitions_[0, 1, 1]
    assert_allclose(np.exp(chain.score([0, 1, 1])), value)
    triples = MarkovChain(order=3, alpha=0.5).fit(X)
    assert_allclose(
        triples.to_first_order().score(triples.pairs([[0, 1, 1, 0, 0]])),
        triples.score([0, 1, 1, 0, 0]),
    )


def test_second_order_counts_by_hand():
    X = [[0, 0, 1, 0, 1, 1, 0], [1, 0, 0], [1, 0, 0, 0], [0], [0, 0, 1], [0, 0, 1], [0, 1]]
    chain = MarkovChain(order=2).fit(X)
    # Runs of three: 000 once, 001 three times, 010 and 011 once, 100 twice, 101 and 110 once.
    expected = [[[1 / 4, 3 / 4], [1 / 2, 1 / 2]], [[2 / 3, 1 / 3], [1.0, 0.0]]]
    assert_allclose(chain.transitions_, expected)
    # Sequences begin with 00 three times, with 01 once, with 10 twice, with 11 never.
    assert_allclose(chain.initial_[0], [5 / 7, 2 / 7])
    assert_allclose(chain.initial_[1], [[3 / 4, 1 / 4], [1.0, 0.0]])


def test_second_order_samples_keep_their_order():
    alternating = MarkovChain(order=2).fit([[0, 0, 1, 1] * 20])
    assert_array_equal(np.sort(np.unique(alternating.sample(8, random_state=0)[0])), [0, 1])
    drawn = alternating.sample(40, random_state=1)[0]
    assert np.isfinite(alternating.score(drawn))


def test_order_is_tested_by_likelihood():
    first = URNS.sample(2000, random_state=1)[0]
    assert order_test(first, 0).p_value < 1e-6
    result = order_test(first, 1)
    assert result.p_value > 0.01
    assert result.degrees_of_freedom == 12
    assert order_test([0, 0, 1, 1] * 50, 1).p_value < 1e-6


@pytest.mark.parametrize("order", [0, 1])
def test_order_test_is_the_likelihood_ratio(order):
    codes = np.random.default_rng(2).integers(3, size=200)
    result = order_test(codes, order)
    runs = [codes[place : len(codes) - order - 1 + place] for place in range(order + 2)]
    groups = np.unique(runs[1], return_inverse=True)[1] if order else np.zeros(len(runs[0]), int)
    statistic = freedom = 0
    for group in range(groups.max() + 1):
        table = np.zeros((3, 3))
        np.add.at(table, (runs[0][groups == group], runs[-1][groups == group]), 1)
        part = chi2_contingency(table, lambda_="log-likelihood", correction=False)
        statistic, freedom = statistic + part.statistic, freedom + part.dof
    assert_allclose(result.statistic, statistic)
    assert result.degrees_of_freedom == freedom
    assert_allclose(result.p_value, chi2.sf(statistic, freedom))


def test_an_unknown_state_is_named_plainly():
    with pytest.raises(DataError, match="unknown state 'z' at step 1; known are 'a', 'b'"):
        MarkovChain().fit([["a", "b", "a"]]).score(["a", "z"])


def test_impossible_chains_have_no_probability():
    chain = MarkovChain.from_parameters([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]])
    assert_allclose(chain.score_sequences([[0, 1, 0], [0, 0]]), [-np.inf, np.log(0.5)])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0, 5]], "unknown state"),
        (np.zeros((2, 2)), "one state per step"),
        ([[0.0, np.nan]], "missing state at step 1"),
        ([], "no sequences"),
    ],
)
def test_bad_input(X, message):
    chain = MarkovChain(states=[0, 1])
    with pytest.raises(DataError, match=message):
        chain.fit(X)


@pytest.mark.parametrize(
    ("states", "kinds"), [(["rain", 1, "rain"], "int, str"), (["rain", {"wind": 3}], "dict, str")]
)
def test_states_of_kinds_that_have_no_order_are_named(states, kinds):
    sequence = np.empty(len(states), dtype=object)
    sequence[:] = states
    with pytest.raises(DataError, match=f"cannot be sorted together \\({kinds}\\)"):
        MarkovChain().fit([sequence])
    with pytest.raises(DataError, match="take labels of one kind"):
        order_test([sequence], 1)


def test_states_of_several_kinds_may_be_named():
    sequence = np.array(["rain", 1, "rain", 1], dtype=object)
    chain = MarkovChain(states=np.array([1, "rain"], dtype=object)).fit([sequence])
    assert_array_equal(chain.transitions_, [[0.0, 1.0], [1.0, 0.0]])


def test_rows_must_be_distributions():
    with pytest.raises(DataError, match=r"row 1 of transitions sums to 0\.9"):
        MarkovChain.from_parameters([0.5, 0.5], [[0.5, 0.5], [0.4, 0.5]])
    with pytest.raises(DataError, match="to_first_order"):
        MarkovChain(order=2).fit([[0, 1, 0, 1]]).stationary_distribution()


@pytest.mark.parametrize("order", [1, 2, 3])
def test_scores_are_products_along_each_sequence(order):
    random = np.random.default_rng(0)
    X = [random.integers(2, size=size) for size in (1, 2, 9)]
    chain = MarkovChain(order, alpha=1.0).fit([random.integers(2, size=50) for _ in range(3)])
    expected = []
    for part in X:
        tables = [*chain.initial_, chain.transitions_]
        runs = [tuple(part[max(0, t - order) : t + 1]) for t in range(len(part))]
        expected.append(sum(np.log(tables[len(run) - 1][run]) for run in runs))
    assert_allclose(chain.score_sequences(X), expected)


def test_too_long_histories_are_refused():
    X = np.arange(100) % 10
    with pytest.raises(DataError, match="Histories of 10 states out of 10 need a table of 1"):
        MarkovChain(10).fit(X)
    with pytest.raises(DataError, match="order must be a whole number of at least 0; got -1"):
        order_test(X, -1)


def test_an_order_is_tested_by_twice_the_gain_in_likelihood():
    # Of the steps after the first, six out of nine are b; after a it is always b.
    outcome = order_test(list("abbabbabba"), 0)
    counts = np.array([[0, 3], [3, 3]])
    shares, alone = counts / counts.sum(axis=1, keepdims=True), counts.sum(axis=0) / 9
    used = counts > 0
    gain = (counts * np.log(np.where(used, shares, 1.0) / alone)[...]).sum(where=used)
    assert outcome == OrderTest(0, outcome.statistic, 1, outcome.p_value)
    assert_allclose(outcome.statistic, 2 * gain)
    assert_allclose(outcome.p_value, chi2.sf(2 * gain, 1))
