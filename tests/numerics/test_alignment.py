"""Arrays that begin at lines of the cache."""

import numpy as np
import pytest

from verulam.numerics import aligned_zeros, full_lines


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_all_rows_begin_at_a_line(dtype):
    for n_rows, count in ((3, 100), (1, 1), (5, 8)):
        table = aligned_zeros((n_rows, full_lines(count, dtype)), dtype)
        assert table.dtype == dtype
        assert not table.any()
        assert all(row.ctypes.data % 64 == 0 for row in table)
        table[:] = 1
        assert table.sum() == table.size


def test_lengths_are_filled_up_to_the_next_line():
    assert [full_lines(count) for count in (0, 1, 8, 9, 64)] == [0, 8, 8, 16, 64]
    assert full_lines(17, np.float32) == 32


def test_an_empty_one():
    assert aligned_zeros(0).shape == (0,)
    assert aligned_zeros((0, 8)).shape == (0, 8)
