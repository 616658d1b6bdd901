"""Search by matrix products: exact whatever single precision leaves open."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

import verulam.nonparametric._neighbours.gemm_search as loops
from verulam.nonparametric._neighbours.gemm_search import nearest_in_tiles, tiled_rows
from verulam.nonparametric._neighbours.index import NeighbourIndex

RNG = np.random.default_rng(0)


def brute(queries, stored, k):
    table = cdist(queries, stored)
    rows = np.argsort(table, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(table, rows, axis=1), rows


def test_products_are_exact_where_single_precision_is_not():
    """A tight cluster far from the centre of the data, at the edge of float32."""
    stored = np.vstack([RNG.normal(size=(500, 10)) * 1e-5 + 1.0, RNG.normal(size=(500, 10)) - 3.0])
    queries = stored[:50] + RNG.normal(size=(50, 10)) * 1e-5
    neighbours = NeighbourIndex(stored)._query_tiles(queries, 3)
    distances, rows = brute(queries, stored, 3)
    assert_array_equal(neighbours.rows, rows)
    assert_allclose(neighbours.distances, distances, rtol=1e-9)


def test_many_equal_distances_take_the_exact_way():
    stored = np.repeat(RNG.normal(size=(3, 12)), 200, axis=0)
    neighbours = NeighbourIndex(stored)._query_tiles(stored[::50] + 0.01, 2)
    assert_allclose(neighbours.distances, brute(stored[::50] + 0.01, stored, 2)[0])


def test_far_and_huge_queries():
    stored = RNG.normal(size=(400, 9))
    queries = np.vstack([np.full((1, 9), 1e30), stored[:1] * 1e6])
    neighbours = NeighbourIndex(stored)._query_tiles(queries, 2)
    assert_allclose(neighbours.distances, brute(queries, stored, 2)[0])
    tiny = NeighbourIndex(stored * 1e-100)._query_tiles(stored[:5] * 1e-100, 1)
    assert_array_equal(tiny.rows[:, 0], np.arange(5))


@pytest.mark.parametrize("k", [1, 7, 40, 300])
def test_first_limits_leave_no_neighbour_out(k):
    rng = np.random.default_rng(0)
    stored, queries = rng.normal(size=(5000, 9)), rng.normal(size=(20, 9))
    neighbours = NeighbourIndex(stored)._query_tiles(queries, k)
    assert_array_equal(neighbours.rows, brute(queries, stored, k)[1])


def test_tiles_hold_the_rows_and_their_squares():
    stored = RNG.normal(size=(700, 40)) + 5.0
    tiled = tiled_rows(stored)
    n_tiles, height, width = tiled.tiles.shape
    assert height == 41
    assert width % loops.GROUP == 0
    flat = tiled.tiles.transpose(0, 2, 1).reshape(n_tiles * width, height)
    scaled = (stored - stored.mean(axis=0)) / tiled.scale
    assert_allclose(flat[:700, :40], scaled, atol=1e-7)
    assert_allclose(flat[:700, 40], (scaled**2).sum(axis=1), rtol=1e-6)
    assert flat[:700, 40].max() == pytest.approx(1.0)
    # Rows that are not there are farther than any.
    assert (flat[700:, 40] == loops.BEYOND).all()


@pytest.mark.parametrize("k", [1, 3, 30])
def test_compiled_search_equals_its_python_source(k, monkeypatch):
    stored, queries = RNG.normal(size=(120, 4)), RNG.normal(size=(9, 4))
    tiled = tiled_rows(stored)
    results = []
    for compiled in (True, False):
        if not compiled:
            for name in dir(loops):
                plain = getattr(getattr(loops, name), "py_func", None)
                if plain is not None:
                    monkeypatch.setattr(loops, name, plain)
        distances, rows = np.empty((9, k)), np.empty((9, k), dtype=np.intp)
        untold = np.ones(9, dtype=bool)
        loops.search_tiles(
            queries, stored, tiled.centre, tiled.scale, tiled.tiles, distances, rows, untold
        )
        assert not untold.any()
        results.append(rows)
    assert_array_equal(results[0], results[1])
    assert_array_equal(results[0], brute(queries, stored, k)[1])


@pytest.mark.parametrize("k", [1, 4, 200])
def test_equal_distances_come_in_the_order_of_rows(k):
    """Whole numbers, whose distances are exact: ties abound, also at the last place."""
    stored = np.random.default_rng(1).integers(0, 3, size=(600, 6)).astype(float)
    neighbours = NeighbourIndex(stored)._query_tiles(stored[:50], k)
    decided = ~nearest_in_tiles(stored[:50], tiled_rows(stored), k)[2]
    assert decided.any()
    assert_array_equal(neighbours.rows[decided], brute(stored[:50][decided], stored, k)[1])
    assert_allclose(neighbours.distances, brute(stored[:50], stored, k)[0], atol=1e-12)


def test_threads_do_not_change_the_answer(monkeypatch):
    stored, queries = RNG.normal(size=(900, 30)), RNG.normal(size=(700, 30))
    answers = []
    for threads in ("1", "3"):
        monkeypatch.setenv("VERULAM_THREADS", threads)
        answers.append(nearest_in_tiles(queries, tiled_rows(stored), 6))
    assert_array_equal(answers[0][1], answers[1][1])
    assert_array_equal(answers[0][0], answers[1][0])
