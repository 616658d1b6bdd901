"""The picture of decision regions: colours by class, hatched rejections, instances, labels."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.contour import ContourSet
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from verulam.base import DataError
from verulam.decision import MinimumRisk
from verulam.decision import decision_regions as grid_of
from verulam.plots import decision_regions
from verulam.plots._style import tint


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_instances_boundaries_and_labels(iris):
    X, y = iris[0].iloc[:, :2], iris[1]
    ax = decision_regions(GaussianNB().fit(X, y), X, y, resolution=40)
    dots = [c for c in ax.collections if isinstance(c, PathCollection)]
    assert [len(part.get_offsets()) for part in dots] == [50, 50, 50]
    assert_allclose(dots[1].get_offsets(), X[y == 1])
    assert sum(isinstance(c, ContourSet) for c in ax.collections) == 3
    assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(X.columns)
    assert legend_of(ax) == ["0", "1", "2"]
    assert ax.get_title() == ""


def test_limits_are_those_of_the_grid(iris):
    X, y = iris[0].iloc[:, :2].to_numpy(), iris[1]
    classifier = GaussianNB().fit(X, y)
    ax = decision_regions(classifier, X, resolution=20)
    grid = grid_of(classifier, X, resolution=20)
    assert_allclose(ax.get_xlim(), grid.horizontal[[0, -1]])
    assert_allclose(ax.get_ylim(), grid.vertical[[0, -1]])
    assert ax.get_legend() is None


def test_colour_is_that_of_the_class_and_stronger_where_certain(iris):
    X, y = iris[0].iloc[:, :2].to_numpy(), iris[1]
    classifier = GaussianNB().fit(X, y)
    image = decision_regions(classifier, X, resolution=30).images[0].get_array()
    grid = grid_of(classifier, X, resolution=30)
    members = grid.codes == 0
    # Whiteness is the distance from the pure colour: it falls as confidence grows.
    whiteness = image[members][:, 0]
    assert np.corrcoef(whiteness, grid.confidence[members])[0, 1] < -0.99
    assert_allclose(whiteness.min(), tint(0, 0.4)[0], atol=0.01)


def test_each_point_has_the_colour_of_its_prediction():
    """Read off the drawn picture: four corners of different classes, so no mirror image fits."""
    X, y = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0], [4.0, 1.0]]), np.arange(4)
    figure, ax = plt.subplots(figsize=(3, 2))
    decision_regions(KNeighborsClassifier(1).fit(X, y), X, ax=ax, resolution=21)
    figure.canvas.draw()
    picture = np.asarray(figure.canvas.buffer_rgba())[..., :3] / 255.0
    across, up = ax.transData.transform(X).round().astype(int).T
    assert_allclose(picture[len(picture) - 1 - up, across], [tint(c, 0.4) for c in y], atol=0.01)


def test_rejections_are_hatched_and_named(iris):
    X, y = iris[0].iloc[:, :2], iris[1]
    learner = MinimumRisk(GaussianNB(), reject_cost=0.2, reject_label=-1).fit(X, y)
    ax = decision_regions(learner, X, y, resolution=40)
    hatches = [c.hatches for c in ax.collections if isinstance(c, ContourSet) and c.filled]
    assert hatches == [["///"]]
    assert legend_of(ax) == ["-1", "0", "1", "2"]


def test_chosen_columns_of_many_say_what_is_held(iris):
    X, y = iris
    ax = decision_regions(
        GaussianNB().fit(X, y), X, y, features=("petal width (cm)", 2), resolution=20
    )
    assert ax.get_xlabel() == "petal width (cm)"
    assert ax.get_title() == "held: sepal length (cm) = 5.84, sepal width (cm) = 3.06"
    assert_allclose(ax.collections[-1].get_offsets(), X.iloc[:, [3, 2]][y == 2])


def test_many_classes_have_their_legend_outside():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), np.arange(80) % 8
    ax = decision_regions(KNeighborsClassifier(1).fit(X, y), X, y, resolution=15)
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x0 > ax.get_window_extent().x1


def test_labels_must_fit_the_instances(iris):
    X, y = iris[0].iloc[:, :2], iris[1]
    with pytest.raises(ValueError, match="y has 3 rows, but X has 150"):
        decision_regions(GaussianNB().fit(X, y), X, y[:3], resolution=5)


def test_the_legend_leaves_the_regions_free(iris):
    X, y = iris
    ax = decision_regions(GaussianNB().fit(X, y), X, y)
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    assert ax.get_legend().get_window_extent(renderer).x0 >= ax.get_window_extent(renderer).x1


def test_labels_that_the_classifier_does_not_know_are_refused(iris):
    X, y = iris
    fitted = GaussianNB().fit(X, y)
    with pytest.raises(DataError, match=r"y has the label 'a'; the classifier knows \[0, 1, 2\]"):
        decision_regions(fitted, X, np.repeat("a", len(y)))
    with pytest.raises(DataError, match="GaussianNB is not fitted"):
        decision_regions(GaussianNB(), X, y)
