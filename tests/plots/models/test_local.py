"""Pictures of units and experts show what the models hold."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.local import (
    MixtureOfExpertsClassifier,
    MixtureOfExpertsRegressor,
    RBFFeatures,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
    trace_experts,
)
from verulam.plots import expert_lines, expert_trace, gate_map, unit_bells, unit_ellipses

LINE = np.linspace(-1, 1, 50)[:, None]
VEE = np.abs(LINE[:, 0])
PLANE = np.random.default_rng(0).uniform(-1, 1, size=(60, 2))
ABOVE = PLANE[:, 1] > np.abs(PLANE[:, 0])


def test_bells_and_their_shares():
    features = RBFFeatures(init=[[-0.5], [0.0], [0.5]], bandwidth=0.2).fit(LINE)
    ax = unit_bells(features, LINE)
    # Behind the curves and stars of the units, the entry of the legend.
    bells, dashed = ax.lines[0:9:3], ax.lines[1:9:3]
    assert_allclose([curve.get_ydata().max() for curve in bells], 1.0, atol=1e-3)
    assert_allclose(sum(curve.get_ydata() for curve in dashed), 1.0)
    assert len(unit_bells(features, LINE, shares=False).lines) == 6


def test_ellipses_have_the_spreads_of_the_units():
    covariance = 0.25 * np.array([[[1.0, -0.9], [-0.9, 1.0]]])
    unit = RBFFeatures(init=[[0.5, 0.5]], covariance_type="full", bandwidth=covariance).fit(PLANE)
    one, two = unit_ellipses(unit, PLANE).patches
    assert one.width == pytest.approx(2 * np.sqrt(0.25 * 1.9))
    assert one.height == pytest.approx(2 * np.sqrt(0.25 * 0.1))
    assert two.width == pytest.approx(2 * one.width)
    assert one.angle % 180 == pytest.approx(135.0)
    circle = unit_ellipses(RBFFeatures(init=[[0.0, 0.0]], bandwidth=0.3).fit(PLANE)).patches[0]
    assert (circle.width, circle.height) == pytest.approx((0.6, 0.6))


def test_experts_are_drawn_where_they_have_a_share():
    experts = MixtureOfExpertsRegressor(2, random_state=0).fit(LINE, VEE)
    ax = expert_lines(experts, LINE, VEE)
    together = next(curve for curve in ax.lines if curve.get_label() == "together")
    assert_allclose(together.get_ydata(), experts.predict(together.get_xdata()[:, None]))
    assert len(ax.collections) == 2
    assert ax.get_ylim()[1] < 1.3


def test_the_colours_of_a_gate_are_mixed_by_shares():
    experts = MixtureOfExpertsClassifier(2, random_state=0).fit(PLANE, ABOVE)
    image = gate_map(experts, PLANE, ABOVE).images[0].get_array()
    left, right = image[100, 10], image[100, 190]
    assert np.abs(left - right).max() > 0.2
    table = pd.DataFrame(PLANE, columns=["a", "b"])
    ax = gate_map(
        RBFNetworkRegressor(4, random_state=0).fit(table, PLANE[:, 0]), table, PLANE[:, 0]
    )
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")


def test_each_expert_draws_its_own_lines_where_it_holds():
    """Two planes that meet at x = 0: lines of equal height run along the second axis."""
    experts = MixtureOfExpertsRegressor(2, random_state=0).fit(PLANE, np.abs(PLANE[:, 0]))
    ax = gate_map(experts, PLANE)
    left, right = sorted((_line_points(part) for part in ax.collections), key=np.mean)
    assert left.max() < 0.1
    assert right.min() > -0.1
    classes = MixtureOfExpertsClassifier(2, random_state=0).fit(PLANE, ABOVE)
    borders = [part for part in gate_map(classes, PLANE).collections if len(_line_points(part))]
    assert borders
    points = np.vstack([path.vertices for path in borders[0].get_paths()])
    own = classes.expert_outputs(points)
    # Each side of a border is within a cell of the grid.
    assert np.abs(own[..., 1] - 0.5).min(axis=1).max() < 0.3
    constant = RBFNetworkRegressor(4, random_state=0).fit(PLANE, PLANE[:, 0])
    assert not gate_map(constant, PLANE).collections


def _line_points(lines):
    """Return the first coordinates of all points of contour lines."""
    return np.concatenate([path.vertices[:, 0] for path in lines.get_paths()] or [np.empty(0)])


def test_a_trace_is_drawn():
    trace = trace_experts(MixtureOfExpertsRegressor(2, random_state=0), LINE, VEE)
    ax = expert_trace(trace)
    assert_allclose(ax.lines[1].get_ydata(), trace["covariance"])


def test_what_cannot_be_drawn_is_refused():
    experts = MixtureOfExpertsClassifier(2, random_state=0).fit(PLANE, ABOVE)
    with pytest.raises(DataError, match="a radial network or RBFFeatures is expected"):
        unit_bells(experts, LINE)
    with pytest.raises(DataError, match="units of two columns are drawn; it has 1"):
        unit_ellipses(RBFFeatures(2, random_state=0).fit(LINE))
    with pytest.raises(DataError, match="X: rows of 1 column are expected"):
        unit_bells(RBFFeatures(2, random_state=0).fit(LINE), PLANE)
    with pytest.raises(DataError, match="experts that predict numbers are drawn"):
        expert_lines(experts, LINE)
    with pytest.raises(DataError, match="trace: expected the table"):
        expert_trace(pd.DataFrame({"a": [1]}))
    with pytest.raises(DataError, match="y has 3 entries for 60 rows"):
        gate_map(experts, PLANE, ABOVE[:3])
    ruled = RBFNetworkClassifier(
        rules="IF x0 ~ 1 THEN True", covariance_type="diag", training="none"
    ).fit(PLANE, ABOVE)  # fmt: skip
    with pytest.raises(DataError, match="a unit that leaves a column out has no ellipse"):
        unit_ellipses(ruled)


@pytest.mark.filterwarnings("error")
def test_experts_over_a_named_column_draw_without_warnings():
    table = pd.DataFrame(LINE, columns=["line"])
    experts = MixtureOfExpertsRegressor(2, random_state=0).fit(table, VEE)
    assert expert_lines(experts, table, VEE).get_xlabel() == "line"
