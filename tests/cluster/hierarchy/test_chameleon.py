"""CHAMELEON: shapes that k-means cannot find, the scores by their formulas, and bisections."""

import numpy as np
import pytest
from scipy.sparse import csgraph, csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from verulam.base import DataError
from verulam.cluster import Chameleon
from verulam.cluster._hierarchy.chameleon import graph_ties, merge_parts
from verulam.cluster._hierarchy.neighbour_graph import (
    bisect,
    fiedler_vector,
    neighbour_graph,
    partition_graph,
)


def squares_on_a_line(n_groups, size=4):
    """Return the graph of complete groups of rows in a line, each tied to the next by one edge."""
    weights = np.kron(np.eye(n_groups), np.ones((size, size))) - np.eye(n_groups * size)
    for group in range(1, n_groups):
        a, b = group * size - 1, group * size
        weights[a, b] = weights[b, a] = 0.5
    return csr_array(weights)


@pytest.mark.parametrize(
    ("X", "codes"),
    [
        make_moons(400, noise=0.07, random_state=0),
        make_circles(400, noise=0.04, factor=0.45, random_state=0),
    ],
    ids=["moons", "rings"],
)
def test_shapes_that_k_means_does_not_find(X, codes):
    learner = Chameleon().fit(X)
    assert learner.n_clusters_ == 2
    assert adjusted_rand_score(codes, learner.labels_) > 0.95
    assert adjusted_rand_score(codes, KMeans(2, random_state=0).fit_predict(X)) < 0.4


def test_dense_and_sparse_clusters_side_by_side():
    random = np.random.default_rng(0)
    X = np.r_[random.normal(size=(150, 2)) * 0.2, random.normal(size=(150, 2)) * 2.0 + [9.0, 0.0]]
    assert adjusted_rand_score(np.repeat([0, 1], 150), Chameleon().fit(X).labels_) > 0.95


def test_edges_join_rows_one_of_which_is_near_the_other():
    X = np.random.default_rng(0).normal(size=(60, 2))
    graph = neighbour_graph(X, 8).toarray()
    lengths, ends = NearestNeighbors(n_neighbors=8).fit(X).kneighbors()
    near = np.zeros((60, 60), dtype=bool)
    near[np.repeat(np.arange(60), 8), ends.ravel()] = True
    np.testing.assert_array_equal(graph > 0, near | near.T)
    i, j = 3, ends[3, 5]
    assert graph[i, j] == graph[j, i] == pytest.approx(1 / (1 + lengths[3, 5] / lengths.mean()))


def test_pieces_of_the_graph_are_joined_by_the_shortest_edges():
    X = np.r_[np.arange(10.0), 100 + np.arange(10.0), 300 + np.arange(10.0)][:, None]
    graph = neighbour_graph(X, 3)
    assert csgraph.connected_components(graph)[0] == 1
    assert graph[9, 10] > 0
    assert graph[19, 20] > 0
    assert graph[9, 20] == graph[0, 10] == 0


def test_bisection_cuts_the_weakest_edge():
    halves = bisect(squares_on_a_line(2))
    assert set(np.flatnonzero(halves.second)) in ({0, 1, 2, 3}, {4, 5, 6, 7})
    assert (halves.cut, halves.n_cut, halves.mean_weight) == (0.5, 1, 0.5)


@pytest.mark.parametrize("n_rows", [60, 400])
def test_bisection_counts_what_it_cuts_and_leaves_a_quarter(n_rows):
    graph = neighbour_graph(np.random.default_rng(1).normal(size=(n_rows, 2)), 6)
    halves = bisect(graph)
    block = graph.toarray()[np.ix_(halves.second, ~halves.second)]
    assert halves.cut == pytest.approx(block.sum())
    assert halves.n_cut == np.count_nonzero(block)
    assert n_rows // 4 <= halves.second.sum() <= n_rows - n_rows // 4
    # A random half cuts much more.
    random_half = np.random.default_rng(0).permutation(n_rows) < n_rows // 2
    assert halves.cut < 0.4 * graph.toarray()[np.ix_(random_half, ~random_half)].sum()


def test_fiedler_vector_of_many_rows_is_that_of_all_eigenvectors():
    graph = neighbour_graph(np.random.default_rng(2).normal(size=(250, 2)), 6)
    laplacian = np.diag(graph.toarray().sum(axis=1)) - graph.toarray()
    expected = np.linalg.eigh(laplacian)[1][:, 1]
    assert abs(expected @ fiedler_vector(graph)) == pytest.approx(1.0, abs=1e-8)


