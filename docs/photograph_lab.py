"""Photograph the pages of the lab into ``docs/images``: needs the extra ``lab`` and Chromium.

``python docs/photograph_lab.py [name ...]`` takes the named pictures, or all.
"""

import asyncio
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from verulam.lab import Generated, LabServer, LearnerSetting, PlaneState, to_link
from verulam.lab._studies.questions import TableQuestion

IMAGES = Path(__file__).parent / "images"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--no-first-run", "--disable-sync"]
PATIENT = 240_000
CONTESTANTS = ("majority class", "naive bayes", "logistic regression", "decision tree")

FOUR = PlaneState(
    data=Generated("spirals", 200, 0.2, 1),
    learners=(
        LearnerSetting("nonparametric.KNeighborsClassifier"),
        LearnerSetting("kernel.SupportVectorClassifier", {"kernel__width": 0.3, "C": 10.0}),
        LearnerSetting("tree.DecisionTreeClassifier"),
        LearnerSetting("parametric.GaussianClassifier", {"covariance_type": "full"}),
    ),
    extent=(-1.2, 1.2, -1.2, 1.2),
)
CURVE = PlaneState(
    "regression",
    Generated("noisy sine", 60, 0.3, 2),
    (
        LearnerSetting("bayes.GaussianProcessRegressor"),
        LearnerSetting("tree.DecisionTreeRegressor", {"max_depth": 4}),
    ),
    (-3.2, 3.2, -2.0, 2.0),
)
CLOUDS = PlaneState(
    "clustering",
    Generated("ring", 200, 0.25, 3),
    (
        LearnerSetting("cluster.KMeans", {"n_clusters": 4}),
        LearnerSetting("local.SelfOrganisingMap", {"grid_shape": 6}),
    ),
    (-3.0, 3.0, -3.0, 3.0),
)


def plane(tab: Any, address: str, state: PlaneState) -> None:
    """Open a state and wait until all its pictures and estimates are there."""
    tab.goto(address)
    # A page of another address between, so that the state is read as in a new tab.
    tab.goto("about:blank")
    tab.goto(address.partition("?")[0] + to_link(state))
    for place in range(len(state.learners)):
        tile = f'[data-tile="{place}"]'
        tab.locator(tile).wait_for(timeout=PATIENT)
        if state.task in ("classification", "regression", "density"):
            tab.locator(f'{tile}[data-estimate*="fold"]').wait_for(timeout=PATIENT)
    tab.wait_for_timeout(1000)


def chapter(tab: Any, address: str, title: str) -> None:
    """Open a figure of a chapter."""
    tab.goto(address.replace("/plane?", "/chapters?"))
    tab.locator('[data-shown="1"]').wait_for(timeout=PATIENT)
    tab.get_by_role("listbox", name="Figures by chapter").select_option(label=title)
    tab.locator('[data-shown="2"]').wait_for(timeout=PATIENT)
    tab.wait_for_timeout(500)


def table(tab: Any, address: str) -> None:
    """Compare some learners on a bundled data set."""
    question = TableQuestion("wine", target="cultivar", learners=CONTESTANTS)
    tab.goto(address.replace("/plane?", "/table?"))
    tab.goto(address.partition("/plane")[0] + "/table" + question.to_link())
    tab.reload()
    tab.get_by_role("button", name="Compare").click(timeout=PATIENT)
    tab.locator("[data-report]").wait_for(timeout=10 * PATIENT)
    tab.evaluate("window.scrollTo(0, 0)")
    tab.wait_for_timeout(500)


def studies(tab: Any, address: str) -> None:
    """Look closer at what `table` has run."""
    table(tab, address)
    tab.locator("[data-closer]").click()
    tab.locator("[data-answer]").wait_for(timeout=PATIENT)
    tab.locator("figure").first.wait_for(timeout=PATIENT)
    tab.wait_for_timeout(500)


PICTURES: dict[str, tuple[int, str, Callable[[Any, str], None]]] = {
    "lab-plane": (1280, "light", lambda tab, address: plane(tab, address, FOUR)),
    "lab-plane-dark": (1280, "dark", lambda tab, address: plane(tab, address, FOUR)),
    "lab-plane-narrow": (800, "light", lambda tab, address: plane(tab, address, CURVE)),
    "lab-clusters": (1280, "light", lambda tab, address: plane(tab, address, CLOUDS)),
    "lab-table": (1280, "light", table),
    "lab-studies": (1280, "light", studies),
    "lab-chapters": (
        1280,
        "light",
        lambda tab, address: chapter(tab, address, "18 · An agent in a grid world"),
    ),
}


def running_server() -> LabServer:
    """Return a server that runs in a thread."""
    ready, servers = threading.Event(), []

    async def run() -> None:
        servers.append(LabServer())
        servers[0].start()
        ready.set()
        await asyncio.Event().wait()

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
    ready.wait()
    return servers[0]


def main(names: list[str]) -> None:
    """Take the pictures."""
    server = running_server()
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in names or PICTURES:
            width, theme, arrange = PICTURES[name]
            context = browser.new_context(viewport={"width": width, "height": 860})
            home = server.address.partition("/plane")[0]
            context.add_cookies([{"name": "verulam_theme", "value": theme, "url": home}])
            tab = context.new_page()
            arrange(tab, server.address)
            tab.screenshot(path=IMAGES / f"{name}.png")
            context.close()
            print(name)
        browser.close()
    server.pool.close()


if __name__ == "__main__":
    main(sys.argv[1:])
