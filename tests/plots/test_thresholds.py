"""Curves with bands and hulls, and discs to scale."""

import numpy as np
import pytest
from matplotlib.patches import Circle
from numpy.testing import assert_allclose, assert_array_equal

from verulam.measures import iso_cost, precision_recall, retrieval, roc, roc_hull
from verulam.plots import precision_recall_curves, retrieval_venn, roc_analysis
from verulam.plots._thresholds import disc_distance, shared_area
from verulam.statistics import roc_band

RNG = np.random.default_rng(0)
TRUE = np.arange(60) % 2
SCORES = RNG.normal(size=60) + TRUE


def test_hull_band_and_cost_are_drawn():
    curve = roc(TRUE, SCORES)
    band = roc_band(TRUE, SCORES, resamples=50, random_state=0)
    cheapest = iso_cost(curve)
    ax = roc_analysis({"scores": curve}, band=band, iso_cost=cheapest)
    hull = roc_hull(curve)
    assert any(np.array_equal(line.get_ydata(), hull.tp_rate) for line in ax.lines)
    assert len(ax.collections) == 1
    assert any(
        tuple(line.get_xydata()[0]) == (cheapest.fp_rate, cheapest.tp_rate)
        for line in ax.lines
        if len(line.get_xdata()) == 1
    )
    plain = roc_analysis({"scores": curve}, hull=False)
    assert len(plain.lines) == 2
    assert len(plain.collections) == 0


def test_precision_is_drawn_as_steps():
    curve = precision_recall(TRUE, SCORES)
    ax = precision_recall_curves({"scores": curve})
    assert_array_equal(ax.lines[0].get_xdata(), curve.recall)
    assert ax.lines[0].get_drawstyle() == "steps-pre"
    assert_allclose(ax.lines[1].get_ydata(), curve.prevalence)


def discs(ax):
    return [patch for patch in ax.patches if isinstance(patch, Circle)]


@pytest.mark.parametrize(
    ("relevant", "retrieved"), [(range(60), range(35, 80)), (range(30), range(20, 90))]
)
def test_discs_are_to_scale(relevant, retrieved):
    found = retrieval(relevant, retrieved)
    first, second = discs(retrieval_venn(found))
    assert_allclose(np.pi * first.radius**2, len(found.relevant))
    assert_allclose(np.pi * second.radius**2, len(found.retrieved))
    apart = abs(second.center[0] - first.center[0])
    assert_allclose(shared_area(first.radius, second.radius, apart), len(found.hits), rtol=1e-6)


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
