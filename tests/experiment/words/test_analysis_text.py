"""How an analysis reads on a terminal and in LaTeX."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from tests.experiment.conftest import BASELINE, BAYES, MEANS

from verulam.data import dataset
from verulam.experiment import DataChoice, LearnerChoice, analyse
from verulam.experiment._analysis.analysis import _finding_values
from verulam.experiment._evidence.evidence import Evidence
from verulam.experiment._report.report import render
from verulam.experiment._text import bulleted, memory_text, p_text, size_text, wrapped_table
from verulam.experiment._words.analysis_text import (
    about_differences,
    alias_lines,
    finding_blocks,
    latex_escaped,
    variance_rows,
)
from verulam.measures import measure
from verulam.statistics import joint_posterior, select


@pytest.mark.parametrize("name", ["two", "factors", "several"])
def test_fits_a_terminal(name, request):
    found = analyse(request.getfixturevalue(name))
    assert max(map(len, str(found).splitlines())) <= 80
    assert repr(found) == str(found)


def test_says_everything(two):
    text = str(analyse(two))
    plain = " ".join(text.split())
    assert plain.startswith("flowers: Which learner is best? Error on iris by stratified 2-fold")
    assert ". Use naive Bayes: it errs on " in plain
    values = r"^contestant +error +95 % interval +is best +within 1 point$"
    assert re.search(values, text, re.MULTILINE)
    value = r"^majority class +66\.7 % +\d+\.\d to \d+\.\d +< 1 % +< 1 %$"
    assert re.search(value, text, re.MULTILINE)
    differences = r"^against the best +points \(95 % interval\) +adjusted p$"
    assert re.search(differences, text, re.MULTILINE)
    difference = r"^majority class +6\d\.\d \(\d+\.\d to \d+\.\d\) +< 0\.001 +worse$"
    assert re.search(difference, text, re.MULTILINE)
    assert re.search(r"^naive Bayes +best$", text, re.MULTILINE)
    assert "* recommended" in text
    assert "parametric." not in text
    assert "Combined 5x2 cv F test: F(10, 5) = " in plain
    assert "Reject the hypothesis that" in plain
    assert "By error, best first: naive Bayes, the majority class." in plain
    assert "By these tests, worse than naive Bayes (adjusted p): the majority class." in plain
    assert re.search(
        r"^mean costs +fit +predict +size +memory +readable +failed$", text, re.MULTILINE
    )
    assert re.search(r"^majority class .* (MB|-) +3/3 +0 of 10$", text, re.MULTILINE)
    assert "both learners saw the same splits (kept by the plan)" in plain
    assert "Assumptions:" in text
    assert "Keep in mind:" in text


def evidence_of(losses, names, **changes):
    posterior = joint_posterior(losses, names)
    grades = dict.fromkeys(names, 1.0)
    selection = select(posterior, list(grades.values()), margin=0.01)
    margin = changes.pop("margin", 0.01)
    return Evidence(
        "data", measure("error"), posterior, margin, grades, tuple(names), None, 0.05,
        "half standard error", selection, losses, **changes,
    )  # fmt: skip


@pytest.fixture(scope="module")
def steady_and_shaky():
    """Losses of a good learner, of one steadily worse, and of one worse still that varies."""
    random = np.random.default_rng(0)
    hard = random.random((1, 200, 1))
    steady = np.repeat((hard < [0.1, 0.2]).astype(float), 2, axis=0)
    shaky = (random.random((2, 200, 1)) < 0.22).astype(float)
    return np.concatenate([steady, shaky], axis=2)


def test_notes_on_differences(steady_and_shaky):
    names = ["good", "steady", "shaky"]
    known = evidence_of(steady_and_shaky, names)
    assert known.claimed("good", "steady")
    assert not known.claimed("good", "shaky")
    text = about_differences(known, names)
    assert text.endswith(
        "would lead as clearly. shaky is further behind than some that are shown to be worse, but "
        "varies more, so that chance is not ruled out. Differences of at most 1 point are taken "
        "not to matter; matters (--matters of a command) names another size."
    )
    known = evidence_of(steady_and_shaky[:, :, :2], names[:2], margin=0.0, looks=(2, 3, 4))
    assert about_differences(known, names).endswith(
        "would lead as clearly, after any number of repeats."
    )


def test_data_sets_side_by_side(several):
    text = str(analyse(several))
    assert re.search(r"^data set +\[1\] +\[2\] +\[3\]$", text, re.MULTILINE)
    assert re.search(r"^iris +0\.6\d{3} +0\.\d{4} +0\.\d{4}$", text, re.MULTILINE)
    assert "[1] majority class, [2] nearest mean" in " ".join(text.split())
    head = r"^contestant +mean rank +wins +adjusted p +against the best$"
    assert re.search(head, text, re.MULTILINE)


def test_probabilities_over_data_sets_are_explained(make_results):
    random = np.random.default_rng(0)
    tables = []
    for place in range(5):
        frame = pd.DataFrame(random.normal(size=(40, 2)), columns=["a", "b"])
        frame["y"] = np.where(frame["a"] + random.normal(size=40) > 0, "yes", "no")
        tables.append(DataChoice(frame, target="y", label=f"table {place}"))
    analysis = analyse(make_results([BASELINE, MEANS, BAYES], tables, resampling="2-fold"))
    words = "over data sets like these, a contestant is"
    assert f"No worse: the probability that, {words} behind the best by no more than matters" in (
        " ".join(str(analysis).split())
    )
    assert f'"Better", "equal" and "worse" are the probabilities that, {words} better' in (
        " ".join(render(analysis).split())
    )


def test_latex(factors):
    whole = analyse(factors).to_latex()
    latex, differences, *effects = whole.split("\n\n")
    assert r"k-nearest neighbours (n\_neighbors=15)" in latex
    assert "Differences on breast\\_cancer." in differences
    assert differences.count("worse") == 1
    assert r"95 \% interval" in latex
    assert "Analysis of variance: k-nearest neighbours on breast\\_cancer." in effects[0]
    assert all(table.count("midrule") == 1 for table in effects)
    rows = re.findall(r"^(.*) \\\\$", latex, re.MULTILINE)
    assert len(rows) == 1 + 4
    assert len({row.count("&") for row in rows}) == 1
    assert latex.count(r"\begin{") == latex.count(r"\end{") == 2


def test_latex_over_several_data_sets(several):
    analysis = analyse(several)
    ranks, means, *_ = analysis.to_latex().split("\n\n")
    assert "mean rank & wins" in ranks
    assert r"\caption{Error, mean on each data set.}" in means
    head, *rows = re.findall(r"^(.*) \\\\$", means, re.MULTILINE)
    by_data = analysis.responses.by_data()
    assert head == "data set & majority class & nearest mean & naive Bayes"
    assert [row.split(" & ")[0] for row in rows] == ["iris", "wine", "penguins"]
    values = [[float(cell) for cell in row.split(" & ")[1:]] for row in rows]
    np.testing.assert_allclose(values, by_data.to_numpy(), atol=5e-5)


def test_latex_breaks_tables_that_are_too_wide(several, monkeypatch):
    monkeypatch.setattr("verulam.experiment._words.analysis_text.PER_PAGE", 2)
    tables = analyse(several).to_latex().split("\n\n")
    heads = [re.search(r"^data set & (.*) \\\\$", table, re.MULTILINE) for table in tables[1:3]]
    assert [head[1] for head in heads] == ["majority class & nearest mean", "naive Bayes"]


def test_what_cannot_be_told_apart_is_said(factors):
    text = str(analyse(factors))
    assert re.search(r"^naive Bayes +\d.* +\d\.\d{3} +not distinguishable$", text, re.MULTILINE)


def test_latex_escapes_every_special_sign():
    assert latex_escaped("a_b&c%d$e#f{g}") == r"a\_b\&c\%d\$e\#f\{g\}"
    assert latex_escaped("\\~^") == r"\textbackslash{}\textasciitilde{}\textasciicircum{}"


def test_long_names_wrap():
    text = wrapped_table(["name", "x"], [["a long name of many words " * 3, "1"]], 40)
    assert max(map(len, text.splitlines())) <= 40
    assert len(text.splitlines()) > 3


@pytest.mark.parametrize(
    ("size", "text"),
    [(512, "512 B"), (2500, "2.5 kB"), (3.2e6, "3.2 MB"), (np.nan, "-")],
)
def test_sizes(size, text):
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("megabytes", "text"), [(0.02, "< 0.1 MB"), (81.26, "81.3 MB"), (np.nan, "-")]
)
def test_memory(megabytes, text):
    assert memory_text(megabytes) == text


@pytest.mark.parametrize(("p", "text"), [(0.0004, "< 0.001"), (0.0501, "0.050"), (np.nan, "-")])
def test_p_values(p, text):
    assert p_text(p) == text


def test_headings_fold_before_a_table_is_too_wide():
    header = ["name", "root mean squared error", "95 % interval", "probability"]
    rows = [["a learner with a name", "0.1", "0.05 to 0.15", "0.5"]]
    text = wrapped_table(header, rows, 60)
    assert text.splitlines() == [
        "                       root mean",
        "                         squared",
        "name                       error  95 % interval  probability",
        "---------------------  ---------  -------------  -----------",
        "a learner with a name        0.1   0.05 to 0.15          0.5",
    ]
    assert max(map(len, wrapped_table(header, rows, 50).splitlines())) <= 50
    assert wrapped_table(header, rows, 100).splitlines()[0].startswith("name")


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e5, 1e9])
def test_numbers_of_any_size_fit_a_terminal(make_results, scale):
    table = dataset("stackloss").table
    table["loss"] = table[dataset("stackloss").target] * scale
    data = DataChoice(table.drop(columns=dataset("stackloss").target), target="loss", label="loss")
    names = ("mean predictor", "linear regression", "k-nearest neighbours smoother")
    learners = [LearnerChoice(name) for name in names]
    text = str(analyse(make_results(learners, [data], resampling="3-fold")))
    assert max(map(len, text.splitlines())) <= 80


def test_bullets_are_indented():
    lines = bulleted("Notes", ["word " * 30]).splitlines()
    assert lines[0] == "Notes:"
    assert lines[1].startswith("- word")
    assert lines[2].startswith("  word")


def test_long_names_break_where_their_parts_end():
    text = wrapped_table(
        ["costs", "fit"], [["parametric.GaussianClassifier", "1"], ["a b (x=0.5)", "2"]], 30
    )
    lines = [line.split("  ")[0].strip() for line in text.splitlines()]
    assert "parametric." in lines
    assert "GaussianClassifier" in text
    assert "a b (x=0.5)" in text


def test_effects_are_in_the_text(factors):
    analysis = analyse(factors)
    text = "\n".join(finding_blocks(analysis))
    assert "Effects: k-nearest neighbours on breast_cancer" in text
    assert "learner x training share" in text
    assert "experimental error" in text
    assert "which share" in " ".join(text.split())
    assert max(map(len, str(analysis).splitlines())) <= 80


def test_interaction_of_contestants_and_data_sets(several):
    analysis = analyse(several)
    assert "contestants x data sets" in analysis.interaction.index
    assert "contestants x data sets" in str(analysis)
    assert set(analysis.errors) == {"iris", "wine", "penguins"}
    assert [each.data for each in analysis.overlaps] == ["iris", "wine", "penguins"]


def test_vectors_are_in_the_text(make_results):
    options = {"resampling": "5x2", "response": ["error", "balanced_accuracy"]}
    analysis = analyse(make_results([BASELINE, MEANS, BAYES], ["wine"], **options))
    assert "By error, balanced_accuracy together" in " ".join(str(analysis).split())


def test_everything_is_plain_json(factors):
    found = json.loads(analyse(factors).to_json())
    assert found["effects"][0]["table"][0]["source"] == "n_neighbors"
    assert found["effects"][0]["aliases"] == {}
    assert {row["index"] for row in found["effects"][0]["means"]["n_neighbors"]} == {1, 15}
    assert found["experimental_error"]["breast_cancer"]["splits"] == 3
    assert found["error_overlap"][0]["rows"] == 569
    assert found["vector_responses"] == []


def test_cells_of_a_table(factors):
    effects = analyse(factors).effects[0]
    rows = variance_rows(effects.table)
    assert [row[0] for row in rows] == ["n_neighbors", "splits", "error", "total"]
    assert rows[-1][3:] == ["-", "-", "-", "-"]
    assert effects.aliases == {}
    assert alias_lines(effects) == list(effects.notes)


@pytest.mark.parametrize("name", ["two"])
def test_little_is_said_where_little_varies(name, request):
    found = _finding_values(analyse(request.getfixturevalue(name)))
    assert found["effects"] == []
    assert found["interaction"] is None
