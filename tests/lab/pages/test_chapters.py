"""The page of the chapters in a browser."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import matplotlib as mpl
import pytest

from verulam.lab._chapters.pictures import FIGURES
from verulam.lab._pages.chapters import GALLERY, UNKNOWN, ChaptersView, heading
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


def number_of(title):
    return [figure.title for figure in FIGURES].index(title)


def test_what_can_be_clicked_can_be_chosen_from_lists_and_typed(view):
    view.select(number_of("Evidence in a network"))
    _, *lists = view._knobs[0]
    assert [item.label for item in lists] == ["cloudy", "sprinkler", "rain", "wet"]
    lists[2].value = "no"
    assert view.values["evidence"] == {"rain": "no"}
    view.change(evidence={"wet": "yes"})
    assert [item.value for item in lists] == [UNKNOWN, UNKNOWN, UNKNOWN, "yes"]
    lists[3].value = UNKNOWN
    assert view.values["evidence"] == {}
    view.select(number_of("An agent in a grid world"))
    _, field = view._knobs[0]
    field.value = "S.#\n..G"
    assert view.values["world"] == "S.#\n..G"
    field.value = "<b>"
    assert "not accepted" in view._facts.object
    assert view.values["world"] == "S.#\n..G"
    view.change(world="S.P\n..G")
    assert field.value == "S.P\n..G"


def test_the_guide_and_the_gallery_are_linked_where_they_were_built(monkeypatch, tmp_path):
    docs = Path(__file__).parents[3] / "docs"
    headings = re.findall(r"^#+ (.*)$", (docs / "gallery.md").read_text(), re.MULTILINE)
    anchors = {title.lower().replace(" ", "-") for title in headings}
    assert set(GALLERY.values()) <= anchors
    assert set(GALLERY) == {figure.chapter for figure in FIGURES}
    monkeypatch.setenv("VERULAM_DOCS", str(tmp_path))
    assert "href" not in heading(FIGURES[0])
    (tmp_path / "gallery.html").write_text("")
    for figure in FIGURES:
        assert (docs / "guide" / f"{figure.guide}.md").is_file()
        assert f'"/docs/guide/{figure.guide}.html"' in heading(figure)
        assert f'"/docs/gallery.html#{GALLERY[figure.chapter]}"' in heading(figure)


@pytest.mark.parametrize("width", [1280, 800])
@pytest.mark.parametrize("title", ["Evidence in a network", "An agent in a grid world"])
def test_nothing_is_cut_off_and_every_control_has_a_name(lab, tab, screen, width, title):
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(lab.address("chapters"))
    tab.locator('[data-shown="1"]').wait_for()
    number = number_of(title)
    label = f"{FIGURES[number].chapter} · {title}"
    tab.get_by_role("listbox", name="Figures by chapter").select_option(label=label)
    tab.locator(f'[data-figure="{number}"]').wait_for()
    lab.until(lambda: screen.is_whole("select, textarea, input, button, canvas", width, 6))
    lab.until(lambda: [role for role, name in screen.controls() if not name] == [])
    assert len(screen.controls()) > 7


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
    # By the keyboard, too, and the list says what the click has said.
    wet = tab.get_by_label("wet", exact=True)
    assert wet.input_value() == "yes"
    wet.focus()
    tab.keyboard.press("ArrowUp")
    tab.get_by_text("probability of rain: 0.45").wait_for()
    assert view.values["evidence"] == {}
    tab.get_by_role("button", name="Show code").click()
    names, printed = {}, StringIO()
    mpl.use("agg")
    with redirect_stdout(printed):
        exec(tab.locator("[data-code]").inner_text(), names)
    assert names["facts"] == view.drawing.facts
