"""Trees of merges: cuts, cophenetic distances, and matrices that are no distances."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, fcluster, linkage
from scipy.spatial.distance import squareform

from verulam.base import DataError
from verulam.cluster import MergeTree
from verulam.cluster._hierarchy.merge_tree import checked_distances, condensed_distances


def tree(method="average", n_rows=30, seed=0):
    return MergeTree(linkage(np.random.default_rng(seed).normal(size=(n_rows, 2)), method))


def same_partition(first, second):
    return len({*zip(first, second, strict=True)}) == len(set(first)) == len(set(second))


@pytest.mark.parametrize("method", ["average", "single", "centroid"])
def test_cuts_by_number_have_as_many_parts_and_are_nested(method):
    hierarchy = tree(method)
    finer = hierarchy.cut(n_clusters=30)
    for n_clusters in range(29, 0, -1):
        labels = hierarchy.cut(n_clusters=n_clusters)
        assert len(set(labels)) == n_clusters
        # Each cluster of the finer cut is inside of one of this.
        assert len({*zip(finer, labels, strict=True)}) == n_clusters + 1
        finer = labels


@pytest.mark.parametrize("method", ["average", "complete", "centroid"])
def test_cuts_by_height_agree_with_scipy(method):
    hierarchy = tree(method)
    for height in (0.0, 0.3, 0.7, 1.5, 99.0):
        theirs = fcluster(hierarchy.merges, height, "distance")
        assert same_partition(hierarchy.cut(height=height), theirs)


def test_clusters_are_numbered_by_their_first_rows():
    labels = tree().cut(n_clusters=6)
    _, first = np.unique(labels, return_index=True)
    assert np.all(np.diff(first) > 0)
    assert labels[0] == 0


def test_cophenetic_distances_agree_with_scipy():
    hierarchy = tree()
    np.testing.assert_array_equal(hierarchy.cophenetic(), squareform(cophenet(hierarchy.merges)))
    assert sorted(hierarchy.leaf_order()) == list(range(30))
    table = hierarchy.to_frame()
    assert list(table["size"])[-1] == 30
    assert np.array_equal(table["height"], hierarchy.heights)


def test_one_row_is_a_tree_without_merges():
    alone = MergeTree(np.empty((0, 4)))
    assert alone.n_rows == 1
    np.testing.assert_array_equal(alone.cut(n_clusters=1), [0])
    np.testing.assert_array_equal(alone.cophenetic(), [[0.0]])
    np.testing.assert_array_equal(alone.leaf_order(), [0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "pass either height or n_clusters"),
        ({"height": 1.0, "n_clusters": 2}, "pass either height or n_clusters"),
        ({"n_clusters": 31}, "choose from 1 to 30"),
        ({"n_clusters": 0}, "choose from 1 to 30"),
    ],
)
def test_impossible_cuts_are_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        tree().cut(**arguments)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3)), r"its shape is \(2, 3\), and it should be square"),
        ([[0.0, np.nan], [np.nan, 0.0]], "missing or infinite entries"),
        ([[0.0, -1.0], [-1.0, 0.0]], "the entry 0, 1 is negative: -1"),
        ([[0.0, 1.0], [1.0, 2.0]], "row 1 has distance 2 from itself instead of 0"),
        ([[0.0, 1.0], [3.0, 0.0]], "not symmetric: entry 0, 1 is 1 and entry 1, 0 is 3"),
    ],
)
def test_what_is_no_matrix_of_distances_is_refused(matrix, message):
    with pytest.raises(DataError, match=message):
        checked_distances(np.array(matrix))


def test_a_pair_that_differs_is_named_wherever_it_is():
    matrix = np.ones((700, 700)) - np.eye(700)
    np.testing.assert_array_equal(checked_distances(matrix), matrix)
    matrix[650, 3] = 2.0
    with pytest.raises(DataError, match="entry 3, 650 is 1 and entry 650, 3 is 2"):
        checked_distances(matrix)


def test_metrics():
    rows = np.array([[0.0, 0.0], [3.0, 4.0]])
    lengths = {name: condensed_distances(rows, name)[0] for name in ("euclidean", "manhattan")}
    assert lengths == {"euclidean": 5.0, "manhattan": 7.0}
    assert condensed_distances(rows, lambda a, b: abs(a - b).max())[0] == 4.0
    with pytest.raises(DataError, match="gives missing or infinite distances"):
        condensed_distances(rows, "cosine")
    with pytest.raises(KeyError, match="Unknown metric"):
        condensed_distances(rows, "euclid")


def test_rounding_in_a_matrix_of_distances_is_no_fault():
    matrix = 1.0 - np.corrcoef(np.random.default_rng(0).normal(size=(6, 30)))
    matrix[2, 2], matrix[0, 1] = 1e-16, matrix[1, 0]
    cleaned = checked_distances(matrix)
    assert (np.diagonal(cleaned) == 0.0).all()
    matrix[3, 3] = 1e-3
    with pytest.raises(DataError, match=r"row 3 has distance 0.001 from itself"):
        checked_distances(matrix)
