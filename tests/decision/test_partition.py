"""Partitions of the line: who owns a boundary, and boundaries found exactly."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.decision import Partition
from verulam.decision._partition import partition_by


def test_boundary_belongs_to_the_piece_above():
    rule = Partition([1.0], ["low", "high"])
    assert_array_equal(rule([0.999, 1.0]), ["low", "high"])
    assert rule.intervals("nobody") == ()


def test_boundaries_are_found_to_the_last_digit_even_three_in_a_cell():
    truth = Partition([0.1, 1 / 3, 0.35, 7.0], list("abcda"))
    regions = partition_by(truth, np.array([-5.0, 0.0, 2.0, 10.0]))
    assert_allclose(regions.boundaries, truth.boundaries, rtol=1e-15)
    assert_array_equal(regions.labels, truth.labels)


def test_a_decision_at_a_single_point_is_no_piece():
    def rule(x):
        return np.where(x < 1, "a", np.where(x == 1, "tie", "b")).astype(object)

    regions = partition_by(rule, np.array([0.0, 1.0, 3.0]))
    assert regions.labels.tolist() == ["a", "b"]
    assert_allclose(regions.boundaries, [1.0])


def test_a_rule_that_flickers_is_refused():
    with pytest.raises(ValueError, match=r"more than 1000 times: estimate .* simulated_error"):
        partition_by(lambda x: np.sin(1e4 * x) > 0, np.linspace(0, 10, 5000))


@pytest.mark.parametrize(
    ("boundaries", "labels", "message"),
    [
        ([0.0, 1.0], ["a", "b"], "labels must be one more than the 2 boundaries"),
        ([1.0, 0.0], ["a", "b", "c"], "boundaries must rise"),
        ([np.nan], ["a", "b"], "boundaries must not be NaN"),
    ],
)
def test_bad_partitions_are_refused(boundaries, labels, message):
    with pytest.raises(ValueError, match=message):
        Partition(boundaries, labels)
