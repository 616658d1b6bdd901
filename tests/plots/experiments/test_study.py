"""Pictures of a study show the numbers they are given."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.plots import cost_response, legend_above, level_means, mean_dots, score_boxes

TABLE = pd.DataFrame({"tree": [0.1, 0.2, 0.15], "net": [0.12, np.nan, 0.11]})


def points(ax):
    return [line for line in ax.lines if line.get_marker() not in ("None", None, "")]


def test_boxes_show_every_score():
    axes = score_boxes(TABLE, label="error")
    drawn = [line.get_xdata() for line in points(axes)]
    assert_allclose(drawn[0], TABLE["tree"])
    assert_allclose(drawn[1], [0.12, 0.11])
    bottom, top = axes.get_ylim()
    assert bottom > top


def test_boxes_of_a_single_split():
    axes = score_boxes(TABLE.head(1))
    assert_allclose(points(axes)[0].get_xdata(), [0.1])


def test_dots():
    axes = mean_dots(TABLE, label="error")
    assert_allclose(points(axes)[0].get_xdata(), TABLE["tree"])
    assert axes.get_xlabel() == "error"
    assert axes.get_legend_handles_labels()[1] == ["tree", "net"]


@pytest.mark.parametrize(("seconds", "scale"), [([0.1, 0.2], "linear"), ([0.1, 90.0], "log")])
def test_cost_scale(seconds, scale):
    table = pd.DataFrame({"error": [0.3, 0.1], "seconds": seconds}, ["a", "b"])
    assert cost_response(table, "error", "seconds").get_xscale() == scale


def test_zero_cost_has_no_logarithm():
    table = pd.DataFrame({"error": [0.3, 0.1], "seconds": [0.0, 90.0]}, ["a", "b"])
    assert cost_response(table, "error", "seconds").get_xscale() == "linear"


def test_front_is_joined_in_the_order_of_cost():
    table = pd.DataFrame({"r2": [0.3, 0.1, 0.2], "seconds": [9.0, 1.0, 2.0]}, list("abc"))
    axes = cost_response(table, "r2", "seconds", front=["a", "b"], greater_is_better=True)
    assert_allclose(axes.lines[0].get_xdata(), [1.0, 9.0])
    assert axes.get_ylabel() == "r2 (higher is better)"


def test_unknown_costs_are_left_out():
    table = pd.DataFrame({"error": [0.3, 0.1], "seconds": [1.0, np.nan]}, ["a", "b"])
    assert cost_response(table, "error", "seconds").get_legend_handles_labels()[1] == ["a"]


def test_numeric_levels_are_sorted_and_spaced():
    axes = level_means(pd.DataFrame({"iris": [3.0, 1.0, 2.0]}, index=[15, 1, 5]))
    assert_allclose(axes.lines[0].get_xdata(), [1, 5, 15])
    assert_allclose(axes.lines[0].get_ydata(), [1.0, 2.0, 3.0])
    assert axes.get_legend() is None


def test_other_levels_keep_their_order():
    table = pd.DataFrame({"iris": [3.0, 1.0], "wine": [1.0, 2.0]}, index=["uniform", "distance"])
    axes = level_means(table, factor="weights")
    assert [text.get_text() for text in axes.get_xticklabels()] == ["uniform", "distance"]
    assert axes.get_legend() is not None


def test_a_legend_above_makes_the_figure_grow():
    figure, ax = plt.subplots()
    height = figure.get_figheight()
    for number in range(20):
        ax.plot([0, 1], label=f"curve {number}")
    legend_above(ax, columns=1)
    assert len(ax.get_legend().get_texts()) == 20
    assert figure.get_figheight() > height
