"""Presorted columns: order, ranks, missing values last."""

import numpy as np
from numpy.testing import assert_array_equal

from verulam.tree._growing.growth_parameters import MISSING_RANK, ROW_BITS, ROW_MASK
from verulam.tree._growing.presort import presort
from verulam.tree._growing.presort_loops import pack_codes, pack_numbers


def test_numbers_and_categories():
    values = np.array([[3.0, 1.0], [np.nan, 0.0], [1.0, np.nan], [3.0, 1.0]])
    packed = presort(values, np.array([0, 3], dtype=np.int32))
    assert_array_equal(packed[0] >> ROW_BITS, [0, 1, 1, MISSING_RANK])
    assert set(packed[0, 1:3] & ROW_MASK) == {0, 3}
    assert_array_equal(packed[0, [0, 3]] & ROW_MASK, [2, 1])
    assert_array_equal(packed[1] >> ROW_BITS, [0, 1, 1, MISSING_RANK])
    assert_array_equal(packed[1] & ROW_MASK, [1, 0, 3, 2])


def test_threads_do_not_matter(monkeypatch):
    values = np.random.default_rng(0).normal(size=(7000, 11))
    kinds = np.zeros(11, dtype=np.int32)
    monkeypatch.setenv("VERULAM_THREADS", "1")
    one = presort(values, kinds)
    monkeypatch.setenv("VERULAM_THREADS", "3")
    assert_array_equal(one, presort(values, kinds))


def test_compiled_packing_equals_its_python_source():
    numbers = np.array([2.0, np.nan, 0.0, 2.0, 1.0])
    packed = np.empty((2, 5), dtype=np.uint64)
    for function, arguments in (
        (pack_numbers, (numbers, np.argsort(numbers, kind="stable"))),
        (pack_codes, (numbers, 3)),
    ):
        function(*arguments, packed[0])
        function.py_func(*arguments, packed[1])
        assert_array_equal(packed[0], packed[1])
