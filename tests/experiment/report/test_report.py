"""The report: complete, self-contained, safe and small."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from tests.experiment.analysed import RUNS_OF, changed_copy
from tests.experiment.conftest import BAYES, MEANS
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.experiment import DataChoice, LearnerChoice, Study, analyse, report, run
from verulam.experiment._report.report import _breakable, contestant_rows, render
from verulam.experiment._text import spoken_name

EVIL = '<b onclick="x">&$x_1$</b><script>alert(1)</script>'


class Outline(HTMLParser):
    """Collects tags and attributes, and checks that they nest."""

    VOID = ("meta", "br", "link", "img", "hr", "input", "wbr")

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def outline(page):
    parser = Outline()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def pages(two, factors, several):
    return {
        name: render(analyse(results))
        for name, results in {"two": two, "factors": factors, "several": several}.items()
    }


@pytest.mark.parametrize("name", ["two", "factors", "several"])
def test_is_one_small_file_without_links(pages, name):
    page = pages[name]
    found = outline(page)
    assert len(page.encode()) < 5_000_000
    assert not re.search(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//""", page)
    assert not re.search(r"@import|url\(\s*[\"']?https?:", page)
    assert not {"link", "iframe", "img", "object"} & set(found.seen)
    linked = [value for key, value in found.attributes if key in ("href", "xlink:href")]
    assert all(value.startswith(("#", "data:image/png;base64,")) for value in linked)


def test_what_the_tests_are_for_is_said_where_there_is_other_evidence(pages):
    present = {name: "These tests do not make the recommendation" in pages[name] for name in pages}
    assert present["two"]
    assert not all(present.values())


def test_answer_on_top(pages, two):
    page = pages["two"]
    sentence = analyse(two).answer.sentence
    assert " %" in sentence, "numbers and their per cent signs stay on one line"
    assert page.index(sentence.replace(" %", "\N{NO-BREAK SPACE}%")) < page.index("<table")
    for part in ("results", "tests", "pictures", "design", "caveats", "reproduce"):
        assert f'<section id="{part}">' in page


def test_reproducible(pages, two):
    page = pages["two"]
    assert "verulam run study.toml" in page
    assert re.search(r"numpy \d", page)
    assert "resampling = &#34;5x2&#34;" in page
    assert render(analyse(two)) == page


def test_light_dark_phone_and_print(pages):
    page = pages["two"]
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page
    assert "@media print" in page


def test_labels_cannot_inject(tmp_path):
    table = pd.DataFrame({"size": [*range(10), *range(20, 30)], "kind": [EVIL] * 10 + ["b"] * 10})
    study = Study(
        EVIL,
        [DataChoice(table, target="kind", label=EVIL)],
        [LearnerChoice("majority class", label=EVIL), LearnerChoice("naive bayes")],
        question=EVIL,
        resampling="2-fold",
    )
    results = run(study, tmp_path / "evil.sqlite", engine="serial", progress=False)
    command = f"UPDATE runs SET status = 'failed', error = '{EVIL}' WHERE " + RUNS_OF.format(
        "parametric.NaiveBayes", "= 0"
    )
    page = render(analyse(changed_copy(results, tmp_path / "failed.sqlite", command)))
    found = outline(page)
    assert "<b " not in page
    assert found.seen.count("script") == 1
    assert "onclick" not in dict(found.attributes)
    assert "&lt;script&gt;alert(1)" in page
    assert '<section id="failures">' in page


def test_rows_of_the_table(factors):
    rows = contestant_rows(analyse(factors))
    means = [float(row["cells"]["error"].key) for row in rows]
    assert means == sorted(means)
    assert sum(row["recommended"] for row in rows) == 1
    assert rows[0]["in_group"]
    assert not rows[-1]["in_group"]
    assert rows[0]["cells"]["adjusted p"].key == ""
    assert rows[0]["cells"]["against the best"].text == "best"
    assert rows[-1]["cells"]["against the best"].text == "worse"
    assert rows[-1]["cells"]["adjusted p"].text == "< 0.001"
    assert list(rows[0]["cells"])[:4] == ["error", "95 % interval", "is best", "within 1 point"]
    costs = ["fit", "predict", "size", "memory", "readable", "failed"]
    assert list(rows[0]["costs"]) == costs
    assert all(float(row["costs"][cost].key) >= 0 for row in rows for cost in ("fit", "predict"))


def test_every_contestant_is_beside_the_best_and_the_baseline(factors, make_results):
    analysis = analyse(factors)
    known = analysis.evidence["breast_cancer"]
    rows = {row["name"]: row["beside"] for row in contestant_rows(analysis)}
    heads = ["better than the best", "practically equal", "worse", "regret"]
    of_baseline = ["from the baseline (95 %)", "better than it", "equal to it", "worse than it"]
    assert {tuple(cells) for cells in rows.values()} == {(*heads, *of_baseline)}
    best = [rows[spoken_name(known.best)][head].text for head in heads]
    assert best[:3] == ["-"] * 3
    assert best[3].endswith("points")
    assert [rows["majority class"][head].text for head in of_baseline] == ["-"] * 4
    name = known.order[1]
    row, cells = known.table.loc[name], rows[spoken_name(name)]
    for head, column in zip(heads, ["better", "equal", "worse", "regret"], strict=True):
        assert float(cells[head].key) == pytest.approx(row[column])
    assert float(cells[of_baseline[0]].key) == pytest.approx(row["difference_baseline"])
    assert re.fullmatch(r"-\d+\.\d \(-\d+\.\d to -\d+\.\d\)", cells[of_baseline[0]].text)
    page = render(analysis)
    assert "<summary>Beside the best and the baseline</summary>" in page
    alone = analyse(make_results([MEANS, BAYES], resampling="2x2-fold"))
    assert {tuple(row["beside"]) for row in contestant_rows(alone)} == {tuple(heads)}


