"""Photograph a report and a model card into ``docs/images``: needs the extra ``dev`` and Chromium.

``python docs/photograph_pages.py [name ...]`` takes the named pictures, or all.
"""

import runpy
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from verulam import compare
from verulam.experiment import finalise

IMAGES = Path(__file__).parent / "images"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--no-first-run", "--disable-sync"]
#: By its file: other packages install a package `tests`, too.
TABLES = Path(__file__).parents[1] / "tests" / "experiment" / "real_tables.py"
CONTESTANTS = ("majority class", "logistic regression", "logistic regression (balanced)")


def titanic(folder: Path) -> Path:
    """Return the report of `make demo`."""
    path = folder / "titanic.html"
    compare("titanic", store=folder / "titanic.sqlite", progress=False).report(path)
    return path


def churn(folder: Path) -> Path:
    """Return the report of customers of whom few leave."""
    table, path = folder / "churn.csv", folder / "churn.html"
    made = runpy.run_path(str(TABLES))
    made["customers"](3000).to_csv(table, index=False)
    comparison = compare(
        table,
        [*CONTESTANTS, "random forest"],
        target="churned",
        store=folder / "churn.sqlite",
        progress=False,
    )
    comparison.report(path)
    return path


def card(folder: Path) -> Path:
    """Return the card of the model in use that the study of `churn` ends in."""
    churn(folder)
    made = finalise(folder / "churn.sqlite", path=folder / "churn.skops")
    path = folder / "card.html"
    path.write_text(made.card.to_html(), encoding="utf-8")
    return path


#: Page, width of the window, and the heading that stands on top (None for the top of the page).
PICTURES: dict[str, tuple[Callable[[Path], Path], int, str | None]] = {
    "report": (titanic, 1000, None),
    "rare-class-report": (churn, 1000, "ROC curves"),
    "model-card": (card, 760, "What it goes by"),
}


def photograph(tab: Any, page: Path, heading: str | None, image: Path) -> None:
    """Take the part of a page that begins with a heading."""
    tab.goto(page.as_uri())
    if heading is not None:
        tab.get_by_role("heading", name=heading).first.evaluate(
            "heading => window.scrollTo(0, heading.getBoundingClientRect().top - 20)"
        )
    tab.screenshot(path=image)


def main(names: list[str]) -> None:
    """Take the pictures."""
    with sync_playwright() as tools, tempfile.TemporaryDirectory() as folder:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in names or PICTURES:
            make, width, heading = PICTURES[name]
            workspace = Path(folder, name)
            workspace.mkdir()
            tab = browser.new_page(viewport={"width": width, "height": 1100})
            photograph(tab, make(workspace), heading, IMAGES / f"{name}.png")
            tab.close()
            print(name)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
