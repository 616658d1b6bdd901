"""Tables in a pipe, and what the shell offers on the tab key."""

import shlex

import pandas as pd
import pytest

from verulam.cli import main
from verulam.cli._shared import (
    cell_text,
    column_table,
    complete_engine,
    complete_final,
    complete_learners,
    print_table,
)


def test_numbers_to_the_right_and_text_to_the_left(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    print_table(pd.DataFrame({"name": ["a", "long"], "n": [100, 2]}))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "name    n"
    assert lines[2:] == ["a     100", "long    2"]


def test_brackets_are_no_markup(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    print_table(pd.DataFrame({"name": ["[red]x[/red]"]}))
    assert "[red]x[/red]" in capsys.readouterr().out


def test_wide_cells_wrap(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    print_table(pd.DataFrame({"name": ["short"], "text": ["word " * 20]}))
    output = capsys.readouterr().out
    assert output.count("word") == 20
    assert max(map(len, output.splitlines())) <= 40


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (1.23456, "1.235"),
        (176_301.27, "176,301"),
        (-2e6, "-2,000,000"),
        (6e23, "6e+23"),
        (float("nan"), ""),
        (None, ""),
        ("x", "x"),
        (12, "12"),
        (pd.Timestamp("2020-01-02"), "2020-01-02"),
    ],
)
def test_cells(cell, text):
    assert cell_text(cell) == text


def test_values_of_a_column_in_words():
    summary = pd.DataFrame(
        {
            "kind": ["numeric", "categorical", "text"],
            "role": ["input", "target", "identifier"],
            "missing": [0, 1, 0],
            "distinct": [9, 2, 10],
            "minimum": [0.5, "", ""],
            "mean": [1.0, "", ""],
            "maximum": [2.0, "", ""],
            "most_frequent": ["", "yes", "someone"],
            "note": ["", "constant", ""],
            "becomes": ["as it is, scaled", "target", "identifier"],
        },
        index=pd.Index(["x", "y", "who"], name="column"),
    )
    assert list(column_table(summary)["values"]) == [
        "0.5 to 2, mean 1",
        "mostly yes, constant",
        "",
    ]


@pytest.fixture
def offered(monkeypatch, capsys):
    """Return a function that gives what is offered for the last of some words, as bash asks."""

    def ask(*words):
        monkeypatch.setenv("_VERULAM_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", shlex.join(["verulam", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        with pytest.raises(SystemExit) as caught:
            main([])
        assert (caught.value.code or 0) == 0
        return capsys.readouterr().out.split("\n")[:-1]

    return ask


def test_commands(offered):
    assert offered("fin") == ["find", "finalise"]


def test_data_sets(offered):
    assert offered("compare", "ir") == ["iris"]
    assert "penguins" in offered("describe", "p")


def test_learners_one_after_the_other(offered):
    assert offered("compare", "iris", "--learners", "parametric.Na") == ["parametric.NaiveBayes"]
    assert complete_learners("decision tree,parametric.Na") == [
        "decision tree,parametric.NaiveBayes"
    ]


def test_measures_and_engines(offered):
    assert "log_loss" in offered("analyse", "x.sqlite", "--measure", "log")
    assert complete_engine("da") == ["dask", "dask://"]


def test_what_to_finalise(offered):
    assert complete_final("be")[0] == "best"
    assert offered("finalise", "x.sqlite", "--learner", "reco") == ["recommended"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_their_script(shell, capsys, monkeypatch):
    # The shell is the one that the command was typed in; the tests may be started from another.
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: (shell, f"/bin/{shell}"))
    with pytest.raises(SystemExit) as caught:
        main(["--show-completion"])
    assert (caught.value.code or 0) == 0
    assert "_VERULAM_COMPLETE" in capsys.readouterr().out
