"""Pictures of trade-offs: coordinates, areas, chosen complexity."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam import decision
from verulam.nonparametric import NeighbourSmoother, select_smoothing
from verulam.plots import complexity_curve, error_reject_curve, response_surface


def names_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_error_reject_curve_ends_where_all_is_rejected():
    record = decision.error_reject_curve([0, 1, 1], [[1.0, 0.0], [0.6, 0.4], [0.2, 0.8]])
    ax = error_reject_curve({"one": record})
    assert_allclose(ax.lines[0].get_xydata()[-1], [1, 0])
    assert_allclose(ax.lines[0].get_ydata()[0], 1 / 3)
    assert ax.get_xlim() == (0, 1)
    assert names_of(ax) == [f"one (area {record.area:.3f})"]


def test_error_reject_curve_without_errors_keeps_its_axis():
    record = decision.error_reject_curve([0, 1], [[0.9, 0.1], [0.2, 0.8]])
    assert error_reject_curve(record).get_ylim() == (0, 1)


@pytest.mark.parametrize(
    ("values", "selected", "place"), [((1, 2, 4), 4, 4), (("shared", "own", "free"), "own", 1)]
)
def test_complexity_is_marked_where_it_was_chosen(values, selected, place):
    record = SimpleNamespace(
        parameter="size",
        values=values,
        training=[3, 2, 1],
        validation=[3, 2, 2.5],
        validation_error=[0.1, 0.2, 0.3],
        selected=selected,
    )
    ax = complexity_curve(record)
    dotted = [line for line in ax.lines if line.get_label() == f"selected: {selected}"]
    assert_array_equal(dotted[0].get_xdata(), [place, place])
    assert_array_equal(ax.lines[0].get_ydata(), record.training)
    assert len(ax.containers) == 1
    assert ax.get_xlabel() == "size"
    if isinstance(selected, str):
        assert [text.get_text() for text in ax.get_xticklabels()] == list(values)


def test_the_curve_of_a_smoother_is_marked_at_its_best():
    x = np.linspace(0, 3, 40)
    curve = select_smoothing(NeighbourSmoother(), "n_neighbors", (2, 5, 20), x[:, None], np.sin(x))
    labels = [line.get_label() for line in complexity_curve(curve).lines]
    assert f"selected: {curve.best}" in labels


def test_a_surface_marks_the_best_level_of_each_row():
    table = pd.DataFrame([[2.0, 1.0, 3.0], [5.0, 6.0, 9.0]], [100, 10], [1, 2, 3])
    ax = response_surface(table, factor="degree", label="error")
    assert_array_equal(ax.lines[0].get_xydata(), [[1, 10], [2, 100]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("degree", "training rows")
    ax = response_surface(table, greater_is_better=True)
    assert_array_equal(ax.lines[0].get_xydata(), [[3, 10], [3, 100]])


def test_a_surface_without_differences_is_drawn_too():
    flat = pd.DataFrame([[1.0, 1.0], [1.0, 1.0]], [10, 100], [1, 2])
    assert len(response_surface(flat).lines) == 1
