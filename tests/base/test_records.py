"""Records add, and classes that only some chunks have find their place."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.base import ByClass, Classwise, Statistics, SumRecord, spread_rows


@dataclass(frozen=True)
class Counts(SumRecord):
    rows: int
    sums: np.ndarray


@dataclass(frozen=True)
class ClassSums:
    sums: np.ndarray

    def __add__(self, other):
        return ClassSums(self.sums + other.sums)

    def spread(self, positions, n_classes):
        return ClassSums(spread_rows(self.sums, positions, n_classes))


def test_fields_add():
    total = Counts(2, np.array([1.0, 2.0])) + Counts(3, np.array([10.0, 20.0]))
    assert total.rows == 5
    assert_array_equal(total.sums, [11.0, 22.0])


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_union_of_classes_is_sorted(order):
    parts = [
        ByClass(np.array(["b", "d"]), ClassSums(np.array([1.0, 2.0]))),
        ByClass(np.array(["a", "d"]), ClassSums(np.array([10.0, 20.0]))),
        ByClass(np.array(["c"]), ClassSums(np.array([100.0]))),
    ]
    first, second, third = (parts[position] for position in order)
    total = first + second + third
    assert_array_equal(total.classes, ["a", "b", "c", "d"])
    assert_array_equal(total.statistics.sums, [10.0, 1.0, 100.0, 22.0])


def test_protocols_name_what_records_must_have():
    for protocol, methods in ((Statistics, {"__add__"}), (Classwise, {"__add__", "spread"})):
        assert methods <= set(dir(protocol))
        assert methods <= set(dir(ClassSums))
