"""Room that is taken as it is written to and given back in parts."""

import mmap
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.tree._growing.lazy_memory import LARGE_ROOM, give_back, room

PAGE = mmap.PAGESIZE // 8


def test_rooms_can_be_written_to():
    for count in (0, 3, LARGE_ROOM // 8 + 1):
        array = room(count)
        array[:] = 1.0
        assert array.shape == (count,)
        assert array.sum() == count
    assert room(5, np.int32).dtype == np.int32


@pytest.mark.skipif(sys.platform != "linux", reason="pages are given back on Linux only")
def test_whole_pages_are_given_back_and_nothing_else():
    array = room(8 * LARGE_ROOM // 8).reshape(4, -1)
    array[:] = 1.0
    give_back(array[1], 3, 3 * PAGE - 3)
    assert_array_equal(np.flatnonzero(array[1] == 0.0), np.arange(PAGE, 2 * PAGE))
    assert array[[0, 2, 3]].all()
    give_back(array[2], 1, PAGE)
    assert array[2].all()


def test_other_arrays_are_left_alone():
    array = np.ones(4 * PAGE)
    give_back(array, 0, len(array))
    assert array.all()
