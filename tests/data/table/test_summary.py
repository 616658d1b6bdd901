"""Hints on columns whose values say more than their dtype."""

import numpy as np
import pandas as pd
import pytest

from verulam.data import Dataset, column_hint
from verulam.data._table.summary import hint


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["4.211,54", "87,10", "1.000.000,00"], "looks like numbers, written as '4.211,54'"),
        (["$4,211.54", "$87", "-$5"], "looks like numbers, written as '$4,211.54'"),
        (["87 %", "5 %", "100 %"], "looks like numbers, written as '87 %'"),
        (["4.2", "5", "unknown", "6", "7"], "looks like numbers, but for 'unknown'"),
        (
            ["1", "2", "3", "4", "5", "6", "a", "b", "c", "d"],
            "looks like numbers, but for 'a', 'b', 'c' and 1 others",
        ),
        (
            ["05.01.2020", "31.12.2021"],
            "looks like dates, which are read in the form 2024-02-29, not 05.01.2020",
        ),
        (["3 men in a boat", "4 weddings", "7 dwarfs"], ""),
        (["a", "b", "1"], ""),
        (["01067", "80331"], "codes of digits"),
    ],
)
def test_texts(values, expected):
    assert hint(pd.Series(values), "text") == expected


def test_consecutive_numbers_count_the_rows():
    assert hint(pd.Series(np.arange(1000, 1020)), "numeric") == "numbers the rows"
    assert hint(pd.Series(np.arange(19)), "numeric") == ""
    assert hint(pd.Series(np.delete(np.arange(40), [3, 7, 8])), "numeric") == "numbers the rows"
    assert hint(pd.Series(np.arange(20) * 2), "numeric") == ""
    assert hint(pd.Series([*range(20), 5]), "numeric") == ""
    assert hint(pd.Series(np.arange(20.0)), "numeric") == ""


@pytest.fixture
def summary():
    frame = pd.DataFrame(
        {
            "constant": [7, 7, 7, 7],
            "empty": [None] * 4,
            "infinite": [1.0, np.inf, -np.inf, np.nan],
            "number": [1.0, 2.0, 3.0, 6.0],
            "colour": ["red", "blue", "red", None],
            "grade": pd.Categorical(["a", "b", "a", "a"], ["b", "a"], ordered=True),
            "day": pd.date_range("2024-01-01", periods=4),
            "note": [f"text {number}" for number in range(4)],
        }
    )
    return Dataset.from_frame(frame, ignored=["note"]).summary()


def test_notes(summary):
    assert summary["note"].to_dict() == {
        "constant": "constant",
        "empty": "all values missing",
        "infinite": "2 infinite",
        "number": "",
        "colour": "",
        "grade": "",
        "day": "",
        "note": "",
    }


def test_kinds_and_counts(summary):
    assert summary.loc["empty", "kind"] == "numeric"
    assert summary.loc["note", ["kind", "role"]].tolist() == ["text", "ignored"]
    assert summary.loc["colour", ["missing", "distinct"]].tolist() == [1, 2]
    assert summary.loc["empty", ["missing", "distinct"]].tolist() == [4, 0]


def test_ranges(summary):
    assert summary.loc["number", ["minimum", "mean", "maximum"]].tolist() == [1, 3, 6]
    assert summary.loc["grade", ["minimum", "maximum"]].tolist() == ["b", "a"]
    assert summary.loc["day", "maximum"] == pd.Timestamp("2024-01-04")
    assert summary.loc["colour", "most_frequent"] == "red"
    assert np.isnan(summary.loc["infinite", "mean"])
    assert summary.loc["infinite", "maximum"] == np.inf


def test_one_row_is_not_called_constant():
    assert Dataset.from_frame(pd.DataFrame({"a": [1]})).summary().loc["a", "note"] == ""


def test_a_hint_leaves_out_what_is_missing():
    assert column_hint(pd.Series(["87 %", None, "5 %"])) == "looks like numbers, written as '87 %'"
    assert column_hint(pd.Series([1.5, None])) == ""


def test_whole_numbers_that_floats_round_are_told():
    words = "whole numbers of more digits than a float holds"
    assert column_hint(pd.Series([5, 2**53 + 1])) == words
    assert column_hint(pd.Series([5, -(2**53) - 1])) == words
    assert column_hint(pd.Series([5, 2**53])) == ""


def test_spaces_around_words():
    assert column_hint(pd.Series(["a ", "a"] * 3, dtype="category")) == (
        "'a ' and 'a' differ by spaces alone"
    )
    assert column_hint(pd.Series(["12", " 13", "x"])) == (
        "looks like numbers, but for 'x', spaces around values, such as ' 13'"
    )
    assert column_hint(pd.Series([1, 2], dtype="category")) == ""
