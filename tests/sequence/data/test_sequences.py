"""The convention of sequences: forms of data, slices, groups, windows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError, DataWarning
from verulam.sequence import (
    CategoricalEmission,
    HiddenMarkovModel,
    InfiniteHiddenMarkovModel,
    MarkovChain,
    RegressionEmission,
    input_windows,
    order_test,
    read_sequences,
)
from verulam.sequence._data.sequences import is_list_of_arrays, named_table


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 2.0], [3.0]],
        [np.array([1.0, 2.0]), np.array([3.0])],
        [np.array([[1.0], [2.0]]), np.array([[3.0]])],
        (pd.Series([1.0, 2.0]), pd.DataFrame({"a": [3.0]})),
    ],
)
def test_lists_of_any_kind(X):
    sequences = read_sequences(X)
    assert_array_equal(sequences.values, [[1.0], [2.0], [3.0]])
    assert_array_equal(sequences.starts, [0, 2, 3])
    assert [len(part) for part in sequences.give_back(np.arange(3))] == [2, 1]


def test_object_arrays_of_arrays_are_lists():
    X = np.empty(2, dtype=object)
    X[0], X[1] = np.zeros((2, 3)), np.ones((1, 3))
    assert_array_equal(read_sequences(X).starts, [0, 2, 3])


def test_words_are_one_sequence():
    assert_array_equal(read_sequences(["sun", "rain"]).starts, [0, 2])


@pytest.mark.parametrize(
    "fit",
    [
        MarkovChain().fit,
        lambda X: order_test(X, 0),
        HiddenMarkovModel(2, CategoricalEmission(), max_iter=2000, random_state=0).fit,
        InfiniteHiddenMarkovModel(CategoricalEmission(), n_iter=2, burn_in=1).fit,
    ],
    ids=["chain", "order test", "hidden", "infinite"],
)
@pytest.mark.filterwarnings("ignore:Most sweeps used all")
def test_words_that_look_like_sequences_are_told(fit):
    with pytest.warns(DataWarning, match=r"one sequence of 2 labels.*\[list\(word\) for") as warned:
        fit(["aab", "abb"])
    assert [w.filename for w in warned if "labels" in str(w.message)] == [__file__]
    # Labels that come again or in a list, letters, numbers, split words are as they should be.
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        warnings.filterwarnings("ignore", "Most sweeps used all")
        fit(["rainy", "sunny", "rainy"])
        fit([["rainy", "sunny"]])
        fit(["a", "b"])
        fit([0, 1])
        fit([list("aab"), list("abb")])


def test_labels_that_are_named_need_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        chain = MarkovChain(states=["rainy", "sunny"], alpha=1.0).fit(["rainy", "sunny"])
        assert_array_equal(chain.states_, ["rainy", "sunny"])
        assert chain.score(["sunny", "rainy"]) < 0
        emission = CategoricalEmission(symbols=["rainy", "sunny"])
        HiddenMarkovModel(1, emission, random_state=0).fit(["rainy", "sunny"])


def test_a_word_is_no_sequence():
    with pytest.raises(DataError, match=r"X is str, not a sequence.*by list\(word\)"):
        read_sequences("aab")


def test_masked_steps_are_missing():
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    assert np.isnan(read_sequences(masked).values[1, 0])


def test_slices_and_groups():
    sequences = read_sequences([np.full(length, length) for length in (3, 1, 4, 2)])
    assert_array_equal(sequences[1:3].starts, [0, 1, 5])
    assert_array_equal(sequences[1:3].values.ravel(), [1, 4, 4, 4, 4])
    assert [group.n_steps for group in sequences.groups(4)] == [4, 4, 2]
    assert [group.n_steps for group in sequences.groups(1)] == [3, 1, 4, 2]


def test_inputs_come_along():
    sequences = read_sequences([[1.0, 2.0], [3.0]], inputs=[[[5.0], [6.0]], [[7.0]]])
    assert_array_equal(sequences[1:].inputs, [[7.0]])
    with pytest.raises(DataError, match="missing or infinite"):
        read_sequences([1.0], inputs=[np.nan])


def test_masked_words_are_missing():
    words = np.ma.masked_array(["a", "b"], mask=[False, True])
    values = read_sequences(words).values
    assert values[0, 0] == "a"
    assert np.isnan(values[1, 0])


def test_names_must_agree():
    table = pd.DataFrame({"a": [1.0], "b": [2.0]})
    values = np.array([[1.0, 2.0], [1.0, 2.0]])
    assert named_table([table, table], values).columns.tolist() == ["a", "b"]
    assert named_table(table, values) is table
    assert named_table([values], values) is values
    with pytest.raises(DataError, match=r"Sequence 1 .* has the columns \['b', 'a'\]"):
        named_table([table, table[["b", "a"]]], values)


@pytest.mark.parametrize("X", ["abab", 5, None])
def test_what_is_no_sequence_is_named(X):
    with pytest.raises(DataError, match=f"X is {type(X).__name__}, not a sequence"):
        read_sequences(X)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([[1.0, 2.0], [3.0]], "Sequence 0 .* has 1 steps, but its inputs have 2"),
        (["a", "b", "c"], "inputs needs numbers"),
        ([1.0, np.nan, 2.0], "missing or infinite"),
        ([1.0, 2.0], "inputs has 2 steps and X has 3"),
    ],
)
def test_inputs_that_do_not_fit(inputs, message):
    with pytest.raises(DataError, match=message):
        read_sequences([[1.0], [2.0, 3.0]], inputs=inputs)


def test_lists_of_arrays_are_told_from_tables():
    assert is_list_of_arrays([np.zeros(3), np.zeros(2)])
    assert is_list_of_arrays([pd.DataFrame({"a": [1.0]})])
    assert not is_list_of_arrays([[1.0, 2.0], [3.0, 4.0]])
    assert not is_list_of_arrays(np.zeros((2, 2)))
    assert not is_list_of_arrays([])


def test_windows_stay_within_their_sequence():
    windows = input_windows([[1.0, 2.0, 3.0], [9.0]], 1, 1)
    assert_array_equal(windows[0], [[1, 1, 2], [1, 2, 3], [2, 3, 3]])
    assert_array_equal(windows[1], [[9, 9, 9]])
    rows = input_windows([1.0, 2.0, 3.0, 9.0], 2, lengths=[3, 1])
    assert_array_equal(rows, [[1, 1, 1], [1, 1, 2], [1, 2, 3], [9, 9, 9]])
    columns = np.arange(6).reshape(3, 2)
    assert_array_equal(input_windows(columns), [[0, 1, 0, 1], [0, 1, 2, 3], [2, 3, 4, 5]])
    assert_array_equal(input_windows(columns, 0), columns)


def test_two_states_answer_to_different_steps_of_a_window():
    random = np.random.default_rng(0)
    signals = [random.normal(size=60) for _ in range(4)]
    states = np.repeat([0, 1], 30)
    # One state echoes the last but one step of the signal, the other its present step.
    X = [
        np.where(states == 0, 2.0 * np.r_[[s[0]] * 2, s[:-2]], -s) + 0.01 * random.normal(size=60)
        for s in signals
    ]
    model = HiddenMarkovModel(2, RegressionEmission(), n_init=5, init="random", random_state=0)
    model.fit(X, inputs=input_windows(signals, 2))
    weights = model.emission_.weights[:, 1:, 0]
    assert_allclose(weights[weights[:, 0].argsort()], [[0, 0, -1], [2, 0, 0]], atol=0.02)
    assert len(np.unique(np.concatenate(model.predict(X, inputs=input_windows(signals, 2))))) == 2


def test_windows_need_numbers():
    with pytest.raises(DataError, match="before must be a whole number of at least 0; got -1"):
        input_windows([1.0, 2.0], -1)
    with pytest.raises(DataError, match="X needs numbers"):
        input_windows(["a", "b"])
    with pytest.raises(DataError, match="missing or infinite"):
        input_windows([1.0, np.nan])
