"""The page of the chapters in a browser."""

import pytest

from verulam.lab._chapters.pictures import FIGURES
from verulam.lab._pages.chapters import ChaptersView
from verulam.lab._pool import Outcome, Pool
from verulam.lab._shell import Session


class Deaf(Pool):
    """A pool that does nothing but remember."""

    jobs: list

    def submit(self, session, kind, function, *arguments, deliver, urgent=True, limit=None):
        self.job = function, arguments, deliver


@pytest.fixture
def view():
    return ChaptersView(Session(Deaf()))


def test_every_figure_has_its_knobs_and_its_section(view):
    for number, figure in enumerate(FIGURES):
        view.select(number)
        assert figure.section in view._heading.object
        assert len(view._knobs) == len(figure.knobs)
        _, (drawn, values), _ = view.session.pool.job
        assert (drawn, values) == (number, figure.defaults)


def test_a_failure_is_said_and_the_next_figure_is_drawn(view):
    view.session.pool.job[2](Outcome("failed", message="no <b>goal</b>"))
    assert "no &lt;b&gt;goal&lt;/b&gt;" in view._facts.object
    function, arguments, deliver = view.session.pool.job
    deliver(Outcome("done", function(*arguments)))
    assert "mean log density of other points: -" in view._facts.object


def test_a_link_restores_figure_and_knobs(view):
    view.select(2)
    view.change(max_depth=5)
    link = view._link()
    view.select(0)
    view.restore(link)
    assert view.figure.title == "Depth of a tree"
    assert view.values["max_depth"] == 5
    view.restore("#c=xx")
    assert "damaged" in view._facts.object


def test_nodes_and_cells_are_changed_by_clicks_in_the_browser(lab, tab):
    tab.goto(lab.address("chapters"))
    tab.locator('[data-shown="1"]').wait_for()
    index = tab.get_by_role("listbox", name="Figures by chapter")
    index.select_option(label="14 · Evidence in a network")
    tab.locator('[data-figure="8"]').get_by_text("probability of rain: 0.45").wait_for()
    view = next(item for item in lab.server.views() if isinstance(item, ChaptersView))
    box = tab.locator("canvas").first.bounding_box()
    drawing = view.drawing
    x, y = next((x, y) for text, x, y in drawing.texts if text.startswith("wet"))
    left, bottom, width, height = drawing.box
    first, second, low, high = drawing.limits
    across = left + width * (x - first) / (second - first)
    up = bottom + height * (y - low) / (high - low)
    tab.mouse.click(box["x"] + across * box["width"], box["y"] + (1 - up) * box["height"])
    tab.get_by_text("probability of rain: 0.627").wait_for()
    assert view.values["evidence"] == {"wet": "yes"}
