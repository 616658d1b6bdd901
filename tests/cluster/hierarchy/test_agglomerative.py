"""Merging: the worked example, SciPy's hierarchies, and refusals."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import pdist, squareform

from verulam.base import DataError
from verulam.cluster import AgglomerativeClustering
from verulam.data import dataset


def worked_matrix():
    return dataset("single_link_distances").inputs.to_numpy()


def fitted(linkage, X, **options):
    return AgglomerativeClustering(linkage=linkage, **options).fit(X)


def test_single_link_of_the_worked_matrix():
    """SIT1305 III: {3,6} at .11, {2,5} at .14, both together and 4 at .15, 1 at .22."""
    learner = fitted("single", worked_matrix(), metric="precomputed")
    np.testing.assert_allclose(learner.merges_[:, 2], [0.11, 0.14, 0.15, 0.15, 0.22])
    expected = np.full((6, 6), 0.15)
    expected[0] = expected[:, 0] = 0.22
    expected[2, 5] = expected[5, 2] = 0.11
    expected[1, 4] = expected[4, 1] = 0.14
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(learner.cophenetic(), expected)
    np.testing.assert_array_equal(learner.cut(height=0.14), [0, 1, 2, 3, 1, 2])
    np.testing.assert_array_equal(learner.cut(height=0.15), [0, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(learner.labels_, [0, 1, 1, 1, 1, 1])


def test_complete_link_of_the_worked_matrix():
    learner = fitted("complete", worked_matrix(), metric="precomputed")
    np.testing.assert_allclose(learner.merges_[:, 2], [0.11, 0.14, 0.22, 0.34, 0.39])


@pytest.mark.parametrize("method", ["single", "complete", "average", "centroid", "ward"])
@pytest.mark.parametrize("n_columns", [1, 2, 7])
def test_agrees_with_scipy(method, n_columns):
    X = np.random.default_rng(n_columns).normal(size=(80, n_columns))
    theirs = linkage(X, method)
    from_rows = fitted(method, X)
    from_matrix = fitted(method, squareform(pdist(X)), metric="precomputed")
    for learner in (from_rows, from_matrix):
        np.testing.assert_allclose(learner.merges_[:, 2:], theirs[:, 2:])
        np.testing.assert_allclose(squareform(learner.cophenetic()), cophenet(theirs))


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine"])
def test_other_metrics(metric):
    X = np.random.default_rng(0).normal(size=(40, 3))
    name = {"manhattan": "cityblock"}.get(metric, metric)
    for method in ("single", "average"):
        ours = fitted(method, X, metric=metric)
        np.testing.assert_allclose(ours.merges_[:, 2], linkage(X, method, name)[:, 2])


@pytest.mark.filterwarnings("ignore:n_clusters=.*equal rows are divided")
def test_ties_and_equal_rows():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]])
    learner = fitted("single", X, n_clusters=3)
    np.testing.assert_array_equal(learner.merges_[:, 2], [0, 0, 1, 1])
    np.testing.assert_array_equal(learner.labels_, [0, 0, 1, 1, 2])
    everywhere = fitted("single", np.ones((4, 2)))
    np.testing.assert_array_equal(everywhere.merges_[:, 2], np.zeros(3))


def test_single_link_follows_a_chain_that_complete_link_cuts():
    chain = np.column_stack([np.arange(20.0), np.zeros(20)])
    lump = np.column_stack([np.linspace(0, 1, 5), np.full(5, 4.0)])
    X = np.r_[chain, lump]
    truth = np.repeat([0, 1], [20, 5])
    np.testing.assert_array_equal(fitted("single", X).labels_, truth)
    assert not np.array_equal(fitted("complete", X).labels_, truth)


def test_a_threshold_instead_of_a_number():
    X = np.array([[0.0], [1.0], [5.0], [9.0]])
    learner = fitted("single", X, n_clusters=None, distance_threshold=4.0)
    assert learner.n_clusters_ == 1
    learner = fitted("single", X, n_clusters=None, distance_threshold=3.9)
    np.testing.assert_array_equal(learner.labels_, [0, 0, 1, 2])


def test_one_row():
    learner = fitted("average", [[1.0, 2.0]], n_clusters=1)
    np.testing.assert_array_equal(learner.labels_, [0])
    assert learner.merges_.shape == (0, 4)


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"n_clusters": 4}, np.eye(3), "n_clusters=4 is more than the data has"),
        ({"n_clusters": None}, np.eye(3), "Exactly one of n_clusters and distance_threshold"),
        ({"distance_threshold": 1.0}, np.eye(3), "Exactly one of n_clusters"),
        ({"metric": "precomputed"}, np.eye(3), "X is no matrix of distances"),
        ({"linkage": "ward", "metric": "manhattan"}, np.eye(3), "needs Euclidean distances"),
        ({"linkage": "median"}, np.eye(3), "'linkage' parameter of AgglomerativeClustering"),
        ({"metric": "euclid"}, np.eye(3), "'metric' parameter of AgglomerativeClustering"),
        ({}, [[np.nan], [1.0]], "NaN"),
    ],
)
def test_bad_input_is_refused_by_name(options, X, message):
    with pytest.raises((DataError, ValueError), match=message):
        AgglomerativeClustering(**options).fit(X)
