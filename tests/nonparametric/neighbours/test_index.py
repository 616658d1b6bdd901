"""Neighbour search: the same rows as scikit-learn and SciPy, ties in order, memory in blocks."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

import verulam.nonparametric._neighbours.brute_search as brute_module
import verulam.nonparametric._neighbours.gemm_search as products_module
from verulam.nonparametric._neighbours.brute_search import nearest_columns
from verulam.nonparametric._neighbours.index import NeighbourIndex, intrinsic_dimension
from verulam.nonparametric._tuning import FEW_QUERIES

RNG = np.random.default_rng(0)


def brute(queries, stored, k, metric="euclidean", **options):
    table = cdist(queries, stored, metric, **options)
    rows = np.argsort(table, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(table, rows, axis=1), rows


@pytest.mark.parametrize("n_columns", [1, 3, 8, 20])
@pytest.mark.parametrize("k", [1, 5])
def test_agrees_with_scikit_learn(n_columns, k):
    stored, queries = RNG.normal(size=(3000, n_columns)), RNG.normal(size=(300, n_columns))
    neighbours = NeighbourIndex(stored).query(queries, k)
    peer = NearestNeighbors(n_neighbors=k).fit(stored).kneighbors(queries)
    assert_allclose(neighbours.distances, peer[0], rtol=1e-7, atol=1e-7)
    assert_array_equal(neighbours.rows, peer[1])


@pytest.mark.parametrize("n_columns", [2, 10])
@pytest.mark.parametrize(
    ("metric", "scipy_name", "options"),
    [
        ("manhattan", "cityblock", {}),
        ("chebyshev", "chebyshev", {}),
        ("minkowski", "minkowski", {"p": 3.0}),
        ("cosine", "cosine", {}),
        ("hamming", "hamming", {}),
    ],
)
def test_metrics_agree_with_scipy(metric, scipy_name, options, n_columns):
    stored, queries = RNG.integers(0, 9, size=(2, 200, n_columns)) + 1.0
    neighbours = NeighbourIndex(stored, metric, p=3.0).query(queries, 200)
    distances, rows = brute(queries, stored, 200, scipy_name, **options)
    assert_allclose(neighbours.distances, distances, atol=1e-12)
    if metric != "cosine":
        assert_array_equal(neighbours.rows, rows)


@pytest.mark.parametrize(
    ("metric", "n_columns", "n_queries"),
    [
        ("euclidean", 2, 50),
        ("euclidean", 5, 3),
        ("euclidean", 5, 50),
        ("euclidean", 20, 50),
        ("manhattan", 2, 50),
        ("minkowski", 3, 50),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_rows_too_far_to_be_measured_follow_in_their_order(metric, n_columns, n_queries):
    stored = np.random.default_rng(0).uniform(0.9, 1.0, size=(2000, n_columns)) * 1.7e308
    stored[[0, 1500]] = 0.0
    index = NeighbourIndex(stored, metric, p=3.0)
    neighbours = index.query(np.zeros((n_queries, n_columns)), 5)
    assert_array_equal(neighbours.rows, [[0, 1500, 1, 2, 3]] * n_queries)
    assert_array_equal(neighbours.distances[0], [0.0, 0.0, np.inf, np.inf, np.inf])


@pytest.mark.parametrize("n_columns", [2, 9])
def test_mahalanobis_is_euclidean_after_whitening(n_columns):
    mixing = RNG.normal(size=(n_columns, n_columns))
    stored, queries = RNG.normal(size=(300, n_columns)) @ mixing, RNG.normal(size=(20, n_columns))
    inverse = np.linalg.inv(np.cov(stored, rowvar=False))
    index = NeighbourIndex(stored, "mahalanobis")
    distances, rows = brute(queries, stored, 4, "mahalanobis", VI=inverse)
    assert_allclose(index.query(queries, 4).distances, distances)
    assert_array_equal(index.query(queries, 4).rows, rows)
    assert_allclose(
        index.measure(queries)[:, 0], cdist(queries, stored[:1], "mahalanobis", VI=inverse)[:, 0]
    )


def test_a_function_is_a_metric():
    stored, queries = RNG.normal(size=(50, 3)), RNG.normal(size=(7, 3))

    def largest_gap(a, b):
        return np.abs(a - b).max()

    neighbours = NeighbourIndex(stored, largest_gap).query(queries, 3)
    assert_array_equal(neighbours.rows, brute(queries, stored, 3, "chebyshev")[1])


def test_equal_distances_come_in_the_order_of_rows():
    stored = np.array([[1.0], [-1.0], [1.0], [5.0]])
    assert_array_equal(NeighbourIndex(stored).query(np.array([[0.0]]), 3).rows, [[0, 1, 2]])
    assert_array_equal(nearest_columns(np.array([[2.0, 1.0, 1.0]]), 3).rows, [[1, 2, 0]])


@pytest.mark.parametrize("n_columns", [2, 9])
def test_others_leave_the_row_itself_out(n_columns):
    stored = RNG.normal(size=(100, n_columns))
    neighbours = NeighbourIndex(stored, "mahalanobis").query_others(3)
    assert (neighbours.rows != np.arange(100)[:, None]).all()
    assert neighbours.distances.min() > 0


def test_others_among_copies():
    stored = np.vstack([np.zeros((6, 2)), np.ones((1, 2))])
    neighbours = NeighbourIndex(stored).query_others(3)
    assert (neighbours.rows != np.arange(7)[:, None]).all()
    assert_allclose(neighbours.distances[:6], 0.0)


def test_blocks_do_not_change_the_answer(monkeypatch):
    stored, queries = RNG.normal(size=(500, 9)), RNG.normal(size=(70, 9))
    whole = NeighbourIndex(stored, "manhattan").query(queries, 4)
    products = NeighbourIndex(stored).query(queries, 4)
    monkeypatch.setattr(brute_module, "DISTANCES_AT_ONCE", 1200)
    monkeypatch.setattr(products_module, "LEAST_TILE_ROWS", 64)
    monkeypatch.setattr(products_module, "MOST_TILE_ROWS", 64)
    assert_array_equal(NeighbourIndex(stored, "manhattan").query(queries, 4).rows, whole.rows)
    assert_array_equal(NeighbourIndex(stored).query(queries, 4).rows, products.rows)


def test_bad_requests():
    index = NeighbourIndex(np.zeros((3, 1)))
    with pytest.raises(ValueError, match="there are n_samples = 3 rows, and 4 are needed"):
        index.query(np.zeros((1, 1)), 4)
    with pytest.raises(KeyError, match="Nearest: euclidean"):
        NeighbourIndex(np.zeros((3, 1)), "euklidean")
    with pytest.raises(ValueError, match="covariance that can be inverted"):
        NeighbourIndex(np.ones((5, 2)), "mahalanobis")


def test_dimension_of_the_data_not_of_their_space():
    rng = np.random.default_rng(0)
    for dimension in (1, 3):
        rows = rng.normal(size=(3000, dimension)) @ rng.normal(size=(dimension, 12))
        assert intrinsic_dimension(rows) == pytest.approx(dimension, abs=0.4)
    assert intrinsic_dimension(rng.normal(size=(3000, 20))) > 10
    assert intrinsic_dimension(np.ones((1000, 4))) == 4.0


def test_ways_to_search_agree():
    """What the tree finds among flat rows in many columns, the products find as well."""
    rng = np.random.default_rng(0)
    stored = rng.normal(size=(12_000, 2)) @ rng.normal(size=(2, 9))
    queries = stored[:40] + 0.01 * rng.normal(size=(40, 9))
    index = NeighbourIndex(stored)
    assert index._tree_pays(3)
    by_tree, by_products = (
        index.query(queries, 3),
        NeighbourIndex(stored)._query_tiles(queries, 3),
    )
    assert_array_equal(by_tree.rows, by_products.rows)
    assert_allclose(by_tree.distances, by_products.distances)
    assert not NeighbourIndex(rng.normal(size=(12_000, 9)))._tree_pays(3)
    assert index._are_near(queries)
    assert not index._are_near(rng.normal(size=(40, 9)) * 10.0)


def test_ways_are_chosen_by_where_queries_lie():
    """Off the plane of the stored rows a tree leaves out nothing, in it nearly everything."""
    rng = np.random.default_rng(0)
    axes = rng.normal(size=(2, 5))
    index = NeighbourIndex(rng.normal(size=(6000, 2)) @ axes)
    inside, outside = rng.normal(size=(100, 2)) @ axes, rng.normal(size=(100, 5))
    assert index._tree_pays(5)
    assert index._are_near(inside)
    assert not index._are_near(outside)
    half = np.where(np.arange(100)[:, None] % 2 == 0, inside, outside)
    assert not index._are_near(half)
    for queries in (inside, outside, half):
        assert_array_equal(index.query(queries, 5).rows, brute(queries, index.stored, 5)[1])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_memory_of_many_queries_is_bounded():
    """100,000 stored rows and as many queries in 20 columns, in a process of its own."""
    code = """
