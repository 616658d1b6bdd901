"""The plane in a real browser: drawn with the mouse, played, copied, closed, killed."""

import os
import signal
import threading
import time
from contextlib import redirect_stdout
from http.server import HTTPServer, SimpleHTTPRequestHandler
from io import StringIO

import matplotlib as mpl
import pytest

from verulam.lab import to_link

SHOWN = '[data-tile="{place}"][data-shown="{count}"]'

#: Where the axes of a figure are on the screen, and a digest of the bytes of its image.
FRAME = """
() => {
  const figures = [...Bokeh.documents[0]._all_models.values()].filter(m => m.type == 'Figure');
  const view = figures.map(m => Bokeh.index.find_one_by_id(m.id)).find(view => view != null);
  const box = view.canvas_view.el.getBoundingClientRect();
  const frame = view.frame.bbox;
  return [box.left + frame.left, box.top + frame.top, frame.width, frame.height];
}
"""
IMAGE = """
() => {
  for (const model of Bokeh.documents[0]._all_models.values()) {
    if (model.type == 'ColumnDataSource' && 'image' in model.data) {
      return Array.from(model.data.image[0].flat ? model.data.image[0].flat() : model.data.image[0])
        .reduce((sum, value, place) => (sum * 31 + value * (place % 97 + 1)) % 1000000007, 7);
    }
  }
}
"""


def click(page, across, up, **options):
    """Click inside the axes, at shares of their width and height."""
    left, top, width, height = page.evaluate(FRAME)
    page.mouse.click(left + across * width, top + (1 - up) * height, **options)


def shown(page, count, place=0):
    page.locator(SHOWN.format(place=place, count=count)).wait_for()


def estimate_of(page, place=0):
    """Wait for the estimate of a tile and return it."""
    ready = page.locator(f'[data-tile="{place}"][data-estimate*="fold"]')
    ready.wait_for()
    return ready.get_attribute("data-estimate")


@pytest.mark.slow  # On a machine that is busy a click right after a drag can be lost.
def test_points_are_drawn_dragged_and_erased_with_the_mouse(lab, plane):
    view = lab.view()
    before, first = plane.evaluate(IMAGE), view.state.points
    click(plane, 0.05, 0.95)
    shown(plane, 2)
    points = view.state.points
    assert len(points) == len(first) + 1
    left, right, bottom, top = view.state.extent
    assert points.horizontal[-1] == pytest.approx(left + 0.05 * (right - left), abs=0.05)
    assert points.vertical[-1] == pytest.approx(bottom + 0.95 * (top - bottom), abs=0.05)
    x, y, width, height = plane.evaluate(FRAME)
    plane.mouse.move(x + 0.05 * width, y + 0.05 * height)
    plane.mouse.down()
    plane.mouse.move(x + 0.5 * width, y + 0.05 * height, steps=4)
    plane.mouse.up()
    middle = left + 0.5 * (right - left)
    lab.until(lambda: view.state.points.horizontal[-1] == pytest.approx(middle, abs=0.05))
    plane.keyboard.down("Shift")
    click(plane, 0.5, 0.95)
    plane.keyboard.up("Shift")
    lab.until(lambda: view.state.points == first)
    lab.until(lambda: plane.evaluate(IMAGE) == before)


def test_a_parameter_changes_the_region(lab, plane):
    view = lab.view()
    before, setting = plane.evaluate(IMAGE), view.state.learners[0]
    slider = plane.locator(".noUi-handle:visible").first
    slider.focus()
    for _ in range(3):
        plane.keyboard.press("ArrowRight")
    lab.until(lambda: plane.evaluate(IMAGE) != before)
    assert view.state.learners[0].name == setting.name
    assert view.state.learners[0] != setting


def test_the_code_on_the_screen_gives_the_numbers_on_the_screen(plane):
    spoken = estimate_of(plane).rpartition(",")[0]
    plane.get_by_role("button", name="Show code").click()
    code = plane.locator("[data-code]").inner_text()
    printed = StringIO()
    mpl.use("agg")
    with redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue().strip() == spoken


def test_training_is_played_and_paused(lab, plane):
    view = lab.view()
    plane.get_by_role("combobox", name="Learner 1").select_option(label="AdaBoost")
    lab.until(lambda: view.state.learners[0].name == "AdaBoost")
    shown(plane, 2)
    plane.get_by_role("button", name="Play").click()
    lab.until(lambda: view.tiles[0].frame > 2)
    plane.get_by_role("button", name="Pause").click()
    plane.get_by_role("button", name="Play").wait_for()
    frame = view.tiles[0].frame
    plane.get_by_role("button", name="Step").click()
    lab.until(lambda: view.tiles[0].frame >= frame + 1)
    assert view.tiles[0].frame == frame + 1


def test_a_link_restores_the_state_in_another_tab(lab, plane, browser):
    view = lab.view()
    plane.get_by_role("button", name="2", exact=True).click()
    shown(plane, 1, place=1)
    click(plane, 0.1, 0.9)
    lab.until(lambda: len(view.state.points) == 201)
    # The address follows a moment later.
    state = view.state
    lab.until(lambda: plane.evaluate("location.hash") == to_link(state))
    link = to_link(state)
    other = plane.context.new_page()
    other.goto(lab.address().partition("?")[0] + link)
    lab.until(lambda: sum(v.state == state for v in lab.server.views()) == 2)
    other.get_by_role("combobox", name="Learner 2").wait_for()
    assert other.get_by_role("combobox", name="Learner 1").count() == 1