def test_rows_over_data_sets(several):
    rows = contestant_rows(analyse(several))
    ranks = [float(row["cells"]["mean rank"].key) for row in rows]
    assert ranks == sorted(ranks)
    assert sum(row["cells"]["against the best"].text == "best" for row in rows) == 1


def test_rows_without_evidence_have_means(make_results):
    learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    once = analyse(make_results(learners, resampling="holdout", measures=["kappa"]))
    assert [list(row["cells"]) for row in contestant_rows(once)] == [["mean", "s.d."]] * 2
    assert "The design tells nothing" in render(once)


def test_written_where_asked(two, tmp_path):
    path = report(two, tmp_path / "out.html")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert report(two.path, tmp_path / "again.html").read_bytes() == path.read_bytes()


def test_nothing_finished(two, tmp_path):
    empty = changed_copy(two, tmp_path / "copy.sqlite", "DELETE FROM runs")
    page = render(analyse(empty))
    outline(page)
    assert "No run has finished" in page
    assert "20 left" in page


@pytest.mark.parametrize("path", ["", "no/such/folder/out.html"])
def test_unusable_path(two, tmp_path, path):
    with pytest.raises(DataError, match=r"path: .* cannot be written"):
        report(two, tmp_path / path)


def test_long_names_leave_room_for_the_pictures(tmp_path):
    """Matplotlib warns, here an error, where labels leave nothing for the axes."""
    long = "a learner with a name that somebody thought would explain everything about its settings"
    learners = {f"{long}, {number}": "naive bayes" for number in range(9)}
    choices = [LearnerChoice(name, label=label) for label, name in learners.items()]
    study = small_study(
        learners=[LearnerChoice("majority class"), *choices],
        data=[DataChoice("iris"), DataChoice("breast_cancer")],
        resampling="2-fold",
        training_shares=[0.5, 1.0],
    )
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    assert long in report(results, tmp_path / "r.html").read_text(encoding="utf-8")


def test_notices_of_plan_and_learners_are_in_the_report(tmp_path):
    table = pd.DataFrame({"x": range(24), "words": ["one", "other"] * 12, "y": [0.5, 2.5] * 12})
    table["kind"] = ["a", "b", "b"] * 8
    learners = [LearnerChoice("logistic regression", parameters={"max_iter": 1}, label="net")]
    study = small_study(
        data=[DataChoice(table, target="kind", label="notes")],
        learners=learners,
        resampling="2-fold",
    )
    path = tmp_path / "runs.sqlite"
    run(study, path, engine="serial", progress=False)
    page = report(path, tmp_path / "report.html").read_text(encoding="utf-8")
    notices = page.partition('<section id="notices">')[2].partition("</section>")[0]
    assert "x only names the rows, and is left out" in notices
    assert "net: 2 of its runs warned, first with ConvergenceWarning" in notices
    found = analyse(path)
    assert "x only names the rows, and is left out" in " ".join(str(found).split())
    assert found.to_dict()["notices"] == list(found.notices)


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("parametric.NaiveBayes", "parametric.<wbr>NaiveBayes"),
        ("parametric.GaussianClassifier", "parametric.<wbr>Gaussian<wbr>Classifier"),
        ("breast_cancer", "breast_<wbr>cancer"),
        ("files/other_table.csv", "files/<wbr>other_<wbr>table.<wbr>csv"),
        ("neighbours k=0.5", "neighbours k=0.5"),
        ("__private_2", "__<wbr>private_2"),
        ("a <b>", "a &lt;b&gt;"),
    ],
)
def test_names_break_where_their_parts_end(name, broken):
    assert str(_breakable(name)) == broken


def test_failures_beyond_the_first_are_counted(two, tmp_path, monkeypatch):
    monkeypatch.setattr("verulam.experiment._report.report.MOST_FAILURES", 3)
    command = "UPDATE runs SET status = 'failed', error = 'x', predicted = NULL WHERE " + (
        RUNS_OF.format("parametric.NaiveBayes", ">= 0")
    )
    page = render(analyse(changed_copy(two, tmp_path / "failed.sqlite", command)))
    assert "The first 3 of 10; " in page
    assert page.partition('<section id="failures">')[2].count("<tr>") == 1 + 3


def test_contents_lead_to_every_section(tmp_path):
    path = tmp_path / "runs.sqlite"
    run(small_study(resampling="2-fold"), path, engine="serial", progress=False)
    page = report(path, tmp_path / "report.html").read_text(encoding="utf-8")
    contents = page.partition('<nav class="contents screen"')[2].partition("</nav>")[0]
    linked = re.findall(r'<a href="#([\w-]+)">', contents)
    assert linked == re.findall(r'<section id="([\w-]+)">', page)
    assert {"results", "design", "tests", "reproduce"} <= set(linked)
