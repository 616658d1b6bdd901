"""Oddly written CSV files: read to the right table, or refused with the line where it is wrong."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.data import read

ROWS = [
    ("Zoë", "2.5", "red, or so", "2024-02-29"),
    ("Ann", "-1", 'the "blue" one', "2024-03-01"),
    ("Bob", "10", "green", "2024-03-02"),
    ("Eve", "0.25", "", "2024-03-05"),
] * 3
HEADER = ("name", "size", "remark", "day")
ENDS = {"unix": "\n", "windows": "\r\n", "old mac": "\r"}


def written(delimiter=",", end="\n", quote='"', always=False, decimal="."):
    """Return the table as text, quoted where it must be, or always."""

    def cell(value, place):
        value = value.replace(".", decimal) if place == 1 else value
        needed = always or delimiter in value or quote in value
        return f"{quote}{value.replace(quote, quote * 2)}{quote}" if needed else value

    lines = [HEADER, *ROWS]
    return "".join(
        delimiter.join(cell(value, place) for place, value in enumerate(line)) + end
        for line in lines
    )


def check_table(table):
    assert list(table.columns) == list(HEADER)
    assert table["name"].astype(str).tolist() == [row[0] for row in ROWS]
    np.testing.assert_allclose(table["size"], [float(row[1]) for row in ROWS])
    assert table["remark"].isna().sum() == 3
    remarks = table["remark"].astype(object)
    assert remarks[:2].tolist() == [row[2] for row in ROWS[:2]]
    assert remarks[2].endswith("green")
    assert table["day"].dtype.kind == "M"
    assert table["day"].iloc[0] == pd.Timestamp("2024-02-29")


@pytest.mark.parametrize(
    ("delimiter", "end", "encoding"),
    [
        *product([",", ";", "\t", "|"], ENDS, ["utf-8"]),
        *product([",", ";"], ["unix", "windows"], ["utf-8-sig", "utf-16", "cp1252"]),
        *product(["\t"], ["unix"], ["utf-16-le", "latin-1"]),
    ],
)
def test_delimiters_line_ends_and_encodings(tmp_path, delimiter, end, encoding):
    content = written(delimiter, ENDS[end]).encode(encoding)
    if encoding == "utf-16-le":
        content = b"\xff\xfe" + content
    (tmp_path / "t.csv").write_bytes(content)
    check_table(read(tmp_path / "t.csv").table)


VARIANTS = {
    "all cells in quotes": written(always=True),
    "apostrophes within words": written(";").replace("green", "Ann's green"),
    "no line end at the end": written().rstrip("\n"),
    "empty lines at the end": written() + "\n\n\n",
    "empty lines between": written().replace("\nBob", "\n\nBob"),
    "a title": "Sales of 2024\n" + written(),
    "a title, filled up": "Sales,,,\n,,,\n" + written(),
    "remarks, an empty line": "# Sales\r\n# made by hand\r\n\r\n" + written(end="\r\n"),
    "a title in quotes": '"Sales, all of 2024"\n' + written(),
    "a title of two lines": '"Sales\nof 2024"\n' + written(),
    "mixed line ends": written().replace("\nBob", "\r\nBob"),
    "Excel's first line": "sep=;\n" + written(";"),
    "Excel's first line, Windows": "sep=;\r\n" + written(";", "\r\n"),
    "decimal commas": written(";", decimal=","),
    "decimal commas in quotes": written(",", decimal=",").replace("-1", "-1,0"),
    "spaces in front of the cells": written().replace(",2", ", 2"),
    "spaces around the names": written().replace("name,size", " name , size "),
    "a delimiter at the end of every line": "".join(
        line + ",\n" for line in written().splitlines()
    ),
    "an empty column of a space": "".join(line + ", \n" for line in written().splitlines()),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_of_one_table(tmp_path, name):
    text = VARIANTS[name]
    if name == "decimal commas in quotes":
        text = text.replace("-1,0", '"-1,0"')
    (tmp_path / "t.csv").write_bytes(text.encode())
    table = read(tmp_path / "t.csv").table
    if table.shape[1] == 5:  # a column without a name and without a value
        assert table.iloc[:, 4].isna().all()
        table = table.iloc[:, :4]
    check_table(table)


NUMBERS = {
    "thousands": (["1,200", "15,000", "7", "1,000,000"], [1200, 15000, 7, 1e6]),
    "thousands elsewhere": (["1.200,5", "15.000,0", "7,25", "2,5"], [1200.5, 15000, 7.25, 2.5]),
    "spaces for thousands": (["1 200", "15 000", "7", "900"], [1200, 15000, 7, 900]),
    "money": (["$1,200.50", "$3.00", "$7.10", "$2.00"], [1200.5, 3, 7.1, 2]),
    "brackets for less than nothing": (["(1.50)", "2.00", "(3.25)", "4.00"], [-1.5, 2, -3.25, 4]),
    "per cent": (["5%", "7.5%", "10%", "0%"], [5, 7.5, 10, 0]),
    "a true minus": (["−1", "2", "−3", "4"], [-1, 2, -3, 4]),
    "times of day": (["14:30", "07:15", "23:00", "00:00"], [14.5, 7.25, 23, 0]),
    "parts of seconds": (
        ["00:00:59.90", "00:00:00", "01:00:00.018", "00:00:36.5"],
        [59.9 / 3600, 0, 1.000005, 36.5 / 3600],
    ),
    "exponents": (["1e3", "2.5E-2", "1E+2", "7"], [1000, 0.025, 100, 7]),
    "plus signs": (["+1", "-2", "+3", "4"], [1, -2, 3, 4]),
    "a unit": (["80 kg", "75.5 kg", "90 kg", "60 kg"], [80, 75.5, 90, 60]),
    "gaps in many words": (["1", "NA", "?", "4"], [1, np.nan, np.nan, 4]),
    "failed formulas": (["1", "#DIV/0!", "3", "#VALUE!"], [1, np.nan, 3, np.nan]),
    "nobody knows": (["1", "unknown", "3", "n.a."], [1, np.nan, 3, np.nan]),
    "gaps as spaces": (["1", " ", "3", "4"], [1, np.nan, 3, 4]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_as_people_write_them(tmp_path, name):
    cells, values = NUMBERS[name]
    text = "key\tamount\n" + "".join(
        f"k{place % 3}\t{cell}\n" for place, cell in enumerate(cells * 3)
    )
    (tmp_path / "t.tsv").write_text(text, encoding="utf-8")
    np.testing.assert_allclose(read(tmp_path / "t.tsv").table["amount"], values * 3)


ODD_NAMES = {
    "no name": ("a,,b\n1,2,3\n4,5,6\n", ["a", "column_2", "b"]),
    "spaces and quotes": ('"my ""a""",b c,ü\n1,2,3\n4,5,6\n', ['my "a"', "b c", "ü"]),
    "the mark of Parquet": ("PAR1,PAR2\n1,2\n3,4\n", ["PAR1", "PAR2"]),
    "a mark of bzip2": ("BZh9,b\n1,2\n3,4\n", ["BZh9", "b"]),
    "two lines": ('"first\nname",b,c\n1,2,3\n4,5,6\n', ["first\nname", "b", "c"]),
    "years above words": ("2019,2020,2021\nx,y,z\nx,y,w\n", ["2019", "2020", "2021"]),
}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names(tmp_path, name):
    text, names = ODD_NAMES[name]
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    table = read(tmp_path / "t.csv").table
    assert list(table.columns) == names
    assert len(table) == 2


