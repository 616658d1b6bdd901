"""Rows of a store: arrays come back as they were, and nothing is ever executed."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.base import DataError
from verulam.experiment._store.rows import pack, unpack


@pytest.mark.parametrize(
    "array",
    [np.arange(6, dtype=np.uint8), np.eye(3), np.zeros((0, 2)), np.array([-1, 5], dtype=np.int32)],
)
def test_arrays_come_back(array):
    back = unpack(pack(array))
    assert_array_equal(back, array)
    assert back.dtype == array.dtype


@pytest.mark.parametrize("content", [pickle.dumps({"a": 1}), b"|O 1\n12345678", b"<f8 3\nabc", b""])
def test_nothing_but_numbers_is_read(content):
    with pytest.raises(DataError, match="A stored array is damaged"):
        unpack(content)
