"""The cache of kernel rows: right rows, oldest evicted, precision by size, budget kept."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.kernel import Gaussian, Linear, Precomputed, RowCache
from verulam.kernel import _row_cache as module

X = np.random.default_rng(0).normal(size=(30, 2))
GRAM = Gaussian(1.0)(X)


def test_rows_are_right_whatever_was_evicted():
    cache = RowCache(Gaussian(1.0), X, 6 * 30 * 8 / 2**20)
    rng = np.random.default_rng(1)
    for _ in range(40):
        wanted = rng.choice(30, size=6, replace=False)
        assert_allclose(cache.rows[cache.slots(wanted)], GRAM[wanted])
    assert cache.rows.shape == (6, 30)


def test_the_longest_unused_goes_first():
    cache = RowCache(Gaussian(1.0), X, 3 * 30 * 8 / 2**20)
    for wanted in ([0], [1], [2], [0], [3]):
        cache.slots(np.array(wanted))
    computed = cache.n_computed
    cache.slots(np.array([0]))
    assert cache.n_computed == computed == 4
    cache.slots(np.array([1]))
    assert cache.n_computed == 5


def test_products_of_more_rows_than_fit():
    cache = RowCache(Gaussian(1.0), X, 4 * 30 * 8 / 2**20)
    weights, sums = np.random.default_rng(2).normal(size=30), np.zeros(30)
    cache.add_products(np.arange(30), weights, sums)
    assert_allclose(sums, GRAM @ weights)


def test_many_rows_are_kept_in_single_precision(monkeypatch):
    monkeypatch.setattr(module, "DOUBLE_PRECISION_ROWS", 10)
    cache = RowCache(Gaussian(1.0), X, 1.0)
    rows = cache.rows[cache.slots(np.array([3]))]
    assert rows.dtype == np.float32
    assert_allclose(rows[0], GRAM[3], rtol=1e-6)


def test_a_given_matrix_is_used_as_it_is():
    cache = RowCache(Precomputed(), GRAM, 1.0)
    assert cache.rows is GRAM
    assert_allclose(cache.diagonal, 1.0)
    assert cache.slots(np.array([5, 2])).tolist() == [5, 2]


def test_kernels_must_be_finite():
    with pytest.raises(DataError, match="must be finite"), np.errstate(all="ignore"):
        RowCache(Linear(), np.array([[1e200]]), 1.0)