import numpy as np
from verulam.nonparametric import KNeighborsClassifier
X = np.random.default_rng(0).normal(size=(100_000, 20))
KNeighborsClassifier().fit(X, X[:, 0] > 0).predict(X)
# Not ru_maxrss: a child process starts with the high-water mark of its parent.
with open("/proc/self/status") as status:
    print(next(line for line in status if line.startswith("VmHWM")).split()[1])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1_000_000  # kilobytes


@pytest.mark.parametrize(("n_columns", "levels", "k"), [(3, 12, 5), (4, 6, 1), (3, 2, 5)])
@pytest.mark.parametrize("unit", [1.0, 0.1])
def test_answers_do_not_depend_on_what_is_asked_with_them(n_columns, levels, k, unit):
    """Among ties the first rows are taken, whether a tree was asked or not."""
    random = np.random.default_rng(n_columns)
    stored = unit * random.integers(0, levels, (6000, n_columns))
    queries = unit * random.integers(0, levels, (60, n_columns))
    index = NeighbourIndex(stored)
    by_products = NeighbourIndex(stored)._query_tiles(queries, k)
    assert_array_equal(index._query_tree(queries, k).rows, by_products.rows)
    far_too = np.vstack([queries, queries + 1e4])
    assert_array_equal(index.query(far_too, k).rows[: len(queries)], by_products.rows)
    one_by_one = [index.query(query[None], k).rows[0] for query in queries]
    assert_array_equal(one_by_one, by_products.rows)


