"""The lab in a browser: from a mouse release to the new picture, frames a second, first picture.

There is no peer in one run: the figures are the lab's own, with the load of the machine beside
them.
"""

import asyncio
import os
import shutil
import threading
import time
from typing import Any

import numpy as np

from verulam.lab import Generated, LabServer, LearnerSetting, PlaneState, picture, to_link

CLICKS = 25
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--no-first-run", "--disable-sync"]
PATIENT = 60_000
LEARNERS = (
    "nonparametric.KNeighborsClassifier",
    "kernel.SupportVectorClassifier",
    "tree.DecisionTreeClassifier",
    "parametric.GaussianClassifier",
)
EXTENT = (-3.5, 3.5, -3.0, 3.0)

#: Notes the time of each release of the mouse, and when each picture has been painted after it:
#: the second frame after its data came.
WATCH = """
() => {
  const images = [...Bokeh.documents[0]._all_models.values()].filter(
    model => model.type == 'ColumnDataSource' && 'image' in model.data);
  window.watched = {released: 0, painted: [], frames: []};
  document.addEventListener('pointerup', () => {
    window.watched.released = performance.now(); window.watched.painted = [];
  }, true);
  window.watched.when = (list, count) => new Promise(resolve => {
    const look = () => window.watched[list].length < count
      ? setTimeout(look, 50) : resolve(window.watched[list]);
    look();
  });
  for (const image of images) {
    image.properties.data.change.connect(() => requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        const now = performance.now();
        window.watched.painted.push(now - window.watched.released);
        window.watched.frames.push(now);
      })));
  }
  return images.length;
}
"""
FRAME = """
() => {
  const figures = [...Bokeh.documents[0]._all_models.values()].filter(m => m.type == 'Figure');
  const view = figures.map(m => Bokeh.index.find_one_by_id(m.id)).find(view => view != null);
  const box = view.canvas_view.el.getBoundingClientRect(), frame = view.frame.bbox;
  return [box.left + frame.left, box.top + frame.top, frame.width, frame.height];
}
"""


