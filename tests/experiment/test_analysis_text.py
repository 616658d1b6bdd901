"""How an analysis reads on a terminal and in LaTeX."""

import re

import numpy as np
import pytest

from verulam.experiment import analyse
from verulam.experiment._analysis_text import (
    bulleted,
    latex_escaped,
    memory_text,
    p_text,
    size_text,
    wrapped_table,
)


@pytest.mark.parametrize("name", ["two", "factors", "several"])
def test_fits_a_terminal(name, request):
    found = analyse(request.getfixturevalue(name))
    assert max(map(len, str(found).splitlines())) <= 80
    assert repr(found) == str(found)


def test_says_everything(two):
    text = str(analyse(two))
    plain = " ".join(text.split())
    assert plain.startswith("flowers: Which learner is best? Error on iris by stratified 2-fold")
    assert "Answer: Use parametric.NaiveBayes." in plain
    assert re.search(r"^majority class +0\.6667 +0\.0000 +< 0\.001 +reject$", text, re.MULTILINE)
    assert "Combined 5x2 cv F test: F(10, 5) = " in plain
    assert "Reject the hypothesis that" in plain
    assert "Order: parametric.NaiveBayes > majority class." in plain
    assert re.search(
        r"^mean costs +fit +predict +size +memory +readable +failed$", text, re.MULTILINE
    )
    assert re.search(r"^majority class .* (MB|-) +3/3 +0 of 10$", text, re.MULTILINE)
    assert "both learners saw the same splits (kept by the plan)" in plain
    assert "Assumptions:" in text
    assert "Keep in mind:" in text


def test_data_sets_side_by_side(several):
    text = str(analyse(several))
    assert re.search(r"^data set +\[1\] +\[2\] +\[3\]$", text, re.MULTILINE)
    assert re.search(r"^iris +0\.6\d{3} +0\.\d{4} +0\.\d{4}$", text, re.MULTILINE)
    assert "[1] majority class, [2] parametric.NearestMean" in " ".join(text.split())


def test_latex(factors):
    whole = analyse(factors).to_latex()
    latex, *effects = whole.split("\n\n")
    assert r"k-nearest neighbours (n\_neighbors=15)" in latex
    assert "Analysis of variance: k-nearest neighbours on breast\\_cancer." in effects[0]
    assert all(table.count("midrule") == 1 for table in effects)
    rows = re.findall(r"^(.*) \\\\$", latex, re.MULTILINE)
    assert len(rows) == 1 + 4
    assert len({row.count("&") for row in rows}) == 1
    assert latex.count(r"\begin{") == latex.count(r"\end{") == 2


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
