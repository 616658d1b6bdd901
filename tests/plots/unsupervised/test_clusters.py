"""Pictures of clusters show what the records hold."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba

from verulam.base import DataError
from verulam.cluster import (
    AgglomerativeClustering,
    DivisiveClustering,
    GaussianMixture,
    KMeans,
    MergeTree,
    cluster_quality,
    select_mixture,
)
from verulam.plots import dendrogram, mixture_criteria, mixture_ellipses, silhouette_plot
from verulam.plots._style import colour

ROWS = np.array([[0.0], [1.0], [4.0], [4.5], [9.0]])


def segments(axes):
    return np.array(axes.collections[0].get_segments())


def test_every_merge_is_drawn_at_its_height():
    learner = AgglomerativeClustering(linkage="single").fit(ROWS)
    axes = dendrogram(learner)
    np.testing.assert_allclose(segments(axes)[:, 1, 1], learner.merges_[:, 2])
    np.testing.assert_allclose(segments(axes)[:, 2, 1], learner.merges_[:, 2])
    assert not axes.lines
    assert axes.get_ylim()[1] > 4.5


@pytest.mark.parametrize(
    "learner", [AgglomerativeClustering(linkage="single"), DivisiveClustering()]
)
def test_the_cut_lies_between_merges_and_colours_the_clusters(learner):
    learner.fit(ROWS)
    axes = dendrogram(learner, n_clusters=3, names=list("abcde"))
    height = axes.lines[0].get_ydata()[0]
    labels = learner.cut(n_clusters=3)
    np.testing.assert_array_equal(learner.cut(height=height), labels)
    colours = axes.collections[0].get_colors()
    below = learner.merges_[:, 2] < height
    grey = to_rgba("0.45")
    assert [tuple(c) == grey for c in colours] == [not inside for inside in below]
    assert {tuple(c) for c in colours[below]} <= {to_rgba(colour(k)) for k in range(3)}
    assert sorted(label.get_text() for label in axes.get_xticklabels()) == list("abcde")


def test_a_cut_at_a_height():
    tree = AgglomerativeClustering(linkage="single").fit(ROWS).merge_tree_
    axes = dendrogram(tree, height=2.0, ax=plt.subplots()[1])
    assert axes.lines[0].get_ydata()[0] == 2.0


def test_what_is_no_hierarchy_is_refused():
    with pytest.raises(DataError, match="hierarchy is a KMeans"):
        dendrogram(KMeans())
    with pytest.raises(DataError, match="one row alone"):
        dendrogram(MergeTree(np.empty((0, 4))))


def test_silhouettes_are_bars_sorted_in_their_clusters():
    random = np.random.default_rng(0)
    X, labels = random.normal(size=(40, 2)), np.arange(40) % 3
    quality = cluster_quality(X, labels)
    axes = silhouette_plot(quality)
    widths = np.array([bar.get_width() for bar in axes.patches])
    np.testing.assert_allclose(np.sort(widths), np.sort(quality.silhouettes))
    assert np.all(np.diff(widths[:14]) >= 0)
    assert axes.lines[0].get_xdata()[0] == pytest.approx(quality.silhouette)
    assert axes.get_legend().get_texts()[0].get_text() == f"mean {quality.silhouette:.2f}"


def test_ellipses_have_the_axes_of_the_covariances():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2)) @ np.array([[3.0, 0.0], [1.0, 0.5]]).T
    mixture = GaussianMixture(1).fit(X)
    axes = mixture_ellipses(mixture, X, deviations=(1.0,))
    (ellipse,) = axes.patches
    values, vectors = np.linalg.eigh(mixture.covariances_[0])
    assert ellipse.width / 2 == pytest.approx(np.sqrt(values[1]))
    assert ellipse.height / 2 == pytest.approx(np.sqrt(values[0]))
    direction = np.array([np.cos(np.radians(ellipse.angle)), np.sin(np.radians(ellipse.angle))])
    assert abs(direction @ vectors[:, 1]) == pytest.approx(1.0)
    assert axes.get_legend().get_texts()[0].get_text() == "component 0, 100%"


def test_components_may_have_the_colours_of_another_picture():
    X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0)
    mixture = GaussianMixture(2, random_state=0).fit(X)
    axes = mixture_ellipses(mixture, X, deviations=(1.0,), colours=(1, 0))
    shades = [ellipse.get_edgecolor() for ellipse in axes.patches]
    assert shades == [to_rgba(colour(1)), to_rgba(colour(0))]


def test_criteria_have_a_curve_for_each_family_and_a_ring_around_the_best():
    random = np.random.default_rng(0)
    X = np.r_[random.normal(size=(40, 2)), 9 + random.normal(size=(40, 2))]
    selection = select_mixture(X, (1, 2, 3), ("spherical", "diag"))
    axes = mixture_criteria(selection)
    np.testing.assert_allclose(axes.lines[0].get_ydata(), selection.to_frame()["spherical"])
    assert axes.lines[-1].get_xdata()[0] == selection.best.n_components == 2
