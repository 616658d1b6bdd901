"""Sequences from Markov chains: probabilities, and the urns of the text."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.data import URN_CHAIN, SequenceSample, UrnChain, hidden_markov, markov_chain

INITIAL = np.array(URN_CHAIN.initial)
TRANSITION = np.array(URN_CHAIN.transition)


def test_urn_chain_has_the_printed_probability():
    path = [URN_CHAIN.states.index(colour) for colour in ("red", "red", "green", "green")]
    steps = TRANSITION[path[:-1], path[1:]]
    assert_allclose(INITIAL[path[0]] * steps.prod(), 0.048)


def test_urn_chain_is_sampled_to_within_its_standard_errors():
    # 100 sequences of 1000: about 0.05 for the first, 0.0036 for a transition.
    sample = markov_chain(random_state=0)
    states = np.array(sample.states)
    assert states.shape == (100, 1000)
    first = np.bincount(states[:, 0], minlength=3) / 100
    assert_allclose(first, INITIAL, atol=4 * 0.05)
    counts = np.zeros((3, 3))
    np.add.at(counts, (states[:, :-1].ravel(), states[:, 1:].ravel()), 1)
    assert_allclose(counts / counts.sum(axis=1, keepdims=True), TRANSITION, atol=4 * 0.0036)
    shares = np.bincount(states[:, 100:].ravel()) / states[:, 100:].size
    assert_allclose(shares, np.array([2, 3, 6]) / 11, atol=0.01)


def test_impossible_steps_never_happen():
    sample = markov_chain([1, 0], [[0, 1], [1, 0]], n_sequences=3, length=6, random_state=0)
    assert_array_equal(np.array(sample.states), [[0, 1, 0, 1, 0, 1]] * 3)


def test_emissions():
    emission = [[0.7, 0.2, 0.1], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]
    sample = hidden_markov(INITIAL, TRANSITION, emission, length=500, random_state=0)
    states, symbols = np.concatenate(sample.states), np.concatenate(sample.observations)
    counts = np.zeros((3, 3))
    np.add.at(counts, (states, symbols), 1)
    assert counts[1, 0] == counts[2, 1] == counts[2, 2] == 0
    assert_allclose(counts / counts.sum(axis=1, keepdims=True), emission, atol=0.02)


def test_long_table():
    sample = hidden_markov(
        [0.5, 0.5], np.eye(2), np.eye(2), n_sequences=2, length=3, random_state=0
    )
    data = sample.to_dataset("toy")
    assert data.table["sequence"].tolist() == [0, 0, 0, 1, 1, 1]
    assert data.table["step"].tolist() == [0, 1, 2, 0, 1, 2]
    assert data.table["state"].tolist() == data.table["observation"].tolist()
    assert data.roles["sequence"] == data.roles["step"] == "identifier"
    assert data.kinds["observation"] == "categorical"


def test_same_seed_same_sequences():
    one, two = (markov_chain(n_sequences=2, length=9, random_state=7) for _ in range(2))
    assert_array_equal(one.states, two.states)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.6], np.eye(2)), "initial: each row must hold probabilities"),
        (([0.5, 0.5], np.eye(3)), r"transition has shape \(3, 3\); expected 2 rows"),
        (([0.5, 0.5], [[1, 0, 0], [0, 1, 0]]), r"transition has shape \(2, 3\); expected 2 by 2"),
        (([0.5, 0.5], [[2, -1], [0, 1]]), "transition: each row must hold probabilities"),
    ],
)
def test_bad_probabilities(arguments, message):
    with pytest.raises(ValueError, match=message):
        markov_chain(*arguments)


def test_bad_emission_and_length():
    with pytest.raises(ValueError, match="emission has shape"):
        hidden_markov([0.5, 0.5], np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="length=0"):
        markov_chain(length=0)


def test_records_of_sequences():
    assert UrnChain() == URN_CHAIN
    assert np.allclose(np.sum(UrnChain().transition, axis=1), 1.0)
    sample = SequenceSample([np.array([0, 1])], [np.array([2, 2])])
    table = sample.to_dataset().table
    assert table["step"].tolist() == [0, 1]
    assert table["state"].astype(int).tolist() == [2, 2]
