"""Pictures of curves: coordinates, areas, marked thresholds, chosen complexity."""

from types import SimpleNamespace

import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from verulam import decision
from verulam.decision import KnownDensities
from verulam.measures import iso_cost, roc
from verulam.plots import complexity_curve, error_reject_curve, roc_curves


@pytest.fixture
def curve():
    return roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])


def names_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_several_curves_over_the_diagonal(curve):
    analytic = KnownDensities(None, [norm(0, 1), norm(2, 1)]).roc()
    ax = roc_curves({"sample": curve, "densities": analytic})
    diagonal, first, second = ax.lines
    assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    assert_array_equal(first.get_ydata(), curve.tp_rate)
    assert first.get_color() != second.get_color()
    assert first.get_linestyle() != second.get_linestyle()
    assert names_of(ax) == ["sample (area 0.750)", "densities (area 0.921)"]


def test_threshold_is_marked_on_the_curves_that_are_named(curve):
    ax = roc_curves({"a": curve, "b": curve}, threshold={"b": 0.4})
    (mark,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert_allclose([mark.get_xdata()[0], mark.get_ydata()[0]], curve.at(0.4))
    assert mark.get_color() == ax.lines[2].get_color()


def test_line_of_equal_cost_touches_its_point(curve):
    best = iso_cost(curve, false_negative=4)
    ax = roc_curves(curve, iso_cost=best)
    line, point = ax.lines[-2:]
    slope = line.get_ydata()[1] - line.get_ydata()[0]
    assert_allclose(slope, best.slope)
    assert_allclose(line.get_ydata()[0] + slope * point.get_xdata()[0], point.get_ydata()[0])
    assert names_of(ax)[0] == "area 0.750"


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
    ("values", "chosen", "place"), [((1, 2, 4), 4, 4), (("shared", "own", "free"), "own", 1)]
)
def test_complexity_is_marked_where_it_was_chosen(values, chosen, place):
    record = SimpleNamespace(
        parameter="size",
        values=values,
        training=[3, 2, 1],
        validation=[3, 2, 2.5],
        validation_error=[0.1, 0.2, 0.3],
        chosen=chosen,
    )
    ax = complexity_curve(record)
    dotted = [line for line in ax.lines if line.get_label() == f"chosen: {chosen}"]
    assert_array_equal(dotted[0].get_xdata(), [place, place])
    assert_array_equal(ax.lines[0].get_ydata(), record.training)
    assert len(ax.containers) == 1
    assert ax.get_xlabel() == "size"
    if isinstance(chosen, str):
        assert [text.get_text() for text in ax.get_xticklabels()] == list(values)
