"""The picture of a confusion matrix: figures, readable colours, labels."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.measures import confusion
from verulam.plots import confusion_matrix


@pytest.fixture
def table():
    return confusion(["a"] * 10 + ["b"] * 4, ["a"] * 9 + ["b"] * 3 + ["a"] * 2)


def test_counts_in_their_cells(table):
    ax = confusion_matrix(table)
    shown = {text.get_position(): text.get_text() for text in ax.texts}
    assert shown == {(0, 0): "9", (1, 0): "1", (0, 1): "2", (1, 1): "2"}
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted", "true")


def test_dark_cells_have_white_figures(table):
    assert [text.get_color() for text in confusion_matrix(table).texts] == [
        "white",
        "black",
        "black",
        "black",
    ]


def test_shares_of_each_true_class(table):
    ax = confusion_matrix(table, normalise=True)
    assert [text.get_text() for text in ax.texts] == ["0.90", "0.10", "0.50", "0.50"]
    assert_allclose(ax.images[0].get_array().sum(axis=1), 1)


def test_class_that_never_occurs_has_shares_of_zero():
    ax = confusion_matrix(pd.DataFrame([[2, 0], [0, 0]]), normalise=True)
    assert_allclose(ax.images[0].get_array(), [[1, 0], [0, 0]])


def test_arrays_are_taken_and_lists_refused():
    with pytest.raises(ValueError, match=r"table must be what verulam.measures.confusion returns"):
        confusion_matrix([3, 1])
    drawn = confusion_matrix(np.array([[3, 1], [0, 2]]))
    assert [text.get_text() for text in drawn.texts] == ["3", "1", "0", "2"]


def test_figures_of_many_classes_stay_in_their_cells():
    axes = confusion_matrix(np.full((12, 12), 1234))
    figure = axes.get_figure()
    figure.canvas.draw()
    cell = axes.get_window_extent().width / 12
    widths = [text.get_window_extent().width for text in axes.texts]
    assert max(widths) < cell
    plt.close(figure)


def test_lists_of_counts_are_taken_and_others_refused():
    assert [text.get_text() for text in confusion_matrix([[1, 2], [3, 4]]).texts] == list("1234")
    with pytest.raises(DataError, match="counts, which are finite and not negative"):
        confusion_matrix([[1, -2], [3, 4]])
