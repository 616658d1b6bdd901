"""The page Studies in a real browser: opened, asked again, watched while it grows."""

import shutil
import sqlite3
from contextlib import closing, redirect_stdout, suppress
from io import StringIO

import pytest

from verulam.experiment import analyse, compare

playwright = pytest.importorskip("playwright.sync_api")

LEARNERS = ["majority class", "naive bayes", "k-nearest neighbours", "logistic regression"]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("studies") / "iris.sqlite"
    compare("iris", LEARNERS, store=path, progress=False, resampling="5-fold")
    return path


@pytest.fixture
def studies(lab, tab, monkeypatch, tmp_path):
    monkeypatch.setenv("VERULAM_LAB", str(tmp_path / "lab"))
    tab.goto(lab.address("studies"))
    tab.get_by_label("Path of a store").wait_for()
    return tab


def open_path(page, path):
    page.get_by_label("Path of a store").fill(str(path))
    page.get_by_role("button", name="Open").click()


def answer(page, count):
    """Wait for an answer, and return its sentence."""
    page.locator(f'[data-answer="{count}"]').wait_for()
    return page.locator("[data-answer] .answer").inner_text()


def test_the_answer_follows_the_margin_and_its_code_gives_it(lab, studies, store):
    open_path(studies, store)
    assert answer(studies, 1) == " ".join(analyse(store).answer.sentence.split())
    view = lab.view()
    margin = view.matters.options[-1]
    moved = " ".join(analyse(store, matters=margin).answer.sentence.split())
    # The slider is drawn anew when it gets its values: a key may fall between the two.
    for _ in range(12):
        studies.locator(".noUi-handle").last.focus()
        studies.keyboard.press("End")
        with suppress(playwright.TimeoutError):
            studies.get_by_text(moved).wait_for(timeout=5000)
            break
    studies.get_by_text(moved).wait_for()
    assert moved != " ".join(analyse(store).answer.sentence.split())
    assert view.question.matters == margin
    studies.get_by_role("button", name="Show code").click()
    printed = StringIO()
    with redirect_stdout(printed):
        exec(studies.locator("[data-code]").inner_text(), {})
    assert " ".join(printed.getvalue().split()) == moved
    studies.wait_for_function("() => location.hash.startsWith('#s=')")
    other = studies.context.new_page()
    other.goto(lab.address("studies").partition("?")[0] + studies.evaluate("location.hash"))
    other.get_by_text(moved).wait_for()


def test_any_measure_and_any_run_can_be_asked_for(studies, store):
    open_path(studies, store)
    answer(studies, 1)
    studies.get_by_label("Measure").select_option(label="Log loss")
    assert answer(studies, 2) == " ".join(analyse(store, "log_loss").answer.sentence.split())
    studies.get_by_role("button", name="Show the run").click()
    details = studies.locator("[data-run]")
    details.wait_for()
    assert "time to fit" in details.inner_text()
    assert "log loss" in details.inner_text()


def test_a_store_that_grows_is_followed(studies, store, tmp_path):
    path = shutil.copy(store, tmp_path / "growing.sqlite")
    half = "DELETE FROM runs WHERE run IN (SELECT run FROM runs ORDER BY run LIMIT 4)"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(half)
        connection.execute(
            "UPDATE runs SET status = 'failed', error = 'ValueError: no <luck>' "
            "WHERE run = (SELECT max(run) FROM runs)"
        )
        connection.commit()
    open_path(studies, path)
    studies.get_by_text("16 of 20 runs ended").first.wait_for()
    # The table of failures; the notes beside the answer say it again, a little later.
    studies.get_by_role("cell", name="ValueError: no <luck>").wait_for()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ATTACH ? AS whole", (str(store),))
        connection.execute("INSERT OR IGNORE INTO runs SELECT * FROM whole.runs")
        connection.commit()
    studies.get_by_text("20 of 20 runs ended").first.wait_for()
    assert studies.get_by_text("16 of 20 runs ended").count() == 0


@pytest.mark.slow
def test_a_store_can_be_sent_and_a_damaged_one_is_refused(studies, store, tmp_path):
    bad = tmp_path / "bad.sqlite"
    bad.write_bytes(b"this is no store")
    dropper = studies.locator("input[type=file]")
    dropper.set_input_files(bad)
    studies.get_by_text("is not a store of results").wait_for()
    dropper.set_input_files(store)
    assert answer(studies, 1) == " ".join(analyse(store).answer.sentence.split())


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_is_cut_off_and_every_control_has_a_name(studies, store, width):
    studies.set_viewport_size({"width": width, "height": 900})
    open_path(studies, store)
    answer(studies, 1)
    studies.locator("figure").first.wait_for()
    boxes = [item.bounding_box() for item in studies.locator("select, button, figure").all()]
    seen = [box for box in boxes if box]
    assert len(seen) > 8
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in seen)
    assert studies.evaluate("document.documentElement.scrollWidth") <= width
    for item in studies.locator("select, button, input:not([type=file])").all():
        assert not item.is_visible() or item.evaluate(
            "e => e.getAttribute('aria-label') || e.innerText || e.title || e.value ||"
            " (e.labels && e.labels.length && e.labels[0].innerText) || ''"
        )
