"""The critical-difference diagram: what is drawn, and no overlap for 2 to 40 learners."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from verulam.plots import critical_difference
from verulam.plots._experiments.critical_difference import bar_levels
from verulam.statistics import POST_HOC, cliques, compare_many, nemenyi_test, wilcoxon_holm


def table_of(count, seed=0):
    values = np.random.default_rng(seed).normal(np.linspace(0, 2, count), size=(30, count))
    return pd.DataFrame(values, columns=[f"learner number {k + 1}" for k in range(count)])


def labels_of(ax):
    return [text for text in ax.texts if "learner" in text.get_text()]


def bars_of(ax):
    return [line for line in ax.lines if line.get_linewidth() == 3.5]


@pytest.mark.parametrize("count", [2, 3, 5, 8, 13, 24, 40])
def test_labels_do_not_overlap_and_stay_inside(count):
    ax = critical_difference(compare_many(table_of(count)))
    figure = ax.figure
    figure.canvas.draw()
    labels = labels_of(ax)
    assert len(labels) == count
    boxes = [label.get_window_extent() for label in labels]
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[place + 1 :])
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y0 >= 0


@pytest.mark.parametrize("count", [5, 24, 40])
def test_leaders_end_at_their_labels_and_do_not_cross(count):
    compared = compare_many(table_of(count))
    ax = critical_difference(compared)
    leaders = [line for line in ax.lines if len(line.get_xdata()) == 3]
    assert len(leaders) == count
    np.testing.assert_allclose(
        np.sort([line.get_xdata()[0] for line in leaders]), np.sort(compared.ranks)
    )
    # A horizontal piece may not meet the vertical piece of another leader.
    for one in leaders:
        (start, _, end), (_, level, _) = one.get_xdata(), one.get_ydata()
        for other in leaders:
            place, low = other.get_xdata()[0], other.get_ydata()[1]
            if one is not other and min(start, end) < place < max(start, end):
                assert low >= level - 1e-9


@pytest.mark.parametrize("post_hoc", POST_HOC)
def test_bars_join_the_cliques(post_hoc):
    compared = compare_many(table_of(6, seed=3), post_hoc=post_hoc)
    ax = critical_difference(compared)
    spans = [tuple(bar.get_xdata()) for bar in bars_of(ax)]
    assert len(spans) == len(compared.cliques) > 0
    for (low, high), group in zip(spans, compared.cliques, strict=True):
        assert low < compared.ranks[group[0]] <= compared.ranks[group[-1]] < high
        inside = compared.ranks[(compared.ranks > low) & (compared.ranks < high)]
        assert set(group) <= set(inside.index)


@pytest.mark.parametrize("count", [13, 40])
def test_bars_in_one_row_do_not_touch(count):
    ax = critical_difference(compare_many(table_of(count)))
    rows = {}
    for bar in bars_of(ax):
        rows.setdefault(bar.get_ydata()[0], []).append(tuple(bar.get_xdata()))
    for spans in rows.values():
        for (_, end), (start, _) in zip(sorted(spans), sorted(spans)[1:], strict=False):
            assert start > end


def test_ruler_only_with_a_critical_difference():
    table = table_of(4)
    with_ruler = critical_difference(compare_many(table))
    assert any(text.get_text().startswith("CD = ") for text in with_ruler.texts)
    without = critical_difference(wilcoxon_holm(table))
    assert not any(text.get_text().startswith("CD = ") for text in without.texts)
    assert len(bars_of(without)) == len(cliques(wilcoxon_holm(table)))


@pytest.mark.parametrize("post_hoc", [name for name in POST_HOC if name != "nemenyi"])
@pytest.mark.parametrize("count", [2, 5, 10])
def test_procedure_is_named_where_there_is_no_critical_difference(post_hoc, count):
    table = table_of(count).set_axis(list("abcdefghij"[:count]), axis=1)
    compared = compare_many(table, post_hoc=post_hoc, alpha=0.01)
    ax = critical_difference(compared)
    ax.figure.canvas.draw()
    title = next(text for text in ax.texts if text.get_text().endswith(", level 0.01"))
    assert title.get_text().startswith(compared.pairs.name)
    assert not any(text.get_text().startswith("CD") for text in ax.texts)
    box = title.get_window_extent()
    assert 0 <= box.x0 < box.x1 <= ax.figure.bbox.x1
    assert box.y1 <= ax.figure.bbox.y1
    for text in ax.texts:
        assert text is title or not box.overlaps(text.get_window_extent())


def test_procedures_have_bars_of_their_own():
    """Shaffer tells more pairs apart than Holm here, so that its bars are shorter."""
    for seed in range(50):
        table = table_of(5, seed=seed).iloc[:12]
        spans = [
            [tuple(bar.get_xdata()) for bar in bars_of(critical_difference(compared))]
            for compared in (compare_many(table, post_hoc=name) for name in ("holm", "shaffer"))
        ]
        plt.close("all")
        if spans[0] != spans[1]:
            widths = [sum(high - low for low, high in bars) for bars in spans]
            assert widths[1] < widths[0]
            return
    pytest.fail("no such case was drawn")


def test_one_bar_where_the_overall_test_does_not_reject():
    for seed in range(2000):
        table = np.random.default_rng(seed).normal(size=(8, 5))
        compared = compare_many(table, post_hoc="bergmann-hommel", alpha=0.2)
        if compared.pairs.table["reject"].any() and not compared.overall.reject:
            (bar,) = bars_of(critical_difference(compared))
            low, high = bar.get_xdata()
            assert low < compared.ranks.iloc[0] < compared.ranks.iloc[-1] < high
            return
    pytest.fail("no such case was drawn")


def test_given_axes():
    axes = plt.subplots(figsize=(9, 3))[1]
    assert critical_difference(compare_many(table_of(4)), ax=axes) is axes


def test_axes_in_a_part_of_a_figure():
    left, _ = plt.figure(figsize=(16, 3)).subfigures(1, 2)
    half = critical_difference(compare_many(table_of(4)), ax=left.subplots())
    whole = critical_difference(compare_many(table_of(4)), ax=plt.subplots(figsize=(8, 3))[1])
    np.testing.assert_allclose(half.get_xlim(), whole.get_xlim())


def test_levels():
    assert bar_levels([(1, 2), (1.5, 3), (2.5, 4), (3.5, 5)], 0.1) == [0, 1, 0, 1]
    assert bar_levels([(1, 2), (2.05, 3)], 0.1) == [0, 1]


def box_of(artist, figure):
    return artist.get_window_extent(figure.canvas.get_renderer())


@pytest.mark.parametrize("part", [False, True])
def test_no_leader_strikes_through_a_label(part):
    """The best of three has rank 1 on every data set, where the axis begins."""
    table = pd.DataFrame({"learner a": [1, 1, 1], "learner b": [2, 2, 3], "learner c": [3, 3, 2]})
    axes = plt.subplots(1, 2, figsize=(9, 3))[1][0] if part else None
    ax = critical_difference(nemenyi_test(table), ax=axes)
    ax.figure.canvas.draw()
    leaders = [line for line in ax.lines if line.get_color() == "0.35"]
    assert len(leaders) == 3
    for text in labels_of(ax):
        box = box_of(text, ax.figure)
        for leader in leaders:
            corners = ax.transData.transform(leader.get_xydata())
            # Down to the row of the label, then along it.
            for (x0, y0), (x1, y1) in pairwise(corners):
                apart = (
                    max(x0, x1) <= box.x0
                    or min(x0, x1) >= box.x1
                    or max(y0, y1) <= box.y0
                    or min(y0, y1) >= box.y1
                )
                assert apart
