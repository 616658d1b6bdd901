"""The page Table in a real browser: a file to its answer, stopped and resumed, damaged and huge."""

from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pandas as pd
import pytest

from verulam.experiment import Results, compare
from verulam.lab._studies.comparing import store_of

PAIR = ["majority class", "naive Bayes"]


@pytest.fixture(scope="module")
def fruit(tmp_path_factory):
    """Write a small file: two numbers, and a kind that one of them tells."""
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 2
    table = pd.DataFrame(
        {
            "size": rng.normal(2.0 * codes, 1.0).round(2),
            "weight": rng.normal(size=60).round(2),
            "kind": np.array(["cherry", "plum"])[codes],
        }
    )
    path = tmp_path_factory.mktemp("table") / "fruit.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture
def table(lab, tab, monkeypatch, tmp_path):
    monkeypatch.setenv("VERULAM_LAB", str(tmp_path / "lab"))
    tab.goto(lab.address("table"))
    tab.get_by_label("Bundled data set").wait_for()
    return tab


def open_fruit(page, fruit):
    """Send the file, and say what is to be predicted."""
    page.locator("input[type=file]").set_input_files(fruit)
    page.locator('[data-opened="1"]').wait_for()
    page.get_by_label("Target").select_option("kind")
    page.locator('[data-opened="2"]').wait_for()


def contest(lab, page, view, names):
    """Leave the named contestants alone in the race."""
    boxes = page.get_by_role("checkbox")
    boxes.first.wait_for()
    for place in range(boxes.count()):
        box = boxes.nth(place)
        name = box.evaluate("e => e.labels[0]?.innerText || e.parentElement.innerText").strip()
        box.set_checked(name in names)
    lab.until(lambda: len(view.question.learners) == len(names))


def test_a_file_to_its_answer_its_report_its_code_and_its_model(lab, table, fruit):
    open_fruit(table, fruit)
    assert "classification of 'kind'" in table.locator("[data-opened]").inner_text()
    view = lab.view()
    contest(lab, table, view, PAIR)
    assert len(view.question.learners) == 2
    table.get_by_role("button", name="Compare").click()
    table.locator('[data-answer="1"]').wait_for()
    sentence = table.locator(".answer").inner_text()
    expected = compare(fruit, ["majority class", "naive bayes"], target="kind", progress=False)
    assert sentence == " ".join(expected.conclusion.split())
    assert table.locator("[data-answer]").get_attribute("data-recommended") == "naive Bayes"
    report = table.locator("[data-report]")
    report.wait_for()
    assert table.locator("figure svg").count() == 3
    with table.expect_popup() as opened:
        report.click()
    assert sentence[:40] in " ".join(opened.value.locator("body").inner_text().split())
    table.get_by_role("button", name="Show code").click()
    printed = StringIO()
    with redirect_stdout(printed):
        exec(table.locator("[data-code]").inner_text(), {})
    assert " ".join(printed.getvalue().split()) == sentence
    table.get_by_role("button", name="Make the final model").click()
    table.locator("[data-model]").wait_for()
    with table.expect_download() as saved:
        table.locator("[data-model]").click()
    assert saved.value.suggested_filename.endswith(".skops")


@pytest.mark.slow
def test_a_comparison_is_stopped_its_tab_closed_and_resumed(lab, table, fruit):
    open_fruit(table, fruit)
    view = lab.view()
    contest(lab, table, view, ["random forest", "gradient boosting"])
    table.get_by_role("button", name="Compare").click()
    table.locator('[data-state="running"]:not([data-done="0"])').wait_for()
    table.get_by_role("button", name="Stop").click()
    table.locator('[data-state="stopped"]').wait_for()
    table.get_by_role("button", name="Resume").wait_for()
    store = store_of(view.root, view.question)
    before = Results(store).runs()
    done = before[before["status"] == "done"].set_index("run")["fit_seconds"]
    assert 0 < len(done) < len(before)
    link = view.question.to_link()
    lab.until(lambda: table.evaluate("location.hash") == link)
    context = table.context
    table.close()
    page = context.new_page()
    page.set_default_timeout(300_000)
    page.goto(lab.address("table").partition("?")[0] + link)
    page.get_by_role("button", name="Resume").click()
    page.locator('[data-answer="1"]').wait_for()
    after = Results(store).runs().set_index("run")["fit_seconds"]
    assert after[done.index].tolist() == done.tolist()


def test_files_that_cannot_be_used_are_refused_with_a_sentence(table, tmp_path):
    dropper = table.locator("input[type=file]")
    for name, content, words in [
        ("bad.parquet", b"PAR1 and nothing else", "bad.parquet"),
        ("words.exe", b"MZ", "file must end in one of .csv"),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        dropper.set_input_files(path)
        table.locator(".wrong").get_by_text(words).wait_for()
        assert table.locator("[data-opened]").count() == 0


def test_a_file_of_a_gigabyte_is_refused(lab, table, tmp_path):
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as file:
        file.truncate(1_000_000_000)
    table.locator("input[type=file]").set_input_files(huge)
    table.get_by_text("File is too large").first.wait_for()
    assert lab.view().dropper.value == {}


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_is_cut_off_and_every_control_has_a_name(table, width):
    table.set_viewport_size({"width": width, "height": 900})
    table.get_by_label("Bundled data set").select_option("titanic")
    table.locator("[data-opened]").wait_for()
    table.locator("[data-findings]").wait_for()
    boxes = [item.bounding_box() for item in table.locator("select, button, table").all()]
    seen = [box for box in boxes if box]
    assert len(seen) > 7
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in seen)
    assert table.evaluate("document.documentElement.scrollWidth") <= width
    # What is unfolded by its title has the name in a part of its own.
    table.get_by_role("button", name="Columns", exact=True, expanded=False).wait_for()
    controls = "select, button:not(.card-header), input:not([type=file])"
    for item in table.locator(controls).all():
        assert not item.is_visible() or item.evaluate(
            "e => e.getAttribute('aria-label') || e.innerText || e.title ||"
            " (e.labels && e.labels.length && e.labels[0].innerText) || e.value || ''"
        )


def test_columns_are_left_out_or_read_as_classes(lab, table, fruit):
    open_fruit(table, fruit)
    table.get_by_role("button", name="Columns", exact=True).click()
    table.get_by_role("listbox", name="Columns to leave out").select_option("weight")
    table.locator('[data-opened="3"]').wait_for()
    table.get_by_role("listbox", name="Numbers that are codes or classes").select_option("size")
    table.locator('[data-opened="4"]').wait_for()
    view = lab.view()
    assert view.question.leave_out == ("weight",)
    assert view.question.categorical == ("size",)
    rows = {row[0]: row[1:] for row in view.opened.columns}
    assert rows["weight"][-1] == "ignored"
    assert rows["size"][0] == "categorical"
    assert view.opened.task == "classification"
    table.get_by_role("button", name="Show code").click()
    code = table.locator("[data-code]").inner_text()
    assert "leave_out=['weight']" in code
    assert "categorical=['size']" in code
