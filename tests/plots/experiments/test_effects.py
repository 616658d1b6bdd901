"""Pictures of effects: order, signs, limits, and the lines of a surface."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from verulam.plots import effect_half_normal, effect_normal, effect_pareto, surface_contours

EFFECTS = pd.Series({"A": 0.1, "B": -0.4, "A x B": 0.02})


def test_bars_by_size_with_signs():
    axes = effect_pareto(EFFECTS, limit=0.3, label="error")
    assert [bar.get_width() for bar in axes.patches] == [0.4, 0.1, 0.02]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["B (-)", "A (+)", "A x B (+)"]
    assert axes.lines[0].get_xdata()[0] == 0.3
    colours = [bar.get_facecolor() for bar in axes.patches]
    assert colours[0] != colours[1] == colours[2]


@pytest.mark.parametrize("limit", [None, np.nan])
def test_no_limit_no_line(limit):
    assert not effect_pareto(EFFECTS, limit=limit).lines


def test_real_effects_leave_the_line():
    rng = np.random.default_rng(0)
    chance = pd.Series(0.01 * rng.normal(size=14), [f"e{place}" for place in range(14)])
    effects = pd.concat([chance, pd.Series({"real": 1.0})])
    axes = effect_normal(effects)
    line = axes.lines[-1]
    slope = np.ptp(line.get_xdata()) / np.ptp(line.get_ydata())
    assert slope == pytest.approx(0.01, rel=0.6)
    assert len(axes.texts) == 15


def test_half_normal_sizes_and_margins():
    effects = pd.Series({"a": -3.0, "b": 0.1, "c": 0.2, "d": -0.15})
    margins = {"simultaneous": 2.5, "single": 1.0}
    axes = effect_half_normal(effects, margins=margins, label="error")
    points = [line.get_xydata()[0] for line in axes.lines[:4]]
    assert [point[0] for point in points] == [0.1, 0.15, 0.2, 3.0]
    expected = norm.ppf(0.5 + np.array([0.5, 1.5, 2.5, 3.5]) / 8)
    np.testing.assert_allclose([point[1] for point in points], expected)
    assert [text.get_text() for text in axes.texts] == ["a"]
    assert [line.get_xdata()[0] for line in axes.lines[-2:]] == [1.0, 2.5]
    assert axes.get_legend_handles_labels()[1] == ["single", "simultaneous"]
    slope = axes.lines[4].get_xdata()[1] / axes.lines[4].get_ydata()[1]
    assert slope == pytest.approx(0.175 / norm.ppf(0.75), rel=1e-4)
    assert axes.get_xlabel() == "size of the error"


def test_without_margins_every_size_is_named():
    assert len(effect_half_normal(EFFECTS).texts) == 3


class Bowl:
    """A surface with its minimum in the middle of its range."""

    def __init__(self, kind="numeric", warnings=()):
        def factor(name, low, high):
            middle, half = (low + high) / 2, (high - low) / 2
            return SimpleNamespace(
                name=name,
                low=low,
                high=high,
                kind=kind,
                decoded=lambda codes: middle + half * np.asarray(codes),
            )

        self.factors = (factor("x", 1, 3), factor("y", 10, 30), factor("z", 0, 1))
        self.stationary_point = {"x": 2.0, "y": 20.0, "z": 7.0}
        self.kind, self.warnings = "minimum", warnings
        self.asked = None

    def predict(self, settings):
        self.asked = settings
        return ((settings["x"] - 2) ** 2 + (settings["y"] - 20) ** 2).to_numpy()


RUN = pd.DataFrame({"x": [1, 3, 2], "y": [10, 30, 20], "z": [0, 1, 0.5]})


def test_stationary_point_and_runs_are_marked():
    bowl = Bowl()
    axes = surface_contours(bowl, RUN, label="error")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")
    assert axes.get_legend_handles_labels()[1] == ["run", "minimum"]
    assert axes.lines[-1].get_xydata().tolist() == [[2.0, 20.0]]
    # The third factor is level outside its range, so that it is held in the middle.
    assert set(bowl.asked["z"]) == {0.5}


def test_a_doubtful_point_is_not_marked_and_logs_are_logs():
    axes = surface_contours(Bowl("log", ("outside",)), RUN, ["y", "x"])
    assert axes.get_legend_handles_labels()[1] == ["run"]
    assert (axes.get_xlabel(), axes.get_xscale()) == ("y", "log")
