"""Priors: given, equal or estimated, and refused where they are none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.parametric._priors import class_priors, log_priors

WEIGHTS = np.array([1.0, 3.0])


def test_three_ways():
    assert_allclose(class_priors(None, WEIGHTS), [0.25, 0.75])
    assert_allclose(class_priors("equal", WEIGHTS), [0.5, 0.5])
    assert_allclose(class_priors([0.9, 0.1], WEIGHTS), [0.9, 0.1])


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([-0.5, 1.5], "must not be negative"),
        ([np.nan, 1.0], "must not be negative or missing"),
        ([0.5, 0.6], r"must sum to 1; they sum to 1\.1"),
        ([1.0], r"shape \(1,\); expected one number for each of the 2 classes"),
    ],
)
def test_bad_priors(priors, message):
    with pytest.raises(DataError, match=message):
        class_priors(priors, WEIGHTS)


def test_a_class_that_cannot_occur():
    assert log_priors(np.array([0.0, 1.0]))[0] == -np.inf