REFUSED = {
    "a name twice": (b"a,a,b\n1,2,3\n4,5,6\n", "line 1: Duplicate column names: a"),
    "a line too long": (b"a,b\n1,2\n3,4\n5,6,7\n8,9\n", "line 4"),
    "a line too short": (b"a,b,c\n1,2,3\n4,5\n6,7,8\n", "line 3"),
    "ragged below Excel's line": (b"sep=;\na;b\n1;2\n3;4;5\n", "line 4"),
    "ragged after an empty line": (b"a,b\n1,2\n\n3,4,5\n", "line 4"),
    "ragged after a quoted line end": (b'a,b\n"x\ny",2\n3,4,5\n', "line 4"),
    "a quote that never ends": (b'a,b\n1,2\n"3,4\n5,6\n', "line 3"),
    "ragged below a title": (b"Sales\na,b\n1,2\n3,4,5\n6,7\n", "line 4: expected 2 fields"),
    "a name for two columns": (b"a\n1,2\n3,4\n5,6\n", "line 2: expected 1 field, found 2"),
    "packed, but not called so": (
        b"\x1f\x8b\x08\x00\x00",
        r"packed by gzip; let its name end in \.gz",
    ),
    "a spreadsheet": (b"PK\x03\x04\x14\x00", r"a spreadsheet; let its name end in"),
    "NUL bytes": (b"a,b\n1,2\n3,\x00\x004\n", r"t\.csv"),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", r"t\.csv"),
    "nothing": (b"", r"t\.csv"),
    "spaces alone": (b"   \n  \n", r"t\.csv"),
    "a header alone": (b"a,b,c\n", r"t\.csv"),
    "a byte order mark alone": (b"\xef\xbb\xbf", r"t\.csv"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_is_refused_with_its_place(tmp_path, name):
    content, place = REFUSED[name]
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read(tmp_path / "t.csv")
    assert re.search(place, str(caught.value))
    assert "\n" not in str(caught.value)