def test_first_of_equal_columns():
    table = np.tile([2.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0], (3, 5))
    assert_array_equal(nearest_columns(table, 7).rows, [[3, 11, 19, 27, 35, 1, 2]] * 3)


def test_few_queries_prepare_nothing():
    rng = np.random.default_rng(0)
    stored, queries = rng.normal(size=(2000, 4)), rng.normal(size=(50, 4))
    index = NeighbourIndex(stored)
    neighbours = [index.query(query[None], 3).rows[0] for query in queries]
    assert_array_equal(neighbours, brute(queries, stored, 3)[1])
    assert index._n_asked > FEW_QUERIES
    assert index._tree is None
    index.query(rng.normal(size=(1000, 4)), 3)
    assert index._tree is not None
    fresh = NeighbourIndex(stored)
    fresh.query(queries[:FEW_QUERIES], 3)
    assert fresh._tree is None
    assert fresh._tiled is None


@pytest.mark.parametrize("k", [3, 80])
def test_products_are_left_out_beside_a_row_far_out(k):
    """Where single precision tells hardly any two rows apart, all are measured at once."""
    rng = np.random.default_rng(0)
    stored, queries = rng.normal(size=(900, 8)), rng.normal(size=(700, 8))
    stored[0] = 1e9
    index = NeighbourIndex(stored)
    assert_array_equal(index.query(queries, k).rows, brute(queries, stored, k)[1])
    assert index._is_crowded


def test_repeated_values_are_no_reason_to_leave_the_tree():
    rng = np.random.default_rng(0)
    stored, queries = rng.integers(6, size=(6000, 3)) * 1.0, rng.integers(6, size=(300, 3)) * 1.0
    index = NeighbourIndex(stored)
    assert_array_equal(index.query(queries, 5).rows, brute(queries, stored, 5)[1])
    assert index._tree is not None
    assert index._tiled is None


@pytest.mark.parametrize(
    ("metric", "scipy_name"), [("manhattan", "cityblock"), ("chebyshev", "chebyshev")]
)
@pytest.mark.parametrize(("n_rows", "n_columns"), [(20_000, 2), (700, 6)])
def test_trees_and_scans_of_other_orders(metric, scipy_name, n_rows, n_columns):
    rng = np.random.default_rng(0)
    stored, queries = rng.normal(size=(n_rows, n_columns)), rng.normal(size=(40, n_columns))
    index = NeighbourIndex(stored, metric)
    assert index._tree_pays(4) == (n_columns == 2)
    expected = brute(queries, stored, 4, scipy_name)[1]
    assert_array_equal(index.query(queries, 4).rows, expected)
