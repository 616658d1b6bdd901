"""Editing: Wilson's rule by its definition; Voronoi's leaves the boundary where it is."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial import Voronoi
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression

from verulam.nonparametric import (
    EditedNeighbours,
    KNeighborsClassifier,
    VoronoiEditing,
    voronoi_pairs,
)
from verulam.nonparametric._prototypes.editing import gabriel_mask, gabriel_pairs, needed_rows

RNG, VORONOI_RNG = np.random.default_rng(0), np.random.default_rng(0)
Y = np.repeat([0, 1], 150)
X = RNG.normal(size=(300, 2)) + 1.5 * Y[:, None]


def test_wilson_by_its_definition():
    table = cdist(X, X)
    np.fill_diagonal(table, np.inf)
    neighbours = Y[np.argsort(table, axis=1)[:, :3]]
    right = (neighbours.mean(axis=1) > 0.5) == Y
    classifier = EditedNeighbours().fit(X, Y)
    assert_array_equal(classifier.rows_, np.flatnonzero(right))
    assert classifier.n_dropped_ == (~right).sum()


def test_wrong_side_of_a_rule():
    rule = LogisticRegression()
    classifier = EditedNeighbours(rule=rule).fit(X, Y)
    assert_array_equal(classifier.rows_, np.flatnonzero(rule.fit(X, Y).predict(X) == Y))
    assert_array_equal(rule.predict(X[classifier.rows_]), Y[classifier.rows_])


def test_editing_improves_one_neighbour_on_overlapping_classes():
    rng = np.random.default_rng(1)
    labels = rng.integers(2, size=4000)
    inputs = rng.normal(size=(4000, 2)) + 1.2 * labels[:, None]
    rows, row_labels = EditedNeighbours(n_neighbors=5).fit_resample(inputs[:2000], labels[:2000])
    edited = KNeighborsClassifier(n_neighbors=1).fit(rows, row_labels)
    plain = KNeighborsClassifier(n_neighbors=1).fit(inputs[:2000], labels[:2000])
    test = inputs[2000:], labels[2000:]
    assert edited.score(*test) > plain.score(*test) + 0.03


def test_repeats_go_on_until_nothing_goes():
    once = EditedNeighbours().fit(X, Y)
    often = EditedNeighbours(max_iter=50).fit(X, Y)
    assert often.n_dropped_ >= once.n_dropped_
    assert once.n_iter_ == 1
    assert 1 < often.n_iter_ < 50
    again = EditedNeighbours().fit(X[often.rows_], Y[often.rows_])
    assert again.n_dropped_ == 0


def test_bad_input():
    with pytest.raises(ValueError, match="is larger than the other rows"):
        EditedNeighbours(n_neighbors=3).fit(X[:3], Y[[0, 0, 200]])


def as_set(pairs):
    return {tuple(sorted(pair)) for pair in pairs.tolist()}


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4])
def test_boundary_is_unchanged(n_columns):
    X = VORONOI_RNG.normal(size=(200, n_columns))
    y = (X**2).sum(axis=1) > n_columns * 0.7
    edited = VoronoiEditing().fit(X, y)
    assert len(edited.rows_) < 200
    queries = VORONOI_RNG.normal(size=(5000, n_columns)) * 2.0
    plain = KNeighborsClassifier(n_neighbors=1).fit(X, y)
    assert_array_equal(edited.predict(queries), plain.predict(queries))


def test_every_kept_row_matters_to_its_neighbours():
    X = VORONOI_RNG.normal(size=(100, 2))
    y = X[:, 0] > 0
    rows = VoronoiEditing().fit(X, y).rows_
    pairs = voronoi_pairs(X)
    differing = pairs[y[pairs[:, 0]] != y[pairs[:, 1]]]
    assert_array_equal(rows, np.unique(differing))


def test_pairs_are_those_of_scipys_tessellation():
    X = VORONOI_RNG.normal(size=(80, 2))
    assert as_set(voronoi_pairs(X)) >= as_set(Voronoi(X).ridge_points)
    assert len(as_set(voronoi_pairs(X)) - as_set(Voronoi(X).ridge_points)) == 0


def test_points_on_a_line_in_the_plane():
    X = np.column_stack([np.arange(6.0), 2.0 * np.arange(6.0)])[[3, 0, 5, 1, 4, 2]]
    assert as_set(voronoi_pairs(X)) == {(1, 3), (3, 5), (0, 5), (0, 4), (2, 4)}
    edited = VoronoiEditing().fit(X, X[:, 0] > 2.5)
    assert sorted(X[edited.rows_, 0]) == [2.0, 3.0]


def test_copies_conflicts_and_one_class():
    X = np.array([[0.0], [0.0], [1.0], [2.0], [2.0], [9.0]])
    edited = VoronoiEditing().fit(X, [0, 0, 0, 0, 1, 1])
    assert_array_equal(edited.rows_, [2, 3, 4, 5])
    assert_array_equal(VoronoiEditing().fit(X, np.zeros(6)).rows_, [0])
    assert len(voronoi_pairs(np.zeros((1, 2)))) == 0


def test_gabriel_neighbours_are_voronoi_neighbours():
    X = VORONOI_RNG.normal(size=(60, 2))
    assert as_set(gabriel_pairs(X)) < as_set(voronoi_pairs(X))
    table = cdist(X[:20], X[:20], "sqeuclidean")
    assert_array_equal(gabriel_mask(table), gabriel_mask.py_func(table))
    for first, second in gabriel_pairs(X)[:20]:
        middle, radius = X[[first, second]].mean(axis=0), np.linalg.norm(X[first] - X[second]) / 2
        assert (np.linalg.norm(X - middle, axis=1) < radius * (1 - 1e-9)).sum() == 0


def test_many_dimensions_take_gabriels_graph():
    X = VORONOI_RNG.normal(size=(150, 9))
    edited = VoronoiEditing().fit(X, X[:, 0] > 0)
    assert edited.score(X, X[:, 0] > 0) > 0.95
    with pytest.raises(ValueError, match=r"spans 9 dimensions; .* Use graph='gabriel'"):
        VoronoiEditing(graph="voronoi").fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="takes at most 6000"):
        gabriel_pairs(np.zeros((6001, 2)))


@pytest.mark.parametrize("graph", ["voronoi", "gabriel"])
def test_cells_do_not_depend_on_the_unit(graph):
    X = np.random.default_rng(0).normal(size=(40, 2))
    rows = needed_rows(X, X[:, 0] > 0, graph)
    for unit in (1e-300, 1e120):
        assert_array_equal(needed_rows(X * unit, X[:, 0] > 0, graph), rows)
