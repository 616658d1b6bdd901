"""Shared style: distinct signs, tints, and legends that make room."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose

from verulam.plots._style import (
    PALETTE,
    annotate_apart,
    axes_or_new,
    by_name,
    colour,
    marker,
    place_legend,
    tint,
    with_area,
)


def test_given_axes_are_used_and_others_made():
    ax = plt.subplots()[1]
    assert axes_or_new(ax) is ax
    assert axes_or_new(None) is not ax
    assert axes_or_new(None, 3, 2).figure.get_size_inches().tolist() == [3, 2]


def test_a_figure_lends_its_axes():
    empty = plt.figure()
    assert axes_or_new(empty) is empty.axes[0]
    assert axes_or_new(empty) is empty.axes[0]
    with pytest.raises(TypeError, match="ax is a figure with 2 axes"):
        axes_or_new(plt.subplots(1, 2)[0])
    with pytest.raises(TypeError, match=r"ax must be Matplotlib axes, .* not ndarray"):
        axes_or_new(plt.subplots(1, 2)[1])


def test_colour_and_marker_together_tell_many_classes_apart():
    signs = [(colour(code), marker(code)) for code in range(3 * len(PALETTE))]
    assert len(set(signs)) == len(signs)


def test_tint_runs_from_white_to_the_colour():
    assert_allclose(tint(0, 0.0), [1, 1, 1])
    assert_allclose(tint(0, 1.0), to_rgb(PALETTE[0]))


@pytest.mark.parametrize(("entries", "outside"), [(3, False), (9, True)])
def test_long_legends_stand_beside_the_axes(entries, outside):
    ax = axes_or_new(None)
    for number in range(entries):
        ax.plot([0, 1], [0, number], label=str(number))
    place_legend(ax)
    ax.figure.canvas.draw()
    assert (ax.get_legend().get_window_extent().x0 > ax.get_window_extent().x1) == outside


def test_no_legend_without_entries():
    ax = axes_or_new(None)
    place_legend(ax)
    assert ax.get_legend() is None


def test_one_record_needs_no_name():
    assert by_name(3) == {"": 3}
    assert by_name({"a": 1, "b": 2}) == {"a": 1, "b": 2}


def test_area_stands_in_brackets_behind_a_name():
    assert with_area("a", 0.5) == "a (area 0.500)"
    assert with_area("", 0.5, "mean") == "mean 0.500"


def test_texts_beside_points_cover_neither_one_another_nor_points():
    random = np.random.default_rng(0)
    points = np.repeat(random.random((5, 2)), 2, axis=0) + 0.004 * random.random((10, 2))
    axes = axes_or_new(None, 6, 4)
    axes.scatter(*points.T, s=20)
    axes.margins(0.4, 0.2)
    annotate_apart(axes, points, [f"name {number}" for number in range(10)], 7.0)
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 10
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    places = axes.transData.transform(points)
    assert not any(box.contains(*place) for box in boxes for place in places)
