"""The report in a real browser: no errors, no requests, tables that sort, a page that fits."""

import pytest

from verulam.experiment import finalise, report

#: Width and height of a screen and of a phone.
SCREEN, PHONE = (1100, 900), (390, 800)


@pytest.fixture(scope="module")
def reports(factors, several, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    studies = {"factors": factors, "several": several}
    return {name: report(each, folder / f"{name}.html") for name, each in studies.items()}


class Visit:
    """A page that was opened, with everything that it complained of or asked for."""

    def __init__(self, browser, path, size=SCREEN, scheme="light"):
        width, height = size
        self.page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def heads(self, table):
        cells = self.page.locator(table).first.locator("thead th")
        return [head.strip() for head in cells.all_inner_texts()]

    def column(self, table, place):
        cells = self.page.locator(table).first.locator(f"tbody tr > :nth-child({place})")
        return cells.evaluate_all("cells => cells.map(cell => cell.dataset.key)")


@pytest.mark.parametrize("name", ["factors", "several"])
def test_renders_without_errors_or_requests(browser, reports, name):
    visit = Visit(browser, reports[name])
    assert visit.complaints == []
    assert visit.requests == [reports[name].as_uri()]
    shapes = visit.page.locator("figure svg").evaluate_all(
        "all => all.filter(svg => !svg.closest('details'))"
        ".map(svg => svg.getBoundingClientRect().width)"
    )
    assert shapes
    assert min(shapes) > 100
    visit.page.close()


def test_tables_sort_up_and_down(browser, reports):
    visit = Visit(browser, reports["factors"])
    table = "#results table.sortable"
    heads = visit.heads(table)
    place = heads.index("error") + 1
    head = visit.page.locator(f"{table} >> nth=0").locator("thead th").nth(place - 1)
    head.locator("button").click()
    rising = [float(value) for value in visit.column(table, place)]
    assert rising == sorted(rising)
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").click()
    assert [float(value) for value in visit.column(table, place)] == rising[::-1]
    # What has no value comes last, whichever way.
    place = heads.index("adjusted p") + 1
    before = visit.column(table, place)
    p_head = visit.page.locator(f"{table} >> nth=0").locator("thead button").nth(place - 1)
    for _ in range(2):
        p_head.click()
        assert visit.column(table, place)[-1] == ""
    assert sorted(visit.column(table, place)) == sorted(before)
    visit.page.close()


def test_costs_have_a_table_of_their_own(browser, reports):
    visit = Visit(browser, reports["factors"])
    tables = visit.page.locator("#results table.sortable")
    costs = tables.filter(has=visit.page.locator("thead th", has_text="predict"))
    heads = [head.strip() for head in costs.locator("thead th").all_text_contents()]
    assert heads[1:3] == ["fit", "predict"]
    costs.locator("thead button").nth(1).click()
    cells = costs.locator("tbody tr > :nth-child(2)")
    keys = cells.evaluate_all("cells => cells.map(cell => Number(cell.dataset.key))")
    assert keys == sorted(keys)
    visit.page.close()


def test_names_sort_as_words_by_the_keyboard_too(browser, reports):
    visit = Visit(browser, reports["several"])
    visit.page.locator("#results table.sortable thead button").first.focus()
    visit.page.keyboard.press("Enter")
    names = visit.column("#results table.sortable", 1)
    assert names == sorted(names, key=str.lower)
    visit.page.close()


@pytest.mark.parametrize("name", ["factors", "several"])
def test_a_phone_does_not_scroll_sideways(browser, reports, name):
    visit = Visit(browser, reports[name], PHONE)
    for folded in visit.page.locator("details > summary").all():
        folded.click()
    width = visit.page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE[0]
    visit.page.close()


@pytest.mark.parametrize("name", ["factors", "several"])
def test_a_window_of_900_pixels_shows_the_whole_table_of_results(browser, reports, name):
    visit = Visit(browser, reports[name], (900, 1000))
    hidden = visit.page.evaluate(
        "(frame => frame.scrollWidth - frame.clientWidth)(document.querySelector('.scroll'))"
    )
    assert hidden <= 0
    visit.page.close()


@pytest.mark.parametrize("name", ["factors", "several"])
def test_a_phone_shows_what_is_known_beside_the_values(browser, reports, name):
    visit = Visit(browser, reports[name], PHONE)
    table = visit.page.locator("#results table.sortable").first
    expected = {
        "factors": ["error", "95 % interval", "is best"],
        "several": ["mean rank", "against the best", "adjusted p"],
    }
    assert visit.heads("#results table.sortable")[1:4] == expected[name]
    edges = table.locator("tbody td:nth-child(4)").evaluate_all(
        "cells => cells.map(cell => cell.getBoundingClientRect().right)"
    )
    frame = visit.page.locator("#results .scroll").first.bounding_box()
    assert max(edges) <= frame["x"] + frame["width"] + 0.5
    visit.page.close()


def test_a_phone_breaks_no_word_of_a_name(browser, reports):
    visit = Visit(browser, reports["several"], PHONE)
    for folded in visit.page.locator("details > summary").all():
        folded.click()
    lines = visit.page.locator("tbody th").evaluate_all(
        """cells => cells.map(cell => {
            cell.textContent = "incomprehensibility";
            const words = document.createRange();
            words.selectNodeContents(cell);
            return words.getClientRects().length;
        })"""
    )
    assert set(lines) == {1}
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    visit.page.close()


def test_dark_where_the_reader_prefers_it(browser, reports):
    colours = {}
    for scheme in ("light", "dark"):
        visit = Visit(browser, reports["factors"], scheme=scheme)
        style = "getComputedStyle(document.body)"
        colours[scheme] = visit.page.evaluate(f"[{style}.backgroundColor, {style}.color]")
        ink = visit.page.locator("figure:not(.white) svg text").first.evaluate(
            "text => getComputedStyle(text).fill"
        )
        assert ink == colours[scheme][1]
        visit.page.close()
    assert colours["light"][0] == "rgb(255, 255, 255)"
    assert colours["dark"][0] != colours["light"][0]
    assert colours["dark"][1] != colours["light"][1]


def test_prints_everything_on_white(browser, reports):
    visit = Visit(browser, reports["factors"], scheme="dark")
    visit.page.emulate_media(media="print")
    visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert visit.page.locator("details:not([open])").count() == 0
    background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    assert len(visit.page.pdf()) > 10_000
    visit.page.close()


@pytest.mark.parametrize("width", [1200, 390])
def test_results_fit_a_screen_and_a_card_fits_a_phone(browser, reports, factors, tmp_path, width):
    made = finalise(factors, path=tmp_path / "model.skops")
    card = Visit(browser, made.card_paths[0], (width, 800))
    assert card.complaints == []
    assert card.page.evaluate("document.documentElement.scrollWidth") <= width
    card.page.close()
    visit = Visit(browser, reports["factors"], (width, 800))
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    beyond = visit.page.locator("#results .scroll").first.evaluate(
        "each => each.scrollWidth - each.clientWidth"
    )
    if width == 1200:
        assert beyond <= 0
    visit.page.close()
