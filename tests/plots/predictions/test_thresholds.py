"""Curves over thresholds: coordinates, areas, marked points, bands and hulls; discs to scale."""

import numpy as np
import pytest
from matplotlib.patches import Circle
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from verulam.decision import KnownDensities
from verulam.measures import iso_cost, precision_recall, retrieval, roc, roc_hull
from verulam.plots import precision_recall_curves, retrieval_venn, roc_curves
from verulam.plots._predictions.thresholds import disc_distance, shared_area
from verulam.statistics import roc_band

RNG = np.random.default_rng(0)
TRUE = np.arange(60) % 2
SCORES = RNG.normal(size=60) + TRUE


@pytest.fixture
def curve():
    return roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])


def legend_of(ax):
    return ax.get_legend_handles_labels()[1]


def test_several_curves_over_the_diagonal(curve):
    analytic = KnownDensities(None, [norm(0, 1), norm(2, 1)]).roc()
    ax = roc_curves({"sample": curve, "densities": analytic})
    diagonal, first, second = ax.lines
    assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    assert_array_equal(first.get_ydata(), curve.tp_rate)
    assert first.get_color() != second.get_color()
    assert first.get_linestyle() != second.get_linestyle()
    assert legend_of(ax) == ["sample (area 0.750)", "densities (area 0.921)"]


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
    assert legend_of(ax)[0] == "area 0.750"


def test_hull_band_and_cost_are_drawn():
    curve = roc(TRUE, SCORES)
    band = roc_band(TRUE, SCORES, resamples=50, random_state=0)
    cheapest = iso_cost(curve)
    ax = roc_curves({"scores": curve}, band=band, iso_cost=cheapest, hull=True)
    hull = roc_hull(curve)
    assert any(np.array_equal(line.get_ydata(), hull.tp_rate) for line in ax.lines)
    assert len(ax.collections) == 1
    assert any(
        tuple(line.get_xydata()[0]) == (cheapest.fp_rate, cheapest.tp_rate)
        for line in ax.lines
        if len(line.get_xdata()) == 1
    )
    plain = roc_curves({"scores": curve})
    assert len(plain.lines) == 2
    assert len(plain.collections) == 0


def test_precision_is_drawn_as_steps():
    curve = precision_recall(TRUE, SCORES)
    ax = precision_recall_curves({"scores": curve})
    assert_array_equal(ax.lines[0].get_xdata(), curve.recall)
    assert ax.lines[0].get_drawstyle() == "steps-pre"
    assert_allclose(ax.lines[1].get_ydata(), curve.prevalence)


def test_one_curve_needs_no_name():
    curve = precision_recall(TRUE, SCORES)
    ax = precision_recall_curves(curve)
    assert legend_of(ax) == [f"average precision {curve.area:.3f}"]


def discs(ax):
    return [patch for patch in ax.patches if isinstance(patch, Circle)]


@pytest.mark.parametrize(
    ("relevant", "retrieved"), [(range(60), range(35, 80)), (range(30), range(20, 90))]
)
def test_discs_are_to_scale(relevant, retrieved):
    answer = retrieval(relevant, retrieved)
    first, second = discs(retrieval_venn(answer))
    assert_allclose(np.pi * first.radius**2, len(answer.relevant))
    assert_allclose(np.pi * second.radius**2, len(answer.retrieved))
    apart = abs(second.center[0] - first.center[0])
    assert_allclose(shared_area(first.radius, second.radius, apart), len(answer.hits), rtol=1e-6)


def test_one_set_inside_the_other_and_apart():
    ax = retrieval_venn(retrieval(range(60), range(20)))
    first, second = discs(ax)
    assert second.center[0] + second.radius <= first.radius
    assert [text.get_text() for text in ax.texts[:2]] == ["40", "20"]
    first, second = discs(retrieval_venn(retrieval(range(5), range(5, 9))))
    assert second.center[0] > first.radius + second.radius


def test_shared_area_of_equal_discs():
    assert disc_distance(1.0, 1.0, 0.0) > 2.0
    apart = disc_distance(1.0, 1.0, np.pi / 2)
    exact = 2 * np.arccos(apart / 2) - apart / 2 * np.sqrt(4 - apart**2)
    assert_allclose(exact, np.pi / 2, rtol=1e-9)
