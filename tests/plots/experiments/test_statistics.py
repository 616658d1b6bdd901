"""Pictures of power, regions, results and demonstrations: what is drawn where."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from verulam.base import DataError
from verulam.plots import (
    against_normal,
    learner_results,
    manova_projections,
    normal_region,
    power_curves,
    running_mean_paths,
    simulated_power,
)
from verulam.statistics import manova, power_curve, running_means, simulate

TABLE = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=["a", "b", "c"])


def test_power_lines():
    curve = power_curve(np.linspace(0, 1, 5), [10, 30])
    ax = power_curves(curve)
    assert_array_equal(ax.lines[1].get_ydata(), curve.table[30])
    assert_array_equal(ax.lines[2].get_ydata(), [0.05, 0.05])


def test_simulated_power_has_errors():
    simulation = simulate("sign", [0.0, 1.0], repeats=200)
    ax = simulated_power({"signs": simulation})
    assert ax.get_legend_handles_labels()[1] == ["signs"]
    assert_array_equal(ax.containers[0][0].get_ydata(), simulation.table["rejection_rate"])
    assert simulated_power([simulation]).get_legend_handles_labels()[1] == ["sign"]


@pytest.mark.parametrize(
    ("low", "high", "mass"), [(-1.96, 1.96, "0.950"), (-np.inf, 1.645, "0.950"), (0, 1, "0.341")]
)
def test_region_mass(low, high, mass):
    ax = normal_region(low, high)
    assert ax.texts[0].get_text() == mass
    assert len(ax.collections) == 1


def test_density_alone_and_of_another_distribution():
    plain = normal_region()
    assert len(plain.collections) == 0
    ax = normal_region(low=3.84, distribution=stats.chi2(1))
    assert ax.texts[0].get_text() == "0.050"


@pytest.mark.parametrize("kind", ["box", "range"])
def test_learners_are_listed_from_the_top(kind):
    ax = learner_results(TABLE, kind=kind)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_range_spans_smallest_to_largest():
    ax = learner_results(TABLE, kind="range")
    spans = ax.containers[0][2][0].get_segments()
    assert_allclose([span[:, 0] for span in spans], np.column_stack([TABLE.min(), TABLE.max()]))


def test_histogram_counts_everything():
    ax = learner_results(TABLE, kind="histogram")
    assert ax.get_legend_handles_labels()[1] == ["a", "b", "c"]
    outlines = [patch.get_xy() for patch in ax.patches]
    # An outline goes up and down again at each bin: half of its steps, beside the bins' widths.
    counted = [np.abs(np.diff(xy[:, 1])).sum() for xy in outlines]
    expected = [
        np.histogram(TABLE[name], np.histogram_bin_edges(TABLE.to_numpy(), "auto"))[0]
        for name in TABLE
    ]
    assert counted == [np.abs(np.diff([0, *counts, 0])).sum() for counts in expected]
    assert all(tick == int(tick) for tick in ax.get_yticks())
    with pytest.raises(ValueError, match="kind must be one of box, range, histogram"):
        learner_results(TABLE, kind="violin")


def test_equal_results_have_a_range_of_nothing():
    """The mean of three equal numbers may differ from them in the last bit."""
    ax = learner_results(pd.DataFrame({"a": [0.1, 0.1, 0.1], "b": [0.3, 0.2, 0.7]}), kind="range")
    spans = [segment[:, 0] for segment in ax.containers[0][2][0].get_segments()]
    assert_allclose(spans, [[0.1, 0.1], [0.2, 0.7]])


@pytest.mark.parametrize("groups", [2, 4])
def test_projections(groups):
    analysis = manova(np.random.default_rng(0).normal(size=(groups, 8, 3)))
    ax = manova_projections(analysis)
    assert_allclose(ax.lines[0].get_xdata(), analysis.projections["direction 1"])
    assert len(ax.texts) == groups


def test_paths_and_normal():
    paths = running_means(stats.bernoulli(0.3), 50, paths=3, random_state=0)
    assert len(running_mean_paths(paths, 0.3).lines) == 4
    ax = against_normal(np.array([-1.0, 0.0, 0.0, 1.0]))
    heights = [patch.get_height() for patch in ax.patches]
    assert_allclose(heights, [0.25, 0.5, 0.25])
    assert len(against_normal(np.random.default_rng(0).normal(size=500)).patches) == 60


def test_what_cannot_be_drawn_is_said():
    for values in ([], [1.0], [1.0, np.nan]):
        with pytest.raises(DataError, match="at least two"):
            against_normal(values)
    with pytest.raises(ValueError, match="low=2 must be below high=1"):
        normal_region(2, 1)
    assert normal_region(6, 7).texts[0].get_text() == "0.000"


def test_results_that_are_missing_are_left_out():
    table = pd.DataFrame({"a": [0.1, np.nan, 0.3], "b": [0.2, 0.4, 0.6]})
    boxes = learner_results(table)
    medians = [line.get_xdata()[0] for line in boxes.lines if line.get_color() == "C1"]
    assert medians == pytest.approx([0.2, 0.4])
    with pytest.raises(DataError, match="no results to draw"):
        learner_results(table.iloc[:0])


def test_long_names_leave_room_for_the_results():
    name = "a very long name of a learner with parameters k=5, weights=distance"
    axes = learner_results(pd.DataFrame({name: [0.1, 0.2], "b": [0.2, 0.3]}))
    axes.figure.canvas.draw()
    assert axes.get_position().width > 0.45
