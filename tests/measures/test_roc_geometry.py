"""Dominance and crossings, hulls, costs, thresholds, and curves of known densities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull
from scipy.stats import norm

from verulam.base import DataError
from verulam.measures import (
    CurveComparison,
    IsoCost,
    compare_curves,
    iso_cost,
    loss_threshold,
    population_roc,
    roc,
    roc_hull,
)
from verulam.measures._curves import RocCurve


def polyline(*points):
    x, y = np.array(points, dtype=float).T
    return RocCurve(x, y, np.linspace(1, 0, len(x)), 10, 10)


def test_dominance_and_equality():
    upper = polyline((0, 0), (0.2, 0.8), (1, 1))
    lower = polyline((0, 0), (0.5, 0.6), (1, 1))
    assert compare_curves(upper, lower).verdict == "first dominates"
    assert compare_curves(lower, upper).verdict == "second dominates"
    assert "equal" in str(compare_curves(upper, upper))
    assert "nowhere below" in str(compare_curves(lower, upper))


def test_crossing_is_where_the_lines_meet():
    steep = polyline((0, 0), (0.1, 0.6), (1, 1))
    late = polyline((0, 0), (0.4, 0.9), (1, 1))
    report = compare_curves(steep, late)
    # 0.6 + 4/9 (x - 0.1) meets 9/4 x.
    x = (0.6 - 4 / 90) / (9 / 4 - 4 / 9)
    assert report.verdict == "cross"
    assert_allclose(report.crossings[["fp_rate", "tp_rate"]], [[x, 9 / 4 * x]])
    assert report.crossings["better_before"].tolist() == ["first"]
    assert "costs of the two errors" in str(report)


def test_crossing_at_a_jump():
    early = polyline((0, 0), (0, 0.5), (0.5, 0.5), (0.5, 0.6), (1, 1))
    late = polyline((0, 0), (0, 0.4), (0.5, 0.4), (0.5, 1), (1, 1))
    report = compare_curves(early, late)
    assert_allclose(report.crossings["fp_rate"], [0.5])


def test_random_curves_agree_with_a_dense_grid():
    rng = np.random.default_rng(5)
    true = np.repeat([0, 1], [40, 30])
    grid = np.linspace(0, 1, 4001)[1:-1] + 1e-7
    for _ in range(30):
        first, second = (roc(true, rng.normal(size=70) + 2 * true) for _ in range(2))
        height = [np.interp(grid, c.fp_rate, c.tp_rate) for c in (first, second)]
        difference = (height[0] - height[1])[np.abs(height[0] - height[1]) > 1e-9]
        changes = np.count_nonzero(np.diff(np.sign(difference)))
        assert len(compare_curves(first, second).crossings) == changes


def test_hull_is_convex_and_matches_scipy():
    rng = np.random.default_rng(2)
    true = rng.integers(0, 2, 80)
    curve = roc(true, rng.normal(size=80) + true)
    hull = roc_hull(curve)
    slopes = np.diff(hull.tp_rate) / np.maximum(np.diff(hull.fp_rate), 1e-300)
    assert (np.diff(slopes) < 0).all()
    points = np.column_stack([np.r_[curve.fp_rate, 1.0], np.r_[curve.tp_rate, 0.0]])
    assert_allclose(hull.area, ConvexHull(points).volume)


@pytest.mark.parametrize("prior", [None, 0.1, 0.9])
def test_cheapest_point_lies_on_the_hull(prior):
    rng = np.random.default_rng(4)
    true = rng.integers(0, 2, 60)
    curve = roc(true, rng.normal(size=60) + true)
    best = iso_cost(curve, false_positive=2.0, false_negative=3.0, prior=prior)
    share = true.mean() if prior is None else prior
    costs = 3 * share * (1 - curve.tp_rate) + 2 * (1 - share) * curve.fp_rate
    assert best.cost == pytest.approx(costs.min())
    assert best == iso_cost(roc_hull(curve), false_positive=2.0, false_negative=3.0, prior=prior)
    assert_allclose(best.intercept + best.slope * best.fp_rate, best.tp_rate)
    assert (curve.tp_rate <= best.intercept + best.slope * curve.fp_rate + 1e-12).all()


@pytest.mark.parametrize("alpha", [0.25, 1.0, 4.0])
def test_loss_threshold_minimises_the_risk(alpha):
    loss = np.array([[0, alpha], [1, 0]])
    threshold = loss_threshold(loss)
    assert threshold == pytest.approx(alpha / (1 + alpha))
    probability = np.linspace(0.005, 0.995, 100)
    risks = loss @ np.vstack([probability, 1 - probability])
    assert ((risks[0] < risks[1]) == (probability > threshold)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: loss_threshold([[0, 1, 2]]), "two by two"),
        (lambda: loss_threshold([[2, 1], [1, 0]]), "punish wrong choices"),
        (lambda: iso_cost(roc([0, 1], [0, 1]), prior=1.0), "prior must lie between"),
        (lambda: iso_cost(roc([0, 1], [0, 1]), false_positive=0), "positive costs"),
    ],
)
def test_bad_costs_are_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_binormal_curve():
    curve = population_roc(norm(0, 1), norm(2, 1))
    assert_allclose(curve.area, norm.cdf(2 / np.sqrt(2)), atol=2e-6)
    middle = np.argmin(np.abs(curve.thresholds - 1.0))
    assert_allclose(curve.fp_rate[middle], 0.158655, atol=2e-3)


def test_records_of_two_curves():
    curve, worse = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), roc([0, 0, 1, 1], [0.5, 0.4, 0.3, 0.8])
    comparison = compare_curves(curve, worse)
    assert isinstance(comparison, CurveComparison)
    assert comparison.verdict == "first dominates"
    assert comparison.crossings.empty
    cheapest = iso_cost(curve, false_negative=10.0)
    assert isinstance(cheapest, IsoCost)
    assert cheapest.tp_rate == cheapest.intercept + cheapest.slope * cheapest.fp_rate == 1.0
