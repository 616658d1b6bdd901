"""The cache of kernel rows: right rows, oldest evicted, precision by size, budget kept."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.kernel import Gaussian, Laplace, Linear, Precomputed, SupportVectorClassifier
from verulam.kernel._solvers import row_cache as module
from verulam.kernel._solvers.row_cache import RowCache

X = np.random.default_rng(0).normal(size=(30, 2))
GRAM = Gaussian(1.0)(X)


def budget(n_rows):
    """Return megabytes of which half, what rows get in any case, are for some rows of `X`."""
    return 2 * n_rows * 30 * 8 / 2**20


def test_rows_are_right_whatever_was_evicted():
    cache = RowCache(Gaussian(1.0), X, budget(6))
    rng = np.random.default_rng(1)
    for _ in range(40):
        places = rng.choice(30, size=6, replace=False)
        assert_allclose(cache.rows[cache.slots(places)], GRAM[places])
    assert cache.rows.shape == (6, 30)


def test_the_longest_unused_goes_first():
    cache = RowCache(Gaussian(1.0), X, budget(3))
    for rows in ([0], [1], [2], [0], [3]):
        cache.slots(np.array(rows))
    computed = cache.n_computed
    cache.slots(np.array([0]))
    assert cache.n_computed == computed == 4
    cache.slots(np.array([1]))
    assert cache.n_computed == 5


def test_products_of_more_rows_than_fit():
    cache = RowCache(Gaussian(1.0), X, budget(4))
    weights, sums = np.random.default_rng(2).normal(size=30), np.zeros(30)
    cache.add_products(np.arange(30), weights, sums)
    assert_allclose(sums, GRAM @ weights)


def test_training_stays_within_the_budget_and_twice_the_data(monkeypatch):
    monkeypatch.setenv("VERULAM_THREADS", "2")
    rows = np.random.default_rng(0).normal(size=(4000, 20))
    labels = rows[:, 0] * rows[:, 1] + rows[:, 2] > 0
    machine = SupportVectorClassifier(cache_size=12.0)
    machine.fit(rows, labels)  # compiles every loop of this size: what that takes is not counted
    tracemalloc.start()
    machine.fit(rows, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 12 * 2**20 + 2 * rows.nbytes


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplace(1.0)])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_rows_go_where_they_are_told_to(kernel, precision):
    result = np.zeros((9, 30), dtype=precision)
    kernel.fill(X[:3], X, result, np.array([7, 0, 4]))
    assert_allclose(result[[7, 0, 4]], kernel(X)[:3], rtol=1e-5, atol=1e-7)
    assert not result[[1, 2, 3, 5, 6, 8]].any()


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


def test_a_part_takes_the_rows_that_are_at_hand():
    whole, rows = RowCache(Gaussian(1.0), X, 10.0), np.array([2, 3, 11, 29])
    assert whole.compute_all()
    part = whole.subset(rows, 10.0)
    assert_allclose(part.rows[part.slots(np.array([3, 0]))], GRAM[np.ix_(rows[[3, 0]], rows)])
    assert part.n_computed == 0
    # Where only some rows are there, a part computes its own.
    some = RowCache(Gaussian(1.0), X, 10.0)
    some.slots(np.array([2]))
    part = some.subset(rows, 10.0)
    assert_allclose(part.rows[part.slots(np.arange(4))], GRAM[np.ix_(rows, rows)])
    assert part.n_computed == 4


def test_a_part_of_few_rows_has_its_own_in_double_precision(monkeypatch):
    monkeypatch.setattr(module, "DOUBLE_PRECISION_ROWS", 10)
    whole, rows = RowCache(Gaussian(1.0), X, 10.0), np.array([2, 3, 11, 29])
    assert whole.compute_all()
    assert whole.rows.dtype == np.float32
    part = whole.subset(rows, 10.0)
    assert_allclose(part.rows[part.slots(np.arange(4))], GRAM[np.ix_(rows, rows)], rtol=1e-14)
