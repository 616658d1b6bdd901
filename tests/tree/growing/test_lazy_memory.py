"""Pages that are taken as they are written to and released in parts."""

import mmap
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.tree._growing.lazy_memory import empty_pages, release_pages
from verulam.tree._tuning import PAGED_BYTES

PAGE = mmap.PAGESIZE // 8


def test_pages_can_be_written_to():
    for count in (0, 3, PAGED_BYTES // 8 + 1):
        array = empty_pages(count)
        array[:] = 1.0
        assert array.shape == (count,)
        assert array.sum() == count
    assert empty_pages(5, np.int32).dtype == np.int32


@pytest.mark.skipif(sys.platform != "linux", reason="pages are released on Linux only")
def test_whole_pages_are_released_and_nothing_else():
    array = empty_pages(8 * PAGED_BYTES // 8).reshape(4, -1)
    array[:] = 1.0
    release_pages(array[1], 3, 3 * PAGE - 3)
    assert_array_equal(np.flatnonzero(array[1] == 0.0), np.arange(PAGE, 2 * PAGE))
    assert array[[0, 2, 3]].all()
    release_pages(array[2], 1, PAGE)
    assert array[2].all()


def test_other_arrays_are_left_alone():
    array = np.ones(4 * PAGE)
    release_pages(array, 0, len(array))
    assert array.all()
