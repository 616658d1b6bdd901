"""The summary of a data set, and what it flags."""

import numpy as np
import pandas as pd
import pytest

from verulam.data import Dataset


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
