"""The tree gives the nearest rows, and among equals the first, however the data are tied."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import verulam.nonparametric._neighbours.kd_tree as loops
from verulam.nonparametric._neighbours.gemm_search import measure_all
from verulam.nonparametric._neighbours.kd_tree import LEAF_ROWS, grow_kd_tree


def brute(queries, stored, k):
    table = measure_all(queries, stored)
    rows = np.argsort(table, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(table, rows, axis=1), rows


def search(stored, queries, k):
    return grow_kd_tree(stored).query(queries, k, np.arange(len(queries)))


def tied_rows(kind, n_rows, n_columns, rng):
    return {
        "continuous": lambda: rng.normal(size=(n_rows, n_columns)),
        "tenths": lambda: 0.1 * rng.integers(4, size=(n_rows, n_columns)),
        "copies": lambda: rng.normal(size=(7, n_columns))[rng.integers(7, size=n_rows)],
        "one point": lambda: np.full((n_rows, n_columns), 0.3),
        "line": lambda: np.outer(rng.integers(50, size=n_rows), np.ones(n_columns)),
    }[kind]()


@pytest.mark.parametrize("kind", ["continuous", "tenths", "copies", "one point", "line"])
@pytest.mark.parametrize(("n_rows", "n_columns"), [(1, 2), (LEAF_ROWS, 1), (700, 1), (900, 3)])
def test_nearest_rows_and_the_first_among_equals(kind, n_rows, n_columns):
    rng = np.random.default_rng(n_rows)
    stored = tied_rows(kind, n_rows, n_columns, rng)
    queries = np.vstack([stored[:40], tied_rows(kind, 40, n_columns, rng) + 0.05])
    for k in {1, min(5, n_rows), min(60, n_rows)}:
        distances, rows = search(stored, queries, k)
        expected = brute(queries, stored, k)
        assert_array_equal(distances, expected[0])
        assert_array_equal(rows, expected[1])


def test_nodes_bound_their_rows():
    rng = np.random.default_rng(0)
    stored = np.vstack([rng.normal(size=(300, 2)), np.zeros((100, 2))])
    tree = grow_kd_tree(stored)
    assert_array_equal(np.sort(tree.order), np.arange(400))
    assert_array_equal(tree.columns.T, stored[tree.order])
    assert np.diff(tree.ranges[len(tree.boxes) // 2 :]).max() <= LEAF_ROWS
    for node, (start, stop) in enumerate(tree.ranges):
        rows = tree.order[start:stop]
        assert tree.first_rows[node] == rows.min()
        assert tree.is_point[node] == (np.ptp(stored[rows], axis=0) == 0).all()
        if tree.is_point[node]:
            assert_array_equal(rows, np.sort(rows))
        if not tree.is_point[node] or not tree.is_point[(node - 1) // 2]:
            assert_array_equal(
                tree.boxes[node], [stored[rows].min(axis=0), stored[rows].max(axis=0)]
            )
    assert tree.is_point.sum() > 4


def test_the_sequence_of_queries_changes_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    stored = rng.integers(5, size=(2000, 3)) * 1.0
    tree = grow_kd_tree(stored)
    plain = tree.query(stored, 4, np.arange(2000))
    monkeypatch.setattr(loops, "TREE_TASK_QUERIES", 70)
    monkeypatch.setenv("VERULAM_THREADS", "3")
    for answer, expected in zip(tree.query(stored, 4, tree.order), plain, strict=True):
        assert_array_equal(answer, expected)


@pytest.mark.filterwarnings("ignore:overflow")
def test_sizes_at_the_ends_of_floating_point():
    rng = np.random.default_rng(0)
    large = rng.uniform(0.9, 1.0, size=(200, 2)) * 1.7e308
    large[150] = 0.0
    distances, rows = search(large, np.zeros((1, 2)), 3)
    assert_array_equal(rows, [[150, 0, 1]])
    assert_array_equal(distances, [[0.0, np.inf, np.inf]])
    for size in (1e-160, 1e-170):
        tiny = rng.normal(size=(200, 2)) * size
        assert_array_equal(search(tiny, tiny[:20], 4)[1], brute(tiny[:20], tiny, 4)[1])


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_tree_equals_its_python_source(monkeypatch):
    rng = np.random.default_rng(1)
    stored, queries = rng.integers(6, size=(90, 2)) * 1.0, rng.normal(size=(8, 2)) + 2.0
    compiled = search(stored, queries, 5)
    for name in dir(loops):
        plain = getattr(getattr(loops, name), "py_func", None)
        if plain is not None:
            monkeypatch.setattr(loops, name, plain)
    for answer, expected in zip(search(stored, queries, 5), compiled, strict=True):
        assert_array_equal(answer, expected)
