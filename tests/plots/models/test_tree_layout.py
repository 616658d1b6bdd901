"""Layouts of drawn trees: sizes of texts, rows, and outlines that touch but do not cross."""

import pytest

from verulam.plots._models.tree_layout import (
    MOST_LINES,
    PADDING,
    SIDE_GAP,
    DrawnNode,
    arrange,
    folded_text,
    text_size,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("age", "age"),
        ("yes\n(93.4, 3 of others)", "yes\n(93.4, 3 of\nothers)"),
        ("sepal_length_cm", "sepal_length_cm"),
        ("the_marital_status_of_the_person", "the_marital_\nstatus_of_the_\nperson"),
        ("x" * 45, "\n".join(["x" * 20, "x" * 20, "x" * 5])),
    ],
)
def test_long_names_are_folded_where_they_may_be(text, folded):
    assert folded_text(text) == folded


def test_of_too_many_lines_the_first_and_the_last_stay():
    folded = folded_text("in {" + ", ".join(f"category{place}" for place in range(20)) + "}")
    assert folded == "in {category0,\ncategory1,\n...\ncategory18,\ncategory19}"
    assert len(folded.split("\n")) == MOST_LINES


def test_signs_and_relations_stay_with_their_numbers():
    assert folded_text("0.5 total_phenols + 12.5 > 0") == "0.5\ntotal_phenols\n+ 12.5 > 0"
    assert folded_text("a_long_name_here <= 1.25") == "a_long_name_here\n<= 1.25"
    assert folded_text("the longest - of all") == "the longest - of\nall"


def test_text_sizes_add_up():
    width, height = text_size("abc")
    assert text_size("abcabc")[0] == pytest.approx(2 * width, rel=0.05)
    assert text_size("abc\nabc") == pytest.approx((width, 2 * height))


def test_parents_stand_above_the_middle_of_their_children():
    nodes = {
        0: DrawnNode("root", "", 0, (1, 2)),
        1: DrawnNode("leaf", "no", 1),
        2: DrawnNode("inner", "yes", 1, (3, 4, 5)),
        3: DrawnNode("a", "a", 2),
        4: DrawnNode("b", "b", 2),
        5: DrawnNode("a", "a", 2),
    }
    layout = arrange(nodes)
    across = layout.across
    assert across[0] == pytest.approx((across[1] + across[2]) / 2)
    assert across[2] == pytest.approx(across[4])
    assert layout.boxes == sorted(layout.boxes)
    assert all(label < box for label, box in zip(layout.labels[1:], layout.boxes[1:], strict=True))
    assert layout.height == layout.bottoms[-1]


def test_neighbours_touch_at_the_widest_of_box_and_label():
    label = "a long label"
    nodes = {
        0: DrawnNode("x", "", 0, (1, 2)),
        1: DrawnNode("y", label, 1),
        2: DrawnNode("y", "", 1),
    }
    box, written = text_size("y")[0] + 2 * PADDING, text_size(label)[0]
    layout = arrange(nodes)
    apart = layout.across[2] - layout.across[1]
    assert apart == pytest.approx((box + written) / 2 + SIDE_GAP)
    assert layout.width == pytest.approx(apart + (box + written) / 2 + SIDE_GAP)


def test_subtrees_may_reach_below_a_leaf():
    """Twenty levels of a chain take no more room than the widest of its rows."""
    chain = {}
    for depth in range(20):
        first = 2 * depth
        chain[first] = DrawnNode("inner", "yes" if depth else "", depth, (first + 1, first + 2))
        chain[first + 1] = DrawnNode("leaf", "no", depth + 1)
    chain[40] = DrawnNode("leaf", "yes", 20)
    short = {number: node for number, node in chain.items() if number < 4}
    short[4] = DrawnNode("leaf", "yes", 2)
    step = arrange(chain).width - arrange(short).width
    widest = text_size("inner")[0] + 2 * PADDING + SIDE_GAP
    assert step < 18 * widest
