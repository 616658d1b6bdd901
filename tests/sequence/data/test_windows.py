"""Windows of steps: by hand, in the form of the data, as inputs of a model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.sequence import HiddenMarkovModel, RegressionEmission, input_windows


def test_windows_stay_within_their_sequence():
    found = input_windows([[1.0, 2.0, 3.0], [9.0]], 1, 1)
    assert_array_equal(found[0], [[1, 1, 2], [1, 2, 3], [2, 3, 3]])
    assert_array_equal(found[1], [[9, 9, 9]])
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


def test_bad_input():
    with pytest.raises(DataError, match="before must be a whole number of at least 0; got -1"):
        input_windows([1.0, 2.0], -1)
    with pytest.raises(DataError, match="X needs numbers"):
        input_windows(["a", "b"])
    with pytest.raises(DataError, match="missing or infinite"):
        input_windows([1.0, np.nan])
