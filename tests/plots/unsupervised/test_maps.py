"""Pictures of maps: places, distances and the path of a selection."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist, pdist
from sklearn.naive_bayes import GaussianNB

from verulam.base import DataError
from verulam.data import dataset
from verulam.plots import class_map, selection_path, shepard_diagram
from verulam.reduction import PrincipalComponents, SubsetSelector

IRIS = dataset("iris")
LABELS = np.asarray(IRIS.target_values)


@pytest.mark.parametrize("count", [2, 3])
def test_places_by_class_in_two_and_three_dimensions(count):
    places = PrincipalComponents(count).fit_transform(IRIS.inputs)
    axes = class_map(places, LABELS)
    assert (axes.name == "3d") == (count == 3)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(np.unique(LABELS))
    assert [len(points.get_offsets()) for points in axes.collections] == [50, 50, 50]
    if count == 3:
        axes.view_init(10, 20)
        assert (axes.elev, axes.azim) == (10, 20)
        drawn = np.concatenate([points._offsets3d[2] for points in axes.collections])
        assert_allclose(np.sort(drawn), np.sort(places[:, 2]))


def test_distances_against_distances():
    rows = IRIS.inputs.to_numpy()[::5]
    places = PrincipalComponents(2).fit_transform(rows)
    axes = shepard_diagram(rows, places)
    assert_allclose(axes.lines[0].get_xdata(), pdist(rows), atol=1e-6)
    assert_allclose(axes.lines[0].get_ydata(), pdist(places), atol=1e-6)
    given = shepard_diagram(cdist(rows, rows, "cityblock"), places, metric="precomputed")
    assert_allclose(given.lines[0].get_xdata(), pdist(rows, "cityblock"))
    many = shepard_diagram(np.random.default_rng(0).normal(size=(300, 2)), np.ones((300, 1)))
    assert len(many.lines[0].get_xdata()) == 20_000


def test_the_path_of_a_selection():
    selector = SubsetSelector(GaussianNB()).fit(IRIS.inputs, LABELS)
    axes = selection_path(selector)
    chosen = axes.lines[-1]
    assert chosen.get_xdata() == [selector.n_features_to_select_]
    assert [text.get_text() for text in axes.texts] == [
        f"+ {name}" for name in selector.path_["column"]
    ]
    floating = SubsetSelector(GaussianNB(), search="floating").fit(IRIS.inputs, LABELS)
    assert not selection_path(floating).texts


def test_bad_input():
    with pytest.raises(DataError, match="two or three columns"):
        class_map(np.ones((4, 4)))
    with pytest.raises(DataError, match="projection='3d'"):
        class_map(np.ones((4, 3)), ax=plt.subplots()[1])
    with pytest.raises(DataError, match="4 rows and y has 2"):
        class_map(np.ones((4, 2)), [0, 1])
    with pytest.raises(DataError, match="5 rows and embedding has 4"):
        shepard_diagram(np.ones((5, 2)), np.ones((4, 2)))
