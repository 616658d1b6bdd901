"""Foil gain and rule value: the texts' numbers, limits, and the formulas on arrays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.rule import foil_gain, rule_value


def test_foil_gain_of_the_worked_numbers():
    """From 5 positives of 10 to 4 of 4, all 4 of them kept: 4 (log2 1 - log2 1/2) = 4 bits."""
    assert foil_gain(5, 5, 4, 0) == 4.0


def test_foil_gain_follows_the_formula_on_arrays():
    p, n = np.array([3.0, 8.0]), np.array([1.0, 2.0])
    expected = p * (np.log2(p / (p + n)) - np.log2(10 / 30))
    assert_allclose(foil_gain(10, 20, p, n), expected)


def test_foil_gain_is_nothing_where_the_share_stays_or_no_positive_is_kept():
    assert foil_gain(10, 20, 5, 10) == pytest.approx(0.0)
    assert foil_gain(10, 20, 0, 3) == 0.0


def test_rule_value_of_the_worked_numbers():
    assert rule_value(8, 2) == pytest.approx(0.6)


def test_rule_value_at_its_limits():
    assert_allclose(rule_value([3, 0, 2, 0], [0, 3, 2, 0]), [1.0, -1.0, 0.0, -1.0])


def test_foil_gain_refuses_negative_counts():
    with pytest.raises(DataError, match="of at least 0"):
        foil_gain(5, 5, 4, -1)
