"""Cheaper searches: the same answer for less work, or nearly the same for a quarter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from verulam.base import DataError
from verulam.nonparametric import PartialSearch, PrestructuredPrototypes, partial_distance_search
from verulam.nonparametric._neighbours.single_search import search_loop as loop

RNG = np.random.default_rng(0)
STORED, QUERIES = RNG.normal(size=(400, 12)), RNG.normal(size=(50, 12))
TABLE = cdist(QUERIES, STORED)


@pytest.mark.parametrize("step", [1, 4, 12])
def test_partial_distances_find_what_a_full_search_finds(step):
    search = partial_distance_search(QUERIES, STORED, step=step)
    assert_array_equal(search.rows, TABLE.argmin(axis=1))
    assert_allclose(search.distances, TABLE.min(axis=1))
    assert search.operations.max() <= 400 * 12
    assert search.share == pytest.approx(search.operations.sum() / (50 * 400 * 12))
    assert (search.share < 0.75) == (step < 12)


def test_a_fixed_bound_leaves_far_queries_without_an_answer():
    bound = float(np.median(TABLE.min(axis=1)))
    search = partial_distance_search(QUERIES, STORED, bound=bound)
    near = TABLE.min(axis=1) <= bound
    assert_array_equal(search.rows >= 0, near)
    assert np.all(np.isinf(search.distances[~near]))
    assert search.share < partial_distance_search(QUERIES, STORED).share


def test_compiled_loop_equals_its_python_source():
    results = []
    for function in (loop, loop.py_func):
        rows, squares, work = np.empty(3, np.intp), np.empty(3), np.zeros(3, np.int64)
        function(QUERIES[:3], STORED[:50], 2, np.inf, rows, squares, work)
        results.append(np.concatenate([rows, squares, work]))
    assert_allclose(results[0], results[1])


def test_four_quadrants_skip_three_quarters():
    stored, queries = RNG.normal(size=(2000, 2)), RNG.normal(size=(1000, 2))
    prototypes = PrestructuredPrototypes(stored)
    search = prototypes.query(queries)
    assert search.share == pytest.approx(0.25, abs=0.02)
    truth = cdist(queries, stored).min(axis=1)
    agree = np.isclose(search.distances, truth)
    assert prototypes.recall(queries) == pytest.approx(agree.mean())
    assert 0.8 < agree.mean() < 1.0
    assert_allclose(search.distances, np.linalg.norm(queries - stored[search.rows], axis=1))


def test_bad_requests():
    with pytest.raises(ValueError, match="step must be at least 1"):
        partial_distance_search(QUERIES, STORED, step=0)
    with pytest.raises(ValueError, match="bound must be above 0"):
        partial_distance_search(QUERIES, STORED, bound=-1.0)
    with pytest.raises(ValueError, match="n_columns must lie between 1 and 12"):
        PrestructuredPrototypes(STORED, n_columns=13)


def test_refuses_what_is_no_table():
    X = np.random.default_rng(0).normal(size=(6, 2))
    gap = np.where(np.arange(2) == 1, np.nan, X)
    with pytest.raises(ValueError, match="Input queries contains NaN"):
        partial_distance_search(gap, X)
    with pytest.raises(DataError, match="queries has 2 columns, and 1 are needed"):
        partial_distance_search(X, X[:, :1])
    with pytest.raises(ValueError, match="Input stored contains NaN"):
        PrestructuredPrototypes(gap)
    with pytest.raises(DataError, match="queries has 1 columns, and 2 are needed"):
        PrestructuredPrototypes(X).query(X[:, :1])


def test_both_searches_give_the_same_record():
    for search in (
        partial_distance_search(QUERIES, STORED),
        PrestructuredPrototypes(STORED).query(QUERIES),
    ):
        assert isinstance(search, PartialSearch)
        assert_allclose(search.distances, TABLE[np.arange(50), search.rows])
        assert 0.0 < search.share < 1.0
