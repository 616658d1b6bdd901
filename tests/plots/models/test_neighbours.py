"""Pictures of neighbours: windows that add up, cells and their boundary, kept rows, discs."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PatchCollection
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from verulam.base import DataError
from verulam.nonparametric import KernelDensity, ReducedCoulombEnergy, VoronoiEditing
from verulam.plots import coulomb_discs, kept_rows, voronoi_cells, window_density

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = np.where(X[:, 0] > 0, "east", "west")


@pytest.mark.parametrize("adaptive", [0.0, 0.5])
def test_windows_add_up_to_the_density(adaptive):
    ax = window_density(KernelDensity(bandwidth=0.4, adaptive=adaptive).fit(X[:6, :1]))
    *windows, curve = ax.lines
    assert len(windows) == 6
    total = sum(np.asarray(window.get_ydata()) for window in windows)
    assert_allclose(total, curve.get_ydata())
    with pytest.raises(ValueError, match="one column, not 2"):
        window_density(KernelDensity().fit(X))


def test_boundary_lies_between_two_nearest_rows_of_different_classes():
    ax = voronoi_cells(X, Y)
    lines = [part for part in ax.collections if isinstance(part, LineCollection)]
    boundary = lines[1].get_segments()
    assert len(boundary) > 3
    middles = np.array([segment.mean(axis=0) for segment in boundary])
    inside = middles[np.abs(middles).max(axis=1) < 3]
    table = cdist(inside, X)
    nearest = np.argsort(table, axis=1)[:, :2]
    assert_allclose(*np.take_along_axis(table, nearest, axis=1).T, rtol=1e-6)
    assert np.all(Y[nearest[:, 0]] != Y[nearest[:, 1]])


def test_redundant_rows_are_hollow():
    ax = voronoi_cells(X, Y)
    rows = VoronoiEditing().fit(X, Y).rows_
    filled = [part for part in ax.collections if part.get_label() in ("east", "west")]
    assert sum(len(part.get_offsets()) for part in filled) == len(rows)
    with pytest.raises(ValueError, match="identical rows"):
        voronoi_cells(X[[0, 0, 1, 2, 3]], Y[:5])


def test_kept_rows_are_counted():
    assert kept_rows(X, Y, [0, 5, 5]).get_title() == "2 of 40 rows"
    with pytest.raises(ValueError, match="two columns"):
        kept_rows(X[:, :1], Y, [0])


def test_discs_have_the_radii_of_the_network():
    stage = list(ReducedCoulombEnergy(max_radius=0.7).stages(X, Y))[9]
    ax = coulomb_discs(stage)
    discs = [part for part in ax.collections if isinstance(part, PatchCollection)]
    heights = [np.ptp(path.vertices[:, 1]) for part in discs for path in part.get_paths()]
    assert_allclose(np.sort(heights), np.sort(2 * stage.radii))
    assert ax.get_title() == "after 10 patterns"


def test_conflict_zones_are_shaded():
    """Dark exactly where the network's answer is ambiguous."""
    learner = ReducedCoulombEnergy(max_radius=0.7).fit(X, Y)
    ax = coulomb_discs(list(learner.stages(X, Y))[-1])
    (shade,) = ax.images
    table = np.asarray(shade.get_array())
    left, right, bottom, top = shade.get_extent()
    places = np.random.default_rng(1).uniform([left, bottom], [right, top], size=(2000, 2))
    outcomes = learner.answers(places).outcomes
    columns = ((places[:, 0] - left) / (right - left) * table.shape[1]).astype(int)
    rows = ((places[:, 1] - bottom) / (top - bottom) * table.shape[0]).astype(int)
    dark = table[rows, columns, 3] > 0
    assert 20 < dark.sum() < 1500
    # Only pixels that an edge of a disc crosses may differ.
    assert (dark != (outcomes == "ambiguous")).mean() < 0.02


def test_rows_that_are_not_there_cannot_be_kept():
    with pytest.raises(DataError, match="numbers of rows, 0 to 2"):
        kept_rows([[0, 0], [1, 1], [2, 0]], [0, 1, 0], [3])
