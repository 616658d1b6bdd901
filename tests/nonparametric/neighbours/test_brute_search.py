"""Search through all rows: every distance as SciPy measures it, ties in the order of rows."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

import verulam.nonparametric._neighbours.brute_search as loops
from verulam.nonparametric._neighbours.brute_search import (
    nearest_by_scan,
    nearest_entries,
    scan_kind,
    scan_time,
)
from verulam.nonparametric._tuning import MOST_INSERTED

NAMES = {
    loops.EUCLIDEAN: "euclidean",
    loops.MANHATTAN: "cityblock",
    loops.CHEBYSHEV: "chebyshev",
    loops.HAMMING: "hamming",
}


def sorted_rows(table, k):
    rows = np.argsort(table, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(table, rows, axis=1), rows


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(("n_rows", "k"), [(5, 5), (300, 1), (1000, 7), (200, MOST_INSERTED)])
def test_agrees_with_scipy_also_among_ties(kind, n_rows, k):
    rng = np.random.default_rng(n_rows)
    stored, queries = rng.integers(4, size=(n_rows, 3)) * 1.0, rng.integers(4, size=(70, 3)) * 1.0
    distances, rows = nearest_by_scan(queries, stored, kind, k)
    expected = sorted_rows(cdist(queries, stored, NAMES[kind]), k)
    assert_allclose(distances, expected[0], atol=1e-15)
    assert_array_equal(rows, expected[1])


def test_roots_that_round_alike_are_ties():
    """Two squares one step apart have the same root; then the first row is the nearer one."""
    rng = np.random.default_rng(0)
    ties = 0
    for first in rng.uniform(1.0, 1.4, size=200):
        # The second is nearer by its square, in its last digits, and often not by its root.
        stored = np.array([[first, 1.0], [np.nextafter(first, 0.0), 1.0]])
        roots = np.sqrt((stored**2).sum(axis=1))
        ties += roots[0] == roots[1]
        rows = nearest_by_scan(np.zeros((1, 2)), stored, loops.EUCLIDEAN, 1)[1]
        assert rows[0, 0] == int(roots[1] < roots[0])
    assert 20 < ties < 180


def test_threads_share_the_queries():
    rng = np.random.default_rng(0)
    stored, queries = rng.normal(size=(3000, 5)), rng.normal(size=(701, 5))
    _, rows = nearest_by_scan(queries, stored, loops.EUCLIDEAN, 3)
    assert_array_equal(rows, sorted_rows(cdist(queries, stored), 3)[1])


def test_rows_at_infinite_distances_are_listed_once():
    """Squares overflow: the rows within reach come first, then the others in their order."""
    stored = np.full((300, 2), 1e200)
    near = [0, 2, 200]
    stored[near] = [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
    queries = np.array([[0.0, 0.0], [-1e200, 0.0]])
    distances, rows = nearest_by_scan(queries, stored, loops.EUCLIDEAN, 7)
    assert_array_equal(rows, [[2, 0, 200, 1, 3, 4, 5], [0, 1, 2, 3, 4, 5, 6]])
    assert_array_equal(np.isfinite(distances).sum(axis=1), [3, 0])
    assert_array_equal(rows, sorted_rows(cdist(queries, stored), 7)[1])


def test_kinds_by_name_and_order():
    assert scan_kind("minkowski", 1.0) == loops.MANHATTAN
    assert scan_kind("hamming", None) == loops.HAMMING
    assert scan_kind("minkowski", 3.0) is None
    assert scan_kind("cosine", None) is None
    assert scan_time(2000, 5) == pytest.approx(2 * scan_time(1000, 5))


def test_entries_of_a_table():
    table = np.tile([2.0, 1.0, np.inf, 0.0, 1.0, np.inf], (3, 1))
    distances, columns = nearest_entries(table, 5)
    assert_array_equal(columns, [[3, 1, 4, 0, 2]] * 3)
    assert_array_equal(distances[0], [0.0, 1.0, 1.0, 2.0, np.inf])
    wide = np.random.default_rng(0).integers(50, size=(20, 900)) * 1.0
    assert_array_equal(nearest_entries(wide, 40)[1], sorted_rows(wide, 40)[1])


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("n_far", [0, 147])
@pytest.mark.filterwarnings("ignore:overflow")
def test_compiled_scan_equals_its_python_source(kind, n_far, monkeypatch):
    rng = np.random.default_rng(1)
    stored, queries = rng.normal(size=(150, 3)), rng.normal(size=(4, 3))
    stored[rng.permutation(150)[:n_far]] *= 1e308
    compiled = nearest_by_scan(queries, stored, kind, 6)
    for name in ("scan_rows", "_measure_block", "_insert_nearer"):
        monkeypatch.setattr(loops, name, getattr(loops, name).py_func)
    plain = nearest_by_scan(queries, stored, kind, 6)
    assert_array_equal(compiled[0], plain[0])
    assert_array_equal(compiled[1], plain[1])
