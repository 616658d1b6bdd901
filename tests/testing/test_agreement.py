"""What counts as the same."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from verulam.testing._agreement import (
    assert_same_attributes,
    assert_same_outputs,
    assert_same_values,
)
from verulam.testing._samples import fitted, sample_for


@dataclass(frozen=True)
class Pair:
    left: float
    right: object


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1.0, 1.0 + 1e-12),
        (np.array([1e9, 0.0]), np.array([1e9, 1e-3])),
        (np.array(["a"]), np.array(["a"])),
        (Pair(1.0, [np.zeros(2)]), Pair(1.0, [np.zeros(2)])),
        (pd.Series([1.0]), pd.Series([1.0])),
        (np.array([np.nan, np.inf]), np.array([np.nan, np.inf])),
    ],
)
def test_same(first, second):
    assert_same_values(first, second, where="x", tolerance=1e-8)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1.0, 1.1),
        (1, 1.0),
        (np.array(["a"]), np.array(["b"])),
        (Pair(1.0, [np.zeros(2)]), Pair(1.0, [np.ones(2)])),
        ([1.0], [1.0, 1.0]),
        (pd.Series([1.0]), pd.Series([2.0])),
        (3, 4),
    ],
)
def test_different(first, second):
    with pytest.raises(AssertionError, match="x"):
        assert_same_values(first, second, where="x", tolerance=1e-8)


def test_learners():
    sample = sample_for(GaussianNB())
    first, second = (fitted(GaussianNB(), sample) for _ in range(2))
    assert_same_attributes(first, second)
    second.theta_ = second.theta_ + 1
    with pytest.raises(AssertionError, match="theta_"):
        assert_same_attributes(first, second)
    with pytest.raises(AssertionError, match=r"predict"):
        assert_same_outputs(first, second, sample.inputs)
    del second.theta_
    with pytest.raises(AssertionError, match="fitted attributes differ"):
        assert_same_attributes(first, second)
