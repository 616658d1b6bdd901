"""The figures of the chapters: every knob, its facts, its code, and clicks."""

import contextlib
import io

import matplotlib as mpl
import numpy as np
import pytest

from verulam.base import DataError
from verulam.graphical import sprinkler
from verulam.lab._chapters import figures
from verulam.lab._chapters.pictures import (
    FIGURES,
    check_knobs,
    clicked_cell,
    clicked_nodes,
    code_of,
    render,
)
from verulam.lab._pages.chapters import CHAPTERS, read_link, write_link

TITLES = [figure.title for figure in FIGURES]


def number_of(title):
    return TITLES.index(title)


def extremes(figure):
    """Return values of all knobs at one end and at the other."""
    low = {k.name: k.options[0] if k.options else k.low for k in figure.knobs if not k.clicked}
    high = {k.name: k.options[-1] if k.options else k.high for k in figure.knobs if not k.clicked}
    return [check_knobs(figure, values) for values in (low, high)]


def test_every_chapter_has_a_figure():
    assert sorted({figure.chapter for figure in FIGURES}) == sorted(CHAPTERS)
    assert sorted(CHAPTERS) == list(range(8, 20))
    assert len(set(TITLES)) == len(TITLES)


@pytest.mark.parametrize("number", range(len(FIGURES)), ids=TITLES)
def test_the_code_gives_the_facts_of_the_picture(number):
    figure = FIGURES[number]
    drawing = render(number, figure.defaults)
    assert drawing.png.startswith(b"\x89PNG")
    mpl.use("agg")
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code_of(figure.function, figure.defaults), names)
    assert names["facts"] == drawing.facts


@pytest.mark.parametrize("number", range(len(FIGURES)), ids=TITLES)
def test_knobs_reach_their_ends_and_change_the_facts(number):
    figure = FIGURES[number]
    low, high = extremes(figure)
    first = figure.function(**low)
    assert all(np.isfinite(v) for v in first.values() if isinstance(v, float))
    if low != high:
        assert first != figure.function(**high)


def test_facts_are_right():
    power = figures.power_of_a_test(n=20)
    assert power["values needed for power 0.8 there"] == 34
    prior = figures.prior_strength(strength=4.0, n=10)
    sample = np.random.default_rng(16).normal(6.0, 1.5, 10)
    assert prior["mean of the posterior"] == pytest.approx((4 * 4.0 + sample.sum()) / 14)
    assert figures.coin_prior(a=2, b=2, heads=7, tosses=10)["probability of heads next"] == 9 / 14
    known = figures.network_evidence({"wet": "yes"})
    exact = sprinkler().query("rain", {"wet": "yes"}).values[1]
    assert known["probability of rain"] == pytest.approx(exact)
    assert figures.best_path(stay=0.5, noise=0.1, observations="abba")["best path"] == "abba"


def test_clicking_a_node_says_yes_then_no_then_nothing():
    number = number_of("Evidence in a network")
    drawing = render(number, {"evidence": {}})
    place = next((x, y) for text, x, y in drawing.texts if text.startswith("rain"))
    known = clicked_nodes(drawing, {}, place)
    assert known == {"rain": "yes"}
    assert clicked_nodes(drawing, known, place) == {"rain": "no"}
    assert clicked_nodes(drawing, {"rain": "no", "wet": "yes"}, place) == {"wet": "yes"}


def test_a_place_in_the_picture_is_a_place_on_the_axes():
    drawing = render(number_of("An agent in a grid world"), {"world": "S.G\n..."})
    left, bottom, width, height = drawing.box
    assert drawing.place(left, bottom) == pytest.approx(drawing.limits[::2])
    assert drawing.place(left + width, bottom + height) == pytest.approx(drawing.limits[1::2])
    middle = drawing.place(left + width / 2, bottom + height * 0.75)
    assert np.round(middle).tolist() == [1.0, 0.0]


def test_clicking_a_cell_changes_the_world():
    world = "S.G\n..."
    assert clicked_cell(world, (1.2, 0.9)) == "S.G\n.#."
    assert clicked_cell("S.G\n.G.", (1.0, 1.0)) == "..G\n.S.", "there is one start"
    assert clicked_cell(world, (9.0, 0.0)) == world


def test_links_of_figures_and_what_is_refused():
    values = {"bandwidth": 0.5, "n": 20}
    assert read_link(write_link(0, values)) == (0, values)
    with pytest.raises(DataError, match="damaged"):
        read_link("#c=AAAA")
    with pytest.raises(DataError, match="damaged"):
        read_link(write_link(999, {}))
    with pytest.raises(DataError, match="no knob 'code'"):
        read_link(write_link(0, {"code": "1"}))
    with pytest.raises(DataError, match="not accepted: 99"):
        read_link(write_link(0, {"bandwidth": 99}))
    with pytest.raises(DataError, match="not accepted"):
        check_knobs(FIGURES[number_of("An agent in a grid world")], {"world": "<b>"})
    with pytest.raises(DataError, match="not accepted"):
        check_knobs(FIGURES[number_of("Evidence in a network")], {"evidence": {"rain": 3}})
    with pytest.raises(DataError, match="not accepted"):
        check_knobs(FIGURES[number_of("Depth of a tree")], {"show": "all"})