def test_partition_halves_the_largest_until_all_are_small():
    graph = squares_on_a_line(4)
    np.testing.assert_array_equal(partition_graph(graph, 4, 1), np.repeat(np.arange(4), 4))
    assert partition_graph(graph, 16, 1).max() == 0
    assert partition_graph(graph, 16, 16).max() == 15


def test_scores_by_the_formulas():
    X = np.random.default_rng(3).normal(size=(80, 2))
    graph = neighbour_graph(X, 8)
    labels = partition_graph(graph, 20, 1)
    ties = graph_ties(graph, labels)
    W = graph.toarray()
    inner = [bisect(csr_array(W[np.ix_(labels == k, labels == k)])) for k in range(2)]
    between = W[np.ix_(labels == 0, labels == 1)]
    sizes = np.bincount(labels)[:2]
    interconnectivity = between.sum() / ((inner[0].cut + inner[1].cut) / 2)
    means = sizes @ [half.mean_weight for half in inner] / sizes.sum()
    mean = between.sum() / max(np.count_nonzero(between), 1)
    assert ties.interconnectivity()[0, 1] == pytest.approx(interconnectivity)
    assert ties.closeness()[0, 1] == pytest.approx(mean / means)
    for power in (0.0, 1.0, 3.0):
        scores = ties.interconnectivity() * ties.closeness() ** power
        first, second, score, _ = merge_parts(graph, labels, power).merges[0]
        assert score == pytest.approx(scores.max())
        assert score == pytest.approx(scores[int(first), int(second)])


def test_merged_ties_are_those_of_the_merged_partition():
    graph = neighbour_graph(np.random.default_rng(4).normal(size=(120, 3)), 8)
    parts = partition_graph(graph, 15, 1)
    tree = merge_parts(graph, parts, 2.0)
    n_parts = tree.n_rows
    for step in range(1, n_parts - 1):
        labels = tree.cut(n_clusters=n_parts - step)[parts]
        ties = graph_ties(graph, labels)
        scores = ties.interconnectivity() * ties.closeness() ** 2.0
        assert tree.merges[step, 2] == pytest.approx(scores.max())


def test_cuts_are_nested_and_numbered_by_first_rows():
    X, _ = make_moons(120, noise=0.1, random_state=3)
    learner = Chameleon(3).fit(X)
    n_parts = learner.parts_.max() + 1
    np.testing.assert_array_equal(learner.cut(n_parts), learner.parts_)
    np.testing.assert_array_equal(learner.cut(3), learner.labels_)
    assert learner.merges_[-1, 3] == 120
    for n_clusters in range(1, n_parts):
        coarse, fine = learner.cut(n_clusters), learner.cut(n_clusters + 1)
        assert len(set(zip(coarse, fine, strict=True))) == n_clusters + 1
        assert np.all(np.diff(np.unique(coarse, return_index=True)[1]) > 0)


def test_units_and_places_do_not_matter():
    X, _ = make_moons(150, noise=0.08, random_state=0)
    labels = Chameleon().fit(X).labels_
    for other in (X * 1e100, X * 1e-200, X @ [[0.0, -1.0], [1.0, 0.0]] + 3.0):
        assert adjusted_rand_score(labels, Chameleon().fit(other).labels_) == 1.0
    np.testing.assert_array_equal(Chameleon().fit(X).labels_, labels)


@pytest.mark.filterwarnings("ignore:n_clusters=.*equal rows are divided")
def test_few_and_equal_rows():
    np.testing.assert_array_equal(Chameleon(1).fit([[1.0]]).labels_, [0])
    np.testing.assert_array_equal(Chameleon(2).fit([[1.0], [5.0]]).labels_, [0, 1])
    assert Chameleon(3).fit(np.ones((40, 2))).n_clusters_ == 3
    assert Chameleon(5, part_size=1).fit(np.eye(5)).n_clusters_ == 5


def test_bad_input_is_refused_by_name():
    with pytest.raises(DataError, match="n_clusters=9 is more than the data has"):
        Chameleon(9).fit(np.eye(3))
    with pytest.raises(ValueError, match="closeness_power"):
        Chameleon(closeness_power=-1.0).fit(np.eye(3))
    with pytest.raises(DataError, match="n_clusters=99 is out of range"):
        Chameleon().fit(np.eye(3)).cut(99)
