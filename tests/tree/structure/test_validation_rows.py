"""Rows set aside, and folds."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.base import DataError
from verulam.tree._structure.validation_rows import folds, split_rows


def test_a_stratified_share_is_set_aside():
    codes = np.repeat([0, 1], [60, 30])
    growing, aside = split_rows(codes, 1 / 3, np.random.default_rng(0), stratified=True)
    assert_array_equal(np.sort(np.concatenate([growing, aside])), np.arange(90))
    assert_array_equal(np.bincount(codes[aside]), [20, 10])


@pytest.mark.parametrize(
    ("fraction", "words"), [(0.01, "none to prune on"), (0.99, "none to grow")]
)
def test_a_fraction_that_leaves_no_data(fraction, words):
    with pytest.raises(DataError, match=words):
        split_rows(np.zeros(10, dtype=int), fraction, np.random.default_rng(0), stratified=True)


def test_folds_cover_every_row_once():
    codes = np.repeat([0, 1], 10)
    parts = list(folds(codes, 5, np.random.default_rng(0), stratified=True))
    assert_array_equal(np.sort(np.concatenate([part[1] for part in parts])), np.arange(20))
    assert all(np.bincount(codes[validation]).tolist() == [2, 2] for _, validation in parts)
    with pytest.raises(DataError, match="pruning_folds=30 cannot be made of n_samples=20 rows"):
        next(folds(codes, 30, np.random.default_rng(0), stratified=True))
