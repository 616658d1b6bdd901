"""Alignment of states: renaming, agreement, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.base import DataError
from verulam.sequence import align_states


def test_renamed_states_agree():
    random = np.random.default_rng(0)
    states = random.integers(4, size=200)
    names = np.array([2, 0, 3, 1])
    alignment = align_states(states, names[states])
    assert alignment.agreement == 1.0
    assert_array_equal(alignment.order, names)
    assert_array_equal(alignment.rename(names[states]), states)


def test_best_of_all_renamings():
    alignment = align_states([0, 0, 0, 1, 1], [1, 1, 0, 0, 0])
    assert alignment.agreement == 0.8


def test_paths_must_cover_the_same_steps():
    with pytest.raises(DataError, match="same steps"):
        align_states([0, 1], [0])
