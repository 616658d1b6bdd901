"""Spreadsheets, JSON lines, Feather, KEEL, and tables of other libraries."""

import sys
from datetime import datetime, time, timedelta

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from verulam.base import DataError
from verulam.data import Dataset, as_pandas, read, read_excel, read_feather, read_json

FRAME = pd.DataFrame(
    {"size": [1.5, 2.0, None, 4.0] * 5, "colour": ["red", "blue", "red", "red"] * 5, "n": range(20)}
)


def assert_same_table(data):
    assert data.n_rows == 20
    assert data.kinds == {"size": "numeric", "colour": "categorical", "n": "numeric"}
    assert data.missing == {"size": 5}
    assert data.target == "colour"
    assert data.table["n"].tolist() == list(range(20))


def test_feather(tmp_path):
    pyarrow.feather.write_feather(FRAME, tmp_path / "t.feather")
    assert_same_table(read(tmp_path / "t.feather", target="colour"))
    assert read_feather(tmp_path / "t.feather").name == "t"
    (tmp_path / "bad.feather").write_bytes(b"ARROW1 nothing")
    with pytest.raises(DataError, match=r"bad\.feather: cannot be read as a Feather file"):
        read(tmp_path / "bad.feather")


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".json", ".jsonl.gz"])
def test_json_lines(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    FRAME.to_json(path, orient="records", lines=True)
    assert_same_table(read(path, target="colour"))


def test_json_of_one_list(tmp_path):
    FRAME.to_json(tmp_path / "t.json", orient="records")
    assert_same_table(read(tmp_path / "t.json", target="colour"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": \n', r"t\.json, line 2: is no JSON"),
        ('[{"a": 1},\n {"a" 2}]', r"t\.json, line 2: is no JSON"),
        ("[1, 2]", "row 1 is no object with names, but 1"),
        ('{"a": 1}\n7\n', "row 2 is no object with names, but 7"),
        ('{"a": {"b": 1}}', "row 1 holds a table within 'a'"),
        ("\n\n", "The table has no columns|no rows"),
    ],
)
def test_json_that_is_no_table(tmp_path, text, message):
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(DataError, match=message):
        read_json(tmp_path / "t.json")


def test_spreadsheets(tmp_path, monkeypatch):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as writer:
        FRAME.to_excel(writer, sheet_name="rows", index=False)
        FRAME.head(3).to_excel(writer, sheet_name="few", index=False, startcol=0)
    assert_same_table(read(path, target="colour"))
    assert read_excel(path, sheet="few").n_rows == 3
    assert read(path, sheet=1).n_rows == 3
    for number in (5, -1, None):
        with pytest.raises(DataError, match=rf"has no sheet {number}; it has 'rows', 'few', num"):
            read_excel(path, sheet=number)
    with pytest.raises(DataError, match=r"has no sheet 'other'; it has 'rows', 'few'"):
        read_excel(path, sheet="other")
    (tmp_path / "bad.xlsx").write_bytes(b"PK nothing")
    with pytest.raises(DataError, match=r"bad\.xlsx: cannot be read as a spreadsheet"):
        read(tmp_path / "bad.xlsx")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(
        DataError, match=r"pip install 'verulam\[excel\]', or save the sheet as CSV"
    ):
        read(path)


def sheet_of(path, rows):
    pytest.importorskip("python_calamine")
    book = pytest.importorskip("openpyxl").Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_titles_above_a_sheet_are_left_out(tmp_path):
    rows = [[number, number % 3] for number in range(9)]
    path = sheet_of(tmp_path / "t.xlsx", [["Sales"], [], ["a", "b"], *rows])
    data = read(path)
    assert data.table.to_numpy().tolist() == rows
    assert list(data.table) == ["a", "b"]
    assert "above the names, left out: 'Sales'" in data.summary()["note"]["a"]
    path = sheet_of(tmp_path / "twice.xlsx", [["a", "a"], *rows])
    with pytest.raises(DataError, match=r"twice\.xlsx: Duplicate column names: a"):
        read(path)


def test_cells_of_several_types_are_read_as_in_csv(tmp_path):
    days = [datetime(2024, 1, 2), "2024-01-03"] * 4
    rows = [
        [number if number % 2 else f"A{number}", day, time(5, 30), timedelta(hours=12)]
        for number, day in enumerate(days)
    ]
    path = sheet_of(tmp_path / "t.xlsx", [["code", "day", "at", "for"], *rows])
    table = read(path).table
    assert table["code"].astype(str).tolist()[:3] == ["A0", "1", "A2"]
    assert table["day"].tolist() == [pd.Timestamp(2024, 1, 2), pd.Timestamp(2024, 1, 3)] * 4
    assert table["at"].tolist() == [5.5] * 8
    assert table["for"].tolist() == [0.5] * 8
    (tmp_path / "gaps.jsonl").write_text('{"a": 1}\n{"a": "n/a"}\n{"a": 2.5}\n')
    assert read(tmp_path / "gaps.jsonl").kinds == {"a": "numeric"}
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{"a": "x"}\n{"a": 2.5}\n')
    assert read(tmp_path / "t.jsonl").table["a"].tolist() == ["1", "x", "2.5"]


def test_tables_that_speak_arrow():
    assert_same_table(read(pa.Table.from_pandas(FRAME, preserve_index=False), target="colour"))
    polars = pytest.importorskip("polars")
    assert_same_table(
        read(polars.from_arrow(pa.Table.from_pandas(FRAME, preserve_index=False)), target="colour")
    )
    lazy = polars.from_arrow(pa.Table.from_pandas(FRAME, preserve_index=False)).lazy()
    assert_same_table(read(lazy, target="colour"))
    assert_same_table(Dataset.from_frame(lazy, target="colour"))
    with pytest.raises(DataError, match="Series is no table; pass one with columns"):
        read(polars.Series([1, 2]))


def test_what_is_no_table_is_none():
    assert as_pandas([1, 2]) is None
    assert as_pandas(FRAME) is FRAME


def test_files_of_keel(tmp_path):
    path = tmp_path / "abalone.dat"
    path.write_text(
        "@relation abalone\n@attribute Sex {M, F, I}\n@attribute Length real [0.075, 0.815]\n"
        "@attribute Rings integer[1,29]\n@inputs Sex, Length\n@outputs Rings\n@data\n"
        "M, 0.455, 15\nF, <null>, 9\nI, 0.33, 7\n"
    )
    data = read(path)
    assert (data.name, data.target, data.n_rows) == ("abalone", "Rings", 3)
    assert data.missing == {"Length": 1}
    assert read(path, target="Sex").task == "classification"
    (tmp_path / "plain.dat").write_text("a b\n1 2\n3 4\n5 6\n")
    assert read(tmp_path / "plain.dat").table.columns.tolist() == ["a", "b"]


def test_a_text_may_hold_other_ends_of_lines(tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text('{"t": "one\u2028two"}\r\n{"t": "three"}\n{"t": "four"}\n', encoding="utf-8")
    assert read(path).table["t"].tolist() == ["one\u2028two", "three", "four"]
