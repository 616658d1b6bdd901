"""Facets in space: on the boundary, between two classes, within the box of the data."""

import numpy as np
import pytest
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from verulam.nonparametric import KNeighborsClassifier, VoronoiEditing
from verulam.plots import voronoi_facets
from verulam.plots._models.facets import class_facets, clipped

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
CODES = np.digitize(X[:, 0], [-0.5, 0.5])


def test_facets_lie_between_two_nearest_rows_of_the_pair_of_classes():
    by_pair = class_facets(X, CODES)
    assert (0, 1) in by_pair
    for pair, facets in by_pair.items():
        middles = np.array([facet.mean(axis=0) for facet in facets])
        table = cdist(middles, X)
        nearest = np.argsort(table, axis=1)[:, :2]
        assert_allclose(*np.take_along_axis(table, nearest, axis=1).T, rtol=1e-6)
        assert {tuple(sorted(row)) for row in CODES[nearest]} == {pair}


def test_no_facet_is_missing():
    """Along a line the answer changes as often as a facet is crossed."""
    model = KNeighborsClassifier(n_neighbors=1).fit(X, CODES)
    facets = [facet for some in class_facets(X, CODES).values() for facet in some]
    steps = np.linspace(0.0, 1.0, 4001)
    for start, end in np.random.default_rng(1).uniform(-1.5, 1.5, size=(12, 2, 3)):
        answers = model.predict(start + steps[:, None] * (end - start))
        crossed = 0
        for facet in facets:
            normal = np.linalg.svd(facet - facet.mean(axis=0))[2][2]
            share = normal @ (facet[0] - start) / (normal @ (end - start))
            place = start + share * (end - start)
            turns = np.cross(facet - place, np.roll(facet, -1, axis=0) - place) @ normal
            crossed += 0.0 < share < 1.0 and (np.all(turns > 0) or np.all(turns < 0))
        assert crossed == np.count_nonzero(np.diff(answers))


def test_picture_has_a_collection_for_each_pair_within_the_box():
    ax = voronoi_facets(X, np.array(["a", "b", "c"])[CODES])
    drawn = [part for part in ax.collections if isinstance(part, Poly3DCollection)]
    by_pair = class_facets(X, CODES)
    assert len(drawn) == len(by_pair)
    assert len({tuple(part.get_facecolor()[0]) for part in drawn}) == len(by_pair)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    pairs = ["abc"[first] + " | " + "abc"[second] for first, second in sorted(by_pair)]
    assert labels == ["a", "b", "c", *pairs, "redundant"]
    corners = np.concatenate([facet for facets in by_pair.values() for facet in facets])
    room = 0.0801 * np.ptp(X, axis=0)
    assert np.all(corners >= X.min(axis=0) - room)
    assert np.all(corners <= X.max(axis=0) + room)
    limits = [ax.get_xlim(), ax.get_ylim(), ax.get_zlim()]
    for (low, high), column in zip(limits, X.T, strict=True):
        assert column.min() - np.ptp(column) < low < column.min()
        assert column.max() < high < column.max() + np.ptp(column)
    filled = [part for part in ax.collections if part.get_label() in {"a", "b", "c"}]
    rows = VoronoiEditing().fit(X, CODES).rows_
    assert sum(len(part.get_offsets()) for part in filled) == len(rows)


def test_clipping_a_square_at_its_corner():
    square = np.array([[0.0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]])
    polygon = clipped(square, np.array([1.0, 1.0, -1.0]), np.array([9.0, 9.0, 1.0]))
    assert {tuple(row) for row in polygon} == {(1, 1, 0), (2, 1, 0), (2, 2, 0), (1, 2, 0)}
    assert clipped(square, np.full(3, 5.0), np.full(3, 6.0)).shape == (0, 3)


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (X[:, :2], CODES, "three columns"),
        (np.vstack([X, X[:1]]), np.append(CODES, 0), "identical rows"),
        (np.vstack([X, [[np.nan, 0, 0]]]), np.append(CODES, 0), "NaN"),
        (X, CODES[:-1], "y has 39 labels, but X has 40 rows"),
    ],
)
def test_bad_input(rows, labels, message):
    with pytest.raises(ValueError, match=message):
        voronoi_facets(rows, labels)
