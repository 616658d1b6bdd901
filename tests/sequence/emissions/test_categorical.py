"""Categorical emissions: codes, counts, the update of the text."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.sequence import (
    CategoricalEmission,
    HiddenMarkovModel,
    HMMClassifier,
    read_sequences,
)
from verulam.sequence._emissions.categorical import SymbolProbabilities


def test_labels_and_gaps_become_codes():
    emission = CategoricalEmission(symbols=["a", "b"])
    words = read_sequences(np.array(["b", None, "a"], dtype=object))
    assert_array_equal(emission.encode(words), [1, -1, 0])
    numbers = read_sequences([1.0, np.nan, 0.0])
    assert_array_equal(CategoricalEmission().encode(numbers), [1, -1, 0])


def test_update_is_the_share_of_soft_counts():
    emission = CategoricalEmission(prior=0.5)
    start = SymbolProbabilities(np.full((2, 3), 1 / 3))
    codes, weights = np.array([0, 2, -1, 2]), np.array([[1, 0], [0.5, 0.5], [1, 0], [0, 1.0]])
    sums = emission.statistics(start, codes, weights)
    counts = np.array([[1.0, 0.0, 0.5], [0.0, 0.0, 1.5]]) + 0.5
    new = emission.update(start, sums)
    assert_allclose(new.probabilities, counts / counts.sum(axis=1, keepdims=True))
    assert emission.n_parameters(new) == 4


def test_sums_grow_with_the_alphabet():
    emission = CategoricalEmission()
    small = emission.statistics(
        SymbolProbabilities(np.ones((1, 2))), np.array([1]), np.ones((1, 1))
    )
    large = emission.statistics(
        SymbolProbabilities(np.ones((1, 3))), np.array([2]), np.ones((1, 1))
    )
    assert_array_equal((small + large).counts.ravel(), [0, 1, 1])


@pytest.mark.parametrize(
    ("X", "message"),
    [([np.nan, np.nan], "no symbol that is present"), ([0.0, np.inf], "X holds infinity")],
)
def test_data_without_symbols_is_refused(X, message):
    with pytest.raises(DataError, match=message):
        HiddenMarkovModel(2, CategoricalEmission()).fit(np.array(X))


def test_taken_states_leave_the_alphabet_alone():
    emission = CategoricalEmission(["a", "b"], probabilities=[[0.9, 0.1], [0.2, 0.8]])
    taken = emission.take(emission.with_start_values(emission.ready(2, 1)), np.array([1]))
    assert taken.symbols.tolist() == ["a", "b"]
    assert_allclose(taken.probabilities, [[0.2, 0.8]])


def test_probabilities_and_priors_are_checked():
    wrong = CategoricalEmission(probabilities=[[0.5, 0.6], [1.0, 0.0]])
    with pytest.raises(DataError, match=r"row 0 of probabilities .* sums to 1\.1"):
        HiddenMarkovModel(2, wrong).fit([0, 1, 0])
    with pytest.raises(DataError, match=r"prior of CategoricalEmission .* at least 0; got -1"):
        CategoricalEmission(prior=-1.0)


@pytest.mark.parametrize(
    ("symbol", "message"),
    [(10**9, "symbol 1000000000, and so many"), (1e300, "too large"), (np.inf, "infinity")],
)
def test_numbers_that_are_no_symbols(symbol, message):
    with pytest.raises(DataError, match=message):
        HiddenMarkovModel(2, CategoricalEmission()).fit([0, symbol, 1])
    with pytest.raises(DataError, match=message):
        HMMClassifier(HiddenMarkovModel(2, CategoricalEmission())).fit(
            [[0, symbol], [1, 1]], [0, 1]
        )
