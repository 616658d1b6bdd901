"""Pictures of evidence: order, bands, regions, numbers in words, cut axes, odd names, bad input."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose
from scipy import stats

from verulam.base import DataError
from verulam.plots import best_probabilities, contestant_intervals, difference_posterior
from verulam.plots._experiments.evidence import FAR_OFF, MUTED
from verulam.plots._style import LABEL_WIDTH, colour

ERRORS = {
    "majority class": 0.384,
    "naive Bayes": 0.221,
    "decision tree": 0.196,
    "logistic regression": 0.188,
    "random forest": 0.183,
    "support vector machine": 0.181,
}
ODD_NAMES = ["a $x_1$ b", "cost $5 and $6 100 %", "under_score^2", r"back\slash", "{brace}"]


def intervals(estimates, half=0.026):
    values = pd.Series(estimates, dtype=float)
    return pd.DataFrame({"estimate": values, "low": values - half, "high": values + half})


def probabilities(**columns):
    names = [f"learner {place}" for place in range(len(columns["best"]))]
    return pd.DataFrame({f"probability_{name}": column for name, column in columns.items()}, names)


def draw_errors(table=None, **options):
    defaults = {
        "best": "support vector machine",
        "recommended": "logistic regression",
        "margin": 0.01,
        "label": "Error, 95 % interval",
        "percent": True,
    }
    return contestant_intervals(
        intervals(ERRORS) if table is None else table, **{**defaults, **options}
    )


def draw_difference(value=-0.007, error=0.0135, degrees_of_freedom=40, **options):
    defaults = {"margin": 0.01, "names": ["logistic", "forest"], "label": "Difference in error"}
    return difference_posterior(value, error, degrees_of_freedom, **{**defaults, **options})


def row_names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def entries(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def notes(ax):
    return [text.get_text() for text in ax.texts]


def band(ax):
    """Return the ends of the shaded band."""
    box = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    return box.x0, box.x1


def marks(ax):
    """Return the estimate and the height of every contestant, top down."""
    points = [container.lines[0].get_xydata()[0] for container in ax.containers]
    return np.array(points)


class TestContestantIntervals:
    def test_the_best_is_on_top_and_every_interval_is_where_it_belongs(self):
        table = intervals(ERRORS)
        ax = draw_errors(table)
        ordered = table.sort_values("estimate")
        assert row_names(ax) == list(ordered.index)
        assert_allclose(marks(ax), np.column_stack([ordered["estimate"], np.arange(6)]))
        spans = [container.lines[2][0].get_segments()[0][:, 0] for container in ax.containers]
        assert_allclose(spans, ordered[["low", "high"]])
        assert ax.get_ylim() == (5.5, -0.5)
        assert ax.get_xlabel() == "Error, 95 % interval"

    def test_the_band_begins_at_the_best_and_is_as_wide_as_the_margin(self):
        ax = draw_errors()
        assert_allclose(band(ax), [0.181, 0.191])
        assert entries(ax) == ["recommended", "within 1 point of the best"]

    @pytest.mark.parametrize(
        ("margin", "percent", "words"),
        [
            (0.005, True, "0.5 points"),
            (0.01, True, "1 point"),
            (0.02, True, "2 points"),
            (0.03, False, "0.03"),
            (12500.0, False, "12500"),
            (2.5e9, False, "2.5e+09"),
        ],
    )
    def test_the_margin_in_words(self, margin, percent, words):
        assert entries(draw_errors(margin=margin, percent=percent))[1] == (
            f"within {words} of the best"
        )

    def test_where_greater_is_better_all_is_turned(self):
        accuracies = {name: 1 - error for name, error in ERRORS.items()}
        ax = draw_errors(intervals(accuracies), greater_is_better=True, baseline="majority class")
        assert row_names(ax) == sorted(ERRORS, key=ERRORS.get)
        assert_allclose(band(ax), [0.809, 0.819])
        assert notes(ax) == ["← baseline 61.6 % (axis cut)"]
        assert ax.get_xlim()[0] > 0.7

    def test_the_recommended_one_is_marked(self):
        ax = draw_errors(baseline="majority class")
        weights = {text.get_text(): text.get_fontweight() for text in ax.get_yticklabels()}
        assert {name for name, weight in weights.items() if weight == "bold"} == {
            "logistic regression"
        }
        signs = [container.lines[0].get_marker() for container in ax.containers]
        assert signs == ["o", "o", "D", "o", "o", "o"]
        shades = {to_rgb(container.lines[0].get_color()) for container in ax.containers}
        assert shades == {to_rgb(shade) for shade in (colour(0), colour(1), MUTED)}

    def test_without_a_recommendation_or_margin(self):
        ax = draw_errors(recommended=None, margin=0)
        assert entries(ax) == ["best estimate"]
        assert not ax.patches
        assert all(text.get_fontweight() != "bold" for text in ax.get_yticklabels())

    def test_a_baseline_nearby_has_a_dotted_line(self):
        table = intervals({**ERRORS, "majority class": 0.24})
        ax = draw_errors(table, baseline="majority class")
        dotted = [line for line in ax.lines if line.get_linestyle() == ":"]
        assert_allclose(dotted[0].get_xdata(), 0.24)
        assert entries(ax)[-1] == "baseline: majority class"
        assert notes(ax) == []
        assert ax.get_xlim()[1] > 0.266

    def test_a_baseline_far_off_cuts_the_axis(self):
        ax = draw_errors(baseline="majority class")
        low, high = ax.get_xlim()
        assert low < 0.155 < 0.247 < high < 0.3
        assert notes(ax) == ["baseline 38.4 % (axis cut) →"]
        assert entries(ax)[-1] == "within 1 point of the best"
        assert row_names(ax)[-1] == "majority class"

    def test_a_single_contestant_is_shown_with_its_baseline(self):
        table = intervals({name: ERRORS[name] for name in ("majority class", "naive Bayes")})
        options = {"best": "naive Bayes", "recommended": "naive Bayes"}
        ax = draw_errors(table, baseline="majority class", **options)
        assert notes(ax) == []
        assert ax.get_xlim()[1] > 0.41

    def test_a_baseline_that_is_recommended_is_not_muted(self):
        options = {"best": "majority class", "recommended": "majority class"}
        ax = draw_errors(
            intervals({"majority class": 0.1, "tree": 0.4}), baseline="majority class", **options
        )
        assert notes(ax) == []
        assert entries(ax) == ["recommended", "within 1 point of the best"]

    def test_contestants_that_went_astray_are_cut_off_too(self):
        table = intervals({"line": 48.2, "ridge": 48.1, "tree": 53.0, "far": 2.3e5, "off": 1e12}, 3)
        ax = contestant_intervals(
            table, best="ridge", recommended="ridge", margin=1, label="Root mean squared error"
        )
        assert notes(ax) == ["230000 (axis cut) →", "1e+12 (axis cut) →"]
        assert ax.get_xlim()[1] < 60

    def test_an_interval_that_went_astray_is_cut_but_its_estimate_shown(self):
        table = intervals({"line": 48.2, "ridge": 48.1, "net": 50.0}, 3)
        table.loc["net", ["low", "high"]] = [-1e6, 1e6]
        ax = contestant_intervals(table, best="ridge", recommended=None, margin=1, label="error")
        assert notes(ax) == []
        assert ax.get_xlim()[0] > 40
        assert ax.get_xlim()[1] < 60

    def test_those_that_are_far_but_not_that_far_stay(self):
        half = 0.01
        gap = 0.9 * FAR_OFF * (2 * half + 0.001)
        table = intervals({"a": 0.1, "b": 0.101, "c": 0.101 + gap}, half)
        ax = contestant_intervals(table, best="a", recommended="a", margin=0.001, label="error")
        assert ax.get_xlim()[1] > table["high"].max()

    @pytest.mark.parametrize("half", [0.0, 0.02])
    def test_equal_estimates_begin_with_the_best(self, half):
        table = intervals(dict.fromkeys("abc", 0.2), half)
        ax = contestant_intervals(table, best="b", recommended="c", margin=0.0, label="error")
        assert row_names(ax) == ["b", "a", "c"]
        assert_allclose(marks(ax)[:, 0], 0.2)
        low, high = ax.get_xlim()
        assert low < 0.2 < high

    @pytest.mark.parametrize("value", [0.0, -3.0])
    def test_one_contestant(self, value):
        ax = contestant_intervals(
            intervals({"x": value}, 0.0), best="x", recommended="x", margin=0, label="error"
        )
        low, high = ax.get_xlim()
        assert low < value < high
        ax.figure.draw_without_rendering()

    def test_twenty_contestants_with_long_names_have_room(self):
        names = [f"learner_{'x' * 40} with many options, number {place}" for place in range(20)]
        table = intervals(dict(zip(names, np.linspace(0.3, 0.1, 20), strict=True)))
        ax = contestant_intervals(
            table, best=names[-1], recommended=names[0], margin=0.01, label="error", percent=True
        )
        ax.figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in ax.get_yticklabels()]
        assert all(upper.y0 > lower.y1 for upper, lower in pairwise(boxes))
        assert min(box.x0 for box in boxes) >= 0
        assert max(len(line) for name in row_names(ax) for line in name.split("\n")) <= LABEL_WIDTH
        assert ax.get_window_extent().width > 0.45 * ax.figure.bbox.width

    def test_odd_names_are_no_formulas(self):
        table = intervals({name: 0.2 + place / 50 for place, name in enumerate(ODD_NAMES)})
        ax = contestant_intervals(
            table,
            best=ODD_NAMES[0],
            recommended=ODD_NAMES[1],
            margin=0.01,
            label="cost in $ per $",
            baseline=ODD_NAMES[2],
        )
        ax.figure.draw_without_rendering()
        assert row_names(ax) == ODD_NAMES
        texts = [*ax.get_yticklabels(), *ax.get_legend().get_texts(), ax.xaxis.label]
        assert not any(text.get_parse_math() for text in texts)

    def test_numbers_of_the_axis(self):
        ax = draw_errors()
        assert ax.xaxis.get_major_formatter()(0.175, 0) == "17.5 %"
        assert ax.xaxis.get_major_formatter()(1e-17, 0) == "0 %"
        assert "%" not in draw_errors(percent=False).xaxis.get_major_formatter()(0.2, 0)

    def test_axes_may_be_given(self):
        ax = plt.subplots()[1]
        assert draw_errors(ax=ax) is ax

    @pytest.mark.parametrize("column", ["estimate", "low", "high"])
    def test_bad_tables(self, column):
        table = intervals(ERRORS)
        with pytest.raises(DataError, match=f"table has no column {column}"):
            draw_errors(table.drop(columns=column))
        for value in (np.nan, np.inf, "much"):
            wrong = table.astype(object)
            wrong.loc["decision tree", column] = value
            with pytest.raises(DataError, match=f"table: {column} of 'decision tree'"):
                draw_errors(wrong)
        with pytest.raises(DataError, match="no contestants"):
            draw_errors(table.iloc[:0])
        with pytest.raises(DataError, match="more than one row for 'naive Bayes'"):
            draw_errors(pd.concat([table, table.loc[["naive Bayes"]]]))
        with pytest.raises(TypeError, match="table must be a DataFrame, not dict"):
            draw_errors(table.to_dict())

    def test_an_estimate_outside_its_interval(self):
        table = intervals(ERRORS)
        table.loc["decision tree", "low"] = 0.2
        with pytest.raises(DataError, match="table: the estimate of 'decision tree' is not betw"):
            draw_errors(table)

    @pytest.mark.parametrize("argument", ["best", "recommended", "baseline"])
    def test_unknown_names(self, argument):
        with pytest.raises(ValueError, match=f"{argument}='oracle' is not a contestant"):
            draw_errors(**{argument: "oracle"})

    @pytest.mark.parametrize("margin", [-0.01, np.nan, np.inf])
    def test_bad_margin(self, margin):
        with pytest.raises(ValueError, match="margin must be finite and not negative"):
            draw_errors(margin=margin)


class TestDifferencePosterior:
    def test_probabilities_are_those_of_the_t_distribution(self):
        ax = draw_difference()
        below = stats.t.cdf(-0.01, 40, -0.007, 0.0135)
        above = stats.t.sf(0.01, 40, -0.007, 0.0135)
        assert entries(ax) == [
            f"logistic better: {100 * below:.0f} %",
            f"no difference that matters: {100 * (1 - below - above):.0f} %",
            f"forest better: {100 * above:.0f} %",
            "margin: 0.01",
        ]
        numbers = [int(words.split(": ")[1].removesuffix(" %")) for words in entries(ax)[:3]]
        assert abs(sum(numbers) - 100) <= 1

    def test_where_greater_is_better_the_sides_are_exchanged(self):
        words, turned = entries(draw_difference()), entries(draw_difference(greater_is_better=True))
        assert turned[0] == words[0].replace("logistic", "forest")
        assert turned[1] == words[1]
        assert turned[2] == words[2].replace("forest", "logistic")

    @pytest.mark.parametrize("greater_is_better", [False, True])
    def test_the_first_has_the_same_colour_on_either_side(self, greater_is_better):
        ax = draw_difference(greater_is_better=greater_is_better)
        handles = ax.get_legend().get_patches()
        first = next(
            handle
            for handle, words in zip(handles, entries(ax)[:3], strict=True)
            if words.startswith("logistic")
        )
        assert to_rgb(first.get_facecolor()) == to_rgb(colour(0))

    def test_the_regions_meet_at_the_margins_and_their_areas_are_the_probabilities(self):
        ax = draw_difference()
        spans, areas = [], []
        for region in ax.collections:
            x, y = region.get_paths()[0].vertices.T
            spans.append((x.min(), x.max()))
            areas.append(abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2)
        assert_allclose([spans[0][1], spans[1][0]], -0.01)
        assert_allclose([spans[1][1], spans[2][0]], 0.01)
        below, above = stats.t(40, -0.007, 0.0135).cdf([-0.01, 0.01])
        assert_allclose(areas, [below, above - below, 1 - above], atol=2e-3)

    def test_lines_at_zero_and_at_the_margins(self):
        ax = draw_difference()
        upright = [(line.get_xdata()[0], line.get_linestyle()) for line in ax.lines[1:]]
        assert upright == [(0.0, "-"), (-0.01, "--"), (0.01, "--")]
        low, high = ax.get_xlim()
        assert low < -0.01 < 0.01 < high
        assert ax.get_ylim()[0] == 0

    def test_words_of_the_axis(self):
        ax = draw_difference(percent=True)
        assert ax.get_xlabel() == "Difference in error (points)\nlogistic minus forest"
        write = ax.xaxis.get_major_formatter()
        assert [write(value, 0) for value in (-0.02, 1e-18, 0.005)] == ["−2", "0", "+0.5"]
        assert entries(ax)[-1] == "margin: 1 point"
        large = draw_difference(-3300, 1900, margin=1000)
        assert large.xaxis.get_major_formatter()(-10000, 0) == "−10000"
        assert large.get_xlabel() == "Difference in error\nlogistic minus forest"

    @pytest.mark.parametrize("degrees_of_freedom", [0.5, 1, 9, np.inf])
    def test_any_degrees_of_freedom(self, degrees_of_freedom):
        ax = draw_difference(0.0, 1.0, degrees_of_freedom, margin=1.0)
        ax.figure.draw_without_rendering()
        share = 100 * stats.t.cdf(-1, degrees_of_freedom)
        assert entries(ax)[0] == f"logistic better: {share:.0f} %"
        assert ax.get_xlim()[1] <= 6

    def test_what_is_nearly_certain_is_not_told_exactly(self):
        assert entries(draw_difference(0.2, 0.015))[:3] == [
            "logistic better: < 1 %",
            "no difference that matters: < 1 %",
            "forest better: > 99 %",
        ]

    def test_without_a_margin_no_difference_is_too_small(self):
        ax = draw_difference(margin=0)
        assert [words.split(":")[0] for words in entries(ax)] == [
            "logistic better",
            "forest better",
        ]
        assert [line.get_linestyle() for line in ax.lines[1:]] == ["-"]

    @pytest.mark.parametrize(
        ("value", "shares", "words"),
        [
            (-0.03, (100, 0, 0), "−3 points"),
            (0.01, (0, 100, 0), "+1 point"),
            (0.0, (0, 100, 0), "0 points"),
            (0.02, (0, 0, 100), "+2 points"),
        ],
    )
    def test_without_spread_a_line_is_drawn(self, value, shares, words):
        ax = draw_difference(value, 0.0, percent=True)
        ax.figure.draw_without_rendering()
        names = ("logistic better", "no difference that matters", "forest better")
        assert entries(ax)[:3] == [
            f"{name}: {share} %" for name, share in zip(names, shares, strict=True)
        ]
        assert notes(ax) == [f"no spread: always {words}"]
        assert_allclose(ax.lines[0].get_xdata(), value)

    def test_nothing_differs_and_nothing_matters(self):
        ax = draw_difference(0.0, 0.0, margin=0.0)
        assert "no difference that matters: 100 %" in entries(ax)

    def test_odd_names_are_no_formulas(self):
        ax = draw_difference(names=ODD_NAMES[:2])
        ax.figure.draw_without_rendering()
        assert entries(ax)[0].startswith("a $x_1$ b better")
        texts = [*ax.get_legend().get_texts(), ax.xaxis.label]
        assert not any(text.get_parse_math() for text in texts)

    def test_long_names_stay_inside_the_figure(self):
        ax = draw_difference(names=["learner with options " * 6, "other_learner" * 9])
        ax.figure.draw_without_rendering()
        for text in (*ax.get_legend().get_texts(), ax.xaxis.label):
            box = text.get_window_extent()
            assert box.x0 >= 0
            assert box.x1 <= ax.figure.bbox.width

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"value": np.nan}, "value must be finite"),
            ({"error": np.nan}, "error must be finite and not negative"),
            ({"error": np.inf}, "error must be finite and not negative"),
            ({"error": -1.0}, "error must be finite and not negative"),
            ({"degrees_of_freedom": 0}, "degrees_of_freedom must be positive"),
            ({"degrees_of_freedom": np.nan}, "degrees_of_freedom must be positive"),
            ({"margin": -1.0}, "margin must be finite and not negative"),
            ({"names": ["a"]}, "names: expected the two contestants"),
            ({"names": "ab"}, "names: expected the two contestants"),
        ],
    )
    def test_bad_input(self, options, message):
        with pytest.raises(ValueError, match=message):
            draw_difference(**options)


class TestBestProbabilities:
    def test_bars_and_numbers_best_first(self):
        table = probabilities(best=[0.005, 0.42, 0.575], within=[0.12, 0.995, 0.9])
        ax = best_probabilities(table)
        assert row_names(ax) == ["learner 2", "learner 1", "learner 0"]
        near, best = ([bar.get_width() for bar in bars] for bars in ax.containers)
        assert_allclose(best, [0.575, 0.42, 0.005])
        assert_allclose(near, [0.9, 0.995, 0.12])
        assert notes(ax) == ["57 %", "90 %", "42 %", "> 99 %", "< 1 %", "12 %"]
        assert entries(ax) == ["is the best", "is within the margin of the best"]

    def test_of_equal_ones_the_more_probably_near_comes_first(self):
        table = probabilities(best=[0.25, 0.25, 0.5], within=[0.3, 0.6, 0.7])
        assert row_names(best_probabilities(table)) == ["learner 2", "learner 1", "learner 0"]

    def test_the_recommended_one_is_bold(self):
        ax = best_probabilities(
            probabilities(best=[0.5, 0.5], within=[0.8, 0.8]), recommended="learner 1"
        )
        assert [text.get_fontweight() for text in ax.get_yticklabels()] == ["normal", "bold"]
        assert entries(ax)[-1] == "in bold: recommended"

    def test_one_contestant_is_the_best(self):
        ax = best_probabilities(probabilities(best=[1.0], within=[1.0]))
        assert notes(ax) == ["100 %", "100 %"]

    def test_numbers_stay_inside_the_axes_and_apart(self):
        best = np.append(1.0, np.zeros(19))
        ax = best_probabilities(probabilities(best=best, within=best))
        ax.figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in ax.texts]
        assert max(box.x1 for box in boxes) < ax.get_window_extent().x1
        assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(boxes))

    def test_odd_names_are_no_formulas(self):
        shares = np.full(len(ODD_NAMES), 0.2)
        table = probabilities(best=shares, within=shares).set_axis(ODD_NAMES, axis=0)
        ax = best_probabilities(table, recommended=ODD_NAMES[0])
        ax.figure.draw_without_rendering()
        assert row_names(ax) == ODD_NAMES

    def test_bad_tables(self):
        table = probabilities(best=[0.4, 0.6], within=[0.5, 0.8])
        with pytest.raises(DataError, match="table has no column probability_within"):
            best_probabilities(table[["probability_best"]])
        with pytest.raises(DataError, match="table has no contestants"):
            best_probabilities(table.iloc[:0])
        with pytest.raises(DataError, match="probability_best of 'learner 1' is not a finite"):
            best_probabilities(table.assign(probability_best=[0.4, np.nan]))
        with pytest.raises(DataError, match="probabilities must be from 0 to 1"):
            best_probabilities(100 * table)
        with pytest.raises(ValueError, match="recommended='oracle' is not a contestant"):
            best_probabilities(table, recommended="oracle")
