"""Pictures of models of sequences show the numbers they are given."""

import numpy as np
import pytest
from matplotlib.patches import Circle, FancyArrowPatch

from verulam.base import DataError
from verulam.plots import objective_curve, posterior_ribbon, state_diagram, trellis

MATRIX = np.array([[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]])


def patches(axes, kind):
    return [patch for patch in axes.patches if isinstance(patch, kind)]


def test_state_diagram_has_an_arrow_for_each_transition():
    axes = state_diagram(MATRIX, initial=[0.5, 0.2, 0.3], names=["red", "blue", "green"])
    assert len(patches(axes, Circle)) == 3
    assert len(patches(axes, FancyArrowPatch)) == 9
    assert {"red", "blue", "green"} < {text.get_text() for text in axes.texts}


def test_impossible_transitions_are_left_out():
    left_to_right = np.triu(np.ones((4, 4))) - np.triu(np.ones((4, 4)), 3)
    axes = state_diagram(left_to_right / left_to_right.sum(axis=1, keepdims=True))
    assert len(patches(axes, FancyArrowPatch)) == 9
    assert len({circle.center[1] for circle in patches(axes, Circle)}) == 1


def test_trellis_shows_path_and_observations():
    axes = trellis(np.full((4, 3), 1 / 3), path=[0, 1, 1, 2], observations=list("abca"))
    stressed = [line for line in axes.lines if line.get_label() == "best path"]
    assert stressed[0].get_ydata().tolist() == [0, 1, 1, 2]
    assert len(axes.lines) == 1 + 3 * 9


def test_ribbon_fills_the_height():
    axes = posterior_ribbon([[0.3, 0.7], [0.6, 0.4]], [5.0, 6.0], times=[1900, 1901])
    assert len(axes.collections) == 2
    assert axes.get_xlim() == (1900, 1901)
    assert axes.figure.axes[1].lines[0].get_ydata().tolist() == [5.0, 6.0]


def test_curve_starts_at_the_first_pass():
    line = objective_curve([-3.0, -2.0]).lines[0]
    assert line.get_xdata().tolist() == [1, 2]


def test_rows_that_do_not_add_up_are_refused():
    with pytest.raises(DataError, match="add up to one"):
        state_diagram([[0.9, 0.9], [0.2, 0.5]])


@pytest.mark.parametrize("rows", [[[2.0, 3.0]], [0.5, 0.5], [[1.5, -0.5]]])
def test_a_ribbon_needs_probabilities(rows):
    with pytest.raises(DataError, match="probabilities"):
        posterior_ribbon(rows)
