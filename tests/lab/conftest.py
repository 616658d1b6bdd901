"""A lab that runs for the tests, and a browser that looks at it."""

import asyncio
import logging
import threading
import time
from dataclasses import dataclass, field

import pytest

pytest.importorskip("panel")

#: A tile says how many pictures it has shown, and its estimate.
SHOWN = '[data-tile="{place}"][data-shown="{count}"]'
PATIENT = 300_000


@dataclass
class RunningLab:
    """A server in a thread, and what it complained of."""

    server: object = None
    loop: object = None
    complaints: list = field(default_factory=list)

    def call(self, function, *arguments):
        """Call something on the loop of the server and return what it returns."""

        async def run():
            return function(*arguments)

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(300)

    def until(self, condition, seconds=300):
        """Wait for something that happens in the server."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not happen"
            time.sleep(0.02)

    def view(self):
        """Wait until the server has seen the one tab that is open, and return what it shows."""
        self.until(lambda: len(self.server.views()) == 1)
        return self.server.views()[0]

    def is_left(self):
        """Whether no tab is connected any more, and all of them are known to be closed."""
        open_sessions = self.server._open_sessions()
        return not self.server.views() and not any(s.connection_count for s in open_sessions)

    def address(self, page="plane"):
        return self.server.address.replace("/plane?", f"/{page}?")


class _Complaints(logging.Handler):
    def __init__(self, records):
        super().__init__(logging.ERROR)
        self.records = records

    def emit(self, record):
        self.records.append(self.format(record))


@pytest.fixture(scope="session")
def running_lab():
    from verulam.lab import LabServer

    running = RunningLab()
    ready, ended = threading.Event(), None

    async def run():
        nonlocal ended
        ended = asyncio.Event()
        running.loop = asyncio.get_running_loop()
        running.server = LabServer()
        running.server.start()
        ready.set()
        await ended.wait()
        running.server.stop()

    handler = _Complaints(running.complaints)
    logging.getLogger().addHandler(handler)
    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    assert ready.wait(300)
    yield running
    running.loop.call_soon_threadsafe(ended.set)
    thread.join(20)
    logging.getLogger().removeHandler(handler)


@pytest.fixture
def lab(running_lab):
    """Return the lab; whatever it logs as an error fails the test."""
    running_lab.complaints.clear()
    yield running_lab
    # The next test shall not meet the page of this one.
    running_lab.until(lambda: running_lab.call(running_lab.is_left))
    assert running_lab.complaints == []


#: Where the elements stand that a selector names, inside the parts of a page, too.
PLACES = """
selector => {
  const places = [];
  const walk = root => {
    for (const e of root.querySelectorAll('*')) {
      const box = e.getBoundingClientRect();
      if (e.matches(selector) && e.checkVisibility({visibilityProperty: true}) && box.width) {
        places.push([box.left, box.right]);
      }
      if (e.shadowRoot) walk(e.shadowRoot);
    }
  };
  walk(document);
  return places;
}
"""
#: What a person can use, as browsers call it to screen readers.
ROLES = {
    "button", "checkbox", "combobox", "link", "listbox", "radio", "slider", "spinbutton", "textbox",
}  # fmt: skip


@dataclass
class Screen:
    """What a tab shows to eyes, and what it tells a screen reader."""

    tab: object

    def is_whole(self, selector, width, least):
        """Whether all that a selector names, and so many at least, is inside the window.

        A browser arranges the parts of a page one after the other: wait until this is so.
        """
        places = self.tab.evaluate(PLACES, selector)
        fits = self.tab.evaluate("document.documentElement.scrollWidth") <= width
        inside = all(left >= 0 and right <= width for left, right in places)
        return fits and inside and len(places) >= least

    def controls(self):
        """Return role and name of each control, as a screen reader has them."""
        session = self.tab.context.new_cdp_session(self.tab)
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
        session.detach()
        return [
            (node["role"]["value"], node.get("name", {}).get("value", "").strip())
            for node in nodes
            if not node["ignored"] and node["role"]["value"] in ROLES
        ]


@pytest.fixture
def tab(browser):
    """Open a fresh tab of 1,280 pixels; what its console calls an error fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENT)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def screen(tab):
    """Return what can be asked of the tab about its looks."""
    return Screen(tab)


@pytest.fixture
def plane(lab, tab):
    """Open the plane with its first picture."""
    tab.goto(lab.address())
    tab.locator(SHOWN.format(place=0, count=1)).wait_for()
    return tab
