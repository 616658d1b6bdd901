"""Rows of a store: arrays come back as they were, and nothing is ever executed."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.base import DataError
from verulam.experiment._store.rows import pack, same_array, unpack


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


def without_checksum(content):
    """Return an array as stores kept it that are older than checksums."""
    return content[1:-4]


def test_every_flipped_bit_is_noticed():
    content = pack(np.linspace(0, 1, 6).reshape(2, 3))
    for bit in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DataError, match="A stored array is damaged"):
            unpack(bytes(damaged))


def test_arrays_without_a_checksum_are_read_as_before():
    old = without_checksum(pack(np.eye(3)))
    assert old.startswith(b"<f8 3 3\n")
    assert_array_equal(unpack(old), np.eye(3))
    assert same_array(old, pack(np.eye(3)))
    assert not same_array(old, pack(2 * np.eye(3)))
    assert not same_array(old, pack(np.eye(3, dtype=np.float32)))
    assert same_array(None, None)
    assert not same_array(None, old)


@pytest.mark.parametrize("content", [b"<f8 -1\n12345678", b"+<f8 1\n123456789012", b"<f8 2"])
def test_sizes_must_fit(content):
    with pytest.raises(DataError, match="A stored array is damaged"):
        unpack(content)
