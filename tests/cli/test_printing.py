"""Tables in a pipe."""

import pandas as pd
import pytest

from verulam.cli._printing import cell_text, column_table, print_table


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
        },
        index=pd.Index(["x", "y", "who"], name="column"),
    )
    assert list(column_table(summary)["values"]) == [
        "0.5 to 2, mean 1",
        "mostly yes, constant",
        "",
    ]
