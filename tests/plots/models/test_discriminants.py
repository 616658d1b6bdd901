"""Discriminants drawn: lines where they are zero, curves of what the classifier says."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import same_color
from mpl_toolkits.mplot3d import Axes3D
from sklearn.datasets import load_iris

from verulam.base import DataError
from verulam.linear import LogisticDiscriminant
from verulam.plots import discriminant_curves, discriminant_lines, discriminant_surface
from verulam.plots._style import colour

IRIS, SPECIES = load_iris(return_X_y=True)
PETALS = IRIS[:, 2:]


def test_lines_lie_where_the_discriminants_are_zero():
    model = LogisticDiscriminant().fit(PETALS, SPECIES)
    axes = discriminant_lines(model, PETALS, SPECIES)
    contours = [part for part in axes.collections if list(getattr(part, "levels", [])) == [0.0]]
    assert contours
    spread = np.abs(model.decision_function(PETALS)).max()
    for contour in contours:
        points = contour.get_paths()[0].vertices
        nearest = np.abs(model.decision_function(points)).min(axis=1)
        assert nearest.max() < 0.02 * spread


def test_every_class_has_its_line_in_its_colour():
    """Three classes around the middle: the line of each one crosses the picture."""
    corners = np.array([[0.0, 2.0], [-2.0, -1.0], [2.0, -1.0]])
    classes = np.arange(60) % 3
    rows = corners[classes] + np.random.default_rng(0).normal(scale=0.5, size=(60, 2))
    model = LogisticDiscriminant().fit(rows, classes)
    axes = discriminant_lines(model, rows, classes)
    contours = [part for part in axes.collections if list(getattr(part, "levels", [])) == [0.0]]
    assert len(contours) == 3
    for number, contour in enumerate(contours):
        values = model.decision_function(contour.get_paths()[0].vertices)
        assert np.abs(values[:, number]).max() < 1e-6
        assert same_color(contour.get_edgecolor(), colour(number))


@pytest.mark.parametrize("posterior", [False, True])
def test_curves_are_what_the_classifier_says(posterior):
    model = LogisticDiscriminant().fit(PETALS[:, :1], SPECIES)
    axes = discriminant_curves(model, PETALS[:, :1], posterior=posterior)
    curves = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    points = curves[0].get_xdata()[:, None]
    expected = model.predict_proba(points) if posterior else model.decision_function(points)
    assert len(curves) == 3
    for number, curve in enumerate(curves):
        assert np.allclose(curve.get_ydata(), expected[:, number])


def test_two_classes_have_one_discriminant():
    model = LogisticDiscriminant().fit(PETALS[50:, :1], SPECIES[50:])
    curves = discriminant_curves(model, PETALS[50:, :1]).get_lines()
    assert len([curve for curve in curves if not curve.get_label().startswith("_")]) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model: discriminant_lines(model, IRIS, SPECIES), "two inputs"),
        (lambda model: discriminant_curves(model, IRIS), "one input"),
        (lambda model: discriminant_surface(model, IRIS), "two inputs"),
    ],
)
def test_other_numbers_of_inputs_are_refused(call, message):
    with pytest.raises(DataError, match=message):
        call(LogisticDiscriminant().fit(IRIS, SPECIES))


@pytest.fixture
def surfaces(monkeypatch):
    """Collect what is drawn as surfaces, which collections do not tell."""
    drawn, plain = [], Axes3D.plot_surface

    def collect(self, first, second, heights, **options):
        drawn.append((np.column_stack([first.ravel(), second.ravel()]), heights.ravel()))
        return plain(self, first, second, heights, **options)

    monkeypatch.setattr(Axes3D, "plot_surface", collect)
    return drawn


@pytest.mark.parametrize("posterior", [False, True])
def test_surfaces_are_what_the_classifier_says(posterior, surfaces):
    model = LogisticDiscriminant().fit(PETALS, SPECIES)
    axes = discriminant_surface(model, PETALS, posterior=posterior, resolution=5)
    assert len(surfaces) == 3
    for number, (points, heights) in enumerate(surfaces):
        values = model.predict_proba(points) if posterior else model.decision_function(points)
        assert np.allclose(heights, values[:, number])
        assert (points.min(axis=0) < PETALS.min(axis=0)).all()
        assert (points.max(axis=0) > PETALS.max(axis=0)).all()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["0", "1", "2"]


def test_two_classes_have_one_surface_of_discriminants_and_two_of_posteriors(surfaces):
    model = LogisticDiscriminant().fit(PETALS[50:], SPECIES[50:])
    discriminant_surface(model, PETALS, resolution=3)
    assert len(surfaces) == 1
    discriminant_surface(model, PETALS, posterior=True, resolution=3)
    assert np.allclose(surfaces[1][1] + surfaces[2][1], 1.0)


def test_flat_axes_are_refused():
    model = LogisticDiscriminant().fit(PETALS, SPECIES)
    with pytest.raises(DataError, match="three-dimensional axes"):
        discriminant_surface(model, PETALS, ax=plt.subplots()[1])