def run() -> None:
    """Measure and print."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        print("lab: there is no Chromium here.")
        return
    from playwright.sync_api import sync_playwright

    server, stop = _server()
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=path, args=FLAGS)
        load = os.getloadavg()[0]
        print(f"\nThe lab in Chromium, 200 points; load of the machine {load:.1f}")
        print(f"first region after opening the page: {_first(browser, server):.2f} s (at most 4)")
        for count, median, tail in ((1, 120, 200), (4, 300, 300)):
            delays = _clicks(browser, server, count)
            _print(f"mouse release to picture, {count} learner(s)", delays, median, tail)
        print(f"play: {_play(browser, server):.0f} frames a second (at least 30)")
        delays = _crowd(browser, server, 19)
        _print("one tab beside 19 busy sessions", delays, 1000, 1000)
        print(f"load of the machine at the end {os.getloadavg()[0]:.1f}")
        browser.close()
    stop()


def _print(what: str, delays: list[float], median: float, tail: float) -> None:
    middle, late = np.percentile(delays, [50, 95])
    print(
        f"{what}: median {middle:.0f} ms (at most {median}), 95th percentile {late:.0f} ms "
        f"(at most {tail}), {len(delays)} clicks"
    )


def _server() -> tuple[LabServer, Any]:
    """Return a server in a thread, and what ends it."""
    ready, parts = threading.Event(), {}

    async def serve() -> None:
        parts["server"], parts["ended"] = LabServer(), asyncio.Event()
        parts["loop"] = asyncio.get_running_loop()
        parts["server"].start()
        ready.set()
        await parts["ended"].wait()
        parts["server"].stop()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    ready.wait()

    def stop() -> None:
        parts["loop"].call_soon_threadsafe(parts["ended"].set)
        thread.join(20)

    parts["server"].loop = parts["loop"]
    return parts["server"], stop


def _state(names: tuple[str, ...]) -> PlaneState:
    learners = tuple(LearnerSetting(name) for name in names)
    return PlaneState(data=Generated("Gaussians", 200, seed=3), learners=learners, extent=EXTENT)


def _open(browser: Any, server: LabServer, state: PlaneState | None = None) -> Any:
    """Return a tab that shows a state, once all its pictures and estimates are painted."""
    before = server.views()
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.set_default_timeout(PATIENT)
    tab.goto(server.address)
    if state is not None:
        # A page of another address between, so that the state is read as in a new tab.
        tab.goto("about:blank")
        tab.goto(server.address.partition("?")[0] + to_link(state))
    while not _shows(tab, _on_loop(server, _images, before, state)):
        tab.wait_for_timeout(50)
    return tab


def _on_loop(server: LabServer, function: Any, *arguments: Any) -> Any:
    """Call something between two events of the server: within one, a page is half changed."""

    async def call() -> Any:
        return function(server, *arguments)

    return asyncio.run_coroutine_threadsafe(call(), server.loop).result(60)  # type: ignore[attr-defined]


def _images(server: LabServer, before: list[Any], state: PlaneState | None) -> list[str]:
    """Return the sources of the pictures of the newest page; none while it shows another state."""
    views = [view for view in server.views() if view not in before]
    if not views or (state is not None and views[-1].state != state):
        return []
    return [tile.figure._image.id for tile in views[-1].tiles]


def _shows(tab: Any, images: list[str]) -> bool:
    """Whether a tab has these pictures, with their estimates."""
    has_all = "ids => ids.every(id => Bokeh.documents[0]?.get_model_by_id(id))"
    estimates = tab.locator('[data-tile][data-estimate*="fold"]').count()
    return bool(images) and tab.evaluate(has_all, images) and estimates == len(images)


def _first(browser: Any, server: LabServer) -> float:
    _open(browser, server).close()
    start = time.perf_counter()
    tab = browser.new_page()
    tab.goto(server.address)
    tab.locator('[data-shown="1"]').wait_for(timeout=PATIENT)
    seconds = time.perf_counter() - start
    tab.close()
    return seconds


def _clicks(browser: Any, server: LabServer, count: int) -> list[float]:
    """Return the milliseconds from each release to the last of the pictures."""
    tab = _open(browser, server, _state(LEARNERS[:count]))
    tab.evaluate(WATCH)
    random = np.random.default_rng(0)
    delays = []
    for across, up in random.uniform(0.05, 0.95, (CLICKS, 2)):
        left, top, width, height = tab.evaluate(FRAME)
        tab.mouse.click(left + across * width, top + up * height)
        painted = tab.evaluate("count => window.watched.when('painted', count)", count)
        delays.append(max(painted))
        tab.wait_for_timeout(250)
    tab.close()
    return delays


def _play(browser: Any, server: LabServer) -> float:
    """Return frames a second while a network's training is played from frames that are there."""
    tab = _open(browser, server, _state(("neural.MLPClassifier",)))
    view = next(item for item in server.views() if item.state.learners[0].name.startswith("neural"))
    server.loop.call_soon_threadsafe(view.tiles[0].train_in_passes)  # type: ignore[attr-defined]
    while not view.tiles[0].frames_ended:
        time.sleep(0.1)
    tab.evaluate(WATCH)
    tab.get_by_role("button", name="Play").click()
    count = min(60, len(view.tiles[0].frames))
    times = tab.evaluate("count => window.watched.when('frames', count)", count)
    tab.close()
    return 1000.0 * (len(times) - 1) / (times[-1] - times[0])


def _crowd(browser: Any, server: LabServer, others: int) -> list[float]:
    """Return the delays of one tab while other sessions ask for a picture every second."""
    ended = threading.Event()
    state = _state(LEARNERS[:1])

    def ask(number: int) -> None:
        if not ended.is_set():
            server.pool.submit(
                f"crowd-{number}", "picture", picture, state, 0, deliver=lambda _: None
            )
            server.loop.call_later(1.0, ask, number)  # type: ignore[attr-defined]

    for number in range(others):
        server.loop.call_soon_threadsafe(  # type: ignore[attr-defined]
            server.loop.call_later,
            number / others,
            ask,
            number,  # type: ignore[attr-defined]
        )
    delays = _clicks(browser, server, 1)
    ended.set()
    return delays