def test_a_closed_tab_leaves_no_busy_process(lab, plane):
    view = lab.view()
    estimate_of(plane)
    lab.call(lambda: view.session.start("slow", time.sleep, 3000, deliver=print, limit=4000))
    assert lab.server.pool.n_busy == 1
    plane.close()
    lab.until(lambda: lab.server.pool.n_busy == 0)


def test_a_killed_learner_gives_a_message_and_the_page_goes_on(lab, plane):
    estimate_of(plane)
    view = lab.view()
    tile, before = view.tiles[0], lab.server.pool.process_ids
    lab.call(
        lambda: view.session.start(
            "picture-0", time.sleep, 3000, deliver=tile.picture_arrived, limit=4000
        )
    )
    lab.until(lambda: lab.server.pool.n_busy == 1)
    for process in lab.call(lab.server.pool.busy_process_ids):
        os.kill(process, signal.SIGKILL)
    plane.get_by_text("The process that did this work ended").wait_for()
    assert lab.server.pool.process_ids != before
    click(plane, 0.2, 0.9)
    shown(plane, 3)


@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_is_cut_off(plane, width):
    plane.set_viewport_size({"width": width, "height": 900})
    plane.get_by_role("button", name="4", exact=True).click()
    shown(plane, 1, place=3)
    boxes = [item.bounding_box() for item in plane.locator("select, button, canvas").all()]
    seen = [box for box in boxes if box]
    assert len(seen) > 15
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in seen)
    assert plane.evaluate("document.documentElement.scrollWidth") <= width


#: Asks for the page, by a socket, as a page from elsewhere would.
INTRUDE = """
port => new Promise(resolve => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/plane/ws`, ['bokeh', 'token']);
  socket.onopen = () => resolve('open');
  socket.onclose = event => resolve('refused ' + event.code);
})
"""


def test_a_page_from_elsewhere_is_refused(lab, plane):
    port = lab.server.port
    # The page of another server of this machine, to which the browser would give the cookie.
    other = plane.context.new_page()
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as foreign:
        threading.Thread(target=foreign.handle_request, daemon=True).start()
        other.goto(f"http://127.0.0.1:{foreign.server_port}/no-such-page")
        assert other.evaluate("location.origin") == f"http://127.0.0.1:{foreign.server_port}"
        assert other.evaluate(INTRUDE, port) == "refused 1006"
        read = other.evaluate(
            "port => fetch(`http://127.0.0.1:${port}/plane`, {credentials: 'include'})"
            ".then(answer => answer.text(), error => 'nothing')",
            port,
        )
        assert read == "nothing"
    other.close()
    click(plane, 0.3, 0.3)
    shown(plane, 2)


def test_one_browser_does_not_see_the_files_of_another(lab, plane, browser):
    view = lab.view()
    stranger = browser.new_context()
    page = stranger.new_page()
    page.goto(lab.address())
    lab.until(lambda: len(lab.server.views()) == 2)
    folders = {item.session.folder.name for item in lab.server.views()}
    second = plane.context.new_page()
    second.goto(lab.address("plane").partition("?")[0])
    lab.until(lambda: len(lab.server.views()) == 3)
    mine = [item for item in lab.server.views() if item.session.folder == view.session.folder]
    assert len(folders) == 2
    assert len(mine) == 2
    stranger.close()


def test_every_control_has_a_name(plane):
    nameless = [
        item.evaluate("element => element.outerHTML.slice(0, 120)")
        for item in plane.locator(
            "select, input:not([type=file]), button:not(.card-header), textarea"
        ).all()
        if item.is_visible() and not accessible_name(item)
    ]
    assert nameless == []
    for title in ("Points", "Add or erase by numbers", "Two columns of a file"):
        plane.get_by_role("button", name=title, exact=True, expanded=False).wait_for()
    plane.get_by_role("button", name="Points", exact=True).click()
    plane.get_by_role("button", name="Points", exact=True, expanded=True).wait_for()


def accessible_name(item):
    return item.evaluate(
        "e => e.getAttribute('aria-label') || e.innerText || e.title || e.value ||"
        " (e.labels && e.labels.length && e.labels[0].innerText) || ''"
    )


def test_a_file_of_a_gigabyte_is_refused_and_a_small_one_is_shown(lab, plane, tmp_path):
    view = lab.view()
    plane.get_by_role("button", name="Two columns of a file", exact=True).click()
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(1_000_000_000)
    field = plane.locator("input[type=file]")
    field.set_input_files(large)
    plane.get_by_text("File is too large").first.wait_for()
    large.unlink()
    small = tmp_path / "small.csv"
    small.write_text("height,weight,kind\n1,2,a\n2,5,a\n9,8,b\n8,9,b\n")
    field.set_input_files(small)
    plane.get_by_role("button", name="Show these columns").click()
    lab.until(lambda: view.state.points.names == ("height (scaled)", "weight (scaled)"))
    assert view.state.points.codes == (0, 0, 1, 1)
