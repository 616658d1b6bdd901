"""Pictures of maps: a cell for each unit, discs by hits, nets, strips and circles."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection

from verulam.base import DataError
from verulam.data import dataset
from verulam.local import (
    AdaptiveResonance,
    GrowingCells,
    GrowingCellsClassifier,
    OnlineKMeans,
    OnlineSelfOrganisingMap,
    SelfOrganisingMap,
)
from verulam.plots import (
    component_plane,
    hit_map,
    map_net,
    ordering_strip,
    u_matrix,
    vigilance_circles,
)


@pytest.fixture(scope="module")
def iris():
    return dataset("iris")


@pytest.fixture(scope="module", params=["rectangular", "hexagonal"])
def fitted(request, iris):
    return SelfOrganisingMap((5, 4), lattice=request.param).fit(iris.inputs)


def of_kind(axes, kind):
    return [part for part in axes.collections if isinstance(part, kind)]


def test_every_unit_has_a_cell_with_its_height(fitted):
    (cells,) = of_kind(u_matrix(fitted), PolyCollection)
    np.testing.assert_allclose(cells.get_array(), fitted.u_matrix_.ravel())
    corners = 6 if fitted.lattice == "hexagonal" else 4
    paths = cells.get_paths()
    assert len(paths) == 20
    assert len(paths[0].vertices) == corners + 1
    middles = np.array([path.vertices[:-1].mean(axis=0) for path in paths])
    np.testing.assert_allclose(middles, fitted.grid_.positions, atol=1e-9)


def test_a_plane_shows_one_column_by_name_or_number(fitted, iris):
    by_name = component_plane(fitted, "petal_width_cm")
    by_number = component_plane(fitted, 3)
    assert by_name.get_title() == by_number.get_title() == "petal_width_cm"
    (cells,) = of_kind(by_number, PolyCollection)
    np.testing.assert_allclose(cells.get_array(), fitted.cluster_centers_[:, 3])


def test_the_area_of_a_disc_is_its_hits(fitted, iris):
    (discs,) = of_kind(hit_map(fitted), EllipseCollection)
    hits = fitted.hits_.ravel()
    areas = discs.get_widths() ** 2
    np.testing.assert_allclose(areas / areas.max(), hits[hits > 0] / hits.max())
    (same,) = of_kind(hit_map(fitted, iris.inputs), EllipseCollection)
    np.testing.assert_allclose(same.get_widths(), discs.get_widths())
    by_class = of_kind(hit_map(fitted, iris.inputs, iris.target_values), EllipseCollection)
    assert len(by_class) == 3


def test_a_net_has_a_line_for_each_pair_that_touches(fitted, iris):
    axes = map_net(fitted, iris.inputs, columns=(2, 3))
    (net,) = of_kind(axes, LineCollection)
    assert len(net.get_segments()) == len(fitted.grid_.touching)
    assert axes.get_ylabel() == "petal_width_cm"
    cells = GrowingCells(8, random_state=0).fit(iris.inputs)
    (grown,) = of_kind(map_net(cells), LineCollection)
    assert len(grown.get_segments()) == len(cells.edges_)


def test_a_strip_shows_the_map_after_so_many_rows():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    learner = OnlineSelfOrganisingMap((4, 4), init="random", random_state=0)
    axes = ordering_strip(learner, X, [20, 100, 2000])
    nets = [of_kind(place, LineCollection)[0].get_segments() for place in axes]
    lengths = [np.sum([np.linalg.norm(a - b) for a, b in net]) for net in nets]
    assert [place.get_title() for place in axes] == ["20 rows", "100 rows", "2000 rows"]
    # From a tangle of rows the net first shrinks, then unfolds to two thirds of the square's lines.
    assert lengths[0] < lengths[2]
    assert not hasattr(learner, "cluster_centers_")


def test_circles_have_the_radius_of_vigilance():
    X = np.random.default_rng(0).normal(size=(50, 2))
    learner = AdaptiveResonance(0.8, random_state=0).fit(X)
    (circles,) = of_kind(vigilance_circles(learner, X), EllipseCollection)
    np.testing.assert_allclose(circles.get_widths(), 1.6)
    assert len(circles.get_offsets()) == learner.n_clusters_


def test_axes_are_used(fitted):
    ax = plt.subplots()[1]
    assert u_matrix(fitted, ax=ax) is ax


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: u_matrix(OnlineKMeans(2).fit([[1.0], [2.0]])), "expected a SelfOrganisingMap"),
        (lambda f: hit_map(f, y=[1]), "y: classes need the rows"),
        (lambda f: map_net(f, columns=(0, 9)), r"columns=\(0, 9\)"),
        (lambda f: map_net(OnlineKMeans(2).fit([[1.0], [2.0]])), "expected a fitted map, or Grow"),
        (
            lambda f: map_net(GrowingCellsClassifier(3).fit(np.eye(4), [0, 1, 0, 1])),
            "GrowingCellsClassifier; expected a fitted map, or Grow",
        ),
        (lambda f: ordering_strip(f, [[1.0]], [1]), "expected an OnlineSelfOrganisingMap"),
        (
            lambda f: ordering_strip(OnlineSelfOrganisingMap(2), [[1.0, 2.0]], [3, 2]),
            r"steps=\[3, 2\]; expected rising whole numbers",
        ),
        (lambda f: vigilance_circles(f, [[1.0]]), "expected an AdaptiveResonance"),
        (
            lambda f: vigilance_circles(AdaptiveResonance().fit([[1.0]]), [[1.0]]),
            "circles need two inputs",
        ),
    ],
)
def test_wrong_arguments_are_named(call, message, fitted):
    with pytest.raises(DataError, match=message):
        call(fitted)
